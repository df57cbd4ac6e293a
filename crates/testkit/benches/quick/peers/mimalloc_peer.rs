//! mimalloc, a general allocator of host memory: the yardstick for small blocks.
//!
//! It is called explicitly and is not the global allocator, so the other candidates' own books do not profit from it.
#![expect(unsafe_code, reason = "GlobalAlloc, the interface of the mimalloc crate, is unsafe to call")]

use std::alloc::{GlobalAlloc as _, Layout};

use mimalloc::MiMalloc;

use crate::candidate::Candidate;

/// The process's mimalloc heap. Blocks are aligned to 8 bytes only, which is the least work that can be asked of it.
#[derive(Debug, Default)]
pub(crate) struct Mimalloc;

/// A block of mimalloc with the layout that it needs back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MimallocBlock {
    address: *mut u8,
    bytes: u32,
}

const ALIGNMENT: usize = 8;

fn layout_of(bytes: u32) -> Option<Layout> {
    Layout::from_size_align(bytes as usize, ALIGNMENT).ok().filter(|layout| layout.size() > 0)
}

impl Candidate for Mimalloc {
    type Block = MimallocBlock;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<MimallocBlock> {
        let layout = layout_of(bytes)?;
        // SAFETY: the size of the layout is not zero (`layout_of`).
        let address = unsafe { MiMalloc.alloc(layout) };
        (!address.is_null()).then_some(MimallocBlock { address, bytes })
    }

    #[inline]
    fn free(&mut self, block: MimallocBlock) -> bool {
        let Some(layout) = layout_of(block.bytes) else { return false };
        // SAFETY: blocks come from `allocate` only, with this layout, and the driver frees each one once: it overwrites
        // its slot with the next block or consumes the slots.
        unsafe { MiMalloc.dealloc(block.address, layout) };
        true
    }
}
