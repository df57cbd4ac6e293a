//! Allocating and freeing in the order of streams: [`Heap`] for pools that have streams.

use super::geometry::{MAX_PAGES, PAGE_BYTES, PAGE_SHIFT, pages_for};
use super::page_heap::{Joining, Tag};
use super::{Block, FreedBlock, Heap};
use crate::error::FreeError;
use crate::order::{Slot, Stamps};
use crate::size_class::{CLASSES, SMALL_MAX_BYTES, aligned_class_of};
use crate::units::{Alignment, Bytes, DeviceAddress};

/// When streams keep the memory that they free apart, which spares waits, instead of joining all free runs that touch, which spares
/// memory: over recordings of three to nine models at once, a fifth of the pool for ten times the waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Always: nobody may be made to wait.
    Always,
    /// While less than [`TIGHT_PERCENT`] of so many bytes are in use, and again below [`ROOMY_PERCENT`].
    Below(u64),
    /// Never: the pool grows only when nothing serves, so that what it has is always short.
    Never,
}

/// From this share of the limit in use, memory counts for more than waits. At 80 % some requests failed that the same memory would have
/// served.
const TIGHT_PERCENT: u64 = 50;
/// Below this share of the limit, waits count for more than memory again.
const ROOMY_PERCENT: u64 = 30;

/// Who asks, and how far the heap may go to serve it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// The stream on which the block will be used first; `None` for the host, which uses only what all streams have passed.
    pub(crate) stream: Option<Slot>,
    pub(crate) reach: Reach,
}

/// How far the heap may go to serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// No wait, and no run longer by more than half: a wait is better than cutting a long run up.
    Near,
    /// No wait; any run.
    Far,
    /// Any run; the stream waits for those that may still touch it.
    Wait,
}

impl Order {
    /// The same, without waiting.
    fn without_waiting(self) -> Self {
        let reach = if self.reach == Reach::Wait { Reach::Near } else { self.reach };
        Self { reach, ..self }
    }
}

/// A block for a stream.
#[derive(Debug)]
pub(crate) struct OrderedBlock {
    pub(crate) block: Block,
    /// Work that may still touch it: the stream must come after all of it, before the block is handed out.
    pub(crate) pending: Stamps,
}

impl Heap {
    /// Allocates `occupied` bytes of which `requested` were asked for.
    pub(crate) fn allocate_ordered(
        &mut self,
        requested: Bytes,
        occupied: Bytes,
        alignment: Alignment,
        order: Order,
    ) -> Option<OrderedBlock> {
        let (requested, occupied, alignment) = (requested.get(), occupied.get(), alignment.get());
        debug_assert!(order.stream.is_some() || order.reach != Reach::Wait, "the host does not wait here");
        self.part_or_gather();
        if occupied <= SMALL_MAX_BYTES
            && alignment <= PAGE_BYTES
            && let Some(class) = aligned_class_of(occupied, alignment)
        {
            return self.allocate_object_ordered(class, requested, order);
        }
        self.allocate_run_ordered(requested, occupied, alignment, order)
    }

    /// Own objects, then those that everybody may use, then a new slab; only then what is worth a wait.
    #[expect(clippy::cast_possible_truncation, reason = "the slack of an object is below 32 KiB")]
    fn allocate_object_ordered(
        &mut self,
        class: usize,
        requested: u64,
        order: Order,
    ) -> Option<OrderedBlock> {
        let bytes = u64::from(CLASSES[class].object_bytes);
        let slack = (bytes - requested) as u16;
        let own = order.stream.and_then(|slot| self.held.pop_latest(slot, class));
        let at_once =
            own.map(|object| self.slabs.take_held(object, slack)).or_else(|| self.slabs.take(class, slack));
        if let Some(address) = at_once {
            return Some(self.account_ordered(address, bytes, slack.into(), Stamps::default()));
        }
        if let Some(block) = self.allocate_from_ordered_slab(class, slack, order.without_waiting()) {
            return Some(block);
        }
        if order.reach == Reach::Wait
            && let Some(slot) = order.stream
            && let Some((object, stamp)) = self.held.pop_oldest_of_others(slot, class)
        {
            let address = self.slabs.take_held(object, slack);
            return Some(self.account_ordered(address, bytes, slack.into(), stamp.into()));
        }
        self.allocate_from_ordered_slab(class, slack, order)
            .or_else(|| self.allocate_run_ordered(requested, bytes, PAGE_BYTES, order))
    }

    /// Makes a slab and takes its first object. What the pages may still be touched by holds for the other objects too.
    fn allocate_from_ordered_slab(&mut self, class: usize, slack: u16, order: Order) -> Option<OrderedBlock> {
        let layout = &CLASSES[class];
        let number = self.slabs.next_number()?;
        let taken = self.pages.take_ordered(layout.slab_pages, &self.streams, order);
        let (run, pending) = taken?;
        let address = self.open_slab(class, number, run, slack, &pending, order.stream)?;
        Some(self.account_ordered(address, layout.object_bytes.into(), slack.into(), pending))
    }

    /// Makes pages that were just cut a slab, takes its first object for a stream, and sees to it that the others are used only after
    /// what may still touch the pages.
    pub(super) fn open_slab(
        &mut self,
        class: usize,
        number: u32,
        run: u32,
        slack: u16,
        pending: &Stamps,
        stream: Option<Slot>,
    ) -> Option<u64> {
        self.pages.mark_slab(run, CLASSES[class].slab_pages, number);
        self.slabs.add(class, self.map.address_of(run));
        let address = self.slabs.take(class, slack)?;
        if !pending.is_empty() {
            let own = stream.filter(|&slot| self.streams.are_ordered(pending, Some(slot)));
            for object in self.slabs.take_rest_of_slab(number) {
                match own {
                    // The stream comes after the pending work, so whoever comes after the stream does too.
                    Some(slot) => self.held.push(class, object, self.streams.stamp_of_slot(slot)),
                    None => self.held.push_shared(object, pending.clone()),
                }
            }
        }
        Some(address)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the slack of a run is below one page and the padding"
    )]
    fn allocate_run_ordered(
        &mut self,
        requested: u64,
        occupied: u64,
        alignment: u64,
        order: Order,
    ) -> Option<OrderedBlock> {
        let pages = u32::try_from(pages_for(occupied)).ok().filter(|&pages| pages < MAX_PAGES)?;
        let bytes = u64::from(pages) << PAGE_SHIFT;
        let slack = bytes - requested;
        let (run, pending) = if alignment <= PAGE_BYTES {
            self.pages.take_ordered(pages, &self.streams, order)?
        } else {
            let streams = &self.streams;
            let ordered = |stamps: &Stamps| streams.are_ordered(stamps, order.stream);
            let accept = |stamps: &Stamps| order.reach == Reach::Wait || ordered(stamps);
            take_aligned(&mut self.pages, &self.map, streams, pages, alignment, accept)?
        };
        self.pages.mark_live(run, pages, slack as u32);
        Some(self.account_ordered(self.map.address_of(run), bytes, slack, pending))
    }

    fn account_ordered(&mut self, address: u64, bytes: u64, slack: u64, pending: Stamps) -> OrderedBlock {
        OrderedBlock { block: self.account(address, bytes, slack), pending }
    }

    /// Frees the block that starts at `address`, which `stamps` may still touch.
    ///
    /// # Errors
    ///
    /// As [`Heap::free`].
    pub(crate) fn free_ordered(
        &mut self,
        address: DeviceAddress,
        mut stamps: Stamps,
    ) -> Result<FreedBlock, FreeError> {
        stamps.retain(|stamp| !self.streams.is_done(stamp));
        let page = self.map.page_of(address.get());
        if let Some(number) = self.pages.slab_of(page) {
            let Ok(object) = self.slabs.live_object(number, address.get()) else {
                return Err(self.refuse_free(address));
            };
            let held = self.slabs.hold(number, object);
            let mut all = stamps.iter();
            match (all.next(), all.next()) {
                (None, _) => {
                    if let Some(slab) = self.slabs.settle(held.object) {
                        self.give_back_slab(slab);
                    }
                }
                (Some(stamp), None) => self.held.push(held.class, held.object, stamp),
                _ => self.held.push_shared(held.object, stamps.clone()),
            }
            return Ok(self.account_free(held.object_bytes, held.slack.into()));
        }
        match self.pages.tag(page) {
            Tag::Live(pages) if address.get() & (PAGE_BYTES - 1) == 0 => {
                let slack = self.pages.slack(page, pages);
                self.part_or_gather();
                self.pages.give_back_ordered(page, pages, &stamps, &self.streams, self.joining);
                Ok(self.account_free(u64::from(pages) << PAGE_SHIFT, slack.into()))
            }
            _ => Err(self.refuse_free(address)),
        }
    }

    /// Says when streams keep their memory apart.
    pub(crate) fn keep_apart(&mut self, apart: Apart) {
        self.apart = apart;
        self.joining = if apart == Apart::Never { Joining::All } else { Joining::SameStreams };
    }

    /// Joins all free runs that touch, whatever streams may still touch them, once. O(runs).
    pub(crate) fn gather(&mut self) {
        self.rejoin_from = self.pages.rejoin(&self.streams, Joining::All, 0, usize::MAX);
    }

    /// Joins what streams have passed with what else they have, so that whole granules show; joins nothing that they have not. O(runs).
    pub(crate) fn join_passed(&mut self) {
        if self.streams.any() {
            self.pages.rejoin(&self.streams, Joining::SameStreams, 0, usize::MAX);
        }
    }

    /// Whether memory counts for more than waits now.
    pub(crate) fn is_tight(&self) -> bool {
        self.joining == Joining::All
    }

    #[inline]
    fn part_or_gather(&mut self) {
        let Apart::Below(limit) = self.apart else { return };
        match self.joining {
            Joining::All if self.live_bytes < limit / 100 * ROOMY_PERCENT => {
                self.joining = Joining::SameStreams;
            }
            Joining::SameStreams if self.live_bytes >= limit / 100 * TIGHT_PERCENT => {
                self.joining = Joining::All;
                self.gather();
            }
            _ => {}
        }
    }

    /// Joins up to `most` runs that streams have passed, going on where the last call ended.
    pub(crate) fn rejoin(&mut self, most: usize) {
        self.rejoin_from = self.pages.rejoin(&self.streams, self.joining, self.rejoin_from, most);
    }

    /// Lets everybody use up to `most` small objects whose streams have passed them, and answers how many those were.
    pub(crate) fn settle_objects(&mut self, most: usize) -> usize {
        let passed = self.held.take_passed(&self.streams, most);
        for &object in &passed {
            if let Some(slab) = self.slabs.settle(object) {
                self.give_back_slab(slab);
            }
        }
        passed.len()
    }
}

/// Cuts an aligned run out of one whose stamps `accept` accepts.
pub(super) fn take_aligned(
    pages_heap: &mut super::page_heap::PageHeap,
    map: &super::page_map::PageMap,
    streams: &crate::order::Streams,
    pages: u32,
    alignment: u64,
    accept: impl Fn(&Stamps) -> bool,
) -> Option<(u32, Stamps)> {
    let slack = u32::try_from((alignment >> PAGE_SHIFT) - 1).unwrap_or(MAX_PAGES);
    pages_heap.take_aligned(pages, slack, streams, accept, |run, found| {
        let address = map.address_of(run);
        let skipped = (address.checked_next_multiple_of(alignment)? - address) >> PAGE_SHIFT;
        let start = run + u32::try_from(skipped).ok()?;
        (skipped + u64::from(pages) <= u64::from(found)).then_some(start)
    })
}
