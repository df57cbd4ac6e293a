//! Events of streams, and when one may be recorded anew.
//!
//! # Which event is used again
//!
//! A new record of an event replaces the old one. What becomes of streams that still wait for the old one, CANN's documents do not
//! say. So the rule here is the strict one: **an event is recorded anew only when everything that streams were told about it, its
//! record and every wait, is known to have run.** Known means: an event that came later in the same stream was seen to have
//! happened ([`crate::progress`]), or the stream was synchronised. Until then a released event is *parked*.
//!
//! Where streams are made to wait but nothing recorded in them later is ever asked about, parked events would pile up. When
//! [`PARKED_LIMIT`] of them have, a *fence*, an event of our own, is recorded in each stream that holds them back, and asked
//! about when the next event is needed.
//!
//! Events of the sort that is not re-recordable (a library without aclrtCreateEventExWithFlag) follow the same rule and are
//! destroyed instead.
//!
//! # Invariants
//!
//! * E1: no event is asked about or waited for before it was recorded: an event has a name only after its record.
//! * E2: an event on the free list has nothing pending, in any stream.
//! * E3: names are never used twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acl::{AclError, Context, ErrorKind, Event, EventFlags, EventStatus};
use mempool_core::{Bytes, DeviceError, DeviceEvent, DeviceStream, StreamOrder};
use parking_lot::Mutex;

use crate::backend::AscendBackend;
use crate::error::{BackendError, device_error};
use crate::progress::{Mark, Progress};
use crate::streams::{Registered, Streams, fresh_name};

/// So many parked events are let be before fences are recorded.
const PARKED_LIMIT: usize = 64;

/// The host asks and waits, and streams wait.
const FLAGS: EventFlags = EventFlags::ORDER.and(EventFlags::PROGRESS);
/// The same where a card does not take both: events that streams wait for can be asked about too, for an event of the hardware
/// each.
const FLAGS_OF_ORDER: EventFlags = EventFlags::ORDER;

/// The function that makes events which can be recorded again.
const RE_RECORDABLE: &str = "aclrtCreateEventExWithFlag";

/// An event in a stream.
#[derive(Debug)]
struct Recorded {
    event: Event,
    stream: DeviceStream,
    progress: Arc<Progress>,
    /// What this event proves when it has happened.
    proof: u64,
    /// Itself among what the stream was given.
    mark: Mark,
    complete: AtomicBool,
    /// The waits of other streams.
    waits: Mutex<Vec<Mark>>,
}

/// The events of a backend.
#[derive(Debug)]
pub(crate) struct Events {
    re_recordable: bool,
    for_order_only: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// In use, by name.
    named: BTreeMap<DeviceEvent, Arc<Recorded>>,
    /// Ready to be recorded (E2).
    free: Vec<Event>,
    /// Released, with something pending.
    parked: Vec<Arc<Recorded>>,
    /// Ours.
    fences: Vec<Recorded>,
}

impl Recorded {
    /// Records `event` in a stream; gives it back when that fails.
    fn new(event: Event, registered: &Registered) -> Result<Self, (AclError, Event)> {
        let progress = Arc::clone(&registered.progress);
        let proof = progress.proof();
        match event.record(&registered.stream) {
            Ok(()) => {
                let mark = progress.mark();
                let (complete, waits) = (AtomicBool::new(false), Mutex::default());
                Ok(Self { event, stream: registered.name, progress, proof, mark, complete, waits })
            }
            Err(error) => Err((error, event)),
        }
    }

    /// Whether it is known, without a call, to have happened.
    fn is_known_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire) || self.mark.is_passed()
    }

    fn note_complete(&self) {
        self.complete.store(true, Ordering::Release);
        self.progress.note_passed(self.proof);
    }

    /// Whether it has happened, with a call if need be.
    fn poll(&self) -> Result<bool, AclError> {
        if self.is_known_complete() {
            return Ok(true);
        }
        let complete = self.event.query()? == EventStatus::Complete;
        if complete {
            self.note_complete();
        }
        Ok(complete)
    }

    /// Whether nothing of it is pending in any stream.
    fn is_settled(&self) -> bool {
        self.is_known_complete() && self.waits.lock().iter().all(Mark::is_passed)
    }

    /// Streams that may not have run all of it.
    fn held_back_by(&self) -> Vec<Arc<Progress>> {
        let waits = self.waits.lock();
        let own = (!self.is_known_complete()).then_some(&self.mark);
        let pending = own.into_iter().chain(waits.iter()).filter(|mark| !mark.is_passed());
        pending.map(|mark| Arc::clone(mark.progress())).collect()
    }
}

impl Events {
    pub(crate) fn new(context: &Context) -> Self {
        let re_recordable = context.device().runtime().is_supported(RE_RECORDABLE);
        Self { re_recordable, for_order_only: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Events with a name, and events kept without one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.named.len(), state.free.len() + state.parked.len() + state.fences.len())
    }

    /// Whether something of an event may be pending in a stream.
    pub(crate) fn is_pending(&self) -> bool {
        let state = self.state.lock();
        let of_callers = state.named.values().chain(&state.parked).map(|recorded| &**recorded);
        of_callers.chain(&state.fences).any(|recorded| !recorded.is_settled())
    }

    fn get(&self, event: DeviceEvent) -> Result<Arc<Recorded>, BackendError> {
        self.state.lock().named.get(&event).cloned().ok_or(BackendError::UnknownEvent { event })
    }

    fn record(
        &self,
        context: &Context,
        streams: &Streams,
        stream: DeviceStream,
    ) -> Result<DeviceEvent, DeviceError> {
        let registered = streams.get(stream)?;
        let event = self.obtain(context, streams).map_err(|error| device_error(error, Bytes::ZERO))?;
        match Recorded::new(event, &registered) {
            Ok(recorded) => {
                let name = DeviceEvent::new(fresh_name());
                self.state.lock().named.insert(name, Arc::new(recorded));
                Ok(name)
            }
            Err((error, event)) => {
                self.keep(event);
                Err(device_error(error, Bytes::ZERO))
            }
        }
    }

    /// An event with nothing pending.
    fn obtain(&self, context: &Context, streams: &Streams) -> Result<Event, AclError> {
        if let Some(event) = self.state.lock().free.pop() {
            return Ok(event);
        }
        self.reclaim(context, streams);
        if let Some(event) = self.state.lock().free.pop() {
            return Ok(event);
        }
        self.create(context)
    }

    fn create(&self, context: &Context) -> Result<Event, AclError> {
        // Relaxed: whoever misses it asks once more.
        if !self.for_order_only.load(Ordering::Relaxed) {
            match Event::new(context, FLAGS) {
                Err(error) if matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Unsupported) => {
                    let event = Event::new(context, FLAGS_OF_ORDER)?;
                    tracing::info!(%error, "events are made for order only");
                    self.for_order_only.store(true, Ordering::Relaxed);
                    return Ok(event);
                }
                answer => return answer,
            }
        }
        Event::new(context, FLAGS_OF_ORDER)
    }

    /// Moves what has settled to the free list.
    fn reclaim(&self, context: &Context, streams: &Streams) {
        // Taken out, so that no lock is held while ACL is asked.
        let fences = std::mem::take(&mut self.state.lock().fences);
        let (mut settled, mut pending) = (Vec::new(), Vec::new());
        for fence in fences {
            // Where ACL cannot say, the answer comes next time.
            if fence.poll().unwrap_or(false) { settled.push(fence.event) } else { pending.push(fence) }
        }
        let mut state = self.state.lock();
        let parked = std::mem::take(&mut state.parked);
        for recorded in parked {
            // Another thread may hold one that it knew before the release.
            match Arc::try_unwrap(recorded) {
                Ok(recorded) if recorded.is_settled() => settled.push(recorded.event),
                Ok(recorded) => state.parked.push(Arc::new(recorded)),
                Err(recorded) => state.parked.push(recorded),
            }
        }
        state.fences.append(&mut pending);
        let wants_fences = state.parked.len() >= PARKED_LIMIT && state.fences.is_empty();
        let blockers = if wants_fences {
            state.parked.iter().flat_map(|parked| parked.held_back_by()).collect()
        } else {
            Vec::new()
        };
        drop(state);
        for event in settled {
            self.keep(event);
        }
        self.fence(context, streams, blockers);
    }

    /// Records an event of our own in each of these streams.
    fn fence(&self, context: &Context, streams: &Streams, mut blockers: Vec<Arc<Progress>>) {
        blockers.sort_by_key(Arc::as_ptr);
        blockers.dedup_by(|one, other| Arc::ptr_eq(one, other));
        for progress in blockers {
            let Some(registered) = streams.of_progress(&progress) else { continue };
            let fence = self
                .create(context)
                .and_then(|event| Recorded::new(event, &registered).map_err(|(error, _)| error));
            match fence {
                Ok(fence) => self.state.lock().fences.push(fence),
                // Without it the parked events wait longer; nothing depends on it.
                Err(error) => tracing::debug!(%error, "no fence"),
            }
        }
    }

    /// Keeps an event with nothing pending for the next record; one that cannot be recorded again is destroyed.
    fn keep(&self, event: Event) {
        if self.re_recordable {
            self.state.lock().free.push(event);
        }
    }

    fn release(&self, event: DeviceEvent) -> Result<(), BackendError> {
        let mut state = self.state.lock();
        let recorded = state.named.remove(&event).ok_or(BackendError::UnknownEvent { event })?;
        let settled = match Arc::try_unwrap(recorded) {
            Ok(recorded) if recorded.is_settled() => recorded.event,
            Ok(recorded) => {
                state.parked.push(Arc::new(recorded));
                return Ok(());
            }
            Err(recorded) => {
                state.parked.push(recorded);
                return Ok(());
            }
        };
        drop(state);
        self.keep(settled);
        Ok(())
    }
}

impl StreamOrder for AscendBackend {
    fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
        self.events().record(self.context(), self.streams(), stream)
    }

    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
        self.events().get(event)?.poll().map_err(|error| device_error(error, Bytes::ZERO))
    }

    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        let recorded = self.events().get(event)?;
        if !recorded.is_known_complete() {
            recorded.event.synchronize().map_err(|error| device_error(error, Bytes::ZERO))?;
            recorded.note_complete();
        }
        Ok(())
    }

    fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError> {
        let recorded = self.events().get(event)?;
        let registered = self.streams().get(stream)?;
        // What has happened, or lies before in the same stream, orders by itself.
        if recorded.is_known_complete() || recorded.stream == stream {
            return Ok(());
        }
        let answer = registered.stream.wait(&recorded.event);
        // Also after a failure: nobody knows what the stream was given then.
        recorded.waits.lock().push(registered.progress.mark());
        answer.map_err(|error| device_error(error, Bytes::ZERO))
    }

    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        Ok(self.events().release(event)?)
    }
}
