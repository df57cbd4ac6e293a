//! Random actions on random streams, and threads on streams of their own, with plain and with virtual arenas: the race detector of the
//! device, which knows which work is ordered after which, finds nothing.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_actions {
    use backend_host::{CallKind, Fault, HostDeviceConfig};
    use host_device::VirtualCounts;
    use mempool_core::{
        Alignment, ArenaKind, Bytes, FitPolicy, PoolConfig, PoolConfigBuilder, StreamId, StreamReuse,
    };
    use testkit::seed::{self, Seed};

    use super::stream_stage::Stage;

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
        let stage = Stage::with_device(device, config);
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
        for kind in ArenaKind::ALL {
            let config = PoolConfig::builder().max_size(Bytes::mib(16)).arena_size(Bytes::mib(4));
            play_on_threads(&seed, Stage::new(Bytes::gib(1), config.arena_kind(kind)));
        }
    }

    fn play_on_threads(seed: &Seed, stage: Stage) {
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
