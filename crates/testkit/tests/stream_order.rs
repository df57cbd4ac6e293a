//! Memory that goes from stream to stream: at once where that is safe, never where it is not. Every allocation is declared to the
//! device's race detector, which knows which work is ordered after which and reports what was handed out too early.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_order {
    use backend_host::{CallKind, Fault, HostDeviceConfig};
    use host_device::VirtualCounts;
    use mempool_core::{
        Alignment, AllocError, ArenaKind, Bytes, FitPolicy, FreeError, Pool, PoolConfig, PoolConfigBuilder,
        StreamError, StreamId, StreamReuse,
    };
    use testkit::seed::{self, Seed};

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
            let mut stage = Stage::new(Bytes::gib(1), roomy().stream_reuse(NO_WAITS));
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
        let mut stage = Stage::new(Bytes::gib(1), roomy().stream_reuse(NO_WAITS));
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
    fn when_nothing_else_serves_the_stream_is_made_to_wait_instead_of_failing() {
        for policy in FitPolicy::ALL {
            let mut stage = Stage::new(Bytes::gib(1), tight().policy(policy));
            let [s, t] = stage.add_streams();
            let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
            stage.work(&a, s, 10);
            stage.free(&a, Some(s));
            let b = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
            stage.work(&b, t, 1);
            assert_eq!(stage.pool.status().counters.waits, 1);
            assert_eq!(stage.engine.now().as_micros(), 0, "the host did not wait");
            stage.assert_clean();
        }
    }

    #[test]
    fn small_blocks_of_another_stream_are_reused_with_a_wait_before_the_pool_grows() {
        let mut stage = Stage::new(Bytes::gib(1), tight());
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
    fn one_wait_covers_all_that_was_freed_before_and_what_the_other_stream_had_waited_for() {
        let mut stage = Stage::new(Bytes::gib(1), tight());
        let [r, s, t] = stage.add_streams();
        let quarters = [(); 4].map(|()| stage.allocate(Bytes::kib(512), Some(r)).unwrap());
        for quarter in &quarters {
            stage.work(quarter, r, 10);
            stage.free(quarter, Some(r));
        }
        let on_s = [(); 4].map(|()| stage.allocate(Bytes::kib(512), Some(s)).unwrap());
        assert_eq!(stage.pool.status().counters.waits, 1, "s waits for r once");
        for block in &on_s[..2] {
            stage.work(block, s, 10);
            stage.free(block, Some(s));
        }
        let on_t = [(); 2].map(|()| stage.allocate(Bytes::kib(512), Some(t)).unwrap());
        for block in &on_t {
            stage.work(block, t, 1);
        }
        assert_eq!(stage.pool.status().counters.waits, 2, "t waits for s, and so for r");
        stage.assert_clean();
    }

    #[test]
    fn c88_a_free_on_another_stream_is_booked_on_that_one() {
        for bytes in [SMALL, Bytes::mib(2)] {
            let mut stage = Stage::new(Bytes::gib(1), tight());
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
            let mut stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
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
        let mut stage = Stage::new(Bytes::gib(1), tight());
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
        let mut stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
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
        let mut stage = Stage::new(Bytes::gib(1), roomy());
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
            let mut stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
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
        let mut stage = Stage::new(Bytes::gib(1), tight().stream_reuse(reuse));
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
        let mut stage = Stage::new(Bytes::gib(1), tight().stream_reuse(NO_WAITS));
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
        let mut stage = Stage::new(Bytes::gib(1), roomy());
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
        let mut stage = Stage::new(Bytes::gib(1), roomy());
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
            let mut stage = Stage::new(Bytes::gib(1), tight());
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
        let mut stage = Stage::new(Bytes::gib(1), roomy());
        let other = Stage::new(Bytes::gib(1), roomy());
        let [s, t] = stage.add_streams();
        let a = stage.pool.allocate_on(s, SMALL).unwrap();
        stage.end_stream(t);
        let foreign = {
            let mut other = other;
            other.add_stream()
        };
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

    /// Random actions on random streams, watched by the race detector.
    /// Calls that may fail while random actions go on.
    const FAILING: [CallKind; 6] = [
        CallKind::RecordEvent,
        CallKind::WaitEvent,
        CallKind::IsComplete,
        CallKind::Map,
        CallKind::Unmap,
        CallKind::CreatePhysical,
    ];

    /// Plays random actions, and says how many granules were taken from under free runs.
    fn play(config: PoolConfigBuilder, seed: u64, steps: usize, with_faults: bool) -> u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let reuse = StreamReuse {
            event_dependencies: random.bool(),
            opportunistic: random.bool(),
            internal_dependencies: random.u8(..4) != 0,
        };
        let config = config.arena_size(Bytes::mib(4)).stream_reuse(reuse);
        // Small enough that many a request needs several and finds whole ones free.
        let device = HostDeviceConfig::new(4 << 30).with_virtual_granule(64 << 10);
        let mut stage = Stage::over(device, config);
        let mut streams: Vec<StreamId> = stage.add_streams::<3>().into();
        let mut live: Vec<(mempool_core::RawAllocation, Option<StreamId>)> = Vec::new();
        for step in 0..steps {
            let stream = streams[random.usize(..streams.len())];
            if with_faults && random.u8(..16) == 0 {
                let call = FAILING[random.usize(..FAILING.len())];
                stage.faults.fail_nth(call, random.u64(1..4), Fault::Other);
            }
            match random.u8(..100) {
                0..=44 => {
                    let bytes = Bytes::new(1 << random.u32(4..21)).get();
                    let bytes = Bytes::new(random.u64(bytes / 2..=bytes).max(1));
                    let host = random.u8(..12) == 0;
                    let on = if host { None } else { Some(stream) };
                    let shift = if random.u8(..4) == 0 { random.u32(..19) } else { 0 };
                    let alignment = Alignment::new(1 << shift).unwrap();
                    if let Ok(block) = stage.allocate_aligned(bytes, alignment, on) {
                        if random.u8(..8) != 0 {
                            stage.work(&block, stream, random.u64(..40));
                        }
                        live.push((block, on));
                    } else if let Some(index) = (!live.is_empty()).then(|| random.usize(..live.len())) {
                        let (block, on) = live.swap_remove(index);
                        stage.free(&block, on);
                    }
                }
                45..=84 if !live.is_empty() => {
                    let (block, on) = live.swap_remove(random.usize(..live.len()));
                    match on {
                        // On another stream, which is made to come after the first.
                        Some(first) if random.u8(..6) == 0 && streams.contains(&first) => {
                            if first != stream {
                                stage.share(&block, Some(first), stream);
                                stage.work(&block, stream, random.u64(..40));
                            }
                            stage.free(&block, Some(stream));
                        }
                        Some(_) if random.u8(..24) == 0 => stage.free(&block, None),
                        on => stage.free(&block, on),
                    }
                }
                85..=89 if !live.is_empty() => {
                    let (block, on) = live[random.usize(..live.len())];
                    if on.is_some_and(|first| first != stream && streams.contains(&first)) {
                        stage.share(&block, on, stream);
                        stage.work(&block, stream, random.u64(..80));
                    }
                }
                90 => {
                    let mark = stage.pool.mark(stream).unwrap();
                    let other = streams[random.usize(..streams.len())];
                    stage.order(stream, other);
                    stage.pool.note_wait(other, mark).unwrap();
                }
                91 => {
                    let mark = stage.pool.mark(stream).unwrap();
                    stage.engine.synchronize_stream(stage.on_device(stream)).unwrap();
                    stage.pool.synchronized(mark).unwrap();
                }
                92 if streams.len() < 9 => streams.push(stage.add_stream()),
                93 if streams.len() > 2 && !with_faults => {
                    let ended = streams.swap_remove(random.usize(..streams.len()));
                    stage.end_stream(ended);
                }
                94 if random.u8(..8) == 0 => drop(stage.pool.trim()),
                95 => drop(stage.pool.reap()),
                _ => stage.advance(random.u64(..60)),
            }
            if step % 64 == 0 {
                stage.assert_clean();
            }
        }
        stage.faults.clear();
        for (block, on) in live {
            stage.free(&block, on);
        }
        stage.assert_clean();
        stage.pool.trim().unwrap();
        assert_eq!(stage.pool.status().total, Bytes::ZERO, "all went back: {:#?}", stage.pool.report());
        let stolen = stage.pool.status().counters.stolen_granules;
        end(stage);
        stolen
    }

    /// Ends the pool, after which nothing may be left on the device.
    fn end(stage: Stage) {
        let Stage { engine, pool, .. } = stage;
        drop(pool);
        assert!(engine.hazards().is_empty());
        assert_eq!(engine.live_events(), 0, "no event is left");
        assert_eq!(engine.device().live_ranges(), 0);
        assert_eq!(engine.device().virtual_counts(), VirtualCounts::default());
    }

    #[test]
    fn random_actions_on_random_streams_never_race() {
        let seed = Seed::for_test("random_actions_on_random_streams_never_race");
        let mut seeds = fastrand::Rng::with_seed(seed.value());
        let mut stolen = 0;
        for limit in [Bytes::mib(2), Bytes::mib(8), Bytes::mib(64)] {
            for policy in FitPolicy::ALL {
                for with_faults in [false, true] {
                    for kind in [ArenaKind::Plain, ArenaKind::Virtual].repeat(4) {
                        let config = PoolConfig::builder().policy(policy).max_size(limit).arena_kind(kind);
                        stolen += play(config, seeds.u64(..), seed::steps(2_000) / 4, with_faults);
                    }
                }
            }
        }
        assert!(stolen > 20, "memory was moved {stolen} times");
    }

    /// Threads with a stream each, near the limit, that also hand blocks to one another.
    #[test]
    fn threads_on_streams_of_their_own_never_race() {
        let seed = Seed::for_test("threads_on_streams_of_their_own_never_race");
        let mut stage = Stage::new(Bytes::gib(1), roomy().max_size(Bytes::mib(16)).arena_size(Bytes::mib(4)));
        let streams = stage.add_streams::<4>();
        let stage = stage;
        let handed_on = parking_lot::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (thread, &stream) in (1..).zip(&streams) {
                let (stage, handed_on) = (&stage, &handed_on);
                let mut random = fastrand::Rng::with_seed(seed.value().wrapping_mul(thread));
                scope.spawn(move || {
                    let mut live = Vec::new();
                    for _ in 0..seed::steps(8_000) / 4 {
                        match random.u8(..10) {
                            0..=4 => {
                                let most = 1 << random.u32(8..21);
                                let bytes = Bytes::new(random.u64(1..most));
                                if let Ok(block) = stage.allocate(bytes, Some(stream)) {
                                    stage.work(&block, stream, random.u64(..30));
                                    live.push(block);
                                }
                            }
                            5..=7 if !live.is_empty() => {
                                let block = live.swap_remove(random.usize(..live.len()));
                                if random.u8(..4) == 0 {
                                    handed_on.lock().push((block, stream));
                                } else {
                                    stage.free(&block, Some(stream));
                                }
                            }
                            8 => {
                                let Some((block, first)) = handed_on.lock().pop() else { continue };
                                if first != stream {
                                    stage.share(&block, Some(first), stream);
                                    stage.work(&block, stream, random.u64(..30));
                                }
                                stage.free(&block, Some(stream));
                            }
                            _ => stage.advance(random.u64(..30)),
                        }
                    }
                    for block in &live {
                        stage.free(block, Some(stream));
                    }
                });
            }
        });
        for (block, stream) in handed_on.into_inner() {
            stage.free(&block, Some(stream));
        }
        stage.assert_clean();
        stage.pool.trim().unwrap();
        assert_eq!(stage.pool.status().total, Bytes::ZERO);
    }
}
