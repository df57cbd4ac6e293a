//! What a simulated device refuses, with the numbers that a person needs.

use std::io;

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
