//! What users of other pools and allocators ran into, tried on the wrapper. The names begin with the numbers of the project's
//! list of such reports.

use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use acl::{
    AclCode, AclError, Context, DeviceMemory, ErrorKind, Event, EventCache, EventFlags, EventStatus,
    MallocPolicy, MemoryKind, Model, PageKind, PhysicalMemory, Reservation, Runtime, Stream, as_guest,
    granularity,
};
use serial_test::serial;
use tracing::span::{Attributes, Id, Record};

use super::fake::{ForeignStream, TOLD_TO_FAIL, change, fail_nth, fake, primary, reset, set_current_behind};
use super::fake_table::table;
use super::promises::{foreign_stream, reset_force, start};

fn context() -> Context {
    reset();
    start(&table()).unwrap().device(0).unwrap().primary_context()
}

/// Counts what is traced.
#[derive(Default)]
struct Lines(AtomicUsize);

impl tracing::Subscriber for Lines {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The number of lines that `work` traces.
fn lines(work: impl FnOnce()) -> usize {
    let lines = Arc::new(Lines::default());
    tracing::subscriber::with_default(Arc::clone(&lines), work);
    lines.0.load(Ordering::Relaxed)
}

#[test]
#[serial]
fn c4_an_allocation_that_fails_is_one_error_and_no_line_and_a_dying_device_does_not_flood_the_log() {
    let context = context();
    let before = fake().left();
    change(|state| state.fail_code = AclCode::MEMORY_ALLOCATION.0);
    fail_nth("aclrtMallocPhysical", 0);
    let told = lines(|| {
        for _ in 0..300 {
            let error = PhysicalMemory::allocate(&context, 4096, PageKind::HUGE).expect_err("told to fail");
            assert_eq!(
                (error.kind(), error.code()),
                (ErrorKind::OutOfMemory, Some(AclCode::MEMORY_ALLOCATION))
            );
        }
    });
    assert_eq!((told, fake().left()), (0, before));
    // Only destructors have nobody to tell: once, and then at each doubling.
    fail_nth("aclrtFree", 0);
    let told = lines(|| {
        for _ in 0..300 {
            drop(DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap());
        }
    });
    assert_eq!((told, context.device().runtime().release_errors().failed), (9, 300));
}

#[test]
#[serial]
fn c5_a_device_that_is_not_there_is_named_and_no_thread_needs_a_context_of_its_own() {
    reset();
    let runtime = start(&table()).unwrap();
    for number in [2, -1] {
        let error = runtime.device(number).expect_err("there are two");
        assert!(matches!(error, AclError::NoSuchDevice { count: 2, .. }), "{error}");
        assert_eq!((error.kind(), fake().left()), (ErrorKind::InvalidArgument, 0));
        let text = error.to_string();
        assert!(text.contains(&format!("device is {number}")) && text.contains("aclrtSetDevice"), "{text}");
    }
    let context = runtime.device(1).unwrap().primary_context();
    let asked = thread::scope(|scope| scope.spawn(|| granularity(&context, PageKind::HUGE)).join());
    assert!(asked.unwrap().is_ok());
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
fn c6_without_cann_the_error_says_where_it_was_looked_for_and_what_to_do() {
    let test = "reported_elsewhere::child_that_finds_no_library";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored"]).env(acl_sys::LIBRARY_VARIABLE, "/nowhere/libascendcl.so");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "started by another test in a process of its own, with a variable set"]
fn child_that_finds_no_library() {
    let error = Runtime::start().expect_err("there is nothing there");
    assert_eq!(error.kind(), ErrorKind::NotInitialised);
    let text = error.to_string();
    for part in ["install CANN", "set_env.sh", acl_sys::LIBRARY_VARIABLE, "/nowhere/libascendcl.so"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
#[serial]
fn c24_memory_can_be_asked_for_on_a_new_thread_and_after_the_end_it_is_an_error() {
    let context = context();
    let ask = || thread::scope(|scope| scope.spawn(|| context.memory_info(MemoryKind::HBM)).join().unwrap());
    assert!(ask().is_ok());
    reset_force(&context.device()).unwrap();
    let error = ask().expect_err("the device is gone");
    assert_eq!(error, AclError::DeviceReset { number: 0, call: "aclrtSetCurrentContext" });
    assert_eq!(error.kind(), ErrorKind::NotInitialised);
    let context = context.device().runtime().device(0).unwrap().primary_context();
    assert!(context.memory_info(MemoryKind::HBM).is_ok(), "opened anew");
    context.device().runtime().abandon();
    let error = context.memory_info(MemoryKind::HBM).expect_err("ACL is gone");
    assert_eq!(error.kind(), ErrorKind::NotInitialised);
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn c27c_out_of_memory_stays_so_through_a_chain_of_errors_and_the_modules_say_whose_the_memory_is() {
    #[derive(Debug, thiserror::Error)]
    #[error("the server did not start")]
    struct NotStarted(#[source] AclError);

    let context = context();
    change(|state| state.fail_code = AclCode::GE_MEMORY_ALLOCATION.0);
    fail_nth("aclmdlLoadFromFile", 1);
    let error = Model::load(&context, "net.om".as_ref()).map_err(NotStarted).expect_err("told to fail");
    let cause = error.source().and_then(|cause| cause.downcast_ref::<AclError>()).expect("it is kept");
    assert_eq!((cause.kind(), cause.code()), (ErrorKind::OutOfMemory, Some(AclCode(245_000))));
    assert_eq!(cause.detail(), Some("EE9999: aclmdlLoadFromFile was told to fail"));
    let rows: Vec<_> = context.device().memory_by_module().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(rows, [format!("GE{:>38}{:>12}", 7, 9), format!("RUNTIME{:>33}{:>12}", 7, 9)]);
}

#[test]
#[serial]
fn c29_the_device_of_the_context_is_waited_for_whichever_is_current() {
    reset();
    let runtime = start(&table()).unwrap();
    let contexts = [0, 1].map(|number| runtime.device(number).unwrap().primary_context());
    contexts[0].synchronize_device().unwrap();
    contexts[1].make_current().unwrap();
    contexts[0].synchronize_device().unwrap();
    // Set by a framework that this crate does not see, but whose guest it is.
    set_current_behind(primary(1));
    as_guest(|| contexts[0].synchronize_device()).unwrap();
    assert_eq!(fake().synchronised, [primary(0); 3]);
}

#[test]
#[serial]
fn c31_a_map_that_fails_halfway_undoes_the_mapped_part() {
    let context = context();
    let before = fake().left();
    let reservation = Reservation::new(&context, 8 * 4096).unwrap();
    fail_nth("aclrtMapMem", 5);
    let grown: Result<Vec<_>, AclError> = (0..8)
        .map(|index| {
            let physical = PhysicalMemory::allocate(&context, 4096, PageKind::HUGE)?;
            reservation.map(index * 4096, &physical)
        })
        .collect();
    assert_eq!(grown.expect_err("the fifth failed").code(), Some(AclCode(TOLD_TO_FAIL)));
    assert_eq!((fake().count("aclrtUnmapMem"), fake().count("aclrtFreePhysical")), (4, 5));
    assert_eq!(fake().left(), before + 1, "the reservation, which can be used again");
    let physical = PhysicalMemory::allocate(&context, 4 * 4096, PageKind::HUGE).unwrap();
    drop(reservation.map(4096, &physical).unwrap());
    drop((physical, reservation));
    assert_eq!((fake().left(), fake().broken_rules), (before, Vec::new()));
}

#[test]
#[serial]
fn c40_an_event_is_asked_for_after_its_stream_is_gone_and_the_stream_is_not_touched() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let foreign = ForeignStream::new(primary(0));
    let events: Vec<_> = (0..2).map(|_| Event::new(&context, EventFlags::PROGRESS).unwrap()).collect();
    events[0].record(&stream).unwrap();
    let borrowed = foreign_stream(&context, foreign.0).unwrap();
    events[1].record(&borrowed).unwrap();
    drop((stream, borrowed, foreign));
    for event in &events {
        assert_eq!(event.query().unwrap(), EventStatus::Complete);
        event.synchronize().unwrap();
    }
    drop(events);
    // The fake tells of every call with a stream that is gone.
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn c51_an_event_is_not_recorded_on_a_stream_of_another_device() {
    reset();
    let runtime = start(&table()).unwrap();
    let contexts = [0, 1].map(|number| runtime.device(number).unwrap().create_context().unwrap());
    let streams = [0, 1].map(|number| Stream::new(&contexts[number]).unwrap());
    let caches = [0, 1].map(|number| EventCache::new(&contexts[number], EventFlags::PROGRESS));
    // One thread, now on one device and now on the other.
    for _ in 0..3 {
        for number in [0, 1] {
            assert_eq!(
                caches[number].record(&streams[number]).unwrap().query().unwrap(),
                EventStatus::Complete
            );
        }
    }
    assert_eq!(fake().count("aclrtCreateEventExWithFlag"), 2, "one for each device");
    let records = fake().count("aclrtRecordEvent");
    let expected = AclError::OtherDevice { event: 0, stream: 1 };
    assert_eq!(caches[0].record(&streams[1]).expect_err("another device"), expected);
    let event = Event::new(&contexts[0], EventFlags::ORDER).unwrap();
    assert_eq!(event.record(&streams[1]).expect_err("another device"), expected);
    assert_eq!(event.query().unwrap(), EventStatus::NotRecorded);
    assert_eq!(fake().count("aclrtRecordEvent"), records);
    // Another context of the same device is no other device.
    event.record(&Stream::new(&runtime.device(0).unwrap().primary_context()).unwrap()).unwrap();
    assert_eq!(fake().broken_rules, Vec::<String>::new());
}

#[test]
#[serial]
fn c89_whichever_step_of_mapping_fails_all_handles_are_given_back() {
    let context = context();
    let before = fake().left();
    let map = || -> Result<(), AclError> {
        let size = granularity(&context, PageKind::HUGE)?;
        let reservation = Reservation::new(&context, size)?;
        let physical = PhysicalMemory::allocate(&context, size, PageKind::HUGE)?;
        reservation.map(0, &physical)?.allow_access(1)
    };
    for call in [
        "aclrtMemGetAllocationGranularity",
        "aclrtReserveMemAddress",
        "aclrtMallocPhysical",
        "aclrtMapMem",
        "aclrtMemSetAccess",
    ] {
        fail_nth(call, 1);
        let error = map().expect_err(call);
        assert_eq!(error.failed_call().map(|failed| failed.call), Some(call));
        assert_eq!(fake().left(), before, "{call}");
    }
    map().unwrap();
    assert_eq!((fake().left(), fake().broken_rules), (before, Vec::new()));
}
