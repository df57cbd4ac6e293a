//! What a device with virtual memory offers: addresses without memory, memory without addresses, and joining them.

use std::fmt;

use super::DeviceError;
use crate::units::{Bytes, DeviceAddress};

/// Memory without an address: obtained by [`VirtualMemory::create_physical`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalMemory(u64);

impl PhysicalMemory {
    /// The memory with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "physical memory {}", self.0)
    }
}

/// Virtual memory of a [`Device`](super::Device), by the rules of CANN: one mapping shows one whole piece of physical memory, one
/// unmapping undoes one mapping.
///
/// Called from any thread, several at a time. A call that fails changes nothing. Names, addresses and sizes that do not
/// fit are [`DeviceError::Other`].
pub trait VirtualMemory: Send + Sync + fmt::Debug {
    /// Bytes, a power of two: sizes of reservations and physical memory, and the addresses of mappings, are multiples of it.
    /// Must be cheap: no driver call.
    fn granule(&self) -> Bytes;

    /// Takes `size` bytes of addresses without memory.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`] when there is no such range of addresses.
    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError>;

    /// Gives addresses back in which nothing is mapped (any more), with the base and the size of [`Self::reserve`].
    ///
    /// # Errors
    ///
    /// Whatever the driver reports.
    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError>;

    /// Takes `size` bytes of memory without an address.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`] when the device has that much no more.
    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError>;

    /// Gives memory back that is not mapped (any more).
    ///
    /// # Errors
    ///
    /// Whatever the driver reports.
    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError>;

    /// Shows all of `memory`, which is mapped nowhere, at `address`, inside one reservation, for reading and writing.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports.
    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError>;

    /// Undoes the mapping that starts at `address`. Neither comes in the order of streams nor waits for them: all work that
    /// touches it must be done. The memory keeps its bytes.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports; the mapping then stays.
    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError>;
}
