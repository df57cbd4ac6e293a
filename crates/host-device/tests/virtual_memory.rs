//! Virtual memory from outside: every rule of reserve, create, map, unmap and release, and that nothing leaks.

#[cfg(test)]
mod tests {
    use host_device::{
        FillCheckError, HostDevice, HostDeviceConfig, HostDeviceError as Error, PhysicalHandle, RangeKind,
        VirtualCounts,
    };
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    const PAGE: u64 = 2 * MIB;

    fn device(capacity: u64) -> HostDevice {
        HostDevice::new(HostDeviceConfig::new(capacity)).unwrap()
    }

    #[test]
    fn reservations_take_no_memory_and_are_aligned() {
        let device = device(PAGE);
        for alignment in [0, 1, 4096, PAGE, GIB] {
            let base = device.reserve(1 << 40, alignment).unwrap();
            assert_eq!(base % alignment.max(PAGE), 0);
            assert_eq!(device.reservation_around(base + (1 << 40) - 1), Some((base, 1 << 40)));
            assert_ne!(device.reservation_around(base + (1 << 40)), Some((base, 1 << 40)));
        }
        assert_eq!(device.memory_info(), (PAGE, PAGE));
        let counts = device.virtual_counts();
        assert_eq!((counts.reservations, counts.reserved_bytes), (5, 5 << 40));
    }

    #[test]
    fn sizes_and_alignments_that_cannot_be_are_refused() {
        let device = device(GIB);
        for size in [0, 1, PAGE - 1, 3 * MIB] {
            assert!(
                matches!(device.reserve(size, 0), Err(Error::InvalidSize { size: named, .. }) if named == size)
            );
            let made = device.create_physical(size);
            assert!(matches!(made, Err(Error::InvalidSize { granularity: PAGE, .. })));
        }
        for alignment in [3, 6 * MIB] {
            assert!(matches!(device.reserve(PAGE, alignment), Err(Error::InvalidAlignment { .. })));
        }
        assert!(matches!(device.reserve(1 << 62, 0), Err(Error::Host { .. })));
        assert!(matches!(device.reserve(PAGE, 1 << 63), Err(Error::Host { .. })));
        for granule in [0, 512, 3 * MIB] {
            assert!(matches!(device.create_physical_in(PAGE, granule), Err(Error::InvalidConfig { .. })));
        }
        assert_eq!(device.virtual_counts(), VirtualCounts::default());
    }

    #[test]
    fn physical_memory_counts_against_the_capacity_with_allocated_ranges() {
        let device = device(3 * PAGE);
        let range = device.allocate(PAGE).unwrap();
        let handle = device.create_physical(PAGE).unwrap();
        assert_eq!(device.memory_info(), (3 * PAGE, PAGE));
        assert_eq!((device.live_ranges(), device.live_bytes()), (1, PAGE));
        let full = device.create_physical(2 * PAGE).unwrap_err();
        assert!(matches!(full, Error::OutOfMemory { requested, free: PAGE, .. } if requested == 2 * PAGE));
        assert!(matches!(device.allocate(2 * PAGE), Err(Error::OutOfMemory { .. })));
        device.set_foreign_use(PAGE);
        assert!(matches!(device.create_physical(PAGE), Err(Error::OutOfMemory { foreign: PAGE, .. })));
        device.set_foreign_use(0);
        device.release_physical(handle).unwrap();
        device.free(range, PAGE).unwrap();
        assert_eq!(device.memory_info(), (3 * PAGE, 3 * PAGE));
    }

    #[test]
    fn bytes_stay_with_the_handle_when_it_is_mapped_elsewhere() {
        let device = device(GIB);
        let base = device.reserve(8 * PAGE, 0).unwrap();
        let [first, second] = [(); 2].map(|()| device.create_physical(PAGE).unwrap());
        device.map(base, first).unwrap();
        device.map(base + PAGE, second).unwrap();
        device.fill(base, PAGE, 1).unwrap();
        device.fill(base + PAGE, PAGE, 2).unwrap();
        for address in [base, base + PAGE] {
            device.unmap(address).unwrap();
        }
        device.map(base + PAGE, first).unwrap();
        device.map(base + 7 * PAGE, second).unwrap();
        device.check_fill(base + PAGE, PAGE, 1).unwrap();
        device.check_fill(base + 7 * PAGE, PAGE, 2).unwrap();
        assert!(matches!(device.read(base, &mut [0]), Err(Error::Hole { address }) if address == base));
    }

    #[test]
    fn accesses_cross_from_one_mapping_into_the_next_but_not_into_a_hole() {
        let device = device(GIB);
        let base = device.reserve(4 * PAGE, 0).unwrap();
        // Backwards, so that neighbours in the reservation are none in the file.
        for index in [2, 1, 0] {
            device.map(base + index * PAGE, device.create_physical(PAGE).unwrap()).unwrap();
        }
        let bytes: Vec<u8> = (0..2 * PAGE).map(|index| (index % 241) as u8).collect();
        device.write(base + MIB, &bytes).unwrap();
        let mut back = vec![0; bytes.len()];
        device.read(base + MIB, &mut back).unwrap();
        assert!(back == bytes);
        device.copy(base, base + MIB, 2 * PAGE).unwrap();
        device.read(base, &mut back).unwrap();
        assert!(back == bytes);
        device.fill(base, 3 * PAGE, 9).unwrap();
        device.write(base + 2 * PAGE + 5, &[8]).unwrap();
        let odd = device.check_fill(base + 1, 3 * PAGE - 1, 9).unwrap_err();
        assert!(matches!(odd, FillCheckError::Mismatch { offset, found: 8, .. } if offset == 2 * PAGE + 4));

        let hole = base + 3 * PAGE;
        assert!(
            matches!(device.fill(base, 3 * PAGE + 1, 0), Err(Error::Hole { address }) if address == hole)
        );
        device.check_fill(base, 2 * PAGE, 9).unwrap();
        device.map(hole, device.create_physical(PAGE).unwrap()).unwrap();
        let past = device.fill(base + PAGE, 3 * PAGE + 1, 0).unwrap_err();
        assert!(
            matches!(past, Error::PastEnd { range_base, range_size, .. } if range_base == base && range_size == 4 * PAGE)
        );
    }

    #[test]
    fn a_mapping_must_lie_inside_one_reservation_at_a_granule_and_on_nothing() {
        let device = device(GIB);
        let base = device.reserve(4 * PAGE, 0).unwrap();
        let [handle, other] = [(); 2].map(|()| device.create_physical(2 * PAGE).unwrap());
        let range = device.allocate(2 * PAGE).unwrap();
        for address in [base - PAGE, base + 3 * PAGE, base + 4 * PAGE, range, 0, u64::MAX] {
            assert!(matches!(device.map(address, handle), Err(Error::NotReserved { .. })), "{address:#x}");
        }
        for address in [base + 1, base + MIB] {
            let refused = device.map(address, handle);
            assert!(matches!(refused, Err(Error::MisalignedMapping { granule: PAGE, .. })));
        }
        device.map(base + PAGE, handle).unwrap();
        for address in [base, base + PAGE, base + 2 * PAGE] {
            let refused = device.map(address, other).unwrap_err();
            assert!(matches!(refused, Error::AlreadyMapped { mapped, .. } if mapped == base + PAGE));
        }
        let unknown = PhysicalHandle::new(77);
        assert!(
            matches!(device.map(base, unknown), Err(Error::UnknownHandle { handle }) if handle == unknown)
        );
    }

    #[test]
    fn a_handle_is_mapped_once_unless_aliases_are_allowed() {
        let strict = device(GIB);
        let base = strict.reserve(4 * PAGE, 0).unwrap();
        let handle = strict.create_physical(PAGE).unwrap();
        strict.map(base, handle).unwrap();
        assert!(
            matches!(strict.map(base + PAGE, handle), Err(Error::HandleMapped { address, .. }) if address == base)
        );

        let config = HostDeviceConfig::new(GIB).with_aliased_mappings(true);
        let device = HostDevice::new(config).unwrap();
        let base = device.reserve(4 * PAGE, 0).unwrap();
        let handle = device.create_physical(PAGE).unwrap();
        device.map(base, handle).unwrap();
        device.map(base + 2 * PAGE, handle).unwrap();
        device.write(base + 7, b"alias").unwrap();
        let mut bytes = [0; 5];
        device.read(base + 2 * PAGE + 7, &mut bytes).unwrap();
        assert_eq!(&bytes, b"alias");
        device.unmap(base).unwrap();
        let mapped = device.release_physical(handle).unwrap_err();
        assert!(matches!(mapped, Error::HandleMapped { address, .. } if address == base + 2 * PAGE));
    }

    #[test]
    fn what_is_in_use_cannot_be_given_back() {
        let device = device(GIB);
        let base = device.reserve(4 * PAGE, 0).unwrap();
        let handle = device.create_physical(PAGE).unwrap();
        device.map(base + PAGE, handle).unwrap();
        assert!(matches!(device.release_physical(handle), Err(Error::HandleMapped { .. })));
        assert!(matches!(device.free_reservation(base), Err(Error::ReservationInUse { mappings: 1, .. })));
        for address in [base, base + PAGE + 1, base + 2 * PAGE] {
            assert!(matches!(device.unmap(address), Err(Error::NotMapped { .. })));
            assert!(matches!(device.free(address, PAGE), Err(Error::UnknownRange { .. })));
        }
        assert!(matches!(device.free(base + PAGE, PAGE), Err(Error::UnknownRange { .. })));
        assert!(matches!(device.free_reservation(base + PAGE), Err(Error::UnknownReservation { .. })));
        device.unmap(base + PAGE).unwrap();
        assert!(matches!(device.unmap(base + PAGE), Err(Error::NotMapped { .. })));
        device.release_physical(handle).unwrap();
        assert!(matches!(device.release_physical(handle), Err(Error::UnknownHandle { .. })));
        device.free_reservation(base).unwrap();
        assert!(matches!(device.free_reservation(base), Err(Error::UnknownReservation { .. })));
        assert_eq!(device.virtual_counts(), VirtualCounts::default());
        assert_eq!(device.committed_bytes().unwrap(), 0);
    }

    #[test]
    fn an_allocated_range_cannot_be_unmapped() {
        let device = device(GIB);
        let range = device.allocate(PAGE).unwrap();
        assert!(matches!(device.unmap(range), Err(Error::NotMapped { .. })));
        device.write(range, &[1]).unwrap();
    }

    #[test]
    fn a_handle_given_up_while_mapped_is_released_by_its_last_unmapping() {
        let device = device(PAGE);
        let base = device.reserve(PAGE, 0).unwrap();
        let handle = device.create_physical(PAGE).unwrap();
        device.map(base, handle).unwrap();
        device.fill(base, PAGE, 5).unwrap();
        device.release_physical_when_unmapped(handle).unwrap();
        device.check_fill(base, PAGE, 5).unwrap();
        assert!(matches!(device.release_physical_when_unmapped(handle), Err(Error::UnknownHandle { .. })));
        assert_eq!(device.memory_info(), (PAGE, 0));
        device.unmap(base).unwrap();
        assert_eq!(device.memory_info(), (PAGE, PAGE));
        assert!(matches!(device.map(base, handle), Err(Error::UnknownHandle { .. })));
        let unmapped = device.create_physical(PAGE).unwrap();
        device.release_physical_when_unmapped(unmapped).unwrap();
        assert_eq!((device.virtual_counts().handles, device.committed_bytes().unwrap()), (0, 0));
    }

    #[test]
    fn new_physical_memory_is_zero_even_where_old_was_written() {
        let device = device(PAGE);
        let base = device.reserve(PAGE, 0).unwrap();
        for _ in 0..3 {
            let handle = device.create_physical(PAGE).unwrap();
            device.map(base, handle).unwrap();
            device.check_fill(base, PAGE, 0).unwrap();
            device.fill(base, PAGE, 0xFF).unwrap();
            device.unmap(base).unwrap();
            device.release_physical(handle).unwrap();
        }
    }

    #[test]
    fn granules_of_a_gib_stand_beside_those_of_2_mib() {
        let device = device(8 * GIB);
        let base = device.reserve(4 * GIB, GIB).unwrap();
        let giant = device.create_physical_in(GIB, GIB).unwrap();
        assert!(matches!(
            device.create_physical_in(PAGE, GIB),
            Err(Error::InvalidSize { granularity: GIB, .. })
        ));
        assert!(matches!(device.map(base + PAGE, giant), Err(Error::MisalignedMapping { granule: GIB, .. })));
        device.map(base + GIB, giant).unwrap();
        device.map(base + PAGE, device.create_physical(PAGE).unwrap()).unwrap();
        device.write(base + 2 * GIB - 1, &[1]).unwrap();

        let config = HostDeviceConfig::new(8 * GIB).with_virtual_granule(GIB);
        let giant_only = HostDevice::new(config).unwrap();
        assert!(matches!(giant_only.create_physical(PAGE), Err(Error::InvalidSize { granularity: GIB, .. })));
        assert_eq!(giant_only.reserve(GIB, 0).unwrap() % GIB, 0);
    }

    #[test]
    fn an_address_tells_what_it_belongs_to() {
        let device = device(GIB);
        let range = device.allocate_from(PAGE, "range").unwrap();
        let reservation = device.reserve(4 * PAGE, 0).unwrap();
        let handle = device.create_physical(2 * PAGE).unwrap();
        device.map_from(reservation + PAGE, handle, "map").unwrap();
        let info = device.describe(range + PAGE - 1).unwrap();
        assert_eq!((info.life.base, info.life.size, info.kind), (range, PAGE, RangeKind::Allocated));
        assert_eq!(info.life.began.site.label, "range");
        let info = device.describe(reservation + 2 * PAGE).unwrap();
        assert_eq!((info.life.base, info.life.size), (reservation + PAGE, 2 * PAGE));
        assert_eq!(info.kind, RangeKind::Mapped { handle, reservation });
        assert_eq!(device.describe(reservation), None);
        assert_eq!(device.describe(range + PAGE), None);
        assert_eq!(device.physical_size(handle).unwrap(), 2 * PAGE);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Random maps, unmaps and writes against a table of which handle is where.
        #[test]
        fn bytes_follow_their_handles(steps in prop::collection::vec((0..4_u8, 0..6_u64, 0..5_usize, any::<u8>()), 1..60)) {
            let device = device(GIB);
            let base = device.reserve(6 * PAGE, 0).unwrap();
            let handles: Vec<_> = (0..5).map(|_| device.create_physical(PAGE).unwrap()).collect();
            let mut bytes = [0_u8; 5];
            let mut slots: [Option<usize>; 6] = [None; 6];
            for (what, slot, handle, byte) in steps {
                let address = base + slot * PAGE;
                let slot = usize::try_from(slot).unwrap();
                match what {
                    0 | 1 => {
                        let allowed = slots[slot].is_none() && !slots.contains(&Some(handle));
                        prop_assert_eq!(device.map(address, handles[handle]).is_ok(), allowed);
                        if allowed { slots[slot] = Some(handle); }
                    }
                    2 => {
                        prop_assert_eq!(device.unmap(address).is_ok(), slots[slot].is_some());
                        slots[slot] = None;
                    }
                    _ => {
                        prop_assert_eq!(device.write(address + 99, &[byte]).is_ok(), slots[slot].is_some());
                        if let Some(handle) = slots[slot] { bytes[handle] = byte; }
                    }
                }
                for (slot, handle) in slots.iter().enumerate() {
                    let mut found = [0];
                    let read = device.read(base + slot as u64 * PAGE + 99, &mut found);
                    prop_assert_eq!(read.ok().map(|()| found[0]), handle.map(|handle| bytes[handle]));
                }
                prop_assert_eq!(device.virtual_counts().mappings, slots.iter().flatten().count());
            }
        }
    }
}
