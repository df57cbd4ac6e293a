//! [`TraceSummary`]: what a trace holds, in one pass.

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::live_check::{LiveCheck, LiveCounts, Verdict};
use crate::rmm::{Action, TraceError, TraceRow};

/// Figures of a trace. Sizes are bytes as requested, before any rounding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TraceSummary {
    /// All rows.
    pub events: u64,
    /// `allocate` rows.
    pub allocations: u64,
    /// `free` rows.
    pub frees: u64,
    /// `allocate failure` rows.
    pub allocate_failures: u64,
    /// Sum of all allocations.
    pub allocated_bytes: u128,
    /// The most that was live at once: what any allocator must hold.
    pub peak_live_bytes: u128,
    /// Data row at which that was reached first, 0 when nothing was ever live.
    pub peak_row: u64,
    /// The most blocks live at once.
    pub peak_live_blocks: usize,
    /// Bytes live after the last row.
    pub live_at_end_bytes: u128,
    /// Blocks live after the last row.
    pub live_at_end_blocks: usize,
    /// Distinct streams.
    pub streams: usize,
    /// Distinct threads.
    pub threads: usize,
    /// Distinct sizes of allocations.
    pub distinct_sizes: usize,
    /// Largest allocation.
    pub max_size: u64,
    /// All counts of the check, findings among them.
    pub counts: LiveCounts,
}

impl TraceSummary {
    /// Sums up all rows. Time O(rows); memory O(live blocks + distinct sizes, streams and threads).
    ///
    /// # Errors
    ///
    /// The first error of the rows. Read leniently ([`crate::TraceReader::lenient`]) to pass over bad rows. What the
    /// check finds is no error here but counted in [`Self::counts`].
    pub fn of(rows: impl IntoIterator<Item = Result<TraceRow, TraceError>>) -> Result<Self, TraceError> {
        let mut builder = SummaryBuilder::new();
        for row in rows {
            let _ = builder.add(&row?);
        }
        Ok(builder.finish())
    }
}

/// Builds a [`TraceSummary`] row by row, for callers that do more in the same pass.
#[derive(Debug, Default)]
pub struct SummaryBuilder {
    check: LiveCheck,
    summary: TraceSummary,
    streams: Distinct,
    threads: Distinct,
    sizes: Distinct,
}

impl SummaryBuilder {
    /// Starts with no row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row and passes on what the check says of it.
    pub fn add(&mut self, row: &TraceRow) -> Verdict {
        let verdict = self.check.check(row);
        self.streams.insert(row.stream);
        self.threads.insert(row.thread);
        let summary = &mut self.summary;
        if row.action == Action::Allocate {
            self.sizes.insert(row.size);
            summary.allocated_bytes += u128::from(row.size);
            summary.max_size = summary.max_size.max(row.size);
        }
        if self.check.live_bytes() > summary.peak_live_bytes {
            summary.peak_live_bytes = self.check.live_bytes();
            summary.peak_row = row.row;
        }
        summary.peak_live_blocks = summary.peak_live_blocks.max(self.check.live_blocks());
        verdict
    }

    /// The check, for what is live now.
    pub fn check(&self) -> &LiveCheck {
        &self.check
    }

    /// The figures of all rows taken.
    pub fn finish(self) -> TraceSummary {
        let counts = self.check.counts();
        TraceSummary {
            events: counts.events,
            allocations: counts.allocations,
            frees: counts.frees,
            allocate_failures: counts.allocate_failures,
            live_at_end_bytes: self.check.live_bytes(),
            live_at_end_blocks: self.check.live_blocks(),
            streams: self.streams.values.len(),
            threads: self.threads.values.len(),
            distinct_sizes: self.sizes.values.len(),
            counts,
            ..self.summary
        }
    }
}

/// A set that is asked mostly for the value it was asked for last.
#[derive(Debug, Default)]
struct Distinct {
    values: HashSet<u64, RandomState>,
    last: Option<u64>,
}

impl Distinct {
    fn insert(&mut self, value: u64) {
        if self.last != Some(value) {
            self.values.insert(value);
            self.last = Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_pass_2_pow_64() {
        let mut builder = SummaryBuilder::new();
        for pointer in 1..=4 {
            let verdict =
                builder.add(&TraceRow::new(Action::Allocate, pointer, u64::MAX).at(pointer, pointer));
            assert!(verdict.finding.is_some());
        }
        let summary = builder.finish();
        assert_eq!(summary.peak_live_bytes, 4 * u128::from(u64::MAX));
        assert_eq!((summary.peak_row, summary.max_size, summary.distinct_sizes), (4, u64::MAX, 1));
    }

    #[test]
    fn an_empty_trace_has_zeros() {
        assert_eq!(TraceSummary::of([]).unwrap(), TraceSummary::default());
    }

    #[test]
    fn the_first_bad_row_ends_it() {
        let reader = crate::TraceReader::from_reader(&b"1,10:00:00,allocate,1,1,0\nbad\n"[..]).unwrap();
        assert!(TraceSummary::of(reader).unwrap_err().as_row().is_some());
    }
}
