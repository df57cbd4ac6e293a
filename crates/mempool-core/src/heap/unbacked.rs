//! Pages that have addresses but no memory, beside the runs of a [`PageHeap`]: holes, and what a thread has claimed to change its
//! backing.
//!
//! ```text
//! tags   │ LIVE 3 │ slack │ 0 │ FREE 9 │ FREE 9 │ UNBACKED 128 │ … │ UNBACKED 128 │ LIVE 1 │
//! pages  └── live run ────────┘└─ backed, free ─┘└─ hole ─────────────────────────┘
//! ```
//!
//! Invariants
//! * U1: a hole consists of whole granules of one reservation, and its first and last tag say UNBACKED and its length. So do those of a
//!   claim, which may be any pages.
//! * U2: no two holes touch. A hole is never joined with a free run: the tag of the one is not that of the other.
//! * U3: a claim is neither free, live nor a hole. Nobody but who made it may do anything with its pages.

use std::collections::{BTreeMap, BTreeSet};

use super::page_heap::{Joining, PageHeap, Tag};
use crate::order::{Stamps, Streams};

/// Holes and claims of a heap.
#[derive(Debug, Default)]
pub(super) struct Unbacked {
    /// By (length, first page).
    holes: BTreeSet<(u32, u32)>,
    /// Lengths of claims by first page.
    claims: BTreeMap<u32, u32>,
    /// One past the highest page whose tag was ever set but for the last of a reservation.
    touched: u32,
}

/// Holes that a search looks at on each side of the size that surely suffices.
const TRIED: usize = 32;

impl PageHeap {
    /// Pages that are in no claim become a hole, joined with the holes that touch it.
    pub(super) fn insert_hole(&mut self, first: u32, pages: u32) {
        let (mut start, mut end) = (first, first + pages);
        if let Tag::Unbacked(length) = self.tag(first - 1)
            && self.unbacked.holes.remove(&(length, first.wrapping_sub(length)))
        {
            start -= length;
        }
        if let Tag::Unbacked(length) = self.tag(end)
            && self.unbacked.holes.remove(&(length, end))
        {
            end += length;
        }
        self.unbacked.holes.insert((end - start, start));
        self.set_unbacked(start, end - start);
    }

    /// Takes a hole out and clears its tags, so that the indices may be used again; answers whether it is there.
    pub(super) fn remove_hole(&mut self, first: u32, pages: u32) -> bool {
        let removed = self.unbacked.holes.remove(&(pages, first));
        if removed {
            // Tags of pages that never had memory are 0, but for the last: the host has no memory for them either, and needs none now.
            let used = self.unbacked.touched.clamp(first + 1, first + pages) - first;
            self.clear_tags(first, used);
            self.set_tag_inner(first + pages - 1);
        }
        removed
    }

    /// Claims pages of a hole.
    pub(super) fn claim_hole(&mut self, hole: (u32, u32), first: u32, pages: u32) {
        let (hole_first, hole_pages) = hole;
        let (hole_end, end) = (hole_first + hole_pages, first + pages);
        self.unbacked.holes.remove(&(hole_pages, hole_first));
        for (part, length) in [(hole_first, first - hole_first), (end, hole_end - end)] {
            if length > 0 {
                self.unbacked.holes.insert((length, part));
                self.set_unbacked(part, length);
            }
        }
        self.claim(first, pages);
    }

    /// Claims pages of a free run in pieces of `piece` pages and answers what may still touch them.
    pub(super) fn claim_free(&mut self, number: u32, first: u32, pages: u32, piece: u32) -> Stamps {
        let stamps = self.cut(number, first, pages);
        let mut start = first;
        while start < first + pages {
            let length = piece.min(first + pages - start);
            self.claim(start, length);
            start += length;
        }
        stamps
    }

    fn claim(&mut self, first: u32, pages: u32) {
        self.unbacked.claims.insert(first, pages);
        self.unbacked.touched = self.unbacked.touched.max(first + pages + 1);
        self.set_unbacked(first, pages);
    }

    /// Ends a claim; its pages are in no span until the caller puts them into one.
    pub(super) fn end_claim(&mut self, first: u32, pages: u32) {
        let claimed = self.unbacked.claims.remove(&first);
        debug_assert_eq!(claimed, Some(pages), "U3: a claim ends as it was made");
        self.set_tag_inner(first);
    }

    /// Pages that are in no span become part of the backed free memory, joined with the free runs that touch them as far as `joining` says;
    /// answers the number of the free run that they are part of.
    pub(super) fn insert_backed(
        &mut self,
        first: u32,
        pages: u32,
        stamps: &Stamps,
        streams: &Streams,
        joining: Joining,
    ) -> u32 {
        self.count_free(pages);
        self.join_ordered(first, pages, stamps, streams, joining)
    }

    /// Holes in which a request of `pages` pages may find its place, those that suffice by themselves first: of these the shortest, and one
    /// that holds `sure` pages, of the others the longest. As (first page, length).
    pub(super) fn likely_holes(&self, pages: u32, sure: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let sufficient = self.unbacked.holes.range((pages, 0)..).take(TRIED);
        let sufficient = sufficient.chain(self.unbacked.holes.range((sure, 0)..).take(1));
        let shorter = self.unbacked.holes.range(..(pages, 0)).rev().take(TRIED);
        sufficient.chain(shorter).map(|&(length, first)| (first, length))
    }

    /// All holes, as (first page, length).
    pub(super) fn holes(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.unbacked.holes.iter().map(|&(length, first)| (first, length))
    }

    /// Checks U1 and U2 against the spans without a run, as (first page, length), which are all there are.
    pub(super) fn validate_unbacked(&self, spans: &[(u32, u32)]) -> Result<(), String> {
        let Unbacked { holes, claims, .. } = &self.unbacked;
        if spans.len() != holes.len() + claims.len() {
            return Err(format!(
                "U1: {} spans say that they have no memory, {} holes and {} claims are known",
                spans.len(),
                holes.len(),
                claims.len()
            ));
        }
        for &(first, pages) in spans {
            let is_hole = holes.contains(&(pages, first));
            if !is_hole && claims.get(&first) != Some(&pages) {
                return Err(format!("U1: the {pages} pages at {first} are no hole and no claim"));
            }
            if self.tag(first + pages - 1) != Tag::Unbacked(pages) {
                return Err(format!("U1: the last tag of the {pages} pages at {first} differs"));
            }
            if let Tag::Unbacked(next) = self.tag(first + pages)
                && is_hole
                && holes.contains(&(next, first + pages))
            {
                return Err(format!("U2: two holes touch at {}", first + pages));
            }
        }
        Ok(())
    }

    /// Bytes of host memory behind them, about.
    pub(super) fn unbacked_metadata_bytes(&self) -> usize {
        (self.unbacked.holes.len() + self.unbacked.claims.len()) * size_of::<[u32; 2]>() * 2
    }
}
