//! [`Plan`]: a trace made ready for replay, with slot numbers in the place of pointers.
//!
//! A replay that looked pointers up as it goes would time its own hash map. A plan has done that work before: each live
//! block has a slot, slots are used again as soon as they are free, and an operation names its slot. Streams have indexes from 0 on.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mempool_core::Bytes;

use super::notes::{Note, Notes, Strictness};
use crate::live_check::{Finding, LiveCheck, LiveCounts, Step};
use crate::replay::ReadError;
use crate::rmm::{TraceReader, TraceRow};

/// A trace made ready for replay. Made by [`Plan::read`] or a [`PlanBuilder`]; 24 bytes an operation.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    operations: Vec<Operation>,
    /// Number of streams; each has an index below.
    streams: u32,
    slots: usize,
    peak_operation: usize,
    peak_live: u128,
    counts: LiveCounts,
    notes: Notes,
}

/// One step of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// Bytes to allocate; 0 for a free, since blocks of 0 bytes are no operation.
    size: u64,
    /// Where the block's address is kept.
    slot: u32,
    /// Line in the file, at most `u32::MAX`.
    line: u32,
    /// Index of the stream.
    stream: u32,
}

/// What a step does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Todo {
    Allocate(Bytes),
    Free,
}

impl Operation {
    #[inline]
    pub(super) fn todo(self) -> Todo {
        if self.size == 0 { Todo::Free } else { Todo::Allocate(Bytes::new(self.size)) }
    }

    #[inline]
    pub(super) fn slot(self) -> usize {
        self.slot as usize
    }

    #[inline]
    pub(super) fn stream(self) -> u32 {
        self.stream
    }

    pub(super) fn line(self) -> u64 {
        u64::from(self.line)
    }
}

impl Plan {
    /// Reads a whole trace.
    ///
    /// # Errors
    ///
    /// [`ReadError`]: the trace cannot be read, or, read strictly, a row is bad or makes no sense.
    ///
    /// # Complexity
    ///
    /// O(rows), one hash look-up a row beside that of [`LiveCheck`].
    pub fn read(reader: TraceReader<'_>, strictness: Strictness) -> Result<Self, ReadError> {
        Self::read_with(reader, strictness, |_| {})
    }

    /// The same, showing each good row to `observe`, for callers that do more in the same pass.
    ///
    /// # Errors
    ///
    /// As [`Plan::read`].
    pub fn read_with(
        mut reader: TraceReader<'_>,
        strictness: Strictness,
        mut observe: impl FnMut(&TraceRow),
    ) -> Result<Self, ReadError> {
        let mut builder = PlanBuilder::new();
        let mut notes = Notes::default();
        while let Some(row) = reader.next() {
            match row {
                Ok(row) => {
                    let finding = builder.add(&row);
                    observe(&row);
                    match (finding, strictness) {
                        (None, _) => {}
                        (Some(finding), Strictness::Strict) => {
                            return Err(ReadError::Finding { file: reader.file().to_owned(), finding });
                        }
                        (Some(finding), Strictness::Lenient) => notes.add(Note::Finding(finding)),
                    }
                }
                Err(error) => match error.as_row() {
                    Some(bad) if strictness == Strictness::Lenient => notes.add(Note::BadRow(bad.clone())),
                    _ => return Err(error.into()),
                },
            }
        }
        Ok(Self { notes, ..builder.finish() })
    }

    /// Good rows of the trace, those that ask for nothing included.
    pub fn events(&self) -> u64 {
        self.counts.events
    }

    /// Allocations and frees to replay.
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// The most that was live at once, in bytes as requested: what any allocator must hold. At most [`Bytes::MAX`].
    pub fn peak_live(&self) -> Bytes {
        u64::try_from(self.peak_live).map_or(Bytes::MAX, Bytes::new)
    }

    /// Blocks live at once, at most.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Streams that the operations name.
    pub fn streams(&self) -> u32 {
        self.streams
    }

    /// Counts over the good rows.
    pub fn counts(&self) -> LiveCounts {
        self.counts
    }

    /// What was passed over because the trace was read leniently.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    #[inline]
    pub(super) fn steps(&self) -> &[Operation] {
        &self.operations
    }

    /// Number of operations done when the live bytes reach their peak.
    pub(super) fn peak_operation(&self) -> usize {
        self.peak_operation
    }
}

/// Builds a [`Plan`] row by row.
///
/// ```
/// use mempool_core::Bytes;
/// use mempool_trace::{Action, TraceRow};
/// use mempool_trace::replay::PlanBuilder;
///
/// let mut builder = PlanBuilder::new();
/// assert_eq!(builder.add(&TraceRow::new(Action::Allocate, 0x10, 4096)), None);
/// assert_eq!(builder.add(&TraceRow::new(Action::Free, 0x10, 4096)), None);
/// let plan = builder.finish();
/// assert_eq!((plan.operations(), plan.peak_live()), (2, Bytes::kib(4)));
/// ```
#[derive(Debug, Default)]
pub struct PlanBuilder {
    check: LiveCheck,
    slots: HashMap<u64, u32, RandomState>,
    free_slots: Vec<u32>,
    /// Indexes of streams.
    streams: HashMap<u64, u32, RandomState>,
    plan: Plan,
}

impl PlanBuilder {
    /// Starts with no row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row and says what is wrong with it, if anything; the plan then does what [`LiveCheck`] advises.
    #[must_use = "a finding is an error to a strict caller"]
    pub fn add(&mut self, row: &TraceRow) -> Option<Finding> {
        let verdict = self.check.check(row);
        match verdict.step {
            Step::Allocate => self.allocate(row),
            Step::Free(_) => self.free(row),
            Step::Replace(_) => {
                self.free(row);
                self.allocate(row);
            }
            Step::Skip => {}
        }
        if self.check.live_bytes() > self.plan.peak_live {
            self.plan.peak_live = self.check.live_bytes();
            self.plan.peak_operation = self.plan.operations.len();
        }
        verdict.finding
    }

    fn allocate(&mut self, row: &TraceRow) {
        if row.size == 0 {
            return;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            let slot =
                u32::try_from(self.plan.slots).expect("4 billion live blocks would fill 200 GiB of memory");
            self.plan.slots += 1;
            slot
        });
        self.slots.insert(row.pointer, slot);
        self.push(row, row.size, slot);
    }

    fn free(&mut self, row: &TraceRow) {
        // A block of 0 bytes has no slot.
        if let Some(slot) = self.slots.remove(&row.pointer) {
            self.free_slots.push(slot);
            self.push(row, 0, slot);
        }
    }

    fn push(&mut self, row: &TraceRow, size: u64, slot: u32) {
        let plan = &mut self.plan;
        let stream = *self.streams.entry(row.stream).or_insert_with(|| {
            plan.streams += 1;
            plan.streams - 1
        });
        let line = u32::try_from(row.line).unwrap_or(u32::MAX);
        plan.operations.push(Operation { size, slot, line, stream });
    }

    /// The plan of all rows taken. Blocks that are live at the end stay live.
    pub fn finish(self) -> Plan {
        Plan { counts: self.check.counts(), ..self.plan }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rmm::Action::{self, Allocate, Free};

    fn plan(rows: &[(Action, u64, u64)]) -> Plan {
        let mut builder = PlanBuilder::new();
        for (line, &(action, pointer, size)) in (1..).zip(rows) {
            let _ = builder.add(&TraceRow::new(action, pointer, size).at(line, line));
        }
        builder.finish()
    }

    fn steps(plan: &Plan) -> Vec<(u64, u32)> {
        plan.operations.iter().map(|operation| (operation.size, operation.slot)).collect()
    }

    #[test]
    fn slots_are_used_again_so_that_there_are_as_many_as_live_blocks() {
        let plan =
            plan(&[(Allocate, 7, 10), (Allocate, 8, 20), (Free, 7, 10), (Allocate, 9, 30), (Free, 8, 20)]);
        assert_eq!(steps(&plan), [(10, 0), (20, 1), (0, 0), (30, 0), (0, 1)]);
        assert_eq!((plan.slots(), plan.peak_live(), plan.peak_operation()), (2, Bytes::new(50), 4));
    }

    #[test]
    fn streams_have_indexes_in_the_order_in_which_they_appear() {
        let mut builder = PlanBuilder::new();
        for (pointer, stream) in [(1, 70), (2, 5), (3, 70), (4, 0)] {
            let _ = builder.add(&TraceRow::new(Allocate, pointer, 8).with_stream(stream));
        }
        let plan = builder.finish();
        let indexes: Vec<u32> = plan.steps().iter().map(|operation| operation.stream()).collect();
        assert_eq!((indexes, plan.streams()), (vec![0, 1, 0, 2], 3));
    }

    #[test]
    fn blocks_of_no_bytes_are_events_but_no_operations() {
        let plan = plan(&[(Allocate, 7, 0), (Free, 7, 0), (Allocate, 0, 0), (Free, 0, 0)]);
        assert_eq!((plan.events(), plan.operations(), plan.slots()), (4, 0, 0));
    }

    #[test]
    fn an_allocation_at_a_live_pointer_frees_the_block_before() {
        let plan = plan(&[(Allocate, 7, 10), (Allocate, 7, 20), (Free, 7, 20)]);
        assert_eq!(steps(&plan), [(10, 0), (0, 0), (20, 0), (0, 0)]);
        assert_eq!(plan.peak_live(), Bytes::new(20));
    }

    #[test]
    fn a_block_of_no_bytes_may_be_replaced_and_replace() {
        let plan = plan(&[(Allocate, 7, 0), (Allocate, 7, 20), (Allocate, 7, 0), (Free, 7, 0)]);
        assert_eq!(steps(&plan), [(20, 0), (0, 0)]);
    }

    #[test]
    fn live_bytes_beyond_64_bits_are_shown_as_the_most_that_fits() {
        let plan = plan(&[(Allocate, 7, u64::MAX), (Allocate, 8, u64::MAX), (Free, 7, u64::MAX)]);
        assert_eq!((plan.peak_live(), plan.peak_operation()), (Bytes::MAX, 2));
    }

    #[test]
    fn lenient_reading_notes_what_strict_reading_refuses() {
        let log = "1,10:00:00,allocate,1,512,0\n1,10:00:00,nonsense,1,512,0\n1,10:00:00,free,2,512,0\n";
        let read = |strictness| Plan::read(TraceReader::named("a.csv", log.as_bytes()).unwrap(), strictness);
        let strict = read(Strictness::Strict).unwrap_err();
        assert_eq!((strict.file(), strict.line()), ("a.csv", 2));
        let plan = read(Strictness::Lenient).unwrap();
        assert_eq!((plan.events(), plan.operations()), (2, 1));
        assert_eq!((plan.notes().bad_rows(), plan.notes().findings()), (1, 1));
        let lines: Vec<_> = plan.notes().first().iter().map(Note::line).collect();
        assert_eq!(lines, [2, 3]);
    }
}
