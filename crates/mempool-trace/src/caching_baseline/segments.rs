//! The segments of the simulated allocator: blocks, best fit, split and join.
//!
//! # Invariants
//!
//! * The blocks of a segment, followed by `next` from its first one, cover it without a gap.
//! * A free block is in the pool of its segment, and no two neighbours are both free.
//! * `reserved` is the sum of the segments and never above the capacity.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mempool_core::Bytes;

const GRANULE: u64 = 512;
const SMALL_LIMIT: u64 = 1 << 20;
const SMALL_SEGMENT: u64 = 2 << 20;
const LARGE_SEGMENT: u64 = 20 << 20;
/// From here on a request gets a segment of its own.
const OWN_SEGMENT: u64 = 10 << 20;
const OWN_SEGMENT_GRANULE: u64 = 2 << 20;

/// Index of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockId(usize);

/// Whose free blocks a block may serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PoolKey {
    stream: u64,
    small: bool,
}

/// A free block in the order of best fit: smallest, then lowest. Segments lie in the order in which they were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Free {
    size: u64,
    segment: u64,
    offset: u64,
    block: BlockId,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    pool: PoolKey,
    segment: u64,
    offset: u64,
    size: u64,
    free: bool,
    previous: Option<BlockId>,
    next: Option<BlockId>,
}

/// Sums over all segments, in bytes and in numbers of segments.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) reserved: u64,
    pub(super) peak_reserved: u64,
    pub(super) in_use: u64,
    pub(super) peak_in_use: u64,
    pub(super) obtained: u64,
    pub(super) released: u64,
}

#[derive(Debug)]
pub(super) struct Segments {
    capacity: u64,
    blocks: Vec<Block>,
    /// Places in `blocks` that hold nothing.
    spare: Vec<BlockId>,
    pools: HashMap<PoolKey, BTreeSet<Free>, RandomState>,
    totals: Totals,
}

impl Segments {
    pub(super) fn new(capacity: Option<Bytes>) -> Self {
        Self {
            capacity: capacity.unwrap_or(Bytes::MAX).get(),
            blocks: Vec::new(),
            spare: Vec::new(),
            pools: HashMap::default(),
            totals: Totals::default(),
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Serves a padded request, `None` when the capacity does not allow it.
    pub(super) fn allocate(&mut self, stream: u64, padded: u64) -> Option<BlockId> {
        let size = padded.max(1).checked_next_multiple_of(GRANULE)?;
        let pool = PoolKey { stream, small: size <= SMALL_LIMIT };
        let id = match self.take_best_fit(pool, size) {
            Some(id) => id,
            None => self.obtain(pool, size)?,
        };
        self.split(id, size);
        let block = &mut self.blocks[id.0];
        block.free = false;
        self.totals.in_use += block.size;
        self.totals.peak_in_use = self.totals.peak_in_use.max(self.totals.in_use);
        Some(id)
    }

    /// Takes back a block that [`Self::allocate`] gave, and joins it with free neighbours.
    pub(super) fn free(&mut self, id: BlockId) {
        self.totals.in_use -= self.blocks[id.0].size;
        let Block { previous, next, .. } = self.blocks[id.0];
        if let Some(next) = next.filter(|next| self.blocks[next.0].free) {
            self.leave_pool(next);
            self.join(id, next);
        }
        let mut whole = id;
        if let Some(previous) = previous.filter(|previous| self.blocks[previous.0].free) {
            self.leave_pool(previous);
            self.join(previous, id);
            whole = previous;
        }
        self.blocks[whole.0].free = true;
        self.enter_pool(whole);
    }

    fn take_best_fit(&mut self, pool: PoolKey, size: u64) -> Option<BlockId> {
        let free = self.pools.get_mut(&pool)?;
        let smallest = Free { size, segment: 0, offset: 0, block: BlockId(0) };
        let best = *free.range(smallest..).next()?;
        free.remove(&best);
        Some(best.block)
    }

    /// Obtains a segment; at the capacity, after all free segments have gone back.
    fn obtain(&mut self, pool: PoolKey, size: u64) -> Option<BlockId> {
        let size = if pool.small {
            SMALL_SEGMENT
        } else if size < OWN_SEGMENT {
            LARGE_SEGMENT
        } else {
            size.checked_next_multiple_of(OWN_SEGMENT_GRANULE)?
        };
        if size > self.capacity - self.totals.reserved {
            self.release_free_segments();
            if size > self.capacity - self.totals.reserved {
                return None;
            }
        }
        self.totals.reserved += size;
        self.totals.peak_reserved = self.totals.peak_reserved.max(self.totals.reserved);
        let segment = self.totals.obtained;
        self.totals.obtained += 1;
        Some(self.insert(Block { pool, segment, offset: 0, size, free: true, previous: None, next: None }))
    }

    /// Gives back every segment that is one free block.
    fn release_free_segments(&mut self) {
        for free in self.pools.values_mut() {
            let blocks = &self.blocks;
            for whole in free.extract_if(.., |free| {
                let Block { previous, next, .. } = blocks[free.block.0];
                previous.is_none() && next.is_none()
            }) {
                self.totals.reserved -= whole.size;
                self.totals.released += 1;
                self.spare.push(whole.block);
            }
        }
    }

    /// Cuts what lies behind `size` off a block that is in no pool, when that is worth while.
    fn split(&mut self, id: BlockId, size: u64) {
        let whole = self.blocks[id.0];
        let remaining = whole.size - size;
        let worth_while = if whole.pool.small { remaining >= GRANULE } else { remaining > SMALL_LIMIT };
        if !worth_while {
            return;
        }
        let rest = self.insert(Block {
            offset: whole.offset + size,
            size: remaining,
            free: true,
            previous: Some(id),
            ..whole
        });
        if let Some(next) = whole.next {
            self.blocks[next.0].previous = Some(rest);
        }
        let front = &mut self.blocks[id.0];
        front.size = size;
        front.next = Some(rest);
        self.enter_pool(rest);
    }

    /// Adds `back` to `front`, which lies before it. Both are in no pool.
    fn join(&mut self, front: BlockId, back: BlockId) {
        let Block { size, next, .. } = self.blocks[back.0];
        self.blocks[front.0].size += size;
        self.blocks[front.0].next = next;
        if let Some(next) = next {
            self.blocks[next.0].previous = Some(front);
        }
        self.spare.push(back);
    }

    fn insert(&mut self, block: Block) -> BlockId {
        if let Some(id) = self.spare.pop() {
            self.blocks[id.0] = block;
            return id;
        }
        self.blocks.push(block);
        BlockId(self.blocks.len() - 1)
    }

    fn enter_pool(&mut self, id: BlockId) {
        let (pool, free) = self.free_entry(id);
        self.pools.entry(pool).or_default().insert(free);
    }

    fn leave_pool(&mut self, id: BlockId) {
        let (pool, free) = self.free_entry(id);
        if let Some(entries) = self.pools.get_mut(&pool) {
            entries.remove(&free);
        }
    }

    fn free_entry(&self, id: BlockId) -> (PoolKey, Free) {
        let Block { pool, segment, offset, size, .. } = self.blocks[id.0];
        (pool, Free { size, segment, offset, block: id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks everything and compares it with the invariants of the module.
    fn validate(segments: &Segments) {
        let spare: std::collections::HashSet<_> = segments.spare.iter().map(|id| id.0).collect();
        let used = |index: &usize| !spare.contains(index);
        let blocks: Vec<usize> = (0..segments.blocks.len()).filter(used).collect();
        let sizes: u64 = blocks.iter().map(|&index| segments.blocks[index].size).sum();
        assert_eq!(sizes, segments.totals.reserved);
        let in_use = blocks.iter().filter(|&&index| !segments.blocks[index].free);
        assert_eq!(in_use.map(|&index| segments.blocks[index].size).sum::<u64>(), segments.totals.in_use);
        for &index in &blocks {
            let block = segments.blocks[index];
            let (pool, entry) = segments.free_entry(BlockId(index));
            let listed = segments.pools.get(&pool).is_some_and(|free| free.contains(&entry));
            assert_eq!(listed, block.free);
            if let Some(next) = block.next {
                let next = segments.blocks[next.0];
                assert_eq!((next.offset, next.segment), (block.offset + block.size, block.segment));
                assert_eq!(next.previous, Some(BlockId(index)));
                assert!(!(block.free && next.free), "free neighbours were not joined");
            }
        }
        let listed: usize = segments.pools.values().map(BTreeSet::len).sum();
        assert_eq!(listed, blocks.iter().filter(|&&index| segments.blocks[index].free).count());
        assert!(segments.totals.reserved <= segments.capacity);
    }

    #[test]
    fn random_requests_keep_the_invariants_and_join_back_to_whole_segments() {
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut segments = Segments::new((seed % 2 == 0).then_some(Bytes::mib(256)));
            let mut live = Vec::new();
            for _ in 0..600 {
                if live.is_empty() || random.u8(..) < 150 {
                    let size = 1 << random.u32(0..25);
                    live.extend(segments.allocate(random.u64(0..3), random.u64(0..size)));
                } else {
                    segments.free(live.swap_remove(random.usize(0..live.len())));
                }
                validate(&segments);
            }
            for id in live.drain(..) {
                segments.free(id);
            }
            validate(&segments);
            segments.release_free_segments();
            let totals = segments.totals();
            assert_eq!((totals.reserved, totals.in_use, totals.obtained), (0, 0, totals.released));
        }
    }

    #[test]
    fn the_smallest_fit_is_taken_and_the_lowest_of_equals() {
        let mut segments = Segments::new(None);
        let ids: Vec<_> = [1024, 512, 512, 512, 512, 512, 1024, 512]
            .map(|size| segments.allocate(0, size).unwrap())
            .to_vec();
        for index in [0, 2, 4, 6] {
            segments.free(ids[index]);
        }
        let offset = |segments: &Segments, id: BlockId| segments.blocks[id.0].offset;
        let first = segments.allocate(0, 100).unwrap();
        let second = segments.allocate(0, 512).unwrap();
        let third = segments.allocate(0, 513).unwrap();
        assert_eq!(offset(&segments, first), 1536);
        assert_eq!(offset(&segments, second), 2560);
        assert_eq!(offset(&segments, third), 0);
    }

    #[test]
    fn large_blocks_keep_a_remainder_of_up_to_1_mib() {
        for (second, kept) in [(10 << 20, 11 << 20), ((10 << 20) - 512, (10 << 20) - 512)] {
            let mut segments = Segments::new(None);
            let first = segments.allocate(0, 9 << 20).unwrap();
            let second = segments.allocate(0, second).unwrap();
            assert_eq!(segments.blocks[first.0].size, 9 << 20);
            assert_eq!(segments.blocks[second.0].size, kept);
            assert_eq!(segments.totals().obtained, 1);
        }
    }
}
