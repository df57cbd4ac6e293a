//! Memory that goes from stream to stream: at once where that is safe, never where it is not. Every allocation is declared to the
//! device's race detector, which knows which work is ordered after which and reports what was handed out too early.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_order {
    use backend_host::{CallKind, Fault};
    use mempool_core::{
        AllocError, ArenaKind, Bytes, FreeError, Pool, PoolConfig, PoolConfigBuilder, StreamError, StreamId,
        StreamReuse,
    };

    use super::stream_stage::Stage;

    const SMALL: Bytes = Bytes::new(700);
    const LARGE: Bytes = Bytes::mib(1);

    /// A pool that may hold two large blocks and no more.
    fn tight() -> PoolConfigBuilder {
        PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2))
    }

    fn roomy() -> PoolConfigBuilder {
        PoolConfig::builder()
    }

    const NO_WAITS: StreamReuse =
        StreamReuse { internal_dependencies: false, opportunistic: true, event_dependencies: true };

    #[test]
    fn c21_c22_the_stream_that_frees_gets_its_block_back_at_once_and_others_do_not() {
        for bytes in [SMALL, LARGE] {
            let stage = Stage::new(Bytes::gib(1), roomy().stream_reuse(NO_WAITS));
            let [s, t] = stage.add_streams();
            let a = stage.allocate(bytes, Some(s)).unwrap();
            stage.work(&a, s, 10);
            stage.free(&a, Some(s));
            let other = stage.allocate(bytes, Some(t)).unwrap();
            assert_ne!(other.address, a.address, "work of s is pending on it");
            let same = stage.allocate(bytes, Some(s)).unwrap();
            assert_eq!(same.address, a.address);
            let counters = stage.pool.status().counters;
            assert_eq!((counters.events, counters.waits), (0, 0), "nothing was asked of the device");
            stage.assert_clean();
        }
    }

    #[test]
    fn c21_a_repeated_workspace_takes_its_size_once_on_one_stream_and_as_often_as_it_is_pending_on_many() {
        let stage = Stage::new(Bytes::gib(1), roomy().stream_reuse(NO_WAITS));
        let streams: [StreamId; 6] = stage.add_streams();
        for _ in 0..5 {
            let workspace = stage.allocate(Bytes::mib(40), Some(streams[0])).unwrap();
            stage.work(&workspace, streams[0], 100);
            stage.free(&workspace, Some(streams[0]));
        }
        assert_eq!(stage.pool.status().total, Bytes::mib(40));
        for &stream in &streams[1..] {
            let workspace = stage.allocate(Bytes::mib(40), Some(stream)).unwrap();
            stage.work(&workspace, stream, 100);
            stage.free(&workspace, Some(stream));
        }
        assert_eq!(stage.pool.status().total, Bytes::mib(240));
        stage.assert_clean();
    }

    #[test]
    fn small_blocks_of_another_stream_are_reused_with_a_wait_before_the_pool_grows() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t] = stage.add_streams();
        let small = stage.allocate(SMALL, Some(s)).unwrap();
        let keeps_the_slab = stage.allocate(SMALL, Some(s)).unwrap();
        // All that is left, so that no new slab can be made.
        let rest = stage.allocate(Bytes::kib(2048 - 48), Some(s)).unwrap();
        let rest_too = (0..).map_while(|_| stage.allocate(SMALL, Some(s)).ok()).collect::<Vec<_>>();
        stage.work(&small, s, 10);
        stage.free(&small, Some(s));
        let taken = stage.allocate(SMALL, Some(t)).unwrap();
        assert_eq!(taken.address, small.address);
        assert_eq!(stage.pool.status().counters.waits, 1);
        stage.work(&taken, t, 1);
        stage.assert_clean();
        drop((keeps_the_slab, rest, rest_too));
    }

    #[test]
    fn c88_a_free_on_another_stream_is_booked_on_that_one() {
        for bytes in [SMALL, Bytes::mib(2)] {
            let stage = Stage::new(Bytes::gib(1), tight());
            let [s, t] = stage.add_streams();
            let a = stage.allocate(bytes, Some(s)).unwrap();
            stage.share(&a, Some(s), t);
            stage.work(&a, t, 10);
            stage.free(&a, Some(t));
            let again = stage.allocate(bytes, Some(s)).unwrap();
            stage.work(&again, s, 1);
            if again.address == a.address {
                assert_eq!(stage.pool.status().counters.waits, 1, "s waits for t");
            }
            stage.assert_clean();
        }
    }

    #[test]
    fn c56c_c42_a_block_used_on_further_streams_waits_for_all_of_them() {
        for bytes in [SMALL, Bytes::mib(2)] {
            let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
            let streams: [StreamId; 7] = stage.add_streams();
            let a = stage.allocate(bytes, Some(streams[0])).unwrap();
            for &other in &streams[1..] {
                stage.share(&a, Some(streams[0]), other);
                stage.work(&a, other, 20);
            }
            stage.free(&a, Some(streams[0]));
            for &stream in &streams {
                let served = stage.allocate(bytes, Some(stream));
                assert!(served.is_err() || served.unwrap().address != a.address, "{stream}");
            }
            stage.advance(20);
            // Only an event tells the pool that the work is over.
            for &stream in &streams {
                let mark = stage.pool.mark(stream).unwrap();
                stage.pool.synchronized(mark).unwrap();
            }
            let served = (0..2).map(|_| stage.allocate(bytes, Some(streams[3])).unwrap().address);
            assert!(served.take(1).any(|address| address == a.address) || bytes == SMALL);
            stage.assert_clean();
        }
    }

    #[test]
    fn c28_memory_that_waits_for_an_event_is_looked_for_before_a_request_fails() {
        // No waits on the device and nothing else free: the host's own request waits for the streams, on its thread.
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&a, s, 5);
        stage.free(&a, Some(s));
        let b = stage.allocate(Bytes::mib(2), None).unwrap();
        assert_eq!(b.address, a.address);
        assert_eq!(stage.engine.now().as_micros(), 5, "it waited for the work, and no longer");
        stage.assert_clean();
    }

    #[test]
    fn c41_a_slow_stream_does_not_keep_the_memory_of_a_quick_one() {
        let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
        let [slow, quick, third] = stage.add_streams();
        let a = stage.allocate(LARGE, Some(slow)).unwrap();
        let b = stage.allocate(LARGE, Some(quick)).unwrap();
        stage.work(&a, slow, 100);
        stage.work(&b, quick, 2);
        stage.free(&a, Some(slow));
        stage.free(&b, Some(quick));
        // Each ends with an event behind its work.
        stage.pool.end_stream(slow).unwrap();
        stage.pool.end_stream(quick).unwrap();
        stage.advance(2);
        let reused = stage.allocate(LARGE, Some(third));
        assert_eq!(reused.unwrap().address, b.address);
        stage.assert_clean();
    }

    #[test]
    fn c40_c82_a_stream_that_ended_owes_nothing_and_is_asked_nothing() {
        let stage = Stage::new(Bytes::gib(1), roomy());
        let mut last = None;
        for round in 0..50 {
            let s = stage.add_stream();
            let a = stage.allocate(Bytes::mib(40), Some(s)).unwrap();
            let kept = stage.allocate(SMALL, Some(s)).unwrap();
            stage.work(&a, s, 10);
            stage.work(&kept, s, 10);
            if round % 2 == 0 {
                stage.free(&a, Some(s));
                stage.end_stream(s);
            } else {
                stage.end_stream(s);
                stage.free(&a, Some(s));
            }
            // A block that outlives its stream is freed in the order of what the stream had been given.
            if let Some((block, stream)) = last.replace((kept, s)) {
                stage.free(&block, Some(stream));
            }
            assert_eq!(stage.pool.status().total, Bytes::mib(40 + 32), "round {round}");
        }
        stage.assert_clean();
    }

    #[test]
    fn marks_s11_s12_a_wait_of_the_callers_own_covers_what_was_freed_before_its_mark_only() {
        for freed_before in [true, false] {
            let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
            let [s, t] = stage.add_streams();
            let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
            stage.work(&a, s, 10);
            if freed_before {
                stage.free(&a, Some(s));
            }
            let mark = stage.pool.mark(s).unwrap();
            stage.order(s, t);
            stage.pool.note_wait(t, mark).unwrap();
            if !freed_before {
                stage.work(&a, s, 10);
                stage.free(&a, Some(s));
            }
            let reused = stage.allocate(Bytes::mib(2), Some(t));
            assert_eq!(reused.is_ok(), freed_before);
            stage.assert_clean();
        }
    }

    #[test]
    fn a_wait_of_the_callers_own_counts_for_nothing_when_that_is_switched_off() {
        let reuse = StreamReuse { event_dependencies: false, ..NO_WAITS };
        let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(reuse));
        let [s, t] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&a, s, 10);
        stage.free(&a, Some(s));
        let mark = stage.pool.mark(s).unwrap();
        stage.order(s, t);
        stage.pool.note_wait(t, mark).unwrap();
        assert!(matches!(stage.allocate(Bytes::mib(2), Some(t)), Err(AllocError::OutOfMemory(_))));
    }

    #[test]
    fn a_free_without_a_stream_comes_after_all_streams() {
        let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
        let [s, t] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(2), None).unwrap();
        stage.work(&a, s, 10);
        stage.work(&a, t, 20);
        stage.free(&a, None);
        for stream in [s, t] {
            assert!(
                stage.allocate(Bytes::mib(2), Some(stream)).is_err(),
                "{stream}: the other one may use it"
            );
        }
        stage.assert_clean();
    }

    #[test]
    fn c29_trim_waits_for_the_work_of_streams_before_arenas_go_back() {
        let stage = Stage::new(Bytes::gib(1), roomy());
        let [s] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(4), Some(s)).unwrap();
        stage.work(&a, s, 30);
        stage.free(&a, Some(s));
        assert_eq!(stage.pool.trim().unwrap(), Bytes::mib(32));
        assert_eq!(stage.engine.now().as_micros(), 30);
        stage.assert_clean();
    }

    #[test]
    fn a_pool_that_ends_waits_for_the_work_of_streams() {
        let stage = Stage::new(Bytes::gib(1), roomy());
        let [s] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(4), Some(s)).unwrap();
        stage.work(&a, s, 30);
        stage.free(&a, Some(s));
        let Stage { engine, pool, .. } = stage;
        drop(pool);
        assert_eq!(engine.now().as_micros(), 30);
        assert!(engine.hazards().is_empty(), "{:?}", engine.hazards());
        assert_eq!(engine.live_events(), 0);
    }

    #[test]
    fn an_event_or_a_wait_that_fails_leaves_the_block_free_and_the_order_kept() {
        for kind in [CallKind::RecordEvent, CallKind::WaitEvent] {
            let stage = Stage::new(Bytes::gib(1), tight());
            let [s, t] = stage.add_streams();
            let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
            stage.work(&a, s, 10);
            stage.free(&a, Some(s));
            stage.faults.fail_from(kind, 1, Fault::Other);
            let used = stage.pool.status().used;
            // Records fail for the wait of the host, too; waits on the device do not matter to it.
            let served = stage.allocate(Bytes::mib(2), Some(t));
            assert_eq!(served.is_ok(), kind == CallKind::WaitEvent, "{kind}");
            if served.is_err() {
                assert_eq!(stage.pool.status().used, used);
                let counters = stage.pool.status().counters;
                assert_eq!(counters.allocations - counters.frees, 0);
            }
            stage.faults.clear();
            stage.pool.validate().unwrap();
            if let Ok(block) = served {
                stage.free(&block, Some(t));
            }
            let again = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
            stage.work(&again, t, 1);
            stage.assert_clean();
        }
    }

    #[test]
    fn misuse_is_a_typed_error_and_changes_nothing() {
        let stage = Stage::new(Bytes::gib(1), roomy());
        let other = Stage::new(Bytes::gib(1), roomy());
        let [s, t] = stage.add_streams();
        let a = stage.pool.allocate_on(s, SMALL).unwrap();
        stage.end_stream(t);
        let foreign = other.add_stream();
        assert!(matches!(stage.pool.mark(t), Err(StreamError::Ended { stream }) if stream == t));
        assert!(matches!(stage.pool.end_stream(t), Err(StreamError::Ended { .. })));
        assert!(matches!(a.record_use(t), Err(StreamError::Ended { .. })));
        assert!(matches!(a.record_use(foreign), Err(StreamError::WrongPool { .. })));
        assert!(matches!(
            stage.pool.allocate_on(t, SMALL),
            Err(AllocError::Stream(StreamError::Ended { .. }))
        ));
        assert!(matches!(
            stage.pool.allocate_on(foreign, SMALL),
            Err(AllocError::Stream(StreamError::WrongPool { .. }))
        ));
        let refused = stage.pool.free_on(a.address(), foreign);
        assert!(matches!(refused, Err(FreeError::WrongStream { .. })), "{refused:?}");
        assert_eq!(stage.pool.status().blocks, 1);
        let raw = a.into_raw();
        stage.pool.free_on(raw.address, s).unwrap();
        assert!(matches!(stage.pool.free_on(raw.address, s), Err(FreeError::DoubleFree { .. })));
        assert!(matches!(stage.pool.record_use(raw.address, s), Err(StreamError::Block(_))));
        stage.pool.validate().unwrap();
    }

    #[test]
    fn a_device_without_streams_says_so() {
        let device = mempool_core::AddressDevice::new(Bytes::gib(1));
        let pool = Pool::new(std::sync::Arc::new(device), PoolConfig::default()).unwrap();
        let refused = pool.add_stream(mempool_core::DeviceStream::new(1));
        assert!(matches!(refused, Err(StreamError::Unsupported { .. })), "{refused:?}");
    }

    /// Granule of virtual memory of the device.
    const GRANULE: Bytes = Bytes::mib(2);

    /// A pool of virtual arenas.
    fn mapped(limit: Bytes) -> (Stage, [StreamId; 2]) {
        let config = PoolConfig::builder().arena_kind(ArenaKind::Virtual).max_size(limit);
        let stage = Stage::new(Bytes::gib(1), config);
        let streams = stage.add_streams::<2>();
        (stage, streams)
    }

    #[test]
    fn memory_that_a_stream_may_still_touch_is_moved_only_after_waiting_for_it_as_the_last_resort() {
        let (stage, [one, other]) = mapped(Bytes::mib(8));
        let blocks: Vec<_> = (0..4).map(|_| stage.allocate(GRANULE, Some(one)).unwrap()).collect();
        for block in &blocks {
            stage.work(block, one, 50);
        }
        // Freed in two pieces that do not touch, while the work still runs.
        stage.free(&blocks[0], Some(one));
        stage.free(&blocks[2], Some(one));
        let large = stage.allocate(Bytes::mib(4), Some(other)).unwrap();
        assert!(stage.pool.status().counters.stolen_granules > 0);
        stage.work(&large, other, 10);
        stage.advance(1_000);
        stage.assert_clean();
    }

    #[test]
    fn new_memory_is_taken_before_a_pool_waits_for_a_stream() {
        let (stage, [one, _]) = mapped(Bytes::mib(16));
        let blocks: Vec<_> = (0..3).map(|_| stage.allocate(GRANULE, Some(one)).unwrap()).collect();
        for block in &blocks {
            stage.work(block, one, 50);
        }
        stage.free(&blocks[0], Some(one));
        stage.free(&blocks[2], Some(one));
        let _large = stage.allocate(Bytes::mib(6), Some(one)).unwrap();
        let status = stage.pool.status();
        assert_eq!(
            (status.counters.stolen_granules, status.counters.events),
            (0, 0),
            "nothing was waited for"
        );
        assert_eq!(status.total, Bytes::mib(10), "the free granule before the hole is part of it");
        stage.assert_clean();
    }

    #[test]
    fn a_block_at_a_hole_takes_free_memory_beside_it_only_in_the_order_of_streams() {
        let (stage, [one, _]) = mapped(Bytes::mib(16));
        let block = stage.allocate(GRANULE, Some(one)).unwrap();
        stage.work(&block, one, 50);
        stage.free(&block, Some(one));
        let of_host = stage.allocate(Bytes::mib(4), None).unwrap();
        assert_ne!(of_host.address, block.address, "the host waits for nobody");
        let own = stage.allocate(Bytes::mib(2), Some(one)).unwrap();
        assert_eq!(own.address, block.address, "its own memory a stream has back at once");
        stage.work(&own, one, 10);
        stage.advance(1_000);
        stage.assert_clean();
    }
}
