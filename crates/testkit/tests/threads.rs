//! Threads that share a pool: the limit holds at every instant, nothing is handed out twice, nothing leaks, and events tell one
//! story.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod threads {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};
    use std::thread;

    use backend_host::HostDeviceConfig;
    use mempool_core::{AddressDevice, Alignment, AllocError, ArenaKind, Bytes, FitPolicy, Pool, PoolConfig};
    use parking_lot::Mutex;
    use testkit::contents;
    use testkit::event_log::EventLog;
    use testkit::seed::{self, Seed};
    use testkit::shadow::LiveBlock;
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes::{self, HostBytes};

    const THREADS: usize = 8;
    const LIMIT: Bytes = Bytes::mib(24);

    struct Stage {
        bytes: HostBytes,
        watched: Arc<WatchedDevice>,
        log: Arc<EventLog>,
        pool: Pool,
        next_id: AtomicU64,
        served: AtomicUsize,
    }

    impl Stage {
        fn new(policy: FitPolicy, kind: ArenaKind) -> Self {
            let (backend, bytes) = host_bytes::open(HostDeviceConfig::new(1 << 30));
            let watched = Arc::new(WatchedDevice::new(Arc::new(backend)).with_limit(LIMIT));
            let log = Arc::new(EventLog::default());
            let config = PoolConfig::builder()
                .policy(policy)
                .max_size(LIMIT)
                .arena_size(Bytes::mib(4))
                .arena_kind(kind)
                .build()
                .unwrap();
            let pool = Pool::with_recorder(Arc::clone(&watched) as _, config, Arc::clone(&log) as _).unwrap();
            Self { bytes, watched, log, pool, next_id: AtomicU64::new(0), served: AtomicUsize::new(0) }
        }

        fn allocate(&self, random: &mut fastrand::Rng) -> Option<LiveBlock> {
            let power = 1 << random.u32(..22);
            let requested = Bytes::new(1 + random.u64(..power));
            let alignment = Alignment::new(1 << random.u32(..18)).unwrap();
            let raw = match self.pool.allocate_raw(requested, alignment) {
                Ok(raw) => raw,
                Err(AllocError::OutOfMemory(_)) => return None,
                Err(error) => panic!("{error}"),
            };
            self.served.fetch_add(1, Ordering::Relaxed);
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            let block = LiveBlock { id, address: raw.address, requested, bytes: raw.bytes, alignment };
            contents::mark(&self.bytes, &block).unwrap();
            Some(block)
        }

        fn free(&self, block: &LiveBlock) {
            contents::check(&self.bytes, block).unwrap();
            assert_eq!(self.pool.free(block.address), Ok(block.bytes));
        }

        /// Nothing is live: the pool, the device and the events agree on that.
        fn end(self) {
            self.pool.validate().unwrap();
            let status = self.pool.status();
            assert!(status.used.is_zero() && status.blocks == 0, "{status:?}");
            assert!(status.total_high_water <= LIMIT && self.watched.most_held() <= LIMIT);
            self.pool.trim().unwrap();
            self.pool.validate().unwrap();
            self.watched.check_all_returned().unwrap();
            let replayed = self.log.replay().unwrap_or_else(|violation| panic!("{violation}"));
            assert!(replayed.blocks.is_empty() && replayed.arenas.is_empty());
            let (counts, counters) = (replayed.counts, self.pool.status().counters);
            assert_eq!((counts.allocated, counts.freed), (counters.allocations, counters.frees));
            assert_eq!((counts.failed, counts.refused), (counters.failures, counters.refused_frees));
            assert_eq!((counts.grown, counts.trimmed), (counters.growths, counters.trims));
            assert_eq!((counts.mapped, counts.unmapped), (counters.maps, counters.unmaps));
            assert!(replayed.mapped.is_empty());
            assert!(counts.allocated > 1000, "the run did not try much: {counts:?}");
        }
    }

    fn steps_of_a_thread() -> usize {
        seed::steps(60_000) / THREADS
    }

    #[test]
    fn eight_threads_under_a_tight_limit() {
        for (policy, kind) in
            FitPolicy::ALL.into_iter().flat_map(|policy| ArenaKind::ALL.map(|kind| (policy, kind)))
        {
            let seed = Seed::for_test(format_args!("eight threads, {policy}, {kind} arenas"));
            let stage = Stage::new(policy, kind);
            thread::scope(|scope| {
                for number in 0..THREADS as u64 {
                    let (stage, seed) = (&stage, seed.value().wrapping_add(number));
                    scope.spawn(move || {
                        let mut random = fastrand::Rng::with_seed(seed);
                        let mut blocks = Vec::new();
                        for _ in 0..steps_of_a_thread() {
                            if blocks.len() < 40 && random.u32(..100) < 55 {
                                blocks.extend(stage.allocate(&mut random));
                            } else if !blocks.is_empty() {
                                stage.free(&blocks.swap_remove(random.usize(..blocks.len())));
                            }
                        }
                        for block in &blocks {
                            stage.free(block);
                        }
                    });
                }
            });
            stage.end();
        }
    }

    #[test]
    fn blocks_are_freed_by_other_threads_while_one_trims() {
        let seed = Seed::for_test("freed by others");
        for kind in ArenaKind::ALL {
            free_on_other_threads_while_one_trims(&seed, Stage::new(FitPolicy::BestFit, kind));
        }
    }

    fn free_on_other_threads_while_one_trims(seed: &Seed, stage: Stage) {
        let bag = Mutex::new(Vec::new());
        let working = AtomicUsize::new(THREADS);
        thread::scope(|scope| {
            for number in 0..THREADS as u64 {
                let (stage, bag, working, seed) = (&stage, &bag, &working, seed.value().wrapping_add(number));
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..steps_of_a_thread() {
                        if random.bool() {
                            let block = stage.allocate(&mut random);
                            bag.lock().extend(block);
                        } else {
                            let block = {
                                let mut bag = bag.lock();
                                let count = bag.len();
                                (count > 0).then(|| bag.swap_remove(random.usize(..count)))
                            };
                            if let Some(block) = block {
                                stage.free(&block);
                            }
                        }
                    }
                    working.fetch_sub(1, Ordering::Release);
                });
            }
            scope.spawn(|| {
                while working.load(Ordering::Acquire) > 0 {
                    stage.pool.trim().unwrap();
                    stage.pool.validate().unwrap();
                    stage.watched.check().unwrap();
                    thread::yield_now();
                }
            });
        });
        for block in &bag.into_inner() {
            stage.free(block);
        }
        stage.end();
    }

    #[test]
    fn arenas_come_and_go_all_the_time_and_events_still_tell_one_story() {
        let seed = Seed::for_test("arenas come and go");
        let watched = Arc::new(
            WatchedDevice::new(Arc::new(AddressDevice::new(Bytes::gib(1)))).with_limit(Bytes::mib(16)),
        );
        let log = Arc::new(EventLog::default());
        let config =
            PoolConfig::builder().max_size(Bytes::mib(16)).arena_size(Bytes::mib(2)).build().unwrap();
        let pool = Pool::with_recorder(Arc::clone(&watched) as _, config, Arc::clone(&log) as _).unwrap();
        thread::scope(|scope| {
            for number in 0..4_u64 {
                let (pool, seed) = (&pool, seed.value().wrapping_add(number));
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..seed::steps(20_000) / 4 {
                        // Large enough that most requests need an arena of their own.
                        let block = pool.allocate(Bytes::new(random.u64(1 << 20..4 << 20)));
                        drop(block);
                        pool.trim().unwrap();
                    }
                });
            }
        });
        watched.check().unwrap();
        let replayed = log.replay().unwrap_or_else(|violation| panic!("{violation}"));
        assert!(replayed.blocks.is_empty() && replayed.counts.trimmed > 100);
    }

    #[test]
    fn threads_that_need_memory_at_once_share_one_growth() {
        for _ in 0..50 {
            let config = PoolConfig::builder().arena_size(Bytes::mib(32)).build().unwrap();
            let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), config).unwrap();
            let barrier = Barrier::new(THREADS);
            thread::scope(|scope| {
                let workers = [(); THREADS].map(|()| {
                    scope.spawn(|| {
                        barrier.wait();
                        pool.allocate(Bytes::mib(1)).unwrap()
                    })
                });
                let blocks = workers.map(|worker| worker.join().unwrap());
                assert_eq!(pool.status().counters.growths, 1);
                drop(blocks);
            });
        }
    }
}
