//! Lists of actions from proptest, which shrinks a failure to the shortest list that shows it.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod shrinking {
    use std::sync::Arc;

    use backend_host::HostDeviceConfig;
    use mempool_core::{
        AddressDevice, Alignment, Bytes, DeviceProperties, FitPolicy, Pool, PoolConfig, TailPadding,
    };
    use proptest::prelude::*;
    use testkit::actions::{Action, WrongFree};
    use testkit::drive::Driver;
    use testkit::seed;
    use testkit::shadow::Pick;
    use testkit::watched_device::WatchedDevice;

    use super::host_bytes;

    fn picks() -> impl Strategy<Value = Pick> {
        prop_oneof![Just(Pick::Oldest), Just(Pick::Newest), any::<u64>().prop_map(Pick::Any)]
    }

    /// Log-uniform up to 2^`bits`.
    fn sizes(bits: u32) -> impl Strategy<Value = Bytes> {
        (0..=bits).prop_flat_map(|shift| 1..=(1_u64 << shift)).prop_map(Bytes::new)
    }

    fn alignments() -> impl Strategy<Value = Alignment> {
        prop_oneof![3 => Just(0), 1 => 0..=22_u32].prop_map(|shift| Alignment::new(1 << shift).unwrap())
    }

    fn actions(size_bits: u32) -> impl Strategy<Value = Vec<Action>> {
        let impossible = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63)].prop_map(Bytes::new);
        let wrong = prop_oneof![
            (picks(), any::<u64>()).prop_map(|(pick, offset)| WrongFree::Interior(pick, offset)),
            Just(WrongFree::Again),
            any::<u64>().prop_map(WrongFree::Foreign),
            picks().prop_map(WrongFree::WrongSize),
        ];
        let action = prop_oneof![
            24 => (sizes(size_bits), alignments()).prop_map(|(bytes, alignment)| Action::Allocate { bytes, alignment }),
            1 => impossible.prop_map(|bytes| Action::Allocate { bytes, alignment: Alignment::ONE }),
            18 => picks().prop_map(Action::Free),
            2 => picks().prop_map(Action::FreeSized),
            4 => wrong.prop_map(Action::FreeWrong),
            2 => Just(Action::Trim),
        ];
        prop::collection::vec(action, 1..250)
    }

    /// Properties that differ in everything that a pool looks at.
    fn properties() -> impl Strategy<Value = DeviceProperties> {
        let granules = prop_oneof![
            Just(Bytes::mib(2)),
            Just(Bytes::kib(64)),
            Just(Bytes::kib(20)),
            Just(Bytes::kib(16))
        ];
        let paddings = prop_oneof![Just(TailPadding::NONE), Just(TailPadding::ASCEND)];
        (granules, 12..=21_u32, 0..=16_u32, paddings).prop_map(|(granularity, arena, block, padding)| {
            DeviceProperties::new("any")
                .with_arena_granularity(granularity)
                .with_arena_alignment(Alignment::new(1 << arena).unwrap())
                .with_block_alignment(Alignment::new(1 << block).unwrap())
                .with_tail_padding(padding)
        })
    }

    fn policies() -> impl Strategy<Value = FitPolicy> {
        prop_oneof![Just(FitPolicy::BestFit), Just(FitPolicy::FirstFit)]
    }

    fn cases(quick: u32) -> ProptestConfig {
        let cases = if seed::is_long() { quick * 40 } else { quick };
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(cases(192))]

        #[test]
        fn any_actions_on_any_device_agree_with_the_shadow(
            actions in actions(22),
            properties in properties(),
            policy in policies(),
            arena_kib in 1..8_192_u64,
            limit_mib in 2..24_u64,
            initial_percent in 0..=100_u64,
        ) {
            let limit = Bytes::mib(limit_mib);
            let initial = Bytes::new(limit.get() / 100 * initial_percent);
            let device = Arc::new(AddressDevice::with_properties(Bytes::mib(20), properties));
            let watched = Arc::new(WatchedDevice::new(device).with_limit(limit));
            let config = PoolConfig::builder()
                .policy(policy)
                .arena_size(Bytes::kib(arena_kib))
                .max_size(limit)
                .initial_size(initial)
                .build()
                .unwrap();
            // An initial arena may be more than the device has, or less than a page.
            if let Ok(pool) = Pool::new(Arc::clone(&watched) as _, config) {
                Driver::new(pool).run(actions).map_err(|error| TestCaseError::fail(error.to_string()))?;
            }
            watched.check_all_returned().map_err(|error| TestCaseError::fail(error.to_string()))?;
        }

        #[test]
        fn any_actions_keep_real_bytes_apart(
            actions in actions(20),
            policy in policies(),
            padded in any::<bool>(),
            granules_64_kib in any::<bool>(),
        ) {
            let mut config = HostDeviceConfig::new(12 << 20);
            if padded {
                config = config.with_block_alignment(64).with_padding(32, 32);
            }
            if granules_64_kib {
                config = config.with_granularity(64 << 10).with_base_alignment(64 << 10);
            }
            let (backend, bytes) = host_bytes::open(config);
            let host = Arc::clone(backend.host_device());
            let config = PoolConfig::builder().policy(policy).arena_size(Bytes::mib(4)).build().unwrap();
            let pool = Pool::new(Arc::new(backend), config).unwrap();
            let run = Driver::new(pool).with_bytes(Arc::new(bytes)).run(actions);
            run.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(host.live_ranges(), 0);
        }
    }
}
