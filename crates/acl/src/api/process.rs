//! Start and end of ACL, devices, contexts, and questions that need no context.

use std::ffi::CStr;
use std::ptr;

use acl_sys::{aclrtContext, aclrtMemAttr, aclrtRunMode};

use super::{Api, Handle};
use crate::context::Bound;
use crate::{AclError, Refused};

/// A context; see [`Handle`].
#[derive(Debug)]
pub(crate) enum ContextKind {}

impl Handle<ContextKind> {
    /// A context that foreign code made.
    ///
    /// # Safety
    ///
    /// - `context` is a context of ACL, and is not destroyed while the handle, or what needs it, lives.
    pub(crate) unsafe fn foreign_context(context: aclrtContext) -> Result<Self, AclError> {
        Self::foreign(context, "context")
    }
}

impl Api {
    pub(crate) fn init(&self, config: Option<&CStr>) -> Result<(), AclError> {
        let config = config.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: null or a C string that lives through the call (A1).
        self.call("aclInit", self.table().aclInit(), |init| unsafe { init(config) })
    }

    /// Tears ACL down, whatever the count.
    pub(crate) fn finalize(&self) -> Result<(), AclError> {
        // SAFETY: the caller is the drop of the last owner (A3), so no handle is left (A1).
        self.call("aclFinalize", self.table().aclFinalize(), |finalize| unsafe { finalize() })
    }

    /// Takes one from ACL's own count, and tears down at the last.
    pub(crate) fn finalize_reference(&self) -> Result<(), AclError> {
        let mut left = 0_u64;
        let function = self.table().aclFinalizeReference();
        // SAFETY: as for `finalize`; the out-parameter is a local (A5).
        self.call("aclFinalizeReference", function, |finalize| unsafe { finalize(&raw mut left) })
    }

    pub(crate) fn device_count(&self) -> Result<u32, AclError> {
        let mut count = 0;
        let function = self.table().aclrtGetDeviceCount();
        // SAFETY: the out-parameter is a local (A1, A5).
        self.call("aclrtGetDeviceCount", function, |get| unsafe { get(&raw mut count) })?;
        Ok(count)
    }

    pub(crate) fn set_device(&self, device: i32) -> Result<(), AclError> {
        // SAFETY: a number, which ACL checks (A1).
        self.call("aclrtSetDevice", self.table().aclrtSetDevice(), |set| unsafe { set(device) })
    }

    pub(crate) fn reset_device(&self, device: i32) -> Result<(), AclError> {
        // SAFETY: a number; each reset belongs to one set, so nothing of another owner goes (A1).
        self.call("aclrtResetDevice", self.table().aclrtResetDevice(), |reset| unsafe { reset(device) })
    }

    /// Frees all that the process has on the device, whatever the count.
    ///
    /// # Safety
    ///
    /// - No handle or memory of that device is used any more, now or later.
    pub(crate) unsafe fn reset_device_force(&self, device: i32) -> Result<(), AclError> {
        let function = self.table().aclrtResetDeviceForce();
        // SAFETY: the caller's promise (A1).
        self.call("aclrtResetDeviceForce", function, |reset| unsafe { reset(device) })
    }

    pub(crate) fn version(&self) -> Result<(i32, i32, i32), AclError> {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three locals (A1, A5).
        self.call("aclrtGetVersion", self.table().aclrtGetVersion(), |get| unsafe {
            get(&raw mut major, &raw mut minor, &raw mut patch)
        })?;
        Ok((major, minor, patch))
    }

    pub(crate) fn run_mode(&self) -> Result<aclrtRunMode, AclError> {
        let mut mode = aclrtRunMode(0);
        // SAFETY: the out-parameter is a local (A1, A5).
        self.call("aclrtGetRunMode", self.table().aclrtGetRunMode(), |get| unsafe { get(&raw mut mode) })?;
        Ok(mode)
    }

    /// The current context, which is not the caller's to destroy.
    pub(crate) fn current_context(&self) -> Result<Handle<ContextKind>, AclError> {
        let mut context: aclrtContext = ptr::null_mut();
        let function = self.table().aclrtGetCurrentContext();
        // SAFETY: the out-parameter is a local (A1, A5).
        self.call("aclrtGetCurrentContext", function, |get| unsafe { get(&raw mut context) })?;
        Handle::new(context, "aclrtGetCurrentContext")
    }

    pub(crate) fn create_context(&self, device: i32) -> Result<Handle<ContextKind>, AclError> {
        let mut context: aclrtContext = ptr::null_mut();
        let function = self.table().aclrtCreateContext();
        // SAFETY: the out-parameter is a local; the device is set, as the caller holds its owner (A1, A3, A5).
        self.call("aclrtCreateContext", function, |create| unsafe { create(&raw mut context, device) })?;
        Handle::new(context, "aclrtCreateContext")
    }

    pub(crate) fn destroy_context(
        &self,
        context: Handle<ContextKind>,
    ) -> Result<(), Refused<Handle<ContextKind>>> {
        let raw = context.raw();
        let function = self.table().aclrtDestroyContext();
        // SAFETY: the handle has not been destroyed (A2), and what belongs to the context holds it, so is gone (A3).
        self.call("aclrtDestroyContext", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: context })
    }

    pub(crate) fn set_current_context(&self, context: &Handle<ContextKind>) -> Result<(), AclError> {
        let function = self.table().aclrtSetCurrentContext();
        // SAFETY: the context lives: it is not destroyed, and its device is set (A2, A3).
        self.call("aclrtSetCurrentContext", function, |set| unsafe { set(context.raw()) })
    }
}

impl Bound<'_> {
    /// The name of the chip.
    pub(crate) fn soc_name(&self) -> Result<String, AclError> {
        let function = self.api().table().aclrtGetSocName()?;
        // SAFETY: no preconditions (A1).
        let name = unsafe { function() };
        if name.is_null() {
            return Err(AclError::NoResult { call: "aclrtGetSocName" });
        }
        // SAFETY: not null, so a C string that ACL keeps; copied at once.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    pub(crate) fn synchronize_device(&self) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeDevice();
        // SAFETY: a context is current (A1, A4).
        api.call("aclrtSynchronizeDevice", function, |synchronize| unsafe { synchronize() })
    }

    pub(crate) fn synchronize_device_for(&self, millis: i32) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtSynchronizeDeviceWithTimeout();
        // SAFETY: a context is current; ACL checks the number (A1, A4).
        api.call("aclrtSynchronizeDeviceWithTimeout", function, |wait| unsafe { wait(millis) })
    }

    /// Free and total bytes.
    pub(crate) fn memory_info(&self, kind: aclrtMemAttr) -> Result<(usize, usize), AclError> {
        let (mut free, mut total) = (0, 0);
        let api = self.api();
        let function = api.table().aclrtGetMemInfo();
        // SAFETY: two locals (A1, A4, A5).
        api.call("aclrtGetMemInfo", function, |get| unsafe { get(kind, &raw mut free, &raw mut total) })?;
        Ok((free, total))
    }
}
