//! Runs of whole pages: cut, given back and coalesced at once, with boundary tags that live outside the memory.
//!
//! ```text
//! tags   │ 0 │ LIVE 3 │ slack │ 0 │ FREE 9 │ . │ FREE 9 │ SLAB 7 │ SLAB 7 │ LIVE 1 │ 0 │
//! pages      └── live run ────────┘└── free run no. 9 ──┘└─ slab no. 7 ───┘└ live ─┘
//! ```
//!
//! Invariants
//! * P1: every page of an arena belongs to exactly one span: a free run, a live run or a slab.
//! * P2: the first and the last tag of a free run say FREE and its number. The second tag of a live run is its slack, and its last
//!   tag does not say FREE. All tags of a slab say SLAB and its number.
//! * P3: a tag says LIVE if and only if a live run starts there, and SLAB if and only if a slab covers the page. It is the one
//!   authority on what may be freed, so giving back clears it; other inner tags are stale and never read.
//! * P4: no two free runs touch, except such as different streams may still touch. Pages outside of arenas (tag 0) stop coalescing at the ends of an arena.
//!
//! Pages without memory have tags of their own, see `unbacked.rs`. To what cuts and joins free runs they look like the end of an arena.

use super::free_runs::{FreeRun, FreeRuns};
use super::geometry::MAX_PAGES;
use super::ordered::{Order, Reach};
use super::unbacked::Unbacked;
use crate::config::FitPolicy;
use crate::order::{Stamp, Stamps, Streams};

const FREE: u32 = 1 << 31;
const SLAB: u32 = 1 << 30;
const LIVE: u32 = 1 << 29;
/// With LIVE: the run has one page, and the low bits are its slack.
const ONE_PAGE: u32 = 1 << 28;
/// Without LIVE: the span has no memory, or is claimed, and the low bits are its length. Neither a slack nor any other tag looks so.
const UNBACKED: u32 = ONE_PAGE;
/// The low bits: a length in pages, or the number of a free run or a slab.
const VALUE: u32 = MAX_PAGES - 1;

/// Which free runs that touch are joined, where streams tell memory apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    /// Those that the same streams may still touch: a stream's memory stays its own until everybody may use it.
    SameStreams,
    /// All: no memory is lost between them, and what one stream may touch all wait for.
    All,
}

/// The number of the free run whose tag this is.
#[inline]
fn free_number(tag: u32) -> Option<u32> {
    (tag & FREE != 0).then_some(tag & VALUE)
}

/// What a tag says about its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// The free run of this number starts or ends here.
    Free(u32),
    /// A live run of so many pages starts here.
    Live(u32),
    /// Part of the slab of this number.
    Slab(u32),
    /// A span of so many pages without memory, or that is claimed, starts or ends here.
    Unbacked(u32),
    /// Inside or at the end of a run, or outside of all arenas.
    Inner,
}

#[derive(Debug)]
pub(crate) struct PageHeap {
    tags: Vec<u32>,
    free_runs: FreeRuns,
    free_pages: u64,
    /// One past the highest page that was ever part of a run.
    extent: u32,
    pub(super) unbacked: Unbacked,
}

impl PageHeap {
    pub(crate) fn new(policy: FitPolicy) -> Self {
        Self {
            tags: Vec::new(),
            free_runs: FreeRuns::new(policy),
            free_pages: 0,
            extent: 0,
            unbacked: Unbacked::default(),
        }
    }

    pub(crate) fn policy(&self) -> FitPolicy {
        self.free_runs.policy()
    }

    /// Pages in free runs.
    pub(crate) fn free_pages(&self) -> u64 {
        self.free_pages
    }

    /// Number of free runs.
    pub(crate) fn free_run_count(&self) -> usize {
        self.free_runs.len()
    }

    /// Pages of the longest free run.
    pub(crate) fn longest_free(&self) -> u32 {
        self.free_runs.longest()
    }

    /// One past the highest page index that was ever part of a run.
    pub(crate) fn extent(&self) -> u32 {
        self.extent
    }

    #[inline]
    pub(crate) fn tag(&self, page: u32) -> Tag {
        let Some(&tag) = self.tags.get(page as usize) else { return Tag::Inner };
        if tag & SLAB != 0 {
            Tag::Slab(tag & VALUE)
        } else if tag & LIVE != 0 {
            Tag::Live(if tag & ONE_PAGE == 0 { tag & VALUE } else { 1 })
        } else if tag & FREE != 0 {
            Tag::Free(tag & VALUE)
        } else if tag & UNBACKED != 0 {
            Tag::Unbacked(tag & VALUE)
        } else {
            Tag::Inner
        }
    }

    /// Number of the slab that the page belongs to.
    #[inline]
    pub(crate) fn slab_of(&self, page: u32) -> Option<u32> {
        let tag = self.tags.get(page as usize).copied().unwrap_or(0);
        (tag & SLAB != 0).then_some(tag & VALUE)
    }

    /// Makes room for page indices below `capacity`.
    pub(crate) fn reserve_pages(&mut self, capacity: usize) {
        if capacity > self.tags.len() {
            if capacity / 2 >= self.tags.len() {
                // Zeroed memory of the host costs nothing until it is written to, and most tags of a reservation never are.
                let mut tags = vec![0; capacity];
                tags[..self.tags.len()].copy_from_slice(&self.tags);
                self.tags = tags;
            } else {
                self.tags.resize(capacity, 0);
            }
        }
    }

    /// Adds the pages of a new arena as one free run. Their tags and those around them are 0.
    pub(crate) fn add_range(&mut self, first: u32, pages: u32) {
        self.insert_free(first, pages);
        self.free_pages += u64::from(pages);
    }

    /// Whether the range is one free run that no work may touch any more.
    pub(crate) fn is_range_free(&self, first: u32, pages: u32, streams: &Streams) -> bool {
        self.free_run_at(first).is_some_and(|(number, run)| {
            let passed = |stamps: &Stamps| streams.are_ordered(stamps, None);
            run.pages == pages && self.free_runs.stamps(number).is_none_or(passed)
        })
    }

    fn free_run_at(&self, first: u32) -> Option<(u32, FreeRun)> {
        self.free_run_with_tag(first)
    }

    /// The free run that starts or ends at `page`, the first or last page of a span.
    pub(super) fn free_run_with_tag(&self, page: u32) -> Option<(u32, FreeRun)> {
        let Tag::Free(number) = self.tag(page) else { return None };
        Some((number, self.free_runs.get(number)))
    }

    /// What may still touch a free run.
    pub(super) fn stamps_of_run(&self, number: u32) -> Option<&Stamps> {
        self.free_runs.stamps(number)
    }

    /// All free runs of at least `pages` pages, with their numbers, shortest first.
    pub(super) fn free_runs_from(&self, pages: u32) -> impl Iterator<Item = (u32, FreeRun)> + '_ {
        self.free_runs.numbers_from(pages).map(|number| (number, self.free_runs.get(number)))
    }

    /// Marks both ends of a span that has no memory or is claimed.
    pub(super) fn set_unbacked(&mut self, first: u32, pages: u32) {
        self.tags[first as usize] = UNBACKED | pages;
        self.tags[(first + pages - 1) as usize] = UNBACKED | pages;
    }

    pub(super) fn set_tag_inner(&mut self, page: u32) {
        self.tags[page as usize] = 0;
    }

    pub(super) fn clear_tags(&mut self, first: u32, pages: u32) {
        self.tags[first as usize..(first + pages) as usize].fill(0);
    }

    pub(super) fn count_free(&mut self, pages: u32) {
        self.free_pages += u64::from(pages);
    }

    /// Takes a wholly free range out and clears its tags, so that the indices may be used again.
    pub(crate) fn remove_range(&mut self, first: u32, pages: u32) {
        if let Some((number, _)) = self.free_run_at(first) {
            self.free_runs.remove(number);
            self.free_pages -= u64::from(pages);
            self.clear_tags(first, pages);
        }
    }

    /// Cuts a run of `pages` pages, at least 1. Not yet live nor a slab: the caller marks it. O(1) for best fit.
    #[inline]
    pub(crate) fn take(&mut self, pages: u32) -> Option<u32> {
        let number = self.free_runs.find(pages)?;
        let FreeRun { page, pages: found, .. } = self.free_runs.get(number);
        self.use_front(number, page, found, pages);
        Some(page)
    }

    /// Cuts a run of `pages` pages for who orders it, and says which work may still touch it. With [`Reach::Wait`] the caller sees to it
    /// that the stream comes after that work; else only a run is taken for which the stream need not wait.
    ///
    /// Looks at the run that the policy prefers, then at the [`TRIED`] next longer ones, up to half as long again; with [`Reach::Far`]
    /// at any, and at [`TRIED`] of at least the double and of at least the eightfold length.
    pub(crate) fn take_ordered(
        &mut self,
        pages: u32,
        streams: &Streams,
        order: Order,
    ) -> Option<(u32, Stamps)> {
        const TRIED: usize = 32;
        let preferred = self.free_runs.find(pages)?;
        let may_wait = order.reach == Reach::Wait;
        let longest = if order.reach == Reach::Far { u32::MAX } else { pages.saturating_add(pages / 2) };
        let free = |number: &u32| {
            self.free_runs.stamps(*number).is_none_or(|stamps| streams.are_ordered(stamps, order.stream))
        };
        let from = |least: u32| self.free_runs.numbers_from(least.min(MAX_PAGES)).take(TRIED);
        let far = [2, 8].into_iter().filter(|_| order.reach == Reach::Far);
        let longer = from(pages).chain(far.flat_map(|times| from(pages.saturating_mul(times))));
        let near = longer.filter(|&number| self.free_runs.get(number).pages <= longest);
        // The preferred one may be of any length: none that is shorter would do, with a wait or without.
        let found = std::iter::once(preferred).chain(near).find(free);
        let number = found.or(may_wait.then_some(preferred))?;
        let stamps = self.pending_stamps(number, streams);
        let FreeRun { page, pages: found, .. } = self.free_runs.get(number);
        self.use_front(number, page, found, pages);
        Some((page, stamps))
    }

    /// The stamps of a run for which not everybody is done.
    fn pending_stamps(&self, number: u32, streams: &Streams) -> Stamps {
        let stamps = self.free_runs.stamps(number).into_iter().flat_map(Stamps::iter);
        stamps.filter(|&stamp| !streams.is_done(stamp)).collect()
    }

    /// Cuts a run of `pages` pages whose place `aligned_start` accepts: called with (first page, pages) of a free run, it
    /// says at which page of it an aligned run of the wanted length would start. `slack` more pages always suffice.
    ///
    /// Looks at up to 32 runs that are just long enough, then at runs that are surely long enough, then at all. Of these, only runs
    /// whose stamps `accept` accepts, and says which of them not everybody has passed.
    pub(crate) fn take_aligned(
        &mut self,
        pages: u32,
        slack: u32,
        streams: &Streams,
        accept: impl Fn(&Stamps) -> bool,
        aligned_start: impl Fn(u32, u32) -> Option<u32>,
    ) -> Option<(u32, Stamps)> {
        const TRIED_FIRST: usize = 32;
        let place = |number: u32| {
            let run = self.free_runs.get(number);
            let accepted = self.free_runs.stamps(number).is_none_or(&accept);
            aligned_start(run.page, run.pages).filter(|_| accepted).map(|start| (number, start))
        };
        let near = self.free_runs.numbers_from(pages).take(TRIED_FIRST);
        let sure = self.free_runs.numbers_from(pages.saturating_add(slack).min(MAX_PAGES)).take(1);
        let all = self.free_runs.numbers_from(pages);
        let (number, start) = near.chain(sure).chain(all).find_map(place)?;
        let stamps = self.pending_stamps(number, streams);
        self.cut(number, start, pages);
        Some((start, stamps))
    }

    /// Cuts pages out of a free run and answers all its stamps, which stay with what is left of it.
    pub(super) fn cut(&mut self, number: u32, start: u32, pages: u32) -> Stamps {
        let run = self.free_runs.get(number);
        let stamps = self.free_runs.stamps(number).cloned().unwrap_or_default();
        let skipped = start - run.page;
        if skipped == 0 {
            self.use_front(number, run.page, run.pages, pages);
            return stamps;
        }
        // The pages before stay with the run's number; those from the start on become a run of their own for a moment.
        self.free_runs.change(number, run.page, skipped);
        self.tags[(start - 1) as usize] = FREE | number;
        let rest = self.insert_free(start, run.pages - skipped);
        // Those that all have passed, too: they bring `rejoin` here, to look at the neighbours.
        if !stamps.is_empty() {
            self.free_runs.stamps_mut(rest).join(&stamps);
        }
        self.use_front(rest, start, run.pages - skipped, pages);
        stamps
    }

    /// Uses the first pages of a free run; the rest stays free and keeps the number and the last tag.
    #[inline]
    fn use_front(&mut self, number: u32, page: u32, found: u32, pages: u32) {
        let end = page + pages;
        if found > pages {
            self.free_runs.change(number, end, found - pages);
            self.tags[end as usize] = FREE | number;
        } else {
            self.free_runs.remove(number);
        }
        self.free_pages -= u64::from(pages);
        self.extent = self.extent.max(end);
    }

    #[inline]
    fn insert_free(&mut self, run: u32, pages: u32) -> u32 {
        let number = self.free_runs.insert(run, pages);
        self.tags[run as usize] = FREE | number;
        self.tags[(run + pages - 1) as usize] = FREE | number;
        number
    }

    /// Marks a run that was just cut as live and keeps `slack`, the bytes of it that nobody asked for (less than 2^28).
    ///
    /// The slack stands in the second tag, most often in the cache line of the first, or in the only one.
    #[inline]
    pub(crate) fn mark_live(&mut self, run: u32, pages: u32, slack: u32) {
        debug_assert!(slack <= VALUE, "a slack has no flags");
        if pages == 1 {
            self.tags[run as usize] = LIVE | ONE_PAGE | slack;
            return;
        }
        self.tags[(run + pages - 1) as usize] = 0;
        self.tags[(run + 1) as usize] = slack;
        self.tags[run as usize] = LIVE | pages;
    }

    /// Bytes of a live run that nobody asked for.
    #[inline]
    pub(crate) fn slack(&self, run: u32, pages: u32) -> u32 {
        if pages == 1 { self.tags[run as usize] & VALUE } else { self.tags[(run + 1) as usize] }
    }

    /// Marks a run that was just cut as the slab `number`.
    #[inline]
    pub(crate) fn mark_slab(&mut self, run: u32, pages: u32, number: u32) {
        self.tags[run as usize..(run + pages) as usize].fill(SLAB | number);
    }

    /// Clears the tags of a slab, which is no longer one; its pages are to be given back.
    pub(crate) fn unmark_slab(&mut self, run: u32, pages: u32) {
        self.clear_tags(run, pages);
    }

    /// Gives back a live run, joined with the free runs that touch it, and answers the number of what that makes. O(1).
    #[inline]
    pub(crate) fn give_back(&mut self, run: u32, pages: u32) -> u32 {
        self.free_pages += u64::from(pages);
        let before = self.tags[(run - 1) as usize];
        let after = self.tags[(run + pages) as usize];
        // P3: whatever follows, the start no longer says LIVE.
        self.tags[run as usize] = 0;
        self.join(run, pages, free_number(before), free_number(after))
    }

    /// Makes pages that are in no run part of the free runs that touch them, as far as these are given.
    #[inline]
    fn join(&mut self, run: u32, pages: u32, before: Option<u32>, after: Option<u32>) -> u32 {
        let end = run + pages;
        match (before, after) {
            (None, None) => self.insert_free(run, pages),
            (Some(number), None) => {
                let FreeRun { page, pages: length, .. } = self.free_runs.get(number);
                self.free_runs.change(number, page, length + pages);
                self.tags[(end - 1) as usize] = FREE | number;
                number
            }
            (None, Some(number)) => {
                let length = self.free_runs.get(number).pages;
                self.free_runs.change(number, run, pages + length);
                self.tags[run as usize] = FREE | number;
                number
            }
            (Some(number), Some(absorbed)) => {
                let FreeRun { page, pages: length_before, .. } = self.free_runs.get(number);
                let length_after = self.free_runs.get(absorbed).pages;
                self.free_runs.move_stamps(absorbed, number);
                self.free_runs.remove(absorbed);
                self.free_runs.change(number, page, length_before + pages + length_after);
                self.tags[(end + length_after - 1) as usize] = FREE | number;
                number
            }
        }
    }

    /// Gives back a live run, which `stamps` may still touch.
    pub(crate) fn give_back_ordered(
        &mut self,
        run: u32,
        pages: u32,
        stamps: &Stamps,
        streams: &Streams,
        joining: Joining,
    ) {
        self.free_pages += u64::from(pages);
        self.tags[run as usize] = 0;
        self.join_ordered(run, pages, stamps, streams, joining);
    }

    /// Makes pages that are in no run part of the free runs that touch them, as far as `joining` says; answers the number of the whole.
    #[inline]
    pub(super) fn join_ordered(
        &mut self,
        run: u32,
        pages: u32,
        stamps: &Stamps,
        streams: &Streams,
        joining: Joining,
    ) -> u32 {
        let fits = |tag: u32| {
            let number = free_number(tag)?;
            let fits = joining == Joining::All || {
                let theirs = self.free_runs.stamps(number).into_iter().flat_map(Stamps::iter);
                let pending = theirs.filter(|&stamp| !streams.is_done(stamp)).map(Stamp::slot);
                pending.eq(stamps.iter().map(Stamp::slot))
            };
            fits.then_some(number)
        };
        let before = fits(self.tags[(run - 1) as usize]);
        let after = fits(self.tags[(run + pages) as usize]);
        let number = self.join(run, pages, before, after);
        // Passed stamps of a neighbour stay until `rejoin` finds them, which looks at its other neighbour, too.
        if !stamps.is_empty() {
            self.free_runs.stamps_mut(number).join(stamps);
        }
        number
    }

    /// Drops stamps that everybody has passed and joins what that allows to be joined: at most `most` runs, going on at number `from`
    /// and answering where to go on. With [`Joining::All`], joins all that touch.
    pub(crate) fn rejoin(&mut self, streams: &Streams, joining: Joining, from: u32, most: usize) -> u32 {
        let mut number = from;
        for _ in 0..most {
            let Some(next) = self.free_runs.next_stamped(number) else { return 0 };
            number = next + 1;
            let changed = {
                let stamps = self.free_runs.stamps_mut(next);
                let before = stamps.iter().count();
                stamps.retain(|stamp| !streams.is_done(stamp));
                stamps.iter().count() != before
            };
            let FreeRun { page, pages, .. } = self.free_runs.get(next);
            let touches = |tag: u32| free_number(tag).is_some();
            let joins = match joining {
                Joining::SameStreams => changed,
                Joining::All => {
                    touches(self.tags[(page - 1) as usize]) || touches(self.tags[(page + pages) as usize])
                }
            };
            if joins {
                let stamps = std::mem::take(self.free_runs.stamps_mut(next));
                self.free_runs.remove(next);
                self.join_ordered(page, pages, &stamps, streams, joining);
            }
        }
        number
    }

    /// Tag and length of the span that starts at `page`, `None` when none does.
    pub(crate) fn span_at(&self, page: u32, slab_pages: impl Fn(u32) -> u32) -> Option<(Tag, u32)> {
        let tag = self.tag(page);
        match tag {
            Tag::Free(number) => Some((tag, self.free_runs.get(number).pages)),
            Tag::Live(pages) | Tag::Unbacked(pages) => Some((tag, pages)),
            Tag::Slab(number) => Some((tag, slab_pages(number))),
            Tag::Inner => None,
        }
    }

    /// Bytes of host memory behind the tags and the index of free runs.
    pub(crate) fn metadata_bytes(&self) -> usize {
        self.tags.capacity() * size_of::<u32>()
            + self.free_runs.metadata_bytes()
            + self.unbacked_metadata_bytes()
    }

    /// Checks the index against the free runs given as (first page, number), which are all there are.
    pub(crate) fn validate(&self, free_runs: &[(u32, u32)]) -> Result<(), String> {
        self.free_runs.validate()?;
        if free_runs.len() != self.free_runs.len() {
            return Err(format!(
                "P1: arenas have {} free runs, the index {}",
                free_runs.len(),
                self.free_runs.len()
            ));
        }
        let mut pages = 0;
        for &(first, number) in free_runs {
            let run = self.free_runs.get(number);
            if run.page != first {
                return Err(format!("P2: the tag at {first} names {run:?}"));
            }
            if self.tag(first + run.pages - 1) != Tag::Free(number) {
                return Err(format!("P2: the last tag of {run:?} is {:?}", self.tag(first + run.pages - 1)));
            }
            let unstamped = |number| self.free_runs.stamps(number).is_none_or(Stamps::is_empty);
            if let Tag::Free(next) = self.tag(first + run.pages)
                && unstamped(number)
                && unstamped(next)
            {
                return Err(format!("P4: two free runs touch at {}", first + run.pages));
            }
            pages += u64::from(run.pages);
        }
        if pages != self.free_pages {
            return Err(format!("P1: {pages} pages are free, the counter says {}", self.free_pages));
        }
        Ok(())
    }
}
