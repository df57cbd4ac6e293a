//! Events, and the cache that keeps them.

use acl::{AclError, Context, ErrorKind, Event, EventCache, EventFlags, EventStatus, Stream};
use acl_sys::Table;
use serial_test::serial;

use super::fake::{change, fail_next, fail_nth, fake, reset};
use super::fake_table::table;
use super::promises::start;

fn context() -> Context {
    reset();
    start(&table()).unwrap().device(0).unwrap().primary_context()
}

#[test]
#[serial]
fn an_event_that_was_never_recorded_is_not_asked_for() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context, EventFlags::ORDER).unwrap();
    assert_eq!(event.query().unwrap(), EventStatus::NotRecorded);
    assert!(matches!(stream.wait(&event), Err(AclError::NotRecorded { .. })));
    assert!(matches!(event.synchronize(), Err(AclError::NotRecorded { .. })));
    assert_eq!((fake().count("aclrtQueryEventStatus"), fake().count("aclrtStreamWaitEvent")), (0, 0));
    event.record(&stream).unwrap();
    assert_eq!(event.query().unwrap(), EventStatus::Complete);
}

#[test]
#[serial]
fn an_event_of_the_newer_sort_is_recorded_again_without_more_ado() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context, EventFlags::PROGRESS).unwrap();
    assert!(event.is_reusable() && !Event::legacy(&context).unwrap().is_reusable());
    let calls = fake().log.len();
    for _ in 0..3 {
        event.record(&stream).unwrap();
        assert_eq!(event.query().unwrap(), EventStatus::Complete);
    }
    assert_eq!(fake().log[calls..], ["aclrtRecordEvent", "aclrtQueryEventStatus"].repeat(3));
}

#[test]
#[serial]
fn a_cache_makes_as_many_events_as_are_in_use_at_a_time() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    for _ in 0..3 {
        let held: Vec<_> = (0..4).map(|_| events.record(&stream).unwrap()).collect();
        assert_eq!(events.idle(), 0);
        assert!(held.iter().all(|event| event.query().unwrap() == EventStatus::Complete));
        drop(held);
        assert_eq!(events.idle(), 4);
    }
    assert_eq!((fake().count("aclrtCreateEventExWithFlag"), fake().count("aclrtRecordEvent")), (4, 12));
    events.clear();
    assert_eq!((events.idle(), fake().count("aclrtDestroyEvent")), (0, 4));
}

#[test]
#[serial]
fn an_event_may_outlive_its_cache_and_is_destroyed_then() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    let (held, kept) = (events.record(&stream).unwrap(), events.record(&stream).unwrap());
    drop(kept);
    drop((events, stream));
    assert_eq!(held.query().unwrap(), EventStatus::Complete);
    drop((held, context));
    assert_eq!((fake().left(), fake().broken_rules), (0, Vec::new()));
}

#[test]
#[serial]
fn an_event_that_could_not_be_recorded_is_kept_and_asks_to_be_recorded() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    fail_nth("aclrtRecordEvent", 1);
    assert!(events.record(&stream).is_err());
    assert_eq!((events.idle(), fake().count("aclrtDestroyEvent")), (1, 0));
    drop(events.record(&stream).unwrap());
    fail_next();
    assert!(events.record(&stream).is_err());
    assert_eq!(fake().count("aclrtCreateEventExWithFlag"), 1);
}

#[test]
#[serial]
fn of_a_device_without_events_left_the_error_says_so_and_the_cache_goes_on() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    let held = events.record(&stream).unwrap();
    change(|state| state.fail_code = acl::AclCode::NO_EVENT_RESOURCE.0);
    fail_nth("aclrtCreateEventExWithFlag", 0);
    assert_eq!(events.record(&stream).expect_err("none is left").kind(), ErrorKind::OutOfMemory);
    drop(held);
    assert!(events.record(&stream).is_ok());
}

#[test]
#[serial]
fn events_of_an_older_library_are_not_kept() {
    reset();
    let runtime = start(&Table { aclrtCreateEventExWithFlag: None, ..table() }).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let stream = Stream::new(&context).unwrap();
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    drop(events.record(&stream).unwrap());
    drop(events.record(&stream).unwrap());
    let made = fake().count("aclrtCreateEventWithFlag");
    assert_eq!((events.idle(), made, fake().count("aclrtDestroyEvent")), (0, 2, 2));
}
