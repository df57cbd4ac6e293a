//! Allocators that a stream takes its memory from, and the functions by which ACL calls them.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use super::{Handle, Release, StreamKind, device_pointer};
use crate::context::Bound;
use crate::{AclCode, AclError, Refused, StreamAllocator, as_guest};

/// A description of an allocator; see [`Handle`].
#[derive(Debug)]
pub(crate) enum DescriptionKind {}

/// Keeps an allocator that ACL may call.
#[derive(Clone)]
pub(crate) struct RegisteredAllocator(Arc<dyn Any + Send + Sync>);

impl std::fmt::Debug for RegisteredAllocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

impl RegisteredAllocator {
    pub(crate) fn new<A: StreamAllocator>(allocator: Arc<A>) -> Self {
        Self(allocator)
    }

    /// Keeps it for good: nobody can tell any more when ACL stops calling it.
    pub(crate) fn keep_for_ever(self) {
        // The count never comes back to 0.
        let _: *const (dyn Any + Send + Sync) = Arc::into_raw(self.0);
    }

    /// Whether it is the one of an entry.
    pub(crate) fn is(&self, entry: AllocatorEntry) -> bool {
        Arc::as_ptr(&self.0).addr() == entry.0
    }
}

/// What ACL has as the object of a stream's allocator; only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllocatorEntry(usize);

impl Bound<'_> {
    pub(crate) fn create_allocator_description(&self) -> Result<Handle<DescriptionKind>, AclError> {
        let function = self.api().table().aclrtAllocatorCreateDesc()?;
        // SAFETY: no preconditions (A1, A4).
        let description = unsafe { function() };
        Handle::new(description, "aclrtAllocatorCreateDesc")
    }

    /// Writes all five parts of a description: ACL leaves those that nobody sets as they were in memory, and calls them.
    pub(crate) fn describe_allocator<A: StreamAllocator>(
        &self,
        description: &Handle<DescriptionKind>,
        allocator: &Arc<A>,
    ) -> Result<(), AclError> {
        let (api, table, raw) = (self.api(), self.api().table(), description.raw());
        let object = Arc::as_ptr(allocator).cast_mut().cast::<c_void>();
        // SAFETY: the description lives; ACL keeps the pointer (A1, A2).
        api.call("aclrtAllocatorSetObjToDesc", table.aclrtAllocatorSetObjToDesc(), |set| unsafe {
            set(raw, object)
        })?;
        let function = table.aclrtAllocatorSetAllocFuncToDesc();
        // SAFETY: the description lives (A1, A2).
        api.call("aclrtAllocatorSetAllocFuncToDesc", function, |set| unsafe {
            set(raw, Some(allocate::<A>))
        })?;
        let function = table.aclrtAllocatorSetFreeFuncToDesc();
        // SAFETY: the description lives (A1, A2).
        api.call("aclrtAllocatorSetFreeFuncToDesc", function, |set| unsafe { set(raw, Some(free::<A>)) })?;
        // Without this one ACL calls the other under a lock that it holds already.
        let function = table.aclrtAllocatorSetAllocAdviseFuncToDesc();
        // SAFETY: the description lives (A1, A2).
        api.call("aclrtAllocatorSetAllocAdviseFuncToDesc", function, |set| unsafe {
            set(raw, Some(allocate_near::<A>))
        })?;
        let function = table.aclrtAllocatorSetGetAddrFromBlockFuncToDesc();
        // SAFETY: the description lives (A1, A2).
        api.call("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", function, |set| unsafe {
            set(raw, Some(address_of::<A>))
        })
    }

    /// Registers what a description has, of which ACL takes a copy.
    ///
    /// # Safety
    ///
    /// - The allocator of the description is not dropped before the stream is destroyed, and before that is unregistered.
    pub(crate) unsafe fn register_allocator(
        &self,
        stream: &Handle<StreamKind>,
        description: &Handle<DescriptionKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtAllocatorRegister();
        // SAFETY: both live; the allocator by the caller (A1, A2, A4).
        api.call("aclrtAllocatorRegister", function, |register| unsafe {
            register(stream.raw(), description.raw())
        })
    }

    pub(crate) fn unregister_allocator(&self, stream: &Handle<StreamKind>) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtAllocatorUnregister();
        // SAFETY: the stream lives (A1, A2, A4).
        api.call("aclrtAllocatorUnregister", function, |unregister| unsafe { unregister(stream.raw()) })
    }

    /// The object of the stream's allocator; `None` where it has none.
    pub(crate) fn allocator_entry(
        &self,
        stream: &Handle<StreamKind>,
    ) -> Result<Option<AllocatorEntry>, AclError> {
        let (mut description, mut object) = (ptr::null_mut(), ptr::null_mut());
        let (mut allocate, mut free, mut advise, mut address) = (None, None, None, None);
        let api = self.api();
        let function = api.table().aclrtAllocatorGetByStream();
        // SAFETY: the stream lives; six locals (A1, A2, A4, A5).
        let asked = api.call("aclrtAllocatorGetByStream", function, |get| unsafe {
            get(
                stream.raw(),
                &raw mut description,
                &raw mut object,
                &raw mut allocate,
                &raw mut free,
                &raw mut advise,
                &raw mut address,
            )
        });
        match asked {
            Ok(()) => Ok(Some(AllocatorEntry(object.addr()))),
            // What ACL answers for a stream that has none.
            Err(error) if error.code() == Some(AclCode::INVALID_PARAM) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Release for Handle<DescriptionKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw();
        let api = bound.api();
        let function = api.table().aclrtAllocatorDestroyDesc();
        // SAFETY: not destroyed yet; a registration has its own copy (A1, A2).
        api.call("aclrtAllocatorDestroyDesc", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

/// A block as ACL sees it: a pointer to one of these, made in [`give`] and taken back in [`free`].
struct Block<A: StreamAllocator> {
    address: u64,
    token: A::Block,
    /// The block may outlive the stream.
    allocator: Arc<A>,
}

/// Gives ACL a block, or null. A panic ends here: it must not pass through C.
///
/// # Safety
///
/// - `object` is an `A` in an `Arc`, which lives.
unsafe fn give<A: StreamAllocator>(object: *mut c_void, size: usize, near: Option<u64>) -> *mut c_void {
    let object = object.cast_const().cast::<A>();
    // SAFETY: the pointer is one of `Arc::as_ptr`, and the `Arc` lives; one more owner is counted.
    unsafe { Arc::increment_strong_count(object) };
    // SAFETY: it takes the count of the line above.
    let allocator = unsafe { Arc::from_raw(object) };
    let allocate = || {
        let (address, token) = allocator.allocate(size, near)?;
        Some(Box::into_raw(Box::new(Block { address, token, allocator: Arc::clone(&allocator) })))
    };
    let given = catch_unwind(AssertUnwindSafe(|| as_guest(allocate))).unwrap_or_else(|_| {
        tracing::error!(size, "an allocator of a stream panicked; the allocation fails");
        None
    });
    given.map_or(ptr::null_mut(), <*mut Block<A>>::cast)
}

extern "C" fn allocate<A: StreamAllocator>(object: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: ACL gives the object of the registration, which whoever registered keeps.
    unsafe { give::<A>(object, size, None) }
}

extern "C" fn allocate_near<A: StreamAllocator>(
    object: *mut c_void,
    size: usize,
    near: *mut c_void,
) -> *mut c_void {
    let near = (!near.is_null()).then(|| near.addr() as u64);
    // SAFETY: as above.
    unsafe { give::<A>(object, size, near) }
}

extern "C" fn free<A: StreamAllocator>(_object: *mut c_void, block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: ACL gives back what `give` made, once.
    let block = unsafe { Box::from_raw(block.cast::<Block<A>>()) };
    let Block { token, allocator, .. } = *block;
    let free = || {
        allocator.free(token);
        drop(allocator);
    };
    if catch_unwind(AssertUnwindSafe(|| as_guest(free))).is_err() {
        tracing::error!("an allocator of a stream panicked while it took a block back");
    }
}

extern "C" fn address_of<A: StreamAllocator>(block: *mut c_void) -> *mut c_void {
    let block = block.cast::<Block<A>>();
    if block.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: ACL asks for a block that `give` made and `free` has not taken; several threads may read the number.
    let address = unsafe { (*block).address };
    device_pointer(address).unwrap_or(ptr::null_mut())
}
