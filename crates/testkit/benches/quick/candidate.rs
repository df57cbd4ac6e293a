//! What every allocator under test has to offer, and ours.

use mempool_core::heap::{AddArenaError, Heap};
use mempool_core::{Alignment, Bytes, DeviceAddress, FitPolicy};

use crate::trace::Trace;

/// An allocator under test.
pub(crate) trait Candidate {
    /// What the caller keeps of a block and gives back to free it.
    type Block: Copy;

    /// A block of at least `bytes`; `None` when there is no room.
    fn allocate(&mut self, bytes: u32) -> Option<Self::Block>;

    /// Frees a block; false when the candidate does not know it.
    fn free(&mut self, block: Self::Block) -> bool;
}

/// A candidate whose blocks lie in one address range that starts at 0.
pub(crate) trait Placed: Candidate {
    /// Offset of the end of a live block of which `bytes` were asked for.
    fn end_of(&self, block: Self::Block, bytes: u32) -> u64;
}

/// A candidate that cannot serve a trace, which means that the set-up is wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// No room for a block.
    #[error("the arena has no room for a block of {bytes} bytes; give the trace a larger one")]
    Exhausted {
        /// Bytes asked for.
        bytes: u32,
    },
    /// A live block was refused.
    #[error("a live block could not be freed")]
    FreeRefused,
}

/// Fills the slots.
pub(crate) fn fill<C: Candidate>(candidate: &mut C, trace: &Trace) -> Result<Vec<C::Block>, ReplayError> {
    trace
        .fill
        .iter()
        .map(|&bytes| candidate.allocate(bytes).ok_or(ReplayError::Exhausted { bytes }))
        .collect()
}

/// Frees the blocks of all slots, and proves on the way that the candidate still knows them.
pub(crate) fn drain<C: Candidate>(candidate: &mut C, slots: Vec<C::Block>) -> Result<(), ReplayError> {
    slots
        .into_iter()
        .try_for_each(|block| candidate.free(block).then_some(()).ok_or(ReplayError::FreeRefused))
}

/// Ours, freed by nothing but the address.
#[derive(Debug)]
pub(crate) struct OurHeap(Heap);

/// Where our arena starts: not at 0, as no device's memory does.
const BASE: u64 = 0x1200_0000_0000;

impl OurHeap {
    /// A heap with one arena.
    pub(crate) fn new(arena_bytes: u64) -> Result<Self, AddArenaError> {
        let mut heap = Heap::new(FitPolicy::BestFit);
        heap.add_arena(DeviceAddress::new(BASE), Bytes::new(arena_bytes))?;
        Ok(Self(heap))
    }

    /// Bytes of the books divided by bytes of the arena.
    pub(crate) fn metadata_share(&self) -> f64 {
        self.0.metadata_bytes().ratio_of(self.0.totals().arena)
    }
}

impl Candidate for OurHeap {
    type Block = DeviceAddress;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<DeviceAddress> {
        self.0.allocate(Bytes::new(bytes.into()), Alignment::ONE).map(|block| block.address)
    }

    #[inline]
    fn free(&mut self, block: DeviceAddress) -> bool {
        self.0.free(block).is_ok()
    }
}

impl Placed for OurHeap {
    fn end_of(&self, block: DeviceAddress, _bytes: u32) -> u64 {
        // The whole block counts, also what rounding added at its end.
        let size = self.0.live_block(block).map_or(u64::MAX >> 1, |live| live.bytes.get());
        block.get() - BASE + size
    }
}

/// Does nothing: what it costs is the replay itself, which is part of every speed.
#[derive(Debug, Default)]
pub(crate) struct Nothing;

impl Candidate for Nothing {
    type Block = u64;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<u64> {
        Some(bytes.into())
    }

    #[inline]
    fn free(&mut self, block: u64) -> bool {
        std::hint::black_box(block) != u64::MAX
    }
}
