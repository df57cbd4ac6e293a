//! Device memory of aclrtMalloc.
#![expect(unsafe_code, reason = "vouches for the range that it owns")]

use acl_sys::aclrtMemMallocPolicy;

use crate::api::DeviceBlock;
use crate::owned::Owned;
use crate::{AclError, Context, DeviceSlice, Refused};

/// Which pages an allocation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MallocPolicy(pub u32);

impl MallocPolicy {
    /// Pages of 2 MiB for more than 1 MiB, else of 4 KiB; also those where there are no others left.
    pub const HUGE_FIRST: Self = Self(aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE_FIRST.0);
    /// Pages of 2 MiB or nothing.
    pub const HUGE_ONLY: Self = Self(aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE_ONLY.0);
    /// Pages of 4 KiB.
    pub const NORMAL_ONLY: Self = Self(aclrtMemMallocPolicy::ACL_MEM_MALLOC_NORMAL_ONLY.0);
    /// Pages of 1 GiB or nothing, on cards that have them set up.
    pub const HUGE_1G_ONLY: Self = Self(aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE1G_ONLY.0);
    /// [`Self::HUGE_FIRST`] in memory that other devices reach.
    pub const HUGE_FIRST_P2P: Self = Self(aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE_FIRST_P2P.0);
    /// To be combined with another: of the card's fast memory. Only for [`DeviceMemory::allocate_for_module`].
    pub const HIGH_BANDWIDTH: Self = Self(aclrtMemMallocPolicy::ACL_MEM_TYPE_HIGH_BAND_WIDTH.0);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Device memory, freed on drop.
///
/// Freeing does not wait for work in streams: memory that queued work still uses must outlive it, which the asynchronous
/// functions of [`Stream`](crate::Stream) ask for. Any thread.
#[derive(Debug)]
pub struct DeviceMemory {
    owned: Owned<DeviceBlock>,
    size: usize,
}

impl DeviceMemory {
    /// Allocates; the contents are undefined. The card gives 32 bytes more than asked, and up to 63, where its engines need
    /// them (before the 950).
    ///
    /// # Errors
    ///
    /// ACL's own: of kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if there is none left, and
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for no bytes.
    pub fn allocate(context: &Context, size: usize, policy: MallocPolicy) -> Result<Self, AclError> {
        let policy = aclrtMemMallocPolicy(policy.0);
        let owned = Owned::make(context, |bound| bound.malloc(size, policy))?;
        Ok(Self { owned, size })
    }

    /// The same without the additional bytes; only rounded up to a multiple of 32.
    ///
    /// # Errors
    ///
    /// As for [`Self::allocate`].
    pub fn allocate_unpadded(context: &Context, size: usize, policy: MallocPolicy) -> Result<Self, AclError> {
        let policy = aclrtMemMallocPolicy(policy.0);
        let owned = Owned::make(context, |bound| bound.malloc_align32(size, policy))?;
        Ok(Self { owned, size })
    }

    /// The same as [`Self::allocate_unpadded`] under the number of a module, by which ACL keeps the books that
    /// [`Device::memory_by_module`](crate::Device::memory_by_module) shows; and with policies that the others do not take.
    ///
    /// # Errors
    ///
    /// As for [`Self::allocate`].
    pub fn allocate_for_module(
        context: &Context,
        size: usize,
        policy: MallocPolicy,
        module: Option<u16>,
    ) -> Result<Self, AclError> {
        let policy = aclrtMemMallocPolicy(policy.0);
        let owned = Owned::make(context, |bound| bound.malloc_with_config(size, policy, module))?;
        Ok(Self { owned, size })
    }

    /// The address on the device. Valid while this lives.
    pub fn address(&self) -> u64 {
        self.owned.get().address()
    }

    /// Bytes that were asked for.
    pub fn size(&self) -> usize {
        self.size
    }

    /// All of it, to copy and to part.
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        // SAFETY: ACL gave this many bytes there, and they are not freed while `self` is borrowed.
        unsafe { DeviceSlice::new(self.owned.context(), self.address(), self.size) }
    }

    /// Frees now.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the memory, if ACL did not free it.
    pub fn free(self) -> Result<(), Refused<Self>> {
        let size = self.size;
        self.owned
            .release()
            .map_err(|Refused { error, owner }| Refused { error, owner: Self { owned: owner, size } })
    }

    /// Waits for all work of the device, then frees.
    ///
    /// # Errors
    ///
    /// As for [`Self::free`].
    pub fn free_after_device(self) -> Result<(), Refused<Self>> {
        let size = self.size;
        self.owned
            .release_by(DeviceBlock::free_after_device)
            .map_err(|Refused { error, owner }| Refused { error, owner: Self { owned: owner, size } })
    }
}
