//! Calls that fail, and functions that are not there.

use acl::{
    AclCode, AclError, DeviceMemory, ErrorKind, MallocPolicy, MemoryPool, PageKind, PhysicalMemory,
    Reservation, Stream,
};
use acl_sys::Table;
use serial_test::serial;

use super::coverage::wrapped;
use super::fake::{TOLD_TO_FAIL, change, fail_next, fake, reset};
use super::fake_table::table;
use super::promises::start;
use super::scene::use_everything;

#[test]
#[serial]
fn whichever_call_fails_nothing_is_left_but_what_could_not_be_released() {
    reset();
    use_everything(&start(&table()).unwrap()).unwrap();
    let calls = fake().log.len();
    assert!(calls > 60, "{calls}");
    let mut failed_releases = 0;
    for n in 1..=calls {
        reset();
        change(|state| state.fail_at = Some(n));
        let Ok(runtime) = start(&table()) else {
            assert_eq!(fake().failed_call, Some("aclInit"));
            assert_eq!((fake().left(), fake().initialised), (0, 0));
            continue;
        };
        let result = use_everything(&runtime);
        let errors = runtime.take_release_errors();
        let left = fake().left();
        assert_eq!(left, errors.failed + errors.leaked, "call {n}: {:?}", fake().failed_call);
        if errors.failed == 0 {
            assert_eq!(fake().broken_rules, Vec::<String>::new(), "call {n}: {:?}", fake().failed_call);
        } else {
            failed_releases += 1;
            assert_eq!(errors.last.and_then(|error| error.code()), Some(AclCode(TOLD_TO_FAIL)), "call {n}");
        }
        if fake().failed_call.is_some() && left == 0 {
            let failed = fake().failed_call;
            let error =
                result.expect_err(&format!("{failed:?} failed, which was no release in a destructor"));
            let made_without_code = matches!(error, AclError::NoResult { .. });
            assert!(made_without_code || error.code() == Some(AclCode(TOLD_TO_FAIL)), "call {n}: {error}");
        }
        drop(runtime);
        let end_failed = fake().failed_call == Some("aclFinalizeReference");
        assert_eq!(fake().initialised, u64::from(end_failed), "call {n}");
    }
    assert!(failed_releases > 10, "{failed_releases}");
}

/// A device that is lost answers everything with an error, from some call on.
#[test]
#[serial]
fn from_whichever_call_on_all_fail_nothing_panics_and_all_that_is_left_is_counted() {
    reset();
    use_everything(&start(&table()).unwrap()).unwrap();
    let calls = fake().log.len();
    for n in 2..=calls {
        reset();
        change(|state| state.fail_from = Some(n));
        let runtime = start(&table()).unwrap();
        let result = use_everything(&runtime);
        let errors = runtime.take_release_errors();
        assert_eq!(fake().left(), errors.failed + errors.leaked, "from call {n}");
        assert!(result.is_err() || errors.failed > 0 || n == calls, "from call {n}");
        // Nor is the end of the runtime a panic.
        drop(runtime);
    }
}

#[test]
#[serial]
fn an_error_has_the_call_the_code_and_the_text_of_the_driver() {
    reset();
    let context = start(&table()).unwrap().device(0).unwrap().primary_context();
    fail_next();
    let error = DeviceMemory::allocate(&context, 64, MallocPolicy::HUGE_ONLY).expect_err("told to fail");
    let AclError::Call(failed) = &error else { panic!("{error:?}") };
    assert_eq!((failed.code, failed.call), (AclCode(TOLD_TO_FAIL), "aclrtMalloc"));
    assert_eq!(failed.detail.as_deref(), Some("EE9999: aclrtMalloc was told to fail"));
}

#[test]
#[serial]
fn a_library_without_texts_gives_errors_without_texts() {
    reset();
    let runtime = start(&Table { aclGetRecentErrMsg: None, ..table() }).unwrap();
    let error = runtime.device(5).expect_err("there are two devices");
    assert_eq!((error.kind(), error.detail()), (ErrorKind::InvalidArgument, None));
    assert_eq!(fake().left(), 0);
}

#[test]
#[serial]
fn out_of_memory_is_told_apart_and_leaves_nothing() {
    reset();
    let context = start(&table()).unwrap().device(0).unwrap().primary_context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::create(&context, 0).unwrap();
    change(|state| state.capacity = 100);
    let before = fake().left();
    let error = DeviceMemory::allocate(&context, 101, MallocPolicy::default()).expect_err("too much");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    // CANN's pool has no code of its own for it.
    assert_eq!(pool.allocate(101, &stream).expect_err("too much").kind(), ErrorKind::OutOfMemory);
    let error = DeviceMemory::allocate(&context, 0, MallocPolicy::default()).expect_err("nothing asked");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(fake().left(), before);
}

#[test]
#[serial]
fn whichever_function_is_missing_it_is_named_and_nothing_is_left_in_silence() {
    // Those without which the same is done in another way.
    let replaced =
        ["aclGetRecentErrMsg", "aclFinalizeReference", "aclFinalize", "aclrtCreateEventExWithFlag"];
    let only_as_replacement = ["aclrtCreateEventWithFlag"];
    let mut missed = 0;
    for missing in wrapped() {
        if replaced.contains(&&*missing) || only_as_replacement.contains(&&*missing) {
            continue;
        }
        reset();
        let runtime = match start(&table().without(&missing)) {
            Ok(runtime) => runtime,
            Err(error) => {
                assert!(matches!(error, AclError::Unsupported(it) if it.symbol == "aclInit"), "{missing}");
                continue;
            }
        };
        let result = use_everything(&runtime);
        let errors = runtime.take_release_errors();
        let error = result.err().or(errors.last);
        assert!(
            matches!(error, Some(AclError::Unsupported(it)) if it.symbol == missing),
            "{missing}: {error:?}"
        );
        assert_eq!(fake().left(), errors.failed + errors.leaked, "{missing}");
        missed += 1;
    }
    assert!(missed > 80, "{missed}");
}

#[test]
#[serial]
fn without_events_of_the_newer_sort_the_older_one_serves() {
    reset();
    let runtime = start(&Table { aclrtCreateEventExWithFlag: None, ..table() }).unwrap();
    use_everything(&runtime).unwrap();
    assert_eq!(fake().count("aclrtCreateEventWithFlag"), 1);
}

#[test]
#[serial]
fn a_free_that_is_refused_gives_the_memory_back() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    fail_next();
    let refused = memory.free().expect_err("told to fail");
    assert_eq!(refused.error.code(), Some(AclCode(TOLD_TO_FAIL)));
    refused.owner.as_slice().write(&[1; 64]).unwrap();
    refused.owner.free_after_device().unwrap();
    assert_eq!(fake().count("aclrtFreeWithDevSync"), 1);
    // What the caller was told is not told again.
    assert_eq!(runtime.release_errors().failed, 0);
}

#[test]
#[serial]
fn a_reservation_stays_where_a_mapping_could_not_be_undone() {
    reset();
    let runtime = start(&table()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let reservation = Reservation::new(&context, 256).unwrap();
    let physical = PhysicalMemory::allocate(&context, 64, PageKind::HUGE).unwrap();
    let mapping = reservation.map(64, &physical).unwrap();
    fail_next();
    drop(mapping);
    assert!(reservation.map(64, &physical).is_err(), "the range is still taken");
    drop((reservation, physical));
    assert_eq!(fake().count("aclrtReleaseMemAddress"), 0);
    let errors = runtime.release_errors();
    assert_eq!((errors.failed, errors.leaked), (1, 1));
}
