//! Allocation traces on disk: read them, write them, check them, sum them up, and compare with a caching allocator.
//!
//! The format is RMM's CSV log (see [`rmm`]), so that logs of existing programs can be read as they are. Everything
//! streams: a trace of any length is read in constant memory, and the passes over it keep only what is live.
//!
//! | module | does |
//! |---|---|
//! | [`rmm`] | reads and writes the log: plain, gzip or zstd |
//! | [`live_check`] | tells row by row what is wrong with a trace: double frees, unknown frees, wrong sizes |
//! | [`summary`] | one-pass statistics: events, peak live bytes, streams |
//! | [`caching_baseline`] | what a caching allocator with a pool per stream would hold for the same trace |
//! | [`replay`] | runs a trace on a pool: what it holds, what address space it needs, how long it takes |
//! | [`recordings`] | three short recordings of real models, embedded in the crate |
//!
//! ```
//! use mempool_trace::{Recording, TraceSummary};
//!
//! let summary = TraceSummary::of(Recording::RESNET50.reader())?;
//! assert_eq!(summary.live_at_end_bytes, 0);
//! println!("{} events, peak {} bytes", summary.events, summary.peak_live_bytes);
//! # Ok::<(), mempool_trace::TraceError>(())
//! ```
//!
//! # Invariants
//!
//! * No input makes the crate panic; every refusal names the file, the line and the field.
//! * Sums of sizes are 128 bits wide, because a log may claim sizes near 2^64.

#![forbid(unsafe_code)]

pub mod caching_baseline;
pub mod live_check;
pub mod recordings;
pub mod replay;
pub mod rmm;
pub mod summary;

pub use caching_baseline::{CachingBaseline, CachingConfig, CachingReport};
pub use live_check::{Finding, FindingKind, LiveBlock, LiveCheck, LiveCounts, Step, Verdict};
pub use recordings::Recording;
pub use replay::{Plan, ReplayConfig, ReplayReport, Strictness};
pub use rmm::{
    Action, Column, Compression, LenientReader, RmmWriter, RowError, RowFault, TimeOfDay, TraceError,
    TraceReader, TraceRow, TraceWriteError,
};
pub use summary::{SummaryBuilder, TraceSummary};
