//! That what a pool does again and again needs no memory of the host: a pool asks and records while it is short of memory, and
//! under a lock.
#![cfg(test)]
#![expect(unsafe_code, reason = "counts the allocations of this program, and stands in for ACL")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use acl::{
    DeviceMemory, Event, EventCache, EventFlags, EventStatus, MallocPolicy, MemoryKind, Runtime, Stream,
    as_guest,
};
use acl_sys::{
    ACL_SUCCESS, Library, Table, aclError, aclrtEventRecordedStatus, aclrtMemAttr, aclrtMemMallocPolicy,
    aclrtStreamStatus,
};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is the system's; counting allocates nothing and cannot panic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more, and nobody asks for it.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `work` runs.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// Writes an out-parameter.
fn give<T>(out: *mut T, value: T) {
    // SAFETY: the crate under test gives pointers to its locals.
    unsafe { out.write(value) };
}

/// A handle that nobody follows.
fn handle() -> *mut c_void {
    ptr::without_provenance_mut(0x1000)
}

extern "C" fn init(_: *const std::ffi::c_char) -> aclError {
    ACL_SUCCESS
}

extern "C" fn finalize(_: *mut u64) -> aclError {
    ACL_SUCCESS
}

extern "C" fn device(_: i32) -> aclError {
    ACL_SUCCESS
}

extern "C" fn make(out: *mut *mut c_void) -> aclError {
    give(out, handle());
    ACL_SUCCESS
}

extern "C" fn make_with_flag(out: *mut *mut c_void, _: u32) -> aclError {
    make(out)
}

extern "C" fn malloc(out: *mut *mut c_void, _: usize, _: aclrtMemMallocPolicy) -> aclError {
    make(out)
}

extern "C" fn on(_: *mut c_void) -> aclError {
    ACL_SUCCESS
}

extern "C" fn on_both(_: *mut c_void, _: *mut c_void) -> aclError {
    ACL_SUCCESS
}

extern "C" fn query_event(_: *mut c_void, out: *mut aclrtEventRecordedStatus) -> aclError {
    give(out, aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE);
    ACL_SUCCESS
}

extern "C" fn query_stream(_: *mut c_void, out: *mut aclrtStreamStatus) -> aclError {
    give(out, aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE);
    ACL_SUCCESS
}

extern "C" fn memory_info(_: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError {
    give(free, 1);
    give(total, 2);
    ACL_SUCCESS
}

/// An ACL that allocates nothing itself.
fn runtime() -> Runtime {
    let table = Table {
        aclInit: Some(init),
        aclFinalizeReference: Some(finalize),
        aclrtSetDevice: Some(device),
        aclrtResetDevice: Some(device),
        aclrtGetCurrentContext: Some(make),
        aclrtSetCurrentContext: Some(on),
        aclrtCreateStream: Some(make),
        aclrtDestroyStream: Some(on),
        aclrtStreamQuery: Some(query_stream),
        aclrtStreamWaitEvent: Some(on_both),
        aclrtCreateEventExWithFlag: Some(make_with_flag),
        aclrtDestroyEvent: Some(on),
        aclrtRecordEvent: Some(on_both),
        aclrtQueryEventStatus: Some(query_event),
        aclrtSynchronizeEvent: Some(on),
        aclrtMalloc: Some(malloc),
        aclrtFree: Some(on),
        aclrtGetMemInfo: Some(memory_info),
        ..Table::EMPTY
    };
    // SAFETY: the functions keep ACL's contract as far as it goes for handles that nobody follows.
    unsafe { Runtime::start_on(Arc::new(Library::from_table(table)), None) }.unwrap()
}

#[test]
fn what_a_pool_repeats_allocates_nothing() {
    let runtime = runtime();
    let contexts = [0, 1].map(|number| runtime.device(number).unwrap().primary_context());
    let stream = Stream::new(&contexts[0]).unwrap();
    let event = Event::new(&contexts[0], EventFlags::ORDER).unwrap();
    let repeated = || {
        event.record(&stream).unwrap();
        assert_eq!(event.query().unwrap(), EventStatus::Complete);
        event.synchronize().unwrap();
        stream.wait(&event).unwrap();
        assert!(stream.is_idle().unwrap());
        // Of another device, so that the context is set each time.
        assert_eq!(contexts[1].memory_info(MemoryKind::HBM).unwrap().free, 1);
        drop(DeviceMemory::allocate(&contexts[1], 64, MallocPolicy::HUGE_FIRST).unwrap());
        as_guest(|| event.query()).unwrap();
    };
    assert_eq!(allocations(repeated), 0);
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1, "allocations are counted");
}

#[test]
fn a_cache_allocates_for_the_first_round_only_and_not_when_events_come_back() {
    let runtime = runtime();
    let context = runtime.device(0).unwrap().primary_context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    let round = |count: usize| {
        let mut held: Vec<_> = Vec::with_capacity(count);
        let recorded = allocations(|| held.extend((0..count).map(|_| events.record(&stream).unwrap())));
        let first = &held[0];
        let asked = allocations(|| assert_eq!(first.query().unwrap(), EventStatus::Complete));
        (recorded, asked + allocations(|| held.clear()))
    };
    let (first, back) = round(40);
    assert!(first > 0 && back == 0, "{first} {back}");
    assert_eq!(round(40), (0, 0));
    events.clear();
    // The room stays.
    assert_eq!(round(40).1, 0);
}
