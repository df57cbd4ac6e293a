//! Promises of the core in their shortest form. Each was broken once, was found by the suites beside this file, and is kept here by
//! itself so that it stays easy to see.

#[cfg(test)]
mod promises {
    use std::sync::Arc;

    use mempool_core::{
        AddressDevice, Alignment, AllocError, Bytes, DeviceProperties, EventKind, FreeError, Pool,
        PoolConfig, TailPadding,
    };
    use testkit::event_log::EventLog;

    /// A slab without a live block is free memory for every size, at once: with the pages of one that is kept ready, a request for all
    /// that is free would fail.
    #[test]
    fn a_slab_whose_last_block_is_freed_does_not_stand_in_the_way() {
        let config = PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2)).build().unwrap();
        let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), config).unwrap();
        let _live = pool.allocate(Bytes::kib(64)).unwrap();
        let small = [(); 3].map(|()| pool.allocate(Bytes::new(1)).unwrap());
        assert!(!pool.status().cached.is_zero(), "the slab of the small blocks has room");
        drop(small);
        assert!(pool.status().cached.is_zero(), "it went back with the last of them");
        let rest = pool.allocate(Bytes::kib(2048 - 64));
        assert!(rest.is_ok(), "{rest:?}");
    }

    /// The same for a small block of another class.
    #[test]
    fn a_slab_of_one_class_does_not_starve_another() {
        let config = PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2)).build().unwrap();
        let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), config).unwrap();
        drop(pool.allocate(Bytes::new(1)).unwrap());
        let _live = pool.allocate(Bytes::kib(2048 - 16)).unwrap();
        let other = pool.allocate(Bytes::new(1000));
        assert!(other.is_ok(), "{other:?}");
    }

    /// An arena for an alignment above the device's own is no larger than it must be.
    #[test]
    fn growth_for_a_large_alignment_asks_for_the_exact_need() {
        let limit = Bytes::gib(1);
        let config = PoolConfig::builder().max_size(limit).arena_size(Bytes::mib(2)).build().unwrap();
        let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(8))), config).unwrap();
        // Wherever a multiple of 2 MiB lies, 2 MiB at a multiple of 1 GiB lie within 1 GiB behind it.
        let block = pool.allocate_aligned(Bytes::mib(2), Alignment::GIB_1);
        assert!(block.is_ok(), "{block:?}");
    }

    /// Errors and events tell the alignment that the caller asked for, not what the device made of it.
    #[test]
    fn errors_and_events_tell_the_alignment_that_was_asked_for() {
        let properties = DeviceProperties::new("aligned").with_block_alignment(Alignment::new(64).unwrap());
        let device = Arc::new(AddressDevice::with_properties(Bytes::mib(8), properties));
        let log = Arc::new(EventLog::default());
        let pool = Pool::with_recorder(device, PoolConfig::default(), Arc::clone(&log) as _).unwrap();
        let _by_growth = pool.allocate(Bytes::new(1)).unwrap();
        let _by_reuse = pool.allocate(Bytes::new(1)).unwrap();
        let Err(AllocError::OutOfMemory(details)) = pool.allocate(Bytes::mib(9)) else { panic!("9 > 8") };
        assert_eq!(details.alignment, Alignment::ONE);
        let told: Vec<_> =
            log.events()
                .into_iter()
                .filter_map(|event| match event.kind {
                    EventKind::Allocated { alignment, .. }
                    | EventKind::AllocationFailed { alignment, .. } => Some(alignment),
                    _ => None,
                })
                .collect();
        assert_eq!(told, [Alignment::ONE; 3]);
    }

    /// A device may state any padding; the pool serves with it or refuses, and its books stay right.
    #[test]
    fn a_padding_of_gibibytes_is_served_or_refused() {
        for extra in [Bytes::mib(511), Bytes::mib(513), Bytes::gib(5)] {
            let padding = TailPadding { round_to: Alignment::B_32, extra };
            let properties = DeviceProperties::new("padded").with_tail_padding(padding);
            let device = Arc::new(AddressDevice::with_properties(Bytes::gib(64), properties));
            let Ok(pool) = Pool::new(device, PoolConfig::default()) else { continue };
            let Ok(block) = pool.allocate(Bytes::new(100)) else { continue };
            assert!(block.bytes() >= extra);
            assert_eq!(pool.block_at(block.address()).unwrap().requested, Bytes::new(100));
            assert_eq!(pool.status().requested, Bytes::new(100));
            pool.validate().unwrap();
        }
    }

    /// An address in an arena that went back is stale, even when a smaller arena lies at the old one's start now.
    #[test]
    fn a_stale_address_stays_stale_beside_a_new_arena() {
        let config = PoolConfig::builder().arena_size(Bytes::mib(2)).build().unwrap();
        let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), config).unwrap();
        let whole = pool.allocate_raw(Bytes::mib(32), Alignment::ONE).unwrap();
        pool.free(whole.address).unwrap();
        let front = pool.allocate(Bytes::mib(16)).unwrap();
        let back = pool.allocate_raw(Bytes::mib(16), Alignment::ONE).unwrap();
        assert_eq!(pool.status().arenas, 1);
        drop(front);
        pool.free(back.address).unwrap();
        pool.trim().unwrap();
        let _new = pool.allocate(Bytes::mib(2)).unwrap();
        assert_eq!(pool.free(back.address), Err(FreeError::Stale { address: back.address }));
    }
}
