//! Streams of a pool: adding and ending them, telling the pool what the caller did with them.

use super::allocate::Request;
use super::state::State;
use super::{Inner, Pool};
use crate::device::{DeviceStream, StreamOrder};
use crate::error::{AllocError, FreeError, StreamError};
use crate::handle::{Allocation, RawAllocation};
use crate::order::{Batch, Slot, StreamId, StreamMark, Streams};
use crate::sync::thread;
use crate::units::{Alignment, Bytes, DeviceAddress};

/// Allocating and freeing in the order of streams.
///
/// A block that is freed *on* a stream may be used again on that stream at once, and elsewhere when the stream's work before the
/// free is done, or when the other stream was made to wait for it. A free without a stream comes after all that any stream has been
/// given, and an allocation without a stream gets only what all streams have passed.
///
/// ```
/// # use std::sync::Arc;
/// # use mempool_core::{AddressDevice, Bytes, Pool, PoolConfig, StreamError};
/// # fn serve(pool: &Pool, on_device: mempool_core::DeviceStream) -> Result<(), Box<dyn std::error::Error>> {
/// let stream = pool.add_stream(on_device)?;
/// let workspace = pool.allocate_on(stream, Bytes::mib(40))?;
/// // ... enqueue work that uses it on the stream ...
/// drop(workspace); // at once, though the work still runs: the next block on this stream may be the same
/// pool.end_stream(stream)?;
/// # Ok(())
/// # }
/// # let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), PoolConfig::default())?;
/// # assert!(serve(&pool, mempool_core::DeviceStream::new(1)).is_err(), "this device has no streams");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Any thread may call any of them. Where several threads give work to one stream, each frees only what no other one's later work
/// uses.
impl Pool {
    /// Makes a stream of the device known to the pool. Its name is never used for another stream.
    ///
    /// # Errors
    ///
    /// [`StreamError::Unsupported`] when the device has no streams, [`StreamError::TooMany`] from 65 535 streams on.
    pub fn add_stream(&self, stream: DeviceStream) -> Result<StreamId, StreamError> {
        self.inner.stream_order()?;
        let mut state = self.inner.state.lock();
        state.heap.streams.add(self.inner.id, stream).ok_or(StreamError::TooMany { most: Streams::MAX })
    }

    /// Ends a stream, before it is destroyed on the device: what it was given so far still counts, and is followed by an event of the
    /// pool's. Blocks that were allocated on it stay live, and may be freed on it later.
    ///
    /// # Errors
    ///
    /// [`StreamError::Ended`] and [`StreamError::WrongPool`]; [`StreamError::Device`] when the event could not be recorded: the
    /// stream has not ended then. For a stream that is gone already, synchronise the device and call
    /// [`Pool::end_synchronized_stream`].
    pub fn end_stream(&self, stream: StreamId) -> Result<(), StreamError> {
        self.inner.end_stream(stream)
    }

    /// Ends a stream of which the caller knows that all its work is done.
    ///
    /// # Errors
    ///
    /// [`StreamError::Ended`] and [`StreamError::WrongPool`].
    pub fn end_synchronized_stream(&self, stream: StreamId) -> Result<(), StreamError> {
        let mut state = self.inner.state.lock();
        let streams = &mut state.heap.streams;
        let slot = self.inner.open_slot(streams, stream)?;
        let last = streams.end(slot);
        streams.set_done(slot, last);
        settle(&mut state);
        Ok(())
    }

    /// As [`Pool::allocate`], for use on `stream` first.
    ///
    /// # Errors
    ///
    /// As [`Pool::allocate_raw_on`].
    pub fn allocate_on(&self, stream: StreamId, bytes: Bytes) -> Result<Allocation, AllocError> {
        let raw = self.allocate_raw_on(stream, bytes, Alignment::ONE)?;
        Ok(Allocation::on_stream(self.clone(), raw, stream))
    }

    /// As [`Pool::allocate_raw`], for use on `stream` first. The stream may be made to wait for others, on the device, when nothing else
    /// serves.
    ///
    /// # Errors
    ///
    /// As [`Pool::allocate_raw`], and [`AllocError::Stream`].
    pub fn allocate_raw_on(
        &self,
        stream: StreamId,
        bytes: Bytes,
        alignment: Alignment,
    ) -> Result<RawAllocation, AllocError> {
        self.inner.allocate(bytes, alignment, Some(stream))
    }

    /// As [`Pool::free`], in the order of `stream`, which need not be the one that it was allocated on: the block may be used again by
    /// who comes after what the stream has been given so far. A stream that has ended counts with what it had been given.
    ///
    /// As with every stream-ordered allocator, another stream than that of the allocation must have been made to come after that one, by an
    /// event or by the host, before it used or frees the block.
    ///
    /// # Errors
    ///
    /// As [`Pool::free`], and [`FreeError::WrongStream`].
    pub fn free_on(&self, address: DeviceAddress, stream: StreamId) -> Result<Bytes, FreeError> {
        self.inner.free(address, None, Some(stream))
    }

    /// Tells that the live block at `address` is used on `stream` too: when it is freed, what that stream has been given by then
    /// counts as well.
    ///
    /// # Errors
    ///
    /// [`StreamError`] for the stream, [`StreamError::Block`] when no live block starts there.
    pub fn record_use(&self, address: DeviceAddress, stream: StreamId) -> Result<(), StreamError> {
        let mut state = self.inner.state.lock();
        self.inner.open_slot(&state.heap.streams, stream)?;
        state.heap.live_block(address)?;
        let uses = state.uses.entry(address).or_default();
        if !uses.contains(&stream) {
            uses.push(stream);
        }
        Ok(())
    }

    /// Marks all that a stream has been given so far. Make the mark *before* you record an event of your own or synchronise, so that
    /// no later free is taken for an earlier one.
    ///
    /// # Errors
    ///
    /// [`StreamError::Ended`] and [`StreamError::WrongPool`].
    pub fn mark(&self, stream: StreamId) -> Result<StreamMark, StreamError> {
        let mut state = self.inner.state.lock();
        self.inner.open_slot(&state.heap.streams, stream)?;
        state.heap.streams.mark(stream).ok_or(StreamError::Ended { stream })
    }

    /// Tells that all up to a mark is done, because the caller has synchronised the stream or the device since.
    ///
    /// # Errors
    ///
    /// [`StreamError::WrongPool`].
    pub fn synchronized(&self, mark: StreamMark) -> Result<(), StreamError> {
        let stream = mark.stream();
        if stream.pool() != self.inner.id {
            return Err(StreamError::WrongPool { stream });
        }
        let mut state = self.inner.state.lock();
        state.heap.streams.mark_done(mark);
        settle(&mut state);
        Ok(())
    }

    /// Tells that the caller has made `waiter` wait, on the device, for all up to a mark. Without effect when
    /// [`StreamReuse::event_dependencies`](crate::StreamReuse::event_dependencies) is off.
    ///
    /// # Errors
    ///
    /// [`StreamError::Ended`] and [`StreamError::WrongPool`].
    pub fn note_wait(&self, waiter: StreamId, mark: StreamMark) -> Result<(), StreamError> {
        let stream = mark.stream();
        if stream.pool() != self.inner.id {
            return Err(StreamError::WrongPool { stream });
        }
        let mut state = self.inner.state.lock();
        let slot = self.inner.open_slot(&state.heap.streams, waiter)?;
        if self.inner.config.stream_reuse().event_dependencies {
            state.heap.streams.mark_waited(slot, mark);
        }
        Ok(())
    }

    /// Asks the device which recorded events have passed, and makes what waited for them everybody's. The pool does so by itself when
    /// it runs short; a server with a loop of its own may do it in idle moments. Answers whether any had passed.
    pub fn reap(&self) -> bool {
        self.inner.reap()
    }
}

/// Makes what all have passed everybody's, after the caller has said what is done.
fn settle(state: &mut State) {
    state.heap.settle_objects(usize::MAX);
    state.heap.join_passed();
}

impl Inner {
    pub(super) fn stream_order(&self) -> Result<&dyn StreamOrder, StreamError> {
        let unsupported = || StreamError::Unsupported { device: self.properties.name.clone() };
        self.device.stream_order().ok_or_else(unsupported)
    }

    /// The slot of a stream of this pool that takes work.
    pub(super) fn open_slot(&self, streams: &Streams, stream: StreamId) -> Result<Slot, StreamError> {
        if stream.pool() != self.id {
            return Err(StreamError::WrongPool { stream });
        }
        streams.slot_of(stream).ok_or(StreamError::Ended { stream })
    }

    /// Checks the stream of a request before anything is touched.
    pub(super) fn check_stream(&self, request: &Request) -> Result<(), StreamError> {
        match request.stream {
            Some(stream) => self.open_slot(&self.state.lock().heap.streams, stream).map(drop),
            None => Ok(()),
        }
    }

    fn end_stream(&self, stream: StreamId) -> Result<(), StreamError> {
        let order = self.stream_order()?;
        let (slot, device, epoch, waited) = {
            let mut state = self.state.lock();
            let streams = &mut state.heap.streams;
            let slot = self.open_slot(streams, stream)?;
            // First, so that no free slips in between the event and the end.
            let ended = (slot, streams.device_stream(slot), streams.end(slot), streams.waited_by(slot));
            state.ending.push(thread::current().id());
            ended
        };
        let ending = Ending { inner: self, slot, is_recorded: false };
        let event = order.record_event(device).map_err(|source| StreamError::Device { stream, source })?;
        ending.recorded(Batch { slot, epoch, event, waited });
        Ok(())
    }
}

/// A stream that has ended and whose last event is on its way. It is open again when this is dropped, because the device refused the event
/// or panicked, unless the event is recorded.
struct Ending<'a> {
    inner: &'a Inner,
    slot: Slot,
    is_recorded: bool,
}

impl Ending<'_> {
    fn recorded(mut self, batch: Batch) {
        let mut state = self.inner.state.lock();
        state.counters.events += 1;
        state.heap.streams.put_batch(batch);
        self.is_recorded = true;
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.inner.state.lock();
        if !self.is_recorded {
            state.heap.streams.reopen(self.slot);
        }
        let me = thread::current().id();
        if let Some(index) = state.ending.iter().position(|&thread| thread == me) {
            state.ending.swap_remove(index);
        }
        drop(state);
        self.inner.turn_ended.notify_all();
    }
}
