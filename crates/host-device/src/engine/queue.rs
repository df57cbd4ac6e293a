//! What is enqueued, in which order it may run, and what its completion means. All under the engine's lock.
//!
//! # Invariants
//!
//! * I1: operations of a stream are enqueued, run and complete in the order of their sequence numbers, from 1 on.
//! * I2: at most the first operation of a stream is taken; it is then in `executing`, or on its way there.
//! * I3: an operation starts when its predecessor is complete and what it waits for has happened, never before.
//! * I4: no closure of a user runs or is dropped here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use crate::device::HostDevice;
use crate::engine::error::{StallReason, Stalled};
use crate::engine::event::Event;
use crate::engine::execute::{Captured, Job, read_value};
use crate::engine::ledger::Ledger;
use crate::engine::operation::{Action, Operation};
use crate::engine::order::Order;
use crate::engine::{EngineError, EventId, StreamId, StreamOptions};
use crate::identity::{Place, Site};

pub(super) type Streams = BTreeMap<StreamId, Stream>;

#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) streams: Streams,
    pub(super) events: BTreeMap<EventId, Event>,
    pub(super) last_stream: u64,
    pub(super) last_event: u64,
    pub(super) ledger: Ledger,
    /// What runs now, and on which thread; a thread may be there several times, as a callback may wait.
    pub(super) executing: Vec<Executing>,
    /// Threads that wait while they have something in `executing`, or want to drive and cannot.
    pub(super) blocked: Vec<ThreadId>,
    /// Taken operations that the callback thread has not begun.
    pub(super) callbacks: VecDeque<Job>,
    pub(super) threads: Threads,
    pub(super) stopping: bool,
}

/// The threads of an engine whose clock is threaded.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Threads {
    pub(super) device: Option<ThreadId>,
    pub(super) callback: Option<ThreadId>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Executing {
    pub(super) thread: ThreadId,
    pub(super) stream: StreamId,
    pub(super) sequence: u64,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) options: StreamOptions,
    queue: VecDeque<Queued>,
    pub(super) issued: u64,
    last_completion: Duration,
    order: Order,
    pub(super) closing: bool,
}

#[derive(Debug)]
struct Queued {
    sequence: u64,
    place: Place,
    duration: Duration,
    captured: Vec<Captured>,
    started: Option<Duration>,
    /// `None` when it was taken to run.
    action: Option<Action>,
}

/// What can run next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    /// The first operation of this stream, whose time is up then.
    pub(super) due: Option<(Duration, StreamId)>,
    /// Whether a stream waits for a value, which may change behind the engine's back.
    pub(super) watching: bool,
}

pub(super) fn is_pending(streams: &Streams, stream: StreamId, sequence: u64) -> bool {
    streams.get(&stream).is_some_and(|stream| !stream.is_done(sequence))
}

/// Whether what is enqueued on `stream` from now on runs after operation `sequence` of `other`.
pub(super) fn is_ordered(streams: &Streams, stream: StreamId, other: StreamId, sequence: u64) -> bool {
    stream == other || streams.get(&stream).is_some_and(|stream| stream.order.covers(other, sequence))
}

impl Stream {
    pub(super) fn new(options: StreamOptions) -> Self {
        Self {
            options,
            queue: VecDeque::new(),
            issued: 0,
            last_completion: Duration::ZERO,
            order: Order::default(),
            closing: false,
        }
    }

    pub(super) fn is_done(&self, sequence: u64) -> bool {
        self.queue.front().is_none_or(|first| first.sequence > sequence)
    }

    pub(super) fn pending(&self) -> usize {
        self.queue.len()
    }
}

impl Queued {
    /// When that happened which it waits for, if it has.
    fn ready_at(&self, device: &HostDevice, now: Duration) -> Option<Duration> {
        match &self.action {
            Some(Action::Wait { recording, .. }) => recording.done.get().copied(),
            // Memory that cannot be read holds nobody up: running the operation will report it.
            Some(Action::WaitValue { at, value, condition }) => {
                let found = read_value(device, *at);
                found.map_or(true, |found| condition.holds(found, *value)).then_some(now)
            }
            Some(Action::WaitGate(gate)) => gate.is_open().then_some(now),
            Some(_) => Some(Duration::ZERO),
            None => None,
        }
    }
}

impl Core {
    /// The stream, if it takes work.
    fn open(&mut self, stream: StreamId) -> Result<&mut Stream, EngineError> {
        let known = self.streams.get_mut(&stream).ok_or(EngineError::UnknownStream { stream })?;
        if known.closing { Err(EngineError::StreamClosing { stream }) } else { Ok(known) }
    }

    /// The sequence number of the next operation of `stream`.
    pub(super) fn next_sequence(&mut self, stream: StreamId) -> Result<u64, EngineError> {
        self.open(stream).map(|known| known.issued + 1)
    }

    /// As [`Self::next_sequence`], and what has run when that operation has.
    pub(super) fn mark(&mut self, stream: StreamId) -> Result<(u64, Order), EngineError> {
        let known = self.open(stream)?;
        let (sequence, mut order) = (known.issued + 1, known.order.clone());
        order.retain(|other, sequence| is_pending(&self.streams, other, sequence));
        order.add(stream, sequence);
        Ok((sequence, order))
    }

    /// Notes that what is enqueued on `stream` from now on runs after `order`.
    pub(super) fn learn(&mut self, stream: StreamId, order: &Order) {
        if let Some(mut known) = self.streams.get_mut(&stream).map(|known| std::mem::take(&mut known.order)) {
            known.merge(order);
            known.retain(|other, sequence| is_pending(&self.streams, other, sequence));
            if let Some(stream) = self.streams.get_mut(&stream) {
                stream.order = known;
            }
        }
    }

    /// Appends an operation and answers its sequence number.
    pub(super) fn push(
        &mut self,
        stream: StreamId,
        operation: Operation,
        captured: Vec<Captured>,
        now: Duration,
    ) -> Result<u64, EngineError> {
        let known = self.open(stream)?;
        known.issued += 1;
        let Operation { label, duration, action, .. } = operation;
        let place = Place { site: Site { label, stream: Some(stream) }, at: now };
        let sequence = known.issued;
        let (started, action) = (None, Some(action));
        known.queue.push_back(Queued { sequence, place, duration, captured, started, action });
        Ok(sequence)
    }

    /// What can run next: of all that can start, what ends first; of these, what is on the oldest stream.
    pub(super) fn next(&mut self, device: &HostDevice, delays: bool) -> Next {
        let mut best: Option<(Duration, StreamId)> = None;
        let mut watching = false;
        for (&id, stream) in &mut self.streams {
            let Some(first) = stream.queue.front_mut() else { continue };
            if first.started.is_none() {
                let Some(ready) = first.ready_at(device, device.now()) else {
                    watching |= matches!(first.action, Some(Action::WaitValue { .. }));
                    continue;
                };
                first.started = Some(ready.max(first.place.at).max(stream.last_completion));
            }
            if first.action.is_none() {
                continue;
            }
            let duration = if delays { first.duration } else { Duration::ZERO };
            let end = first.started.unwrap_or_default().saturating_add(duration);
            if best.is_none_or(|(earliest, _)| end < earliest) {
                best = Some((end, id));
            }
        }
        Next { due: best, watching }
    }

    /// Takes the first operation of a stream to run it.
    pub(super) fn take(&mut self, stream: StreamId) -> Option<Job> {
        let first = self.streams.get_mut(&stream)?.queue.front_mut()?;
        let action = first.action.take()?;
        let captured = std::mem::take(&mut first.captured);
        Some(Job { stream, sequence: first.sequence, place: first.place.clone(), captured, action })
    }

    /// Notes that a taken operation has run. What is left of it is the caller's to drop, without the lock.
    pub(super) fn finish(&mut self, job: &Job, now: Duration) {
        match &job.action {
            Action::Record(recording) => {
                // Only an abandoned record is done already.
                let _abandoned = recording.done.set(now);
            }
            Action::Reset(event, recording) => {
                if let Some(event) = self.events.get_mut(event) {
                    event.current.take_if(|current| Arc::ptr_eq(current, recording));
                }
            }
            _ => {}
        }
        if let Some(stream) = self.streams.get_mut(&job.stream) {
            let finished = stream.queue.pop_front_if(|first| first.sequence == job.sequence);
            debug_assert!(finished.is_some(), "I2: what runs is the first of its stream");
            stream.last_completion = now;
        }
    }

    /// Drops what has not begun on a stream; its records count as run now, so that nobody waits for them for ever.
    pub(super) fn abandon(&mut self, stream: StreamId, now: Duration) -> Abandoned {
        let (callbacks, others) =
            std::mem::take(&mut self.callbacks).into_iter().partition(|job: &Job| job.stream == stream);
        self.callbacks = others;
        let Some(known) = self.streams.get_mut(&stream) else { return Abandoned::default() };
        let callbacks: VecDeque<Job> = callbacks;
        let executing =
            known.queue.front().is_some_and(|first| first.action.is_none()) && callbacks.is_empty();
        let queued: VecDeque<Queued> = known.queue.drain(usize::from(executing)..).collect();
        for action in queued.iter().filter_map(|queued| queued.action.as_ref()) {
            if let Action::Record(recording) = action {
                let _done = recording.done.set(now);
            }
        }
        Abandoned { callbacks, queued }
    }

    /// The streams whose next operation cannot run, and why.
    pub(super) fn stalled(&self) -> Vec<Stalled> {
        let stalled = self.streams.iter().filter_map(|(&stream, known)| {
            let first = known.queue.front()?;
            let reason = match &first.action {
                None => StallReason::Executing,
                Some(Action::Wait { recording, .. }) => StallReason::Record(recording.stream),
                Some(Action::WaitValue { at, .. }) => StallReason::Value(*at),
                Some(Action::WaitGate(_)) => StallReason::Gate,
                Some(_) => return None,
            };
            Some(Stalled { stream, operation: first.place.site.label.clone(), reason })
        });
        stalled.collect()
    }
}

/// Operations that will never run. They may hold closures of users: drop this without the lock.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Abandoned {
    callbacks: VecDeque<Job>,
    queued: VecDeque<Queued>,
}

impl Abandoned {
    /// A taken callback is in both lists, so the second counts all.
    pub(super) fn count(&self) -> usize {
        debug_assert!(self.callbacks.len() <= self.queued.len(), "I2");
        self.queued.len()
    }
}
