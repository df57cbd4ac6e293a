//! Why a trace was not replayed.

use mempool_core::heap::AddArenaError;
use mempool_core::{Bytes, CreateError, FreeError, StreamError};

use super::notes::Note;
use crate::live_check::Finding;
use crate::rmm::TraceError;

/// Why a trace was not made ready for replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be read, or a row is bad.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A row makes no sense after those before it.
    #[error("trace {file:?}, {finding}; correct the trace or read it leniently")]
    Finding {
        /// The path as given, or the name of the input.
        file: String,
        /// What makes no sense.
        finding: Finding,
    },
}

impl ReadError {
    /// The path as given, or the name of the input.
    pub fn file(&self) -> &str {
        match self {
            Self::Finding { file, .. }
            | Self::Trace(
                TraceError::Open { file, .. }
                | TraceError::Read { file, .. }
                | TraceError::Decompress { file, .. }
                | TraceError::Header { file, .. },
            ) => file,
            Self::Trace(TraceError::Row(row)) => &row.file,
        }
    }

    /// The line at which reading stopped, from 1; 0 when nothing could be read.
    pub fn line(&self) -> u64 {
        match self {
            Self::Finding { finding, .. } => finding.line,
            Self::Trace(TraceError::Open { .. }) => 0,
            Self::Trace(
                TraceError::Read { line, .. }
                | TraceError::Decompress { line, .. }
                | TraceError::Header { line, .. },
            ) => *line,
            Self::Trace(TraceError::Row(row)) => row.line,
        }
    }

    /// What is wrong with the row, when it is a row that lenient reading would pass over.
    pub fn as_note(&self) -> Option<Note> {
        match self {
            Self::Finding { finding, .. } => Some(Note::Finding(*finding)),
            Self::Trace(error) => error.as_row().map(|row| Note::BadRow(row.clone())),
        }
    }
}

/// Why a replay was not finished. An allocation that fails is no error but counted in the report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The pool refused a stream of the trace.
    #[error("the pool cannot take the streams of the trace")]
    Stream(#[from] StreamError),
    /// The pool could not be built.
    #[error("the pool for the replay could not be built")]
    Create(#[from] CreateError),
    /// The pool refused to free a block that it had handed out: a fault of the pool.
    #[error("the pool refused the free on line {line}, which is a fault of the pool")]
    Free {
        /// Line of the trace, 0 for a block that was live at its end.
        line: u64,
        /// What the pool said.
        source: FreeError,
    },
    /// The bare heap refused its arena: a fault of the heap.
    #[error("a heap refused an arena of {bytes}, which is a fault of the heap")]
    Heap {
        /// Size of the arena.
        bytes: Bytes,
        /// What the heap said.
        source: AddArenaError,
    },
}
