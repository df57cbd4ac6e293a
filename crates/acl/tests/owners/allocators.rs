//! Allocators for streams: one that counts, and one that calls ACL.
#![expect(unsafe_code, reason = "implements a trait that vouches for memory")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use acl::{Context, DeviceMemory, MallocPolicy, StreamAllocator};

/// Gives addresses that nobody follows, and counts what is out.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) given: AtomicU64,
    pub(crate) freed: AtomicU64,
    /// Panics instead of what it should do.
    pub(crate) panics: AtomicBool,
}

/// Where the blocks begin, without the address that was near.
pub(crate) const BASE: u64 = 1 << 40;

// SAFETY: the fake does not follow the addresses, which are all different.
unsafe impl StreamAllocator for Counting {
    type Block = u64;

    fn allocate(&self, size: usize, near: Option<u64>) -> Option<(u64, u64)> {
        assert!(!self.panics.load(Ordering::Relaxed), "told to panic");
        if size > 1 << 20 {
            return None;
        }
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        Some((near.unwrap_or(BASE) + (number << 20), number))
    }

    fn free(&self, _number: u64) {
        self.freed.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics.load(Ordering::Relaxed), "told to panic");
    }
}

/// Takes memory of the device for each block, with a context of its own.
#[derive(Debug)]
pub(crate) struct FromDevice(pub(crate) Context);

// SAFETY: memory of that size, freed once; the fake queues no work.
unsafe impl StreamAllocator for FromDevice {
    type Block = DeviceMemory;

    fn allocate(&self, size: usize, _near: Option<u64>) -> Option<(u64, DeviceMemory)> {
        let memory = DeviceMemory::allocate(&self.0, size, MallocPolicy::HUGE_FIRST).ok()?;
        Some((memory.address(), memory))
    }
}
