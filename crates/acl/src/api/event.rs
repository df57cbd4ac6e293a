//! Events.

use std::ptr;

use acl_sys::{aclrtEvent, aclrtEventRecordedStatus};

use super::{Handle, Release, StreamKind};
use crate::context::Bound;
use crate::{AclError, Refused};

/// An event; see [`Handle`].
#[derive(Debug)]
pub(crate) enum EventKind {}

type EventHandle = Handle<EventKind>;

impl Bound<'_> {
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

    pub(crate) fn record_event(
        &self,
        event: &EventHandle,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtRecordEvent();
        // SAFETY: both live (A1, A2, A4).
        api.call("aclrtRecordEvent", function, |record| unsafe { record(event.raw(), stream.raw()) })
    }

    pub(crate) fn reset_event(
        &self,
        event: &EventHandle,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
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
