//! Streams: queues of device work that run in order.
#![expect(unsafe_code, reason = "declares functions whose caller must keep memory until the device is done")]

use std::sync::Arc;
use std::time::Duration;

use acl_sys::aclrtStreamStatus;

use crate::api::{Handle, StreamKind};
use crate::context::Bound;
use crate::owned::Owned;
use crate::{AclError, Context, DeviceSlice, Event, PinnedMemory};

/// A stream. Its drop waits for its work, then destroys it.
///
/// Any thread; what two threads put into it at once comes in one of the two orders.
#[derive(Debug)]
pub struct Stream {
    pub(crate) owned: Owned<Handle<StreamKind>>,
}

impl Stream {
    /// Creates a stream.
    ///
    /// # Errors
    ///
    /// ACL's own; of kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if the device has none left.
    pub fn new(context: &Context) -> Result<Self, AclError> {
        Ok(Self { owned: Owned::make(context, Bound::create_stream)? })
    }

    /// Creates a stream with a priority (0 is the highest) and ACL's `ACL_STREAM_…` flags.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn with_options(context: &Context, priority: u32, flags: u32) -> Result<Self, AclError> {
        Ok(Self { owned: Owned::make(context, |bound| bound.create_stream_with(priority, flags))? })
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
