//! [`LiveCheck`]: follows which blocks are live and tells what is wrong with a trace.
//!
//! A log can be whole line by line and still be nonsense: a block freed twice, or freed with another size. The check
//! gives a [`Verdict`] for each row: what a replay should do with it, and what is wrong, if anything. It never refuses
//! a row; a strict caller stops at the first [`Finding`] (which is an error type), a lenient one goes on with the step.
//!
//! # What counts as legal
//!
//! * Blocks of 0 bytes, at an address or at `(nil)`, and freeing them. Nothing is live at `(nil)`.
//! * Freeing on another stream or thread than the one that allocated; counted, not found.
//! * Times that go back: a time of day says nothing about the order.
//!
//! Blocks are known by pointer alone: in some traces pointers are names and not addresses, so that overlaps mean
//! nothing. Memory is O(live blocks + [`REMEMBERED_FREES`]), time O(1) a row.

use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry as Slot;

use crate::rmm::{Action, TraceRow};

/// Sizes from here on (2^63 bytes) belong to no device and are found as [`FindingKind::AbsurdSize`].
pub const ABSURD_SIZE: u64 = 1 << 63;

/// How many freed pointers are kept at most, to tell a double free from the free of something never allocated. When
/// more come together all are forgotten, and a double free of one of those is found as an unknown free.
pub const REMEMBERED_FREES: usize = 1 << 20;

/// A block that was live when a row touched it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveBlock {
    /// Bytes as requested.
    pub size: u64,
    /// The stream that allocated it.
    pub stream: u64,
    /// The thread that allocated it.
    pub thread: u64,
    /// Data row of the allocation.
    pub row: u64,
    /// Line of the allocation.
    pub line: u64,
}

impl LiveBlock {
    fn of(row: &TraceRow) -> Self {
        let TraceRow { size, stream, thread, row, line, .. } = *row;
        Self { size, stream, thread, row, line }
    }
}

/// What a replay should do with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Allocate the row's size.
    Allocate,
    /// Free this block.
    Free(LiveBlock),
    /// The log lost a free: free this block, then allocate the row's size at its place.
    Replace(LiveBlock),
    /// Nothing: nothing became or ceased to be live.
    Skip,
}

/// What a row does, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a verdict may carry a finding"]
pub struct Verdict {
    /// What to do, also when there is a finding and the caller goes on.
    pub step: Step,
    /// What is wrong.
    pub finding: Option<Finding>,
}

/// Something wrong with a trace. An error type, for callers that stop at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Finding {
    /// Data row, from 1.
    pub row: u64,
    /// Line, from 1.
    pub line: u64,
    /// Pointer of the row.
    pub pointer: u64,
    /// What it is.
    pub kind: FindingKind,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (row {}), pointer {:#x}: {}", self.line, self.row, self.pointer, self.kind)
    }
}

/// Kinds of [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// A block is freed a second time. Step: skip.
    #[error("freed twice, the first time on line {freed_on_line}")]
    DoubleFree {
        /// Line of the free before.
        freed_on_line: u64,
    },
    /// Something is freed that this trace never allocated. Step: skip.
    #[error("freed but never allocated in this trace; the log may start late")]
    UnknownFree,
    /// The free names another size than the allocation. Step: free.
    #[error("freed as {freed} bytes but allocated as {allocated} bytes on line {allocated_on_line}")]
    WrongSize {
        /// Bytes that the allocation asked for.
        allocated: u64,
        /// Bytes that the free names.
        freed: u64,
        /// Line of the allocation.
        allocated_on_line: u64,
    },
    /// A pointer is handed out that is live. Step: replace.
    #[error("handed out while live since line {live_since_line}; the log may have lost a free")]
    AllocateLive {
        /// Line of the allocation before.
        live_since_line: u64,
    },
    /// More than 0 bytes at `(nil)`. Step: skip.
    #[error("{size} bytes at the null pointer")]
    NullPointer {
        /// Bytes of the row.
        size: u64,
    },
    /// An allocation of [`ABSURD_SIZE`] or more. Step: allocate (which a device can only refuse).
    #[error("{size} bytes were handed out, which no device has")]
    AbsurdSize {
        /// Bytes of the row.
        size: u64,
    },
}

/// Counts over all rows so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LiveCounts {
    /// All rows.
    pub events: u64,
    /// `allocate` rows.
    pub allocations: u64,
    /// `free` rows.
    pub frees: u64,
    /// `allocate failure` rows.
    pub allocate_failures: u64,
    /// `allocate` rows of 0 bytes: legal.
    pub zero_sizes: u64,
    /// Frees on another stream than the one that allocated: legal.
    pub cross_stream_frees: u64,
    /// Frees by another thread than the one that allocated: legal.
    pub cross_thread_frees: u64,
    /// [`FindingKind::DoubleFree`].
    pub double_frees: u64,
    /// [`FindingKind::UnknownFree`].
    pub unknown_frees: u64,
    /// [`FindingKind::WrongSize`].
    pub wrong_sizes: u64,
    /// [`FindingKind::AllocateLive`].
    pub live_allocates: u64,
    /// [`FindingKind::NullPointer`].
    pub null_pointers: u64,
    /// [`FindingKind::AbsurdSize`].
    pub absurd_sizes: u64,
}

impl LiveCounts {
    /// Rows with a finding; 0 for a clean trace.
    pub fn findings(&self) -> u64 {
        self.double_frees
            + self.unknown_frees
            + self.wrong_sizes
            + self.live_allocates
            + self.null_pointers
            + self.absurd_sizes
    }

    fn count(&mut self, kind: FindingKind) {
        *match kind {
            FindingKind::DoubleFree { .. } => &mut self.double_frees,
            FindingKind::UnknownFree => &mut self.unknown_frees,
            FindingKind::WrongSize { .. } => &mut self.wrong_sizes,
            FindingKind::AllocateLive { .. } => &mut self.live_allocates,
            FindingKind::NullPointer { .. } => &mut self.null_pointers,
            FindingKind::AbsurdSize { .. } => &mut self.absurd_sizes,
        } += 1;
    }
}

/// A pointer that is live or was.
#[derive(Debug)]
struct Known {
    block: LiveBlock,
    /// Line of the free, `None` while live.
    freed_on_line: Option<u64>,
}

/// Follows a trace row by row. See the [module](self).
///
/// ```
/// use mempool_trace::{Action, FindingKind, LiveCheck, Step, TraceRow};
///
/// let mut check = LiveCheck::new();
/// assert_eq!(check.check(&TraceRow::new(Action::Allocate, 0x10, 4096)).step, Step::Allocate);
/// assert!(matches!(check.check(&TraceRow::new(Action::Free, 0x10, 4096)).step, Step::Free(_)));
/// let twice = check.check(&TraceRow::new(Action::Free, 0x10, 4096));
/// assert!(matches!(twice.finding.expect("found").kind, FindingKind::DoubleFree { .. }));
/// assert_eq!(twice.step, Step::Skip);
/// ```
#[derive(Debug, Default)]
pub struct LiveCheck {
    known: HashMap<u64, Known, RandomState>,
    live_blocks: usize,
    live_bytes: u128,
    counts: LiveCounts,
}

impl LiveCheck {
    /// Starts with nothing live.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row.
    pub fn check(&mut self, row: &TraceRow) -> Verdict {
        self.counts.events += 1;
        let (step, kind) = match row.action {
            Action::Allocate => self.allocate(row),
            Action::Free => self.free(row),
            Action::AllocateFailure => {
                self.counts.allocate_failures += 1;
                (Step::Skip, None)
            }
        };
        let finding = kind.map(|kind| {
            self.counts.count(kind);
            Finding { row: row.row, line: row.line, pointer: row.pointer, kind }
        });
        Verdict { step, finding }
    }

    fn allocate(&mut self, row: &TraceRow) -> (Step, Option<FindingKind>) {
        let size = row.size;
        self.counts.allocations += 1;
        self.counts.zero_sizes += u64::from(size == 0);
        if row.pointer == 0 {
            return (Step::Skip, (size > 0).then_some(FindingKind::NullPointer { size }));
        }
        let mut absurd = (size >= ABSURD_SIZE).then_some(FindingKind::AbsurdSize { size });
        let known = Known { block: LiveBlock::of(row), freed_on_line: None };
        let mut step = Step::Allocate;
        match self.known.entry(row.pointer) {
            Slot::Vacant(slot) => {
                slot.insert(known);
                self.live_blocks += 1;
            }
            Slot::Occupied(mut slot) => {
                let before = slot.insert(known);
                if before.freed_on_line.is_some() {
                    self.live_blocks += 1;
                } else {
                    self.live_bytes -= u128::from(before.block.size);
                    step = Step::Replace(before.block);
                    absurd = Some(FindingKind::AllocateLive { live_since_line: before.block.line });
                }
            }
        }
        self.live_bytes += u128::from(size);
        (step, absurd)
    }

    fn free(&mut self, row: &TraceRow) -> (Step, Option<FindingKind>) {
        let freed = row.size;
        self.counts.frees += 1;
        if row.pointer == 0 {
            return (Step::Skip, (freed > 0).then_some(FindingKind::NullPointer { size: freed }));
        }
        let Some(known) = self.known.get_mut(&row.pointer) else {
            return (Step::Skip, Some(FindingKind::UnknownFree));
        };
        if let Some(freed_on_line) = known.freed_on_line {
            return (Step::Skip, Some(FindingKind::DoubleFree { freed_on_line }));
        }
        known.freed_on_line = Some(row.line);
        let block = known.block;
        self.live_blocks -= 1;
        self.live_bytes -= u128::from(block.size);
        self.counts.cross_stream_frees += u64::from(block.stream != row.stream);
        self.counts.cross_thread_frees += u64::from(block.thread != row.thread);
        if self.known.len() - self.live_blocks > REMEMBERED_FREES {
            self.known.retain(|_, known| known.freed_on_line.is_none());
        }
        let wrong_size = (block.size != freed).then_some(FindingKind::WrongSize {
            allocated: block.size,
            freed,
            allocated_on_line: block.line,
        });
        (Step::Free(block), wrong_size)
    }

    /// Blocks live now.
    pub fn live_blocks(&self) -> usize {
        self.live_blocks
    }

    /// Requested bytes live now. 128 bits, because a log may claim anything.
    pub fn live_bytes(&self) -> u128 {
        self.live_bytes
    }

    /// Counts over all rows so far.
    pub fn counts(&self) -> LiveCounts {
        self.counts
    }

    /// Pointers and blocks live now, in the order of their allocation. O(n log n).
    pub fn live(&self) -> Vec<(u64, LiveBlock)> {
        let live = self.known.iter().filter(|(_, known)| known.freed_on_line.is_none());
        let mut live: Vec<_> = live.map(|(&pointer, known)| (pointer, known.block)).collect();
        live.sort_unstable_by_key(|&(pointer, block)| (block.line, block.row, pointer));
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(action: Action, pointer: u64, size: u64, line: u64) -> TraceRow {
        TraceRow::new(action, pointer, size).at(line, line)
    }

    #[test]
    fn a_pointer_may_be_reused_after_its_free() {
        let mut check = LiveCheck::new();
        for turn in 1..=10 {
            let allocated = check.check(&row(Action::Allocate, 0x10, turn * 1024, turn));
            assert_eq!(allocated, Verdict { step: Step::Allocate, finding: None });
            assert_eq!(check.live_bytes(), u128::from(turn * 1024));
            assert_eq!(check.check(&row(Action::Free, 0x10, turn * 1024, turn)).finding, None);
        }
        assert_eq!((check.live_blocks(), check.live_bytes(), check.counts().findings()), (0, 0, 0));
    }

    #[test]
    fn an_allocation_at_a_live_pointer_replaces_it() {
        let mut check = LiveCheck::new();
        let _ = check.check(&row(Action::Allocate, 0x10, 4096, 2));
        let verdict = check.check(&row(Action::Allocate, 0x10, 8192, 3));
        assert!(matches!(verdict.step, Step::Replace(LiveBlock { size: 4096, line: 2, .. })));
        assert_eq!(verdict.finding.unwrap().kind, FindingKind::AllocateLive { live_since_line: 2 });
        assert_eq!((check.live_blocks(), check.live_bytes()), (1, 8192));
        assert_eq!(check.check(&row(Action::Free, 0x10, 8192, 4)).finding, None);
        let twice = check.check(&row(Action::Free, 0x10, 4096, 5)).finding.unwrap();
        assert_eq!(twice.kind, FindingKind::DoubleFree { freed_on_line: 4 });
        assert_eq!(twice.to_string(), "line 5 (row 5), pointer 0x10: freed twice, the first time on line 4");
    }

    #[test]
    fn nothing_is_live_at_the_null_pointer() {
        let mut check = LiveCheck::new();
        for line in 0..3 {
            let verdict = check.check(&row(Action::Allocate, 0, 0, line));
            assert_eq!(verdict, Verdict { step: Step::Skip, finding: None });
        }
        assert_eq!(check.check(&row(Action::Free, 0, 0, 4)).finding, None);
        let odd = check.check(&row(Action::Allocate, 0, 4096, 5));
        assert_eq!(odd.finding.unwrap().kind, FindingKind::NullPointer { size: 4096 });
        assert_eq!((check.live_blocks(), check.counts().zero_sizes, check.counts().null_pointers), (0, 3, 1));
    }

    #[test]
    fn live_blocks_come_in_the_order_of_allocation() {
        let mut check = LiveCheck::new();
        for line in 1..=50_u64 {
            let _ = check.check(&row(Action::Allocate, 0x1000 - line, line, line));
        }
        let _ = check.check(&row(Action::Free, 0x1000 - 7, 7, 51));
        let lines: Vec<_> = check.live().iter().map(|(_, block)| block.line).collect();
        assert_eq!(lines, (1..=50).filter(|&line| line != 7).collect::<Vec<_>>());
    }

    #[test]
    fn freed_pointers_are_forgotten_together_and_live_ones_never() {
        let mut check = LiveCheck::new();
        let _ = check.check(&row(Action::Allocate, 1, 8, 1));
        for pointer in 2..REMEMBERED_FREES as u64 + 3 {
            let _ = check.check(&row(Action::Allocate, pointer, 8, pointer));
            let _ = check.check(&row(Action::Free, pointer, 8, pointer));
        }
        assert_eq!((check.known.len(), check.live_blocks()), (1, 1));
        let forgotten = check.check(&row(Action::Free, 2, 8, 9)).finding.unwrap();
        assert_eq!(forgotten.kind, FindingKind::UnknownFree);
        assert_eq!(check.check(&row(Action::Free, 1, 8, 10)).finding, None);
    }
}
