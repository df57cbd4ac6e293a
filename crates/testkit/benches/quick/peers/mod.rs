//! What ours is compared with: allocators that people use for the same job.

mod btree_best_fit;
mod mimalloc_peer;
mod offset_peer;

pub(crate) use btree_best_fit::BTreeBestFit;
pub(crate) use mimalloc_peer::Mimalloc;
pub(crate) use offset_peer::{OffsetByAddress, OffsetByHandle};

/// Addresses of the peers count in units of this many bytes, the granule of our blocks.
const UNIT_BYTES: u64 = 512;

/// Units that hold `bytes`.
#[inline]
fn units_for(bytes: u32) -> u32 {
    bytes.div_ceil(512)
}

/// The units of an arena, as many as 32 bits count (2 TiB).
fn arena_units(arena_bytes: u64) -> u32 {
    u32::try_from(arena_bytes / UNIT_BYTES).unwrap_or(u32::MAX)
}
