//! Random actions against the shadow model, from a seed: both policies, tight capacity, growth, trim, real bytes.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod random_actions {
    use std::sync::Arc;

    use backend_host::HostDeviceConfig;
    use mempool_core::{
        AddressDevice, Alignment, ArenaKind, Bytes, DeviceProperties, FitPolicy, Pool, PoolConfig,
        PoolConfigBuilder, TailPadding,
    };
    use testkit::actions::{Actions, Mix};
    use testkit::drive::{Driver, Tally};
    use testkit::seed::{self, Seed};
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes;

    const QUICK_STEPS: usize = 3_000;

    const POLICIES_AND_KINDS: [(FitPolicy, ArenaKind); 4] = [
        (FitPolicy::BestFit, ArenaKind::Plain),
        (FitPolicy::FirstFit, ArenaKind::Plain),
        (FitPolicy::BestFit, ArenaKind::Virtual),
        (FitPolicy::FirstFit, ArenaKind::Virtual),
    ];

    /// Every step in a quick run; in a long one, where a walk over everything at each step would take hours, some.
    fn walk_every() -> u32 {
        if seed::is_long() { 4_096 } else { 1 }
    }

    fn run_over_addresses(
        test: &str,
        capacity: Bytes,
        properties: &DeviceProperties,
        mix: Mix,
        config: impl Fn(PoolConfigBuilder) -> PoolConfigBuilder,
    ) -> Tally {
        let mut sum = Tally::default();
        for (policy, kind) in POLICIES_AND_KINDS {
            let seed = Seed::for_test(format_args!("{test}, {policy}, {kind} arenas"));
            let device = Arc::new(AddressDevice::with_properties(capacity, properties.clone()));
            let config = config(PoolConfig::builder().policy(policy).arena_kind(kind)).build().unwrap();
            let watched = WatchedDevice::new(Arc::clone(&device) as _);
            let watched = Arc::new(match config.max_size() {
                Some(limit) => watched.with_limit(limit),
                None => watched,
            });
            let pool = Pool::new(Arc::clone(&watched) as _, config).unwrap();
            let actions = Actions::new(seed.value(), mix).take(seed::steps(QUICK_STEPS));
            let tally = Driver::new(pool)
                .walking_every(walk_every())
                .run(actions)
                .unwrap_or_else(|error| panic!("{error}"));
            watched.check_all_returned().unwrap();
            assert!(device.live().is_zero());
            sum.allocated += tally.allocated;
            sum.out_of_memory += tally.out_of_memory;
            sum.refused += tally.refused;
        }
        assert!(sum.allocated > 500 && sum.refused > 20, "the run did not try much: {sum:?}");
        sum
    }

    #[test]
    fn small_and_large_blocks_with_a_tight_limit() {
        let tally = run_over_addresses(
            "tight limit",
            Bytes::gib(4),
            &DeviceProperties::new("addresses"),
            Mix::up_to(Bytes::mib(4)),
            |config| config.max_size(Bytes::mib(40)).arena_size(Bytes::mib(8)),
        );
        assert!(tally.out_of_memory > 10, "the limit was never felt: {tally:?}");
    }

    #[test]
    fn a_full_device_without_a_limit() {
        let tally = run_over_addresses(
            "full device",
            Bytes::mib(40),
            &DeviceProperties::new("addresses"),
            Mix::up_to(Bytes::mib(4)),
            |config| config.arena_size(Bytes::mib(16)),
        );
        assert!(tally.out_of_memory > 10, "the device was never full: {tally:?}");
    }

    #[test]
    fn small_blocks_only() {
        run_over_addresses(
            "small blocks",
            Bytes::gib(1),
            &DeviceProperties::new("addresses"),
            Mix::up_to(Bytes::kib(40))
                .with_largest_alignment(Alignment::new(1 << 15).unwrap())
                .with_phase(900),
            |config| config.arena_size(Bytes::mib(2)).max_size(Bytes::mib(6)),
        );
    }

    #[test]
    fn blocks_past_the_exact_bins_with_alignments_up_to_one_gib() {
        run_over_addresses(
            "huge blocks",
            Bytes::gib(6),
            &DeviceProperties::new("addresses"),
            Mix::up_to(Bytes::mib(700)).with_largest_alignment(Alignment::GIB_1),
            |config| config.initial_size(Bytes::gib(1)),
        );
    }

    #[test]
    fn a_device_with_padding_and_small_odd_granules() {
        let properties = DeviceProperties::new("odd")
            .with_arena_granularity(Bytes::kib(20))
            .with_arena_alignment(Alignment::new(1 << 12).unwrap())
            .with_block_alignment(Alignment::new(64).unwrap())
            .with_tail_padding(TailPadding::ASCEND);
        run_over_addresses(
            "odd granules",
            Bytes::mib(60),
            &properties,
            Mix::up_to(Bytes::mib(1)),
            |config| config.arena_size(Bytes::kib(100)).max_size(Bytes::mib(9)),
        );
    }

    #[test]
    fn a_device_that_aligns_every_block_to_64_kib() {
        let properties =
            DeviceProperties::new("coarse").with_block_alignment(Alignment::new(64 << 10).unwrap());
        run_over_addresses(
            "coarse blocks",
            Bytes::mib(64),
            &properties,
            Mix::up_to(Bytes::mib(2)),
            |config| config.arena_size(Bytes::mib(4)).max_size(Bytes::mib(31)),
        );
    }

    fn run_over_host(test: &str, device: &HostDeviceConfig, mix: Mix, arena: Bytes, limit: Bytes) {
        for (policy, kind) in POLICIES_AND_KINDS {
            let seed = Seed::for_test(format_args!("{test}, {policy}, {kind} arenas"));
            let (backend, bytes) = host_bytes::open(device.clone());
            let host = Arc::clone(backend.host_device());
            let watched = Arc::new(WatchedDevice::new(Arc::new(backend)).with_limit(limit));
            let config =
                PoolConfig::builder().policy(policy).arena_size(arena).max_size(limit).arena_kind(kind);
            let config = config.build().unwrap();
            let pool = Pool::new(Arc::clone(&watched) as _, config).unwrap();
            let actions = Actions::new(seed.value(), mix).take(seed::steps(QUICK_STEPS));
            let driver = Driver::new(pool).with_bytes(Arc::new(bytes)).walking_every(walk_every());
            let tally = driver.run(actions).unwrap_or_else(|error| panic!("{error}"));
            assert!(tally.allocated > 500, "the run did not try much: {tally:?}");
            watched.check_all_returned().unwrap();
            assert_eq!(host.live_ranges(), 0);
        }
    }

    #[test]
    fn real_bytes_of_blocks_never_meet() {
        run_over_host(
            "host",
            &HostDeviceConfig::new(1 << 30),
            Mix::up_to(Bytes::mib(4)),
            Bytes::mib(8),
            Bytes::mib(48),
        );
    }

    #[test]
    fn real_bytes_of_blocks_never_meet_under_the_rules_of_ascend() {
        let device = HostDeviceConfig::new(1 << 30).with_block_alignment(64).with_padding(32, 32);
        run_over_host("ascend rules", &device, Mix::up_to(Bytes::mib(1)), Bytes::mib(2), Bytes::mib(18));
    }

    #[test]
    fn real_bytes_of_blocks_never_meet_in_64_kib_granules() {
        let device = HostDeviceConfig::new(24 << 20).with_granularity(64 << 10).with_base_alignment(1 << 16);
        run_over_host(
            "64 KiB granules",
            &device,
            Mix::up_to(Bytes::kib(700)),
            Bytes::kib(256),
            Bytes::mib(32),
        );
    }
}
