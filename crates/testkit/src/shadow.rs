//! The shadow model: a plain sorted map of what must be live, kept by whoever calls the pool.
//!
//! What it holds a pool to:
//! * I1: live blocks never overlap, and each lies inside one arena;
//! * I2: `used + free + cached + unusable == total <= limit`, and the sums are those of the live blocks;
//! * I6: counters count what happened, and high-water marks are the marks;
//! * alignment and size of every block are what was asked for, and rounding stays within bounds.

use std::collections::BTreeMap;
use std::fmt;

use mempool_core::{
    Alignment, Bytes, DeviceAddress, DeviceProperties, FreeError, PoolReport, PoolStatus, RawAllocation,
};

use crate::violation::{Violation, ensure};

/// Pages in which a heap cuts large blocks.
pub(crate) const PAGE: Bytes = Bytes::kib(16);

/// A block that must be live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveBlock {
    /// Rising with age, never used twice by one shadow.
    pub id: u64,
    /// First byte.
    pub address: DeviceAddress,
    /// Bytes that were asked for.
    pub requested: Bytes,
    /// Bytes it occupies.
    pub bytes: Bytes,
    /// Alignment that was asked for.
    pub alignment: Alignment,
}

impl LiveBlock {
    fn end(&self) -> u64 {
        self.address.get().saturating_add(self.bytes.get())
    }
}

impl fmt::Display for LiveBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, address, requested, bytes, alignment } = self;
        write!(f, "block {id} at {address} ({} for {} at {alignment})", bytes.get(), requested.get())
    }
}

/// Which live block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The one that lives longest.
    Oldest,
    /// The one that was allocated last.
    Newest,
    /// Any, chosen by this number.
    Any(u64),
}

/// What must be live, and what must have been counted.
#[derive(Debug, Clone)]
pub struct Shadow {
    properties: DeviceProperties,
    blocks: BTreeMap<u64, LiveBlock>,
    /// Addresses by id.
    by_age: BTreeMap<u64, u64>,
    next_id: u64,
    used: Bytes,
    requested: Bytes,
    used_high_water: Bytes,
    requested_high_water: Bytes,
    frees: u64,
    failures: u64,
    refused_frees: u64,
}

impl Shadow {
    /// A shadow of a new pool over a device with these properties.
    pub fn new(properties: DeviceProperties) -> Self {
        Self {
            properties,
            blocks: BTreeMap::new(),
            by_age: BTreeMap::new(),
            next_id: 0,
            used: Bytes::ZERO,
            requested: Bytes::ZERO,
            used_high_water: Bytes::ZERO,
            requested_high_water: Bytes::ZERO,
            frees: 0,
            failures: 0,
            refused_frees: 0,
        }
    }

    /// Bytes that a request occupies at least, with the padding of the device; `None` past 2^64 - 1.
    pub fn occupied(&self, requested: Bytes) -> Option<Bytes> {
        self.properties.tail_padding.padded(requested)
    }

    /// Alignment that a request gets at least.
    pub fn alignment(&self, asked: Alignment) -> Alignment {
        asked.max(self.properties.block_alignment)
    }

    /// Takes note of an allocation for `asked` bytes at `alignment`.
    ///
    /// # Errors
    ///
    /// I1 when it overlaps a live block; `alignment`, `size` or `rounding` when it is not what was asked for.
    pub fn insert(
        &mut self,
        given: RawAllocation,
        asked: Bytes,
        alignment: Alignment,
    ) -> Result<LiveBlock, Violation> {
        let RawAllocation { address, requested, bytes, .. } = given;
        let block = LiveBlock { id: self.next_id, address, requested, bytes, alignment };
        let occupied = self.occupied(asked).unwrap_or(Bytes::MAX);
        ensure!(requested == asked, "size", "{block} is for {}", asked.get());
        ensure!(bytes >= occupied, "size", "{block} must occupy {} with its padding", occupied.get());
        let most = occupied.get() + occupied.get() / 8 + PAGE.get();
        ensure!(bytes.get() < most, "rounding", "{block} wastes more than an eighth and a page");
        for wanted in [alignment, self.properties.block_alignment, Alignment::B_512] {
            ensure!(
                address.is_aligned(wanted),
                "alignment",
                "{block} does not start at a multiple of {wanted}"
            );
        }
        ensure!(address.checked_add(bytes).is_some(), "I1", "{block} passes 2^64");
        let before = self
            .blocks
            .range(..=address.get())
            .next_back()
            .filter(|(_, before)| before.end() > address.get());
        let after = self.blocks.range(address.get()..).next().filter(|&(&start, _)| start < block.end());
        if let Some((_, other)) = before.or(after) {
            return Err(Violation::new("I1", format!("{block} overlaps {other}")));
        }
        self.next_id += 1;
        self.blocks.insert(address.get(), block);
        self.by_age.insert(block.id, address.get());
        self.used = self.used.saturating_add(bytes);
        self.requested = self.requested.saturating_add(requested);
        self.used_high_water = self.used_high_water.max(self.used);
        self.requested_high_water = self.requested_high_water.max(self.requested);
        Ok(block)
    }

    /// Takes note of a free that the pool says was of `bytes`.
    ///
    /// # Errors
    ///
    /// `free` when no live block starts there, or it has another size.
    pub fn remove(&mut self, address: DeviceAddress, bytes: Bytes) -> Result<LiveBlock, Violation> {
        let Some(block) = self.blocks.remove(&address.get()) else {
            return Err(Violation::new("free", format!("the pool freed {address}, where nothing is live")));
        };
        self.by_age.remove(&block.id);
        self.used = self.used.saturating_sub(block.bytes);
        self.requested = self.requested.saturating_sub(block.requested);
        self.frees += 1;
        ensure!(bytes == block.bytes, "free", "{block} was freed as {bytes}");
        Ok(block)
    }

    /// Takes note of an allocation that failed.
    pub fn note_failure(&mut self) {
        self.failures += 1;
    }

    /// Takes note of a free that was refused.
    pub fn note_refused_free(&mut self) {
        self.refused_frees += 1;
    }

    /// Number of live blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether nothing is live.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Bytes that live blocks occupy.
    pub fn used(&self) -> Bytes {
        self.used
    }

    /// All live blocks in address order.
    pub fn blocks(&self) -> impl Iterator<Item = &LiveBlock> {
        self.blocks.values()
    }

    /// A live block; `None` when none is. O(log live).
    pub fn pick(&self, pick: Pick) -> Option<&LiveBlock> {
        let (&oldest, first) = self.by_age.first_key_value()?;
        let (&newest, last) = self.by_age.last_key_value()?;
        let address = match pick {
            Pick::Oldest => first,
            Pick::Newest => last,
            Pick::Any(number) => {
                let id = oldest + number % (newest - oldest + 1);
                self.by_age.range(id..).next()?.1
            }
        };
        self.blocks.get(address)
    }

    /// The live block that has `address` among its bytes.
    pub fn block_around(&self, address: DeviceAddress) -> Option<&LiveBlock> {
        let (_, block) = self.blocks.range(..=address.get()).next_back()?;
        (address.get() < block.end()).then_some(block)
    }

    /// Checks how the pool refused to free `address`, where no live block starts, against `report`, taken at that time.
    ///
    /// # Errors
    ///
    /// `refusal` when another error fits better.
    pub fn check_refusal(
        &self,
        address: DeviceAddress,
        error: &FreeError,
        report: &PoolReport,
    ) -> Result<(), Violation> {
        let expected = if let Some(block) = self.block_around(address) {
            let (block, block_bytes) = (block.address, block.bytes);
            *error == FreeError::Interior { address, block, block_bytes }
        } else if is_in_whole_page(address, report) {
            *error == FreeError::DoubleFree { address }
        } else {
            matches!(error, FreeError::Foreign { .. } | FreeError::Stale { .. } | FreeError::WrongPool { .. })
        };
        ensure!(
            expected,
            "refusal",
            "{address} was refused with {error:?}; live there: {:?}",
            self.block_around(address)
        );
        Ok(())
    }

    /// Compares the pool's sums with the shadow's. O(1).
    ///
    /// # Errors
    ///
    /// I2 or I6.
    pub fn check_status(&self, status: &PoolStatus) -> Result<(), Violation> {
        let parts = [status.used, status.free, status.cached, status.unusable].into_iter().sum::<Bytes>();
        ensure!(parts == status.total, "I2", "the parts sum up to {parts}: {status:?}");
        ensure!(
            status.limit.is_none_or(|limit| status.total <= limit),
            "I2",
            "the limit is passed: {status:?}"
        );
        let sums = (status.used, status.requested, status.blocks);
        let expected = (self.used, self.requested, self.blocks.len() as u64);
        ensure!(sums == expected, "I2", "(used, requested, blocks) are {sums:?} instead of {expected:?}");
        ensure!(status.largest_free <= status.free, "I2", "a part is larger than the whole: {status:?}");
        ensure!(
            (0.0..1.0).contains(&status.fragmentation()),
            "I2",
            "fragmentation is {}",
            status.fragmentation()
        );
        let marks = (status.used_high_water, status.requested_high_water);
        let expected = (self.used_high_water, self.requested_high_water);
        ensure!(marks == expected, "I6", "high-water marks are {marks:?} instead of {expected:?}");
        ensure!(status.total_high_water >= status.total, "I6", "total is above its mark: {status:?}");
        let counters = status.counters;
        let counted = (counters.allocations, counters.frees, counters.failures, counters.refused_frees);
        let expected = (self.next_id, self.frees, self.failures, self.refused_frees);
        ensure!(
            counted == expected,
            "I6",
            "(allocations, frees, failures, refused) {counted:?}, not {expected:?}"
        );
        let arenas = counters.growths.checked_sub(counters.trims);
        ensure!(
            arenas == Some(status.arenas),
            "I6",
            "growths and trims do not explain the arenas: {status:?}"
        );
        Ok(())
    }

    /// Compares the pool's walk with the shadow, arena by arena. O(blocks).
    ///
    /// # Errors
    ///
    /// I1, I2 or I6.
    pub fn check_report(&self, report: &PoolReport) -> Result<(), Violation> {
        self.check_status(&report.status)?;
        let mut blocks = self.blocks.values().peekable();
        let (mut end_of_last, mut sum) = (0, Bytes::ZERO);
        for arena in &report.arenas {
            ensure!(
                arena.base.get() >= end_of_last,
                "I1",
                "arenas overlap or are out of order: {:?}",
                report.arenas
            );
            end_of_last = arena.base.get() + arena.addresses.get();
            sum = sum.saturating_add(arena.bytes);
            let parts = [arena.used, arena.free, arena.cached].into_iter().sum::<Bytes>();
            ensure!(
                parts <= arena.bytes && arena.bytes.get() - parts.get() < 2 * PAGE.get(),
                "I2",
                "{arena:?}"
            );
            let (mut used, mut live_blocks) = (Bytes::ZERO, 0);
            while let Some(block) = blocks.next_if(|block| block.address.get() < end_of_last) {
                let inside = block.address >= arena.base && block.end() <= end_of_last;
                ensure!(inside, "I1", "{block} does not lie inside one arena: {:?}", report.arenas);
                used = used.saturating_add(block.bytes);
                live_blocks += 1;
            }
            let expected = (used, live_blocks);
            ensure!((arena.used, arena.live_blocks) == expected, "I2", "{arena:?} instead of {expected:?}");
        }
        if let Some(block) = blocks.next() {
            return Err(Violation::new("I1", format!("{block} lies in no arena")));
        }
        let status = &report.status;
        ensure!(sum == status.total, "I2", "arenas sum up to {sum}, not {}", status.total);
        let rising = report.buckets.windows(2).all(|pair| pair[0].from < pair[1].from);
        ensure!(rising, "I2", "buckets are out of order: {:?}", report.buckets);
        let live: (Bytes, u64) =
            (report.buckets.iter().map(|b| b.live).sum(), report.buckets.iter().map(|b| b.live_blocks).sum());
        ensure!(live == (status.used, status.blocks), "I2", "buckets hold {live:?}: {status:?}");
        let free: Bytes = report.buckets.iter().map(|bucket| bucket.free).sum();
        ensure!(
            free == status.free.saturating_add(status.cached),
            "I2",
            "buckets have {free} free: {status:?}"
        );
        Ok(())
    }
}

/// Whether `address` lies in a page that an arena uses: arenas that do not start or end with a page lose the rest of it.
fn is_in_whole_page(address: DeviceAddress, report: &PoolReport) -> bool {
    report.arenas.iter().any(|arena| {
        let start = arena.base.get().next_multiple_of(PAGE.get());
        let end = (arena.base.get() + arena.addresses.get()) / PAGE.get() * PAGE.get();
        (start..end).contains(&address.get())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mempool_core::{AddressDevice, Pool, PoolConfig};

    use super::*;

    fn pool() -> Pool {
        Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), PoolConfig::default()).unwrap()
    }

    #[test]
    fn an_overlap_is_found_on_both_sides() {
        let pool = pool();
        let mut shadow = Shadow::new(pool.device().properties());
        let raw = pool.allocate_raw(Bytes::mib(1), Alignment::ONE).unwrap();
        let other = pool.allocate_raw(Bytes::mib(1), Alignment::ONE).unwrap();
        shadow.insert(raw, Bytes::mib(1), Alignment::ONE).unwrap();
        let (mut early, mut late) = (raw, raw);
        early.address = DeviceAddress::new(raw.address.get() - 512);
        late.address = DeviceAddress::new(raw.address.get() + raw.bytes.get() - 512);
        for wrong in [raw, early, late] {
            assert_eq!(shadow.insert(wrong, Bytes::mib(1), Alignment::ONE).unwrap_err().rule, "I1");
        }
        shadow.insert(other, Bytes::mib(1), Alignment::ONE).unwrap();
        shadow.check_report(&pool.report()).unwrap();
    }

    #[test]
    fn a_block_that_the_pool_does_not_know_is_found() {
        let (pool, elsewhere) = (pool(), pool());
        let mut shadow = Shadow::new(pool.device().properties());
        let raw = elsewhere.allocate_raw(Bytes::mib(1), Alignment::ONE).unwrap();
        shadow.insert(raw, Bytes::mib(1), Alignment::ONE).unwrap();
        assert_eq!(shadow.check_report(&pool.report()).unwrap_err().rule, "I2");
        assert!(shadow.remove(raw.address, Bytes::kib(1)).is_err(), "the size must be that of the block");
        assert!(shadow.remove(raw.address, raw.bytes).is_err(), "nothing is live there any more");
    }

    #[test]
    fn what_was_not_asked_for_is_found() {
        let pool = pool();
        let raw = pool.allocate_raw(Bytes::new(1000), Alignment::ONE).unwrap();
        let mut shadow = Shadow::new(pool.device().properties());
        let rule = |result: Result<LiveBlock, Violation>| result.unwrap_err().rule;
        assert_eq!(rule(shadow.insert(raw, Bytes::new(999), Alignment::ONE)), "size");
        let mut wrong = raw;
        wrong.address = DeviceAddress::new(raw.address.get() + 64);
        assert_eq!(rule(shadow.insert(wrong, Bytes::new(1000), Alignment::ONE)), "alignment");
        wrong.bytes = Bytes::mib(1);
        assert_eq!(rule(shadow.insert(wrong, Bytes::new(1000), Alignment::ONE)), "rounding");
    }
}
