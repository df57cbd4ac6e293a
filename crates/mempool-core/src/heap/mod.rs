//! The heap: address ranges cut into blocks, without a device, a lock or a clock.
//!
//! A [`Heap`] manages addresses only and never touches what they stand for. [`Pool`](crate::Pool) is a heap with a device behind
//! it and a lock around it; use a heap alone to suballocate something else, or to measure the bare algorithm.

mod backing;
mod free_runs;
pub(crate) mod geometry;
mod held;
mod magazine;
mod ordered;
mod page_heap;
mod page_map;
mod slabs;
#[cfg(test)]
mod tests;
mod unbacked;
mod validate;

use crate::config::FitPolicy;
use crate::error::FreeError;
use crate::order::{Stamps, Streams};
use crate::size_class::{CLASSES, SMALL_MAX_BYTES, aligned_class_of};
use crate::units::{Alignment, Bytes, DeviceAddress};
pub use validate::InvariantError;

pub(crate) use backing::Place;
use geometry::{MAX_PAGES, PAGE_BYTES, PAGE_SHIFT, pages_for};
use held::HeldObjects;
pub(crate) use ordered::{Apart, Order, OrderedBlock, Reach};
use page_heap::{Joining, PageHeap, Tag};
use page_map::{AddRangeError, PageMap, PageRange};
use slabs::{NotLive, ReleasedSlab, Slabs};

/// A block of a [`Heap`]: where it is and how many bytes it occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// First byte.
    pub address: DeviceAddress,
    /// Bytes it occupies, the request rounded up to its size class or to whole pages.
    pub bytes: Bytes,
}

/// A block that was freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreedBlock {
    /// Bytes it occupied.
    pub bytes: Bytes,
    /// Bytes that had been asked for.
    pub requested: Bytes,
}

/// Why an arena cannot be added to a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddArenaError {
    /// The range passes 2^48.
    #[error("an arena of {bytes} at {base} passes the 48 bits of an address")]
    AddressTooHigh {
        /// First byte of the range.
        base: DeviceAddress,
        /// Its size.
        bytes: Bytes,
    },
    /// The range holds no whole page.
    #[error("an arena of {bytes} at {base} holds no whole page of 16 KiB")]
    TooSmall {
        /// First byte of the range.
        base: DeviceAddress,
        /// Its size.
        bytes: Bytes,
    },
    /// The range overlaps an arena of this heap.
    #[error("an arena of {bytes} at {base} overlaps one that the heap has")]
    Overlap {
        /// First byte of the range.
        base: DeviceAddress,
        /// Its size.
        bytes: Bytes,
    },
    /// The heap cannot index so much memory.
    #[error("with an arena of {bytes} at {base} the heap would pass the 4 TiB that it can index")]
    TooLarge {
        /// First byte of the range.
        base: DeviceAddress,
        /// Its size.
        bytes: Bytes,
    },
}

/// Sums over a heap, kept up to date, so that reading them costs nothing.
///
/// `arena == live + free + cached`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapTotals {
    /// Whole pages in arenas.
    pub arena: Bytes,
    /// Live blocks, with rounding.
    pub live: Bytes,
    /// What was asked for in live blocks.
    pub requested: Bytes,
    /// Free runs of pages.
    pub free: Bytes,
    /// Free objects in slabs, ready for their size class only.
    pub cached: Bytes,
    /// The longest free run.
    pub largest_free: Bytes,
    /// Number of live blocks.
    pub live_blocks: u64,
    /// Number of free runs.
    pub free_runs: u64,
}

/// A free or live block met on a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkedBlock {
    /// First byte.
    pub address: DeviceAddress,
    /// Bytes it occupies.
    pub bytes: Bytes,
    /// What it is.
    pub state: BlockState,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockState {
    /// In use, with the bytes that were asked for.
    Live {
        /// Bytes that were asked for.
        requested: Bytes,
    },
    /// A free run of pages.
    Free,
    /// A free object of a slab.
    Cached,
}

/// Address ranges cut into blocks. See the [module](self) for what it is for.
///
/// Blocks up to 32 KiB come from slabs (eight size classes a doubling, multiples of 512 bytes), larger ones are runs of 16 KiB
/// pages. Every block starts at a multiple of 512 bytes. Not thread-safe by itself: methods take `&mut self`.
///
/// ```
/// use mempool_core::heap::Heap;
/// use mempool_core::{Alignment, Bytes, DeviceAddress, FitPolicy};
///
/// let mut heap = Heap::new(FitPolicy::BestFit);
/// heap.add_arena(DeviceAddress::new(1 << 30), Bytes::mib(64))?;
/// let block = heap.allocate(Bytes::new(100_000), Alignment::ONE).expect("64 MiB are free");
/// assert_eq!(block.bytes, Bytes::kib(112));
/// assert_eq!(heap.free(block.address)?.requested, Bytes::new(100_000));
/// assert!(heap.free(block.address).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Heap {
    map: PageMap,
    pages: PageHeap,
    slabs: Slabs,
    /// Small objects that only some streams may use yet.
    held: HeldObjects,
    pub(crate) streams: Streams,
    /// Which free runs are joined where there are streams.
    joining: Joining,
    apart: Apart,
    /// Where the next pass over the stamped runs goes on.
    rejoin_from: u32,
    arena_pages: u64,
    live_bytes: u64,
    slack_bytes: u64,
    live_blocks: u64,
}

impl Heap {
    /// A heap without arenas.
    pub fn new(policy: FitPolicy) -> Self {
        Self {
            map: PageMap::new(),
            pages: PageHeap::new(policy),
            slabs: Slabs::new(),
            held: HeldObjects::default(),
            streams: Streams::default(),
            joining: Joining::All,
            apart: Apart::Never,
            rejoin_from: 0,
            arena_pages: 0,
            live_bytes: 0,
            slack_bytes: 0,
            live_blocks: 0,
        }
    }

    /// How free blocks are chosen.
    pub fn policy(&self) -> FitPolicy {
        self.pages.policy()
    }

    /// Adds the whole pages of a range of addresses.
    ///
    /// # Errors
    ///
    /// [`AddArenaError`] when the range overlaps an arena, holds no whole page, passes 2^48 or is too large.
    ///
    /// # Complexity
    ///
    /// O(pages) the first time that the heap grows so large, O(arenas) after.
    pub fn add_arena(&mut self, base: DeviceAddress, bytes: Bytes) -> Result<(), AddArenaError> {
        let range = self.add_range(base, bytes)?;
        self.pages.add_range(range.first_page, range.pages);
        self.arena_pages += u64::from(range.pages);
        Ok(())
    }

    /// Makes pages of a range of addresses, which are in no span yet.
    fn add_range(&mut self, base: DeviceAddress, bytes: Bytes) -> Result<PageRange, AddArenaError> {
        let range = self.map.add(base.get(), bytes.get()).map_err(|error| match error {
            AddRangeError::AddressTooHigh => AddArenaError::AddressTooHigh { base, bytes },
            AddRangeError::TooSmall => AddArenaError::TooSmall { base, bytes },
            AddRangeError::Overlap => AddArenaError::Overlap { base, bytes },
            AddRangeError::TooManyPages => AddArenaError::TooLarge { base, bytes },
        })?;
        self.pages.reserve_pages(self.map.page_capacity());
        Ok(range)
    }

    /// Takes the arena that holds `address` out, if nothing in it is live and no stream may touch it any more, and says whether it did.
    ///
    /// # Complexity
    ///
    /// O(pages of the arena).
    pub fn remove_arena_if_empty(&mut self, address: DeviceAddress) -> bool {
        let Some(range) = self.range_near(address) else { return false };
        if !self.pages.is_range_free(range.first_page, range.pages, &self.streams) {
            return false;
        }
        self.pages.remove_range(range.first_page, range.pages);
        self.map.remove(&range);
        self.arena_pages -= u64::from(range.pages);
        true
    }

    /// Allocates `bytes` at a multiple of `alignment`; `None` when no free block serves it, or `bytes` is 0.
    ///
    /// # Complexity
    ///
    /// O(1) with best fit and an alignment up to 16 KiB.
    #[inline]
    pub fn allocate(&mut self, bytes: Bytes, alignment: Alignment) -> Option<Block> {
        self.allocate_padded(bytes, bytes, alignment)
    }

    /// Allocates `occupied` bytes of which `requested` were asked for.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "hot and small: its slow paths are functions of their own; 5 % measured"
    )]
    pub(crate) fn allocate_padded(
        &mut self,
        requested: Bytes,
        occupied: Bytes,
        alignment: Alignment,
    ) -> Option<Block> {
        let (requested, occupied, alignment) = (requested.get(), occupied.get(), alignment.get());
        debug_assert!(requested <= occupied, "padding adds");
        if requested == 0 {
            return None;
        }
        if occupied <= SMALL_MAX_BYTES
            && alignment <= PAGE_BYTES
            && let Some(class) = aligned_class_of(occupied, alignment)
        {
            return self.allocate_object(class, requested);
        }
        self.allocate_run(requested, occupied, alignment)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the slack of an object is below 32 KiB")]
    fn allocate_object(&mut self, class: usize, requested: u64) -> Option<Block> {
        let bytes = u64::from(CLASSES[class].object_bytes);
        let slack = bytes - requested;
        let object =
            self.slabs.take(class, slack as u16).or_else(|| self.allocate_from_new_slab(class, slack as u16));
        match object {
            Some(address) => Some(self.account(address, bytes, slack)),
            // Too little is free for a slab; pages for the one object may be.
            None => self.allocate_run(requested, bytes, PAGE_BYTES),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_from_new_slab(&mut self, class: usize, slack: u16) -> Option<u64> {
        let pages = CLASSES[class].slab_pages;
        let number = self.slabs.next_number()?;
        let run = self.pages.take(pages)?;
        self.pages.mark_slab(run, pages, number);
        self.slabs.add(class, self.map.address_of(run));
        self.slabs.take(class, slack)
    }

    #[inline(never)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the slack of a run is below one page and the padding"
    )]
    fn allocate_run(&mut self, requested: u64, occupied: u64, alignment: u64) -> Option<Block> {
        let pages = u32::try_from(pages_for(occupied)).ok().filter(|&pages| pages < MAX_PAGES)?;
        let bytes = u64::from(pages) << PAGE_SHIFT;
        let slack = bytes - requested;
        let run = if alignment <= PAGE_BYTES {
            self.pages.take(pages)?
        } else {
            let all = |_: &Stamps| true;
            ordered::take_aligned(&mut self.pages, &self.map, &self.streams, pages, alignment, all)?.0
        };
        self.pages.mark_live(run, pages, slack as u32);
        Some(self.account(self.map.address_of(run), bytes, slack))
    }

    #[inline]
    fn account(&mut self, address: u64, bytes: u64, slack: u64) -> Block {
        self.live_bytes += bytes;
        self.slack_bytes += slack;
        self.live_blocks += 1;
        Block { address: DeviceAddress::new(address), bytes: Bytes::new(bytes) }
    }

    /// Bytes that an empty arena must have for a block of `occupied` bytes at `alignment`, if its base is a multiple of
    /// `base_alignment`. `None` when no arena can be so large.
    pub(crate) fn arena_bytes_for(
        occupied: Bytes,
        alignment: Alignment,
        base_alignment: Alignment,
    ) -> Option<Bytes> {
        let pages = Bytes::new(occupied.get().checked_next_multiple_of(PAGE_BYTES)?);
        let guaranteed = base_alignment.get();
        let wanted = alignment.get().max(PAGE_BYTES);
        // The first multiple of what is wanted lies at most so far behind a multiple of what is guaranteed.
        let lost = wanted.saturating_sub(guaranteed);
        pages.checked_add(Bytes::new(lost)).filter(|bytes| bytes.get() >> PAGE_SHIFT < u64::from(MAX_PAGES))
    }

    /// Frees the block that starts at `address`.
    ///
    /// # Errors
    ///
    /// [`FreeError`] when no live block starts there; the heap is as it was.
    ///
    /// # Complexity
    ///
    /// O(1); O(spans of the arena) to say what is wrong with a wrong address.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "hot and small: its slow paths are functions of their own; 5 % measured"
    )]
    pub fn free(&mut self, address: DeviceAddress) -> Result<FreedBlock, FreeError> {
        let page = self.map.page_of(address.get());
        if let Some(number) = self.pages.slab_of(page) {
            let Ok(object) = self.slabs.live_object(number, address.get()) else {
                return Err(self.refuse_free(address));
            };
            let freed = self.slabs.give_back(number, object);
            if let Some(slab) = freed.released {
                self.give_back_slab(slab);
            }
            Ok(self.account_free(freed.object_bytes, u64::from(freed.slack)))
        } else {
            self.free_run(address, page)
        }
    }

    /// Not part of [`Heap::free`], so that freeing a small block saves no registers for it.
    #[inline(never)]
    fn free_run(&mut self, address: DeviceAddress, page: u32) -> Result<FreedBlock, FreeError> {
        match self.pages.tag(page) {
            Tag::Live(pages) if address.get() & (PAGE_BYTES - 1) == 0 => {
                let slack = self.pages.slack(page, pages);
                self.pages.give_back(page, pages);
                Ok(self.account_free(u64::from(pages) << PAGE_SHIFT, u64::from(slack)))
            }
            _ => Err(self.refuse_free(address)),
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back_slab(&mut self, slab: ReleasedSlab) {
        let run = self.map.page_of(slab.base);
        self.pages.unmark_slab(run, slab.pages);
        if self.streams.any() {
            self.pages.give_back_ordered(run, slab.pages, &Stamps::default(), &self.streams, self.joining);
        } else {
            self.pages.give_back(run, slab.pages);
        }
    }

    #[inline]
    fn account_free(&mut self, bytes: u64, slack: u64) -> FreedBlock {
        self.live_bytes -= bytes;
        self.slack_bytes -= slack;
        self.live_blocks -= 1;
        FreedBlock { bytes: Bytes::new(bytes), requested: Bytes::new(bytes - slack) }
    }

    /// The live block that starts at `address`.
    ///
    /// # Errors
    ///
    /// As [`Heap::free`].
    pub fn live_block(&self, address: DeviceAddress) -> Result<FreedBlock, FreeError> {
        let page = self.map.page_of(address.get());
        let (bytes, slack) = match self.pages.tag(page) {
            Tag::Slab(number) => {
                let object =
                    self.slabs.live_object(number, address.get()).map_err(|_| self.refuse_free(address))?;
                (self.slabs.get(number).object_bytes(), self.slabs.slack(number, object).into())
            }
            Tag::Live(pages) if address.get() & (PAGE_BYTES - 1) == 0 => {
                (u64::from(pages) << PAGE_SHIFT, u64::from(self.pages.slack(page, pages)))
            }
            _ => return Err(self.refuse_free(address)),
        };
        Ok(FreedBlock { bytes: Bytes::new(bytes), requested: Bytes::new(bytes - slack) })
    }

    /// Says what is wrong with an address that is no live block.
    #[cold]
    fn refuse_free(&self, address: DeviceAddress) -> FreeError {
        let Some(&range) = self.map.range_at_address(address.get()) else {
            return FreeError::Foreign { address };
        };
        let page = self.map.page_of(address.get());
        let interior = |start: u64, bytes: u64| FreeError::Interior {
            address,
            block: DeviceAddress::new(start),
            block_bytes: Bytes::new(bytes),
        };
        let span = self.spans(range).take_while(|&(first, _, _)| first <= page).last();
        match span {
            Some((first, Tag::Live(pages), _)) => {
                interior(self.map.address_of(first), u64::from(pages) << PAGE_SHIFT)
            }
            Some((_, Tag::Slab(number), _)) => match self.slabs.live_object(number, address.get()) {
                Err(NotLive::Interior { start, object_bytes, live: true }) => interior(start, object_bytes),
                _ => FreeError::DoubleFree { address },
            },
            _ => FreeError::DoubleFree { address },
        }
    }

    /// The range of the arena that holds `address`, where an arena may start up to a page before its first whole page.
    fn range_near(&self, address: DeviceAddress) -> Option<PageRange> {
        let whole_page = address.get().checked_next_multiple_of(PAGE_BYTES)?;
        self.map.range_at_address(whole_page).copied()
    }

    /// All spans of a range in address order, as (first page, tag, pages).
    fn spans(&self, range: PageRange) -> impl Iterator<Item = (u32, Tag, u32)> + '_ {
        let end = range.first_page + range.pages;
        let mut page = range.first_page;
        std::iter::from_fn(move || {
            if page >= end {
                return None;
            }
            let (tag, pages) = self.pages.span_at(page, |number| self.slabs.get(number).pages())?;
            let first = page;
            page += pages;
            Some((first, tag, pages))
        })
    }

    /// Walks all blocks of the arena that holds `address`, in address order. O(blocks).
    pub fn blocks_of_arena(&self, address: DeviceAddress) -> impl Iterator<Item = WalkedBlock> + '_ {
        self.range_near(address).into_iter().flat_map(move |range| {
            self.spans(range).flat_map(move |(first, tag, pages)| self.blocks_of_span(first, tag, pages))
        })
    }

    fn blocks_of_span(&self, first: u32, tag: Tag, pages: u32) -> Vec<WalkedBlock> {
        let whole = |state| WalkedBlock {
            address: DeviceAddress::new(self.map.address_of(first)),
            bytes: Bytes::new(u64::from(pages) << PAGE_SHIFT),
            state,
        };
        match tag {
            Tag::Slab(number) => {
                let slab = self.slabs.get(number);
                let bytes = slab.object_bytes();
                (0..)
                    .zip(slab.objects())
                    .map(|(object, (address, live))| WalkedBlock {
                        address: DeviceAddress::new(address),
                        bytes: Bytes::new(bytes),
                        state: if live {
                            BlockState::Live {
                                requested: Bytes::new(bytes - u64::from(self.slabs.slack(number, object))),
                            }
                        } else {
                            BlockState::Cached
                        },
                    })
                    .collect()
            }
            Tag::Live(_) => {
                let slack = u64::from(self.pages.slack(first, pages));
                let bytes = u64::from(pages) << PAGE_SHIFT;
                vec![whole(BlockState::Live { requested: Bytes::new(bytes - slack) })]
            }
            Tag::Free(_) | Tag::Inner => vec![whole(BlockState::Free)],
            Tag::Unbacked(_) => Vec::new(),
        }
    }

    /// Bytes in live blocks, and the part of them that was asked for.
    #[inline]
    pub(crate) fn live_and_requested(&self) -> (Bytes, Bytes) {
        (Bytes::new(self.live_bytes), Bytes::new(self.live_bytes - self.slack_bytes))
    }

    /// Sums over the heap. O(1).
    pub fn totals(&self) -> HeapTotals {
        let pages = |count: u64| Bytes::new(count << PAGE_SHIFT);
        HeapTotals {
            arena: pages(self.arena_pages),
            live: Bytes::new(self.live_bytes),
            requested: Bytes::new(self.live_bytes - self.slack_bytes),
            free: pages(self.pages.free_pages()),
            cached: pages(self.arena_pages - self.pages.free_pages())
                .saturating_sub(Bytes::new(self.live_bytes)),
            largest_free: pages(u64::from(self.pages.longest_free())),
            live_blocks: self.live_blocks,
            free_runs: self.pages.free_run_count() as u64,
        }
    }

    /// Address space that the heap needed so far: the distance from the start of its first arena to the end of the highest
    /// page that was ever part of a block. Meaningful for a heap with one arena; with more it says nothing.
    pub fn extent(&self) -> Bytes {
        let first = self.map.ranges().first().map_or(0, |range| range.first_page);
        Bytes::new(u64::from(self.pages.extent().saturating_sub(first)) << PAGE_SHIFT)
    }

    /// Bytes of host memory that the heap needs for its own books. O(1).
    pub fn metadata_bytes(&self) -> Bytes {
        let bytes = self.map.metadata_bytes()
            + self.pages.metadata_bytes()
            + self.held.metadata_bytes()
            + self.slabs.metadata_bytes();
        Bytes::new(bytes as u64)
    }
}
