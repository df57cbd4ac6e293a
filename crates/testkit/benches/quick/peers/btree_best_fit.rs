//! The textbook best fit: free blocks in an ordered set of (size, address), joined with their neighbours at once.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{UNIT_BYTES, arena_units, units_for};
use crate::candidate::{Candidate, Placed};

type Map = HashMap<u32, u32, FixedState>;

/// The smallest free block that suffices, of those the lowest; in units of 512 B.
pub(crate) struct BTreeBestFit {
    by_size: BTreeSet<(u32, u32)>,
    /// Free blocks: start to units, and end to start, so that both neighbours are one look-up away.
    free_at_start: Map,
    free_at_end: Map,
    /// Live blocks: start to units.
    live: Map,
}

impl BTreeBestFit {
    /// One free block; maps with room for `live` blocks.
    pub(crate) fn new(arena_bytes: u64, live: u32) -> Self {
        let map = || Map::with_capacity_and_hasher(live as usize + 1, FixedState::default());
        let mut heap =
            Self { by_size: BTreeSet::new(), free_at_start: map(), free_at_end: map(), live: map() };
        heap.insert_free(0, arena_units(arena_bytes));
        heap
    }

    fn insert_free(&mut self, start: u32, units: u32) {
        self.by_size.insert((units, start));
        self.free_at_start.insert(start, units);
        self.free_at_end.insert(start + units, start);
    }
}

impl Candidate for BTreeBestFit {
    type Block = u64;

    fn allocate(&mut self, bytes: u32) -> Option<u64> {
        let units = units_for(bytes);
        let &(found, start) = self.by_size.range((units, 0)..).next()?;
        self.by_size.remove(&(found, start));
        self.free_at_start.remove(&start);
        self.free_at_end.remove(&(start + found));
        if found > units {
            self.insert_free(start + units, found - units);
        }
        self.live.insert(start, units);
        Some(u64::from(start) * UNIT_BYTES)
    }

    fn free(&mut self, block: u64) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "an arena has fewer than 2^32 units")]
        let mut start = (block / UNIT_BYTES) as u32;
        let Some(mut units) = self.live.remove(&start) else { return false };
        if let Some(next_units) = self.free_at_start.remove(&(start + units)) {
            self.by_size.remove(&(next_units, start + units));
            units += next_units;
            self.free_at_end.remove(&(start + units));
        }
        if let Some(previous) = self.free_at_end.remove(&start) {
            self.free_at_start.remove(&previous);
            self.by_size.remove(&(start - previous, previous));
            units += start - previous;
            start = previous;
        }
        self.insert_free(start, units);
        true
    }
}

impl Placed for BTreeBestFit {
    fn end_of(&self, block: u64, bytes: u32) -> u64 {
        block + u64::from(units_for(bytes)) * UNIT_BYTES
    }
}
