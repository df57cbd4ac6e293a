//! Host memory that the device reaches without a detour.

use crate::api::HostBlock;
use crate::owned::Owned;
use crate::parts::in_parts;
use crate::{AclError, Context, Refused};

/// Pinned host memory, freed on drop.
///
/// Read and written by copies only: the device may write it at any time, so no slice is made of it. Any thread.
#[derive(Debug)]
pub struct PinnedMemory {
    pub(crate) owned: Owned<HostBlock>,
}

impl PinnedMemory {
    /// Allocates `size` bytes, all zero.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn allocate(context: &Context, size: usize) -> Result<Self, AclError> {
        Ok(Self { owned: Owned::make(context, |bound| bound.malloc_host(size))? })
    }

    /// The same in as few pieces as the host gives: one, or where that is refused several of at least 2 MiB, in order. For a
    /// pool that does not need it in one.
    ///
    /// # Errors
    ///
    /// [`AclError::HostLimit`] with the bytes that could be had, or ACL's own; nothing is kept then.
    pub fn allocate_in_parts(context: &Context, size: usize) -> Result<Vec<Self>, AclError> {
        in_parts(size, |_, length| Self::allocate(context, length))
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.owned.get().size()
    }

    /// Fills `bytes` from `offset` on.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`], or [`AclError::Abandoned`].
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), AclError> {
        // Who ends ACL elsewhere takes the memory away.
        self.owned.require_live("a copy from pinned memory")?;
        self.owned.get().read(offset, bytes)
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`], or [`AclError::Abandoned`].
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), AclError> {
        self.owned.require_live("a copy to pinned memory")?;
        self.owned.get_mut().write(offset, bytes)
    }

    /// Frees now.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the memory, if ACL did not free it.
    pub fn free(self) -> Result<(), Refused<Self>> {
        self.owned
            .release()
            .map_err(|Refused { error, owner }| Refused { error, owner: Self { owned: owner } })
    }
}
