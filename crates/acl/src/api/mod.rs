//! One thin function per ACL function, the only place where ACL is called.
//!
//! # Invariants
//!
//! Every `SAFETY` comment of this folder may cite these:
//!
//! * **A1** The table's functions are ACL's. [`Api`] is made from [`acl_sys::load`], or by an `unsafe fn` whose caller says so.
//! * **A2** A [`Handle`] is made only here, from what a creating function gave with success; it is not `Clone`, and the
//!   function that destroys it takes it by value. So a handle that exists has not been destroyed. A handle of foreign code
//!   is one for which the caller of an `unsafe fn` has promised the same.
//! * **A3** Whoever holds a handle holds, in an `Arc` that is dropped later, what the handle depends on: its context,
//!   device and runtime ([`crate::owned`]). So ACL is initialised, and the parents live, while the handle does.
//! * **A4** A [`Bound`] exists only while its context is current on this thread; it is not `Send`.
//! * **A5** An out-parameter is a local variable of the right type, written before the function returns and not after.
#![expect(unsafe_code, reason = "calls C functions and marks foreign handles as Send and Sync")]

mod address;
mod allocator;
mod event;
mod host_memory;
mod memory;
mod memory_pool;
mod model;
mod process;
mod stream;
mod virtual_memory;
mod watch;

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use acl_sys::{Library, Table, Unsupported, aclError};

pub(crate) use allocator::RegisteredAllocator;
pub(crate) use event::EventKind;
pub(crate) use host_memory::{HostBlock, HostRange};
pub(crate) use memory::{DeviceBlock, check_range};
pub(crate) use memory_pool::PoolKind;
pub(crate) use model::{BufferKind, DatasetKind, ModelId};
pub(crate) use process::ContextKind;
pub(crate) use stream::{StreamKind, destroy_stream_force};
pub(crate) use virtual_memory::{Mapped, PhysicalKind, Reserved};
pub(crate) use watch::CALLBACKS;

use crate::context::Bound;
use crate::{AclCode, AclError, CallFailed, Refused};

/// ACL's functions.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    library: LibrarySource,
}

#[derive(Debug, Clone)]
enum LibrarySource {
    Process(&'static Library),
    Shared(Arc<Library>),
}

impl Api {
    /// The library of this process.
    pub(crate) fn of_process() -> Result<Self, AclError> {
        let library = acl_sys::load().map_err(|error| AclError::NoLibrary(error.to_string().into()))?;
        Ok(Self { library: LibrarySource::Process(library) })
    }

    /// Another library.
    ///
    /// # Safety
    ///
    /// - Every function of the table does what ACL's function of that name does (A1).
    pub(crate) unsafe fn of_library(library: Arc<Library>) -> Self {
        Self { library: LibrarySource::Shared(library) }
    }

    pub(crate) fn library(&self) -> &Library {
        match &self.library {
            LibrarySource::Process(library) => library,
            LibrarySource::Shared(library) => library,
        }
    }

    /// Tells libraries apart.
    pub(crate) fn identity(&self) -> usize {
        ptr::from_ref(self.library()).addr()
    }

    fn table(&self) -> &Table {
        self.library().table()
    }

    /// Calls one function, and on failure asks at once for the driver's text.
    fn call<F>(
        &self,
        call: &'static str,
        function: Result<F, Unsupported>,
        run: impl FnOnce(F) -> aclError,
    ) -> Result<(), AclError> {
        let code = AclCode(run(function?));
        if code == AclCode::SUCCESS {
            return Ok(());
        }
        Err(CallFailed { code, call, detail: self.recent_text() }.into())
    }

    /// The driver's text about the last error of this thread, which is then gone.
    fn recent_text(&self) -> Option<Box<str>> {
        let function = self.table().aclGetRecentErrMsg().ok()?;
        // SAFETY: no preconditions (A1).
        let text = unsafe { function() };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, so a C string of this thread that stays until the next ACL call on it; copied before that.
        let text = unsafe { CStr::from_ptr(text) };
        let text = text.to_string_lossy();
        let text = text.trim();
        (!text.is_empty()).then(|| text.into())
    }
}

/// An opaque pointer of ACL, of the kind `K`, that is destroyed once (A2).
pub(crate) struct Handle<K> {
    pointer: NonNull<c_void>,
    kind: PhantomData<fn() -> K>,
}

// SAFETY: ACL's handles may be used from every thread on which the right context is current, which [`Bound`] sees to; ACL
// locks inside. The pointer is never dereferenced here.
unsafe impl<K> Send for Handle<K> {}
// SAFETY: as for Send; what may be done with a shared handle is what ACL allows several threads at once, and destroying
// needs the handle by value.
unsafe impl<K> Sync for Handle<K> {}

impl<K> Handle<K> {
    fn new(pointer: *mut c_void, call: &'static str) -> Result<Self, AclError> {
        let pointer = NonNull::new(pointer).ok_or(AclError::NoResult { call })?;
        Ok(Self { pointer, kind: PhantomData })
    }

    /// A handle that foreign code made; the owner never destroys it.
    fn foreign(pointer: *mut c_void, parameter: &'static str) -> Result<Self, AclError> {
        let rule = "a handle is not null; for a context's own stream ask the context";
        let pointer = NonNull::new(pointer).ok_or(AclError::Argument { parameter, value: 0, rule })?;
        Ok(Self { pointer, kind: PhantomData })
    }

    fn raw(&self) -> *mut c_void {
        self.pointer.as_ptr()
    }

    /// Tells handles of one kind apart.
    pub(crate) fn address(&self) -> usize {
        self.pointer.addr().get()
    }
}

impl<K> std::fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:p}", self.pointer)
    }
}

/// What is released by one call, with its context current.
pub(crate) trait Release: Sized {
    /// Releases, or gives back.
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>>;
}

/// An address of the device as a pointer that the host never follows.
fn device_pointer(address: u64) -> Result<*mut c_void, AclError> {
    let rule = "it must fit into a pointer";
    let address = usize::try_from(address).map_err(|_| AclError::Argument {
        parameter: "address",
        value: address,
        rule,
    })?;
    Ok(ptr::with_exposed_provenance_mut(address))
}

/// The number of a device pointer.
fn device_address(pointer: NonNull<c_void>) -> u64 {
    // A pointer is 64 bits wide wherever ACL runs.
    pointer.as_ptr().expose_provenance() as u64
}
