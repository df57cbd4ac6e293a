//! What users of other stream-ordered pools ran into, tried on ours (C rows), and how CANN's own pool answers where ours reads the same
//! (S and A rows), by the names under which the design lists them.
//!
//! C36, nested routing, does not apply: there is no current pool that a scope could set; every call names its pool.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_bug_log {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Barrier};
    use std::thread;

    use backend_host::{CallKind, HostDeviceConfig};
    use mempool_core::{
        Alignment, AllocError, Bytes, DeviceAddress, FitPolicy, Pool, PoolConfig, StreamId, StreamReuse,
    };
    use testkit::seed::Seed;
    use testkit::watched_device::WatchedDevice;

    use super::stream_stage::Stage;

    const OFF: StreamReuse =
        StreamReuse { event_dependencies: false, opportunistic: false, internal_dependencies: false };
    const EVENTS: StreamReuse = StreamReuse { event_dependencies: true, ..OFF };
    const OPPORTUNISTIC: StreamReuse = StreamReuse { opportunistic: true, ..OFF };
    const INTERNAL: StreamReuse = StreamReuse { internal_dependencies: true, ..OFF };

    /// A pool that may hold one block of 8 MiB and no more.
    fn one_block(reuse: StreamReuse) -> Stage {
        let config = PoolConfig::builder().max_size(Bytes::mib(8)).arena_size(Bytes::mib(8));
        Stage::new(Bytes::gib(1), config.stream_reuse(reuse))
    }

    /// A pool that may grow.
    fn roomy(reuse: StreamReuse) -> Stage {
        Stage::new(Bytes::gib(1), PoolConfig::builder().arena_size(Bytes::mib(8)).stream_reuse(reuse))
    }

    /// Allocates a block on a stream, gives the stream work on it, frees it there, and says where it was.
    fn use_once(stage: &Stage, bytes: Bytes, stream: StreamId) -> DeviceAddress {
        let block = stage.allocate(bytes, Some(stream)).unwrap();
        stage.work(&block, stream, 10);
        stage.free(&block, Some(stream));
        block.address
    }

    fn waits(stage: &Stage) -> u64 {
        stage.pool.status().counters.waits
    }

    #[test]
    fn c14_a_quota_is_never_passed_at_any_instant_by_eight_threads() {
        const QUOTA: Bytes = Bytes::mib(16);
        // 32 pieces of this are 17 MiB.
        const PIECE: Bytes = Bytes::kib(544);
        const THREADS: usize = 8;
        for with_streams in [false, true] {
            let mut watched = None;
            let stage = Stage::over(HostDeviceConfig::new(1 << 30), |device| {
                let device = watched.insert(Arc::new(WatchedDevice::new(device).with_limit(QUOTA)));
                let config = PoolConfig::builder().max_size(QUOTA).arena_size(Bytes::mib(2)).build();
                Pool::new(Arc::clone(device) as _, config.unwrap()).unwrap()
            });
            let watched = watched.unwrap();
            let streams: [StreamId; THREADS] = stage.add_streams();
            let (together, refused) = (Barrier::new(THREADS), AtomicU64::new(0));
            thread::scope(|scope| {
                for stream in streams {
                    let (stage, together, refused) = (&stage, &together, &refused);
                    let stream = Some(stream).filter(|_| with_streams);
                    scope.spawn(move || {
                        for _ in 0..20 {
                            let pieces: Vec<_> = (0..4).map(|_| stage.allocate(PIECE, stream)).collect();
                            together.wait();
                            for piece in pieces {
                                match piece {
                                    Ok(piece) => stage.free(&piece, stream),
                                    Err(AllocError::OutOfMemory(_)) => {
                                        refused.fetch_add(1, Ordering::Relaxed);
                                    }
                                    Err(error) => panic!("{error}"),
                                }
                            }
                            together.wait();
                        }
                    });
                }
            });
            watched.check().unwrap();
            assert!(watched.most_held() <= QUOTA, "{}", watched.most_held());
            assert!(stage.pool.status().total_high_water <= QUOTA);
            assert!(refused.into_inner() >= 20, "17 MiB never fit into 16");
            stage.assert_clean();
        }
    }

    #[test]
    fn c42_of_three_streams_the_first_gets_its_block_back_only_after_the_third() {
        for reuse in [OFF, StreamReuse::default()] {
            let stage = one_block(reuse);
            let [s0, s, s3] = stage.add_streams();
            let block = stage.allocate(Bytes::mib(8), Some(s0)).unwrap();
            stage.work(&block, s0, 1);
            stage.share(&block, Some(s0), s);
            stage.work(&block, s, 1);
            stage.share(&block, Some(s), s3);
            stage.work(&block, s3, 50);
            stage.free(&block, Some(s));
            stage.advance(2);
            let early = stage.allocate(Bytes::mib(8), Some(s0));
            if reuse == OFF {
                assert!(early.is_err(), "the work of s3 is pending");
                stage.advance(50);
                for stream in [s, s3] {
                    stage.pool.mark(stream).and_then(|mark| stage.pool.synchronized(mark)).unwrap();
                }
                assert_eq!(stage.allocate(Bytes::mib(8), Some(s0)).unwrap().address, block.address);
            } else {
                assert_eq!(early.unwrap().address, block.address);
                assert!(waits(&stage) > 0, "s0 was made to wait for s3");
            }
            stage.assert_clean();
        }
    }

    #[test]
    fn c46_two_streams_with_rising_sizes_hold_no_more_than_one_stream_does() {
        let total_of = |streams: usize| {
            let stage = roomy(StreamReuse::default());
            let streams: Vec<_> = (0..streams).map(|_| stage.add_stream()).collect();
            for step in 1..=96 {
                use_once(&stage, Bytes::kib(700 * step), streams[(step % 2) as usize % streams.len()]);
            }
            for &stream in &streams {
                let mark = stage.pool.mark(stream).unwrap();
                stage.engine.synchronize_stream(stage.on_device(stream)).unwrap();
                stage.pool.synchronized(mark).unwrap();
            }
            stage.assert_clean();
            stage.pool.status().total.get()
        };
        let (one, two) = (total_of(1), total_of(2));
        assert!(two * 10 <= one * 11, "{two} against {one}");
    }

    #[test]
    fn c50_a_block_is_found_by_its_address_after_another_thread_has_rearranged_what_is_free() {
        let stage = roomy(StreamReuse::default());
        let [s, t] = stage.add_streams();
        let sizes = (0..64).map(|power| Bytes::new(1 << (power % 20 + 3)));
        let mut kept: Vec<_> = sizes.clone().map(|bytes| stage.allocate(bytes, Some(s)).unwrap()).collect();
        for bytes in sizes {
            use_once(&stage, bytes, s);
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                let large = stage.allocate(Bytes::mib(40), Some(t)).unwrap();
                stage.free(&large, Some(t));
                stage.pool.trim().unwrap();
            });
        });
        assert!(stage.pool.status().counters.trims > 0);
        kept.reverse();
        for block in &kept {
            assert_eq!(stage.pool.block_at(block.address).unwrap(), *block);
            stage.free(block, Some(s));
        }
        stage.assert_clean();
    }

    #[test]
    fn c53_a_loop_with_a_synchronisation_in_each_round_asks_the_driver_nothing() {
        for streams in [1, 2] {
            let stage = roomy(StreamReuse::default());
            let streams: Vec<_> = (0..streams).map(|_| stage.add_stream()).collect();
            let calls = || CallKind::ALL.map(|kind| (kind, stage.faults.calls(kind)));
            let mut before = None;
            for round in 0..10_000 {
                let stream = streams[round % streams.len()];
                use_once(&stage, Bytes::mib(3), stream);
                use_once(&stage, Bytes::new(3000), stream);
                let mark = stage.pool.mark(stream).unwrap();
                stage.engine.synchronize_stream(stage.on_device(stream)).unwrap();
                stage.pool.synchronized(mark).unwrap();
                if round == 10 {
                    before = Some(calls());
                }
            }
            assert_eq!(Some(calls()), before);
            assert_eq!(stage.pool.status().total, Bytes::mib(8));
            stage.assert_clean();
        }
    }

    #[test]
    fn c53_one_stream_alone_asks_the_driver_nothing_also_without_any_synchronisation() {
        let stage = roomy(StreamReuse::default());
        let stream = stage.add_stream();
        use_once(&stage, Bytes::mib(3), stream);
        let calls = || CallKind::ALL.map(|kind| (kind, stage.faults.calls(kind)));
        let before = calls();
        for _ in 0..1000 {
            use_once(&stage, Bytes::mib(3), stream);
        }
        assert_eq!(calls(), before);
        stage.assert_clean();
    }

    #[test]
    fn c56_the_default_streams_of_two_threads_are_two_streams() {
        let stage = one_block(OFF);
        let use_on_own = |expected: bool| {
            let stream = stage.add_stream();
            let served = stage.allocate(Bytes::mib(8), Some(stream)).map(|block| {
                stage.work(&block, stream, 10);
                stage.free(&block, Some(stream));
            });
            assert_eq!(served.is_ok(), expected, "{stream}");
            stream
        };
        let first = thread::scope(|scope| scope.spawn(|| use_on_own(true)).join().unwrap());
        let second = thread::scope(|scope| scope.spawn(|| use_on_own(false)).join().unwrap());
        assert_ne!(first, second);
        stage.assert_clean();
    }

    #[test]
    fn c56d_the_limit_is_the_same_in_every_thread() {
        let stage = one_block(StreamReuse::default());
        let stream = stage.add_stream();
        let _taken = stage.allocate(Bytes::mib(5), Some(stream)).unwrap();
        let (beside, limit) = (stage.clone(), stage.pool.status().limit);
        let seen = thread::spawn(move || {
            let refused = beside.allocate(Bytes::mib(4), Some(stream));
            assert!(matches!(refused, Err(AllocError::OutOfMemory(_))), "{refused:?}");
            assert!(matches!(beside.allocate(Bytes::mib(9), None), Err(AllocError::TooLarge { .. })));
            beside.pool.status().limit
        });
        assert_eq!((seen.join().unwrap(), limit), (Some(Bytes::mib(8)), Some(Bytes::mib(8))));
    }

    #[test]
    fn c72_sixteen_threads_with_aligned_blocks_free_each_once_and_never_race() {
        let seed = Seed::for_test("c72_sixteen_threads_with_aligned_blocks_free_each_once_and_never_race");
        for policy in FitPolicy::ALL {
            let config =
                PoolConfig::builder().policy(policy).max_size(Bytes::mib(64)).arena_size(Bytes::mib(8));
            let stage = Stage::new(Bytes::gib(1), config);
            let streams: [StreamId; 16] = stage.add_streams();
            thread::scope(|scope| {
                for (number, stream) in (1..).zip(streams) {
                    let stage = &stage;
                    let mut random = fastrand::Rng::with_seed(seed.value() ^ number);
                    scope.spawn(move || {
                        let mut live = Vec::new();
                        for _ in 0..300 {
                            let alignment = Alignment::new(1 << random.u32(..20)).unwrap();
                            let bytes = Bytes::new(1 << random.u32(4..19));
                            if let Ok(block) = stage.allocate_aligned(bytes, alignment, Some(stream)) {
                                assert!(block.address.get().is_multiple_of(alignment.get()), "{block:?}");
                                stage.work(&block, stream, random.u64(..20));
                                live.push(block);
                            }
                            if random.bool() && !live.is_empty() {
                                let block = live.swap_remove(random.usize(..live.len()));
                                stage.free(&block, Some(stream));
                            }
                        }
                        for block in &live {
                            stage.free(block, Some(stream));
                        }
                    });
                }
            });
            let status = stage.pool.status();
            assert_eq!((status.blocks, status.counters.refused_frees), (0, 0));
            stage.assert_clean();
        }
    }

    /// Frees of a stream that are followed by an event of the pool's: the last block is one of them.
    fn use_until_an_event_follows(stage: &Stage, bytes: Bytes, stream: StreamId) -> DeviceAddress {
        let events = stage.pool.status().counters.events;
        let last = [(); 64].map(|()| use_once(stage, bytes, stream))[63];
        assert_eq!(stage.pool.status().counters.events, events + 1);
        last
    }

    #[test]
    fn s9_memory_whose_work_turns_out_to_be_done_serves_a_smaller_block_of_another_stream() {
        for done in [true, false] {
            let stage = one_block(OPPORTUNISTIC);
            let [s0, s1] = stage.add_streams();
            let freed = use_until_an_event_follows(&stage, Bytes::mib(8), s0);
            stage.advance(if done { 640 } else { 639 });
            let found = stage.allocate(Bytes::mib(5), Some(s1)).ok().map(|block| block.address);
            assert_eq!(found, Some(freed).filter(|_| done));
            assert_eq!(waits(&stage), 0);
            stage.assert_clean();
        }
    }

    #[test]
    fn s10_memory_that_is_pending_serves_a_smaller_block_of_another_stream_that_is_made_to_wait() {
        let stage = one_block(INTERNAL);
        let [s0, s1] = stage.add_streams();
        let freed = use_once(&stage, Bytes::mib(8), s0);
        let found = stage.allocate(Bytes::mib(5), Some(s1)).unwrap();
        stage.work(&found, s1, 1);
        assert_eq!((found.address, waits(&stage)), (freed, 1));
        stage.assert_clean();
    }

    #[test]
    fn s11_a_wait_of_the_callers_own_after_the_free_makes_the_memory_the_others() {
        let stage = one_block(EVENTS);
        let [s0, s1] = stage.add_streams();
        let freed = use_once(&stage, Bytes::mib(8), s0);
        let mark = stage.pool.mark(s0).unwrap();
        stage.order(s0, s1);
        stage.pool.note_wait(s1, mark).unwrap();
        let found = stage.allocate(Bytes::mib(5), Some(s1)).unwrap();
        stage.work(&found, s1, 1);
        assert_eq!((found.address, waits(&stage)), (freed, 0));
        stage.assert_clean();
    }

    #[test]
    fn s12_a_wait_of_the_callers_own_before_the_free_makes_nothing_the_others() {
        let stage = one_block(EVENTS);
        let [s0, s1] = stage.add_streams();
        let mark = stage.pool.mark(s0).unwrap();
        stage.order(s0, s1);
        stage.pool.note_wait(s1, mark).unwrap();
        use_once(&stage, Bytes::mib(8), s0);
        assert!(stage.allocate(Bytes::mib(5), Some(s1)).is_err());
        stage.assert_clean();
    }

    #[test]
    fn a7_with_all_switches_off_another_stream_gets_another_block() {
        let stage = roomy(OFF);
        let [s0, s1] = stage.add_streams();
        let freed = use_once(&stage, Bytes::mib(8), s0);
        assert_ne!(stage.allocate(Bytes::mib(8), Some(s1)).unwrap().address, freed);
        stage.assert_clean();
    }

    #[test]
    fn a8_the_same_stream_gets_the_same_block() {
        let stage = roomy(OFF);
        let [s0, _] = stage.add_streams();
        let freed = use_once(&stage, Bytes::mib(8), s0);
        assert_eq!(stage.allocate(Bytes::mib(8), Some(s0)).unwrap().address, freed);
        stage.assert_clean();
    }

    #[test]
    fn a9_a10_only_an_event_that_is_recorded_after_the_free_gives_the_block_to_who_waits_for_it() {
        for recorded_after in [true, false] {
            let stage = roomy(EVENTS);
            let [s0, s1] = stage.add_streams();
            let block = stage.allocate(Bytes::mib(8), Some(s0)).unwrap();
            let order = || {
                let mark = stage.pool.mark(s0).unwrap();
                stage.order(s0, s1);
                stage.pool.note_wait(s1, mark).unwrap();
            };
            if !recorded_after {
                order();
            }
            stage.work(&block, s0, 10);
            stage.free(&block, Some(s0));
            if recorded_after {
                order();
            }
            let next = stage.allocate(Bytes::mib(8), Some(s1)).unwrap();
            stage.work(&next, s1, 1);
            assert_eq!(next.address == block.address, recorded_after);
            stage.assert_clean();
        }
    }

    #[test]
    fn a11_with_the_opportunistic_switch_another_stream_gets_the_same_block_when_the_work_is_done() {
        for reuse in [OPPORTUNISTIC, OFF] {
            let stage = roomy(reuse);
            let [s0, s1] = stage.add_streams();
            let freed = use_until_an_event_follows(&stage, Bytes::mib(8), s0);
            stage.advance(640);
            let next = stage.allocate(Bytes::mib(8), Some(s1)).unwrap();
            assert_eq!(next.address == freed, reuse == OPPORTUNISTIC);
            stage.assert_clean();
        }
    }
}
