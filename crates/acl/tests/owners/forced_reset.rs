//! A device that is reset for all, whatever its owners have on it.

use acl::{
    AclError, DeviceMemory, Event, EventFlags, MallocPolicy, PinnedMemory, ReleaseErrors, Stream, as_guest,
};
use serial_test::serial;

use super::fake::{fail_next, fake, reset};
use super::fake_table::table;
use super::promises::{reset_force, start};
use super::scene::{one_of_each, use_everything};

fn is_reset<T>(answer: Result<T, AclError>) -> bool {
    answer.is_err_and(|error| matches!(error, AclError::DeviceReset { number: 0, .. }))
}

#[test]
#[serial]
fn owners_of_all_kinds_go_without_a_call_after_a_forced_reset() {
    reset();
    let runtime = start(&table()).unwrap();
    let mut owners = one_of_each(runtime.clone()).unwrap();
    reset_force(&runtime.device(0).unwrap()).unwrap();
    let calls = fake().log.len();
    // The runtime is the first of them, and a watch of it the second.
    owners.drain(2..);
    assert_eq!(fake().log.len(), calls);
    // Only the allocator of a stream is left: ACL may find it again at the stream's address.
    let errors = runtime.take_release_errors();
    assert_eq!((errors.failed, errors.leaked), (0, 1));
    drop((owners, runtime));
    assert_eq!((fake().initialised, fake().count("aclFinalizeReference")), (0, 1));
}

#[test]
#[serial]
fn all_owners_of_the_device_are_told_and_the_other_device_goes_on() {
    reset();
    let runtime = start(&table()).unwrap();
    // Two parts of a program that know nothing of one another.
    let (one, other) = (runtime.device(0).unwrap(), runtime.device(0).unwrap());
    let untouched = runtime.device(1).unwrap().primary_context();
    let context = other.create_context().unwrap();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context, EventFlags::ORDER).unwrap();
    event.record(&stream).unwrap();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    let mut pinned = PinnedMemory::allocate(&context, 64).unwrap();
    reset_force(&one).unwrap();

    let calls = fake().log.len();
    assert!(is_reset(stream.synchronize()) && is_reset(event.query()) && is_reset(memory.as_slice().fill(0)));
    assert!(is_reset(pinned.read(0, &mut [0])) && is_reset(pinned.write(0, &[0])));
    assert!(is_reset(Stream::new(&one.primary_context())) && is_reset(one.create_context()));
    assert!(is_reset(as_guest(|| context.synchronize_device())));
    assert!(is_reset(reset_force(&other)), "once is enough");
    assert_eq!(fake().log.len(), calls);
    let refused = memory.free().expect_err("it is gone");
    assert!(is_reset(Err::<(), _>(refused.error)));

    untouched.synchronize_device().unwrap();
    drop((one, other, context, stream, event, refused.owner, pinned, untouched));
    assert_eq!(runtime.release_errors(), ReleaseErrors::default());
    drop(runtime);
    assert_eq!((fake().left(), fake().broken_rules), (0, Vec::new()));
}

#[test]
#[serial]
fn a_device_that_was_reset_is_opened_anew_beside_what_is_left_of_the_old_one() {
    reset();
    let runtime = start(&table()).unwrap();
    let old = runtime.device(0).unwrap();
    let old_stream = Stream::new(&old.primary_context()).unwrap();
    reset_force(&old).unwrap();
    // Its own context has the same handle as before, which must not be mixed up.
    let new = runtime.device(0).unwrap();
    let stream = Stream::new(&new.primary_context()).unwrap();
    assert!(is_reset(old_stream.synchronize()));
    drop((old_stream, old));
    stream.synchronize().unwrap();
    drop((stream, new));
    use_everything(&runtime).unwrap();
    drop(runtime);
    assert_eq!((fake().left(), fake().broken_rules), (0, Vec::new()));
}

#[test]
#[serial]
fn a_forced_reset_that_is_refused_changes_nothing() {
    reset();
    let runtime = start(&table()).unwrap();
    let device = runtime.device(0).unwrap();
    let stream = Stream::new(&device.primary_context()).unwrap();
    fail_next();
    assert!(reset_force(&device).is_err());
    stream.synchronize().unwrap();
    drop((stream, device, runtime));
    assert_eq!((fake().left(), fake().broken_rules), (0, Vec::new()));
}
