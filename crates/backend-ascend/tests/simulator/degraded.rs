//! Cards and libraries that lack something.

use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, OpenError, VirtualPages};
use mempool_core::{Bytes, Device, DeviceError, VirtualMemory};

use super::cards::{assert_holds_nothing, context_of, open};
use super::process::on_simulator;

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
