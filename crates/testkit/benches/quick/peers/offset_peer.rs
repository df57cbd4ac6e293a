//! `offset-allocator`: freed by its handle, and by address through a hash map, which is what a C interface needs.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use offset_allocator::{Allocation, Allocator};

use super::{UNIT_BYTES, arena_units, units_for};
use crate::candidate::{Candidate, Placed};

/// The caller keeps the handle.
pub(crate) struct OffsetByHandle(Allocator);

impl OffsetByHandle {
    /// An arena with nodes for `live` blocks and as many gaps between them.
    pub(crate) fn new(arena_bytes: u64, live: u32) -> Self {
        Self(Allocator::with_max_allocs(arena_units(arena_bytes), 2 * live + 1024))
    }
}

impl Candidate for OffsetByHandle {
    type Block = Allocation;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<Allocation> {
        self.0.allocate(units_for(bytes))
    }

    #[inline]
    fn free(&mut self, block: Allocation) -> bool {
        self.0.free(block);
        true
    }
}

impl Placed for OffsetByHandle {
    fn end_of(&self, block: Allocation, _bytes: u32) -> u64 {
        u64::from(block.offset + self.0.allocation_size(block)) * UNIT_BYTES
    }
}

/// The caller keeps an address.
pub(crate) struct OffsetByAddress {
    allocator: Allocator,
    /// By offset in units: a key of 32 bits keeps an entry at 12 bytes.
    live: HashMap<u32, Allocation, FixedState>,
}

impl OffsetByAddress {
    /// As [`OffsetByHandle::new`]; the map never grows.
    pub(crate) fn new(arena_bytes: u64, live: u32) -> Self {
        Self {
            allocator: OffsetByHandle::new(arena_bytes, live).0,
            live: HashMap::with_capacity_and_hasher(live as usize + 1, FixedState::default()),
        }
    }
}

impl Candidate for OffsetByAddress {
    type Block = u64;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<u64> {
        let allocation = self.allocator.allocate(units_for(bytes))?;
        self.live.insert(allocation.offset, allocation);
        Some(u64::from(allocation.offset) * UNIT_BYTES)
    }

    #[inline]
    fn free(&mut self, block: u64) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "an arena has fewer than 2^32 units")]
        let key = (block / UNIT_BYTES) as u32;
        let Some(allocation) = self.live.remove(&key) else { return false };
        self.allocator.free(allocation);
        true
    }
}
