//! Telling and undoing compression.

use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// How a trace file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Plain text.
    None,
    /// gzip, one or more members.
    Gzip,
    /// zstd, one or more frames.
    Zstd,
}

impl Compression {
    /// What a file of this name should be packed with: `.gz`, `.zst` or nothing. For writing only; the reader looks at
    /// the bytes.
    ///
    /// ```
    /// use mempool_trace::Compression;
    /// assert_eq!(Compression::for_path("run.csv.zst"), Compression::Zstd);
    /// assert_eq!(Compression::for_path("run.csv"), Compression::None);
    /// ```
    pub fn for_path(path: impl AsRef<Path>) -> Self {
        match path.as_ref().extension() {
            Some(end) if end.eq_ignore_ascii_case("gz") || end.eq_ignore_ascii_case("gzip") => Self::Gzip,
            Some(end) if end.eq_ignore_ascii_case("zst") || end.eq_ignore_ascii_case("zstd") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// What a file that starts with these bytes is packed with.
    pub(super) fn of_first_bytes(bytes: &[u8]) -> Self {
        match *bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or a skippable frame as some packers put first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// An error of the input itself, marked so that it can be told from an error of a decoder above it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct InputError(#[source] io::Error);

/// Passes reads on and marks errors with [`InputError`].
struct MarkErrors<R>(R);

impl<R: Read> Read for MarkErrors<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(io::Error::new(error.kind(), InputError(error)))
            }
            result => result,
        }
    }
}

/// Whether `error` came from the input and not from a decoder.
pub(super) fn is_input_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<InputError>)
}

/// Looks at the first bytes of `input` and puts the right decoder above it.
///
/// # Errors
///
/// What the input answers to the first read.
pub(super) fn unpack<'a>(
    input: impl Read + Send + 'a,
) -> io::Result<(Compression, Box<dyn Read + Send + 'a>)> {
    let mut input = MarkErrors(input);
    let mut first = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut first)?;
    let compression = Compression::of_first_bytes(&first);
    let whole = Cursor::new(first).chain(input);
    let unpacked: Box<dyn Read + Send + 'a> = match compression {
        Compression::None => Box::new(whole),
        Compression::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(64 << 10, whole)))
        }
        Compression::Zstd => Box::new(zstd::Decoder::new(whole)?),
    };
    Ok((compression, unpacked))
}
