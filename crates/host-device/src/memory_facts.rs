//! What a device says about its memory: handles, ranges and counts.

use std::fmt;

use crate::identity::Life;

/// A piece of physical memory of a device. Numbers are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalHandle(u64);

impl PhysicalHandle {
    /// The handle with this number, for callers that keep plain numbers.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number, at least 1.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for PhysicalHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "physical handle {}", self.0)
    }
}

/// What of virtual memory is alive on a device: all zero when nothing leaked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VirtualCounts {
    /// Reservations that were not freed.
    pub reservations: usize,
    /// Bytes of addresses in them.
    pub reserved_bytes: u64,
    /// Handles that were not released.
    pub handles: usize,
    /// Bytes of memory behind them.
    pub physical_bytes: u64,
    /// Mappings that were not unmapped.
    pub mappings: usize,
    /// Bytes of addresses in them.
    pub mapped_bytes: u64,
}

/// What [`HostDevice::describe`](crate::HostDevice::describe) says about an address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeInfo {
    /// Base, size, and where it was allocated or mapped.
    pub life: Life,
    /// How its memory was obtained.
    pub kind: RangeKind,
}

/// How the memory behind an address was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeKind {
    /// By [`HostDevice::allocate`](crate::HostDevice::allocate).
    Allocated,
    /// By [`HostDevice::map`](crate::HostDevice::map).
    Mapped {
        /// The memory that is mapped there.
        handle: PhysicalHandle,
        /// Where the reservation around it starts.
        reservation: u64,
    },
}
