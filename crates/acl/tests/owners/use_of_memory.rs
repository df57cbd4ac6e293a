//! Copies, bounds, mappings, values, models and host functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use acl::{
    AclError, AddressRange, Context, DeviceMemory, ErrorKind, Event, EventFlags, MallocPolicy, MemoryPlace,
    Model, PageKind, PhysicalMemory, PinnedMemory, Reservation, Stream, ValueComparison,
};
use serial_test::serial;

use super::fake::{change, fail_next, fake, reset};
use super::fake_table::table;
use super::promises::{copy_through, start, wait_value, write_value};

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

#[test]
#[serial]
fn a_value_is_written_and_awaited_at_a_multiple_of_8_with_8_bytes_behind_it() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let memory = DeviceMemory::allocate(&context, 32, MallocPolicy::default()).unwrap();
    let all = memory.as_slice();
    write_value(&stream, all.slice(8, 8).unwrap(), u64::MAX).unwrap();
    let mut bytes = [0; 17];
    all.read(&mut bytes).unwrap();
    assert_eq!((bytes[8..16].iter().all(|byte| *byte == 0xFF), bytes[16]), (true, 0x55));
    // The fake breaks a rule where the stream would wait for ever. The comparison goes over the end of the numbers.
    for (value, comparison) in [
        (u64::MAX, ValueComparison::Equal),
        (u64::MAX - 1, ValueComparison::GreaterOrEqual),
        (4, ValueComparison::AnyBit),
    ] {
        wait_value(&stream, all.slice(8, 8).unwrap(), value, comparison).unwrap();
    }
    write_value(&stream, all, 2).unwrap();
    wait_value(&stream, all, u64::MAX, ValueComparison::GreaterOrEqual).unwrap();
    wait_value(&stream, all, 1, ValueComparison::NeitherBit).unwrap();
    let calls = fake().log.len();
    let unaligned = write_value(&stream, all.slice(4, 8).unwrap(), 0).expect_err("not a multiple of 8");
    assert!(matches!(unaligned, AclError::Argument { parameter: "address", .. }));
    let short =
        wait_value(&stream, all.slice(8, 7).unwrap(), 0, ValueComparison::Equal).expect_err("7 bytes");
    assert!(matches!(short, AclError::OutOfBounds { length: 8, size: 7, .. }));
    assert_eq!((fake().log.len(), fake().broken_rules), (calls, Vec::new()));
}

#[test]
#[serial]
fn memory_is_booked_on_the_module_that_is_named_or_on_none() {
    let context = context();
    for module in [Some(33), None, Some(7)] {
        drop(DeviceMemory::allocate_for_module(&context, 64, MallocPolicy::HIGH_BANDWIDTH, module).unwrap());
    }
    assert_eq!(fake().modules, [33, 7]);
    // More modules than there is room for.
    change(|state| state.modules_found = 500);
    assert_eq!(context.device().memory_by_module().unwrap().len(), 128);
}

#[test]
#[serial]
fn damaged_memory_is_told_by_ranges() {
    let context = context();
    let device = context.device();
    assert_eq!(device.damaged_memory().unwrap(), []);
    // To the fake all memory is damaged in its first 32 bytes.
    let memory = DeviceMemory::allocate(&context, 100, MallocPolicy::default()).unwrap();
    assert_eq!(device.damaged_memory().unwrap(), [AddressRange { base: memory.address(), size: 32 }]);
}

#[test]
#[serial]
fn an_address_is_known_by_the_memory_it_lies_in() {
    let context = context();
    let memory = DeviceMemory::allocate(&context, 100, MallocPolicy::default()).unwrap();
    let pinned = PinnedMemory::allocate(&context, 100).unwrap();
    let place = |address| context.address_info(address).unwrap().place;
    assert_eq!(place(memory.address() + 99), MemoryPlace::Device(0));
    assert_eq!(place(memory.address() + 100), MemoryPlace::Unregistered);
    let range = context.address_range(memory.address() + 50).unwrap();
    assert_eq!((range.base, range.size), (memory.address(), 100));
    assert!(context.address_range(memory.address() + 100).is_err());
    assert_eq!(context.address_info(0).expect_err("null").kind(), ErrorKind::InvalidArgument);
    drop((memory, pinned));
}

#[test]
#[serial]
fn a_model_keeps_the_bytes_that_it_was_loaded_from() {
    let context = context();
    let bytes: Arc<[u8]> = Arc::from(vec![1; 64]);
    let model = Model::load_from_memory(&context, Arc::clone(&bytes)).unwrap();
    assert_eq!(Arc::strong_count(&bytes), 2);
    drop(model);
    assert_eq!(Arc::strong_count(&bytes), 1);
    fail_next();
    assert!(Model::load_from_memory(&context, Arc::clone(&bytes)).is_err());
    assert_eq!(Arc::strong_count(&bytes), 1);
}

#[test]
#[serial]
fn a_wait_that_runs_out_is_busy_and_not_lost() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context, EventFlags::PROGRESS).unwrap();
    event.record(&stream).unwrap();
    // The fake runs out after the shortest time that ACL can be asked to wait.
    let of_device = context.synchronize_device_for(Duration::ZERO);
    for answer in [stream.synchronize_for(Duration::ZERO), event.synchronize_for(Duration::ZERO), of_device] {
        assert_eq!(answer.expect_err("it ran out").kind(), ErrorKind::Busy);
    }
    stream.synchronize_for(Duration::from_secs(1)).unwrap();
}

#[test]
#[serial]
fn a_stream_that_could_not_be_destroyed_by_force_comes_back() {
    let stream = Stream::new(&context()).unwrap();
    fail_next();
    let refused = stream.destroy_now().expect_err("told to fail");
    refused.owner.synchronize().unwrap();
    refused.owner.destroy_now().unwrap();
    assert_eq!(fake().count("aclrtDestroyStream"), 0);
}
