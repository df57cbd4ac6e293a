//! Events and waits: the calls of the device that stream order needs, all made without the pool's lock.

use super::Inner;
use super::state::State;
use crate::device::{DeviceError, DeviceEvent, DeviceStream, StreamOrder};
use crate::order::{Batch, Slot, Stamps, StreamId};
use crate::sync::thread;

/// Frees on one stream after which an event is recorded behind them, where there are several streams. Few in models, which are small.
const FREES_FOR_EVENT: u32 = if cfg!(shuttle) { 2 } else { 64 };
/// Small objects, or runs, that become everybody's in one hold of the lock.
const SETTLED_AT_ONCE: usize = 64;

/// A closed epoch for which an event is to be recorded.
#[derive(Debug)]
pub(super) struct Closed {
    slot: Slot,
    device: DeviceStream,
    epoch: u64,
    waited: Vec<u64>,
}

impl Closed {
    /// Closes the open epoch of a stream.
    fn close(state: &mut State, slot: Slot) -> Self {
        let streams = &mut state.heap.streams;
        let epoch = streams.close_epoch(slot);
        Self { slot, device: streams.device_stream(slot), epoch, waited: streams.waited_by(slot) }
    }

    fn batch(self, event: DeviceEvent) -> Batch {
        Batch { slot: self.slot, epoch: self.epoch, event, waited: self.waited }
    }
}

/// Closes the epoch of a stream if enough was freed in it and somebody else might want the memory.
#[inline]
pub(super) fn due(state: &mut State, slot: Slot) -> Option<Closed> {
    let streams = &state.heap.streams;
    let wanted = streams.open_count() > 1 || state.has_host_requests;
    (wanted && streams.frees_in_epoch(slot) >= FREES_FOR_EVENT).then(|| Closed::close(state, slot))
}

/// The slot of a stream that is to wait. It may have ended since, and the slot may be another stream's by now.
fn waiter(state: &State, stream: StreamId) -> Result<Slot, DeviceError> {
    let slot = state.heap.streams.slot_of(stream);
    slot.ok_or_else(|| DeviceError::Other("the stream that was to wait has ended".into()))
}

impl Inner {
    /// Records an event for a closed epoch. Without it nothing is lost: a later event covers the epoch too.
    pub(super) fn record(&self, closed: Closed) -> Result<(), DeviceError> {
        let Some(order) = self.device.stream_order() else { return Ok(()) };
        let event = order.record_event(closed.device)?;
        self.keep_batch(closed.batch(event));
        Ok(())
    }

    fn keep_batch(&self, batch: Batch) {
        let mut state = self.state.lock();
        state.counters.events += 1;
        state.heap.streams.put_batch(batch);
    }

    /// Makes a stream come after all work that is pending on a block for it.
    pub(super) fn insert_waits(&self, stream: StreamId, pending: &Stamps) -> Result<(), DeviceError> {
        let Some(order) = self.device.stream_order() else { return Ok(()) };
        let in_order = self.state.lock().heap.streams.in_order_of_waits(pending);
        for stamp in in_order {
            let slot = stamp.slot();
            let mut state = self.state.lock();
            let waiter = waiter(&state, stream)?;
            // An earlier wait of this loop may have brought it along.
            if state.heap.streams.is_ordered(stamp, Some(waiter)) {
                continue;
            }
            let device = state.heap.streams.device_stream(waiter);
            let batch = if state.heap.streams.is_open(slot) {
                let closed = Closed::close(&mut state, slot);
                drop(state);
                let event = order.record_event(closed.device)?;
                self.state.lock().counters.events += 1;
                closed.batch(event)
            } else {
                // Nothing can be recorded there any more; one of its events covers all that it was given.
                let covering = state.heap.streams.take_batch_covering(stamp);
                drop(state);
                covering.ok_or_else(|| {
                    DeviceError::Other("another thread has the last event of a stream in hand".into())
                })?
            };
            let in_hand = InHand { inner: self, batch: Some(batch) };
            if let Some(batch) = &in_hand.batch {
                order.wait_event(device, batch.event)?;
                self.note_wait(stream, batch)?;
            }
        }
        Ok(())
    }

    /// Takes note of a wait that was made, if the stream that waits has not ended meanwhile.
    fn note_wait(&self, stream: StreamId, batch: &Batch) -> Result<(), DeviceError> {
        let mut state = self.state.lock();
        state.counters.waits += 1;
        let waiter = waiter(&state, stream)?;
        state.heap.streams.note_wait(waiter, batch.slot, batch.epoch, &batch.waited);
        Ok(())
    }

    /// Asks the device about the oldest events of every stream and takes note of those that have passed. One thread at a time does so;
    /// another one comes back at once. Answers whether any had passed.
    pub(super) fn reap(&self) -> bool {
        let Some(order) = self.device.stream_order() else { return false };
        let Some(_reaping) = Reaping::begin(self, false) else { return false };
        self.go_through_batches(|batch| order.is_complete(batch.event), order)
    }

    /// Waits, on this thread, for all that any stream has been given. Goes on when it cannot for one of them, and says so at the end.
    pub(super) fn synchronize_all(&self) -> Result<(), DeviceError> {
        let Some(order) = self.device.stream_order() else { return Ok(()) };
        let mut failed = None;
        let slots: Vec<Slot> = {
            let me = thread::current().id();
            let mut state = self.state.lock();
            // The last event of a stream that is ending counts, too.
            while state.ending.iter().any(|&thread| thread != me) {
                self.turn_ended.wait(&mut state);
            }
            state.heap.streams.open_slots().collect()
        };
        for slot in slots {
            let closed = {
                let mut state = self.state.lock();
                if !state.heap.streams.is_open(slot) {
                    continue;
                }
                Closed::close(&mut state, slot)
            };
            let device = closed.device;
            if let Err(error) = self.record(closed) {
                // If it has ended meanwhile, it may be gone, and its last event is among those that are waited for.
                let streams = &self.state.lock().heap.streams;
                if streams.is_open(slot) && streams.device_stream(slot) == device {
                    failed.get_or_insert(error);
                }
            }
        }
        if let Some(_reaping) = Reaping::begin(self, true) {
            self.go_through_batches(
                |batch| match order.synchronize_event(batch.event) {
                    Ok(()) => Ok(true),
                    Err(error) => {
                        failed.get_or_insert(error);
                        Ok(false)
                    }
                },
                order,
            );
        }
        failed.map_or(Ok(()), Err)
    }

    /// Asks about batches, oldest first on each stream, until one is not done. The caller is the one that reaps.
    fn go_through_batches(
        &self,
        mut is_done: impl FnMut(&Batch) -> Result<bool, DeviceError>,
        order: &dyn StreamOrder,
    ) -> bool {
        let slots = self.state.lock().heap.streams.slots();
        let mut any = false;
        for slot in 0..slots {
            loop {
                // In a statement of its own, so that the lock is free while the device is asked.
                let oldest = self.state.lock().heap.streams.pop_batch(slot);
                let Some(batch) = oldest else { break };
                let mut in_hand = InHand { inner: self, batch: Some(batch) };
                let done = in_hand.batch.as_ref().is_some_and(|batch| match is_done(batch) {
                    Ok(done) => done,
                    Err(error) => {
                        tracing::debug!(pool = %self.name, %error, "an event could not be asked about");
                        false
                    }
                });
                if !done {
                    break;
                }
                any = true;
                if let Some(batch) = in_hand.batch.take() {
                    self.complete(&batch);
                    self.release_event(&batch, order);
                }
            }
        }
        if any {
            while self.state.lock().heap.settle_objects(SETTLED_AT_ONCE) == SETTLED_AT_ONCE {}
            // A slice of the runs: who misses one joins all that can be.
            self.state.lock().heap.rejoin(SETTLED_AT_ONCE);
        }
        any
    }

    /// Gives back the events that could not be waited for, when nobody is left to ask about them.
    pub(super) fn release_events(&self) {
        let Some(order) = self.device.stream_order() else { return };
        let slots = self.state.lock().heap.streams.slots();
        for slot in 0..slots {
            loop {
                let next = self.state.lock().heap.streams.pop_batch(slot);
                let Some(batch) = next else { break };
                self.release_event(&batch, order);
            }
        }
    }

    fn release_event(&self, batch: &Batch, order: &dyn StreamOrder) {
        if let Err(error) = order.release_event(batch.event) {
            tracing::debug!(pool = %self.name, %error, "an event could not be given back");
        }
    }

    fn complete(&self, batch: &Batch) {
        self.state.lock().heap.streams.complete(batch);
    }
}

/// A batch that is out of the table while the device is called about it, so that nobody releases its event. Goes back when this is
/// dropped, also when the device panics, unless it was taken.
struct InHand<'a> {
    inner: &'a Inner,
    batch: Option<Batch>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.inner.state.lock().heap.streams.put_batch(batch);
        }
    }
}

/// The right to ask the device about batches, until this is dropped.
struct Reaping<'a> {
    inner: &'a Inner,
}

impl<'a> Reaping<'a> {
    /// `None` when another thread has it, unless that is waited for, or this one has it already.
    fn begin(inner: &'a Inner, wait: bool) -> Option<Self> {
        let me = thread::current().id();
        let mut state = inner.state.lock();
        loop {
            match state.reaping {
                // Only now: the thread before had one in hand.
                None if !state.heap.streams.has_batches() => return None,
                None => break,
                Some(thread) if thread == me || !wait => return None,
                Some(_) => inner.turn_ended.wait(&mut state),
            }
        }
        state.reaping = Some(me);
        drop(state);
        Some(Self { inner })
    }
}

impl Drop for Reaping<'_> {
    fn drop(&mut self) {
        self.inner.state.lock().reaping = None;
        self.inner.turn_ended.notify_all();
    }
}
