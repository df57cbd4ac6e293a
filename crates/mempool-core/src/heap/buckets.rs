//! The index of free runs: one bucket for every exact page count up to 64 MiB, found through a bitmap, and one ordered
//! set above.
//!
//! A bucket is a ring of [`Link`]s that live beside the page tags. The link of index b, below [`RESERVED_PAGES`], closes
//! the ring of bucket b, so that insertion and removal need no branch on "first" or "last": at 10 000 live blocks such
//! branches are coin tosses and were a quarter of the time.
//!
//! Rings are kept in address order as far as the policy needs it:
//!
//! * [`FitPolicy::BestFit`] looks only at the front of the smallest sufficient bucket; an insertion keeps the
//!   first two in address order, which packs better than last in first out (6.4 % against 7.0 % of external
//!   fragmentation at 10 000 live blocks) and, without branches, costs nothing.
//! * [`FitPolicy::FirstFit`] wants the lowest address over all sufficient buckets. Rings are in address order (exactly for up
//!   to [`FIRST_FIT_SORTED`] runs of one size), so the fronts suffice, and `group_low` keeps the lowest front of each 64
//!   buckets.
//!
//! Invariants
//! * B1: a bit is set if and only if its bucket holds a run.
//! * B2: a run is in the bucket of its exact length.
//! * B3 (first fit): `group_low[g]` is the lowest front of buckets `64 g .. 64 g + 63`.

#![expect(clippy::cast_possible_truncation, reason = "bucket numbers are below 4096")]

use std::collections::BTreeSet;

use super::geometry::RESERVED_PAGES;
use crate::config::FitPolicy;

const GROUP: usize = 64;
/// Longest run with a bucket of its own: 4095 pages, just under 64 MiB.
pub(crate) const MAX_EXACT_PAGES: u32 = RESERVED_PAGES - 1;
/// How many links an insertion walks, at most, to keep the address order that first fit uses.
const FIRST_FIT_SORTED: u32 = 64;
/// No run at all; higher than every page.
const NO_RUN: u32 = u32::MAX;

/// Neighbours of a free run in the ring of its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Link {
    pub(crate) previous: u32,
    pub(crate) next: u32,
}

impl Link {
    /// The links that close the rings of empty buckets: the start of the array of links.
    pub(crate) fn closing_links() -> impl Iterator<Item = Self> {
        (0..RESERVED_PAGES).map(|ring| Self { previous: ring, next: ring })
    }

    /// Puts a run at the front of a ring, or behind the front or behind the second when these have lower addresses. No branch
    /// depends on the addresses.
    #[inline]
    #[expect(clippy::needless_bitwise_bool, reason = "lazy operators would be branches")]
    pub(crate) fn insert_near_front(links: &mut [Self], ring: u32, run: u32) {
        let front = links[ring as usize].next;
        let behind_front = (front >= RESERVED_PAGES) & (front < run);
        let second = links[front as usize].next;
        let third = links[second as usize].next;
        let behind_second = behind_front & (second >= RESERVED_PAGES) & (second < run);
        let (previous, next) = if behind_front { (front, second) } else { (ring, front) };
        let (previous, next) = if behind_second { (second, third) } else { (previous, next) };
        Self::insert_between(links, previous, run, next);
    }

    /// Puts a run where it belongs in a ring in address order, as far as [`FIRST_FIT_SORTED`] steps lead.
    fn insert_in_order(links: &mut [Self], ring: u32, run: u32) {
        let (mut previous, mut next) = (ring, links[ring as usize].next);
        let mut walked = 0;
        while next != ring && next < run && walked < FIRST_FIT_SORTED {
            previous = next;
            next = links[next as usize].next;
            walked += 1;
        }
        Self::insert_between(links, previous, run, next);
    }

    #[inline]
    fn insert_between(links: &mut [Self], previous: u32, run: u32, next: u32) {
        links[run as usize] = Self { previous, next };
        links[previous as usize].next = run;
        links[next as usize].previous = run;
    }

    /// Takes a run out of its ring and says whether that left the ring empty.
    #[inline]
    pub(crate) fn remove(links: &mut [Self], run: u32, ring: u32) -> bool {
        let Self { previous, next } = links[run as usize];
        links[previous as usize].next = next;
        links[next as usize].previous = previous;
        // Only when nothing else is left is the closing link the neighbour on both sides.
        previous == next && previous == ring
    }

    /// The runs of a ring, front first.
    pub(crate) fn ring(links: &[Self], ring: u32) -> impl Iterator<Item = u32> + '_ {
        let next_in_ring = move |index: u32| Some(links[index as usize].next).filter(|&run| run != ring);
        std::iter::successors(next_in_ring(ring), move |&run| next_in_ring(run))
    }
}

/// The buckets. `links` is the array of the page heap, indexed by page.
#[derive(Debug)]
pub(crate) struct Buckets {
    policy: FitPolicy,
    bits: [u64; GROUP],
    /// Bit g says that `bits[g]` is not 0.
    groups: u64,
    group_low: [u32; GROUP],
    /// Runs longer than [`MAX_EXACT_PAGES`], as (pages, first page).
    big: BTreeSet<(u32, u32)>,
}

impl Buckets {
    pub(crate) fn new(policy: FitPolicy) -> Self {
        Self { policy, bits: [0; GROUP], groups: 0, group_low: [NO_RUN; GROUP], big: BTreeSet::new() }
    }

    pub(crate) const fn policy(&self) -> FitPolicy {
        self.policy
    }

    /// Adds a free run.
    #[inline]
    pub(crate) fn insert(&mut self, links: &mut [Link], run: u32, pages: u32) {
        if pages > MAX_EXACT_PAGES {
            self.big.insert((pages, run));
            return;
        }
        if self.policy == FitPolicy::BestFit {
            Link::insert_near_front(links, pages, run);
        } else {
            Link::insert_in_order(links, pages, run);
        }
        let group = pages as usize / GROUP;
        self.bits[group] |= 1 << (pages as usize % GROUP);
        self.groups |= 1 << group;
        if self.policy == FitPolicy::FirstFit {
            self.refresh_group_low(links, group);
        }
    }

    /// Takes a free run out.
    #[inline]
    pub(crate) fn remove(&mut self, links: &mut [Link], run: u32, pages: u32) {
        if pages > MAX_EXACT_PAGES {
            self.big.remove(&(pages, run));
            return;
        }
        let emptied = u64::from(Link::remove(links, run, pages));
        let group = pages as usize / GROUP;
        self.bits[group] &= !(emptied << (pages as usize % GROUP));
        let group_emptied = u64::from(self.bits[group] == 0);
        self.groups &= !(group_emptied << group);
        if self.policy == FitPolicy::FirstFit {
            self.refresh_group_low(links, group);
        }
    }

    fn refresh_group_low(&mut self, links: &[Link], group: usize) {
        self.group_low[group] = lowest_front(&links[group * GROUP..(group + 1) * GROUP]);
    }

    /// The run of at least `pages` pages that the policy prefers, as (first page, pages). It stays in its bucket.
    #[inline]
    pub(crate) fn find(&self, links: &[Link], pages: u32) -> Option<(u32, u32)> {
        if self.policy == FitPolicy::BestFit {
            self.find_smallest(links, pages)
        } else {
            self.find_lowest(links, pages)
        }
    }

    #[inline]
    fn find_smallest(&self, links: &[Link], pages: u32) -> Option<(u32, u32)> {
        if let Some(bucket) = self.first_bucket_from(pages) {
            return Some((links[bucket as usize].next, bucket));
        }
        self.big.range((pages, 0)..).next().map(|&(pages, run)| (run, pages))
    }

    /// The first non-empty exact bucket of at least `pages` pages.
    #[inline]
    fn first_bucket_from(&self, pages: u32) -> Option<u32> {
        if pages > MAX_EXACT_PAGES {
            return None;
        }
        let group = pages as usize / GROUP;
        let here = self.bits[group] & (u64::MAX << (pages as usize % GROUP));
        if here != 0 {
            return Some((group * GROUP) as u32 + here.trailing_zeros());
        }
        // Shifted in two steps, because group 63 would shift by 64.
        let above = self.groups & (u64::MAX << group << 1);
        if above == 0 {
            return None;
        }
        let group = above.trailing_zeros() as usize;
        Some((group * GROUP) as u32 + self.bits[group].trailing_zeros())
    }

    /// The lowest-addressed run over all buckets from `pages` on. O(128) plus the number of runs above 64 MiB.
    fn find_lowest(&self, links: &[Link], pages: u32) -> Option<(u32, u32)> {
        let mut lowest = NO_RUN;
        let mut found = None;
        if pages <= MAX_EXACT_PAGES {
            let group = pages as usize / GROUP;
            let group_end = (group + 1) * GROUP;
            lowest = lowest_front(&links[pages as usize..group_end]);
            let mut buckets = pages as usize..group_end;
            for (above, &low) in self.group_low.iter().enumerate().skip(group + 1) {
                if low < lowest {
                    lowest = low;
                    buckets = above * GROUP..(above + 1) * GROUP;
                }
            }
            let bucket = buckets.into_iter().find(|&bucket| links[bucket].next == lowest);
            found = bucket.map(|bucket| (lowest, bucket as u32));
        }
        for &(big_pages, run) in self.big.range((pages, 0)..) {
            if run < lowest {
                lowest = run;
                found = Some((run, big_pages));
            }
        }
        found
    }

    /// Pages of the longest free run, 0 when nothing is free. O(1) up to 64 MiB, O(log n) above.
    pub(crate) fn longest(&self) -> u32 {
        if let Some(&(pages, _)) = self.big.last() {
            return pages;
        }
        match self.groups.checked_ilog2() {
            Some(group) => group * GROUP as u32 + self.bits[group as usize].ilog2(),
            None => 0,
        }
    }

    /// All free runs of at least `pages` pages, shortest first, as (first page, pages).
    pub(crate) fn runs_from<'a>(
        &'a self,
        links: &'a [Link],
        pages: u32,
    ) -> impl Iterator<Item = (u32, u32)> + 'a {
        let first = self.first_bucket_from(pages);
        let buckets = std::iter::successors(first, |&bucket| self.first_bucket_from(bucket + 1));
        let in_bucket = move |bucket: u32| Link::ring(links, bucket).map(move |run| (run, bucket));
        buckets.flat_map(in_bucket).chain(self.big.range((pages, 0)..).map(|&(pages, run)| (run, pages)))
    }

    /// Bytes of host memory behind the buckets, without the links.
    pub(crate) fn metadata_bytes(&self) -> usize {
        size_of::<Self>() + self.big.len() * size_of::<(u32, u32)>() * 2
    }

    /// Checks B1 and B3; B2 is checked by the page heap, which knows the lengths.
    pub(crate) fn validate(&self, links: &[Link]) -> Result<(), String> {
        for (bucket, link) in (0..RESERVED_PAGES).zip(links) {
            let bit = self.bits[bucket as usize / GROUP] >> (bucket as usize % GROUP) & 1 == 1;
            if bit != (link.next != bucket) {
                return Err(format!("B1: bucket {bucket} is closed by {link:?} and has bit {bit}"));
            }
        }
        for (group, &bits) in self.bits.iter().enumerate() {
            if (bits != 0) != (self.groups >> group & 1 == 1) {
                return Err(format!("B1: group {group} has bits {bits:#x} and summary {:#x}", self.groups));
            }
            let low = lowest_front(&links[group * GROUP..(group + 1) * GROUP]);
            if self.policy == FitPolicy::FirstFit && self.group_low[group] != low {
                return Err(format!("B3: group {group} says {} and has {low}", self.group_low[group]));
            }
        }
        Ok(())
    }
}

/// The lowest front of some buckets, whose closing links are given; [`NO_RUN`] when all are empty.
fn lowest_front(closing: &[Link]) -> u32 {
    let front = |link: &Link| if link.next < RESERVED_PAGES { NO_RUN } else { link.next };
    closing.iter().map(front).fold(NO_RUN, u32::min)
}
