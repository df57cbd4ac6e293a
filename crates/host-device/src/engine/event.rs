//! Events: marks in the order of a stream that others can wait for, ask about and measure time between.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::engine::operation::{Action, Operation};
use crate::engine::order::Order;
use crate::engine::wait::Goal;
use crate::engine::{Engine, EngineError, EventId, StreamId};

/// What an event says when asked. What a driver calls these differs; the caller maps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventStatus {
    /// No record was enqueued since the event was made or reset.
    NotRecorded,
    /// The last record was enqueued and has not run.
    Pending,
    /// The last record has run.
    Complete,
}

/// One record of an event. Waits hold on to the record that was the last when they were enqueued.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) stream: StreamId,
    pub(super) sequence: u64,
    /// What has run when this has.
    pub(super) order: Order,
    /// When it ran.
    pub(super) done: OnceLock<Duration>,
}

#[derive(Debug, Default)]
pub(super) struct Event {
    flags: u32,
    pub(super) current: Option<Arc<Recording>>,
    /// Every wait that is not over holds a copy.
    waits: Arc<()>,
}

/// Events.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use host_device::engine::{Engine, EventStatus, Operation, StreamOptions};
/// use host_device::{HostDevice, HostDeviceConfig};
///
/// let device = Arc::new(HostDevice::new(HostDeviceConfig::new(64 << 20))?);
/// let engine = Engine::new(device)?;
/// let [producer, consumer] = [(); 2].map(|()| engine.create_stream(StreamOptions::default()));
/// let ready = engine.create_event(0);
/// assert_eq!(engine.event_status(ready)?, EventStatus::NotRecorded);
///
/// engine.enqueue(producer, Operation::kernel("produce", Duration::from_millis(3)))?;
/// engine.record_event(ready, producer)?;
/// engine.wait_event(consumer, ready)?;
/// assert_eq!(engine.event_status(ready)?, EventStatus::Pending);
///
/// engine.synchronize_stream(consumer)?;
/// assert_eq!(engine.event_time(ready)?, Duration::from_millis(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Engine {
    /// Makes an event. `flags` are the caller's; the engine only keeps them.
    pub fn create_event(&self, flags: u32) -> EventId {
        let mut core = self.shared().core.lock();
        core.last_event += 1;
        let event = EventId::new(core.last_event);
        core.events.insert(event, Event { flags, ..Event::default() });
        event
    }

    /// Forgets an event, whatever is pending: records still run, and what waits for them goes on waiting.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`].
    pub fn destroy_event(&self, event: EventId) -> Result<(), EngineError> {
        let mut core = self.shared().core.lock();
        core.events.remove(&event).map(drop).ok_or(EngineError::UnknownEvent { event })
    }

    /// Marks the end of what is enqueued on `stream` by `event`. An earlier record of the event no longer counts, except
    /// for the waits that were enqueued for it.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`], [`EngineError::UnknownStream`] or [`EngineError::StreamClosing`].
    pub fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), EngineError> {
        let mut core = self.shared().core.lock();
        if !core.events.contains_key(&event) {
            return Err(EngineError::UnknownEvent { event });
        }
        let (sequence, order) = core.mark(stream)?;
        let recording = Arc::new(Recording { stream, sequence, order, done: OnceLock::new() });
        let operation = Operation::of(Action::Record(Arc::clone(&recording)));
        self.shared().push(&mut core, stream, operation, Vec::new())?;
        if let Some(event) = core.events.get_mut(&event) {
            event.current = Some(recording);
        }
        Ok(())
    }

    /// Makes what is enqueued on `stream` from now on wait until the last record of `event` has run. Waiting for an event
    /// that was never recorded does nothing.
    ///
    /// # Errors
    ///
    /// As [`Engine::record_event`].
    pub fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), EngineError> {
        let mut core = self.shared().core.lock();
        let known = core.events.get(&event).ok_or(EngineError::UnknownEvent { event })?;
        let (recording, token) = (known.current.clone(), Arc::clone(&known.waits));
        core.next_sequence(stream)?;
        let Some(recording) = recording else { return Ok(()) };
        core.learn(stream, &recording.order);
        let wait = Operation::of(Action::Wait { recording, _pending: token });
        self.shared().push(&mut core, stream, wait, Vec::new()).map(drop)
    }

    /// Makes an event unrecorded again in the order of `stream`, unless it is recorded anew before.
    ///
    /// # Errors
    ///
    /// As [`Engine::record_event`].
    pub fn reset_event(&self, event: EventId, stream: StreamId) -> Result<(), EngineError> {
        let mut core = self.shared().core.lock();
        let current = match core.events.get(&event) {
            Some(known) => known.current.clone(),
            None => return Err(EngineError::UnknownEvent { event }),
        };
        core.next_sequence(stream)?;
        let Some(recording) = current else { return Ok(()) };
        let reset = Operation::of(Action::Reset(event, recording));
        self.shared().push(&mut core, stream, reset, Vec::new()).map(drop)
    }

    /// Whether the last record of an event has run. Does not let time pass.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`].
    pub fn event_status(&self, event: EventId) -> Result<EventStatus, EngineError> {
        self.with_event(event, |known| match &known.current {
            None => EventStatus::NotRecorded,
            Some(recording) if recording.done.get().is_some() => EventStatus::Complete,
            Some(_) => EventStatus::Pending,
        })
    }

    /// How many waits of streams for an event are not over.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`].
    pub fn pending_waits(&self, event: EventId) -> Result<usize, EngineError> {
        self.with_event(event, |known| Arc::strong_count(&known.waits) - 1)
    }

    /// The flags that an event was made with.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`].
    pub fn event_flags(&self, event: EventId) -> Result<u32, EngineError> {
        self.with_event(event, |known| known.flags)
    }

    /// Waits until the last record of an event has run; returns at once when there is none.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`], [`EngineError::Deadlock`].
    pub fn synchronize_event(&self, event: EventId) -> Result<(), EngineError> {
        self.synchronize_event_until(event, None)
    }

    /// As [`Engine::synchronize_event`], for at most `timeout` by the engine's clock.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`], [`EngineError::TimedOut`], [`EngineError::Deadlock`].
    pub fn synchronize_event_within(&self, event: EventId, timeout: Duration) -> Result<(), EngineError> {
        self.synchronize_event_until(event, Some(timeout))
    }

    fn synchronize_event_until(&self, event: EventId, timeout: Option<Duration>) -> Result<(), EngineError> {
        match self.with_event(event, |known| known.current.clone())? {
            Some(recording) => self.shared().wait_for(&Goal::Record(event, recording), timeout),
            None => Ok(()),
        }
    }

    /// When the last record of an event ran, since the device was made.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownEvent`], [`EngineError::EventNotComplete`].
    pub fn event_time(&self, event: EventId) -> Result<Duration, EngineError> {
        let time =
            self.with_event(event, |known| known.current.as_ref().and_then(|r| r.done.get().copied()))?;
        time.ok_or(EngineError::EventNotComplete { event })
    }

    /// Nanoseconds from one event to another, negative when `end` ran first; at most what 64 bits hold.
    ///
    /// # Errors
    ///
    /// As [`Engine::event_time`], for either.
    pub fn elapsed_ns(&self, start: EventId, end: EventId) -> Result<i64, EngineError> {
        let (start, end) = (self.event_time(start)?, self.event_time(end)?);
        let distance = |long: Duration| i64::try_from(long.as_nanos()).unwrap_or(i64::MAX);
        Ok(match end.checked_sub(start) {
            Some(later) => distance(later),
            None => -distance(start.saturating_sub(end)),
        })
    }

    /// Number of events that were made and not destroyed.
    pub fn live_events(&self) -> usize {
        self.shared().core.lock().events.len()
    }

    fn with_event<T>(&self, event: EventId, answer: impl FnOnce(&Event) -> T) -> Result<T, EngineError> {
        let core = self.shared().core.lock();
        core.events.get(&event).map(answer).ok_or(EngineError::UnknownEvent { event })
    }
}
