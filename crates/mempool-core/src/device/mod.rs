//! The only door out of the core: the trait [`Device`], from which a pool takes its arenas.
//!
//! # Contract
//!
//! * The core checks everything it can foresee; a device reports only what nobody could foresee: out of memory,
//!   lost, unsupported, or an error of its own.
//! * The core never holds a lock of the pool across a call of this trait, so a device may call back into the pool, on the
//!   same thread. (From another thread it may ask for the status and allocate what is free; an allocation that needs growth
//!   would wait for the very call that waits for it.)
//! * Every arena is given back once, with the base and the size with which it was obtained.
//! * Sizes that the core asks for are multiples of [`DeviceProperties::arena_granularity`].

mod stream_order;
mod virtual_memory;

use std::fmt;

pub use stream_order::{DeviceEvent, DeviceStream, StreamOrder};
pub use virtual_memory::{PhysicalMemory, VirtualMemory};

use crate::units::{Alignment, Bytes, DeviceAddress};

/// A source of device memory.
///
/// Implementations are called from any thread, several at a time, and bind whatever thread-current state their
/// driver needs (a context, say) inside each call.
pub trait Device: Send + Sync + fmt::Debug {
    /// Facts about the device that do not change while it is open. Must be cheap: no driver call.
    fn properties(&self) -> DeviceProperties;

    /// Total and free memory of the device right now, over all processes that use it.
    ///
    /// # Errors
    ///
    /// [`DeviceError::Lost`] or [`DeviceError::Other`] when the driver does not answer.
    fn memory_info(&self) -> Result<MemoryInfo, DeviceError>;

    /// Obtains one contiguous range of `size` bytes. The base is a multiple of
    /// [`DeviceProperties::arena_alignment`].
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`] when the device has no such range left; the device is then unchanged.
    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError>;

    /// Gives back a range obtained from [`Device::allocate_arena`], with the same base and size.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports; the range then still belongs to the caller.
    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError>;

    /// The streams' events; `None` where all work is done when the call that asked for it returns. Always the same answer.
    fn stream_order(&self) -> Option<&dyn StreamOrder>;

    /// Virtual memory; `None` where arenas come whole only. Always the same answer.
    fn virtual_memory(&self) -> Option<&dyn VirtualMemory>;
}

/// Facts about a device that do not change while it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// Name for people, such as `host` or `Ascend910B`.
    pub name: String,
    /// Sizes of arenas are multiples of this.
    pub arena_granularity: Bytes,
    /// Bases of arenas are multiples of this.
    pub arena_alignment: Alignment,
    /// Every block that a kernel may touch starts at a multiple of this (64 bytes on Ascend before the 950).
    pub block_alignment: Alignment,
    /// What must lie behind the requested bytes of every block.
    pub tail_padding: TailPadding,
}

impl DeviceProperties {
    /// Properties of a device that asks for nothing special: 2 MiB granularity and alignment, no padding.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arena_granularity: Bytes::mib(2),
            arena_alignment: Alignment::MIB_2,
            block_alignment: Alignment::ONE,
            tail_padding: TailPadding::NONE,
        }
    }

    /// Sets [`Self::arena_granularity`].
    #[must_use]
    pub fn with_arena_granularity(mut self, granularity: Bytes) -> Self {
        self.arena_granularity = granularity;
        self
    }

    /// Sets [`Self::arena_alignment`].
    #[must_use]
    pub fn with_arena_alignment(mut self, alignment: Alignment) -> Self {
        self.arena_alignment = alignment;
        self
    }

    /// Sets [`Self::block_alignment`].
    #[must_use]
    pub fn with_block_alignment(mut self, alignment: Alignment) -> Self {
        self.block_alignment = alignment;
        self
    }

    /// Sets [`Self::tail_padding`].
    #[must_use]
    pub fn with_tail_padding(mut self, padding: TailPadding) -> Self {
        self.tail_padding = padding;
        self
    }
}

/// Bytes that a device wants behind the requested bytes of every block, because its engines may read past the end.
///
/// On Ascend before the 950 a block of `n` bytes occupies `ALIGN_UP(n, 32) + 32` bytes, which is [`TailPadding::ASCEND`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailPadding {
    /// The request is first rounded up to a multiple of this.
    pub round_to: Alignment,
    /// Then this many bytes are added.
    pub extra: Bytes,
}

impl TailPadding {
    /// No padding: a block occupies what was asked for.
    pub const NONE: Self = Self { round_to: Alignment::ONE, extra: Bytes::ZERO };
    /// The padding of Ascend devices before the 950.
    pub const ASCEND: Self = Self { round_to: Alignment::B_32, extra: Bytes::new(32) };

    /// Bytes that a request occupies with its padding; `None` when that passes 2^64 - 1.
    ///
    /// ```
    /// use mempool_core::{Bytes, TailPadding};
    /// assert_eq!(TailPadding::ASCEND.padded(Bytes::new(100)), Some(Bytes::new(160)));
    /// assert_eq!(TailPadding::NONE.padded(Bytes::new(100)), Some(Bytes::new(100)));
    /// ```
    #[inline]
    pub fn padded(self, requested: Bytes) -> Option<Bytes> {
        requested.align_up(self.round_to)?.checked_add(self.extra)
    }
}

/// Memory of a device, over all processes that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// All memory that the device offers.
    pub total: Bytes,
    /// What is not taken by anybody.
    pub free: Bytes,
}

/// What a device may report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device has no such range left.
    #[error("the device has no contiguous {requested} left")]
    OutOfMemory {
        /// Bytes asked for.
        requested: Bytes,
    },
    /// The device or its driver is gone; nothing on it can be used again.
    #[error("the device is lost: {detail}")]
    Lost {
        /// The driver's words.
        detail: String,
    },
    /// The device or its driver does not offer this operation.
    #[error("the device does not support {operation}")]
    Unsupported {
        /// Name of the operation.
        operation: &'static str,
    },
    /// An error of the driver that fits none of the others.
    #[error("device error: {0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}
