//! Being told of what foreign code does to streams, devices and ACL.

use std::sync::{Arc, Mutex};
use std::thread;

use acl::{
    AclError, Context, DeviceMemory, ErrorKind, MallocPolicy, ReleaseErrors, Runtime, Stream, StreamKey,
    Watcher,
};
use acl_sys::{Table, aclrtStreamState};
use serial_test::serial;

use super::fake::{ForeignStream, change, fail_nth, fake, primary, reset};
use super::fake_table::{table, tell_device_resets, tell_end, tell_stream};
use super::promises::{foreign_stream, reset_force, start};

/// Writes down what it is told.
#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl Watcher for Diary {
    fn stream_ends(&self, stream: StreamKey) {
        self.0.lock().unwrap().push(format!("stream {:#x}", stream.0));
    }

    fn device_resets(&self, device: i32) {
        self.0.lock().unwrap().push(format!("device {device}"));
    }

    fn acl_ends(&self) {
        self.0.lock().unwrap().push("acl".to_owned());
    }
}

impl Diary {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn runtime() -> Runtime {
    reset();
    start(&table()).unwrap()
}

/// What foreign code does when it resets a device by force.
fn foreign_reset(device: i32) {
    tell_device_resets(device);
    change(|state| {
        state.sets.insert(device, 0);
        state.remove_below(primary(device));
    });
}

#[test]
#[serial]
fn streams_of_ours_and_of_others_are_told_by_their_keys_before_they_go() {
    let runtime = runtime();
    let diary = Arc::new(Diary::default());
    let watch = runtime.watch(diary.clone()).unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let (ours, foreign) = (Stream::new(&context).unwrap(), ForeignStream::new(primary(0)));
    let (key, theirs) = (ours.key(), foreign_stream(&context, foreign.0).unwrap().key());
    assert_eq!(theirs, StreamKey(foreign.0));
    tell_stream(foreign.0, aclrtStreamState::ACL_RT_STREAM_STATE_CREATE_POST);
    tell_stream(foreign.0, aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE);
    drop(ours);
    assert_eq!(diary.take(), [format!("stream {:#x}", theirs.0), format!("stream {:#x}", key.0)]);
    drop(watch);
    drop(Stream::new(&context).unwrap());
    assert_eq!((diary.take(), Arc::strong_count(&diary)), (Vec::new(), 1));
}

#[test]
#[serial]
fn a_device_that_foreign_code_resets_takes_its_owners_along() {
    let runtime = runtime();
    let diary = Arc::new(Diary::default());
    let _watch = runtime.watch(diary.clone()).unwrap();
    let device = runtime.device(0).unwrap();
    let context = device.create_context().unwrap();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    let stream = Stream::new(&context).unwrap();
    thread::spawn(|| foreign_reset(0)).join().unwrap();
    assert_eq!(diary.take(), ["device 0"]);
    let calls = fake().log.len();
    assert!(matches!(stream.synchronize(), Err(AclError::DeviceReset { number: 0, .. })));
    drop((memory, stream, context, device));
    assert_eq!((fake().log.len(), runtime.release_errors()), (calls, ReleaseErrors::default()));
    let again = runtime.device(0).unwrap();
    Stream::new(&again.primary_context()).unwrap().synchronize().unwrap();
    // Of our own last reset it is told too.
    drop(again);
    assert_eq!(diary.take().last().map(String::as_str), Some("device 0"));
    assert_eq!((fake().sets[&0], fake().broken_rules), (0, Vec::new()));
}

#[test]
#[serial]
fn a_forced_reset_of_ours_is_told_once_and_the_other_device_goes_on() {
    let runtime = runtime();
    let diary = Arc::new(Diary::default());
    let _watch = runtime.watch(diary.clone()).unwrap();
    let (zero, one) = (runtime.device(0).unwrap(), runtime.device(1).unwrap());
    reset_force(&zero).unwrap();
    assert_eq!(diary.take(), ["device 0"]);
    one.primary_context().synchronize_device().unwrap();
    drop((zero, one));
    assert_eq!((diary.take(), fake().broken_rules), (vec!["device 1".to_owned()], Vec::new()));
}

#[test]
#[serial]
fn acl_that_foreign_code_ends_is_called_no_more() {
    let runtime = runtime();
    let diary = Arc::new(Diary::default());
    let watch = runtime.watch(diary.clone()).unwrap();
    let context: Context = runtime.device(0).unwrap().primary_context();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default()).unwrap();
    tell_end();
    assert_eq!(diary.take(), ["acl"]);
    let calls = fake().log.len();
    assert_eq!(context.synchronize_device().unwrap_err().kind(), ErrorKind::NotInitialised);
    drop((memory, context, watch));
    assert_eq!(runtime.release_errors().leaked, 5, "the memory, the device and three callbacks");
    drop(runtime);
    assert_eq!(fake().log.len(), calls);
    // What comes late finds nobody.
    tell_end();
    foreign_reset(0);
    assert_eq!(diary.take(), Vec::<String>::new());
}

#[test]
#[serial]
fn acl_is_called_for_the_first_watch_and_the_last_only() {
    let runtime = runtime();
    let calls = || fake().log.iter().filter(|call| call.contains("Callback")).count();
    let diaries = [Arc::new(Diary::default()), Arc::new(Diary::default())];
    let watches = diaries.clone().map(|diary| runtime.watch(diary).unwrap());
    assert_eq!(calls(), 3);
    tell_device_resets(1);
    assert!(diaries.iter().all(|diary| diary.take() == ["device 1"]));
    let [first, second] = watches;
    drop(first);
    tell_device_resets(1);
    assert_eq!((calls(), diaries[0].take(), diaries[1].take()), (3, vec![], vec!["device 1".to_owned()]));
    drop(second);
    assert_eq!((calls(), fake().left()), (6, 0));
}

#[test]
#[serial]
fn whichever_callback_is_refused_none_stays() {
    let runtime = runtime();
    for (call, nth) in [
        ("aclrtRegDeviceStateCallback", 1),
        ("aclrtRegStreamStateCallback", 1),
        ("aclFinalizeCallbackRegister", 1),
    ] {
        let diary = Arc::new(Diary::default());
        fail_nth(call, nth);
        assert!(runtime.watch(diary.clone()).is_err(), "{call}");
        assert_eq!((fake().left(), Arc::strong_count(&diary)), (0, 1), "{call}");
    }
    let runtime = start(&Table { aclFinalizeCallbackRegister: None, ..table() }).unwrap();
    assert_eq!(runtime.watch(Arc::new(Diary::default())).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(fake().left(), 0);
}

#[test]
#[serial]
fn a_watcher_that_panics_disturbs_neither_acl_nor_the_other_watchers() {
    struct Panics;

    impl Watcher for Panics {
        fn device_resets(&self, _: i32) {
            panic!("in a watcher, as the test wants");
        }
    }

    let runtime = runtime();
    let diary = Arc::new(Diary::default());
    let _watches = [runtime.watch(Arc::new(Panics)).unwrap(), runtime.watch(diary.clone()).unwrap()];
    drop(runtime.device(0).unwrap());
    assert_eq!((diary.take(), fake().sets[&0]), (vec!["device 0".to_owned()], 0));
}
