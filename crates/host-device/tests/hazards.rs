//! Reports of misused memory: use after free, and blocks that a pool hands on too early.

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use host_device::engine::{
        BlockStreams, Engine, EngineError, Hazard, HazardKind, Operation, PendingWork, StreamId,
        StreamOptions,
    };
    use host_device::{HostDevice, HostDeviceConfig, Site};

    const MIB: u64 = 1 << 20;
    const MS: Duration = Duration::from_millis(1);

    fn engine() -> Engine {
        let device = HostDevice::new(HostDeviceConfig::new(64 * MIB).with_granularity(4096)).unwrap();
        Engine::new(Arc::new(device)).unwrap()
    }

    fn streams<const N: usize>(engine: &Engine) -> [StreamId; N] {
        [(); N].map(|()| engine.create_stream(StreamOptions::default()))
    }

    fn kernel(address: u64, length: u64) -> Operation {
        Operation::kernel("kernel", MS).reading(address, length)
    }

    fn kinds(hazards: &[Hazard]) -> Vec<HazardKind> {
        hazards.iter().map(|hazard| hazard.kind).collect()
    }

    #[track_caller]
    fn only(engine: &Engine) -> Hazard {
        let mut hazards = engine.take_hazards();
        assert_eq!(hazards.len(), 1, "{hazards:#?}");
        hazards.remove(0)
    }

    #[test]
    fn memory_that_lives_until_its_last_use_is_no_hazard() {
        let engine = engine();
        let [stream] = streams(&engine);
        let memory = engine.device().allocate(4096).unwrap();
        engine.enqueue(stream, kernel(memory, 4096)).unwrap();
        engine.synchronize_stream(stream).unwrap();
        engine.device().free(memory, 4096).unwrap();
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn memory_freed_before_its_use_is_reported_with_all_three_places() {
        let engine = engine();
        let [stream] = streams(&engine);
        let device = engine.device();
        let memory = device.allocate_from(4096, Site::new("load").on(stream)).unwrap();
        engine.enqueue(stream, kernel(memory + 64, 128)).unwrap();
        engine.advance(MS / 2).unwrap();
        device.free_from(memory, 4096, "evict").unwrap();
        engine.synchronize_stream(stream).unwrap();
        let hazard = only(&engine);
        assert_eq!(
            (hazard.kind, hazard.address, hazard.length),
            (HazardKind::UseAfterFree, memory + 64, 128)
        );
        assert_eq!((hazard.user.site.label.as_ref(), hazard.user.site.stream), ("kernel", Some(stream)));
        assert_eq!((hazard.user.at, hazard.found_at), (Duration::ZERO, MS));
        let before = hazard.before.unwrap();
        assert_eq!((before.base, before.size, before.began.site.stream), (memory, 4096, Some(stream)));
        let ended = before.ended.unwrap();
        assert_eq!((ended.site.label.as_ref(), ended.at), ("evict", MS / 2));
        assert_eq!(hazard.after, None);
    }

    /// Allocates until a range lies at `address`, where one was just freed.
    fn allocate_at(device: &HostDevice, address: u64, size: u64) -> bool {
        (0..64).any(|_| device.allocate_from(size, "next owner").unwrap() == address)
    }

    #[test]
    fn memory_that_belongs_to_somebody_else_by_now_is_reported_with_the_new_owner() {
        let engine = engine();
        let [stream] = streams(&engine);
        let device = engine.device();
        // Virtual memory puts the next owner at the same address for sure.
        let base = device.reserve(2 * MIB, 0).unwrap();
        let [first, second] = [(); 2].map(|()| device.create_physical(2 * MIB).unwrap());
        device.map_from(base, first, "first").unwrap();
        engine.enqueue(stream, Operation::fill(base, 16, 7)).unwrap();
        device.unmap_from(base, "remap").unwrap();
        device.map_from(base, second, "second").unwrap();
        engine.synchronize_stream(stream).unwrap();
        let hazard = only(&engine);
        assert_eq!(hazard.kind, HazardKind::NewerAllocation);
        assert_eq!(hazard.before.unwrap().ended.unwrap().site.label, "remap");
        assert_eq!(hazard.after.unwrap().began.site.label, "second");
        // As on real hardware, the new owner's bytes are gone.
        device.check_fill(base, 16, 7).unwrap();
    }

    #[test]
    fn memory_allocated_after_the_operation_was_enqueued_is_reported() {
        let engine = engine();
        let [stream] = streams(&engine);
        let device = engine.device();
        let memory = device.allocate(4096).unwrap();
        device.free(memory, 4096).unwrap();
        engine.enqueue(stream, kernel(memory, 4096)).unwrap();
        let reused = allocate_at(device, memory, 4096);
        engine.synchronize_stream(stream).unwrap();
        let expected = if reused { HazardKind::NewerAllocation } else { HazardKind::UseAfterFree };
        let hazard = only(&engine);
        assert_eq!(hazard.kind, expected);
        assert!(hazard.before.unwrap().ended.is_some());
    }

    #[test]
    fn memory_that_never_was_is_reported_and_harms_nobody() {
        let engine = engine();
        let [stream] = streams(&engine);
        let memory = engine.device().allocate(4096).unwrap();
        for operation in [
            Operation::fill(1 << 40, 64, 1),
            Operation::copy(memory, 1 << 40, 64),
            Operation::fill(u64::MAX - 3, u64::MAX, 1),
            Operation::copy_to_host(1 << 40, 64, |_| panic!("there are no bytes")),
        ] {
            engine.enqueue(stream, operation).unwrap();
        }
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(kinds(&engine.take_hazards()), [HazardKind::NotLive; 4]);
        engine.device().check_fill(memory, 64, 0).unwrap();
        assert_eq!(engine.hazard_count(), 4);
    }

    #[test]
    fn an_operation_that_leaves_its_range_is_reported() {
        let engine = engine();
        let [stream] = streams(&engine);
        let device = engine.device();
        let base = device.reserve(4 * MIB, 0).unwrap();
        device.map(base, device.create_physical(2 * MIB).unwrap()).unwrap();
        engine.enqueue(stream, Operation::fill(base, 2 * MIB + 1, 1)).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(only(&engine).kind, HazardKind::NotLive);
        device.check_fill(base, 2 * MIB, 0).unwrap();
    }

    #[test]
    fn a_block_used_again_on_its_own_stream_is_no_hazard() {
        let engine = engine();
        let [a] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        for _ in 0..3 {
            engine.declare_block(arena, 512, a, "model").unwrap();
            engine.enqueue(a, kernel(arena, 512)).unwrap();
            engine.retire_block(arena, 512, "done").unwrap();
        }
        engine.synchronize_device().unwrap();
        assert_eq!(engine.hazards(), []);
        assert_eq!(engine.live_blocks(), 0);
    }

    #[test]
    fn a_block_handed_to_a_stream_that_does_not_wait_is_reported_at_once() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena + 8, 8)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        // Another size and base: any byte in common counts.
        engine.declare_block(arena - 512, 513, b, "second").unwrap();
        let hazard = only(&engine);
        assert_eq!(hazard.kind, HazardKind::HandedOutEarly);
        let (before, after) = (hazard.before.unwrap(), hazard.after.unwrap());
        assert_eq!(before.began.site.label, "first");
        assert_eq!(before.ended.unwrap().site.label, "first done");
        assert_eq!(after.began.site.label, "second");
        assert!(hazard.detail.contains("operation 1 on stream 1"), "{}", hazard.detail);
    }

    #[test]
    fn a_block_handed_on_after_the_work_is_done_is_no_hazard() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.synchronize_stream(a).unwrap();
        engine.declare_block(arena, 512, b, "second").unwrap();
        engine.declare_block(arena + 512, 512, BlockStreams::Any, "host").unwrap();
        engine.enqueue(b, kernel(arena, 1024)).unwrap();
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn a_block_handed_on_behind_a_wait_is_no_hazard_also_by_way_of_a_third_stream() {
        let engine = engine();
        let [a, b, c] = streams(&engine);
        let [first, second] = [0; 2].map(|flags| engine.create_event(flags));
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.record_event(first, a).unwrap();
        engine.wait_event(b, first).unwrap();
        engine.record_event(second, b).unwrap();
        engine.wait_event(c, second).unwrap();
        engine.declare_block(arena, 512, c, "second").unwrap();
        engine.enqueue(c, kernel(arena, 512)).unwrap();
        engine.synchronize_device().unwrap();
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn an_event_recorded_before_the_last_use_orders_nothing_after_it() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let event = engine.create_event(0);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.record_event(event, a).unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.wait_event(b, event).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.declare_block(arena, 512, b, "second").unwrap();
        assert_eq!(only(&engine).kind, HazardKind::HandedOutEarly);
    }

    #[test]
    fn a_former_owner_counts_also_when_the_next_one_never_touched_the_block() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.declare_block(arena, 512, a, "idle").unwrap();
        engine.retire_block(arena, 512, "idle done").unwrap();
        engine.declare_block(arena, 512, b, "second").unwrap();
        assert_eq!(only(&engine).before.unwrap().began.site.label, "first");
    }

    #[test]
    fn a_further_stream_of_a_block_must_be_ordered_when_it_touches_it() {
        for ordered in [false, true] {
            let engine = engine();
            let [a, b] = streams(&engine);
            let event = engine.create_event(0);
            let arena = engine.device().allocate(MIB).unwrap();
            engine.declare_block(arena, 512, a, "first").unwrap();
            engine.enqueue(a, kernel(arena, 512)).unwrap();
            engine.retire_block(arena, 512, "first done").unwrap();
            engine.declare_block(arena, 512, BlockStreams::Only(vec![a, b]), "second").unwrap();
            assert_eq!(engine.hazards(), []);
            if ordered {
                engine.record_event(event, a).unwrap();
                engine.wait_event(b, event).unwrap();
            }
            engine.enqueue(b, kernel(arena, 512)).unwrap();
            engine.enqueue(b, kernel(arena, 512)).unwrap();
            // Each race is reported once.
            let expected: &[HazardKind] = if ordered { &[] } else { &[HazardKind::RaceWithFormerOwner] };
            assert_eq!(kinds(&engine.take_hazards()), expected);
        }
    }

    #[test]
    fn a_block_for_any_stream_needs_all_work_done() {
        let engine = engine();
        let [a] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.declare_block(arena, 512, BlockStreams::Any, "second").unwrap();
        assert_eq!(only(&engine).kind, HazardKind::HandedOutEarly);
    }

    #[test]
    fn a_stream_that_was_not_allowed_is_reported_until_it_is() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "model").unwrap();
        engine.enqueue(b, kernel(arena + 511, 1)).unwrap();
        let hazard = only(&engine);
        assert_eq!(hazard.kind, HazardKind::StreamNotDeclared);
        assert_eq!(hazard.after.unwrap().began.site.label, "model");
        engine.allow_on_block(arena, b).unwrap();
        engine.enqueue(b, kernel(arena + 511, 1)).unwrap();
        engine.enqueue(b, kernel(arena + 512, 1)).unwrap();
        assert_eq!(engine.hazards(), []);
        // What was used on b counts when the block is handed on.
        engine.retire_block(arena, 512, "done").unwrap();
        engine.declare_block(arena, 512, a, "next").unwrap();
        assert_eq!(only(&engine).kind, HazardKind::HandedOutEarly);
    }

    #[test]
    fn a_retired_block_that_is_touched_is_reported() {
        let engine = engine();
        let [a] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "model").unwrap();
        engine.retire_block(arena, 512, "done").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        let hazard = only(&engine);
        assert_eq!(hazard.kind, HazardKind::RetiredBlock);
        assert_eq!(hazard.before.unwrap().ended.unwrap().site.label, "done");
    }

    #[test]
    fn blocks_of_an_arena_that_was_freed_say_nothing_about_the_next_one_there() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let device = engine.device();
        let base = device.reserve(2 * MIB, 0).unwrap();
        let memory = device.create_physical(2 * MIB).unwrap();
        device.map(base, memory).unwrap();
        engine.declare_block(base, 512, a, "retired").unwrap();
        engine.declare_block(base + 512, 512, a, "forgotten").unwrap();
        engine.retire_block(base, 512, "done").unwrap();
        device.unmap(base).unwrap();
        device.map(base, memory).unwrap();
        engine.enqueue(b, kernel(base, 1024)).unwrap();
        engine.declare_block(base, 1024, b, "new").unwrap();
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn abandoned_work_holds_no_block() {
        let engine = engine();
        let [a, b] = streams(&engine);
        let arena = engine.device().allocate(MIB).unwrap();
        engine.declare_block(arena, 512, a, "first").unwrap();
        engine.enqueue(a, kernel(arena, 512)).unwrap();
        engine.retire_block(arena, 512, "first done").unwrap();
        engine.destroy_stream(a, PendingWork::Abandon).unwrap();
        engine.declare_block(arena, 512, b, "second").unwrap();
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let engine = engine();
        let [a] = streams(&engine);
        for (base, size) in [(4096, 0), (u64::MAX, 2), (1, u64::MAX)] {
            let refused = engine.declare_block(base, size, a, "none");
            assert!(matches!(refused, Err(EngineError::InvalidBlock { .. })));
        }
        engine.declare_block(4096, 64, a, "block").unwrap();
        for (base, size) in [(4096, 63), (4097, 64), (0, 64)] {
            let refused = engine.retire_block(base, size, "none");
            assert!(matches!(refused, Err(EngineError::UnknownBlock { .. })));
        }
        assert!(matches!(engine.allow_on_block(4100, a), Err(EngineError::UnknownBlock { .. })));
        assert_eq!(engine.live_blocks(), 1);
    }
}
