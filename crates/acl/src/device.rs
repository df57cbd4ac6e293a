//! A device, set once per owner and reset once.

use std::sync::Arc;

use crate::api::{ContextKind, Handle};
use crate::context::{self, Context, ContextId};
use crate::runtime::RuntimeInner;
use crate::{AclError, Runtime};

/// A device that is set for this process. The last clone, context, stream or piece of memory to go resets it; ACL counts
/// sets and resets, so other owners of the device are not disturbed.
///
/// Any thread.
#[derive(Debug, Clone)]
pub struct Device {
    pub(crate) inner: Arc<DeviceInner>,
}

#[derive(Debug)]
pub(crate) struct DeviceInner {
    number: i32,
    /// Belongs to ACL, and lives until the reset.
    primary: Handle<ContextKind>,
    primary_id: ContextId,
    runtime: Arc<RuntimeInner>,
}

impl Device {
    pub(crate) fn open(runtime: &Arc<RuntimeInner>, number: i32) -> Result<Self, AclError> {
        let api = runtime.live("aclrtSetDevice")?;
        // Whatever happens, another context may be current on this thread afterwards.
        context::forget_current_context();
        api.set_device(number)?;
        let primary = match api.current_context() {
            Ok(primary) => primary,
            Err(error) => {
                if let Err(error) = api.reset_device(number) {
                    runtime.record_failure(error);
                }
                return Err(error);
            }
        };
        let primary_id = ContextId::new();
        context::note_current(primary_id);
        let runtime = Arc::clone(runtime);
        Ok(Self { inner: Arc::new(DeviceInner { number, primary, primary_id, runtime }) })
    }

    /// Its number, as ACL counts in this process.
    pub fn number(&self) -> i32 {
        self.inner.number
    }

    /// The runtime.
    pub fn runtime(&self) -> Runtime {
        Runtime { inner: Arc::clone(&self.inner.runtime) }
    }

    /// The context that the device has of itself, which all parts of the process share.
    pub fn primary_context(&self) -> Context {
        Context::primary(&self.inner)
    }

    /// Creates a context, with its own default stream. It divides streams and events, not memory.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn create_context(&self) -> Result<Context, AclError> {
        Context::create(&self.inner)
    }
}

impl DeviceInner {
    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    pub(crate) fn primary(&self) -> (&Handle<ContextKind>, ContextId) {
        (&self.primary, self.primary_id)
    }

    pub(crate) fn runtime(&self) -> &Arc<RuntimeInner> {
        &self.runtime
    }
}

impl Drop for DeviceInner {
    fn drop(&mut self) {
        let Ok(api) = self.runtime.live("aclrtResetDevice") else {
            self.runtime.record_leak("device");
            return;
        };
        if let Err(error) = api.reset_device(self.number) {
            self.runtime.record_failure(error);
        }
        // The primary context may be gone, and with it whatever was current here.
        context::forget_current_context();
    }
}
