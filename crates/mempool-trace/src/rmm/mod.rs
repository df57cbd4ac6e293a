//! RMM's CSV allocation log: reader and writer.
//!
//! # Format
//!
//! One event a line, in the order in which the events happened:
//!
//! ```text
//! Thread,Time,Action,Pointer,Size,Stream
//! 4711,10:00:00.000010,allocate,0x7f3200000000,4096,0
//! 4711,10:00:00.000020,free,0x7f3200000000,4096,0
//! ```
//!
//! `Time` is a time of day without a date, so it may go back (past midnight, or between threads). `Action` is
//! `allocate`, `free` or `allocate failure`. `Pointer` is hexadecimal or `(nil)`, `Size` is decimal bytes as requested,
//! `Stream` is hexadecimal, the null stream printed as `0`.
//!
//! # What the reader accepts beyond that
//!
//! * gzip and zstd, told by their first bytes and not by the file's name, with any number of members or frames;
//! * CRLF line ends, a UTF-8 byte order mark, blank lines, no line end after the last line;
//! * no header (the first line starts with a digit), or a header with the six columns in any order and with further
//!   columns between them, which are not looked at; a header in mid-file, as left by joining two logs;
//! * pointers and streams without `0x` or with `0X`; the older time form with a colon before the microseconds.
//!
//! A file without any byte and a file with nothing but a header are traces without events, not errors: a program that
//! allocated nothing leaves such a log. Whoever expects events checks [`TraceReader::rows_seen`].
//!
//! # What is an error
//!
//! A bad row is a [`TraceError::Row`] that names file, line and column; the reader goes on with the next line when it
//! is asked to. So a strict caller stops at the first error, a lenient one uses [`TraceReader::lenient`]. All other
//! errors end the iteration.

mod compressed;
mod error;
mod header;
mod lenient;
mod lines;
mod parse;
mod reader;
mod row;
mod writer;

pub use compressed::Compression;
pub use error::{RowError, RowFault, TraceError, TraceWriteError};
pub use header::Column;
pub use lenient::{LenientReader, REMEMBERED_BAD_ROWS};
pub use lines::MAX_LINE_BYTES;
pub use reader::TraceReader;
pub use row::{Action, TimeOfDay, TraceRow};
pub use writer::RmmWriter;
