//! What can go wrong, one type for each operation.

use crate::device::{DeviceError, TailPadding};
use crate::heap::AddArenaError;
use crate::order::StreamId;
use crate::units::{Alignment, Bytes, DeviceAddress};

/// Why a block was not allocated. No block of the pool changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// 0 bytes were asked for.
    #[error("0 bytes were asked for; ask for at least 1")]
    ZeroSize,
    /// The alignment is larger than a pool serves.
    #[error("alignment {alignment} is larger than {largest}; use a smaller one")]
    AlignmentTooLarge {
        /// As given.
        alignment: Alignment,
        /// The largest that a pool serves.
        largest: Alignment,
    },
    /// The request, with padding and rounding, is more than the pool may ever hold.
    #[error(
        "{requested} at alignment {alignment} can never fit into pool {pool:?}, which may hold {limit}; ask for less, or raise max_size (ASCEND_MEMORY_POOL_MAX_SIZE) up to 4 TiB"
    )]
    TooLarge {
        /// Name of the pool.
        pool: String,
        /// Bytes asked for.
        requested: Bytes,
        /// Alignment asked for.
        alignment: Alignment,
        /// Most bytes that the pool may hold.
        limit: Bytes,
    },
    /// Nothing could serve the request.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The device failed while the pool tried to grow.
    #[error("pool {pool:?} could not grow for a request of {requested}")]
    Device {
        /// Name of the pool.
        pool: String,
        /// Bytes asked for.
        requested: Bytes,
        /// What the device said.
        source: DeviceError,
    },
    /// The stream of the request cannot be used.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The device gave the pool an arena that it cannot use; it was given back.
    #[error("the device gave pool {pool:?} an arena that it cannot use")]
    UnusableArena {
        /// Name of the pool.
        pool: String,
        /// What is wrong with the arena.
        source: AddArenaError,
    },
}

/// A request that nothing could serve, with the numbers that say why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "pool {pool:?} has no {occupied} for a request of {requested} at alignment {alignment}: total {total} of {}, used {used}, \
     free {free} (largest {largest_free}), cached {cached}; {}; {shortage}",
    limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string()),
    device_free.map_or_else(|| "free memory of the device unknown".to_owned(), |free| format!("device free {free}")),
)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// Name of the pool.
    pub pool: String,
    /// Bytes asked for.
    pub requested: Bytes,
    /// Bytes that the block would occupy.
    pub occupied: Bytes,
    /// Alignment asked for.
    pub alignment: Alignment,
    /// Bytes in arenas.
    pub total: Bytes,
    /// Bytes in live blocks.
    pub used: Bytes,
    /// Bytes in free runs.
    pub free: Bytes,
    /// The longest free run.
    pub largest_free: Bytes,
    /// Bytes ready for some size class only.
    pub cached: Bytes,
    /// Most bytes that the pool may hold.
    pub limit: Option<Bytes>,
    /// What the device said it has left, if it answered.
    pub device_free: Option<Bytes>,
    /// What is short.
    pub shortage: Shortage,
}

/// What is short when a request cannot be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shortage {
    /// The pool's own limit.
    #[error("the limit of the pool is reached: raise max_size (ASCEND_MEMORY_POOL_MAX_SIZE) or free blocks")]
    Limit,
    /// The device's memory, some of which may be used by others.
    #[error("the device has not enough left: free blocks here, or memory that others hold on the device")]
    Device,
    /// Enough is free in the pool, and growth is not possible, but no single hole is long enough.
    #[error("enough is free but in pieces: free blocks beside large holes, or raise max_size")]
    Fragmentation,
}

/// Why a stream could not be used. The pool is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The device has no streams.
    #[error("device {device:?} has no streams; use the functions that name none")]
    Unsupported {
        /// Name of the device.
        device: String,
    },
    /// The stream belongs to another pool.
    #[error("{stream} belongs to another pool; add it to this one")]
    WrongPool {
        /// As given.
        stream: StreamId,
    },
    /// The stream has ended.
    #[error("{stream} has ended; add a stream and use that")]
    Ended {
        /// As given.
        stream: StreamId,
    },
    /// The pool knows as many streams as it can.
    #[error("the pool has {most} streams already; end some")]
    TooMany {
        /// Most streams at one time.
        most: usize,
    },
    /// No live block starts at the address.
    #[error(transparent)]
    Block(#[from] FreeError),
    /// The device failed.
    #[error("the device failed over {stream}")]
    Device {
        /// As given.
        stream: StreamId,
        /// What the device said.
        source: DeviceError,
    },
}

/// Why a block was not freed. The pool is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FreeError {
    /// No arena of this pool holds the address.
    #[error("{address} lies in no arena of this pool; free it where it was allocated")]
    Foreign {
        /// The address as given.
        address: DeviceAddress,
    },
    /// The address lies in an arena of another pool of this process.
    #[error("{address} belongs to pool {owner:?}; free it there")]
    WrongPool {
        /// The address as given.
        address: DeviceAddress,
        /// Name of the pool that has it.
        owner: String,
    },
    /// The free names a stream of another pool.
    #[error("cannot free {address} on {stream}, which belongs to another pool; name a stream of this one")]
    WrongStream {
        /// The address as given.
        address: DeviceAddress,
        /// The stream as given.
        stream: StreamId,
    },
    /// The address lies in an arena that this pool has given back to the device since.
    #[error(
        "{address} lies in an arena that was empty and went back to the device; its block was freed before"
    )]
    Stale {
        /// The address as given.
        address: DeviceAddress,
    },
    /// The address lies inside a live block.
    #[error(
        "{address} lies inside the live block at {block} ({block_bytes}); free a block by its first address"
    )]
    Interior {
        /// The address as given.
        address: DeviceAddress,
        /// Start of the live block.
        block: DeviceAddress,
        /// Size of the live block.
        block_bytes: Bytes,
    },
    /// The address lies in an arena of this pool, in memory that is free: freed twice, or never allocated.
    #[error("nothing is allocated at {address}: it was freed already, or never allocated")]
    DoubleFree {
        /// The address as given.
        address: DeviceAddress,
    },
    /// The block is live but was allocated with another size than the caller says.
    #[error("the block at {address} was allocated with {requested}, not with {given}; it stays allocated")]
    SizeMismatch {
        /// The address as given.
        address: DeviceAddress,
        /// The size as given.
        given: Bytes,
        /// The size with which the block was allocated.
        requested: Bytes,
    },
}

/// Why a pool was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The device states a property that cannot be.
    #[error("device {device:?} states an arena granularity of 0 bytes")]
    Granularity {
        /// Name of the device.
        device: String,
    },
    /// The device asks for more padding behind each block than any known device needs.
    #[error("device {device:?} asks for a padding of {} rounded up to {} behind every block; at most 1 MiB is served", padding.extra, padding.round_to)]
    TailPadding {
        /// Name of the device.
        device: String,
        /// What it asks for.
        padding: TailPadding,
    },
    /// The device states a granule of virtual memory that cannot be, or is larger than a pool can use.
    #[error(
        "device {device:?} maps memory in granules of {granule}, where a power of two up to 1 GiB is served; use ArenaKind::Plain"
    )]
    VirtualGranule {
        /// Name of the device.
        device: String,
        /// What it states.
        granule: Bytes,
    },
    /// The limit is less than the smallest arena of the device.
    #[error("max_size is {max_size}, less than the smallest arena of the device, {granularity}; raise it")]
    MaxBelowGranularity {
        /// Limit of the pool.
        max_size: Bytes,
        /// Smallest arena of the device.
        granularity: Bytes,
    },
    /// The initial arena could not be had.
    #[error(
        "pool {pool:?} could not take its initial {initial_size}; lower initial_size or free memory on the device"
    )]
    Initial {
        /// Name of the pool.
        pool: String,
        /// Bytes that it should start with.
        initial_size: Bytes,
        /// Why.
        source: Box<AllocError>,
    },
}

/// Some empty arenas could not be given back. They stay in the pool and serve on.
#[derive(Debug, thiserror::Error)]
#[error("{} empty arenas could not be given back, the first at {base} ({bytes}); {released} were", kept)]
#[non_exhaustive]
pub struct TrimError {
    /// Bytes that were given back.
    pub released: Bytes,
    /// Arenas that were not.
    pub kept: usize,
    /// The first of these.
    pub base: DeviceAddress,
    /// Its size.
    pub bytes: Bytes,
    /// What the device said about it.
    pub source: DeviceError,
}
