//! A device, set once per owner and reset once, or reset by force for all.
//!
//! # Invariants
//!
//! 1. Here a device is set and reset under [`RuntimeInner::device_gate`]: a set is either undone by a forced reset, whose mark
//!    its owner then sees, or comes after it, under a new mark.
//! 2. After the mark no function of ACL gets a handle that was made under it. A reset by foreign code sets the mark too while
//!    somebody [watches](crate::Watch).
#![expect(unsafe_code, reason = "declares the forced reset, whose caller must know who else uses the device")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::api::{Api, ContextKind, Handle};
use crate::context::{self, Context, ContextId};
use crate::runtime::RuntimeInner;
use crate::{AclError, AddressRange, ModuleMemory, Runtime};

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
    /// Set by a forced reset, for all who set the device before it.
    reset: Arc<AtomicBool>,
    runtime: Arc<RuntimeInner>,
}

impl Device {
    pub(crate) fn open(runtime: &Arc<RuntimeInner>, number: i32) -> Result<Self, AclError> {
        let api = runtime.live("aclrtSetDevice")?;
        // Whatever happens, another context may be current on this thread afterwards.
        context::leave_current(runtime)?;
        let gate = runtime.device_gate();
        api.set_device(number).map_err(|error| no_such_device(api, number, error))?;
        let primary = match api.current_context() {
            Ok(primary) => primary,
            Err(error) => {
                if let Err(error) = api.reset_device(number) {
                    runtime.record_failure(error);
                }
                return Err(error);
            }
        };
        let reset = runtime.reset_mark(number);
        drop(gate);
        let primary_id = ContextId::new();
        context::note_current(primary_id);
        let runtime = Arc::clone(runtime);
        Ok(Self { inner: Arc::new(DeviceInner { number, primary, primary_id, reset, runtime }) })
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

    /// Device memory by module of CANN, the largest first: whose the memory is when there is none left. At most 128 modules.
    /// Not on the 950. Whether other processes count is for the driver to say; CANN's documentation does not.
    ///
    /// ```
    /// fn why(device: &acl::Device, error: &acl::AclError) -> String {
    ///     let mut text = error.to_string();
    ///     for module in device.memory_by_module().unwrap_or_default() {
    ///         text += &format!("\n  {module}");
    ///     }
    ///     text
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] or of that kind, or ACL's own.
    pub fn memory_by_module(&self) -> Result<Vec<ModuleMemory>, AclError> {
        let usage = Context::primary(&self.inner).inner.bind()?.memory_usage(self.inner.number)?;
        Ok(usage.iter().map(ModuleMemory::from_raw).collect())
    }

    /// Ranges of its memory with errors that the hardware cannot correct, after a call has failed with a kind of
    /// [`DeviceLost`](crate::ErrorKind::DeviceLost). A pool must not give out again what lies in them. Only on A2, A3 and 950.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] or of that kind, or ACL's own.
    pub fn damaged_memory(&self) -> Result<Vec<AddressRange>, AclError> {
        let ranges = Context::primary(&self.inner).inner.bind()?.damaged_memory(self.inner.number)?;
        Ok(ranges.into_iter().map(|(base, size)| AddressRange { base, size }).collect())
    }

    /// Resets the device whatever the count: stops its work and frees all that this process has on it. What was made before
    /// answers [`AclError::DeviceReset`] from now on, on every thread, and its drop calls nothing; [`Runtime::device`] opens the
    /// device anew.
    ///
    /// # Errors
    ///
    /// ACL's own. Nothing is changed then, unless ACL had begun and somebody [watches](crate::Watch).
    ///
    /// # Safety
    ///
    /// - No call that concerns this device is under way on another thread, nor comes later from foreign code that used it
    ///   before.
    /// - Nothing reads or writes host memory that came from this device's contexts ([`PinnedMemory`](crate::PinnedMemory))
    ///   meanwhile.
    pub unsafe fn reset_force(&self) -> Result<(), AclError> {
        let _gate = self.inner.runtime.device_gate();
        let api = self.inner.live("aclrtResetDeviceForce")?;
        context::leave_current(&self.inner.runtime)?;
        // SAFETY: the caller's promise, and the mark below, which every later call looks at.
        unsafe { api.reset_device_force(self.inner.number) }?;
        self.inner.runtime.process().mark_reset(self.inner.number);
        Ok(())
    }
}

/// The error of a set, in words that name the number, if that is what was wrong.
fn no_such_device(api: &Api, number: i32, error: AclError) -> AclError {
    match (error, api.device_count()) {
        (AclError::Call(failed), Ok(count)) if u32::try_from(number).is_ok_and(|number| number < count) => {
            failed.into()
        }
        (AclError::Call(failed), Ok(count)) => {
            AclError::NoSuchDevice { number, count, failed: failed.into() }
        }
        (error, _) => error,
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

    /// Whether a forced reset has taken away what was made before.
    pub(crate) fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Acquire)
    }

    /// ACL's functions, unless the runtime was abandoned or the device was reset by force.
    pub(crate) fn live(&self, call: &'static str) -> Result<&Api, AclError> {
        if self.is_reset() {
            return Err(AclError::DeviceReset { number: self.number, call });
        }
        self.runtime.live(call)
    }
}

impl Drop for DeviceInner {
    fn drop(&mut self) {
        let Ok(api) = self.runtime.live("aclrtResetDevice") else {
            self.runtime.record_leak("device");
            return;
        };
        // The last reset of one device takes away what is current on this thread, also if that is of another device.
        if !self.is_reset()
            && let Err(error) = context::leave_current(&self.runtime)
        {
            self.runtime.record_failure(error);
        }
        let gate = self.runtime.device_gate();
        if !self.is_reset()
            && let Err(error) = api.reset_device(self.number)
        {
            self.runtime.record_failure(error);
        }
        drop(gate);
        context::forget_current_context();
    }
}
