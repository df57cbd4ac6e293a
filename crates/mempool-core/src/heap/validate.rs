//! Walks a whole heap and checks every invariant that the modules beside this one state.

use super::geometry::PAGE_SHIFT;
use super::page_heap::Tag;
use super::{BlockState, Heap};

/// A broken invariant of the pool's own: a fault of this crate, never of its caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("broken invariant {what}")]
pub struct InvariantError {
    /// The invariant's name and what was found instead.
    pub what: String,
}

impl Heap {
    /// Walks everything and checks every invariant. For tests and for the suspicious; O(pages).
    ///
    /// # Errors
    ///
    /// [`InvariantError`] naming the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), InvariantError> {
        self.check().map_err(|what| InvariantError { what })
    }

    fn check(&self) -> Result<(), String> {
        let (mut free_runs, mut slabs, mut unbacked_spans) = (Vec::new(), Vec::new(), Vec::new());
        let (mut live_bytes, mut slack_bytes, mut live_blocks, mut cached_bytes, mut arena_pages) =
            (0, 0, 0, 0, 0);
        for range in self.map.ranges() {
            if self.map.page_of(range.start_address) != range.first_page
                || self.map.address_of(range.first_page) != range.start_address
            {
                return Err(format!("M1: {range:?} is not found by its address"));
            }
            for fence in [range.first_page - 1, range.first_page + range.pages] {
                if self.pages.tag(fence) != Tag::Inner {
                    return Err(format!("M2: page {fence} beside {range:?} is {:?}", self.pages.tag(fence)));
                }
            }
            let mut next = range.first_page;
            for (first, tag, pages) in self.spans(*range) {
                if first != next || pages == 0 {
                    return Err(format!("P1: a span of {pages} pages starts at {first} instead of {next}"));
                }
                next = first + pages;
                if matches!(tag, Tag::Unbacked(_)) {
                    unbacked_spans.push((first, pages));
                } else {
                    arena_pages += u64::from(pages);
                }
                match tag {
                    Tag::Free(number) => free_runs.push((first, number)),
                    Tag::Live(_) if pages > 1 && matches!(self.pages.tag(next - 1), Tag::Free(_)) => {
                        return Err(format!("P2: the last tag of the live run at {first} says free"));
                    }
                    Tag::Slab(number) => {
                        slabs.push(number);
                        if let Some(page) = (first..next).find(|&page| self.pages.tag(page) != tag) {
                            return Err(format!(
                                "P2: page {page} of slab {number} is {:?}",
                                self.pages.tag(page)
                            ));
                        }
                    }
                    Tag::Live(_) | Tag::Unbacked(_) | Tag::Inner => {}
                }
                if !matches!(tag, Tag::Slab(_)) {
                    let inner = (first + 1..next)
                        .find(|&page| matches!(self.pages.tag(page), Tag::Live(_) | Tag::Slab(_)));
                    if let Some(page) = inner {
                        return Err(format!(
                            "P3: inner page {page} of the span at {first} is {:?}",
                            self.pages.tag(page)
                        ));
                    }
                }
                for block in self.blocks_of_span(first, tag, pages) {
                    match block.state {
                        BlockState::Live { requested } => {
                            live_blocks += 1;
                            live_bytes += block.bytes.get();
                            slack_bytes += block.bytes.get() - requested.get();
                        }
                        BlockState::Cached => cached_bytes += block.bytes.get(),
                        BlockState::Free => {}
                    }
                }
            }
            if next != range.first_page + range.pages {
                return Err(format!("P1: the spans of {range:?} end at {next}"));
            }
        }
        if arena_pages != self.arena_pages {
            return Err(format!(
                "P1: arenas have {arena_pages} pages, the counter says {}",
                self.arena_pages
            ));
        }
        self.pages.validate(&free_runs)?;
        self.pages.validate_unbacked(&unbacked_spans)?;
        self.slabs.validate(&slabs, self.held.iter().collect())?;
        let counted = (live_bytes, slack_bytes, live_blocks);
        let kept = (self.live_bytes, self.slack_bytes, self.live_blocks);
        if counted != kept {
            return Err(format!("I6: counted (live, slack, blocks) {counted:?}, kept {kept:?}"));
        }
        let free_bytes = self.pages.free_pages() << PAGE_SHIFT;
        if live_bytes + free_bytes + cached_bytes != arena_pages << PAGE_SHIFT {
            return Err(format!(
                "I2: live {live_bytes} + free {free_bytes} + cached {cached_bytes} is not all"
            ));
        }
        Ok(())
    }
}
