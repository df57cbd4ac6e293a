//! Which events are kept, and when one is recorded anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{sync::mpsc, thread};

use backend_ascend::{AscendOptions, BackendError};
use mempool_core::{DeviceError, StreamOrder};
use testkit::conformance::{HeldWork as _, StreamRig as _};

use super::cards::open;
use super::process::on_simulator;
use super::rig::{AscendRig, hold};

/// All events that the backend has, in use or kept.
fn events_of(rig: &AscendRig) -> usize {
    let held = rig.backend.holdings();
    held.events + held.kept_events
}

#[test]
fn an_event_that_was_seen_complete_is_recorded_anew() {
    on_simulator(an_event_that_was_seen_complete_is_recorded_anew, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let stream = rig.stream();
        for _ in 0..100 {
            let event = rig.backend.record_event(stream).unwrap();
            rig.backend.synchronize_event(event).unwrap();
            rig.backend.release_event(event).unwrap();
        }
        assert_eq!(events_of(&rig), 1);
    });
}

#[test]
fn an_event_that_a_stream_still_waits_for_is_not_recorded_anew() {
    on_simulator(an_event_that_a_stream_still_waits_for_is_not_recorded_anew, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let [(first, one), (_, two)] = [(); 2].map(|()| rig.new_stream());
        let three = rig.stream();
        let work = Box::new(hold(&first));
        let event = rig.backend.record_event(one).unwrap();
        rig.backend.wait_event(two, event).unwrap();
        rig.backend.release_event(event).unwrap();
        // However many events come and go elsewhere, that one is left alone: there is always one for the others.
        for _ in 0..10 {
            let other = rig.backend.record_event(three).unwrap();
            rig.backend.synchronize_event(other).unwrap();
            rig.backend.release_event(other).unwrap();
            assert_eq!(events_of(&rig), 2);
        }
        work.let_go();
        // What came later in both streams has happened, so the wait is over, and the event is of use again.
        let later = [one, two].map(|stream| rig.backend.record_event(stream).unwrap());
        for event in later {
            rig.backend.synchronize_event(event).unwrap();
        }
        let most = events_of(&rig);
        let more = [three; 2].map(|stream| rig.backend.record_event(stream).unwrap());
        assert!(events_of(&rig) <= most.max(4), "{:?}", rig.backend.holdings());
        for event in [later, more].concat() {
            rig.backend.release_event(event).unwrap();
        }
    });
}

#[test]
fn waits_that_nobody_asks_about_do_not_pile_up_events() {
    on_simulator(waits_that_nobody_asks_about_do_not_pile_up_events, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let [(first, one), (second, two)] = [(); 2].map(|()| rig.new_stream());
        // Nothing is ever asked about; the streams are only seen to have come to their ends by the test.
        for _ in 0..2_000 {
            let event = rig.backend.record_event(one).unwrap();
            rig.backend.wait_event(two, event).unwrap();
            rig.backend.release_event(event).unwrap();
            first.synchronize().unwrap();
            second.synchronize().unwrap();
        }
        assert!(events_of(&rig) < 200, "{:?}", rig.backend.holdings());
    });
}

#[test]
fn a_stream_that_was_released_leaves_events_that_can_be_asked_about() {
    on_simulator(a_stream_that_was_released_leaves_events_that_can_be_asked_about, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let (stream, name) = rig.new_stream();
        let (_, other) = rig.new_stream();
        let work = Box::new(hold(&stream));
        let event = rig.backend.record_event(name).unwrap();
        work.let_go();
        // Waits, and then nothing depends on the stream.
        drop(rig.backend.release_stream(name).unwrap());
        assert_eq!(Arc::strong_count(&stream), 1);
        drop(stream);
        assert!(rig.backend.is_complete(event).unwrap());
        rig.backend.synchronize_event(event).unwrap();
        rig.backend.wait_event(other, event).unwrap();
        rig.backend.release_event(event).unwrap();
    });
}

#[test]
fn a_stream_has_one_name_and_a_released_name_is_never_given_again() {
    on_simulator(a_stream_has_one_name_and_a_released_name_is_never_given_again, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let (stream, name) = rig.new_stream();
        assert_eq!(rig.backend.register_stream(&stream).unwrap(), name);
        assert_eq!(rig.backend.holdings().streams, 1);
        rig.backend.release_stream(name).unwrap();
        let DeviceError::Other(error) = rig.backend.record_event(name).unwrap_err() else { panic!() };
        assert_eq!(*error.downcast::<BackendError>().unwrap(), BackendError::UnknownStream { stream: name });
        assert!(rig.backend.release_stream(name).is_err());
        // The simulator, as a card does, gives a new stream the number of the old one.
        let number = stream.id().unwrap();
        drop(stream);
        let (again, new_name) = rig.new_stream();
        assert_eq!(again.id().unwrap(), number);
        assert_ne!(new_name, name);
    });
}

#[test]
fn a_backend_that_goes_waits_for_streams_that_wait_for_its_events() {
    on_simulator(a_backend_that_goes_waits_for_streams_that_wait_for_its_events, &[], || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let [(first, one), (second, two)] = [(); 2].map(|()| rig.new_stream());
        let (release, released) = mpsc::channel::<()>();
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        first
            .launch_host_function(move || {
                let _ = released.recv();
                told.store(true, Ordering::SeqCst);
            })
            .unwrap();
        let event = rig.backend.record_event(one).unwrap();
        rig.backend.wait_event(two, event).unwrap();
        rig.backend.release_event(event).unwrap();
        thread::scope(|scope| {
            let going = scope.spawn(|| {
                drop(rig);
                done.load(Ordering::SeqCst)
            });
            release.send(()).unwrap();
            assert!(going.join().unwrap(), "the event was destroyed while a stream waited for it");
        });
        second.synchronize().unwrap();
    });
}

#[test]
fn an_event_that_cannot_be_destroyed_is_counted() {
    let settings = [("ASCEND_SIM_FAIL", "aclrtDestroyEvent:1")];
    on_simulator(an_event_that_cannot_be_destroyed_is_counted, &settings, || {
        let rig = AscendRig::new(open(AscendOptions::default()));
        let runtime = rig.backend.context().device().runtime();
        let stream = rig.stream();
        let events = [stream; 2].map(|stream| rig.backend.record_event(stream).unwrap());
        for event in events {
            rig.backend.synchronize_event(event).unwrap();
            rig.backend.release_event(event).unwrap();
        }
        assert_eq!((rig.backend.holdings().kept_events, runtime.release_errors().failed), (2, 0));
        drop(rig);
        assert_eq!(runtime.release_errors().failed, 1);
    });
}
