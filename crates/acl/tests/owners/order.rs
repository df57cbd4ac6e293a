//! Start and end, the current context, and the order of release.

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;

use acl::{
    AclError, DeviceMemory, ErrorKind, MallocPolicy, MemoryKind, PinnedMemory, Runtime, Stream,
    forget_current_context,
};
use acl_sys::{Library, Table};
use serial_test::serial;

use super::fake::{change, fake, primary, reset};
use super::fake_table::table;
use super::promises::{start, start_on};
use super::scene::{one_of_each, use_everything};

/// That nothing is left, no rule was broken, and ACL is ended.
fn assert_clean() {
    let state = fake();
    assert_eq!(state.broken_rules, Vec::<String>::new());
    assert_eq!((state.left(), state.initialised), (0, 0), "{:?}", state.live);
}

#[test]
#[serial]
fn acl_is_initialised_before_all_and_ended_after_all() {
    reset();
    use_everything(&start(&table()).unwrap()).unwrap();
    assert_clean();
    let state = fake();
    assert_eq!(state.log.first(), Some(&"aclInit"));
    assert_eq!(state.log.last(), Some(&"aclFinalizeReference"));
    let after_the_device = &state.log[state.position("aclrtResetDevice") + 1..state.log.len() - 1];
    assert!(after_the_device.iter().all(|call| call.contains("Callback")), "{after_the_device:?}");
}

#[test]
#[serial]
fn two_runtimes_of_one_library_initialise_once_and_end_with_the_last() {
    reset();
    let library = Arc::new(Library::from_table(table()));
    let first = start_on(Arc::clone(&library), None).unwrap();
    let second = start_on(Arc::clone(&library), None).unwrap();
    let device = second.device(1).unwrap();
    drop((first, second));
    assert_eq!((fake().count("aclInit"), fake().count("aclFinalizeReference")), (1, 0));
    drop(device);
    assert_eq!(fake().count("aclFinalizeReference"), 1);
    // And again.
    drop(start_on(library, None).unwrap());
    assert_eq!((fake().count("aclInit"), fake().count("aclFinalizeReference")), (2, 2));
    assert_clean();
}

#[test]
#[serial]
fn a_second_start_with_another_configuration_is_refused() {
    reset();
    let library = Arc::new(Library::from_table(table()));
    let _first = start_on(Arc::clone(&library), Some(Path::new("a.json"))).unwrap();
    let second = start_on(Arc::clone(&library), Some(Path::new("b.json")));
    assert!(matches!(second, Err(AclError::OtherConfiguration)));
    assert!(start_on(library, Some(Path::new("a.json"))).is_ok());
}

#[test]
#[serial]
fn what_others_initialised_is_ended_by_count_or_not_at_all() {
    for (counted, ended) in [(true, 1), (false, 0)] {
        reset();
        change(|state| state.initialised_elsewhere = true);
        let mut table = table();
        if !counted {
            table.aclFinalizeReference = None;
        }
        drop(start(&table).unwrap());
        assert_eq!(fake().count("aclFinalizeReference"), ended);
        assert_eq!(fake().count("aclFinalize"), 0);
    }
}

#[test]
#[serial]
fn without_a_count_of_acl_the_first_to_initialise_ends_it() {
    reset();
    drop(start(&Table { aclFinalizeReference: None, ..table() }).unwrap());
    assert_eq!(fake().log, ["aclInit", "aclFinalize"]);
}

#[test]
#[serial]
fn any_two_owners_may_be_dropped_first_in_either_order() {
    reset();
    let count = one_of_each(start(&table()).unwrap()).unwrap().len();
    for first in 0..count {
        for second in (0..count).filter(|second| *second != first) {
            reset();
            let mut owners: Vec<_> =
                one_of_each(start(&table()).unwrap()).unwrap().into_iter().map(Some).collect();
            owners[first] = None;
            owners[second] = None;
            // The rest from the first made to the last, which is the wrong way round.
            drop(owners);
            assert_clean();
        }
    }
}

#[test]
#[serial]
fn owners_may_be_dropped_on_a_thread_that_never_had_a_context() {
    reset();
    let context = start(&table()).unwrap().device(0).unwrap().create_context().unwrap();
    let stream = Stream::new(&context).unwrap();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    thread::spawn(move || drop((context, stream, memory))).join().unwrap();
    assert_clean();
}

#[test]
#[serial]
fn a_context_that_is_current_is_not_set_again() {
    reset();
    let device = start(&table()).unwrap().device(0).unwrap();
    let (first, second) = (device.primary_context(), device.create_context().unwrap());
    let sets = || fake().count("aclrtSetCurrentContext");
    // Creating made the second current.
    second.synchronize_device().unwrap();
    assert_eq!(sets(), 0);
    for _ in 0..3 {
        first.synchronize_device().unwrap();
    }
    assert_eq!(sets(), 1);
    second.synchronize_device().unwrap();
    first.synchronize_device().unwrap();
    assert_eq!(sets(), 3);
    forget_current_context();
    first.synchronize_device().unwrap();
    assert_eq!(sets(), 4);
}

#[test]
#[serial]
fn two_threads_with_different_contexts_do_not_meet() {
    reset();
    let runtime = start(&table()).unwrap();
    let contexts = [0, 1].map(|number| runtime.device(number).unwrap().create_context().unwrap());
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for context in &contexts {
            scope.spawn(|| {
                let stream = Stream::new(context).unwrap();
                for _ in 0..50 {
                    barrier.wait();
                    // The fake refuses a stream whose context is not the thread's.
                    stream.synchronize().unwrap();
                }
            });
        }
    });
    // One set for each thread.
    assert_eq!(fake().count("aclrtSetCurrentContext"), 2);
    drop((runtime, contexts));
    assert_clean();
}

#[test]
#[serial]
fn a_new_device_is_not_taken_for_the_old_current_one() {
    reset();
    let runtime = start(&table()).unwrap();
    let (zero, one) = (runtime.device(0).unwrap(), runtime.device(1).unwrap());
    // The last device that was set is current.
    let on_zero = Stream::new(&zero.primary_context()).unwrap();
    let on_one = Stream::new(&one.primary_context()).unwrap();
    let made_in: Vec<_> = fake().live.into_values().flat_map(|stream| stream.needs).collect();
    assert_eq!(made_in, [primary(0), primary(1)]);
    on_zero.synchronize().unwrap();
    drop(zero);
    drop(on_zero);
    on_one.synchronize().unwrap();
    let info = one.primary_context().memory_info(MemoryKind::HBM).unwrap();
    assert_eq!((info.free, info.total), (11, 21), "the numbers of device 1");
    drop((one, on_one, runtime));
    assert_clean();
}

#[test]
#[serial]
fn after_abandoning_nothing_is_called_and_all_is_counted_as_leaked() {
    reset();
    let runtime: Runtime = start(&table()).unwrap();
    let owners = one_of_each(runtime.clone()).unwrap();
    let calls = fake().log.len();
    runtime.abandon();
    let error = runtime.device(0).expect_err("abandoned");
    assert_eq!(error.kind(), ErrorKind::NotInitialised);
    let pinned = owners.iter().find_map(|owner| owner.downcast_ref::<PinnedMemory>());
    let read = pinned.map(|pinned| pinned.read(0, &mut [0]));
    assert!(matches!(read, Some(Err(AclError::Abandoned { .. }))));
    drop(owners);
    let errors = runtime.take_release_errors();
    assert_eq!((errors.leaked, errors.failed), (fake().left(), 0));
    assert_eq!(runtime.release_errors().leaked, 0);
    drop(runtime);
    assert_eq!(fake().log.len(), calls);
}

#[test]
#[serial]
fn contexts_are_equal_that_are_one() {
    reset();
    let runtime = start(&table()).unwrap();
    let (zero, one) = (runtime.device(0).unwrap(), runtime.device(1).unwrap());
    let made = zero.create_context().unwrap();
    assert_eq!(zero.primary_context(), zero.primary_context());
    assert_eq!(made, made.clone());
    assert_ne!(zero.primary_context(), one.primary_context());
    assert_ne!(zero.primary_context(), made);
    assert_ne!(made, zero.create_context().unwrap());
}
