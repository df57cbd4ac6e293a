//! Checks of [`mempool_core::StreamOrder`]. They need streams and work in them, which only the maker of the device can give:
//! [`StreamRig`].

use std::fmt;
use std::sync::Arc;
use std::thread;

use mempool_core::{Device, DeviceError, DeviceEvent, DeviceStream, StreamOrder};

use super::{CheckResult, ConformanceError, MakeDevice, run_list, served};
use crate::violation::{Violation, ensure};

/// A device whose streams can be given work that lasts until it is let go.
pub trait StreamRig: fmt::Debug + Sync {
    /// The device, with events.
    fn device(&self) -> Arc<dyn Device>;

    /// Makes a stream and names it to the device.
    fn stream(&self) -> DeviceStream;

    /// Puts work into a stream that does not end before [`HeldWork::let_go`].
    fn hold(&self, stream: DeviceStream) -> Box<dyn HeldWork>;
}

/// Work that lasts.
pub trait HeldWork: fmt::Debug + Send {
    /// Lets it end, soon. What waits for it goes on behind the caller or when the device is next asked.
    fn let_go(self: Box<Self>);
}

/// Makes a rig with a device of its own.
pub type MakeRig<'a> = &'a dyn Fn() -> Box<dyn StreamRig>;

/// A check of events by name.
#[derive(Debug, Clone, Copy)]
pub struct EventCheck {
    /// Says what holds.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&dyn StreamRig) -> CheckResult,
}

macro_rules! event_checks {
    ($($name:ident),* $(,)?) => {
        /// All checks of events, in the order in which they run.
        pub const EVENT_CHECKS: &[EventCheck] = &[$(EventCheck { name: stringify!($name), run: $name }),*];
    };
}

event_checks![
    an_event_is_complete_when_the_work_before_it_is_done,
    an_event_stays_complete,
    an_event_says_nothing_of_later_work,
    a_stream_waits_for_the_event_of_another,
    a_wait_stays_when_its_event_is_released,
    released_events_are_used_again_without_harm,
    a_pending_event_may_be_released,
    names_are_never_given_twice,
    unknown_events_and_streams_are_errors,
    a_chain_of_waits_orders_from_end_to_end,
    threads_may_record_and_ask_at_the_same_time,
];

/// Runs all checks of events, each on a rig of its own.
///
/// # Errors
///
/// All checks that failed, by name.
pub fn run_event_conformance(make_rig: impl Fn() -> Box<dyn StreamRig>) -> Result<(), ConformanceError> {
    let checks = EVENT_CHECKS.iter().map(|check| (check.name, (check.run)(&*make_rig())));
    run_list(checks, || make_rig().device().properties().name)
}

/// On a device with streams, names that were never given out are errors; on others there is nothing to ask.
pub(super) fn events_and_streams_that_never_were_are_errors(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    match device.stream_order() {
        Some(order) => refuses(order, DeviceStream::new(u64::MAX), DeviceEvent::new(u64::MAX)),
        None => Ok(()),
    }
}

fn refuses(order: &dyn StreamOrder, stream: DeviceStream, event: DeviceEvent) -> CheckResult {
    let answers = [
        ("record_event", order.record_event(stream).map(drop)),
        ("is_complete", order.is_complete(event).map(drop)),
        ("synchronize_event", order.synchronize_event(event)),
        ("wait_event", order.wait_event(stream, event)),
        ("release_event", order.release_event(event)),
    ];
    for (call, answer) in answers {
        ensure!(
            matches!(answer, Err(DeviceError::Other(_))),
            call,
            "answered {answer:?} for an unknown name"
        );
    }
    Ok(())
}

fn with_events(rig: &dyn StreamRig, check: impl FnOnce(&dyn StreamOrder) -> CheckResult) -> CheckResult {
    let device = rig.device();
    match device.stream_order() {
        Some(order) => check(order),
        None => Err(Violation::new("stream_order", "the device of a rig must have events")),
    }
}

fn record(order: &dyn StreamOrder, stream: DeviceStream) -> Result<DeviceEvent, Violation> {
    served("record_event", order.record_event(stream))
}

fn is_complete(order: &dyn StreamOrder, event: DeviceEvent) -> Result<bool, Violation> {
    served("is_complete", order.is_complete(event))
}

fn wait(order: &dyn StreamOrder, stream: DeviceStream, event: DeviceEvent) -> CheckResult {
    served("wait_event", order.wait_event(stream, event))
}

fn release(order: &dyn StreamOrder, event: DeviceEvent) -> CheckResult {
    served("release_event", order.release_event(event))
}

/// Waits for the event on the host, looks that it is complete then, and gives it back.
fn finish(order: &dyn StreamOrder, event: DeviceEvent) -> CheckResult {
    served("synchronize_event", order.synchronize_event(event))?;
    ensure!(is_complete(order, event)?, "synchronize_event", "returned before {event} was complete");
    release(order, event)
}

/// That an event cannot be complete, since what lies before it was not let go.
fn ensure_pending(order: &dyn StreamOrder, event: DeviceEvent) -> CheckResult {
    ensure!(!is_complete(order, event)?, "is_complete", "{event} is complete before the work before it");
    Ok(())
}

/// Lets whatever can run do so: a stream beside is given an event and waited for.
fn let_run(order: &dyn StreamOrder, rig: &dyn StreamRig) -> CheckResult {
    finish(order, record(order, rig.stream())?)
}

fn an_event_is_complete_when_the_work_before_it_is_done(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let stream = rig.stream();
        let empty = record(order, stream)?;
        finish(order, empty)?;
        let work = rig.hold(stream);
        let event = record(order, stream)?;
        ensure_pending(order, event)?;
        work.let_go();
        finish(order, event)
    })
}

fn an_event_stays_complete(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let stream = rig.stream();
        let event = record(order, stream)?;
        served("synchronize_event", order.synchronize_event(event))?;
        let work = rig.hold(stream);
        for _ in 0..3 {
            ensure!(is_complete(order, event)?, "is_complete", "{event} was complete and is no more");
        }
        // An event that has happened holds nothing up.
        let other = rig.stream();
        wait(order, other, event)?;
        let after = record(order, other)?;
        finish(order, after)?;
        served("synchronize_event", order.synchronize_event(event))?;
        work.let_go();
        release(order, event)
    })
}

fn an_event_says_nothing_of_later_work(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let stream = rig.stream();
        let before = record(order, stream)?;
        let work = rig.hold(stream);
        let after = record(order, stream)?;
        served("synchronize_event", order.synchronize_event(before))?;
        ensure_pending(order, after)?;
        work.let_go();
        finish(order, after)?;
        release(order, before)
    })
}

fn a_stream_waits_for_the_event_of_another(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let [first, second] = [(); 2].map(|()| rig.stream());
        let work = rig.hold(first);
        let event = record(order, first)?;
        wait(order, second, event)?;
        let after = record(order, second)?;
        // A third stream is held up by neither.
        let_run(order, rig)?;
        ensure_pending(order, after)?;
        work.let_go();
        finish(order, after)?;
        ensure!(is_complete(order, event)?, "wait_event", "{second} went on before {event}");
        release(order, event)
    })
}

fn a_wait_stays_when_its_event_is_released(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let [first, second] = [(); 2].map(|()| rig.stream());
        let work = rig.hold(first);
        let event = record(order, first)?;
        wait(order, second, event)?;
        release(order, event)?;
        let after = record(order, second)?;
        let_run(order, rig)?;
        ensure_pending(order, after)?;
        work.let_go();
        finish(order, after)
    })
}

fn released_events_are_used_again_without_harm(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let [first, second, third] = [(); 3].map(|()| rig.stream());
        let work = rig.hold(first);
        // Many waits for events that are gone at once, while others are recorded, asked about and released elsewhere.
        for _ in 0..200 {
            let event = record(order, first)?;
            wait(order, second, event)?;
            release(order, event)?;
            let beside = record(order, third)?;
            finish(order, beside)?;
        }
        let after = record(order, second)?;
        let_run(order, rig)?;
        ensure_pending(order, after)?;
        work.let_go();
        finish(order, after)?;
        // And once more, with what was left of it.
        for _ in 0..200 {
            let event = record(order, first)?;
            wait(order, second, event)?;
            release(order, event)?;
        }
        let last = record(order, second)?;
        finish(order, last)
    })
}

fn a_pending_event_may_be_released(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let stream = rig.stream();
        let work = rig.hold(stream);
        for _ in 0..100 {
            let event = record(order, stream)?;
            release(order, event)?;
        }
        let last = record(order, stream)?;
        ensure_pending(order, last)?;
        work.let_go();
        finish(order, last)
    })
}

fn names_are_never_given_twice(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let streams = [(); 3].map(|()| rig.stream());
        ensure!(
            streams[0] != streams[1] && streams[1] != streams[2] && streams[0] != streams[2],
            "streams",
            "{streams:?}"
        );
        let mut names = Vec::new();
        for step in 0..50 {
            let event = record(order, streams[step % 3])?;
            finish(order, event)?;
            names.push(event);
        }
        names.sort_unstable();
        names.dedup();
        ensure!(names.len() == 50, "events", "only {} names for 50 events", names.len());
        Ok(())
    })
}

fn unknown_events_and_streams_are_errors(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let stream = rig.stream();
        let event = record(order, stream)?;
        finish(order, event)?;
        // One that was released is unknown too, and a known stream does not help.
        refuses(order, DeviceStream::new(u64::MAX), event)?;
        let answer = order.wait_event(stream, event);
        ensure!(
            matches!(answer, Err(DeviceError::Other(_))),
            "wait_event",
            "{answer:?} for a released event"
        );
        let live = record(order, stream)?;
        let answer = order.wait_event(DeviceStream::new(u64::MAX), live);
        ensure!(
            matches!(answer, Err(DeviceError::Other(_))),
            "wait_event",
            "{answer:?} for an unknown stream"
        );
        finish(order, live)
    })
}

fn a_chain_of_waits_orders_from_end_to_end(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let streams: Vec<_> = (0..5).map(|_| rig.stream()).collect();
        let work = rig.hold(streams[0]);
        let mut last = record(order, streams[0])?;
        let mut all = vec![last];
        for &stream in &streams[1..] {
            wait(order, stream, last)?;
            last = record(order, stream)?;
            all.push(last);
        }
        let_run(order, rig)?;
        for &event in &all {
            ensure_pending(order, event)?;
        }
        work.let_go();
        served("synchronize_event", order.synchronize_event(last))?;
        for event in all {
            ensure!(
                is_complete(order, event)?,
                "wait_event",
                "{event} is pending though a later one is complete"
            );
            release(order, event)?;
        }
        Ok(())
    })
}

fn threads_may_record_and_ask_at_the_same_time(rig: &dyn StreamRig) -> CheckResult {
    with_events(rig, |order| {
        let streams = [(); 4].map(|()| rig.stream());
        let work = |own: usize| {
            (0..50).try_for_each(|step| {
                let event = record(order, streams[own])?;
                wait(order, streams[(own + step) % 4], event)?;
                is_complete(order, event)?;
                release(order, event)
            })
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|own| scope.spawn(move || work(own))).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => Err(Violation::new("threads", "a thread panicked")),
            })
        })?;
        streams.into_iter().try_for_each(|stream| finish(order, record(order, stream)?))
    })
}
