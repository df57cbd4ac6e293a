//! Virtual arenas: memory is mapped where requests want it, and never where somebody may still touch it. Random actions on them are in
//! `random_actions.rs` and, with streams, in `stream_order.rs`.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod virtual_arenas {
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use backend_host::{CallKind, Fault, FaultInjection, HostBackend, HostDevice, HostDeviceConfig};
    use host_device::VirtualCounts;
    use mempool_core::{
        AddressDevice, Alignment, AllocError, ArenaKind, Bytes, Device, DeviceAddress, DeviceError,
        DeviceProperties, MemoryInfo, PhysicalMemory, Pool, PoolConfig, PoolConfigBuilder, RawAllocation,
        Shortage, StreamOrder, VirtualMemory,
    };
    use testkit::contents;
    use testkit::shadow::{LiveBlock, Shadow};
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes::{self, HostBytes};

    const GRANULE: Bytes = Bytes::mib(2);

    /// Addresses, of which a call may panic, and that may be without virtual memory.
    #[derive(Debug)]
    struct StrangeDevice {
        inner: AddressDevice,
        has_virtual_memory: bool,
        /// The call that panics: how many calls of virtual memory are left before it.
        left: AtomicU64,
        calls: AtomicU64,
    }

    impl StrangeDevice {
        fn new(capacity: Bytes, panic_at: Option<u64>) -> Self {
            let left = AtomicU64::new(panic_at.unwrap_or(u64::MAX));
            let inner = AddressDevice::new(capacity);
            Self { inner, has_virtual_memory: true, left, calls: AtomicU64::new(0) }
        }

        fn call(&self) -> &AddressDevice {
            self.calls.fetch_add(1, Ordering::Relaxed);
            assert!(self.left.fetch_sub(1, Ordering::Relaxed) != 0, "the device panics");
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
            GRANULE
        }

        fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
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

    fn config(kind: ArenaKind) -> PoolConfigBuilder {
        PoolConfig::builder().arena_kind(kind)
    }

    fn host_pool(capacity: Bytes, config: PoolConfigBuilder) -> (Pool, Arc<HostBackend>, HostBytes) {
        let (backend, bytes) = host_bytes::open(HostDeviceConfig::new(capacity.get()));
        let backend = Arc::new(backend);
        let pool = Pool::new(Arc::clone(&backend) as _, config.build().unwrap()).unwrap();
        (pool, backend, bytes)
    }

    fn live_block(id: u64, block: RawAllocation) -> LiveBlock {
        let RawAllocation { address, requested, bytes, .. } = block;
        LiveBlock { id, address, requested, bytes, alignment: Alignment::ONE }
    }

    fn raw(pool: &Pool, bytes: Bytes) -> RawAllocation {
        pool.allocate_raw(bytes, Alignment::ONE).unwrap()
    }

    fn free_all(pool: &Pool, addresses: impl IntoIterator<Item = DeviceAddress>) {
        for address in addresses {
            pool.free(address).unwrap();
        }
    }

    fn check_all<'a>(bytes: &HostBytes, blocks: impl IntoIterator<Item = &'a LiveBlock>) {
        for block in blocks {
            contents::check(bytes, block).unwrap();
        }
    }

    /// A pool in which every second granule of `granules` is live, with the live blocks, whose contents are marked.
    fn checkerboard(pool: &Pool, bytes: &HostBytes, granules: usize) -> Vec<LiveBlock> {
        let all: Vec<_> = (0..granules).map(|_| raw(pool, GRANULE)).collect();
        let mut kept = Vec::new();
        for (index, block) in (0..).zip(all) {
            if index % 2 == 0 {
                pool.free(block.address).unwrap();
            } else {
                let live = live_block(index, block);
                contents::mark(bytes, &live).unwrap();
                kept.push(live);
            }
        }
        kept
    }

    #[test]
    fn checkerboard_all_that_is_free_serves_one_request_without_new_memory_and_again_without_a_mapping() {
        let limit = Bytes::mib(64);
        let (pool, backend, bytes) = host_pool(limit, config(ArenaKind::Virtual).max_size(limit));
        let kept = checkerboard(&pool, &bytes, 32);
        let before = pool.status();
        assert_eq!((before.total, before.free, before.largest_free), (limit, Bytes::mib(32), GRANULE));

        let large = raw(&pool, Bytes::mib(32));
        pool.validate().unwrap();
        let after = pool.status();
        assert_eq!((after.total, after.free), (limit, Bytes::ZERO));
        assert!(after.counters.stolen_granules >= 15, "{:?}", after.counters);
        let live = live_block(999, large);
        contents::mark(&bytes, &live).unwrap();
        check_all(&bytes, kept.iter().chain([&live]));

        for _ in 0..3 {
            pool.free(large.address).unwrap();
            assert_eq!(raw(&pool, Bytes::mib(32)).address, large.address);
        }
        assert_eq!(pool.status().counters.maps, after.counters.maps, "asked again, it needs no new mapping");
        check_all(&bytes, &kept);
        drop(pool);
        assert_eq!(backend.host_device().virtual_counts(), VirtualCounts::default());
    }

    #[test]
    fn checkerboard_on_plain_arenas_fails_and_says_that_what_is_free_is_in_pieces() {
        let limit = Bytes::mib(64);
        let (pool, _, bytes) = host_pool(limit, config(ArenaKind::Plain).max_size(limit).initial_size(limit));
        let kept = checkerboard(&pool, &bytes, 32);
        let Err(AllocError::OutOfMemory(error)) = pool.allocate(Bytes::mib(32)) else {
            panic!("no hole is so long")
        };
        assert_eq!((error.shortage, error.free), (Shortage::Fragmentation, Bytes::mib(32)));
        check_all(&bytes, &kept);
    }

    #[test]
    fn memory_is_created_up_to_the_limit_and_only_then_taken_from_under_free_runs() {
        let (pool, _, _) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual).max_size(Bytes::mib(20)));
        let blocks: Vec<_> = (0..6).map(|_| raw(&pool, GRANULE)).collect();
        free_all(&pool, blocks.iter().step_by(2).map(|block| block.address));
        // 6 MiB are free in three pieces, and 8 MiB may still be created.
        let created = raw(&pool, Bytes::mib(8));
        let status = pool.status();
        assert_eq!((status.total, status.counters.stolen_granules), (Bytes::mib(20), 0));
        let stolen = raw(&pool, Bytes::mib(6));
        let status = pool.status();
        assert_eq!((status.total, status.free), (Bytes::mib(20), Bytes::ZERO));
        assert_eq!(status.counters.stolen_granules, 3);
        for block in [created, stolen] {
            pool.free(block.address).unwrap();
        }
        pool.validate().unwrap();
    }

    #[test]
    fn memory_is_taken_from_under_free_runs_when_the_device_has_no_more() {
        let (pool, backend, _) = host_pool(Bytes::mib(12), config(ArenaKind::Virtual));
        let blocks: Vec<_> = (0..6).map(|_| raw(&pool, GRANULE)).collect();
        free_all(&pool, blocks.iter().step_by(2).map(|block| block.address));
        let large = raw(&pool, Bytes::mib(6));
        assert_eq!(pool.status().counters.stolen_granules, 3);
        assert!(pool.allocate(GRANULE).is_err(), "there is nothing left");
        assert_eq!(backend.host_device().virtual_counts().physical_bytes, 12 << 20);
        pool.free(large.address).unwrap();
        pool.validate().unwrap();
    }

    #[test]
    fn the_tail_of_the_last_granule_serves_further_blocks() {
        let (pool, _, _) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual));
        let _large = pool.allocate(Bytes::kib(2048 + 512)).unwrap();
        assert_eq!(pool.status().total, Bytes::mib(4));
        let _rest = pool.allocate(Bytes::kib(1536)).unwrap();
        let status = pool.status();
        assert_eq!((status.total, status.free, status.counters.maps), (Bytes::mib(4), Bytes::ZERO, 2));
    }

    #[test]
    fn a_request_that_cannot_be_served_moves_no_memory() {
        let limit = Bytes::mib(16);
        let (pool, _, bytes) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual).max_size(limit));
        let _kept = checkerboard(&pool, &bytes, 8);
        let before = pool.status();
        let Err(AllocError::OutOfMemory(error)) = pool.allocate(Bytes::mib(10)) else {
            panic!("8 MiB are free")
        };
        assert_eq!((error.shortage, error.free), (Shortage::Limit, Bytes::mib(8)));
        let after = pool.status();
        assert_eq!(
            (after.counters.maps, after.counters.unmaps),
            (before.counters.maps, before.counters.unmaps)
        );
        assert_eq!((after.total, after.free_blocks), (before.total, before.free_blocks));
        pool.validate().unwrap();
    }

    #[test]
    fn trim_gives_free_granules_back_from_beside_live_blocks_and_all_when_nothing_is_live() {
        let (pool, backend, bytes) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual));
        let kept = checkerboard(&pool, &bytes, 8);
        assert_eq!(pool.trim().unwrap(), Bytes::mib(8));
        assert_eq!(pool.status().total, Bytes::mib(8));
        assert_eq!(backend.host_device().virtual_counts().physical_bytes, 8 << 20);
        pool.validate().unwrap();
        check_all(&bytes, &kept);
        free_all(&pool, kept.iter().map(|block| block.address));
        assert_eq!(pool.trim().unwrap(), Bytes::mib(8));
        let status = pool.status();
        assert_eq!((status.total, status.addresses, status.arenas), (Bytes::ZERO, Bytes::ZERO, 0));
        assert_eq!(backend.host_device().virtual_counts(), VirtualCounts::default());
        pool.validate().unwrap();
        assert!(pool.allocate(Bytes::mib(3)).is_ok(), "it starts again");
    }

    /// C20: what is reserved, what is mapped and what is in use are three numbers.
    #[test]
    fn c20_addresses_memory_and_use_are_told_apart() {
        let (pool, _, _) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual).max_size(Bytes::mib(64)));
        let block = pool.allocate(Bytes::mib(3)).unwrap();
        let status = pool.status();
        assert_eq!((status.used, status.total), (Bytes::mib(3), Bytes::mib(4)));
        assert_eq!((status.addresses, status.arenas), (Bytes::mib(256), 1));
        let report = pool.report();
        assert_eq!((report.arenas[0].bytes, report.arenas[0].addresses), (Bytes::mib(4), Bytes::mib(256)));
        drop(block);
        assert_eq!(pool.status().total, Bytes::mib(4), "freeing unmaps nothing");
    }

    #[test]
    fn a_device_without_virtual_memory_gives_plain_arenas() {
        let config = config(ArenaKind::Virtual).arena_size(Bytes::mib(8)).build().unwrap();
        let mut device = StrangeDevice::new(Bytes::gib(1), None);
        device.has_virtual_memory = false;
        let pool = Pool::new(Arc::new(device), config).unwrap();
        let _block = pool.allocate(Bytes::mib(3)).unwrap();
        let status = pool.status();
        assert_eq!((status.total, status.addresses, status.counters.maps), (Bytes::mib(8), Bytes::mib(8), 0));
        assert_eq!(pool.config().arena_kind(), ArenaKind::Virtual, "what was asked for is kept");
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
            let config = config(ArenaKind::Virtual).max_size(Bytes::mib(16)).build().unwrap();
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
                check_all(bytes, self.shadow.blocks());
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
