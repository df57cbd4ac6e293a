//! Memory behind addresses: where a [`Heap`] of reservations wants memory mapped, and which memory it can do without.
//!
//! A reservation has far more addresses than the pool may have memory. Memory comes and goes in *granules*; a backed granule stays
//! backed when its blocks are freed, so that the same request again finds it without a new mapping. Only when memory must move are whole
//! granules taken from under free runs.
//!
//! Changing the backing means asking the device, which takes long. So it goes in steps: pages are *claimed*, which keeps everybody else
//! from them, the device is asked without the lock, and each claim ends as free memory, as a block or as a hole.

use super::geometry::{MAX_PAGES, PAGE_BYTES, PAGE_SHIFT, pages_for};
use super::{AddArenaError, Block, Heap};
use crate::order::{Slot, Stamps};
use crate::size_class::{CLASSES, SMALL_MAX_BYTES, aligned_class_of};
use crate::units::{Alignment, Bytes, DeviceAddress};

/// Pages that were free.
#[derive(Debug)]
struct Part {
    first: u32,
    pages: u32,
    stamps: Stamps,
}

/// A place for a block: free pages, a hole and free pages, each of which may be missing, claimed until memory is in the hole.
#[derive(Debug)]
#[must_use = "a claim that is not given back keeps its pages for ever"]
pub(crate) struct Place {
    before: Option<Part>,
    /// First page and length, whole granules.
    hole: (u32, u32),
    after: Option<Part>,
    /// First page of the block, and its pages.
    start: u32,
    pages: u32,
    /// The class, if it is to be a slab for a small block.
    class: Option<usize>,
    /// For whom it is.
    stream: Option<Slot>,
}

impl Place {
    /// Granules that want memory, by their addresses.
    pub(crate) fn missing(&self, heap: &Heap, granule: Bytes) -> Vec<DeviceAddress> {
        let pages = granule_pages(granule);
        let first = |index| DeviceAddress::new(heap.map.address_of(self.hole.0 + index * pages));
        (0..self.hole.1 / pages).map(first).collect()
    }
}

/// A place that would do, before it is claimed.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// The hole as it is.
    whole_hole: (u32, u32),
    /// What of it is needed.
    hole: (u32, u32),
    /// Number of the free run before the hole, if the block starts in it.
    before: Option<u32>,
    /// Number of the free run behind the hole, if the block ends in it.
    after: Option<u32>,
    start: u32,
}

/// The whole granules of a free run.
#[derive(Debug, Clone, Copy)]
struct WholeGranules {
    /// Of the run.
    number: u32,
    /// First page of the first granule.
    first: u32,
    granules: u32,
    /// Whether pages of the run lie before them, and behind: 0 to 2.
    pieces: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "a granule that passes 2^28 pages fits into no heap")]
fn granule_pages(granule: Bytes) -> u32 {
    (granule.get() >> PAGE_SHIFT).min(MAX_PAGES.into()) as u32
}

impl Heap {
    /// Adds addresses without memory; `base` and `bytes` are multiples of the granule.
    pub(crate) fn add_reservation(&mut self, base: DeviceAddress, bytes: Bytes) -> Result<(), AddArenaError> {
        let range = self.add_range(base, bytes)?;
        self.pages.insert_hole(range.first_page, range.pages);
        Ok(())
    }

    /// Takes the reservation at `base` out, if no memory is in it, and says whether it did.
    pub(crate) fn remove_reservation_if_unbacked(&mut self, base: DeviceAddress) -> bool {
        let Some(range) = self.range_near(base) else { return false };
        if !self.pages.remove_hole(range.first_page, range.pages) {
            return false;
        }
        self.map.remove(&range);
        true
    }

    /// Claims the place for a block of `occupied` bytes that needs the fewest granules of new memory.
    ///
    /// # Complexity
    ///
    /// Looks at up to 64 holes, each with the free runs beside it.
    pub(crate) fn claim_place(
        &mut self,
        occupied: Bytes,
        alignment: Alignment,
        granule: Bytes,
        stream: Option<Slot>,
    ) -> Option<Place> {
        let is_small = occupied.get() <= SMALL_MAX_BYTES && alignment.get() <= PAGE_BYTES;
        let class = is_small.then(|| aligned_class_of(occupied.get(), alignment.get())).flatten();
        let pages = match class {
            Some(class) => CLASSES[class].slab_pages,
            None => u32::try_from(pages_for(occupied.get())).ok().filter(|&pages| pages < MAX_PAGES)?,
        };
        // However the hole lies, so many more pages hold an aligned start.
        let aligning = u32::try_from(alignment.get() >> PAGE_SHIFT).unwrap_or(MAX_PAGES);
        let candidates = self
            .pages
            .likely_holes(pages, pages.saturating_add(aligning))
            .filter_map(|hole| self.candidate(hole, pages, alignment, granule, stream));
        let Candidate { whole_hole, hole, before, after, start } =
            candidates.min_by_key(|candidate| candidate.hole.1)?;
        let end = start + pages;
        let before = before.map(|number| self.claim_part(number, start, end.min(hole.0) - start));
        let after = after.map(|number| {
            let first = hole.0 + hole.1;
            self.claim_part(number, first, end - first)
        });
        if hole.1 > 0 {
            self.pages.claim_hole(whole_hole, hole.0, hole.1);
        }
        Some(Place { before, hole, after, start, pages, class, stream })
    }

    fn claim_part(&mut self, number: u32, first: u32, pages: u32) -> Part {
        self.arena_pages -= u64::from(pages);
        let stamps = self.pages.claim_free(number, first, pages, pages);
        Part { first, pages, stamps }
    }

    /// How a block would lie at a hole.
    fn candidate(
        &self,
        whole_hole: (u32, u32),
        pages: u32,
        alignment: Alignment,
        granule: Bytes,
        stream: Option<Slot>,
    ) -> Option<Candidate> {
        let (first, length) = whole_hole;
        let hole_end = first + length;
        let usable = |run: (u32, super::free_runs::FreeRun)| {
            let stamps = self.pages.stamps_of_run(run.0);
            stamps.is_none_or(|stamps| self.streams.are_ordered(stamps, stream)).then_some(run)
        };
        let before = self.pages.free_run_with_tag(first - 1).and_then(usable);
        let first_address = self.map.address_of(before.map_or(first, |(_, run)| run.page));
        let aligned = first_address.checked_next_multiple_of(alignment.get())?;
        let skipped = u32::try_from((aligned - first_address) >> PAGE_SHIFT).ok()?;
        let start = before.map_or(first, |(_, run)| run.page).checked_add(skipped)?;
        if start >= hole_end {
            return None;
        }
        let end = start.checked_add(pages)?;
        let granule_pages = granule_pages(granule);
        let hole_start =
            if start > first { first + (start - first) / granule_pages * granule_pages } else { first };
        let before = before.filter(|_| start < first).map(|(number, _)| number);
        if end <= hole_end {
            let needed = end.saturating_sub(hole_start).div_ceil(granule_pages) * granule_pages;
            return Some(Candidate { whole_hole, hole: (hole_start, needed), before, after: None, start });
        }
        let (after, run) = self.pages.free_run_with_tag(hole_end).and_then(usable)?;
        let hole = (hole_start, hole_end - hole_start);
        (end <= hole_end + run.pages).then_some(Candidate {
            whole_hole,
            hole,
            before,
            after: Some(after),
            start,
        })
    }

    /// Gives a place back without a block: the first `backed` granules of its hole have memory now.
    pub(crate) fn give_place_back(&mut self, place: Place, granule: Bytes, backed: usize) {
        let Place { before, hole: (first, pages), after, .. } = place;
        if pages > 0 {
            self.pages.end_claim(first, pages);
            let with_memory =
                u32::try_from(backed).unwrap_or(u32::MAX).saturating_mul(granule_pages(granule)).min(pages);
            if with_memory < pages {
                self.pages.insert_hole(first + with_memory, pages - with_memory);
            }
            if with_memory > 0 {
                self.insert_backed(first, with_memory, &Stamps::default());
            }
        }
        for part in [before, after].into_iter().flatten() {
            self.pages.end_claim(part.first, part.pages);
            self.insert_backed(part.first, part.pages, &part.stamps);
        }
    }

    /// Makes the block for which a place was claimed, whose granules have memory now.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the slack of an object is below 32 KiB, that of a run below one page and the padding"
    )]
    pub(crate) fn use_place(&mut self, place: Place, requested: Bytes, occupied: Bytes) -> Block {
        let Place { before, hole, after, start, pages: run, class, stream } = place;
        let parts = before.iter().chain(&after).map(|part| (part.first, part.pages));
        let claims: Vec<(u32, u32)> = parts.chain((hole.1 > 0).then_some(hole)).collect();
        let first = claims.iter().map(|&(first, _)| first).min().unwrap_or(start);
        let pages: u32 = claims.iter().map(|&(_, pages)| pages).sum();
        for (first, pages) in claims {
            self.pages.end_claim(first, pages);
        }
        let mut stamps = Stamps::default();
        before.iter().chain(&after).for_each(|part| stamps.join(&part.stamps));
        stamps.retain(|stamp| !self.streams.is_done(stamp));
        self.arena_pages += u64::from(pages);
        // What others may still touch of a run that these pages are joined with, the block has no part in: it is cut out of these.
        let number = self.pages.insert_backed(first, pages, &stamps, &self.streams, self.joining);
        if let Some(class) = class {
            let bytes = u64::from(CLASSES[class].object_bytes);
            let slack = bytes - requested.get();
            // An object may have become free meanwhile: then the pages stay free, for no slab is without a live block.
            let mut address = self.slabs.take(class, slack as u16);
            if address.is_none()
                && let Some(slab) = self.slabs.next_number()
            {
                self.pages.cut(number, start, run);
                address = self.open_slab(class, slab, start, slack as u16, &stamps, stream);
            }
            if let Some(address) = address {
                return self.account(address, bytes, slack);
            }
        }
        let run = pages_for(occupied.get()) as u32;
        self.pages.cut(number, start, run);
        let bytes = u64::from(run) << PAGE_SHIFT;
        let slack = bytes - requested.get();
        self.pages.mark_live(start, run, slack as u32);
        self.account(self.map.address_of(start), bytes, slack)
    }

    /// Granules that are free, of which no stream may touch anything any more.
    ///
    /// # Complexity
    ///
    /// O(free runs of at least a granule).
    pub(crate) fn free_granules(&self, granule: Bytes) -> usize {
        self.runs_with_granules(granule).map(|run| run.granules as usize).sum()
    }

    /// Claims `count` of these, or none if there are not so many: those first that leave the fewest pieces behind for each of them.
    /// Answers their addresses.
    ///
    /// # Complexity
    ///
    /// O(free runs of at least a granule, sorted).
    pub(crate) fn claim_granules(&mut self, granule: Bytes, count: usize) -> Option<Vec<DeviceAddress>> {
        let pages = granule_pages(granule);
        let mut runs: Vec<_> = self.runs_with_granules(granule).collect();
        if runs.iter().map(|run| run.granules as usize).sum::<usize>() < count {
            return None;
        }
        runs.sort_by_key(|run| {
            let taken = u64::from(run.granules).min(count as u64).max(1);
            (u64::from(run.pieces) << 32) / taken
        });
        let mut claimed = Vec::with_capacity(count);
        for run in runs {
            let wanted = u32::try_from(count - claimed.len()).unwrap_or(u32::MAX).min(run.granules);
            if wanted == 0 {
                break;
            }
            // From the front: a piece before the hole is what the next block at it starts in.
            let first = run.first;
            self.arena_pages -= u64::from(wanted * pages);
            self.pages.claim_free(run.number, first, wanted * pages, pages);
            let address = |index| DeviceAddress::new(self.map.address_of(first + index * pages));
            claimed.extend((0..wanted).map(address));
        }
        Some(claimed)
    }

    /// Free runs that hold whole granules and that nobody may touch any more.
    fn runs_with_granules(&self, granule: Bytes) -> impl Iterator<Item = WholeGranules> + '_ {
        let pages = granule_pages(granule);
        self.pages.free_runs_from(pages).filter_map(move |(number, run)| {
            let passed = |stamps: &Stamps| self.streams.are_ordered(stamps, None);
            if !self.pages.stamps_of_run(number).is_none_or(passed) {
                return None;
            }
            let address = self.map.address_of(run.page);
            let skipped = (address.next_multiple_of(granule.get()) - address) >> PAGE_SHIFT;
            let skipped = u32::try_from(skipped).ok().filter(|&skipped| skipped < run.pages)?;
            let granules = (run.pages - skipped) / pages;
            let rest = run.pages - skipped - granules * pages;
            let first = run.page + skipped;
            let pieces = u32::from(skipped > 0) + u32::from(rest > 0);
            (granules > 0).then_some(WholeGranules { number, first, granules, pieces })
        })
    }

    /// Ends the claim of a granule: it is free memory again, or a hole.
    pub(crate) fn end_granule_claim(&mut self, address: DeviceAddress, granule: Bytes, has_memory: bool) {
        let (first, pages) = (self.map.page_of(address.get()), granule_pages(granule));
        self.pages.end_claim(first, pages);
        if has_memory {
            self.insert_backed(first, pages, &Stamps::default());
        } else {
            self.pages.insert_hole(first, pages);
        }
    }

    /// Pages in no span become free memory.
    fn insert_backed(&mut self, first: u32, pages: u32, stamps: &Stamps) {
        self.arena_pages += u64::from(pages);
        self.pages.insert_backed(first, pages, stamps, &self.streams, self.joining);
    }

    /// All holes, as ranges of addresses.
    pub(crate) fn holes(&self) -> impl Iterator<Item = (DeviceAddress, Bytes)> + '_ {
        self.pages.holes().map(|(first, pages)| {
            let bytes = Bytes::new(u64::from(pages) << PAGE_SHIFT);
            (DeviceAddress::new(self.map.address_of(first)), bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FitPolicy;

    const BASE: DeviceAddress = DeviceAddress::new(1 << 40);
    const GRANULE: Bytes = Bytes::mib(2);

    /// A heap of 32 granules of addresses with memory, as `D` and `.`, or without, as `-`, one letter a granule. `D` is live.
    fn heap(granules: &str) -> Heap {
        let mut heap = Heap::new(FitPolicy::BestFit);
        heap.add_reservation(BASE, Bytes::mib(64)).unwrap();
        // All at once first, so that places are as written.
        let all = heap.claim_place(Bytes::mib(64), Alignment::ONE, GRANULE, None).unwrap();
        heap.give_place_back(all, GRANULE, 32);
        let blocks: Vec<_> = (0..32).map(|_| heap.allocate(GRANULE, Alignment::ONE).unwrap()).collect();
        for (block, letter) in blocks.iter().zip(granules.chars().chain(std::iter::repeat('-'))) {
            if letter != 'D' {
                heap.free(block.address).unwrap();
            }
            if letter == '-' {
                heap.take_memory(block.address);
            }
        }
        heap.validate().unwrap();
        heap
    }

    impl Heap {
        fn take_memory(&mut self, address: DeviceAddress) {
            let page = self.map.page_of(address.get());
            let free: Vec<_> = self.pages.free_runs_from(1).collect();
            let around = |&(_, run): &(u32, super::super::free_runs::FreeRun)| {
                (run.page..run.page + run.pages).contains(&page)
            };
            let (number, _) = free.into_iter().find(around).unwrap();
            let pages = granule_pages(GRANULE);
            self.arena_pages -= u64::from(pages);
            self.pages.claim_free(number, page, pages, pages);
            self.end_granule_claim(address, GRANULE, false);
        }

        /// Where a request of so many KiB would lie and what memory it lacks, in granules from the base.
        fn try_place(&mut self, kib: u64, alignment: Alignment) -> Option<(u64, Vec<u64>)> {
            let place = self.claim_place(Bytes::kib(kib), alignment, GRANULE, None)?;
            let granule = |address: DeviceAddress| (address.get() - BASE.get()) / GRANULE.get();
            let missing = place.missing(self, GRANULE).into_iter().map(granule).collect();
            let start = (self.map.address_of(place.start) - BASE.get()) / 1024;
            self.validate().unwrap();
            let before = self.totals();
            self.give_place_back(place, GRANULE, 0);
            self.validate().unwrap();
            assert!(self.totals().free >= before.free);
            Some((start, missing))
        }
    }

    #[test]
    fn a_place_starts_in_the_free_memory_before_a_hole() {
        assert_eq!(heap("D.--D").try_place(4096, Alignment::ONE), Some((2048, vec![2])));
    }

    #[test]
    fn the_hole_that_lacks_the_fewest_granules_is_taken_not_the_shortest() {
        assert_eq!(heap("D---DD..----DD").try_place(6144, Alignment::ONE), Some((6 * 2048, vec![8])));
    }

    #[test]
    fn free_memory_behind_a_hole_is_used_when_the_hole_is_filled() {
        let mut heap = heap(&format!("D.--.{}", "D".repeat(27)));
        assert_eq!(heap.try_place(7000, Alignment::ONE), Some((2048, vec![2, 3])));
        assert_eq!(heap.try_place(8192, Alignment::ONE), Some((2048, vec![2, 3])), "to its end");
        assert_eq!(heap.try_place(8193, Alignment::ONE), None, "a live block is next");
    }

    #[test]
    fn an_aligned_block_may_start_inside_a_hole_and_leaves_the_rest_of_it() {
        let four = Alignment::new(8 << 20).unwrap();
        assert_eq!(heap("DDD-----DD").try_place(1024, four), Some((4 * 2048, vec![4])));
    }

    #[test]
    fn a_hole_and_free_memory_are_never_joined() {
        let mut heap = heap("D.-.D");
        assert_eq!(heap.totals().largest_free, GRANULE);
        assert_eq!(heap.allocate(Bytes::mib(4), Alignment::ONE), None);
        let place = heap.claim_place(Bytes::mib(6), Alignment::ONE, GRANULE, None).unwrap();
        let block = heap.use_place(place, Bytes::mib(6), Bytes::mib(6));
        assert_eq!(block.address.get(), BASE.get() + GRANULE.get());
        heap.validate().unwrap();
    }

    #[test]
    fn half_backed_a_place_that_is_given_back_is_free_memory_and_a_hole() {
        let mut heap = heap("D.----D");
        let before = heap.totals();
        let place = heap.claim_place(Bytes::mib(10), Alignment::ONE, GRANULE, None).unwrap();
        heap.give_place_back(place, GRANULE, 1);
        heap.validate().unwrap();
        assert_eq!(heap.totals().free.get(), before.free.get() + GRANULE.get());
        assert_eq!(heap.totals().largest_free, Bytes::mib(4));
    }

    #[test]
    fn granules_that_leave_the_fewest_pieces_go_first() {
        let mut heap = heap("D...DD....D");
        // At the start of the shorter run, which so holds two whole granules behind a piece.
        heap.allocate(Bytes::kib(64), Alignment::ONE).unwrap();
        let mut claim = |count| -> Option<Vec<u64>> {
            let claimed = heap.claim_granules(GRANULE, count)?;
            heap.validate().unwrap();
            Some(claimed.iter().map(|address| (address.get() - BASE.get()) / GRANULE.get()).collect())
        };
        assert_eq!(claim(3), Some(vec![6, 7, 8]));
        assert_eq!(claim(4), None, "three are left whole");
        assert_eq!(claim(2), Some(vec![9, 2]), "the piece is before the hole");
        assert_eq!(claim(1), Some(vec![3]));
        assert_eq!(heap.free_granules(GRANULE), 0);
        for index in [9, 3, 2, 7, 8, 6] {
            let address = DeviceAddress::new(BASE.get() + index * GRANULE.get());
            heap.end_granule_claim(address, GRANULE, index != 7);
            heap.validate().unwrap();
        }
        assert_eq!(heap.free_granules(GRANULE), 5);
    }
}
