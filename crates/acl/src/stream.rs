//! Streams: queues of device work that run in order.
#![expect(unsafe_code, reason = "declares functions whose caller must keep memory until the device is done")]

use std::sync::Arc;
use std::time::Duration;

use acl_sys::{
    ACL_CONTINUE_ON_FAILURE, ACL_STOP_ON_FAILURE, ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC,
    ACL_STREAM_HUGE, ACL_STREAM_PERSISTENT, ACL_STREAM_WAIT_VALUE_AND, ACL_STREAM_WAIT_VALUE_EQ,
    ACL_STREAM_WAIT_VALUE_GEQ, ACL_STREAM_WAIT_VALUE_NOR, aclrtStreamStatus,
};
use parking_lot::Mutex;

use crate::api::{Handle, StreamKind, destroy_stream_force};
use crate::context::Bound;
use crate::owned::Owned;
use crate::stream_allocator::Allocators;
use crate::{AclError, Context, DeviceSlice, Event, PinnedMemory, Refused};

/// A stream. Its drop waits for its work, then destroys it; one of foreign code is only let go.
///
/// Any thread; what two threads put into it at once comes in one of the two orders.
#[derive(Debug)]
pub struct Stream {
    pub(crate) owned: Owned<Handle<StreamKind>>,
    /// Dropped after the stream, which may call them.
    pub(crate) allocators: Mutex<Allocators>,
}

/// What a stream is made for; to be combined with [`StreamFlags::and`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StreamFlags(pub u32);

impl StreamFlags {
    /// Tasks are handed to the device sooner, for more work of the host.
    pub const FAST_LAUNCH: Self = Self(ACL_STREAM_FAST_LAUNCH);
    /// A waiting thread asks again and again and does not sleep.
    pub const FAST_SYNC: Self = Self(ACL_STREAM_FAST_SYNC);
    /// Tasks stay, to be run again.
    pub const PERSISTENT: Self = Self(ACL_STREAM_PERSISTENT);
    /// Room for more tasks.
    pub const HUGE: Self = Self(ACL_STREAM_HUGE);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// How [`Stream::wait_value`] compares the 64 bits in memory with the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueComparison {
    /// The memory is equal or greater; the difference counts as a signed number, so that a counter may wrap.
    GreaterOrEqual,
    /// The memory is equal.
    Equal,
    /// Some bit of the value is set in the memory.
    AnyBit,
    /// Some bit is set neither in the memory nor in the value.
    NeitherBit,
}

impl Stream {
    /// Creates a stream.
    ///
    /// # Errors
    ///
    /// ACL's own; of kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if the device has none left.
    pub fn new(context: &Context) -> Result<Self, AclError> {
        Ok(Self::of(Owned::make(context, Bound::create_stream)?))
    }

    /// Creates a stream with a priority (0 is the highest) and flags.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn with_options(context: &Context, priority: u32, flags: StreamFlags) -> Result<Self, AclError> {
        Ok(Self::of(Owned::make(context, |bound| bound.create_stream_with(priority, flags.0))?))
    }

    pub(crate) fn of(owned: Owned<Handle<StreamKind>>) -> Self {
        Self { owned, allocators: Mutex::default() }
    }

    /// Its context.
    pub fn context(&self) -> Context {
        Context { inner: Arc::clone(self.owned.context()) }
    }

    /// Its number on the device, which a later stream may get again.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn id(&self) -> Result<i32, AclError> {
        self.owned.bind()?.stream_id(self.owned.get())
    }

    /// Its flags.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn flags(&self) -> Result<StreamFlags, AclError> {
        self.owned.bind()?.stream_flags(self.owned.get()).map(StreamFlags)
    }

    /// Its priority; 0 is the highest.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn priority(&self) -> Result<u32, AclError> {
        self.owned.bind()?.stream_priority(self.owned.get())
    }

    /// Whether foreign code made it, and destroys it.
    pub fn is_foreign(&self) -> bool {
        self.owned.is_foreign()
    }

    /// Whether work behind a failed task is left out, instead of run as if nothing had happened. Left out work may be what
    /// gives a later reader its data, so a failure is told once, by the next wait.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn stop_on_failure(&self, stop: bool) -> Result<(), AclError> {
        let mode = if stop { ACL_STOP_ON_FAILURE } else { ACL_CONTINUE_ON_FAILURE };
        self.owned.bind()?.set_stream_failure_mode(self.owned.get(), mode)
    }

    /// Drops all work that is in the stream, also what runs; what it would have written is undefined. Host functions among it
    /// are neither run nor dropped. Streams that wait for this one may then wait for ever, until they are aborted too. Only on
    /// A2, A3 and 950.
    ///
    /// CANN does not say that what ran has let go of its memory when this returns: wait for the
    /// [device](Context::synchronize_device) before that is freed.
    ///
    /// # Errors
    ///
    /// ACL's own; of kind [`Unsupported`](crate::ErrorKind::Unsupported) on other cards.
    pub fn abort(&self) -> Result<(), AclError> {
        self.owned.bind()?.abort_stream(self.owned.get())
    }

    /// The same for work that has not begun; what runs goes on.
    ///
    /// # Errors
    ///
    /// As for [`Self::abort`].
    pub fn stop(&self) -> Result<(), AclError> {
        self.owned.bind()?.stop_stream(self.owned.get())
    }

    /// Destroys the stream now, without waiting for its work, which is dropped as by [`Self::abort`], with the same care for
    /// its memory. One of foreign code is only let go.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the stream, if ACL did not destroy it; its allocator is unregistered all the same.
    pub fn destroy_now(mut self) -> Result<(), Refused<Self>> {
        self.allocators.get_mut().before_stream(&self.owned);
        match self.owned.try_release(destroy_stream_force) {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused { error, owner: self }),
        }
    }

    /// Waits until all its work is done.
    ///
    /// # Errors
    ///
    /// ACL's own, among them errors of that work.
    pub fn synchronize(&self) -> Result<(), AclError> {
        self.owned.bind()?.synchronize_stream(self.owned.get())
    }

    /// The same, but not for longer than `limit`, which is rounded up to milliseconds.
    ///
    /// # Errors
    ///
    /// As for [`Self::synchronize`]; of kind [`Busy`](crate::ErrorKind::Busy) when the time ran out.
    pub fn synchronize_for(&self, limit: Duration) -> Result<(), AclError> {
        self.owned.bind()?.synchronize_stream_for(self.owned.get(), millis(limit))
    }

    /// Whether all its work is done; does not wait.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn is_idle(&self) -> Result<bool, AclError> {
        let status = self.owned.bind()?.query_stream(self.owned.get())?;
        Ok(status == aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE)
    }

    /// Makes what comes later in this stream wait for `event`.
    ///
    /// # Errors
    ///
    /// [`AclError::NotRecorded`], or ACL's own.
    pub fn wait(&self, event: &Event) -> Result<(), AclError> {
        event.require_record("aclrtStreamWaitEvent")?;
        self.owned.bind()?.stream_wait_event(self.owned.get(), event.owned.get())
    }

    /// Runs `work` on a thread of ACL when the stream comes here; what is later waits for it. `work` must not call ACL,
    /// which deadlocks; a panic in it is traced and ends there. If the stream is aborted first, it is never run nor dropped.
    ///
    /// # Errors
    ///
    /// ACL's own; `work` is dropped then.
    pub fn launch_host_function(&self, work: impl FnOnce() + Send + 'static) -> Result<(), AclError> {
        self.owned.bind()?.launch_host_function(self.owned.get(), Box::new(work))
    }

    /// Writes `value` to the first 8 bytes of `place` when the stream comes here. Only on A2, A3 and 950.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] for fewer bytes, [`AclError::Argument`] for an address that is no multiple of 8, or ACL's own.
    ///
    /// # Safety
    ///
    /// - Until the stream has passed this, the memory is neither freed nor unmapped.
    pub unsafe fn write_value(&self, place: DeviceSlice<'_>, value: u64) -> Result<(), AclError> {
        let address = address_of_word(place)?;
        let bound = self.owned.bind()?;
        // SAFETY: a slice is device memory of its size now, and so long by the caller's promise.
        unsafe { bound.write_value(address, value, self.owned.get()) }
    }

    /// Holds what comes later in the stream until the first 8 bytes of `place` compare with `value`. Only on A2, A3 and 950.
    ///
    /// # Errors
    ///
    /// As for [`Self::write_value`].
    ///
    /// # Safety
    ///
    /// - As for [`Self::write_value`].
    pub unsafe fn wait_value(
        &self,
        place: DeviceSlice<'_>,
        value: u64,
        comparison: ValueComparison,
    ) -> Result<(), AclError> {
        let address = address_of_word(place)?;
        let comparison = match comparison {
            ValueComparison::GreaterOrEqual => ACL_STREAM_WAIT_VALUE_GEQ,
            ValueComparison::Equal => ACL_STREAM_WAIT_VALUE_EQ,
            ValueComparison::AnyBit => ACL_STREAM_WAIT_VALUE_AND,
            ValueComparison::NeitherBit => ACL_STREAM_WAIT_VALUE_NOR,
        };
        let bound = self.owned.bind()?;
        // SAFETY: as above.
        unsafe { bound.wait_value(address, value, comparison, self.owned.get()) }
    }

    /// Copies from pinned memory, from `offset` on, to all of `destination`, in the order of the stream.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] of the pinned memory, or ACL's own.
    ///
    /// # Safety
    ///
    /// - Until the stream has passed this, both memories are neither freed nor unmapped, and the source is not written.
    pub unsafe fn copy_to_device(
        &self,
        destination: DeviceSlice<'_>,
        source: &PinnedMemory,
        offset: usize,
    ) -> Result<(), AclError> {
        let source = (source.owned.get(), offset);
        let bound = self.owned.bind()?;
        // SAFETY: a slice is device memory of its size now, and so long by the caller's promise.
        unsafe {
            bound.copy_to_device_async(destination.address(), source, destination.size(), self.owned.get())
        }
    }

    /// Copies all of `source` to pinned memory, from `offset` on, in the order of the stream.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] of the pinned memory, or ACL's own.
    ///
    /// # Safety
    ///
    /// - Until the stream has passed this, both memories are neither freed nor unmapped, and the destination is neither
    ///   read nor written.
    pub unsafe fn copy_to_host(
        &self,
        destination: &PinnedMemory,
        offset: usize,
        source: DeviceSlice<'_>,
    ) -> Result<(), AclError> {
        let destination = (destination.owned.get(), offset);
        let bound = self.owned.bind()?;
        // SAFETY: as above.
        unsafe { bound.copy_to_host_async(destination, source.address(), source.size(), self.owned.get()) }
    }

    /// Copies all of `source` to the beginning of `destination`, in the order of the stream.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] if the source is larger, or ACL's own.
    ///
    /// # Safety
    ///
    /// - Until the stream has passed this, both memories are neither freed nor unmapped.
    pub unsafe fn copy_in_device(
        &self,
        destination: DeviceSlice<'_>,
        source: DeviceSlice<'_>,
    ) -> Result<(), AclError> {
        let (from, size) = (source.address(), source.size());
        let to = destination.slice(0, size)?.address();
        let bound = self.owned.bind()?;
        // SAFETY: as above, with the check of the line before.
        unsafe { bound.copy_in_device_async(to, from, size, self.owned.get()) }
    }

    /// Sets every byte of `destination`, in the order of the stream.
    ///
    /// # Errors
    ///
    /// ACL's own.
    ///
    /// # Safety
    ///
    /// - Until the stream has passed this, the memory is neither freed nor unmapped.
    pub unsafe fn fill(&self, destination: DeviceSlice<'_>, value: u8) -> Result<(), AclError> {
        let bound = self.owned.bind()?;
        // SAFETY: as above.
        unsafe { bound.fill_async(destination.address(), value, destination.size(), self.owned.get()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let allocators = self.allocators.get_mut();
        allocators.before_stream(&self.owned);
        if !self.owned.release_in_drop() || self.owned.is_foreign() {
            allocators.keep_for_ever();
        }
    }
}

/// The address of 8 bytes as the device takes it.
fn address_of_word(place: DeviceSlice<'_>) -> Result<u64, AclError> {
    let address = place.slice(0, size_of::<u64>())?.address();
    if !address.is_multiple_of(8) {
        let rule = "the device compares and writes 64 bits at multiples of 8";
        return Err(AclError::Argument { parameter: "address", value: address, rule });
    }
    Ok(address)
}

/// Milliseconds for ACL: rounded up, at least 1, and never the negative number that would wait for ever.
pub(crate) fn millis(limit: Duration) -> i32 {
    let millis = limit.as_nanos().div_ceil(1_000_000).max(1);
    i32::try_from(millis).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_stay_in_range() {
        assert_eq!(millis(Duration::ZERO), 1);
        assert_eq!(millis(Duration::from_micros(1_001)), 2);
        assert_eq!(millis(Duration::MAX), i32::MAX);
    }
}
