//! Copies, bounds, mappings and host functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use acl::{
    AclError, Context, DeviceMemory, Event, EventFlags, EventStatus, MallocPolicy, PageKind, PhysicalMemory,
    PinnedMemory, Reservation, Stream,
};
use serial_test::serial;

use super::fake::{fail_next, fake, reset};
use super::fake_table::table;
use super::promises::{copy_through, start};

fn context() -> Context {
    reset();
    start(&table()).unwrap().device(0).unwrap().primary_context()
}

#[test]
#[serial]
fn bytes_go_to_the_device_and_come_back() {
    let context = context();
    let from = DeviceMemory::allocate(&context, 100, MallocPolicy::default()).unwrap();
    let to = DeviceMemory::allocate(&context, 100, MallocPolicy::default()).unwrap();
    to.as_slice().fill(7).unwrap();
    from.as_slice().slice(10, 5).unwrap().write(b"bytes").unwrap();
    to.as_slice().slice(50, 20).unwrap().copy_from(&from.as_slice().slice(10, 5).unwrap()).unwrap();
    let mut bytes = [0; 100];
    to.as_slice().read(&mut bytes).unwrap();
    assert_eq!((&bytes[50..55], bytes[49], bytes[55]), (&b"bytes"[..], 7, 7));
}

#[test]
#[serial]
fn no_range_leaves_its_memory() {
    let context = context();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    let mut pinned = PinnedMemory::allocate(&context, 64).unwrap();
    let stream = Stream::new(&context).unwrap();
    let all = memory.as_slice();
    let calls = fake().log.len();
    let is_out = |result: Result<(), AclError>| matches!(result, Err(AclError::OutOfBounds { .. }));
    assert!(is_out(all.slice(1, 64).map(drop)) && is_out(all.slice(usize::MAX, 2).map(drop)));
    assert!(is_out(all.write(&[0; 65])) && is_out(all.read(&mut [0; 65])));
    assert!(is_out(all.slice(60, 4).unwrap().copy_from(&all)));
    assert!(is_out(pinned.write(60, &[0; 5])) && is_out(pinned.read(65, &mut [])));
    assert!(is_out(copy_through(&stream, all, &pinned, 1).and_then(|()| all.write(&[]))));
    // Only the first half of the last line reached ACL; nothing is called for no bytes.
    assert_eq!(fake().log.len() - calls, 1);
    all.slice(64, 0).unwrap().fill(1).unwrap();
    assert_eq!(fake().log.len() - calls, 1);
}

#[test]
#[serial]
fn pinned_memory_is_zero_at_first() {
    let pinned = PinnedMemory::allocate(&context(), 33).unwrap();
    let mut bytes = [1; 33];
    pinned.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 33]);
}

#[test]
#[serial]
fn mappings_of_a_reservation_do_not_overlap_and_leave_room_when_gone() {
    let context = context();
    let reservation = Reservation::new(&context, 256).unwrap();
    let physical = PhysicalMemory::allocate(&context, 128, PageKind::HUGE).unwrap();
    let mapping = reservation.map(64, &physical).unwrap();
    assert_eq!((mapping.address() - reservation.address(), mapping.size()), (64, 128));
    assert!(matches!(reservation.map(128, &physical), Err(AclError::Argument { .. })));
    assert!(matches!(reservation.map(192, &physical), Err(AclError::OutOfBounds { .. })));
    mapping.as_slice().write(&[3; 128]).unwrap();
    drop(mapping);
    reservation.map(128, &physical).unwrap().unmap().unwrap();
    assert_eq!((fake().count("aclrtMapMem"), fake().count("aclrtUnmapMem")), (2, 2));
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
fn a_host_function_runs_once_and_its_panic_ends_in_it() {
    let stream = Stream::new(&context()).unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&ran);
    stream
        .launch_host_function(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            panic!("in a host function, as the test wants");
        })
        .unwrap();
    assert_eq!((ran.load(Ordering::Relaxed), Arc::strong_count(&ran)), (1, 1));
}

#[test]
#[serial]
fn a_host_function_that_is_not_launched_is_dropped() {
    let stream = Stream::new(&context()).unwrap();
    let held = Arc::new(());
    let moved = Arc::clone(&held);
    fail_next();
    assert!(stream.launch_host_function(move || drop(moved)).is_err());
    assert_eq!(Arc::strong_count(&held), 1);
}
