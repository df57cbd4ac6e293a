//! CANN's own stream-ordered pool, which exists since CANN 9.0 and gives memory since 9.1.
#![expect(unsafe_code, reason = "declares a function whose caller must vouch for an address")]

use acl_sys::aclrtMemPoolAttr;

use crate::api::{Handle, PoolKind};
use crate::owned::Owned;
use crate::{AclError, Context, Stream};

/// A number that CANN's pool keeps, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PoolCounter {
    /// Taken from the device now.
    Reserved,
    /// The most that was ever taken.
    ReservedHigh,
    /// Given out now.
    Used,
    /// The most that was ever given out.
    UsedHigh,
    /// Kept when memory goes back to the device at a synchronisation.
    ReleaseThreshold,
}

impl PoolCounter {
    fn attribute(self) -> aclrtMemPoolAttr {
        match self {
            Self::ReleaseThreshold => aclrtMemPoolAttr(4),
            Self::Reserved => aclrtMemPoolAttr(5),
            Self::ReservedHigh => aclrtMemPoolAttr(6),
            Self::Used => aclrtMemPoolAttr(7),
            Self::UsedHigh => aclrtMemPoolAttr(8),
        }
    }
}

/// CANN's pool, destroyed on drop with all its memory. Any thread.
#[derive(Debug)]
pub struct MemoryPool {
    owned: Owned<Handle<PoolKind>>,
}

impl MemoryPool {
    /// Creates a pool of at most `max_size` bytes; 0 is the whole card.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] with a library before CANN 9.0, or ACL's own.
    pub fn create(context: &Context, max_size: usize) -> Result<Self, AclError> {
        let device = context.inner.device_number()?;
        Ok(Self { owned: Owned::make(context, |bound| bound.create_pool(device, max_size))? })
    }

    /// Allocates in the order of `stream`, and answers the address: for work that comes later in the stream.
    ///
    /// # Errors
    ///
    /// [`AclError::Argument`] for no bytes, to which ACL would answer success and no address;
    /// [`AclError::Unsupported`] before CANN 9.1; ACL's own, where an internal error is of kind
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn allocate(&self, size: usize, stream: &Stream) -> Result<u64, AclError> {
        if size == 0 {
            let rule = "ask for at least one byte";
            return Err(AclError::Argument { parameter: "size", value: 0, rule });
        }
        stream.owned.bind()?.pool_malloc(self.owned.get(), size, stream.owned.get())
    }

    /// Frees in the order of `stream`.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] before CANN 9.1, or ACL's own.
    ///
    /// # Safety
    ///
    /// - This pool gave `address`, and it was not freed since.
    /// - Work in other streams that uses it is ordered before this.
    pub unsafe fn free(&self, address: u64, stream: &Stream) -> Result<(), AclError> {
        // SAFETY: the caller's promise.
        unsafe { stream.owned.bind()?.pool_free(address, stream.owned.get()) }
    }

    /// Gives memory back to the device until `keep` bytes are left.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] before CANN 9.1, or ACL's own.
    pub fn trim_to(&self, keep: usize) -> Result<(), AclError> {
        self.owned.bind()?.trim_pool(self.owned.get(), keep)
    }

    /// One of its numbers.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn counter(&self, counter: PoolCounter) -> Result<u64, AclError> {
        self.owned.bind()?.pool_u64(self.owned.get(), counter.attribute())
    }

    /// Sets how many bytes stay when memory goes back to the device.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn set_release_threshold(&self, bytes: u64) -> Result<(), AclError> {
        let attribute = PoolCounter::ReleaseThreshold.attribute();
        self.owned.bind()?.set_pool_u64(self.owned.get(), attribute, bytes)
    }
}
