//! From an address to the index of its page, and back: two loads for any number of arenas.
//!
//! ```text
//! address >> 35 ──► top ──► leaf[(address >> 21) & 0x3fff] ──► chunk ──► page = chunk * 128 + ((address >> 14) & 127)
//! ```
//!
//! Invariants
//! * M1: chunk 0 belongs to no arena, so page 0 is never a block and stands for "not ours".
//! * M2: behind the chunks of every arena lies one chunk of no arena, so that page - 1 and page + length of a block always
//!   exist and never belong to another arena.
//! * M3: two arenas that share an address chunk (arenas that are not multiples of 2 MiB) have different page chunks;
//!   the leaf then says [`SHARED`] and the list of ranges decides.

#![expect(
    clippy::cast_possible_truncation,
    reason = "page and chunk numbers are below 2^28, checked when an arena is added"
)]

use super::geometry::{CHUNK_PAGES, CHUNK_PAGES_SHIFT, CHUNK_SHIFT, MAX_PAGES, PAGE_SHIFT};

const LEAF_SHIFT: u32 = 14;
const LEAF_CHUNKS: usize = 1 << LEAF_SHIFT;
const TOP_SHIFT: u32 = CHUNK_SHIFT + LEAF_SHIFT;
/// Addresses have at most this many bits, on 64-bit hosts and on Ascend alike.
const ADDRESS_BITS: u32 = 48;
const TOP_ENTRIES: usize = 1 << (ADDRESS_BITS - TOP_SHIFT);
const NO_LEAF: u16 = u16::MAX;
const SHARED: u32 = u32::MAX;

/// Page indices that one arena occupies, and the addresses behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRange {
    /// Address of the first usable page, a multiple of the page size.
    pub(crate) start_address: u64,
    /// Index of the first usable page.
    pub(crate) first_page: u32,
    /// Number of usable pages.
    pub(crate) pages: u32,
}

impl PageRange {
    fn end_address(&self) -> u64 {
        self.start_address + (u64::from(self.pages) << PAGE_SHIFT)
    }

    fn first_chunk(&self) -> u32 {
        self.first_page >> CHUNK_PAGES_SHIFT
    }

    fn chunks(&self) -> u32 {
        ((self.first_page + self.pages - 1) >> CHUNK_PAGES_SHIFT) - self.first_chunk() + 1
    }
}

/// Why a range cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddRangeError {
    /// It passes the 48 bits of an address.
    AddressTooHigh,
    /// It holds no whole page.
    TooSmall,
    /// It overlaps a range that is there.
    Overlap,
    /// The page indices are used up.
    TooManyPages,
}

/// The map. All methods but the look-ups are for the slow path.
#[derive(Debug)]
pub(crate) struct PageMap {
    top: Box<[u16]>,
    leaves: Vec<u32>,
    /// Address of the first byte of each page chunk; 0 for chunks of no arena.
    chunk_address: Vec<u64>,
    /// The largest range, which is looked at before any table: with one arena it answers everything.
    largest: PageRange,
    /// Sorted by address.
    ranges: Vec<PageRange>,
    /// Page chunks given back by removed arenas, as (first, count), not touching one another.
    spare_chunks: Vec<(u32, u32)>,
}

impl PageMap {
    pub(crate) fn new() -> Self {
        Self {
            top: vec![NO_LEAF; TOP_ENTRIES].into_boxed_slice(),
            leaves: Vec::new(),
            chunk_address: vec![0],
            largest: PageRange { start_address: 0, first_page: 0, pages: 0 },
            ranges: Vec::new(),
            spare_chunks: Vec::new(),
        }
    }

    /// Index of the page that holds `address`; 0 or a page of no arena when the address is not ours.
    #[inline]
    pub(crate) fn page_of(&self, address: u64) -> u32 {
        let offset = address.wrapping_sub(self.largest.start_address) >> PAGE_SHIFT;
        if offset < u64::from(self.largest.pages) {
            return self.largest.first_page + offset as u32;
        }
        self.page_by_tables(address)
    }

    fn page_by_tables(&self, address: u64) -> u32 {
        let Some(&leaf) = usize::try_from(address >> TOP_SHIFT).ok().and_then(|top| self.top.get(top)) else {
            return 0;
        };
        let slot =
            (usize::from(leaf) << LEAF_SHIFT) | ((address >> CHUNK_SHIFT) as usize & (LEAF_CHUNKS - 1));
        let Some(&chunk) = self.leaves.get(slot) else { return 0 };
        if chunk == SHARED {
            return self.page_in_shared_chunk(address);
        }
        (chunk << CHUNK_PAGES_SHIFT) | page_in_chunk(address)
    }

    #[cold]
    fn page_in_shared_chunk(&self, address: u64) -> u32 {
        self.range_at_address(address).map_or(0, |range| {
            let offset = (address - range.start_address) >> PAGE_SHIFT;
            range.first_page + u32::try_from(offset).unwrap_or(0)
        })
    }

    /// Address of the first byte of a page of an arena.
    #[inline]
    pub(crate) fn address_of(&self, page: u32) -> u64 {
        let index = page.wrapping_sub(self.largest.first_page);
        if index < self.largest.pages {
            return self.largest.start_address + (u64::from(index) << PAGE_SHIFT);
        }
        self.chunk_address[(page >> CHUNK_PAGES_SHIFT) as usize]
            + (u64::from(page & (CHUNK_PAGES - 1)) << PAGE_SHIFT)
    }

    /// The range whose usable pages hold `address`. O(log arenas).
    pub(crate) fn range_at_address(&self, address: u64) -> Option<&PageRange> {
        let after = self.ranges.partition_point(|range| range.start_address <= address);
        self.ranges[..after].last().filter(|range| address < range.end_address())
    }

    /// All ranges, in address order.
    pub(crate) fn ranges(&self) -> &[PageRange] {
        &self.ranges
    }

    /// Number of page indices in use or spare; arrays indexed by page have this length.
    pub(crate) fn page_capacity(&self) -> usize {
        self.chunk_address.len() << CHUNK_PAGES_SHIFT
    }

    /// Bytes of host memory behind this map.
    pub(crate) fn metadata_bytes(&self) -> usize {
        size_of_val(&*self.top)
            + self.leaves.capacity() * size_of::<u32>()
            + self.chunk_address.capacity() * size_of::<u64>()
            + self.ranges.capacity() * size_of::<PageRange>()
    }

    /// Adds the whole pages inside `[base, base + bytes)`. Changes nothing when it fails.
    pub(crate) fn add(&mut self, base: u64, bytes: u64) -> Result<PageRange, AddRangeError> {
        let end = base.checked_add(bytes).filter(|end| *end <= 1 << ADDRESS_BITS);
        let end = end.ok_or(AddRangeError::AddressTooHigh)?;
        let start_address = base.next_multiple_of(1 << PAGE_SHIFT);
        let end = end & !((1 << PAGE_SHIFT) - 1);
        if end <= start_address {
            return Err(AddRangeError::TooSmall);
        }
        let pages = u32::try_from((end - start_address) >> PAGE_SHIFT)
            .ok()
            .filter(|pages| *pages < MAX_PAGES)
            .ok_or(AddRangeError::TooManyPages)?;
        let place = self.ranges.partition_point(|range| range.start_address < start_address);
        let overlaps_next = self.ranges.get(place).is_some_and(|next| next.start_address < end);
        if overlaps_next || self.ranges[..place].last().is_some_and(|last| last.end_address() > start_address)
        {
            return Err(AddRangeError::Overlap);
        }
        let first_address_chunk = start_address >> CHUNK_SHIFT;
        let last_address_chunk = (end - 1) >> CHUNK_SHIFT;
        let chunks = u32::try_from(last_address_chunk - first_address_chunk + 1)
            .map_err(|_| AddRangeError::TooManyPages)?;
        let first_chunk = self.take_chunks(chunks)?;
        for (chunk, address_chunk) in (first_chunk..).zip(first_address_chunk..=last_address_chunk) {
            self.chunk_address[chunk as usize] = address_chunk << CHUNK_SHIFT;
            let slot = self.leaf_slot_or_insert(address_chunk);
            self.leaves[slot] = if self.leaves[slot] == 0 { chunk } else { SHARED };
        }
        let first_page = (first_chunk << CHUNK_PAGES_SHIFT) | page_in_chunk(start_address);
        let range = PageRange { start_address, first_page, pages };
        self.ranges.insert(place, range);
        self.find_largest();
        Ok(range)
    }

    /// Takes a range out; its page indices may be given to a later one.
    pub(crate) fn remove(&mut self, range: &PageRange) {
        let Ok(place) = self.ranges.binary_search_by_key(&range.start_address, |range| range.start_address)
        else {
            return;
        };
        self.ranges.remove(place);
        let first_address_chunk = range.start_address >> CHUNK_SHIFT;
        for chunk in 0..range.chunks() {
            let address_chunk = first_address_chunk + u64::from(chunk);
            self.chunk_address[(range.first_chunk() + chunk) as usize] = 0;
            let slot = self.leaf_slot_or_insert(address_chunk);
            self.leaves[slot] = self.chunk_entry_from_ranges(address_chunk);
        }
        self.give_chunks(range.first_chunk(), range.chunks() + 1);
        self.find_largest();
    }

    fn find_largest(&mut self) {
        let nothing = PageRange { start_address: 0, first_page: 0, pages: 0 };
        self.largest = self.ranges.iter().copied().max_by_key(|range| range.pages).unwrap_or(nothing);
    }

    /// What the leaf must say about an address chunk, worked out from the ranges alone.
    fn chunk_entry_from_ranges(&self, address_chunk: u64) -> u32 {
        let (start, end) = (address_chunk << CHUNK_SHIFT, (address_chunk + 1) << CHUNK_SHIFT);
        let mut inside =
            self.ranges.iter().filter(|range| range.start_address < end && range.end_address() > start);
        match (inside.next(), inside.next()) {
            (None, _) => 0,
            (Some(_), Some(_)) => SHARED,
            (Some(only), None) => {
                let skipped = address_chunk - (only.start_address >> CHUNK_SHIFT);
                only.first_chunk() + u32::try_from(skipped).unwrap_or(0)
            }
        }
    }

    fn leaf_slot_or_insert(&mut self, address_chunk: u64) -> usize {
        let top = (address_chunk >> LEAF_SHIFT) as usize;
        if self.top[top] == NO_LEAF {
            let leaf = self.leaves.len() >> LEAF_SHIFT;
            self.top[top] = u16::try_from(leaf).unwrap_or(NO_LEAF);
            self.leaves.resize(self.leaves.len() + LEAF_CHUNKS, 0);
        }
        (usize::from(self.top[top]) << LEAF_SHIFT) | (address_chunk as usize & (LEAF_CHUNKS - 1))
    }

    /// Page chunks for an arena and the fence chunk behind it: the smallest spare range that holds them, else new ones.
    fn take_chunks(&mut self, chunks: u32) -> Result<u32, AddRangeError> {
        let wanted = chunks.checked_add(1).ok_or(AddRangeError::TooManyPages)?;
        let fitting = self.spare_chunks.iter_mut().filter(|(_, count)| *count >= wanted);
        if let Some(spare) = fitting.min_by_key(|(_, count)| *count) {
            let first = spare.0;
            *spare = (first + wanted, spare.1 - wanted);
            self.spare_chunks.retain(|(_, count)| *count > 0);
            return Ok(first);
        }
        let first = self.chunk_address.len();
        let total = first + wanted as usize;
        if total > (MAX_PAGES >> CHUNK_PAGES_SHIFT) as usize {
            return Err(AddRangeError::TooManyPages);
        }
        self.chunk_address.resize(total, 0);
        u32::try_from(first).map_err(|_| AddRangeError::TooManyPages)
    }

    fn give_chunks(&mut self, first: u32, count: u32) {
        let place = self.spare_chunks.partition_point(|(start, _)| *start < first);
        self.spare_chunks.insert(place, (first, count));
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.spare_chunks.len());
        for &(start, count) in &self.spare_chunks {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 == start => last.1 += count,
                _ => joined.push((start, count)),
            }
        }
        self.spare_chunks = joined;
    }
}

#[inline]
fn page_in_chunk(address: u64) -> u32 {
    (address >> PAGE_SHIFT) as u32 & (CHUNK_PAGES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 1 << PAGE_SHIFT;
    const CHUNK: u64 = 1 << CHUNK_SHIFT;

    fn contains(range: &PageRange, page: u32) -> bool {
        (range.first_page..range.first_page + range.pages).contains(&page)
    }

    #[test]
    fn an_address_and_its_page_lead_to_each_other() {
        let mut map = PageMap::new();
        for base in [CHUNK, 77 * PAGE + (1 << 40), (1 << 47) + 5 * CHUNK + 3 * PAGE] {
            let range = map.add(base, 5 * CHUNK).unwrap();
            for page in range.first_page..range.first_page + range.pages {
                let address = map.address_of(page);
                assert_eq!(map.page_of(address), page);
                assert_eq!(map.page_of(address + PAGE - 1), page);
            }
            assert!(!contains(&range, map.page_of(base - 1)));
            assert!(!contains(&range, map.page_of(base + 5 * CHUNK)));
        }
    }

    #[test]
    fn arenas_that_share_a_chunk_keep_their_pages_apart() {
        let mut map = PageMap::new();
        let base = 1 << 30;
        let ranges: Vec<_> =
            (0..8).map(|index| map.add(base + index * 5 * PAGE, 5 * PAGE).unwrap()).collect();
        for (index, range) in ranges.iter().enumerate() {
            let address = base + index as u64 * 5 * PAGE;
            assert_eq!(map.page_of(address), range.first_page);
            assert_eq!(map.page_of(address + 5 * PAGE - 1), range.first_page + 4);
        }
        for range in &ranges[1..] {
            map.remove(range);
        }
        assert_eq!(map.page_of(base), ranges[0].first_page);
        assert!(!ranges.iter().any(|range| contains(range, map.page_of(base + 5 * PAGE))));
    }

    #[test]
    fn partial_pages_at_the_ends_are_left_out() {
        let mut map = PageMap::new();
        let range = map.add(CHUNK + 512, 3 * PAGE).unwrap();
        assert_eq!((range.start_address, range.pages), (CHUNK + PAGE, 2));
        assert_eq!(map.add(CHUNK * 9 + 512, PAGE), Err(AddRangeError::TooSmall));
    }

    #[test]
    fn overlap_and_addresses_past_48_bits_are_refused_without_a_change() {
        let mut map = PageMap::new();
        map.add(4 * CHUNK, 4 * CHUNK).unwrap();
        let capacity = map.page_capacity();
        for base in [2 * CHUNK, 4 * CHUNK, 6 * CHUNK] {
            assert_eq!(map.add(base, 3 * CHUNK), Err(AddRangeError::Overlap));
        }
        assert_eq!(map.add((1 << 48) - CHUNK, 2 * CHUNK), Err(AddRangeError::AddressTooHigh));
        assert_eq!(map.add(u64::MAX - CHUNK, 2 * CHUNK), Err(AddRangeError::AddressTooHigh));
        assert_eq!((map.page_capacity(), map.ranges().len()), (capacity, 1));
    }

    #[test]
    fn page_indices_of_removed_arenas_are_used_again() {
        let mut map = PageMap::new();
        let mut capacity = 0;
        for round in 0..50 {
            let ranges: Vec<_> = (1..10)
                .map(|index| map.add(index * 64 * CHUNK, (1 + (index + round) % 7) * CHUNK).unwrap())
                .collect();
            if round == 7 {
                capacity = map.page_capacity();
            }
            for range in &ranges {
                map.remove(range);
            }
        }
        assert_eq!(map.page_capacity(), capacity);
        assert_eq!(map.page_of(64 * CHUNK), 0);
    }
}
