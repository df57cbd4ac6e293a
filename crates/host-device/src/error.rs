//! What a simulated device refuses, with the numbers that a person needs.

use std::io;

use crate::memory_facts::PhysicalHandle;

/// Why a call on a [`HostDevice`](crate::HostDevice) was refused. The device is then unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostDeviceError {
    /// The configuration describes no device.
    #[error("{parameter} = {value} is not possible: it must be {rule}")]
    InvalidConfig {
        /// Field of [`HostDeviceConfig`](crate::HostDeviceConfig).
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        rule: &'static str,
    },
    /// A size to allocate is 0 or no multiple of the granularity.
    #[error(
        "cannot allocate {size} bytes: ask for a positive multiple of the granularity, {granularity} bytes"
    )]
    InvalidSize {
        /// Bytes asked for.
        size: u64,
        /// Granularity of the device in bytes.
        granularity: u64,
    },
    /// Less is free than was asked for.
    #[error(
        "cannot allocate {requested} bytes: {free} of {total} are free, {foreign} are held by other processes; \
         free a range, lower the foreign use or make a larger device"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes that nobody holds.
        free: u64,
        /// Bytes that other processes hold.
        foreign: u64,
        /// Capacity of the device in bytes.
        total: u64,
    },
    /// No live range starts here.
    #[error("no live range starts at {address:#x}: free the address that allocate returned, once")]
    UnknownRange {
        /// Address to free.
        address: u64,
    },
    /// A live range starts here, but it has another size.
    #[error(
        "the range at {address:#x} has {allocated} bytes, not {given}: free it with the size it was allocated with"
    )]
    SizeMismatch {
        /// Address to free.
        address: u64,
        /// Size given to free, in bytes.
        given: u64,
        /// Size of the range in bytes.
        allocated: u64,
    },
    /// The address to access lies in no live range.
    #[error("{address:#x} lies in no live range: it was freed, or never allocated on this device")]
    NotLive {
        /// Address to access.
        address: u64,
    },
    /// An access starts in a live range but leaves it.
    #[error(
        "{length} bytes at {address:#x} pass the end of the range of {range_size} bytes at {range_base:#x}: \
         access each range by itself"
    )]
    PastEnd {
        /// First address to access.
        address: u64,
        /// Bytes to access.
        length: u64,
        /// Where the range starts.
        range_base: u64,
        /// Bytes of the range.
        range_size: u64,
    },
    /// An access reaches addresses of a reservation behind which nothing is mapped.
    #[error("nothing is mapped at {address:#x}: map physical memory there first, or access less")]
    Hole {
        /// First address without memory.
        address: u64,
    },
    /// No reservation starts here.
    #[error("no reservation starts at {address:#x}: give the address that reserve returned, once")]
    UnknownReservation {
        /// Address given.
        address: u64,
    },
    /// A reservation to free still has mappings.
    #[error("{mappings} mappings are left in the reservation at {address:#x}: unmap them first")]
    ReservationInUse {
        /// Where the reservation starts.
        address: u64,
        /// Mappings inside it.
        mappings: usize,
    },
    /// An alignment is no power of two.
    #[error("cannot align to {alignment} bytes: ask for a power of two, or 0 for the granule")]
    InvalidAlignment {
        /// Alignment asked for, in bytes.
        alignment: u64,
    },
    /// No such physical memory exists (any more).
    #[error("{handle} does not exist: it was released, or made by another device")]
    UnknownHandle {
        /// Handle given.
        handle: PhysicalHandle,
    },
    /// Physical memory is mapped, and may not be for what was asked.
    #[error("{handle} is mapped at {address:#x}: unmap it first")]
    HandleMapped {
        /// Handle given.
        handle: PhysicalHandle,
        /// One of the addresses where it is mapped.
        address: u64,
    },
    /// A mapping would not lie inside one reservation.
    #[error("{size} bytes at {address:#x} do not lie inside one reservation: reserve the addresses first")]
    NotReserved {
        /// Address to map at.
        address: u64,
        /// Bytes of the physical memory.
        size: u64,
    },
    /// A mapping would start between granules.
    #[error("cannot map at {address:#x}: it is no multiple of the granule, {granule} bytes")]
    MisalignedMapping {
        /// Address to map at.
        address: u64,
        /// Granule of the physical memory in bytes.
        granule: u64,
    },
    /// A mapping would overlap another one.
    #[error("{size} bytes at {address:#x} overlap the mapping at {mapped:#x}: unmap that first")]
    AlreadyMapped {
        /// Address to map at.
        address: u64,
        /// Bytes of the physical memory.
        size: u64,
        /// Where the other mapping starts.
        mapped: u64,
    },
    /// No mapping starts here.
    #[error("no mapping starts at {address:#x}: unmap the address that was mapped, once")]
    NotMapped {
        /// Address to unmap.
        address: u64,
    },
    /// The operating system refused; the simulated device is not to blame.
    #[error(
        "the host cannot {operation} ({length} bytes): look at its memory, at the limit of open files and at \
         vm.max_map_count"
    )]
    Host {
        /// What was tried.
        operation: &'static str,
        /// How many bytes it was about, 0 where that does not matter.
        length: u64,
        /// The operating system's answer.
        source: io::Error,
    },
}

/// Why [`HostDevice::check_fill`](crate::HostDevice::check_fill) did not find what it was told to find.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FillCheckError {
    /// A byte differs. It is the first that does.
    #[error("byte {offset} behind {address:#x} is {found:#04x}, not {expected:#04x}")]
    Mismatch {
        /// Where the check started.
        address: u64,
        /// Bytes between the start and the first byte that differs.
        offset: u64,
        /// What should be there.
        expected: u8,
        /// What is there.
        found: u8,
    },
    /// The bytes could not be read.
    #[error(transparent)]
    Access(#[from] HostDeviceError),
}
