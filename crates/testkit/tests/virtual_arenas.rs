//! Virtual arenas: memory is mapped where requests want it, and never where somebody may still touch it. Random actions on them are in
//! `random_actions.rs` and, with streams, in `stream_actions.rs`; devices that fail in `virtual_arena_faults.rs`.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod virtual_arenas {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use backend_host::{HostBackend, HostDeviceConfig};
    use host_device::VirtualCounts;
    use mempool_core::{
        AddressDevice, Alignment, AllocError, ArenaKind, Bytes, DeviceAddress, Event, EventKind, FitPolicy,
        Pool, PoolConfig, PoolConfigBuilder, RawAllocation, Recorder, Shortage,
    };
    use parking_lot::Mutex;
    use testkit::actions::{Actions, Mix};
    use testkit::contents;
    use testkit::drive::Driver;
    use testkit::seed::{self, Seed};
    use testkit::shadow::LiveBlock;
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes::{self, HostBytes};

    const GRANULE: Bytes = Bytes::mib(2);

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
    fn small_blocks_fill_a_granule_to_its_end() {
        let (pool, _, _) = host_pool(Bytes::gib(1), config(ArenaKind::Virtual));
        let blocks: Vec<_> = (0..4096).map(|_| raw(&pool, Bytes::new(512))).collect();
        let status = pool.status();
        assert_eq!((status.total, status.used, status.counters.maps), (GRANULE, GRANULE, 1));
        pool.validate().unwrap();
        free_all(&pool, blocks.iter().map(|block| block.address));
        assert_eq!(pool.status().free, GRANULE);
    }

    /// C37: a larger request comes when all that is cached is too short for it, and both together are more than the limit.
    #[test]
    fn c37_what_is_cached_becomes_part_of_a_larger_request() {
        let (pool, _, _) = host_pool(Bytes::mib(80), config(ArenaKind::Virtual).max_size(Bytes::mib(80)));
        drop(pool.allocate(Bytes::mib(60)).unwrap());
        let _large = pool.allocate(Bytes::mib(70)).unwrap();
        let status = pool.status();
        assert_eq!((status.total, status.counters.maps, status.counters.unmaps), (Bytes::mib(70), 35, 0));
    }

    /// C30: every pair of options works.
    #[test]
    fn c30_every_pair_of_options_works_with_virtual_arenas() {
        for policy in FitPolicy::ALL {
            for (limit, initial) in [(None, 0), (None, 7), (Some(20), 0), (Some(20), 20), (Some(21), 5)] {
                for granule in [4 << 10, 64 << 10, 2 << 20, 8 << 20] {
                    for padding in [0, 32] {
                        let device = HostDeviceConfig::new(40 << 20)
                            .with_virtual_granule(granule)
                            .with_padding(padding.max(1), padding);
                        let (backend, bytes) = host_bytes::open(device);
                        let host = Arc::clone(backend.host_device());
                        let builder =
                            config(ArenaKind::Virtual).policy(policy).initial_size(Bytes::mib(initial));
                        let builder =
                            limit.map_or(builder.clone(), |limit| builder.max_size(Bytes::mib(limit)));
                        let watched = Arc::new(WatchedDevice::new(Arc::new(backend)));
                        let pool = Pool::new(Arc::clone(&watched) as _, builder.build().unwrap()).unwrap();
                        let actions = Actions::new(granule + padding, Mix::up_to(Bytes::mib(3))).take(300);
                        let driver = Driver::new(pool).with_bytes(Arc::new(bytes)).walking_every(16);
                        driver.run(actions).unwrap_or_else(|error| {
                            panic!("{policy} {limit:?} {initial} {granule}: {error}")
                        });
                        watched.check_all_returned().unwrap();
                        assert_eq!(host.virtual_counts(), VirtualCounts::default());
                    }
                }
            }
        }
    }

    /// P10: whole free granules serve any request, whatever came before. Only blocks of whole pages, whose places tell which granules are
    /// free.
    #[test]
    fn p10_a_request_that_whole_free_granules_could_serve_is_always_served() {
        let seed = Seed::for_test("p10_a_request_that_whole_free_granules_could_serve_is_always_served");
        let mut random = fastrand::Rng::with_seed(seed.value());
        let mut served_by_moving = 0;
        for policy in FitPolicy::ALL {
            let limit = Bytes::mib(64);
            let mapped = Arc::new(Mapped::default());
            let device = Arc::new(AddressDevice::new(Bytes::gib(1)));
            let pool_config = config(ArenaKind::Virtual).policy(policy).max_size(limit).build().unwrap();
            let pool = Pool::with_recorder(device, pool_config, Arc::clone(&mapped) as _).unwrap();
            let mut live = Vec::new();
            for step in 0..seed::steps(6_000) / 2 {
                let roomy = step / 400 % 2 == 0;
                if random.u8(..100) < if roomy { 60 } else { 40 } {
                    let most = 1 << random.u32(16..23);
                    let bytes = Bytes::new(random.u64(33 << 10..most));
                    live.extend(pool.allocate_raw(bytes, Alignment::ONE));
                } else if !live.is_empty() {
                    let block: RawAllocation = live.swap_remove(random.usize(..live.len()));
                    pool.free(block.address).unwrap();
                }
                if step % 50 == 49 {
                    let whole = mapped.whole_and_free(&live, limit);
                    let before = pool.status();
                    let block = pool.allocate_raw(Bytes::new(whole * GRANULE.get()), Alignment::ONE);
                    if whole > 0 {
                        let block = block.unwrap();
                        let after = pool.status();
                        served_by_moving +=
                            u64::from(after.counters.stolen_granules > before.counters.stolen_granules);
                        pool.free(block.address).unwrap();
                        let again = raw(&pool, Bytes::new(whole * GRANULE.get()));
                        assert_eq!(
                            pool.status().counters.maps,
                            after.counters.maps,
                            "asked again, it maps nothing"
                        );
                        pool.free(again.address).unwrap();
                    }
                    pool.validate().unwrap();
                }
            }
        }
        assert!(served_by_moving > 10, "only {served_by_moving} requests moved memory");
    }

    /// Knows which granules have memory, from what the pool tells.
    #[derive(Debug, Default)]
    struct Mapped(Mutex<BTreeSet<u64>>);

    impl Recorder for Mapped {
        fn record(&self, event: &Event) {
            match event.kind {
                EventKind::Mapped { address, .. } => assert!(self.0.lock().insert(address.get())),
                EventKind::Unmapped { address, .. } => assert!(self.0.lock().remove(&address.get())),
                _ => {}
            }
        }
    }

    impl Mapped {
        /// Granules in which nothing is live, and those that may still be created.
        fn whole_and_free(&self, live: &[RawAllocation], limit: Bytes) -> u64 {
            let granule = GRANULE.get();
            let mut free = self.0.lock().clone();
            let created = free.len() as u64;
            for RawAllocation { address, bytes, .. } in live {
                let first = address.get() / granule * granule;
                let last = address.get() + bytes.get() - 1;
                free.extract_if(first..=last, |_| true).for_each(drop);
            }
            free.len() as u64 + limit.get() / granule - created
        }
    }
}
