//! What the card is asked for.

use backend_ascend::{ArenaSource, AscendOptions, BackendError, Pages};
use mempool_core::{Bytes, Device, DeviceAddress, DeviceError, TailPadding, VirtualMemory};

use super::cards::{assert_holds_nothing, context_of, free_of, open};
use super::process::on_simulator;

#[test]
fn properties_are_those_of_the_chip() {
    on_simulator(properties_are_those_of_the_chip, &[], || {
        let properties = open(AscendOptions::default()).properties();
        assert_eq!(properties.name, context_of(0).soc_name().unwrap());
        assert_eq!((properties.tail_padding, properties.block_alignment.get()), (TailPadding::ASCEND, 64));
        assert_eq!(properties.arena_granularity, Bytes::mib(2));
    });
}

#[test]
fn an_arena_of_whole_pages_takes_no_page_more() {
    on_simulator(an_arena_of_whole_pages_takes_no_page_more, &[("ASCEND_SIM_CAPACITY", "8MiB")], || {
        for source in [ArenaSource::Malloc, ArenaSource::VirtualMemory] {
            let backend = open(AscendOptions::default().arena_source(source));
            let base = backend.allocate_arena(Bytes::mib(8)).unwrap();
            assert_eq!(free_of(&backend), Bytes::ZERO);
            backend.free_arena(base, Bytes::mib(8)).unwrap();
            assert_eq!(free_of(&backend), Bytes::mib(8));
            assert_holds_nothing(&backend);
        }
    });
}

#[test]
fn a_library_without_unpadded_memory_takes_no_page_more_either() {
    // The function answers 207000, as where the chip cannot; the padding of plain aclrtMalloc is part of the arena then.
    let settings = [("ASCEND_SIM_CAPACITY", "8MiB"), ("ASCEND_SIM_FAIL", "aclrtMallocAlign32:1:207000")];
    on_simulator(a_library_without_unpadded_memory_takes_no_page_more_either, &settings, || {
        let backend = open(AscendOptions::default());
        let base = backend.allocate_arena(Bytes::mib(8)).unwrap();
        assert_eq!(free_of(&backend), Bytes::ZERO);
        backend.free_arena(base, Bytes::mib(8)).unwrap();
        assert_eq!(free_of(&backend), Bytes::mib(8));
    });
}

#[test]
fn huge_pages_fall_back_to_normal_ones_only_if_asked() {
    // Without huge pages the first call of each arena fails.
    let settings = [("ASCEND_SIM_FAIL", "aclrtMallocAlign32:1,aclrtMallocAlign32:2")];
    on_simulator(huge_pages_fall_back_to_normal_ones_only_if_asked, &settings, || {
        let strict = open(AscendOptions::default().pages(Pages::HugeOnly));
        let error = strict.allocate_arena(Bytes::mib(4)).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
        let lenient = open(AscendOptions::default().pages(Pages::HugeOnly).fall_back_to_normal_pages(true));
        let base = lenient.allocate_arena(Bytes::mib(4)).unwrap();
        assert_eq!((strict.holdings().normal_page_arenas, lenient.holdings().normal_page_arenas), (0, 1));
        lenient.free_arena(base, Bytes::mib(4)).unwrap();
    });
}

#[test]
fn memory_of_other_processes_is_not_free() {
    let settings = [("ASCEND_SIM_CAPACITY", "1GiB"), ("ASCEND_SIM_FOREIGN_USE", "600MiB")];
    on_simulator(memory_of_other_processes_is_not_free, &settings, || {
        let backend = open(AscendOptions::default());
        let info = backend.memory_info().unwrap();
        assert_eq!((info.total, info.free), (Bytes::gib(1), Bytes::mib(424)));
        let error = backend.allocate_arena(Bytes::mib(426)).unwrap_err();
        assert!(
            matches!(error, DeviceError::OutOfMemory { requested } if requested == Bytes::mib(426)),
            "{error}"
        );
    });
}

#[test]
fn arenas_that_do_not_exist_are_not_given_back() {
    on_simulator(arenas_that_do_not_exist_are_not_given_back, &[], || {
        let backend = open(AscendOptions::default());
        let base = backend.allocate_arena(Bytes::mib(4)).unwrap();
        assert!(matches!(backend.free_arena(base, Bytes::mib(2)), Err(DeviceError::Other(_))));
        backend.free_arena(base, Bytes::mib(4)).unwrap();
        assert!(matches!(backend.free_arena(base, Bytes::mib(4)), Err(DeviceError::Other(_))));
        for size in [Bytes::ZERO, Bytes::new(1), Bytes::mib(3), Bytes::MAX] {
            assert!(matches!(backend.allocate_arena(size), Err(DeviceError::Other(_))), "{size}");
        }
        assert_holds_nothing(&backend);
    });
}

#[test]
fn what_is_left_goes_with_the_backend() {
    on_simulator(what_is_left_goes_with_the_backend, &[("ASCEND_SIM_CAPACITY", "64MiB")], || {
        let watcher = open(AscendOptions::default());
        let before = free_of(&watcher);
        let backend = open(AscendOptions::default().arena_source(ArenaSource::VirtualMemory));
        backend.allocate_arena(Bytes::mib(8)).unwrap();
        let base = backend.reserve(Bytes::mib(8)).unwrap();
        let memory = backend.create_physical(Bytes::mib(2)).unwrap();
        backend.map(base, memory).unwrap();
        backend.create_physical(Bytes::mib(4)).unwrap();
        assert_eq!(free_of(&watcher), before.saturating_sub(Bytes::mib(14)));
        drop(backend);
        assert_eq!(free_of(&watcher), before);
        assert_holds_nothing(&watcher);
    });
}

#[test]
fn copies_stay_inside_what_the_backend_holds() {
    on_simulator(copies_stay_inside_what_the_backend_holds, &[], || {
        for source in [ArenaSource::Malloc, ArenaSource::VirtualMemory] {
            let backend = open(AscendOptions::default().arena_source(source));
            let base = backend.allocate_arena(Bytes::mib(6)).unwrap();
            let end = base.checked_add(Bytes::mib(6)).unwrap();
            // From the first byte to the last, over the borders of granules.
            let written: Vec<u8> = (0..6 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
            backend.write(base, &written).unwrap();
            let mut found = vec![0; 6 << 20];
            backend.read(base, &mut found).unwrap();
            assert!(found == written, "{source:?}");
            let not_held = |answer: Result<(), DeviceError>| {
                let Err(DeviceError::Other(error)) = answer else { panic!("{answer:?}") };
                assert!(matches!(*error.downcast().unwrap(), BackendError::NotHeld { .. }));
            };
            not_held(backend.write(base, &vec![0; (6 << 20) + 1]));
            not_held(backend.read(end, &mut [0]));
            not_held(backend.read(DeviceAddress::new(base.get() - 1), &mut [0; 2]));
            not_held(backend.read(DeviceAddress::new(0), &mut [0]));
            not_held(backend.write(DeviceAddress::new(u64::MAX), &[0, 0]));
            backend.write(DeviceAddress::new(0), &[]).unwrap();
            backend.free_arena(base, Bytes::mib(6)).unwrap();
            not_held(backend.write(base, &[1]));
        }
    });
}
