//! Ranges of a device from outside: sizes, capacity, foreign use, alignment, many threads.

#[cfg(test)]
mod tests {
    use std::thread;

    use host_device::{HostDevice, HostDeviceConfig, HostDeviceError};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn device(capacity: u64) -> HostDevice {
        HostDevice::new(HostDeviceConfig::new(capacity)).unwrap()
    }

    #[test]
    fn sizes_that_are_no_positive_multiple_of_the_granularity_are_refused() {
        let device = device(GIB);
        for size in [0, 1, 2 * MIB - 1, 3 * MIB, u64::MAX] {
            let error = device.allocate(size).unwrap_err();
            assert!(
                matches!(error, HostDeviceError::InvalidSize { size: named, granularity } if named == size && granularity == 2 * MIB),
                "{error}"
            );
        }
        assert_eq!(device.memory_info(), (GIB, GIB));
    }

    #[test]
    fn the_capacity_can_be_used_to_the_last_byte_and_not_beyond() {
        let device = device(6 * MIB);
        let large = device.allocate(4 * MIB).unwrap();
        let error = device.allocate(4 * MIB).unwrap_err();
        assert!(
            matches!(error, HostDeviceError::OutOfMemory { requested, free, foreign: 0, total }
                if requested == 4 * MIB && free == 2 * MIB && total == 6 * MIB),
            "{error}"
        );
        device.allocate(2 * MIB).unwrap();
        assert_eq!(device.memory_info(), (6 * MIB, 0));
        device.free(large, 4 * MIB).unwrap();
        assert_eq!(device.memory_info(), (6 * MIB, 4 * MIB));
        assert_eq!((device.live_ranges(), device.live_bytes()), (1, 2 * MIB));
    }

    #[test]
    fn a_capacity_that_is_no_multiple_of_the_granularity_keeps_its_rest() {
        let device = device(3 * MIB);
        device.allocate(2 * MIB).unwrap();
        assert_eq!(device.memory_info(), (3 * MIB, MIB));
        assert!(matches!(device.allocate(2 * MIB), Err(HostDeviceError::OutOfMemory { .. })));
    }

    #[test]
    fn a_device_without_capacity_refuses_every_range() {
        let device = device(0);
        assert!(matches!(device.allocate(2 * MIB), Err(HostDeviceError::OutOfMemory { .. })));
        assert_eq!(device.memory_info(), (0, 0));
    }

    #[test]
    fn free_wants_the_exact_base_and_size() {
        let device = device(GIB);
        let range = device.allocate(4 * MIB).unwrap();
        for size in [0, 2 * MIB, 6 * MIB, u64::MAX] {
            let error = device.free(range, size).unwrap_err();
            assert!(
                matches!(error, HostDeviceError::SizeMismatch { given, allocated, .. } if given == size && allocated == 4 * MIB),
                "{error}"
            );
        }
        for address in [0, range + 2 * MIB, range - 2 * MIB, u64::MAX] {
            let error = device.free(address, 4 * MIB).unwrap_err();
            assert!(
                matches!(error, HostDeviceError::UnknownRange { address: named } if named == address),
                "{error}"
            );
        }
        assert_eq!(device.live_ranges(), 1);
        device.free(range, 4 * MIB).unwrap();
        assert!(matches!(device.free(range, 4 * MIB), Err(HostDeviceError::UnknownRange { .. })));
        assert_eq!(device.memory_info(), (GIB, GIB));
    }

    #[test]
    fn foreign_use_lowers_what_is_free_and_can_go_again() {
        let device = device(8 * MIB);
        device.set_foreign_use(5 * MIB);
        assert_eq!(device.memory_info(), (8 * MIB, 3 * MIB));
        let error = device.allocate(4 * MIB).unwrap_err();
        assert!(
            matches!(error, HostDeviceError::OutOfMemory { free, foreign, .. } if free == 3 * MIB && foreign == 5 * MIB),
            "{error}"
        );
        device.set_foreign_use(0);
        device.allocate(4 * MIB).unwrap();
    }

    #[test]
    fn foreign_use_beyond_the_capacity_leaves_nothing_free_and_live_ranges_alone() {
        let device = device(8 * MIB);
        let range = device.allocate(4 * MIB).unwrap();
        for foreign in [4 * MIB, 5 * MIB, 9 * MIB, u64::MAX] {
            device.set_foreign_use(foreign);
            assert_eq!(device.foreign_use(), foreign);
            assert_eq!(device.memory_info(), (8 * MIB, 0));
            assert!(matches!(device.allocate(2 * MIB), Err(HostDeviceError::OutOfMemory { .. })));
        }
        device.write(range, &[1]).unwrap();
        device.free(range, 4 * MIB).unwrap();
    }

    #[test]
    fn a_device_larger_than_the_machine_works_while_its_pages_are_not_touched() {
        let device = device(64 * GIB);
        let ranges: Vec<u64> = (0..4).map(|_| device.allocate(16 * GIB).unwrap()).collect();
        assert_eq!(device.memory_info(), (64 * GIB, 0));
        for &range in &ranges {
            device.write(range + 16 * GIB - 1, &[9]).unwrap();
            device.check_fill(range + 8 * GIB, MIB, 0).unwrap();
        }
        // One page per range; a page may be a huge one, of at most 512 MiB.
        assert!(device.committed_bytes().unwrap() <= 2 * GIB);
        for range in ranges {
            device.free(range, 16 * GIB).unwrap();
        }
        assert_eq!(device.committed_bytes().unwrap(), 0);
    }

    #[test]
    fn what_the_host_cannot_map_is_an_error_that_changes_nothing() {
        let device = HostDevice::new(HostDeviceConfig::new(u64::MAX).with_granularity(1)).unwrap();
        for size in [u64::MAX, u64::MAX - 4095, 1 << 63, 1 << 62, 1 << 60] {
            let error = device.allocate(size).unwrap_err();
            assert!(matches!(error, HostDeviceError::Host { .. }), "{size}: {error}");
        }
        assert_eq!(device.memory_info(), (u64::MAX, u64::MAX));
        device.allocate(1).unwrap();
    }

    #[test]
    fn bases_are_aligned_as_configured() {
        for alignment in [64 * KIB, 2 * MIB, GIB] {
            let config =
                HostDeviceConfig::new(16 * GIB).with_granularity(alignment).with_base_alignment(alignment);
            let device = HostDevice::new(config).unwrap();
            for units in [1, 3, 2] {
                let range = device.allocate(units * alignment).unwrap();
                assert_eq!(range % alignment, 0, "{alignment}");
            }
            let error = device.allocate(alignment + 4 * KIB).unwrap_err();
            assert!(matches!(error, HostDeviceError::InvalidSize { .. }), "{error}");
        }
    }

    #[test]
    fn a_granularity_below_a_page_still_bounds_every_range_exactly() {
        let device = HostDevice::new(HostDeviceConfig::new(1000).with_granularity(100)).unwrap();
        let range = device.allocate(300).unwrap();
        device.fill(range, 300, 1).unwrap();
        assert!(matches!(device.write(range + 300, &[1]), Err(HostDeviceError::NotLive { .. })));
        assert_eq!(device.memory_info(), (1000, 700));
    }

    #[test]
    fn ranges_of_two_devices_never_overlap() {
        let devices = [device(GIB), device(GIB)];
        let mut ranges = Vec::new();
        for round in 0..40 {
            let size = (round % 5 + 1) * 2 * MIB;
            for device in &devices {
                ranges.push((device.allocate(size).unwrap(), size));
            }
        }
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:x?}");
        }
        let (of_first, _) = ranges[0];
        let owners = devices.iter().filter(|device| device.read(of_first, &mut [0]).is_ok()).count();
        assert_eq!(owners, 1);
    }

    #[test]
    fn threads_that_allocate_write_and_free_leave_nothing_live() {
        const THREADS: u8 = 4;
        let device = device(256 * MIB);
        thread::scope(|scope| {
            for thread in 1..=THREADS {
                let device = &device;
                scope.spawn(move || {
                    for round in 0..50_u64 {
                        let sizes = [2 * MIB, (round % 7 + 1) * 2 * MIB];
                        let ranges = sizes.map(|size| (device.allocate(size).unwrap(), size));
                        for (range, size) in ranges {
                            device.fill(range + size - 64 * KIB, 64 * KIB, thread).unwrap();
                        }
                        for (range, size) in ranges {
                            device.check_fill(range + size - 64 * KIB, 64 * KIB, thread).unwrap();
                            device.free(range, size).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!((device.live_ranges(), device.live_bytes()), (0, 0));
        assert_eq!(device.memory_info(), (256 * MIB, 256 * MIB));
        assert_eq!(device.committed_bytes().unwrap(), 0);
    }

    #[test]
    fn of_two_frees_of_one_range_at_the_same_time_exactly_one_succeeds() {
        let device = device(GIB);
        for _ in 0..100 {
            let range = device.allocate(2 * MIB).unwrap();
            let succeeded = thread::scope(|scope| {
                let frees = [(); 2].map(|()| scope.spawn(|| device.free(range, 2 * MIB).is_ok()));
                frees.into_iter().map(|free| free.join().unwrap()).filter(|&ok| ok).count()
            });
            assert_eq!(succeeded, 1);
        }
        assert_eq!(device.live_ranges(), 0);
    }
}
