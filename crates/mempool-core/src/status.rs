//! What a pool says of itself: a cheap [`PoolStatus`] and a [`PoolReport`] that walks everything.

use std::fmt;

use crate::heap::{BlockState, HeapTotals, WalkedBlock};
use crate::units::{Bytes, DeviceAddress};

/// Sums over a pool, kept up to date: reading them takes the lock and costs nothing else.
///
/// `total == used + free + cached + unusable`, always.
///
/// The article that named this project asks for the numbers of `aclrtGetMemPoolInfo(&total, &used, &free)`: they are [`total`],
/// [`used`] and `total - used` here.
///
/// [`total`]: PoolStatus::total
/// [`used`]: PoolStatus::used
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PoolStatus {
    /// Bytes of memory in arenas, all of which the pool holds on the device. Of virtual arenas, the memory that is mapped.
    pub total: Bytes,
    /// Bytes of addresses in arenas: as [`PoolStatus::total`], and for virtual arenas far more.
    pub addresses: Bytes,
    /// Bytes in live blocks, with padding and rounding.
    pub used: Bytes,
    /// Bytes that were asked for in live blocks; `used - requested` is internal fragmentation.
    pub requested: Bytes,
    /// Bytes in free runs of pages, which serve any request that fits.
    pub free: Bytes,
    /// Bytes in free objects of slabs, ready for their size class only.
    pub cached: Bytes,
    /// Bytes at the ends of arenas that are no whole page.
    pub unusable: Bytes,
    /// Bytes of the longest free run: the largest request that needs no growth.
    pub largest_free: Bytes,
    /// Most bytes that the pool may hold; `None` for as much as the device has.
    pub limit: Option<Bytes>,
    /// Largest [`PoolStatus::total`] so far.
    pub total_high_water: Bytes,
    /// Largest [`PoolStatus::used`] so far.
    pub used_high_water: Bytes,
    /// Largest [`PoolStatus::requested`] so far.
    pub requested_high_water: Bytes,
    /// Arenas.
    pub arenas: u64,
    /// Live blocks.
    pub blocks: u64,
    /// Free runs of pages; 1 for each arena when nothing is fragmented.
    pub free_blocks: u64,
    /// Counts since the pool was built.
    pub counters: Counters,
}

/// Counts since a pool was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Blocks allocated.
    pub allocations: u64,
    /// Blocks freed.
    pub frees: u64,
    /// Requests that were not served.
    pub failures: u64,
    /// Frees that were refused, each a mistake of the caller.
    pub refused_frees: u64,
    /// Arenas taken from the device; of virtual ones their addresses.
    pub growths: u64,
    /// Arenas given back to the device.
    pub trims: u64,
    /// Events recorded, each for many frees.
    pub events: u64,
    /// Waits of one stream for another that allocations put in.
    pub waits: u64,
    /// Granules of virtual arenas that got memory.
    pub maps: u64,
    /// Granules of virtual arenas whose memory was taken away, for a trim or to be mapped elsewhere.
    pub unmaps: u64,
    /// Granules taken from under free runs, because there was no other memory for a request.
    pub stolen_granules: u64,
}

impl PoolStatus {
    /// `1 - largest free / total free`: 0 when all free memory is one run or nothing is free, near 1 when it is in many small
    /// pieces. The article's fragmentation rate, defined where it divides by 0.
    pub fn fragmentation(&self) -> f64 {
        fragmentation(self.largest_free, self.free)
    }

    pub(crate) fn set_heap_totals(&mut self, totals: &HeapTotals) {
        self.used = totals.live;
        self.requested = totals.requested;
        self.free = totals.free;
        self.cached = totals.cached;
        self.unusable = self.total.saturating_sub(totals.arena);
        self.largest_free = totals.largest_free;
        self.blocks = totals.live_blocks;
        self.free_blocks = totals.free_runs;
    }
}

impl fmt::Display for PoolStatus {
    /// Several aligned lines for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.used.ratio_of(self.total);
        let limit = self.limit.map_or_else(|| "no limit".to_owned(), |limit| format!("limit {limit}"));
        writeln!(
            f,
            "total     {:>12}  in {} arenas, high water {}, {limit}",
            self.total, self.arenas, self.total_high_water
        )?;
        writeln!(
            f,
            "used      {:>12}  {percent:.1} % in {} blocks, high water {}, requested {}",
            self.used, self.blocks, self.used_high_water, self.requested
        )?;
        let fragmentation = self.fragmentation();
        writeln!(
            f,
            "free      {:>12}  in {} runs, largest {}, fragmentation {fragmentation:.3}",
            self.free, self.free_blocks, self.largest_free
        )?;
        writeln!(f, "cached    {:>12}  in slabs, for their size class only", self.cached)?;
        let Counters { allocations, frees, failures, refused_frees, growths, trims, .. } = self.counters;
        let Counters { maps, unmaps, stolen_granules, .. } = self.counters;
        if self.addresses > self.total {
            writeln!(
                f,
                "addresses {:>12}  reserved, granules: {maps} mapped, {unmaps} unmapped, {stolen_granules} moved",
                self.addresses
            )?;
        }
        write!(
            f,
            "counters  {allocations} allocations, {frees} frees, {failures} failures, {refused_frees} refused frees, \
             {growths} growths, {trims} trims"
        )
    }
}

/// 1 - largest free / all free, 0 when nothing is free.
fn fragmentation(largest_free: Bytes, free: Bytes) -> f64 {
    if free.is_zero() { 0.0 } else { 1.0 - largest_free.ratio_of(free) }
}

/// A walk over a whole pool.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PoolReport {
    /// Name of the pool.
    pub name: String,
    /// The cheap sums, taken under the same lock.
    pub status: PoolStatus,
    /// One entry for each arena, in address order.
    pub arenas: Vec<ArenaReport>,
    /// One entry for each bucket that holds a block, smallest first.
    pub buckets: Vec<BucketReport>,
}

/// An arena and what is in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ArenaReport {
    /// First byte.
    pub base: DeviceAddress,
    /// Bytes of memory in it.
    pub bytes: Bytes,
    /// Bytes of addresses in it: as many, or more if it is virtual.
    pub addresses: Bytes,
    /// Bytes in live blocks.
    pub used: Bytes,
    /// Bytes in free runs.
    pub free: Bytes,
    /// Bytes in free objects of slabs.
    pub cached: Bytes,
    /// The longest free run.
    pub largest_free: Bytes,
    /// Live blocks.
    pub live_blocks: u64,
    /// Free runs.
    pub free_blocks: u64,
}

impl ArenaReport {
    pub(crate) fn of(
        base: DeviceAddress,
        bytes: Bytes,
        addresses: Bytes,
        blocks: impl Iterator<Item = WalkedBlock>,
    ) -> Self {
        let zero = Bytes::ZERO;
        let mut report = Self {
            base,
            bytes,
            addresses,
            used: zero,
            free: zero,
            cached: zero,
            largest_free: zero,
            live_blocks: 0,
            free_blocks: 0,
        };
        for block in blocks {
            match block.state {
                BlockState::Live { .. } => {
                    report.used = report.used.saturating_add(block.bytes);
                    report.live_blocks += 1;
                }
                BlockState::Cached => report.cached = report.cached.saturating_add(block.bytes),
                BlockState::Free => {
                    report.free = report.free.saturating_add(block.bytes);
                    report.largest_free = report.largest_free.max(block.bytes);
                    report.free_blocks += 1;
                }
            }
        }
        report
    }

    /// As [`PoolStatus::fragmentation`], for this arena.
    pub fn fragmentation(&self) -> f64 {
        fragmentation(self.largest_free, self.free)
    }
}

/// Blocks of similar size: those of at least [`BucketReport::from`] bytes and less than twice that.
///
/// The heap itself keeps a finer index (one bucket for each page count, one class for each slab size); a report of
/// thousands of buckets would help nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketReport {
    /// Smallest size, a power of two.
    pub from: Bytes,
    /// Live blocks.
    pub live_blocks: u64,
    /// Bytes in live blocks.
    pub live: Bytes,
    /// Free runs and free objects of slabs.
    pub free_blocks: u64,
    /// Bytes in these.
    pub free: Bytes,
}

impl BucketReport {
    pub(crate) fn add_to(buckets: &mut Vec<Self>, block: &WalkedBlock) {
        let from = Bytes::new(1 << block.bytes.get().max(1).ilog2());
        let place = buckets.partition_point(|bucket| bucket.from < from);
        if buckets.get(place).is_none_or(|bucket| bucket.from != from) {
            let zero = Bytes::ZERO;
            buckets.insert(place, Self { from, live_blocks: 0, live: zero, free_blocks: 0, free: zero });
        }
        let bucket = &mut buckets[place];
        match block.state {
            BlockState::Live { .. } => {
                bucket.live_blocks += 1;
                bucket.live = bucket.live.saturating_add(block.bytes);
            }
            BlockState::Free | BlockState::Cached => {
                bucket.free_blocks += 1;
                bucket.free = bucket.free.saturating_add(block.bytes);
            }
        }
    }
}

impl fmt::Display for PoolReport {
    /// The status, then a table of arenas and one of buckets, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pool {}", self.name)?;
        writeln!(f, "{}", self.status)?;
        writeln!(
            f,
            "{:<20}{:>12}{:>12}{:>12}{:>12}{:>14}{:>8}{:>8}{:>8}",
            "arena", "size", "used", "free", "cached", "largest free", "live", "free", "frag"
        )?;
        for arena in &self.arenas {
            writeln!(
                f,
                "{:<20}{:>12}{:>12}{:>12}{:>12}{:>14}{:>8}{:>8}{:>8.3}",
                arena.base.to_string(),
                arena.bytes,
                arena.used,
                arena.free,
                arena.cached,
                arena.largest_free,
                arena.live_blocks,
                arena.free_blocks,
                arena.fragmentation()
            )?;
        }
        write!(
            f,
            "{:<20}{:>12}{:>12}{:>12}{:>12}",
            "bucket from", "live blocks", "live", "free blocks", "free"
        )?;
        for bucket in &self.buckets {
            write!(
                f,
                "\n{:<20}{:>12}{:>12}{:>12}{:>12}",
                bucket.from.to_string(),
                bucket.live_blocks,
                bucket.live,
                bucket.free_blocks,
                bucket.free
            )?;
        }
        Ok(())
    }
}
