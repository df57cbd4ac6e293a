//! What can go wrong with a trace file.

use std::fmt;
use std::io;

use super::compressed::Compression;
use super::header::Column;

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be opened.
    #[error("cannot open trace {file:?}: {source}; check the path and its permissions")]
    Open {
        /// The path as given.
        file: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The file could not be read on. The rows before are good; the iteration is over.
    #[error("cannot read trace {file:?} on after line {line}: {source}")]
    Read {
        /// The path as given, or the name of the input.
        file: String,
        /// Lines read so far.
        line: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// The compressed data are damaged or cut off. The rows before are good; the iteration is over.
    #[error(
        "cannot unpack trace {file:?} ({compression}) after line {line}: {source}; \
         the file is damaged or was not written to its end"
    )]
    Decompress {
        /// The path as given, or the name of the input.
        file: String,
        /// The compression told by the first bytes.
        compression: Compression,
        /// Lines read so far.
        line: u64,
        /// The decoder's answer.
        source: io::Error,
    },
    /// The first line is neither a header nor data. The iteration is over.
    #[error(
        "trace {file:?}, line {line}: this is no header of an RMM log, column {missing} is missing in {excerpt:?}; \
         the first line must be data or hold the names Thread,Time,Action,Pointer,Size,Stream in any order"
    )]
    Header {
        /// The path as given, or the name of the input.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The first of the six names that is not there.
        missing: Column,
        /// Beginning of the line.
        excerpt: String,
    },
    /// A row is bad. The reader can be asked for the next one.
    #[error(transparent)]
    Row(#[from] Box<RowError>),
}

impl TraceError {
    /// The bad row, when it is one: the only error after which a reader goes on.
    pub fn as_row(&self) -> Option<&RowError> {
        match self {
            Self::Row(row) => Some(row),
            _ => None,
        }
    }
}

/// A row that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RowError {
    /// The path as given, or the name of the input.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// Number of the data row, from 1.
    pub row: u64,
    /// The column at fault; `None` when the line as a whole is.
    pub column: Option<Column>,
    /// What is wrong.
    pub reason: RowFault,
    /// Beginning of the line, at most [`RowError::EXCERPT_BYTES`] bytes of it, with foreign bytes replaced.
    pub excerpt: String,
    /// Whether the file ends in this line without a line end, that is, whether it was probably cut off.
    pub cut_off: bool,
}

impl RowError {
    /// Longest excerpt, in bytes of the file.
    pub const EXCERPT_BYTES: usize = 120;
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace {:?}, line {} (row {})", self.file, self.line, self.row)?;
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {} in {:?}", self.reason, self.excerpt)?;
        if self.cut_off {
            f.write_str("; the file ends here without a line end, it was probably cut off")
        } else {
            f.write_str("; correct the row or read leniently to skip it")
        }
    }
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// The line ends before this column.
    #[error("the field is missing")]
    MissingField,
    /// The line goes on after the last column that the header names.
    #[error("more fields than the {expected} that the header names")]
    TooManyFields {
        /// Columns of the header.
        expected: usize,
    },
    /// The action is not one of `allocate`, `free`, `allocate failure`.
    #[error("unknown action (allowed: allocate, free, allocate failure)")]
    UnknownAction,
    /// Not a decimal number.
    #[error("not a decimal number")]
    NotDecimal,
    /// Not a hexadecimal number and not `(nil)`.
    #[error("not a hexadecimal number or (nil)")]
    NotHexadecimal,
    /// A number above 2^64 - 1.
    #[error("the number passes 2^64 - 1")]
    NumberTooLarge,
    /// Not a time of day.
    #[error("not a time of day (HH:MM:SS.uuuuuu)")]
    NotATime,
    /// Bytes that are not UTF-8.
    #[error("the field is not UTF-8")]
    NotUtf8,
    /// The line is longer than any row can be; the rest of it was skipped.
    #[error("the line is longer than {limit} bytes")]
    LineTooLong {
        /// The longest line taken, in bytes.
        limit: usize,
    },
}

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write trace {file:?}: {source}; what is there of it is not complete")]
pub struct TraceWriteError {
    /// The path as given, or the name of the output.
    pub file: String,
    /// The system's answer.
    pub source: io::Error,
}

/// The beginning of `line` for people.
pub(super) fn excerpt(line: &[u8]) -> String {
    let cut = line.get(..RowError::EXCERPT_BYTES).unwrap_or(line);
    let mut text = String::from_utf8_lossy(cut).into_owned();
    if cut.len() < line.len() {
        text.push('…');
    }
    text
}
