//! Contexts, and which one is current on a thread.
//!
//! ACL keeps a current context per thread and answers with it silently, so that a call with the wrong one goes to the wrong
//! device. Here no call that needs one can be made without a [`Bound`], which makes it current.
//!
//! # Invariants
//!
//! 1. [`CURRENT`] is the id of the context that is current on this thread, as far as this crate has seen, or none. Ids are
//!    never used twice, other than addresses of contexts.
//! 2. A [`Bound`] is used up before another context is bound on its thread: every method binds once and calls at once.
//! 3. A context of foreign code is never destroyed here.

mod identity;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use acl_sys::aclrtMemAttr;

use crate::api::{Api, ContextKind, Handle};
use crate::device::DeviceInner;
use crate::runtime::RuntimeInner;
use crate::stream::millis;
use crate::{AclError, Device, Refused, guest};

thread_local! {
    static CURRENT: Cell<Option<ContextId>> = const { Cell::new(None) };
}

/// Tells contexts apart for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextId(u64);

impl ContextId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only the number matters.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Forgets which context is current on this thread, so that the next call sets it again.
///
/// To be called after foreign code on the same thread may have set a device or a context: this crate cannot see that.
/// Cheap, and never wrong to call.
pub fn forget_current_context() {
    CURRENT.set(None);
}

/// Says that the current context of this thread is about to change.
///
/// # Errors
///
/// ACL's own, where a guest could not put back what is current; see [`crate::as_guest`].
pub(crate) fn leave_current(runtime: &Arc<RuntimeInner>) -> Result<(), AclError> {
    guest::before_change(runtime)?;
    forget_current_context();
    Ok(())
}

pub(crate) fn note_current(id: ContextId) {
    CURRENT.set(Some(id));
}

/// A context: what streams and events belong to. Memory belongs to the device.
///
/// Any thread; each call makes it current on the calling thread, and skips that where it is current already. It stays
/// current afterwards.
#[derive(Debug, Clone)]
pub struct Context {
    pub(crate) inner: Arc<ContextInner>,
}

#[derive(Debug)]
pub(crate) struct ContextInner {
    id: ContextId,
    origin: Origin,
    device: Arc<DeviceInner>,
}

/// Who made a context, and so destroys it.
#[derive(Debug)]
enum Origin {
    /// The device has it of itself.
    Primary,
    /// This crate. `None` once destroyed.
    Own(Option<Handle<ContextKind>>),
    /// Somebody else.
    Foreign(Handle<ContextKind>),
}

/// Says that a context is current on this thread.
pub(crate) struct Bound<'a> {
    context: &'a ContextInner,
    // Not Send: true of one thread only.
    thread: PhantomData<*const ()>,
}

/// A kind of device memory, as [`Context::memory_info`] counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryKind(pub u32);

impl MemoryKind {
    /// Memory of the chip's other kind, on chips that have it.
    pub const DDR: Self = Self(aclrtMemAttr::ACL_DDR_MEM.0);
    /// The card's fast memory, whatever the page size. What a chip without it has is answered instead.
    pub const HBM: Self = Self(aclrtMemAttr::ACL_HBM_MEM.0);
    /// Fast memory in pages of 2 MiB.
    pub const HBM_HUGE: Self = Self(aclrtMemAttr::ACL_HBM_MEM_HUGE.0);
    /// Fast memory in pages of 4 KiB.
    pub const HBM_NORMAL: Self = Self(aclrtMemAttr::ACL_HBM_MEM_NORMAL.0);
}

/// Memory of a device, over all processes, in bytes; without what the system keeps for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Not taken by anybody.
    pub free: usize,
    /// All there is.
    pub total: usize,
}

impl Context {
    pub(crate) fn primary(device: &Arc<DeviceInner>) -> Self {
        let (_, id) = device.primary();
        Self::of(id, Origin::Primary, device)
    }

    fn of(id: ContextId, origin: Origin, device: &Arc<DeviceInner>) -> Self {
        Self { inner: Arc::new(ContextInner { id, origin, device: Arc::clone(device) }) }
    }

    /// A context that foreign code made, and will destroy.
    pub(crate) fn foreign(handle: Handle<ContextKind>, device: &Device) -> Self {
        Self::of(ContextId::new(), Origin::Foreign(handle), &device.inner)
    }

    pub(crate) fn create(device: &Arc<DeviceInner>) -> Result<Self, AclError> {
        let api = device.live("aclrtCreateContext")?;
        // The new context becomes current; after a failure nobody knows.
        leave_current(device.runtime())?;
        let own = api.create_context(device.number())?;
        let id = ContextId::new();
        note_current(id);
        Ok(Self::of(id, Origin::Own(Some(own)), device))
    }

    /// The device.
    pub fn device(&self) -> Device {
        Device { inner: Arc::clone(&self.inner.device) }
    }

    /// Makes it current on this thread, for foreign code that comes next.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn make_current(&self) -> Result<(), AclError> {
        forget_current_context();
        self.inner.bind().map(drop)
    }

    /// Waits until the device has done all work of this context.
    ///
    /// # Errors
    ///
    /// ACL's own, among them errors of earlier work.
    pub fn synchronize_device(&self) -> Result<(), AclError> {
        self.inner.bind()?.synchronize_device()
    }

    /// The same, but not for longer than `limit`, which is rounded up to milliseconds.
    ///
    /// # Errors
    ///
    /// As for [`Self::synchronize_device`]; of kind [`Busy`](crate::ErrorKind::Busy) when the time ran out.
    pub fn synchronize_device_for(&self, limit: Duration) -> Result<(), AclError> {
        self.inner.bind()?.synchronize_device_for(millis(limit))
    }

    /// Free and total memory of the device now.
    ///
    /// # Errors
    ///
    /// ACL's own; of kind [`Unsupported`](crate::ErrorKind::Unsupported) for memory that the chip does not have.
    pub fn memory_info(&self, kind: MemoryKind) -> Result<MemoryInfo, AclError> {
        let (free, total) = self.inner.bind()?.memory_info(aclrtMemAttr(kind.0))?;
        Ok(MemoryInfo { free, total })
    }

    /// The name of the chip, such as `Ascend910B3`.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn soc_name(&self) -> Result<String, AclError> {
        self.inner.bind()?.soc_name()
    }
}

impl ContextInner {
    /// Makes the context current on this thread. O(1), without a call of ACL where it is already.
    pub(crate) fn bind(&self) -> Result<Bound<'_>, AclError> {
        let api = self.live("aclrtSetCurrentContext")?;
        if CURRENT.get() != Some(self.id) {
            leave_current(self.runtime())?;
            api.set_current_context(self.handle())?;
            note_current(self.id);
        }
        Ok(Bound { context: self, thread: PhantomData })
    }

    fn handle(&self) -> &Handle<ContextKind> {
        match &self.origin {
            Origin::Own(Some(handle)) | Origin::Foreign(handle) => handle,
            Origin::Primary | Origin::Own(None) => self.device.primary().0,
        }
    }

    /// ACL's functions, as long as they may be called for this context.
    pub(crate) fn live(&self, call: &'static str) -> Result<&Api, AclError> {
        self.device.live(call)
    }

    /// Whether a forced reset of the device has taken away what belonged to it.
    pub(crate) fn is_reset(&self) -> bool {
        self.device.is_reset()
    }

    /// That an event of this context may be recorded on a stream of another one.
    pub(crate) fn require_device_of(&self, stream: &Self) -> Result<(), AclError> {
        let (event, stream) = (&self.device, &stream.device);
        let same_library = event.runtime().api().identity() == stream.runtime().api().identity();
        if event.number() == stream.number() && same_library {
            return Ok(());
        }
        Err(AclError::OtherDevice { event: event.number(), stream: stream.number() })
    }

    pub(crate) fn runtime(&self) -> &Arc<RuntimeInner> {
        self.device.runtime()
    }

    /// The device's number as places of memory name it.
    pub(crate) fn device_number(&self) -> Result<u32, AclError> {
        let number = self.device.number();
        let rule = "the number of a device is not negative";
        u32::try_from(number).map_err(|_| AclError::Argument {
            parameter: "device",
            value: number.unsigned_abs().into(),
            rule,
        })
    }
}

impl Bound<'_> {
    pub(crate) fn api(&self) -> &Api {
        self.context.runtime().api()
    }
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        let Origin::Own(own) = &mut self.origin else { return };
        let Some(own) = own.take() else { return };
        if self.is_reset() {
            return;
        }
        let Ok(api) = self.live("aclrtDestroyContext") else {
            self.runtime().record_leak("context");
            return;
        };
        if let Err(Refused { error, .. }) = api.destroy_context(own) {
            self.runtime().record_failure(error);
        }
        if CURRENT.get() == Some(self.id) {
            forget_current_context();
        }
    }
}
