//! [`CachingBaseline`]: what a caching allocator with a pool per stream would hold for the same trace.
//!
//! This is the yardstick for the pool: the way of the allocators in the big frameworks, simulated on addresses that do
//! not exist. Sizes are rounded up to 512 bytes. Rounded sizes up to 1 MiB are cut from segments of 2 MiB, larger ones
//! below 10 MiB from segments of 20 MiB, and from 10 MiB on a request gets a segment of its own, rounded up to 2 MiB.
//! Each stream has a pool of small and one of large blocks; the best fit is taken (smallest, then lowest), split when
//! at least 512 bytes (small) or more than 1 MiB (large) remain, and joined with its free neighbours in the segment
//! when freed. Segments are kept: what one stream holds, no other can have, and that is what the baseline shows.
//!
//! Only the row's pointer and size count, and the stream of the allocation; events and times are not modelled.
//! Rows that make no sense (see [`crate::live_check`]) are skipped and counted. Time O(log free blocks) a row.

mod segments;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mempool_core::Bytes;

use crate::rmm::{Action, TraceError, TraceRow};
use segments::{BlockId, Segments};

/// How the simulated allocator is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CachingConfig {
    /// Bytes added to each request before it is rounded.
    pub pad: Bytes,
    /// Whether all streams share one pool, as if reuse between them were always safe.
    pub shared: bool,
    /// The most that may be reserved; `None` for no limit.
    pub capacity: Option<Bytes>,
}

impl CachingConfig {
    /// A pool per stream, no padding, no limit: PyTorch's allocator for CUDA.
    pub fn per_stream() -> Self {
        Self::default()
    }

    /// Adds 32 bytes to each request, as `torch_npu` does for Ascend devices.
    #[must_use]
    pub fn with_ascend_pad(self) -> Self {
        self.with_pad(Bytes::new(32))
    }

    /// Sets [`Self::pad`].
    #[must_use]
    pub fn with_pad(mut self, pad: Bytes) -> Self {
        self.pad = pad;
        self
    }

    /// Sets [`Self::shared`].
    #[must_use]
    pub fn with_shared(mut self, shared: bool) -> Self {
        self.shared = shared;
        self
    }

    /// Sets [`Self::capacity`].
    #[must_use]
    pub fn with_capacity(mut self, capacity: Bytes) -> Self {
        self.capacity = Some(capacity);
        self
    }
}

/// What the simulated allocator holds and held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CachingReport {
    /// Bytes of segments now.
    pub reserved: Bytes,
    /// The most bytes of segments at once: the figure to compare with.
    pub peak_reserved: Bytes,
    /// Bytes in use now, padded and rounded.
    pub in_use: Bytes,
    /// The most bytes in use at once, padded and rounded.
    pub peak_in_use: Bytes,
    /// Segments now.
    pub segments: u64,
    /// Segments obtained from the device in all.
    pub segments_obtained: u64,
    /// Segments given back to the device in all, which happens only when the capacity is reached.
    pub segments_released: u64,
    /// Requests that could not be served.
    pub failures: u64,
    /// Rows that make no sense: frees of what is not live, allocations of more than 0 bytes at `(nil)` or at a live
    /// pointer (which replace the block there).
    pub odd_rows: u64,
}

/// Simulates the allocator row by row. See the [module](self).
///
/// ```
/// use mempool_core::Bytes;
/// use mempool_trace::{CachingBaseline, CachingConfig, Recording};
///
/// let report = CachingBaseline::run(CachingConfig::per_stream(), Recording::RESNET50.reader())?;
/// assert!(report.peak_reserved > Bytes::mib(188), "more than the peak of what is live");
/// # Ok::<(), mempool_trace::TraceError>(())
/// ```
#[derive(Debug)]
pub struct CachingBaseline {
    config: CachingConfig,
    segments: Segments,
    /// Live pointers. `None` is one whose request failed here, so that its free is no odd row.
    live: HashMap<u64, Option<BlockId>, RandomState>,
    failures: u64,
    odd_rows: u64,
}

impl CachingBaseline {
    /// Starts with nothing reserved.
    pub fn new(config: CachingConfig) -> Self {
        Self {
            config,
            segments: Segments::new(config.capacity),
            live: HashMap::default(),
            failures: 0,
            odd_rows: 0,
        }
    }

    /// Runs over all rows.
    ///
    /// # Errors
    ///
    /// The first error of the rows; the simulation has none.
    pub fn run(
        config: CachingConfig,
        rows: impl IntoIterator<Item = Result<TraceRow, TraceError>>,
    ) -> Result<CachingReport, TraceError> {
        let mut baseline = Self::new(config);
        for row in rows {
            baseline.apply(&row?);
        }
        Ok(baseline.report())
    }

    /// Takes the next row.
    pub fn apply(&mut self, row: &TraceRow) {
        match row.action {
            Action::Allocate | Action::Free if row.pointer == 0 => {
                self.odd_rows += u64::from(row.size > 0);
            }
            Action::Allocate => {
                if let Some(before) = self.live.remove(&row.pointer) {
                    self.odd_rows += 1;
                    self.release(before);
                }
                let stream = if self.config.shared { 0 } else { row.stream };
                let padded = row.size.checked_add(self.config.pad.get());
                let block = padded.and_then(|size| self.segments.allocate(stream, size));
                self.failures += u64::from(block.is_none());
                self.live.insert(row.pointer, block);
            }
            Action::Free => match self.live.remove(&row.pointer) {
                Some(block) => self.release(block),
                None => self.odd_rows += 1,
            },
            Action::AllocateFailure => {}
        }
    }

    fn release(&mut self, block: Option<BlockId>) {
        if let Some(block) = block {
            self.segments.free(block);
        }
    }

    /// What it holds and held so far.
    pub fn report(&self) -> CachingReport {
        let totals = self.segments.totals();
        CachingReport {
            reserved: Bytes::new(totals.reserved),
            peak_reserved: Bytes::new(totals.peak_reserved),
            in_use: Bytes::new(totals.in_use),
            peak_in_use: Bytes::new(totals.peak_in_use),
            segments: totals.obtained - totals.released,
            segments_obtained: totals.obtained,
            segments_released: totals.released,
            failures: self.failures,
            odd_rows: self.odd_rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(config: CachingConfig, rows: &[(Action, u64, u64, u64)]) -> CachingReport {
        let rows = rows.iter().map(|&(action, pointer, size, stream)| {
            Ok(TraceRow::new(action, pointer, size).with_stream(stream))
        });
        CachingBaseline::run(config, rows).unwrap()
    }

    use Action::{Allocate, Free};

    #[test]
    fn streams_do_not_share_unless_told_to() {
        let rows = [(Allocate, 1, 8 << 20, 1), (Free, 1, 8 << 20, 1), (Allocate, 2, 8 << 20, 2)];
        assert_eq!(baseline(CachingConfig::per_stream(), &rows).peak_reserved, Bytes::mib(40));
        let shared = CachingConfig::per_stream().with_shared(true);
        assert_eq!(baseline(shared, &rows).peak_reserved, Bytes::mib(20));
    }

    #[test]
    fn the_pad_pushes_a_mebibyte_out_of_the_small_pool() {
        let rows = [(Allocate, 1, 1 << 20, 0)];
        assert_eq!(baseline(CachingConfig::per_stream(), &rows).peak_reserved, Bytes::mib(2));
        let padded = CachingConfig::per_stream().with_ascend_pad();
        assert_eq!(baseline(padded, &rows).peak_reserved, Bytes::mib(20));
    }

    #[test]
    fn requests_from_10_mib_get_segments_of_their_own() {
        let below = [(Allocate, 1, (10 << 20) - 512, 0)];
        assert_eq!(baseline(CachingConfig::per_stream(), &below).peak_reserved, Bytes::mib(20));
        let at = [(Allocate, 1, 10 << 20, 0)];
        assert_eq!(baseline(CachingConfig::per_stream(), &at).peak_reserved, Bytes::mib(10));
        let above = [(Allocate, 1, (10 << 20) + 1, 0)];
        assert_eq!(baseline(CachingConfig::per_stream(), &above).peak_reserved, Bytes::mib(12));
    }

    #[test]
    fn zero_bytes_take_512_at_an_address_and_nothing_at_nil() {
        let rows = [(Allocate, 0, 0, 0), (Allocate, 1, 0, 0), (Free, 0, 0, 0)];
        let report = baseline(CachingConfig::per_stream(), &rows);
        assert_eq!((report.in_use, report.odd_rows), (Bytes::new(512), 0));
    }

    #[test]
    fn at_the_capacity_free_segments_go_back_first() {
        let config = CachingConfig::per_stream().with_capacity(Bytes::mib(20));
        let rows = [
            (Allocate, 1, 512, 1),
            (Free, 1, 512, 1),
            (Allocate, 2, 8 << 20, 2),
            (Allocate, 3, 14 << 20, 2),
            (Free, 2, 8 << 20, 2),
            (Free, 3, 14 << 20, 2),
            (Allocate, 3, 14 << 20, 3),
        ];
        let report = baseline(config, &rows);
        assert_eq!((report.failures, report.odd_rows), (1, 0), "{report:?}");
        assert_eq!((report.segments_obtained, report.segments_released), (3, 2), "{report:?}");
        assert_eq!((report.peak_reserved, report.reserved), (Bytes::mib(20), Bytes::mib(14)));
    }

    #[test]
    fn absurd_sizes_fail_and_do_not_wrap() {
        let rows = [
            (Allocate, 1, u64::MAX, 0),
            (Allocate, 2, u64::MAX - 511, 0),
            (Allocate, 3, 1 << 63, 0),
            (Allocate, 4, 1 << 63, 0),
            (Free, 1, u64::MAX, 0),
        ];
        let report = baseline(CachingConfig::per_stream(), &rows);
        assert_eq!((report.failures, report.odd_rows), (3, 0));
        assert_eq!(report.peak_reserved, Bytes::new(1 << 63));
    }

    #[test]
    fn odd_rows_are_counted_and_change_nothing_else() {
        let rows = [(Free, 9, 512, 0), (Allocate, 1, 512, 0), (Allocate, 1, 1024, 0), (Free, 1, 1024, 0)];
        let report = baseline(CachingConfig::per_stream(), &rows);
        assert_eq!((report.odd_rows, report.in_use, report.peak_in_use), (2, Bytes::ZERO, Bytes::new(1024)));
    }
}
