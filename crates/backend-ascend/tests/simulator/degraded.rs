//! Cards and libraries that lack something.

use std::sync::Arc;

use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, OpenError, VirtualPages};
use mempool_core::{Bytes, Device, DeviceError, StreamOrder, VirtualMemory};
use testkit::conformance::{StreamRig, run_conformance, run_event_conformance};

use super::cards::{assert_holds_nothing, context_of, open};
use super::process::{Variable, missing, on_libraries_without, on_simulators};
use super::rig::AscendRig;

/// Cards that answer that they have no virtual memory, or that the question is wrong, however often they are asked.
fn without_virtual_memory() -> [Vec<Variable>; 2] {
    [207_000, 100_000].map(|code| {
        let plan = (1..=3).map(|n| format!("aclrtMemGetAllocationGranularity:{n}:{code}"));
        vec![("ASCEND_SIM_FAIL", plan.collect::<Vec<_>>().join(","))]
    })
}

#[test]
fn a_card_without_virtual_memory_serves_arenas_all_the_same() {
    let cards = without_virtual_memory();
    on_simulators(a_card_without_virtual_memory_serves_arenas_all_the_same, cards, || {
        let backend = open(AscendOptions::default());
        assert!(backend.virtual_memory().is_none() && backend.stream_order().is_some());
        let why = backend.why_no_virtual_memory().unwrap();
        assert!(matches!(why, OpenError::NoVirtualMemory { source: Some(_), .. }), "{why}");
        let base = backend.allocate_arena(Bytes::mib(8)).unwrap();
        backend.free_arena(base, Bytes::mib(8)).unwrap();
        // The facet behind the back of `virtual_memory` is no way round it.
        assert!(matches!(backend.reserve(Bytes::mib(2)), Err(DeviceError::Unsupported { .. })));
        assert_holds_nothing(&backend);
    });
}

#[test]
fn options_that_need_what_is_not_there_are_refused_by_name() {
    let cards = without_virtual_memory();
    on_simulators(options_that_need_what_is_not_there_are_refused_by_name, cards, || {
        let context = context_of(0);
        for options in [
            AscendOptions::default().arena_source(ArenaSource::VirtualMemory),
            AscendOptions::default().virtual_pages(VirtualPages::Gib1),
        ] {
            let error = AscendBackend::over(context.clone(), options).unwrap_err();
            let missing = "aclrtMemGetAllocationGranularity";
            assert!(
                matches!(error, OpenError::NoVirtualMemory { missing: it, .. } if it == missing),
                "{error}"
            );
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
        let right =
            matches!(error, OpenError::NoVirtualMemory { missing: it, source: None } if *it == missing()[0]);
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

#[test]
fn a_card_that_refuses_events_for_both_purposes_gets_events_for_order() {
    // One refusal: of the two flags together.
    let settings = vec![("ASCEND_SIM_FAIL", "aclrtCreateEventExWithFlag:1:107000".to_owned())];
    on_simulators(a_card_that_refuses_events_for_both_purposes_gets_events_for_order, [settings], || {
        run_event_conformance(|| Box::new(AscendRig::new(open(AscendOptions::default()))))
            .unwrap_or_else(|error| panic!("{error}"));
    });
}
