//! What foreign code made, and threads that belong to it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use acl::{
    AclError, DeviceMemory, Event, EventFlags, EventStatus, MallocPolicy, MemoryKind, Stream, as_guest,
};
use serial_test::serial;

use super::fake::{ForeignStream, change, current_here, fail_nth, fake, primary, reset, set_current_behind};
use super::fake_table::table;
use super::promises::{foreign_context, foreign_stream, reset_force, start};

#[test]
#[serial]
fn a_foreign_stream_is_used_like_ours_and_never_destroyed() {
    reset();
    let context = start(&table()).unwrap().device(0).unwrap().primary_context();
    let foreign = ForeignStream::new(primary(0));
    let stream = foreign_stream(&context, foreign.0).unwrap();
    assert!(stream.is_foreign());
    let event = Event::new(&context, EventFlags::PROGRESS).unwrap();
    event.record(&stream).unwrap();
    stream.launch_host_function(|| ()).unwrap();
    stream.synchronize().unwrap();
    drop(stream);
    // Nor by force.
    foreign_stream(&context, foreign.0).unwrap().destroy_now().unwrap();
    drop(event);
    assert_eq!((fake().count("aclrtDestroyStream"), fake().count("aclrtDestroyStreamForce")), (0, 0));
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn a_foreign_context_is_made_current_and_never_destroyed() {
    reset();
    let runtime = start(&table()).unwrap();
    let device = runtime.device(0).unwrap();
    let handle = change(|state| {
        let handle = state.handle();
        state.add(handle, "context", vec![primary(0)], 0)
    });
    let context = foreign_context(&device, handle).unwrap();
    let stream = Stream::new(&context).unwrap();
    assert_eq!(current_here(), Some(handle));
    drop((stream, context));
    assert_eq!((fake().count("aclrtDestroyStream"), fake().count("aclrtDestroyContext")), (1, 0));
    change(|state| state.live.remove(&handle));
    drop((device, runtime));
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn null_is_no_handle_and_the_error_says_what_to_do() {
    reset();
    let context = start(&table()).unwrap().device(0).unwrap().primary_context();
    let calls = fake().log.len();
    let error = foreign_stream(&context, 0).expect_err("null");
    assert!(matches!(error, AclError::Argument { parameter: "stream", value: 0, .. }), "{error}");
    let error = foreign_context(&context.device(), 0).expect_err("null");
    assert!(matches!(error, AclError::Argument { parameter: "context", value: 0, .. }), "{error}");
    assert_eq!(fake().log.len(), calls);
    context.default_stream().unwrap().synchronize().unwrap();
}

#[test]
#[serial]
fn a_guest_trusts_nothing_and_puts_back_what_was_current() {
    reset();
    let runtime = start(&table()).unwrap();
    let (zero, one) = (runtime.device(0).unwrap(), runtime.device(1).unwrap());
    let context = zero.primary_context();
    context.synchronize_device().unwrap();
    // The framework sets its own device; this crate does not see that.
    set_current_behind(primary(1));
    let info = as_guest(|| context.memory_info(MemoryKind::HBM)).unwrap();
    assert_eq!((info.free, current_here()), (10, Some(primary(1))), "of device 0, and 1 is current again");
    // Nor is anything of the guest believed afterwards.
    context.synchronize_device().unwrap();
    assert_eq!(fake().synchronised, [primary(0); 2]);
    set_current_behind(primary(1));
    // A guest within a guest, and one that makes devices and contexts.
    as_guest(|| {
        let made = one.create_context().unwrap();
        as_guest(|| drop(runtime.device(0).unwrap()));
        let stream = Stream::new(&made).unwrap();
        as_guest(|| context.synchronize_device()).unwrap();
        // The outer one trusts nothing after the inner one either.
        stream.synchronize().unwrap();
    });
    assert_eq!(current_here(), Some(primary(1)));
    let memory = as_guest(|| DeviceMemory::allocate(&context, 64, MallocPolicy::default())).unwrap();
    as_guest(|| drop(memory));
    assert_eq!((current_here(), fake().broken_rules), (Some(primary(1)), Vec::new()));
}

/// CANN takes away what is current on a thread that resets a device for the last time, also if that is of another device.
#[test]
#[serial]
fn a_guest_that_gives_up_its_device_leaves_the_device_of_its_host() {
    reset();
    let runtime = start(&table()).unwrap();
    // The framework's.
    let theirs = runtime.device(1).unwrap();
    let ours = runtime.device(0).unwrap();
    set_current_behind(primary(1));
    as_guest(|| drop(ours));
    assert_eq!((fake().count("aclrtResetDevice"), current_here()), (1, Some(primary(1))));
    // By force too.
    let ours = runtime.device(0).unwrap();
    set_current_behind(primary(1));
    as_guest(|| reset_force(&ours)).unwrap();
    assert_eq!(current_here(), Some(primary(1)));
    drop(theirs);
    assert_eq!((runtime.release_errors().failed, fake().broken_rules), (0, Vec::new()));
}

#[test]
#[serial]
fn a_thread_that_ends_may_still_be_a_guest() {
    /// Uses the device when the thread's variables go, as a framework's caches do.
    struct AtEnd(acl::Context);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            as_guest(|| self.0.synchronize_device()).unwrap();
        }
    }

    thread_local! {
        static FIRST: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
        static LAST: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
    }

    reset();
    let context = start(&table()).unwrap().device(0).unwrap().primary_context();
    let thread = std::thread::spawn(move || {
        // One goes after the variables of this crate and one before, whichever way round that is.
        FIRST.set(Some(AtEnd(context.clone())));
        as_guest(|| context.synchronize_device()).unwrap();
        LAST.set(Some(AtEnd(context)));
    });
    // Only joining waits for the variables too.
    thread.join().unwrap();
    assert_eq!(fake().synchronised, [primary(0); 3]);
}

#[test]
#[serial]
fn a_guest_that_panics_puts_back_too() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let _other = runtime.device(1).unwrap();
    set_current_behind(primary(1));
    let panics = || {
        as_guest(|| {
            context.synchronize_device().unwrap();
            panic!("in a guest, as the test wants")
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(current_here(), Some(primary(1)));
}

#[test]
#[serial]
fn a_guest_that_needs_no_context_calls_nothing() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let event = Event::new(&context, EventFlags::ORDER).unwrap();
    let calls = fake().log.len();
    assert_eq!(as_guest(|| event.query()).unwrap(), EventStatus::NotRecorded);
    assert_eq!(fake().log.len(), calls);
}

#[test]
#[serial]
fn on_a_thread_without_a_context_there_is_nothing_to_put_back() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    std::thread::scope(|scope| {
        scope.spawn(|| as_guest(|| context.synchronize_device()).unwrap());
    });
    assert_eq!(runtime.release_errors().failed, 0);
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn what_could_not_be_put_back_is_not_changed_or_is_counted() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let _other = runtime.device(1).unwrap();
    set_current_behind(primary(1));
    // Not even known: the guest is refused, and the framework's context stays.
    fail_nth("aclrtGetCurrentContext", 1);
    assert!(as_guest(|| context.synchronize_device()).is_err());
    assert_eq!(current_here(), Some(primary(1)));
    // Known, but refused at the end.
    fail_nth("aclrtSetCurrentContext", 2);
    as_guest(|| context.synchronize_device()).unwrap();
    assert_eq!(runtime.take_release_errors().failed, 1);
}
