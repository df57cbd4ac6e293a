//! Cards and libraries that lack something.

use std::sync::Arc;

use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, OpenError, VirtualPages};
use mempool_core::{Bytes, Device, DeviceError, StreamOrder, VirtualMemory};
use testkit::conformance::{StreamRig, run_conformance, run_event_conformance};

use super::cards::{assert_holds_nothing, context_of, open};
use super::process::{missing, on_libraries_without, on_simulator};
use super::rig::AscendRig;

/// The card answers that it has no virtual memory, however often it is asked.
const WITHOUT: [(&str, &str); 1] = [(
    "ASCEND_SIM_FAIL",
    "aclrtMemGetAllocationGranularity:1:207000,aclrtMemGetAllocationGranularity:2:207000,\
     aclrtMemGetAllocationGranularity:3:207000",
)];

#[test]
fn a_card_without_virtual_memory_serves_arenas_all_the_same() {
    on_simulator(a_card_without_virtual_memory_serves_arenas_all_the_same, &WITHOUT, || {
        let backend = open(AscendOptions::default());
        assert!(backend.virtual_memory().is_none() && backend.stream_order().is_some());
        let base = backend.allocate_arena(Bytes::mib(8)).unwrap();
        backend.free_arena(base, Bytes::mib(8)).unwrap();
        // The facet behind the back of `virtual_memory` is no way round it.
        assert!(matches!(backend.reserve(Bytes::mib(2)), Err(DeviceError::Unsupported { .. })));
        assert_holds_nothing(&backend);
    });
}

#[test]
fn options_that_need_what_is_not_there_are_refused_by_name() {
    on_simulator(options_that_need_what_is_not_there_are_refused_by_name, &WITHOUT, || {
        let context = context_of(0);
        for options in [
            AscendOptions::default().arena_source(ArenaSource::VirtualMemory),
            AscendOptions::default().virtual_pages(VirtualPages::Gib1),
        ] {
            let error = AscendBackend::over(context.clone(), options).unwrap_err();
            let missing = "aclrtMemGetAllocationGranularity";
            assert!(matches!(error, OpenError::NoVirtualMemory { missing: it } if it == missing), "{error}");
            assert!(error.to_string().contains("ArenaSource::Malloc"), "{error}");
        }
    });
}

#[test]
fn a_library_without_a_function_of_virtual_memory_has_none() {
    let lists = [
        &["aclrtReserveMemAddress"][..],
        &["aclrtReleaseMemAddress"],
        &["aclrtMallocPhysical"],
        &["aclrtFreePhysical"],
        &["aclrtMapMem"],
        &["aclrtUnmapMem"],
    ];
    on_libraries_without(a_library_without_a_function_of_virtual_memory_has_none, &lists, || {
        let backend = open(AscendOptions::default());
        assert!(backend.virtual_memory().is_none());
        let options = AscendOptions::default().arena_source(ArenaSource::VirtualMemory);
        let error = AscendBackend::open(0, options).unwrap_err();
        let right = matches!(error, OpenError::NoVirtualMemory { missing: it } if *it == missing()[0]);
        assert!(right, "{error}");
        run_conformance(|| Arc::new(open(AscendOptions::default())))
            .unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_library_that_cannot_be_asked_for_a_granule_has_the_usual_one() {
    let lists = [&["aclrtMemGetAllocationGranularity"][..]];
    on_libraries_without(a_library_that_cannot_be_asked_for_a_granule_has_the_usual_one, &lists, || {
        let options = AscendOptions::default().arena_source(ArenaSource::VirtualMemory);
        assert_eq!(open(options).granule(), Bytes::mib(2));
        run_conformance(|| Arc::new(open(options))).unwrap_or_else(|error| panic!("{error}"));
        let error = AscendBackend::open(0, options.virtual_pages(VirtualPages::Gib1)).unwrap_err();
        assert!(matches!(error, OpenError::NoVirtualMemory { .. }), "{error}");
    });
}

#[test]
fn a_library_without_unpadded_memory_conforms() {
    on_libraries_without(a_library_without_unpadded_memory_conforms, &[&["aclrtMallocAlign32"]], || {
        run_conformance(|| Arc::new(open(AscendOptions::default())))
            .unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn events_of_the_older_sort_conform_and_are_not_recorded_anew() {
    let lists = [&["aclrtCreateEventExWithFlag"][..]];
    on_libraries_without(events_of_the_older_sort_conform_and_are_not_recorded_anew, &lists, || {
        run_event_conformance(|| Box::new(AscendRig::new(open(AscendOptions::default()))))
            .unwrap_or_else(|error| panic!("{error}"));
        let rig = AscendRig::new(open(AscendOptions::default()));
        let stream = rig.stream();
        for _ in 0..10 {
            let event = rig.backend.record_event(stream).unwrap();
            rig.backend.synchronize_event(event).unwrap();
            rig.backend.release_event(event).unwrap();
            assert_eq!(rig.backend.holdings().kept_events, 0);
        }
    });
}
