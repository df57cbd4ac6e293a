//! Virtual arenas on devices that fail, panic, or have no virtual memory: no block changes, nothing leaks, and what failed is served once the
//! device is well.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod virtual_arena_faults {
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use backend_host::{CallKind, Fault, FaultInjection, HostBackend, HostDevice, HostDeviceConfig};
    use host_device::VirtualCounts;
    use mempool_core::{
        AddressDevice, Alignment, AllocError, ArenaKind, Bytes, CreateError, Device, DeviceAddress,
        DeviceError, DeviceProperties, MemoryInfo, PhysicalMemory, Pool, PoolConfig, PoolConfigBuilder,
        StreamOrder, VirtualMemory,
    };
    use parking_lot::Mutex;
    use testkit::actions::{Actions, Mix};
    use testkit::contents;
    use testkit::drive::Driver;
    use testkit::seed::{self, Seed};
    use testkit::shadow::{LiveBlock, Shadow};
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes::{self, HostBytes};

    const GRANULE: Bytes = Bytes::mib(2);

    type PoolSlot = Mutex<Option<Pool>>;

    fn config() -> PoolConfigBuilder {
        PoolConfig::builder().arena_kind(ArenaKind::Virtual)
    }

    /// Addresses, of which a call may panic, and that may be without virtual memory, or with little.
    #[derive(Debug)]
    struct StrangeDevice {
        inner: AddressDevice,
        has_virtual_memory: bool,
        granule: Bytes,
        /// Longest range of addresses that it gives.
        longest: Bytes,
        /// A pool that it uses from within its calls.
        pool: PoolSlot,
        /// The call that panics: how many calls of virtual memory are left before it.
        left: AtomicU64,
        calls: AtomicU64,
    }

    impl StrangeDevice {
        fn new(capacity: Bytes, panic_at: Option<u64>) -> Self {
            let left = AtomicU64::new(panic_at.unwrap_or(u64::MAX));
            let inner = AddressDevice::new(capacity);
            Self {
                inner,
                has_virtual_memory: true,
                granule: GRANULE,
                longest: Bytes::MAX,
                pool: PoolSlot::default(),
                left,
                calls: AtomicU64::new(0),
            }
        }

        fn call(&self) -> &AddressDevice {
            self.calls.fetch_add(1, Ordering::Relaxed);
            assert!(self.left.fetch_sub(1, Ordering::Relaxed) != 0, "the device panics");
            // Taken out, so that it does not come back here without an end.
            let pool = self.pool.lock().take();
            if let Some(pool) = pool {
                drop(pool.allocate(Bytes::kib(40)));
                drop(pool.allocate(Bytes::mib(5)));
                pool.validate().unwrap();
                *self.pool.lock() = Some(pool);
            }
            &self.inner
        }
    }

    impl Device for StrangeDevice {
        fn properties(&self) -> DeviceProperties {
            self.inner.properties()
        }

        fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
            self.inner.memory_info()
        }

        fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
            self.inner.allocate_arena(size)
        }

        fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
            self.inner.free_arena(base, size)
        }

        fn stream_order(&self) -> Option<&dyn StreamOrder> {
            None
        }

        fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
            self.has_virtual_memory.then_some(self)
        }
    }

    impl VirtualMemory for StrangeDevice {
        fn granule(&self) -> Bytes {
            self.granule
        }

        fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
            if size > self.longest {
                return Err(DeviceError::OutOfMemory { requested: size });
            }
            self.call().reserve(size)
        }

        fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
            self.call().free_reservation(base, size)
        }

        fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
            self.call().create_physical(size)
        }

        fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
            self.call().release_physical(memory)
        }

        fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
            self.call().map(address, memory)
        }

        fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
            self.call().unmap(address)
        }
    }

    #[test]
    fn a_device_without_virtual_memory_gives_plain_arenas() {
        let config = config().arena_size(Bytes::mib(8)).build().unwrap();
        let mut device = StrangeDevice::new(Bytes::gib(1), None);
        device.has_virtual_memory = false;
        let pool = Pool::new(Arc::new(device), config).unwrap();
        let _block = pool.allocate(Bytes::mib(3)).unwrap();
        let status = pool.status();
        assert_eq!((status.total, status.addresses, status.counters.maps), (Bytes::mib(8), Bytes::mib(8), 0));
        assert_eq!(pool.config().arena_kind(), ArenaKind::Virtual, "what was asked for is kept");
    }

    #[test]
    fn addresses_in_short_ranges_serve_all_that_fits_into_one_and_no_block_crosses_two() {
        let seed = Seed::for_test("addresses_in_short_ranges");
        let mut device = StrangeDevice::new(Bytes::gib(1), None);
        device.longest = Bytes::mib(12);
        let device = Arc::new(device);
        let watched = Arc::new(WatchedDevice::new(Arc::clone(&device) as _).with_limit(Bytes::mib(40)));
        let config = config().max_size(Bytes::mib(40)).build().unwrap();
        let pool = Pool::new(Arc::clone(&watched) as _, config).unwrap();
        let handle = pool.clone();
        let actions = Actions::new(seed.value(), Mix::up_to(Bytes::mib(3))).take(seed::steps(2_000));
        let mut driver = Driver::new(pool).walking_every(16);
        let mut most_arenas = 0;
        for action in actions {
            driver.step(&action).unwrap_or_else(|error| panic!("{error}"));
            most_arenas = most_arenas.max(handle.status().arenas);
        }
        // How many depends on the seed; with one there would be nothing to cross.
        assert!(most_arenas > 1, "only {most_arenas} range");
        drop(handle);
        driver.finish().unwrap();
        watched.check_all_returned().unwrap();
    }

    #[test]
    fn a_device_that_uses_the_pool_within_its_calls_is_served_and_the_limit_holds() {
        let device = Arc::new(StrangeDevice::new(Bytes::gib(1), None));
        let watched = Arc::new(WatchedDevice::new(Arc::clone(&device) as _).with_limit(Bytes::mib(16)));
        let mut actor = Actor::new(Arc::clone(&watched) as _, None);
        *device.pool.lock() = Some(actor.pool.clone());
        for &step in SCRIPT {
            actor.play(step);
            actor.pool.validate().unwrap();
        }
        watched.check().unwrap();
        assert!(actor.pool.status().counters.allocations > 30, "the device used the pool");
        *device.pool.lock() = None;
        drop(actor);
        watched.check_all_returned().unwrap();
    }

    #[test]
    fn a_granule_that_no_pool_can_use_is_refused_by_name() {
        for granule in [Bytes::ZERO, Bytes::mib(3), Bytes::gib(2)] {
            let mut device = StrangeDevice::new(Bytes::gib(1), None);
            device.granule = granule;
            let error = Pool::new(Arc::new(device), config().build().unwrap()).unwrap_err();
            assert!(
                matches!(error, CreateError::VirtualGranule { granule: named, .. } if named == granule),
                "{error}"
            );
        }
        let tight = config().max_size(Bytes::mib(1)).build().unwrap();
        let error = Pool::new(Arc::new(StrangeDevice::new(Bytes::gib(1), None)), tight).unwrap_err();
        assert!(matches!(error, CreateError::MaxBelowGranularity { .. }), "{error}");
    }

    /// Starts with 4 MiB and may hold 16. The comments say what happens when nothing fails.
    const SCRIPT: &[Step] = &[
        Step::Allocate('a', 2),
        Step::Allocate('b', 2),
        Step::Allocate('c', 2), // creates
        Step::Allocate('d', 4),
        Step::Allocate('e', 2),
        Step::Free('a'),
        Step::Free('c'),
        Step::Allocate('f', 6), // creates two and takes one from under a free run
        Step::AskTooMuch(6),
        Step::Free('e'),
        Step::Allocate('g', 4), // takes two
        Step::Trim,             // nothing to give back
        Step::Free('b'),
        Step::Free('f'),
        Step::Trim, // four granules go back
        Step::Allocate('h', 5),
        Step::Free('d'),
        Step::Free('g'),
        Step::Free('h'),
        Step::Trim, // all goes back, addresses too
        Step::Allocate('i', 3),
    ];

    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// Allocate so many MiB under this name.
        Allocate(char, u64),
        /// Ask for so many MiB, which nothing can serve.
        AskTooMuch(u64),
        Free(char),
        Trim,
    }

    /// A pool over a device that fails or panics, and what must be live in it.
    struct Actor {
        pool: Pool,
        shadow: Shadow,
        bytes: Option<HostBytes>,
        named: BTreeMap<char, LiveBlock>,
    }

    impl Actor {
        fn new(device: Arc<dyn Device>, bytes: Option<HostBytes>) -> Self {
            let shadow = Shadow::new(device.properties());
            let config = config().max_size(Bytes::mib(16)).build().unwrap();
            let pool = Pool::new(device, config).unwrap();
            Self { pool, shadow, bytes, named: BTreeMap::new() }
        }

        /// Plays a step and says whether it succeeded.
        fn play(&mut self, step: Step) -> bool {
            match step {
                Step::Allocate(name, mib) => {
                    let bytes = Bytes::mib(mib);
                    let raw = match self.pool.allocate_raw(bytes, Alignment::ONE) {
                        Ok(raw) => raw,
                        Err(AllocError::OutOfMemory(_) | AllocError::Device { .. }) => {
                            self.shadow.note_failure();
                            return false;
                        }
                        Err(error) => panic!("{error}"),
                    };
                    let block = self.shadow.insert(raw, bytes, Alignment::ONE).unwrap();
                    if let Some(bytes) = &self.bytes {
                        contents::mark(bytes, &block).unwrap();
                    }
                    self.named.insert(name, block);
                    true
                }
                Step::AskTooMuch(mib) => {
                    assert!(self.pool.allocate(Bytes::mib(mib)).is_err());
                    self.shadow.note_failure();
                    true
                }
                Step::Free(name) => {
                    let block = self.named.remove(&name).unwrap();
                    let bytes = self.pool.free(block.address).unwrap();
                    self.shadow.remove(block.address, bytes).unwrap();
                    true
                }
                Step::Trim => self.pool.trim().is_ok(),
            }
        }

        fn check(&self) {
            self.pool.validate().unwrap();
            self.shadow.check_report(&self.pool.report()).unwrap();
            if let Some(bytes) = &self.bytes {
                self.shadow.blocks().try_for_each(|block| contents::check(bytes, block)).unwrap();
            }
        }
    }

    const KINDS: [CallKind; 7] = [
        CallKind::Reserve,
        CallKind::FreeReservation,
        CallKind::CreatePhysical,
        CallKind::ReleasePhysical,
        CallKind::Map,
        CallKind::Unmap,
        CallKind::MemoryInfo,
    ];

    struct FailingStage {
        host: Arc<HostDevice>,
        faults: Arc<FaultInjection<HostBackend>>,
        watched: Arc<WatchedDevice>,
        bytes: HostBytes,
    }

    impl FailingStage {
        fn new() -> Self {
            let (backend, bytes) = host_bytes::open(HostDeviceConfig::new(1 << 30));
            let host = Arc::clone(backend.host_device());
            let faults = Arc::new(FaultInjection::new(backend));
            let watched = Arc::new(WatchedDevice::new(Arc::clone(&faults) as _).with_limit(Bytes::mib(16)));
            Self { host, faults, watched, bytes }
        }

        /// Plays the script; a step that fails is repeated on a device that is well again. Says how many failed.
        fn play(&self) -> usize {
            let mut actor = Actor::new(Arc::clone(&self.watched) as _, Some(self.bytes.clone()));
            let mut failures = 0;
            for &step in SCRIPT {
                let done = actor.play(step);
                actor.check();
                if !done {
                    failures += 1;
                    assert!(self.injected() > 0, "{step:?} failed though the device did not");
                    self.faults.clear();
                    assert!(actor.play(step), "{step:?} failed though the device is well again");
                    actor.check();
                }
                self.watched.check().unwrap();
            }
            // What the device refuses to take back at the very end is its own; nothing else is lost.
            self.faults.clear();
            drop(actor);
            self.watched.check_all_returned().unwrap();
            assert_eq!(self.host.virtual_counts(), VirtualCounts::default());
            assert_eq!(self.host.live_ranges(), 0);
            failures
        }

        fn injected(&self) -> u64 {
            KINDS.into_iter().map(|kind| self.faults.injected(kind)).sum()
        }
    }

    /// C89 and C31: whatever call fails, at whichever time, nothing is leaked and no block is changed, and the end is clean.
    #[test]
    fn c31_c89_every_call_that_fails_once_or_from_then_on_leaves_the_pool_whole_and_the_device_without_a_leak()
     {
        let well = FailingStage::new();
        assert_eq!(well.play(), 0);
        let mut failures = 0;
        for kind in KINDS {
            let calls = well.faults.calls(kind);
            assert!(calls > 0, "the script never calls {kind}");
            for (n, fault) in
                (1..=calls).flat_map(|n| [Fault::OutOfMemory, Fault::Lost, Fault::Other].map(|f| (n, f)))
            {
                for for_ever in [false, true] {
                    let stage = FailingStage::new();
                    if for_ever {
                        stage.faults.fail_from(kind, n, fault);
                    } else {
                        stage.faults.fail_nth(kind, n, fault);
                    }
                    failures += stage.play();
                }
            }
        }
        assert!(failures > 100, "only {failures} steps failed");
    }

    #[test]
    fn c31_a_mapping_that_fails_halfway_leaves_what_is_mapped_as_free_memory() {
        let stage = FailingStage::new();
        let mut actor = Actor::new(Arc::clone(&stage.watched) as _, None);
        stage.faults.fail_nth(CallKind::Map, 5, Fault::Other);
        assert!(!actor.play(Step::Allocate('a', 16)));
        let status = actor.pool.status();
        assert_eq!((status.total, status.free, status.used), (Bytes::mib(8), Bytes::mib(8), Bytes::ZERO));
        assert_eq!(
            stage.host.virtual_counts().physical_bytes,
            8 << 20,
            "the memory for the others went back"
        );
        actor.check();
        drop(actor);
        assert_eq!(stage.host.virtual_counts(), VirtualCounts::default());
    }

    #[test]
    fn a_call_that_panics_leaves_the_pool_whole_and_nobody_waiting() {
        let calls = {
            let device = Arc::new(StrangeDevice::new(Bytes::gib(1), None));
            let mut actor = Actor::new(Arc::clone(&device) as _, None);
            assert!(SCRIPT.iter().all(|&step| actor.play(step)));
            device.calls.load(Ordering::Relaxed)
        };
        for call in 0..calls {
            let device = Arc::new(StrangeDevice::new(Bytes::gib(1), Some(call)));
            let mut actor = Actor::new(Arc::clone(&device) as _, None);
            let mut panics = 0;
            for &step in SCRIPT {
                let done = catch_unwind(AssertUnwindSafe(|| actor.play(step))).unwrap_or_else(|_| {
                    panics += 1;
                    actor.check();
                    actor.play(step)
                });
                assert!(done, "{step:?}, panic in call {call}");
                actor.check();
            }
            assert_eq!(panics, 1, "call {call}");
            drop(actor);
            assert!(device.inner.live().is_zero(), "a panic in call {call} leaked");
        }
    }
}
