//! Allocators of ours from which ACL takes the memory of a stream's models.
//!
//! # Invariants
//!
//! 1. An allocator that was registered lives until its stream is destroyed, not only until it is unregistered: ACL's model
//!    executor keeps what it found when it first ran. Where the stream is not destroyed here, it lives for ever.
//! 2. A stream is unregistered before it is destroyed, so that a later one at its address does not inherit the allocator.
#![expect(
    unsafe_code,
    reason = "declares the trait whose implementations vouch for memory, and registers them"
)]

use std::sync::Arc;

use crate::api::{Handle, RegisteredAllocator, StreamKind};
use crate::context::Bound;
use crate::owned::Owned;
use crate::{AclError, Context, Stream};

/// Gives memory to the models of a stream, instead of `aclrtMalloc`: single operators and models of dynamic shape ask for
/// it. Models of fixed shape do not.
///
/// ACL calls it on any thread. It may call ACL; what it makes current there is put back. A panic is traced and ends there,
/// as a failure to allocate.
///
/// ```
/// # #![expect(unsafe_code, reason = "an implementation vouches for its memory")]
/// use acl::{Context, DeviceMemory, MallocPolicy, StreamAllocator};
///
/// /// Straight from the device.
/// struct Plain(Context);
///
/// // SAFETY: memory of the context's device, of at least the size, and nobody else's while the block is there; freed after
/// // the device, so that no queued work uses it any more.
/// unsafe impl StreamAllocator for Plain {
///     type Block = DeviceMemory;
///
///     fn allocate(&self, size: usize, _near: Option<u64>) -> Option<(u64, DeviceMemory)> {
///         let memory = DeviceMemory::allocate(&self.0, size.max(1), MallocPolicy::HUGE_FIRST).ok()?;
///         Some((memory.address(), memory))
///     }
///
///     fn free(&self, block: DeviceMemory) {
///         // What is refused comes back, and is counted when it is dropped.
///         drop(block.free_after_device());
///     }
/// }
/// ```
///
/// # Safety
///
/// - The address is one of the device of the stream on which this is registered, a multiple of 64, and behind it lie at least
///   `size` bytes and what the chip wants after them (`ALIGN_UP(size, 32) + 32` in all before the 950).
/// - Until the block is freed nobody else uses them.
/// - Work that was queued in the stream before the free may still use them after it: they are given on to the same stream
///   only, or once that work is done.
pub unsafe trait StreamAllocator: Send + Sync + Sized + 'static {
    /// What stands for one piece of memory, and is dropped to free it.
    type Block: Send + 'static;

    /// Gives at least `size` bytes by their address on the device, near to another address if that is to be had; `None` if
    /// there is nothing.
    fn allocate(&self, size: usize, near: Option<u64>) -> Option<(u64, Self::Block)>;

    /// Takes a block back.
    fn free(&self, block: Self::Block) {
        drop(block);
    }
}

/// Whose allocator a stream has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocatorOfStream {
    /// None: ACL allocates.
    None,
    /// The one that was registered last through this owner of the stream.
    Ours,
    /// That of somebody else.
    Foreign,
}

/// The allocators of a stream, the last of which is registered unless `registered` says no.
#[derive(Debug, Default)]
pub(crate) struct Allocators {
    all: Vec<RegisteredAllocator>,
    registered: bool,
}

impl Allocators {
    /// Before the stream goes.
    pub(crate) fn before_stream(&mut self, stream: &Owned<Handle<StreamKind>>) {
        let (Some(handle), true) = (stream.held(), std::mem::take(&mut self.registered)) else { return };
        let Err(error) = stream.bind().and_then(|bound| bound.unregister_allocator(handle)) else { return };
        // A later stream at the same address would inherit it.
        self.keep_for_ever();
        let runtime = stream.context().runtime();
        match error {
            AclError::Abandoned { .. } | AclError::DeviceReset { .. } => {
                runtime.record_leak("allocator of a stream");
            }
            error => runtime.record_failure(error),
        }
    }

    /// Where the stream is not destroyed.
    pub(crate) fn keep_for_ever(&mut self) {
        self.all.drain(..).for_each(RegisteredAllocator::keep_for_ever);
    }
}

impl Stream {
    /// Lets models of this stream take their memory from `allocator`. It must be done before the first of them runs, for ACL
    /// keeps to what it finds then; a second call replaces the first. The allocator lives as long as the stream, and for
    /// ever if foreign code owns the stream.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`], or ACL's own; nothing is registered then, and an earlier one stays.
    pub fn register_allocator<A: StreamAllocator>(&self, allocator: Arc<A>) -> Result<(), AclError> {
        let context = Context { inner: Arc::clone(self.owned.context()) };
        let mut allocators = self.allocators.lock();
        let description = Owned::make(&context, Bound::create_allocator_description)?;
        let bound = self.owned.bind()?;
        bound.describe_allocator(description.get(), &allocator)?;
        // SAFETY: the allocator goes into the list of the next lines, which lives as long as the stream and is leaked where
        // that is not destroyed; the drop of the stream unregisters (invariants 1 and 2).
        unsafe { bound.register_allocator(self.owned.get(), description.get()) }?;
        allocators.all.push(RegisteredAllocator::new(allocator));
        allocators.registered = true;
        Ok(())
    }

    /// Takes the allocator away for models that have not run yet. None is no error.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`], or ACL's own.
    pub fn unregister_allocator(&self) -> Result<(), AclError> {
        let mut allocators = self.allocators.lock();
        self.owned.bind()?.unregister_allocator(self.owned.get())?;
        allocators.registered = false;
        Ok(())
    }

    /// Asks ACL whose allocator the stream has.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`], or ACL's own.
    pub fn allocator(&self) -> Result<AllocatorOfStream, AclError> {
        let allocators = self.allocators.lock();
        let Some(entry) = self.owned.bind()?.allocator_entry(self.owned.get())? else {
            return Ok(AllocatorOfStream::None);
        };
        let is_ours = allocators.all.last().is_some_and(|ours| ours.is(entry));
        Ok(if is_ours { AllocatorOfStream::Ours } else { AllocatorOfStream::Foreign })
    }
}
