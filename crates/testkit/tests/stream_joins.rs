//! Free memory that streams have passed is joined again with what it touches, in whatever order they pass it.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_joins {
    use std::sync::Arc;

    use backend_host::CallKind;
    use mempool_core::{Alignment, Bytes, PoolConfig, StreamReuse};
    use parking_lot::Mutex;

    use super::stream_stage::Stage;

    const NO_WAITS: StreamReuse =
        StreamReuse { internal_dependencies: false, opportunistic: true, event_dependencies: true };

    fn tight() -> mempool_core::PoolConfigBuilder {
        PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2)).stream_reuse(NO_WAITS)
    }

    #[test]
    fn what_an_aligned_block_leaves_of_memory_that_was_passed_is_joined_with_its_neighbour() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t, u] = stage.add_streams();
        let _wall = stage.allocate(Bytes::kib(512), Some(u)).unwrap();
        let passed_last = stage.allocate(Bytes::mib(1), Some(s)).unwrap();
        let neutral = stage.allocate(Bytes::kib(512), Some(t)).unwrap();
        stage.work(&passed_last, s, 10);
        stage.free(&passed_last, Some(s));
        stage.end_idle_stream(t);
        stage.free(&neutral, Some(t));
        stage.pool.end_stream(s).unwrap();
        stage.advance(10);
        // Between the moment when the pool knows that the event has passed and that when it joins what that allows.
        let (beside, taken) = (stage.clone(), Arc::new(Mutex::new(None)));
        let keeps = Arc::clone(&taken);
        stage.before_next(CallKind::ReleaseEvent, move || {
            let alignment = Alignment::new(1 << 20).unwrap();
            *keeps.lock() = beside.allocate_aligned(Bytes::kib(256), alignment, Some(u)).ok();
        });
        assert!(stage.pool.reap());
        let aligned = taken.lock().take().unwrap();
        stage.pool.validate().unwrap();
        let rest = stage.allocate(Bytes::kib(256 + 512), Some(u)).unwrap();
        assert_eq!(rest.address.get(), aligned.address.get() + aligned.bytes.get());
        stage.assert_clean();
    }

    #[test]
    fn small_objects_of_a_stream_that_ended_with_all_work_done_are_everybodys_at_once() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let s = stage.add_stream();
        let small: Vec<_> = (0..).map_while(|_| stage.allocate(Bytes::new(700), Some(s)).ok()).collect();
        for block in &small {
            stage.work(block, s, 1);
            stage.free(block, Some(s));
        }
        stage.end_idle_stream(s);
        assert_eq!(stage.pool.trim().unwrap(), Bytes::mib(2));
        stage.assert_clean();
    }
}
