//! Streams and events.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use acl_sys::{aclrtEvent, aclrtEventRecordedStatus, aclrtStream, aclrtStreamStatus};

use super::{Handle, Release};
use crate::context::Bound;
use crate::{AclError, Refused};

/// A stream; see [`Handle`].
#[derive(Debug)]
pub(crate) enum StreamKind {}
/// An event; see [`Handle`].
#[derive(Debug)]
pub(crate) enum EventKind {}

type StreamHandle = Handle<StreamKind>;
type EventHandle = Handle<EventKind>;

/// What a host function runs.
type HostWork = Box<dyn FnOnce() + Send>;

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
        event: &EventHandle,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtStreamWaitEvent();
        // SAFETY: both live (A1, A2, A4).
        api.call("aclrtStreamWaitEvent", function, |wait| unsafe { wait(stream.raw(), event.raw()) })
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

    pub(crate) fn create_event(&self) -> Result<EventHandle, AclError> {
        let mut event: aclrtEvent = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCreateEvent();
        // SAFETY: the out-parameter is a local (A1, A4, A5).
        api.call("aclrtCreateEvent", function, |create| unsafe { create(&raw mut event) })?;
        Handle::new(event, "aclrtCreateEvent")
    }

    pub(crate) fn create_event_with_flag(&self, flags: u32) -> Result<EventHandle, AclError> {
        let mut event: aclrtEvent = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCreateEventWithFlag();
        // SAFETY: the out-parameter is a local; ACL checks the flags (A1, A4, A5).
        api.call("aclrtCreateEventWithFlag", function, |create| unsafe { create(&raw mut event, flags) })?;
        Handle::new(event, "aclrtCreateEventWithFlag")
    }

    pub(crate) fn create_event_ex(&self, flags: u32) -> Result<EventHandle, AclError> {
        let mut event: aclrtEvent = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtCreateEventExWithFlag();
        // SAFETY: the out-parameter is a local; ACL checks the flags (A1, A4, A5).
        api.call("aclrtCreateEventExWithFlag", function, |create| unsafe { create(&raw mut event, flags) })?;
        Handle::new(event, "aclrtCreateEventExWithFlag")
    }

    pub(crate) fn record_event(&self, event: &EventHandle, stream: &StreamHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtRecordEvent();
        // SAFETY: both live (A1, A2, A4).
        api.call("aclrtRecordEvent", function, |record| unsafe { record(event.raw(), stream.raw()) })
    }

    pub(crate) fn reset_event(&self, event: &EventHandle, stream: &StreamHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtResetEvent();
        // SAFETY: both live (A1, A2, A4).
        api.call("aclrtResetEvent", function, |reset| unsafe { reset(event.raw(), stream.raw()) })
    }

    pub(crate) fn query_event(&self, event: &EventHandle) -> Result<aclrtEventRecordedStatus, AclError> {
        let mut status = aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY;
        let api = self.api();
        let function = api.table().aclrtQueryEventStatus();
        // SAFETY: the event lives; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtQueryEventStatus", function, |query| unsafe { query(event.raw(), &raw mut status) })?;
        Ok(status)
    }

    pub(crate) fn synchronize_event(&self, event: &EventHandle) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeEvent();
        // SAFETY: the event lives (A1, A2, A4).
        api.call("aclrtSynchronizeEvent", function, |wait| unsafe { wait(event.raw()) })
    }

    pub(crate) fn synchronize_event_for(&self, event: &EventHandle, millis: i32) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeEventWithTimeout();
        // SAFETY: the event lives (A1, A2, A4).
        api.call("aclrtSynchronizeEventWithTimeout", function, |wait| unsafe { wait(event.raw(), millis) })
    }

    /// Milliseconds between two events.
    pub(crate) fn elapsed(&self, start: &EventHandle, end: &EventHandle) -> Result<f32, AclError> {
        let mut millis = 0.0;
        let api = self.api();
        let function = api.table().aclrtEventElapsedTime();
        // SAFETY: both live; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtEventElapsedTime", function, |get| unsafe {
            get(&raw mut millis, start.raw(), end.raw())
        })?;
        Ok(millis)
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

impl Release for EventHandle {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw();
        let api = bound.api();
        let function = api.table().aclrtDestroyEvent();
        // SAFETY: the event lives, and this is the only handle; pending records and waits are ACL's to finish
        // (A1, A2, A4).
        api.call("aclrtDestroyEvent", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}
