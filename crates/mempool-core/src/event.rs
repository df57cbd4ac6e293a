//! What happens in a pool, told to whoever wants to record it.

use std::fmt;

use crate::error::FreeError;
use crate::units::{Alignment, Bytes, DeviceAddress};

/// Identifies a pool within its process; never used again for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub(crate) u64);

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pool {}", self.0)
    }
}

/// Something that happened in a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The pool.
    pub pool: PoolId,
    /// Place in the pool's own order, rising by 1. Events are told outside of the pool's lock, so that two threads may tell
    /// theirs in the other order; this number says which came first.
    pub sequence: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A block was allocated.
    Allocated {
        /// First byte.
        address: DeviceAddress,
        /// Bytes asked for.
        requested: Bytes,
        /// Bytes it occupies.
        bytes: Bytes,
        /// Alignment asked for.
        alignment: Alignment,
    },
    /// A block was freed.
    Freed {
        /// First byte.
        address: DeviceAddress,
        /// Bytes that had been asked for.
        requested: Bytes,
        /// Bytes it occupied.
        bytes: Bytes,
    },
    /// A request was not served.
    AllocationFailed {
        /// Bytes asked for.
        requested: Bytes,
        /// Alignment asked for.
        alignment: Alignment,
    },
    /// A free was refused: the caller's mistake.
    FreeRefused {
        /// What was wrong.
        error: FreeError,
    },
    /// The pool took an arena from the device. Of a virtual arena these are the addresses; [`EventKind::Mapped`] tells of memory.
    Grown {
        /// First byte.
        base: DeviceAddress,
        /// Size.
        bytes: Bytes,
    },
    /// The pool gave an empty arena back to the device.
    Trimmed {
        /// First byte.
        base: DeviceAddress,
        /// Size.
        bytes: Bytes,
    },
    /// Memory is behind these addresses of a virtual arena now.
    Mapped {
        /// First byte.
        address: DeviceAddress,
        /// Size of the granule.
        bytes: Bytes,
    },
    /// No memory is behind these addresses of a virtual arena any more.
    Unmapped {
        /// First byte.
        address: DeviceAddress,
        /// Size of the granule.
        bytes: Bytes,
    },
    /// The pool ended while blocks were live; they went with it.
    EndedWithLiveBlocks {
        /// Number of live blocks.
        blocks: u64,
        /// Bytes that they occupied.
        bytes: Bytes,
    },
}

/// Is told every event of a pool, on the thread that caused it and outside of the pool's lock.
///
/// It should be quick: the caller of the pool waits for it. It may use the pool, but what it does there is told to it again.
pub trait Recorder: Send + Sync + fmt::Debug {
    /// Takes note of an event.
    fn record(&self, event: &Event);
}
