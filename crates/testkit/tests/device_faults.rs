//! Every call of the device failing at its n-th time, for all n: what is live stays as it was, and once the device is well the same
//! request is served.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod device_faults {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use backend_host::{CallKind, Fault, FaultInjection, HostBackend, HostDevice, HostDeviceConfig};
    use mempool_core::{Alignment, AllocError, Bytes, CreateError, FitPolicy, Pool, PoolConfig};
    use testkit::Violation;
    use testkit::contents;
    use testkit::shadow::{LiveBlock, Shadow};
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes::{self, HostBytes};

    const FAULTS: [Fault; 3] = [Fault::OutOfMemory, Fault::Lost, Fault::Other];

    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// Allocate so many MiB under this name.
        Allocate(char, u64),
        /// Allocate 1000 bytes under this name.
        AllocateSmall(char),
        /// Ask for so many MiB, which nothing can serve.
        AskTooMuch(u64),
        Free(char),
        Trim,
    }

    use Step::{Allocate, AllocateSmall, AskTooMuch, Free, Trim};

    /// Starts with 8 MiB and may hold 60. The comments say what happens when nothing fails.
    const SCRIPT: &[Step] = &[
        Allocate('a', 6), // in the initial arena
        Allocate('b', 4), // grows by 32
        Allocate('c', 12),
        Allocate('d', 18), // 32 more are too much: falls back to 18
        Free('b'),
        Free('c'),
        Allocate('e', 12),
        AllocateSmall('s'),
        Free('e'),
        Free('d'),
        Free('s'),
        Allocate('f', 44), // gives 32 and 18 back first
        AskTooMuch(20),
        Free('a'),
        Trim, // gives 8 back
        AllocateSmall('t'),
        Free('f'),
        Trim, // gives 44 back
        Allocate('g', 40),
        Trim,
        Free('t'),
    ];

    #[derive(Debug, Clone, Copy)]
    enum Shortage {
        /// The pool may hold 60 MiB of 1 GiB.
        OfLimit,
        /// The device has 60 MiB.
        OfDevice,
    }

    struct Stage {
        host: Arc<HostDevice>,
        bytes: HostBytes,
        faults: Arc<FaultInjection<HostBackend>>,
        watched: Arc<WatchedDevice>,
        config: PoolConfig,
    }

    impl Stage {
        fn new(shortage: Shortage, policy: FitPolicy) -> Self {
            let builder =
                PoolConfig::builder().policy(policy).initial_size(Bytes::mib(8)).arena_size(Bytes::mib(32));
            let (capacity, builder) = match shortage {
                Shortage::OfLimit => (1 << 30, builder.max_size(Bytes::mib(60))),
                Shortage::OfDevice => (60 << 20, builder),
            };
            let (backend, bytes) = host_bytes::open(HostDeviceConfig::new(capacity));
            let host = Arc::clone(backend.host_device());
            let faults = Arc::new(FaultInjection::new(backend));
            let config = builder.build().unwrap();
            let watched = WatchedDevice::new(Arc::clone(&faults) as _);
            let watched = Arc::new(match config.max_size() {
                Some(limit) => watched.with_limit(limit),
                None => watched,
            });
            Self { host, bytes, faults, watched, config }
        }

        fn injected(&self) -> u64 {
            CallKind::ALL.into_iter().map(|kind| self.faults.injected(kind)).sum()
        }

        /// Makes the pool; a device that fails is well the second time.
        fn open_pool(&self) -> Pool {
            Pool::new(Arc::clone(&self.watched) as _, self.config.clone()).unwrap_or_else(|error| {
                assert!(matches!(error, CreateError::Initial { .. }), "{error}");
                assert_eq!(self.injected(), 1, "{error}");
                self.watched.check_all_returned().unwrap();
                self.faults.clear();
                Pool::new(Arc::clone(&self.watched) as _, self.config.clone()).unwrap()
            })
        }

        /// Plays the script and ends the pool. Says how many steps failed before they were repeated.
        fn play(&self, script: &[Step]) -> Result<usize, Violation> {
            let pool = self.open_pool();
            let mut actor = Actor {
                stage: self,
                shadow: Shadow::new(pool.device().properties()),
                pool,
                named: BTreeMap::new(),
            };
            let mut failures = 0;
            for (number, step) in script.iter().enumerate() {
                let place = |violation: Violation| violation.at(format_args!("step {number}, {step:?}"));
                let before = self.injected();
                if !actor.play(*step).map_err(place)? {
                    failures += 1;
                    if self.injected() == before {
                        return Err(place(Violation::new("I5", "failed though the device did not")));
                    }
                    self.faults.clear();
                    if !actor.play(*step).map_err(place)? {
                        return Err(place(Violation::new("I5", "failed again though the device is well")));
                    }
                }
                self.watched.check().map_err(place)?;
            }
            let before = self.faults.injected(CallKind::FreeArena);
            drop(actor);
            // Nobody is left to ask again for an arena that the device refuses at the end; all others are back.
            let lost = self.faults.injected(CallKind::FreeArena) - before;
            assert_eq!((self.watched.live_arenas() as u64, self.host.live_ranges() as u64), (lost, lost));
            self.watched.check()?;
            Ok(failures)
        }
    }

    struct Actor<'a> {
        stage: &'a Stage,
        pool: Pool,
        shadow: Shadow,
        named: BTreeMap<char, LiveBlock>,
    }

    impl Actor<'_> {
        /// Plays one step and says whether it succeeded. Either way nothing else may have changed.
        fn play(&mut self, step: Step) -> Result<bool, Violation> {
            let succeeded = match step {
                Allocate(name, mib) => self.allocate(name, Bytes::mib(mib))?,
                AllocateSmall(name) => self.allocate(name, Bytes::new(1000))?,
                AskTooMuch(mib) => {
                    let error = self.pool.allocate(Bytes::mib(mib)).unwrap_err();
                    self.shadow.note_failure();
                    assert!(
                        matches!(error, AllocError::OutOfMemory(_) | AllocError::Device { .. }),
                        "{error}"
                    );
                    true
                }
                Free(name) => {
                    let block = self.named.remove(&name).expect("the script frees what it allocates");
                    contents::check(&self.stage.bytes, &block)?;
                    let bytes = self.pool.free(block.address).expect("a free asks no device");
                    self.shadow.remove(block.address, bytes)?;
                    true
                }
                Trim => match self.pool.trim() {
                    Ok(_) => self.pool.report().arenas.iter().all(|arena| arena.live_blocks > 0),
                    Err(error) => {
                        let idle =
                            self.pool.report().arenas.iter().filter(|arena| arena.live_blocks == 0).count();
                        assert_eq!(error.kept, idle, "what could not be given back stays: {error}");
                        false
                    }
                },
            };
            self.pool.validate().map_err(|error| Violation::new("validate", error.to_string()))?;
            self.shadow.check_report(&self.pool.report())?;
            self.shadow.blocks().try_for_each(|block| contents::check(&self.stage.bytes, block))?;
            Ok(succeeded)
        }

        fn allocate(&mut self, name: char, bytes: Bytes) -> Result<bool, Violation> {
            match self.pool.allocate_raw(bytes, Alignment::ONE) {
                Ok(raw) => {
                    let block = self.shadow.insert(raw, bytes, Alignment::ONE)?;
                    contents::mark(&self.stage.bytes, &block)?;
                    self.named.insert(name, block);
                    Ok(true)
                }
                Err(error) => {
                    self.shadow.note_failure();
                    assert!(
                        matches!(error, AllocError::OutOfMemory(_) | AllocError::Device { .. }),
                        "{error}"
                    );
                    Ok(false)
                }
            }
        }
    }

    /// What a pool of arenas asks of a device without streams.
    const KINDS: [CallKind; 3] = [CallKind::AllocateArena, CallKind::FreeArena, CallKind::MemoryInfo];

    /// Calls of each kind when nothing fails.
    fn calls_without_faults(shortage: Shortage, policy: FitPolicy) -> [u64; KINDS.len()] {
        let stage = Stage::new(shortage, policy);
        let failures = stage.play(SCRIPT).unwrap_or_else(|violation| panic!("{violation}"));
        assert_eq!(failures, 0);
        KINDS.map(|kind| stage.faults.calls(kind))
    }

    /// Plays the script once for every n, kind of call and kind of error, armed by `arm`; says how often a step failed.
    fn for_every_n(arm: impl Fn(&FaultInjection<HostBackend>, CallKind, u64, Fault)) -> usize {
        let mut failures = 0;
        for shortage in [Shortage::OfLimit, Shortage::OfDevice] {
            for policy in FitPolicy::ALL {
                for (kind, calls) in KINDS.into_iter().zip(calls_without_faults(shortage, policy)) {
                    assert!(calls > 0, "the script never calls {kind}");
                    for (n, fault) in (1..=calls).flat_map(|n| FAULTS.map(|fault| (n, fault))) {
                        let stage = Stage::new(shortage, policy);
                        arm(&stage.faults, kind, n, fault);
                        failures += stage.play(SCRIPT).unwrap_or_else(|error| {
                            panic!("{shortage:?}, {policy}, {kind} no. {n}, {fault:?}: {error}")
                        });
                        assert!(stage.injected() > 0, "{kind} no. {n} never came");
                    }
                }
            }
        }
        failures
    }

    #[test]
    fn the_script_grows_falls_back_trims_and_releases_before_it_grows() {
        let stage = Stage::new(Shortage::OfLimit, FitPolicy::BestFit);
        stage.play(SCRIPT).unwrap();
        let sizes: Vec<_> = stage
            .watched
            .calls()
            .into_iter()
            .filter_map(|call| match call {
                testkit::watched_device::Call::AllocateArena { size, .. } => Some(size.get() >> 20),
                _ => None,
            })
            .collect();
        assert_eq!(sizes, [8, 32, 18, 44, 16, 40]);
    }

    #[test]
    fn a_call_that_fails_once_changes_nothing_and_succeeds_when_repeated() {
        let failures = for_every_n(FaultInjection::fail_nth);
        assert!(failures > 50, "only {failures} steps failed");
    }

    #[test]
    fn calls_that_fail_from_some_point_on_change_nothing_and_succeed_when_the_device_is_well() {
        let failures = for_every_n(FaultInjection::fail_from);
        assert!(failures > 50, "only {failures} steps failed");
    }

    #[test]
    fn a_device_that_fails_in_everything_leaves_what_is_live() {
        for fault in FAULTS {
            let stage = Stage::new(Shortage::OfLimit, FitPolicy::BestFit);
            let pool = stage.open_pool();
            let block = pool.allocate(Bytes::mib(6)).unwrap();
            let before = pool.status();
            for kind in CallKind::ALL {
                stage.faults.fail_from(kind, 1, fault);
            }
            for _ in 0..3 {
                assert!(pool.allocate(Bytes::mib(30)).is_err());
                pool.validate().unwrap();
            }
            let small = pool.allocate(Bytes::mib(1)).unwrap();
            drop(small);
            let after = pool.status();
            assert_eq!((after.used, after.total, after.blocks), (before.used, before.total, 1));
            stage.faults.clear();
            drop(block);
            drop(pool);
            assert_eq!(stage.host.live_ranges(), 0);
        }
    }

    #[test]
    fn the_error_keeps_what_the_device_said() {
        let stage = Stage::new(Shortage::OfLimit, FitPolicy::BestFit);
        let pool = stage.open_pool();
        let _keeps_the_initial_arena = pool.allocate(Bytes::mib(1)).unwrap();
        stage.faults.fail_nth(CallKind::AllocateArena, 1, Fault::Lost);
        let error = pool.allocate(Bytes::mib(30)).unwrap_err();
        let source = std::error::Error::source(&error).expect("the device said something").to_string();
        assert!(source.contains("injected fault: call 2 of allocate_arena"), "{source}");
        stage.faults.fail_from(CallKind::MemoryInfo, 1, Fault::Other);
        let Err(AllocError::OutOfMemory(details)) = pool.allocate(Bytes::mib(59)) else {
            panic!("8 + 59 > 60")
        };
        assert_eq!(details.device_free, None, "an answer that did not come is not invented");
    }
}
