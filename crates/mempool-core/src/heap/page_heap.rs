//! Runs of whole pages: cut, given back and coalesced at once, with boundary tags that live outside the memory.
//!
//! ```text
//! tags   │ fence │ LIVE 3 │ . │ 0 │ FREE 2 │ FREE 2 │ SLAB 7 │ SLAB 7 │ FREE 1 │ fence │
//! pages          └── live run ──┘ └─ free run ──────┘ └─ slab no. 7 ────┘ └ free ┘
//! ```
//!
//! Invariants
//! * P1: every page of an arena belongs to exactly one span: a free run, a live run or a slab.
//! * P2: the first and the last tag of a free run say FREE and its length. The last tag of a live run does not say FREE.
//!   The second tag of a live
//!   run is its slack. All tags of a slab say SLAB and its number.
//! * P3: a tag says LIVE if and only if a live run starts there, and SLAB if and only if a slab covers the page. It is the one
//!   authority on what may be freed, so giving back clears it; other inner tags are stale and never read.
//! * P4: no two free runs touch. Pages outside of arenas (tag 0) stop coalescing at the ends of an arena.

use super::buckets::{Buckets, Link};
use super::geometry::MAX_PAGES;
use crate::config::FitPolicy;

const FREE: u32 = 1 << 31;
const SLAB: u32 = 1 << 30;
const LIVE: u32 = 1 << 29;
/// The low bits: a length in pages, or the number of a slab.
const VALUE: u32 = MAX_PAGES - 1;

/// What a tag says about its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A free run of so many pages starts or ends here.
    Free(u32),
    /// A live run of so many pages starts here.
    Live(u32),
    /// Part of the slab of this number.
    Slab(u32),
    /// Inside or at the end of a run, or outside of all arenas.
    Inner,
}

#[derive(Debug)]
pub(crate) struct PageHeap {
    tags: Vec<u32>,
    links: Vec<Link>,
    buckets: Buckets,
    free_pages: u64,
    /// One past the highest page that was ever part of a run.
    extent: u32,
}

impl PageHeap {
    pub(crate) fn new(policy: FitPolicy) -> Self {
        let links: Vec<Link> = Link::closing_links().collect();
        Self { tags: vec![0; links.len()], links, buckets: Buckets::new(policy), free_pages: 0, extent: 0 }
    }

    pub(crate) fn policy(&self) -> FitPolicy {
        self.buckets.policy()
    }

    /// Pages in free runs.
    pub(crate) fn free_pages(&self) -> u64 {
        self.free_pages
    }

    /// Pages of the longest free run.
    pub(crate) fn longest_free(&self) -> u32 {
        self.buckets.longest()
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
            Tag::Live(tag & VALUE)
        } else if tag & FREE != 0 {
            Tag::Free(tag & VALUE)
        } else {
            Tag::Inner
        }
    }

    /// Makes room for page indices below `capacity`.
    pub(crate) fn reserve_pages(&mut self, capacity: usize) {
        if capacity > self.tags.len() {
            self.tags.resize(capacity, 0);
            self.links.resize(capacity, Link::default());
        }
    }

    /// Adds the pages of a new arena as one free run. Their tags and those around them are 0.
    pub(crate) fn add_range(&mut self, first: u32, pages: u32) {
        self.insert_free(first, pages);
        self.free_pages += u64::from(pages);
    }

    /// Whether the range is one free run.
    pub(crate) fn is_range_free(&self, first: u32, pages: u32) -> bool {
        self.tag(first) == Tag::Free(pages)
    }

    /// Takes a wholly free range out and clears its tags, so that the indices may be used again.
    pub(crate) fn remove_range(&mut self, first: u32, pages: u32) {
        debug_assert!(self.is_range_free(first, pages), "only a free range is removed");
        self.buckets.remove(&mut self.links, first, pages);
        self.free_pages -= u64::from(pages);
        self.tags[first as usize..(first + pages) as usize].fill(0);
    }

    /// Cuts a run of `pages` pages, at least 1. Not yet live nor a slab: the caller marks it. O(1) for best fit.
    #[inline]
    pub(crate) fn take(&mut self, pages: u32) -> Option<u32> {
        let (run, found) = self.buckets.find(&self.links, pages)?;
        self.buckets.remove(&mut self.links, run, found);
        self.use_front(run, found, pages);
        Some(run)
    }

    /// Cuts a run of `pages` pages whose place `aligned_start` accepts: called with (first page, pages) of a free run, it
    /// says at which page of it an aligned run of the wanted length would start. `slack` more pages always suffice.
    ///
    /// Looks at up to 32 runs that are just long enough, then at runs that are surely long enough, then at all.
    pub(crate) fn take_aligned(
        &mut self,
        pages: u32,
        slack: u32,
        aligned_start: impl Fn(u32, u32) -> Option<u32>,
    ) -> Option<u32> {
        const TRIED_FIRST: usize = 32;
        let place = |(run, found): (u32, u32)| aligned_start(run, found).map(|start| (run, found, start));
        let (run, found, start) = {
            let near = self.buckets.runs_from(&self.links, pages);
            let sure = self.buckets.runs_from(&self.links, pages.saturating_add(slack).min(MAX_PAGES));
            let all = self.buckets.runs_from(&self.links, pages);
            near.take(TRIED_FIRST)
                .find_map(place)
                .or_else(|| sure.take(1).find_map(place))
                .or_else(|| all.into_iter().find_map(place))?
        };
        self.cut(run, found, start, pages);
        Some(start)
    }

    /// Takes `[start, start + pages)` out of the free run `[run, run + found)`; what is left on both sides stays free.
    fn cut(&mut self, run: u32, found: u32, start: u32, pages: u32) {
        self.buckets.remove(&mut self.links, run, found);
        let skipped = start - run;
        if skipped > 0 {
            self.insert_free(run, skipped);
        }
        self.use_front(start, found - skipped, pages);
    }

    /// Uses the first pages of a run that is in no bucket; the rest stays free.
    #[inline]
    fn use_front(&mut self, start: u32, found: u32, pages: u32) {
        let end = start + pages;
        if found > pages {
            self.insert_free(end, found - pages);
        }
        self.free_pages -= u64::from(pages);
        self.extent = self.extent.max(end);
    }

    #[inline]
    fn insert_free(&mut self, run: u32, pages: u32) {
        self.tags[run as usize] = FREE | pages;
        self.tags[(run + pages - 1) as usize] = FREE | pages;
        self.buckets.insert(&mut self.links, run, pages);
    }

    /// Marks a run that was just cut as live and keeps `slack`, the bytes of it that nobody asked for (less than 2^29).
    ///
    /// The slack stands in the second tag, most often in the cache line of the first; only a run of one page, which is
    /// rare (a small block with a large alignment), has to use its link.
    #[inline]
    pub(crate) fn mark_live(&mut self, run: u32, pages: u32, slack: u32) {
        debug_assert!(slack <= VALUE, "a slack has no flags");
        self.tags[(run + pages - 1) as usize] = 0;
        if pages == 1 {
            self.links[run as usize].previous = slack;
        } else {
            self.tags[(run + 1) as usize] = slack;
        }
        self.tags[run as usize] = LIVE | pages;
    }

    /// Bytes of a live run that nobody asked for.
    #[inline]
    pub(crate) fn slack(&self, run: u32, pages: u32) -> u32 {
        if pages == 1 { self.links[run as usize].previous } else { self.tags[(run + 1) as usize] }
    }

    /// Marks a run that was just cut as the slab `number`.
    #[inline]
    pub(crate) fn mark_slab(&mut self, run: u32, pages: u32, number: u32) {
        self.tags[run as usize..(run + pages) as usize].fill(SLAB | number);
    }

    /// Gives back a slab.
    pub(crate) fn give_back_slab(&mut self, run: u32, pages: u32) {
        self.tags[run as usize..(run + pages) as usize].fill(0);
        self.give_back(run, pages);
    }

    /// Gives back a live run, joined with the free runs that touch it. O(1).
    ///
    /// Whether a neighbour is free is a coin toss, but a version without these branches was slower: its loads wait for one
    /// another where the branches let them run ahead.
    #[inline]
    pub(crate) fn give_back(&mut self, run: u32, pages: u32) {
        self.free_pages += u64::from(pages);
        let (mut start, mut end) = (run, run + pages);
        let before = self.tags[(start - 1) as usize];
        let after = self.tags[end as usize];
        if before & FREE != 0 {
            let length = before & VALUE;
            start -= length;
            self.buckets.remove(&mut self.links, start, length);
            // P3: the start tag becomes an inner one and must no longer say LIVE.
            self.tags[run as usize] = 0;
        }
        if after & FREE != 0 {
            let length = after & VALUE;
            self.buckets.remove(&mut self.links, end, length);
            end += length;
        }
        self.insert_free(start, end - start);
    }

    /// Length of the span that starts at `page`, which must be the start of one, with its tag.
    pub(crate) fn span_at(&self, page: u32, slab_pages: impl Fn(u32) -> u32) -> Option<(Tag, u32)> {
        let tag = self.tag(page);
        match tag {
            Tag::Free(pages) | Tag::Live(pages) => Some((tag, pages)),
            Tag::Slab(number) => Some((tag, slab_pages(number))),
            Tag::Inner => None,
        }
    }

    /// Bytes of host memory behind tags, links and buckets.
    pub(crate) fn metadata_bytes(&self) -> usize {
        self.tags.capacity() * size_of::<u32>()
            + self.links.capacity() * size_of::<Link>()
            + self.buckets.metadata_bytes()
    }

    /// Checks the buckets against the free runs given, which are all there are.
    pub(crate) fn validate(&self, mut free_runs: Vec<(u32, u32)>) -> Result<(), String> {
        self.buckets.validate(&self.links)?;
        let mut indexed: Vec<_> = self.buckets.runs_from(&self.links, 1).collect();
        indexed.sort_unstable();
        free_runs.sort_unstable();
        if indexed != free_runs {
            return Err(format!("B2: buckets hold {indexed:?}, arenas {free_runs:?}"));
        }
        let pages: u64 = free_runs.iter().map(|&(_, pages)| u64::from(pages)).sum();
        if pages != self.free_pages {
            return Err(format!("P1: {pages} pages are free, the counter says {}", self.free_pages));
        }
        for &(run, pages) in &free_runs {
            if self.tag(run + pages - 1) != Tag::Free(pages) {
                return Err(format!(
                    "P2: the last tag of the free run at {run} is {:?}",
                    self.tag(run + pages - 1)
                ));
            }
            if matches!(self.tag(run + pages), Tag::Free(_)) {
                return Err(format!("P4: two free runs touch at {}", run + pages));
            }
        }
        Ok(())
    }
}
