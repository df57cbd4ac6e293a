//! [`TraceReader`]: an iterator over the rows of a log.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::iter::FusedIterator;
use std::ops::Range;
use std::path::Path;

use super::compressed::{Compression, is_input_error, unpack};
use super::error::{RowError, RowFault, TraceError, excerpt};
use super::header::Layout;
use super::lenient::LenientReader;
use super::lines::{Line, Lines, MAX_LINE_BYTES};
use super::parse::{Fault, parse_row};
use super::row::TraceRow;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a trace row by row, in constant memory (about 256 KiB, plus the window of the decoder, at most 128 MiB).
///
/// An iterator of `Result<TraceRow, TraceError>`. After a [`TraceError::Row`] it goes on with the next line; every other
/// error is the last item. See the [module](super) for what is accepted. `Send`, not shared between threads.
///
/// ```
/// use mempool_trace::TraceReader;
///
/// let log = "Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00.000010,allocate,0x1000,512,0\n";
/// let rows: Vec<_> = TraceReader::from_reader(log.as_bytes())?.collect::<Result<_, _>>()?;
/// assert_eq!((rows[0].pointer, rows[0].size, rows[0].line), (0x1000, 512, 2));
/// # Ok::<(), mempool_trace::TraceError>(())
/// ```
pub struct TraceReader<'a> {
    lines: Lines<'a>,
    file: String,
    compression: Compression,
    /// `None` until the first line has been seen.
    layout: Option<Layout>,
    line: u64,
    rows: u64,
    over: bool,
}

impl TraceReader<'static> {
    /// Opens a file, plain or packed.
    ///
    /// # Errors
    ///
    /// [`TraceError::Open`] when it cannot be opened, [`TraceError::Read`] when its first bytes cannot be read (a
    /// folder, for instance).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::named(name, file),
            Err(source) => Err(TraceError::Open { file: name, source }),
        }
    }
}

impl<'a> TraceReader<'a> {
    /// Reads from anything, plain or packed. Errors call it `<input>`. No buffering is needed around `input`.
    ///
    /// # Errors
    ///
    /// [`TraceError::Read`] when the first bytes cannot be read.
    pub fn from_reader(input: impl Read + Send + 'a) -> Result<Self, TraceError> {
        Self::named("<input>", input)
    }

    /// Like [`Self::from_reader`], with a name for the errors.
    ///
    /// # Errors
    ///
    /// [`TraceError::Read`] when the first bytes cannot be read.
    pub fn named(name: impl Into<String>, input: impl Read + Send + 'a) -> Result<Self, TraceError> {
        let file = name.into();
        match unpack(input) {
            Ok((compression, unpacked)) => Ok(Self {
                lines: Lines::new(unpacked),
                file,
                compression,
                layout: None,
                line: 0,
                rows: 0,
                over: false,
            }),
            Err(source) => Err(TraceError::Read { file, line: 0, source }),
        }
    }

    /// Skips bad rows instead of giving them out, counts them and remembers the first few.
    pub fn lenient(self) -> LenientReader<'a> {
        LenientReader::new(self)
    }

    /// The path as given, or the name of the input.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How the input is packed, as its first bytes tell.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Data rows so far, good and bad.
    pub fn rows_seen(&self) -> u64 {
        self.rows
    }

    /// Parses the line at `at`; `None` when it holds no data.
    #[inline]
    fn take_line(&mut self, at: Range<usize>, cut_off: bool) -> Option<Result<TraceRow, TraceError>> {
        self.line += 1;
        let bytes = without_carriage_return(self.lines.bytes(at.clone()));
        if let Some(layout) = &self.layout
            && let Ok(row) = parse_row(bytes, layout)
        {
            self.rows += 1;
            return Some(Ok(row.at(self.rows, self.line)));
        }
        self.take_special_line(at, cut_off)
    }

    /// The first line, a blank line, a further header or a bad row.
    #[cold]
    fn take_special_line(&mut self, at: Range<usize>, cut_off: bool) -> Option<Result<TraceRow, TraceError>> {
        let mut bytes = without_carriage_return(self.lines.bytes(at));
        let marked = bytes.strip_prefix(BYTE_ORDER_MARK);
        if self.line == 1 {
            bytes = marked.unwrap_or(bytes);
        }
        if bytes.is_empty() {
            return None;
        }
        match Layout::from_header(marked.unwrap_or(bytes)) {
            Ok(layout) => {
                self.layout = Some(layout);
                return None;
            }
            Err(missing) if self.layout.is_none() && !bytes[0].is_ascii_digit() => {
                self.over = true;
                let (file, excerpt) = (self.file.clone(), excerpt(bytes));
                return Some(Err(TraceError::Header { file, line: self.line, missing, excerpt }));
            }
            Err(_) => {}
        }
        self.rows += 1;
        let layout = self.layout.get_or_insert_with(Layout::without_header);
        Some(match parse_row(bytes, layout) {
            Ok(row) => Ok(row.at(self.rows, self.line)),
            Err(fault) => Err(self.row_error(fault, excerpt(bytes), cut_off)),
        })
    }

    #[cold]
    fn take_long_line(&mut self, beginning: Range<usize>) -> TraceError {
        self.line += 1;
        let excerpt = excerpt(self.lines.bytes(beginning));
        if self.layout.is_none() && !excerpt.starts_with(|c: char| c.is_ascii_digit()) {
            // No row of a log and no header starts like this: most likely another kind of file.
            self.over = true;
            let (file, missing) = (self.file.clone(), super::Column::Thread);
            return TraceError::Header { file, line: self.line, missing, excerpt };
        }
        self.rows += 1;
        self.layout.get_or_insert_with(Layout::without_header);
        let reason = RowFault::LineTooLong { limit: MAX_LINE_BYTES };
        self.row_error(Fault { column: None, reason }, excerpt, false)
    }

    fn row_error(&self, fault: Fault, excerpt: String, cut_off: bool) -> TraceError {
        TraceError::Row(Box::new(RowError {
            file: self.file.clone(),
            line: self.line,
            row: self.rows,
            column: fault.column,
            reason: fault.reason,
            excerpt,
            cut_off,
        }))
    }

    #[cold]
    fn input_error(&mut self, source: io::Error) -> TraceError {
        self.over = true;
        let (file, line, compression) = (self.file.clone(), self.line, self.compression);
        if compression == Compression::None || is_input_error(&source) {
            TraceError::Read { file, line, source }
        } else {
            TraceError::Decompress { file, compression, line, source }
        }
    }
}

#[inline]
fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl Iterator for TraceReader<'_> {
    type Item = Result<TraceRow, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            match self.lines.advance() {
                Ok(Line::Whole { at, cut_off }) => {
                    if let Some(item) = self.take_line(at, cut_off) {
                        return Some(item);
                    }
                }
                Ok(Line::TooLong(beginning)) => return Some(Err(self.take_long_line(beginning))),
                Ok(Line::End) => self.over = true,
                Err(source) => return Some(Err(self.input_error(source))),
            }
        }
        None
    }
}

impl FusedIterator for TraceReader<'_> {}

impl fmt::Debug for TraceReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReader")
            .field("file", &self.file)
            .field("compression", &self.compression)
            .field("line", &self.line)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
