//! Streams.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use acl_sys::{aclrtStream, aclrtStreamStatus};

use super::{EventKind, Handle, Release, device_pointer};
use crate::context::Bound;
use crate::{AclError, Refused};

/// A stream; see [`Handle`].
#[derive(Debug)]
pub(crate) enum StreamKind {}

type StreamHandle = Handle<StreamKind>;

/// What a host function runs.
type HostWork = Box<dyn FnOnce() + Send>;

impl StreamHandle {
    /// A stream that foreign code made.
    ///
    /// # Safety
    ///
    /// - `stream` is a stream of ACL, used with its context current only, and not destroyed while the handle is used.
    pub(crate) unsafe fn foreign_stream(stream: aclrtStream) -> Result<Self, AclError> {
        Self::foreign(stream, "stream")
    }
}

impl Bound<'_> {
    pub(crate) fn create_stream(&self) -> Result<StreamHandle, AclError> {
        let mut stream: aclrtStream = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCreateStream();
        // SAFETY: the out-parameter is a local (A1, A4, A5).
        api.call("aclrtCreateStream", function, |create| unsafe { create(&raw mut stream) })?;
        Handle::new(stream, "aclrtCreateStream")
    }

    pub(crate) fn create_stream_with(&self, priority: u32, flags: u32) -> Result<StreamHandle, AclError> {
        let mut stream: aclrtStream = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCreateStreamWithConfig();
        // SAFETY: the out-parameter is a local; ACL checks the numbers (A1, A4, A5).
        api.call("aclrtCreateStreamWithConfig", function, |create| unsafe {
            create(&raw mut stream, priority, flags)
        })?;
        Handle::new(stream, "aclrtCreateStreamWithConfig")
    }

    pub(crate) fn synchronize_stream(&self, stream: &StreamHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeStream();
        // SAFETY: the stream lives (A1, A2, A4).
        api.call("aclrtSynchronizeStream", function, |wait| unsafe { wait(stream.raw()) })
    }

    pub(crate) fn synchronize_stream_for(&self, stream: &StreamHandle, millis: i32) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeStreamWithTimeout();
        // SAFETY: the stream lives (A1, A2, A4).
        api.call("aclrtSynchronizeStreamWithTimeout", function, |wait| unsafe { wait(stream.raw(), millis) })
    }

    pub(crate) fn query_stream(&self, stream: &StreamHandle) -> Result<aclrtStreamStatus, AclError> {
        let mut status = aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        let api = self.api();
        let function = api.table().aclrtStreamQuery();
        // SAFETY: the stream lives; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtStreamQuery", function, |query| unsafe { query(stream.raw(), &raw mut status) })?;
        Ok(status)
    }

    pub(crate) fn stream_id(&self, stream: &StreamHandle) -> Result<i32, AclError> {
        let mut id = 0;
        let api = self.api();
        let function = api.table().aclrtStreamGetId();
        // SAFETY: the stream lives; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtStreamGetId", function, |get| unsafe { get(stream.raw(), &raw mut id) })?;
        Ok(id)
    }

    pub(crate) fn stream_wait_event(
        &self,
        stream: &StreamHandle,
        event: &Handle<EventKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtStreamWaitEvent();
        // SAFETY: both live (A1, A2, A4).
        api.call("aclrtStreamWaitEvent", function, |wait| unsafe { wait(stream.raw(), event.raw()) })
    }

    pub(crate) fn stream_flags(&self, stream: &StreamHandle) -> Result<u32, AclError> {
        let mut flags = 0;
        let api = self.api();
        let function = api.table().aclrtStreamGetFlags();
        // SAFETY: the stream lives; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtStreamGetFlags", function, |get| unsafe { get(stream.raw(), &raw mut flags) })?;
        Ok(flags)
    }

    pub(crate) fn stream_priority(&self, stream: &StreamHandle) -> Result<u32, AclError> {
        let mut priority = 0;
        let api = self.api();
        let function = api.table().aclrtStreamGetPriority();
        // SAFETY: the stream lives; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtStreamGetPriority", function, |get| unsafe { get(stream.raw(), &raw mut priority) })?;
        Ok(priority)
    }

    pub(crate) fn set_stream_failure_mode(&self, stream: &StreamHandle, mode: u64) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSetStreamFailureMode();
        // SAFETY: the stream lives (A1, A2, A4).
        api.call("aclrtSetStreamFailureMode", function, |set| unsafe { set(stream.raw(), mode) })
    }

    /// Drops all work of the stream, also what runs.
    pub(crate) fn abort_stream(&self, stream: &StreamHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtStreamAbort();
        // SAFETY: the stream lives; work that never runs touches nothing (A1, A2, A4).
        api.call("aclrtStreamAbort", function, |abort| unsafe { abort(stream.raw()) })
    }

    /// Drops the work of the stream that has not begun.
    pub(crate) fn stop_stream(&self, stream: &StreamHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtStreamStop();
        // SAFETY: as for `abort_stream`.
        api.call("aclrtStreamStop", function, |stop| unsafe { stop(stream.raw()) })
    }

    /// The stream that the current context has of itself, which is not the caller's to destroy.
    pub(crate) fn default_stream(&self) -> Result<StreamHandle, AclError> {
        let mut stream: aclrtStream = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCtxGetCurrentDefaultStream();
        // SAFETY: the out-parameter is a local (A1, A4, A5).
        api.call("aclrtCtxGetCurrentDefaultStream", function, |get| unsafe { get(&raw mut stream) })?;
        Handle::new(stream, "aclrtCtxGetCurrentDefaultStream")
    }

    /// Writes 64 bits in the order of the stream.
    ///
    /// # Safety
    ///
    /// - 8 bytes at `address` are device memory that the caller may write, until the stream has passed this.
    pub(crate) unsafe fn write_value(
        &self,
        address: u64,
        value: u64,
        stream: &StreamHandle,
    ) -> Result<(), AclError> {
        let address = device_pointer(address)?;
        let api = self.api();
        let function = api.table().aclrtValueWrite();
        // SAFETY: the caller's promise; the stream lives; no flag is defined (A1, A2, A4).
        api.call("aclrtValueWrite", function, |write| unsafe { write(address, value, 0, stream.raw()) })
    }

    /// Holds the stream until 64 bits compare as `comparison` says.
    ///
    /// # Safety
    ///
    /// - 8 bytes at `address` are device memory until the stream has passed this.
    pub(crate) unsafe fn wait_value(
        &self,
        address: u64,
        value: u64,
        comparison: u32,
        stream: &StreamHandle,
    ) -> Result<(), AclError> {
        let address = device_pointer(address)?;
        let api = self.api();
        let function = api.table().aclrtValueWait();
        // SAFETY: the caller's promise; the stream lives (A1, A2, A4).
        api.call("aclrtValueWait", function, |wait| unsafe { wait(address, value, comparison, stream.raw()) })
    }

    /// Puts `work` into the stream; a thread of the runtime runs it.
    pub(crate) fn launch_host_function(&self, stream: &StreamHandle, work: HostWork) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtLaunchHostFunc();
        // Twice boxed: a thin pointer for C.
        let argument: *mut HostWork = Box::into_raw(Box::new(work));
        // SAFETY: the stream lives; `run_host_work` takes what `argument` is, which owns all it needs, so that it does not
        // matter when it runs (A1, A2, A4).
        let launched = api.call("aclrtLaunchHostFunc", function, |launch| unsafe {
            launch(stream.raw(), Some(run_host_work), argument.cast())
        });
        if launched.is_err() {
            // SAFETY: the pointer is that of `Box::into_raw` above, and a launch that failed does not run it.
            drop(unsafe { Box::from_raw(argument) });
        }
        launched
    }
}

/// Runs one host function and frees it. A panic ends here: it must not pass through C.
extern "C" fn run_host_work(argument: *mut c_void) {
    // SAFETY: the pointer is that of `Box::into_raw` in `launch_host_function`, and ACL runs each launch once.
    let work = unsafe { Box::from_raw(argument.cast::<HostWork>()) };
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("a host function of a stream panicked; the stream goes on");
    }
}

impl Release for StreamHandle {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw();
        let api = bound.api();
        let function = api.table().aclrtDestroyStream();
        // SAFETY: the stream lives, and this is the only handle; ACL waits for its work (A1, A2, A4).
        api.call("aclrtDestroyStream", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

/// Destroys without waiting for the work.
pub(crate) fn destroy_stream_force(
    stream: StreamHandle,
    bound: &Bound<'_>,
) -> Result<(), Refused<StreamHandle>> {
    let raw = stream.raw();
    let api = bound.api();
    let function = api.table().aclrtDestroyStreamForce();
    // SAFETY: the stream lives, and this is the only handle; work that never runs touches nothing (A1, A2, A4).
    api.call("aclrtDestroyStreamForce", function, |destroy| unsafe { destroy(raw) })
        .map_err(|error| Refused { error, owner: stream })
}
