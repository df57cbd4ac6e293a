//! Addresses, physical memory, and mappings of the one at the other.
//!
//! ```text
//! Reservation   |<---------------- addresses ---------------->|
//! Mapping              |<-- a -->|          |<-- b -->|
//! PhysicalMemory        x                    y
//! ```
//!
//! # Invariants
//!
//! 1. Mappings of a reservation do not overlap, and lie inside it.
//! 2. A mapping holds both its parents; a reservation in which a mapping could not be undone is never released.
#![expect(unsafe_code, reason = "vouches for the range that a mapping owns")]

mod release;

use std::collections::BTreeMap;
use std::sync::Arc;

use acl_sys::{aclrtMemAttr, aclrtMemGranularityOptions};
use parking_lot::Mutex;

use crate::api::{Handle, Mapped, PhysicalKind, Reserved};
use crate::owned::Owned;
use crate::{AclError, Context, DeviceSlice, Refused};

/// Pages of physical memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageKind(pub u32);

impl PageKind {
    /// Fast memory in pages of 2 MiB.
    pub const HUGE: Self = Self(aclrtMemAttr::ACL_HBM_MEM_HUGE.0);
    /// Fast memory in pages of 1 GiB, on cards that have them set up.
    pub const HUGE_1G: Self = Self(aclrtMemAttr::ACL_HBM_MEM_HUGE1G.0);
}

/// Bytes in whose multiples physical memory of the context's device comes.
///
/// # Errors
///
/// ACL's own.
pub fn granularity(context: &Context, pages: PageKind) -> Result<usize, AclError> {
    let device = context.inner.device_number()?;
    let option = aclrtMemGranularityOptions::ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
    context.inner.bind()?.granularity(device, aclrtMemAttr(pages.0), option)
}

/// Reserved addresses without memory, given back when the last clone and mapping is gone. Any thread.
#[derive(Debug, Clone)]
pub struct Reservation {
    inner: Arc<ReservationInner>,
}

#[derive(Debug)]
struct ReservationInner {
    owned: Owned<Reserved>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// Lengths by offset.
    ranges: BTreeMap<usize, usize>,
    /// A mapping could not be undone.
    stuck: bool,
}

impl Taken {
    /// Takes a range, unless part of it is taken.
    fn take(&mut self, offset: usize, length: usize) -> bool {
        let end = offset.saturating_add(length);
        let before = self.ranges.range(..end).next_back();
        if before.is_some_and(|(&start, &taken)| start + taken > offset) {
            return false;
        }
        self.ranges.insert(offset, length);
        true
    }
}

impl Reservation {
    /// Reserves `size` bytes of addresses.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn new(context: &Context, size: usize) -> Result<Self, AclError> {
        // The documentation knows no flag.
        let owned = Owned::make(context, |bound| bound.reserve(size, 0))?;
        Ok(Self { inner: Arc::new(ReservationInner { owned, taken: Mutex::default() }) })
    }

    /// The first address.
    pub fn address(&self) -> u64 {
        self.inner.owned.get().address()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.inner.owned.get().size()
    }

    /// Maps all of `physical` at `offset`, a multiple of the granularity. The device of the memory may read and write it.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`], [`AclError::Argument`] where something is mapped already, or ACL's own.
    ///
    /// # Complexity
    ///
    /// O(log mappings) beside the call; one lock, not held through the call.
    pub fn map(&self, offset: usize, physical: &PhysicalMemory) -> Result<Mapping, AclError> {
        let size = physical.size();
        crate::api::check_range(offset, size, self.size())?;
        if !self.inner.taken.lock().take(offset, size) {
            let rule = "nothing may be mapped there yet; unmap it first";
            return Err(AclError::Argument { parameter: "offset", value: offset as u64, rule });
        }
        let context = Context { inner: Arc::clone(self.inner.owned.context()) };
        let mapped = Owned::make(&context, |bound| {
            bound.map(self.inner.owned.get(), offset, size, physical.inner.owned.get())
        });
        match mapped {
            Ok(owned) => Ok(Mapping {
                owned,
                offset,
                reservation: Arc::clone(&self.inner),
                physical: physical.clone(),
            }),
            Err(error) => {
                self.inner.taken.lock().ranges.remove(&offset);
                Err(error)
            }
        }
    }
}

impl Drop for ReservationInner {
    fn drop(&mut self) {
        if self.taken.get_mut().stuck {
            self.owned.leak();
        }
    }
}

/// Physical memory without an address, given back when the last clone and mapping is gone. Any thread.
#[derive(Debug, Clone)]
pub struct PhysicalMemory {
    inner: Arc<PhysicalInner>,
}

#[derive(Debug)]
struct PhysicalInner {
    owned: Owned<Handle<PhysicalKind>>,
    size: usize,
}

impl PhysicalMemory {
    /// Allocates `size` bytes, a multiple of the [`granularity`], on the context's device.
    ///
    /// # Errors
    ///
    /// ACL's own, of kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if there is none left.
    pub fn allocate(context: &Context, size: usize, pages: PageKind) -> Result<Self, AclError> {
        let device = context.inner.device_number()?;
        let owned = Owned::make(context, |bound| bound.malloc_physical(device, aclrtMemAttr(pages.0), size))?;
        Ok(Self { inner: Arc::new(PhysicalInner { owned, size }) })
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.inner.size
    }
}

/// Physical memory at an address, unmapped on drop.
///
/// Unmapping neither waits for work in streams nor comes in their order: synchronise what uses the memory first. Any thread.
#[derive(Debug)]
pub struct Mapping {
    owned: Owned<Mapped>,
    offset: usize,
    reservation: Arc<ReservationInner>,
    physical: PhysicalMemory,
}

impl Mapping {
    /// The first address.
    pub fn address(&self) -> u64 {
        self.owned.get().address()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.owned.get().size()
    }

    /// Bytes from the beginning of the reservation.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The memory that is mapped.
    pub fn physical(&self) -> &PhysicalMemory {
        &self.physical
    }

    /// All of it, to copy and to part.
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        // SAFETY: this many bytes are mapped there, and stay mapped while `self` is borrowed.
        unsafe { DeviceSlice::new(self.owned.context(), self.address(), self.size()) }
    }

    /// Lets another device read and write it.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn allow_access(&self, device: u32) -> Result<(), AclError> {
        self.owned.bind()?.set_access(self.owned.get(), device)
    }

    /// Unmaps now.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the mapping, if ACL did not unmap it.
    pub fn unmap(mut self) -> Result<(), Refused<Self>> {
        match self.owned.release_mut() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused { error, owner: self }),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let gone = self.owned.release_in_drop();
        let mut taken = self.reservation.taken.lock();
        if gone {
            taken.ranges.remove(&self.offset);
        } else {
            taken.stuck = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_touch_but_not_overlap() {
        let mut taken = Taken::default();
        assert!(taken.take(10, 10));
        assert!(taken.take(0, 10) && taken.take(20, 5));
        for (offset, length) in [(0, 1), (9, 2), (10, 10), (15, 1), (5, 100), (24, 1), (24, usize::MAX)] {
            assert!(!taken.take(offset, length), "{offset} {length}");
        }
        assert!(taken.take(25, 1));
    }
}
