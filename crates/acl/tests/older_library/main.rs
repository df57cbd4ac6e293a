//! The owners over a real library that lacks what a newer CANN has, loaded as a program loads it.
#![cfg(test)]

#[expect(dead_code, reason = "the other crate also checks headers with it")]
#[path = "../../../acl-sys/tests/c_side/compiler.rs"]
mod compiler;

use std::process::Command;
use std::sync::Arc;

use acl::{
    AclError, Context, DeviceMemory, ErrorKind, Event, EventCache, EventFlags, EventStatus, MallocPolicy,
    MemoryKind, MemoryPool, Model, PageKind, PhysicalMemory, PinnedMemory, Reservation, Runtime, Stream,
    granularity,
};

use compiler::Language;

const SOURCE: &str = include_str!("older.c");

#[test]
fn all_that_an_older_library_has_works_and_the_rest_is_unsupported() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libascendcl.so");
    Language::c11().expect("this test needs a C compiler").shared_library(SOURCE, &library);
    // In a process of its own: the variable is asked for once, and the library is never closed.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child_over_an_older_library", "--ignored"])
        .env(acl_sys::LIBRARY_VARIABLE, library);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Every family that the library lacks, and the function that says so.
fn use_what_is_missing(context: &Context, stream: &Stream) -> Vec<(&'static str, AclError)> {
    let granularity = granularity(context, PageKind::HUGE).map(drop);
    let none: Arc<[u8]> = Arc::from([]);
    [
        ("aclrtMemPoolCreate", MemoryPool::create(context, 0).map(drop)),
        ("aclrtMemGetAllocationGranularity", granularity),
        ("aclrtReserveMemAddress", Reservation::new(context, 4096).map(drop)),
        ("aclrtMallocPhysical", PhysicalMemory::allocate(context, 4096, PageKind::HUGE).map(drop)),
        ("aclrtMallocHost", PinnedMemory::allocate(context, 64).map(drop)),
        ("aclrtMallocHost", PinnedMemory::allocate_in_parts(context, 64 << 20).map(drop)),
        ("aclrtMallocWithCfg", {
            DeviceMemory::allocate_for_module(context, 64, MallocPolicy::HUGE_FIRST, Some(33)).map(drop)
        }),
        ("aclrtPointerGetAttributes", context.address_info(4096).map(drop)),
        ("aclrtMemGetAddressRange", context.address_range(4096).map(drop)),
        ("aclrtGetMemUsageInfo", context.device().memory_by_module().map(drop)),
        ("aclrtGetSocName", context.soc_name().map(drop)),
        ("aclrtStreamAbort", stream.abort()),
        ("aclrtStreamGetFlags", stream.flags().map(drop)),
        ("aclrtCtxGetCurrentDefaultStream", context.default_stream().map(drop)),
        ("aclrtAllocatorGetByStream", stream.allocator().map(drop)),
        ("aclmdlLoadFromMem", Model::load_from_memory(context, none).map(drop)),
    ]
    .into_iter()
    .map(|(symbol, result)| (symbol, result.expect_err(symbol)))
    .collect()
}

#[test]
#[ignore = "started by another test in a process of its own, with a variable set"]
fn child_over_an_older_library() {
    let runtime = Runtime::start().unwrap();
    assert!(!runtime.is_supported("aclFinalizeReference") && runtime.is_supported("aclrtMalloc"));
    let context = runtime.device(0).unwrap().create_context().unwrap();
    let stream = Stream::new(&context).unwrap();
    let memory = DeviceMemory::allocate(&context, 1024, MallocPolicy::default()).unwrap();
    memory.as_slice().write(b"old").unwrap();
    let mut bytes = [0; 3];
    memory.as_slice().read(&mut bytes).unwrap();
    assert_eq!(&bytes, b"old");
    assert_eq!(context.memory_info(MemoryKind::HBM).unwrap().total, 2);

    for (symbol, error) in use_what_is_missing(&context, &stream) {
        assert!(matches!(&error, AclError::Unsupported(it) if it.symbol == symbol), "{symbol}: {error}");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("update CANN"), "{error}");
    }

    // Events are those of the older sort, which a cache does not use again.
    let event = Event::new(&context, EventFlags::PROGRESS).unwrap();
    assert!(!event.is_reusable());
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    let recorded = events.record(&stream).unwrap();
    assert_eq!(recorded.query().unwrap(), EventStatus::Complete);
    drop(recorded);
    assert_eq!(events.idle(), 0);

    assert_eq!(runtime.release_errors(), acl::ReleaseErrors::default());
    // The library ends this process if anything is left when ACL ends.
    drop((memory, stream, event, events, context, runtime));
}
