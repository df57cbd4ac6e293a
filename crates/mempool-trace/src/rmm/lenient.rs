//! [`LenientReader`]: bad rows are skipped, counted and partly remembered.

use std::iter::FusedIterator;

use super::error::{RowError, TraceError};
use super::reader::TraceReader;
use super::row::TraceRow;

/// How many bad rows a [`LenientReader`] remembers.
pub const REMEMBERED_BAD_ROWS: usize = 8;

/// A [`TraceReader`] that skips bad rows. Errors other than bad rows still come out, as the last item.
///
/// ```
/// use mempool_trace::TraceReader;
///
/// let log = "1,10:00:00.000010,free,0x10,512,0\n1,10:00:00.000020,fre\n";
/// let mut reader = TraceReader::from_reader(log.as_bytes())?.lenient();
/// assert_eq!(reader.by_ref().count(), 1);
/// assert_eq!((reader.skipped(), reader.first_skipped()[0].line), (1, 2));
/// # Ok::<(), mempool_trace::TraceError>(())
/// ```
#[derive(Debug)]
pub struct LenientReader<'a> {
    reader: TraceReader<'a>,
    skipped: u64,
    first: Vec<RowError>,
}

impl<'a> LenientReader<'a> {
    pub(super) fn new(reader: TraceReader<'a>) -> Self {
        Self { reader, skipped: 0, first: Vec::new() }
    }

    /// Bad rows so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The first bad rows, at most [`REMEMBERED_BAD_ROWS`].
    pub fn first_skipped(&self) -> &[RowError] {
        &self.first
    }

    /// The reader below, for its name and counts.
    pub fn reader(&self) -> &TraceReader<'a> {
        &self.reader
    }
}

impl Iterator for LenientReader<'_> {
    type Item = Result<TraceRow, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.next() {
                Some(Err(TraceError::Row(row))) => {
                    self.skipped += 1;
                    if self.first.len() < REMEMBERED_BAD_ROWS {
                        self.first.push(*row);
                    }
                }
                item => return item,
            }
        }
    }
}

impl FusedIterator for LenientReader<'_> {}
