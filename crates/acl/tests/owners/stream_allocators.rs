//! Allocators from which ACL takes the memory of a stream's models.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use acl::{AclError, AllocatorOfStream, Context, DeviceMemory, MallocPolicy, Stream};
use acl_sys::Table;
use serial_test::serial;

use super::allocators::{BASE, Counting, FromDevice};
use super::fake::{
    Described, ForeignStream, change, current_here, fail_next, fail_nth, fake, primary, reset,
};
use super::fake_table::{call_address, call_allocate, call_free, table};
use super::promises::{foreign_stream, start};

fn context() -> Context {
    reset();
    start(&table()).unwrap().device(0).unwrap().primary_context()
}

/// What ACL has of the only allocator that is registered.
fn registered() -> Described {
    let allocators = fake().allocators;
    assert_eq!(allocators.len(), 1);
    *allocators.values().next().expect("one")
}

#[test]
#[serial]
fn acl_gets_blocks_addresses_and_a_way_to_give_them_back() {
    let stream = Stream::new(&context()).unwrap();
    let allocator = Arc::new(Counting::default());
    stream.register_allocator(Arc::clone(&allocator)).unwrap();
    let as_acl = registered();
    let first = call_allocate(&as_acl, 100, None);
    let second = call_allocate(&as_acl, 100, Some(1 << 41));
    assert_eq!(call_address(&as_acl, first) as u64, BASE);
    assert_eq!(call_address(&as_acl, second), (1 << 41) + (1 << 20), "near to the address that was named");
    assert_eq!(call_allocate(&as_acl, usize::MAX, None), 0, "nothing is null in C");
    // On whatever thread, and null is nothing.
    thread::spawn(move || call_free(&as_acl, first)).join().unwrap();
    call_free(&as_acl, second);
    call_free(&as_acl, 0);
    let counts = (allocator.given.load(Ordering::Relaxed), allocator.freed.load(Ordering::Relaxed));
    assert_eq!(counts, (2, 2));
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn no_panic_of_an_allocator_passes_through_c() {
    let stream = Stream::new(&context()).unwrap();
    let allocator = Arc::new(Counting::default());
    stream.register_allocator(Arc::clone(&allocator)).unwrap();
    let as_acl = registered();
    let block = call_allocate(&as_acl, 64, None);
    allocator.panics.store(true, Ordering::Relaxed);
    assert_eq!((call_allocate(&as_acl, 64, None), call_allocate(&as_acl, 64, Some(7))), (0, 0));
    call_free(&as_acl, block);
    assert_eq!(allocator.freed.load(Ordering::Relaxed), 1);
    drop(stream);
    assert_eq!(Arc::strong_count(&allocator), 1, "a panic keeps nothing");
}

#[test]
#[serial]
fn an_allocator_lives_until_the_stream_is_gone_and_its_last_block_back() {
    let stream = Stream::new(&context()).unwrap();
    let allocator = Arc::new(Counting::default());
    stream.register_allocator(Arc::clone(&allocator)).unwrap();
    let as_acl = registered();
    // ACL keeps what it found, so it must live on after it was taken away.
    stream.unregister_allocator().unwrap();
    assert_eq!(Arc::strong_count(&allocator), 2);
    let block = call_allocate(&as_acl, 64, None);
    drop(stream);
    assert_eq!(Arc::strong_count(&allocator), 2, "the block still needs it");
    call_free(&as_acl, block);
    assert_eq!(Arc::strong_count(&allocator), 1);
}

#[test]
#[serial]
fn a_second_registration_replaces_the_first() {
    let stream = Stream::new(&context()).unwrap();
    assert_eq!(stream.allocator().unwrap(), AllocatorOfStream::None);
    let (first, second) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    stream.register_allocator(Arc::clone(&first)).unwrap();
    stream.register_allocator(Arc::clone(&second)).unwrap();
    call_free(&registered(), call_allocate(&registered(), 64, None));
    assert_eq!((first.given.load(Ordering::Relaxed), second.given.load(Ordering::Relaxed)), (0, 1));
    assert_eq!(stream.allocator().unwrap(), AllocatorOfStream::Ours);
    // Another library of the process comes in between.
    change(|state| state.allocators.values_mut().for_each(|allocator| allocator.object = Some(0x77)));
    assert_eq!(stream.allocator().unwrap(), AllocatorOfStream::Foreign);
}

#[test]
#[serial]
fn whichever_call_of_a_registration_fails_nothing_is_registered_and_nothing_is_kept() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let before = fake().left();
    let calls = fake().log.len();
    stream.register_allocator(Arc::new(Counting::default())).unwrap();
    let calls = fake().log.len() - calls;
    stream.unregister_allocator().unwrap();
    // The last one gives the description back, which the registration does not need.
    for n in 1..calls {
        let allocator = Arc::new(Counting::default());
        change(|state| state.fail_at = Some(state.log.len() + n));
        assert!(stream.register_allocator(Arc::clone(&allocator)).is_err(), "call {n}");
        assert_eq!((Arc::strong_count(&allocator), fake().left()), (1, before), "call {n}");
        assert!(fake().allocators.is_empty(), "call {n}");
    }
}

#[test]
#[serial]
fn a_stream_is_unregistered_before_it_goes_by_whichever_way() {
    let context = context();
    for by_force in [false, true] {
        let stream = Stream::new(&context).unwrap();
        stream.register_allocator(Arc::new(Counting::default())).unwrap();
        if by_force {
            stream.destroy_now().unwrap();
        } else {
            drop(stream);
        }
        assert!(fake().allocators.is_empty());
    }
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn what_acl_may_still_call_is_never_dropped() {
    let context = context();
    let allocator = Arc::new(Counting::default());
    // A stream that cannot be unregistered, one that cannot be destroyed, and one that foreign code destroys.
    for call in ["aclrtAllocatorUnregister", "aclrtDestroyStream"] {
        let stream = Stream::new(&context).unwrap();
        stream.register_allocator(Arc::clone(&allocator)).unwrap();
        fail_nth(call, 1);
        drop(stream);
    }
    let foreign = ForeignStream::new(primary(0));
    let stream = foreign_stream(&context, foreign.0).unwrap();
    stream.register_allocator(Arc::clone(&allocator)).unwrap();
    drop(stream);
    assert!(!fake().allocators.contains_key(&foreign.0), "it is taken away all the same");
    assert_eq!(Arc::strong_count(&allocator), 4);
    assert_eq!(context.device().runtime().take_release_errors().failed, 2);
}

#[test]
#[serial]
fn an_allocator_that_calls_acl_leaves_the_current_context_as_it_was() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let other = context.device().create_context().unwrap();
    stream.register_allocator(Arc::new(FromDevice(other))).unwrap();
    let as_acl = registered();
    // ACL is in the middle of a call with the stream's context current.
    stream.synchronize().unwrap();
    assert_eq!(current_here(), Some(primary(0)));
    let block = call_allocate(&as_acl, 64, None);
    assert_eq!((current_here(), fake().count("aclrtMalloc")), (Some(primary(0)), 1));
    call_free(&as_acl, block);
    assert_eq!((current_here(), fake().count("aclrtFree")), (Some(primary(0)), 1));
    fail_next();
    assert_eq!(call_allocate(&as_acl, 64, None), 0);
    drop((stream, context));
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn a_library_without_allocators_says_so() {
    reset();
    let runtime = start(&Table { aclrtAllocatorRegister: None, ..table() }).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let stream = Stream::new(&context).unwrap();
    let error = stream.register_allocator(Arc::new(Counting::default())).expect_err("it has none");
    assert!(matches!(error, AclError::Unsupported(it) if it.symbol == "aclrtAllocatorRegister"));
    assert!(DeviceMemory::allocate(&context, 64, MallocPolicy::default()).is_ok());
}
