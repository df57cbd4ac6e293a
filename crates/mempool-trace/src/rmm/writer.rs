//! [`RmmWriter`]: writes the log as RMM's current logger does.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::compressed::Compression;
use super::error::TraceWriteError;
use super::row::TraceRow;

/// zstd level of written traces: its default, about 7 bytes a row of a real trace.
const ZSTD_LEVEL: i32 = 3;

/// Writes rows. Ends with [`Self::finish`]: without it a packed file lacks its end and reads as cut off.
///
/// ```
/// use mempool_trace::{Action, Compression, RmmWriter, TraceReader, TraceRow};
///
/// let mut writer = RmmWriter::new(Vec::new(), Compression::Zstd)?;
/// writer.write(&TraceRow::new(Action::Allocate, 0x1000, 512))?;
/// let file = writer.finish()?;
/// assert_eq!(TraceReader::from_reader(&file[..]).expect("bytes can be read").count(), 1);
/// # Ok::<(), mempool_trace::TraceWriteError>(())
/// ```
#[must_use = "a trace is complete only after finish()"]
pub struct RmmWriter<W: Write> {
    sink: Sink<W>,
    file: String,
    rows: u64,
}

enum Sink<W: Write> {
    Plain(BufWriter<W>),
    Gzip(BufWriter<flate2::write::GzEncoder<W>>),
    Zstd(BufWriter<zstd::Encoder<'static, W>>),
}

impl RmmWriter<File> {
    /// Creates a file, or empties it when it is there, packed as its name says ([`Compression::for_path`]), and writes
    /// the header.
    ///
    /// # Errors
    ///
    /// [`TraceWriteError`] when the file cannot be created or written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, TraceWriteError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::create(path) {
            Ok(file) => Self::named(name, file, Compression::for_path(path)),
            Err(source) => Err(TraceWriteError { file: name, source }),
        }
    }
}

impl<W: Write> RmmWriter<W> {
    /// Writes the header to `output`. Errors call it `<output>`. No buffering is needed around `output`.
    ///
    /// # Errors
    ///
    /// [`TraceWriteError`] when the output refuses.
    pub fn new(output: W, compression: Compression) -> Result<Self, TraceWriteError> {
        Self::named("<output>", output, compression)
    }

    /// Like [`Self::new`], with a name for the errors.
    ///
    /// # Errors
    ///
    /// [`TraceWriteError`] when the output refuses.
    pub fn named(
        name: impl Into<String>,
        output: W,
        compression: Compression,
    ) -> Result<Self, TraceWriteError> {
        let file = name.into();
        let opened = match compression {
            Compression::None => Ok(Sink::Plain(BufWriter::new(output))),
            Compression::Gzip => {
                let encoder = flate2::write::GzEncoder::new(output, flate2::Compression::default());
                Ok(Sink::Gzip(BufWriter::new(encoder)))
            }
            Compression::Zstd => {
                zstd::Encoder::new(output, ZSTD_LEVEL).map(|encoder| Sink::Zstd(BufWriter::new(encoder)))
            }
        };
        let sink = match opened {
            Ok(sink) => sink,
            Err(source) => return Err(TraceWriteError { file, source }),
        };
        let mut writer = Self { sink, file, rows: 0 };
        let header = writer.sink.as_write().write_all(b"Thread,Time,Action,Pointer,Size,Stream\n");
        header.map_err(|source| writer.error(source))?;
        Ok(writer)
    }

    /// Writes one row; its [`TraceRow::row`] and [`TraceRow::line`] do not matter.
    ///
    /// # Errors
    ///
    /// [`TraceWriteError`] when the output refuses. The file is not complete then.
    pub fn write(&mut self, row: &TraceRow) -> Result<(), TraceWriteError> {
        write_row(self.sink.as_write(), row).map_err(|source| self.error(source))?;
        self.rows += 1;
        Ok(())
    }

    /// Rows written so far.
    pub fn rows_written(&self) -> u64 {
        self.rows
    }

    /// Writes what is still held back and the end of the packed data, and gives the output back.
    ///
    /// # Errors
    ///
    /// [`TraceWriteError`] when the output refuses. The file is not complete then.
    pub fn finish(self) -> Result<W, TraceWriteError> {
        let output = match self.sink {
            Sink::Plain(plain) => plain.into_inner().map_err(io::IntoInnerError::into_error),
            Sink::Gzip(buffered) => {
                let encoder = buffered.into_inner().map_err(io::IntoInnerError::into_error);
                encoder.and_then(flate2::write::GzEncoder::finish)
            }
            Sink::Zstd(buffered) => {
                let encoder = buffered.into_inner().map_err(io::IntoInnerError::into_error);
                encoder.and_then(zstd::Encoder::finish)
            }
        };
        output
            .and_then(|mut output| output.flush().map(|()| output))
            .map_err(|source| TraceWriteError { file: self.file, source })
    }

    fn error(&self, source: io::Error) -> TraceWriteError {
        TraceWriteError { file: self.file.clone(), source }
    }
}

impl<W: Write> Sink<W> {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(sink) => sink,
            Self::Gzip(sink) => sink,
            Self::Zstd(sink) => sink,
        }
    }
}

fn write_row(sink: &mut dyn Write, row: &TraceRow) -> io::Result<()> {
    let TraceRow { thread, time, action, pointer, size, stream, row: _, line: _ } = row;
    write!(sink, "{thread},{time},{action},")?;
    match pointer {
        0 => write!(sink, "(nil),{size},")?,
        _ => write!(sink, "{pointer:#x},{size},")?,
    }
    match stream {
        0 => sink.write_all(b"0\n"),
        _ => writeln!(sink, "{stream:#x}"),
    }
}

impl<W: Write> fmt::Debug for RmmWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RmmWriter")
            .field("file", &self.file)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
