//! The units in which the heap cuts memory: pages, chunks of pages, and how both follow from an address.
//!
//! ```text
//! address   |  chunk (2 MiB)            | page (16 KiB) | offset in page |
//!           63                        21 20           14 13              0
//! ```
//!
//! A page index has the same low 7 bits as the address it stands for, so that the place of a page in its chunk needs
//! no table.

/// log2 of [`PAGE_BYTES`].
pub(crate) const PAGE_SHIFT: u32 = 14;
/// Size of a page, the unit in which runs are cut: 16 KiB. Measured against 4 KiB (slower, no less fragmentation)
/// and 64 KiB (20 % faster, poor for blocks under 64 KiB).
pub(crate) const PAGE_BYTES: u64 = 1 << PAGE_SHIFT;
/// log2 of the number of pages in a chunk.
pub(crate) const CHUNK_PAGES_SHIFT: u32 = 7;
/// Pages in a chunk.
pub(crate) const CHUNK_PAGES: u32 = 1 << CHUNK_PAGES_SHIFT;
/// log2 of the size of a chunk in bytes: 2 MiB.
pub(crate) const CHUNK_SHIFT: u32 = PAGE_SHIFT + CHUNK_PAGES_SHIFT;
/// Most pages that one heap can index: a tag holds the length of a span in 28 bits, which is 4 TiB.
pub(crate) const MAX_PAGES: u32 = 1 << 28;

/// Pages that `bytes` need. `bytes` must be far below 2^64.
#[inline]
pub(crate) const fn pages_for(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_BYTES)
}
