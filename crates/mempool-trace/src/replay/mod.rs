//! Replay of a trace on a [`Pool`](mempool_core::Pool): what the pool holds, what it needs, and how long it takes.
//!
//! ```
//! use mempool_core::{FitPolicy, PoolConfig};
//! use mempool_trace::Recording;
//! use mempool_trace::replay::{Plan, ReplayConfig, Strictness, replay};
//!
//! let plan = Plan::read(Recording::RESNET50.reader(), Strictness::Strict)?;
//! let config = ReplayConfig::new(PoolConfig::builder().policy(FitPolicy::BestFit).build()?).with_repeat(1);
//! let report = replay(&plan, &config)?;
//! assert_eq!(report.failures, 0);
//! println!("{} reserved for {} live", report.peak_reserved, report.peak_live);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is measured
//!
//! | run | on | gives |
//! |---|---|---|
//! | growth | a new pool on an [`AddressDevice`] | peak reserved, failures, fragmentation when the most is live |
//! | address space | a bare heap in one arena that never ends | the space that the fit policy needs |
//! | timing, repeated | the pool of the growth run, now warm | the time of each allocation and free |
//!
//! Memory is addresses only: a recording of a 20 GiB card replays on any machine.
//!
//! # Limits
//!
//! One thread. With [`Streams::AsOne`] a freed block is reused at once, whichever stream freed it. With [`Streams::AsTraced`] the pool
//! keeps the order of the streams on a device whose work runs behind by a number of operations, under a race detector.

mod address_space;
mod error;
mod lagging_device;
mod latency;
mod notes;
mod plan;
mod pool_runs;

use std::sync::Arc;

use mempool_core::{AddressDevice, Bytes, FitPolicy, PoolConfig, PoolStatus};

pub use error::{ReadError, ReplayError};
pub use latency::Latency;
pub use notes::{Note, Notes, REMEMBERED_NOTES, Strictness};
pub use plan::{Plan, PlanBuilder};

use lagging_device::LaggingDevice;
use latency::Histogram;
use pool_runs::PoolRuns;

/// Bytes of the card, unless a capacity is given: one that is never full.
pub const UNLIMITED_CAPACITY: Bytes = Bytes::gib(1024);

/// How often a plan is timed, unless told otherwise.
pub const DEFAULT_REPEAT: u32 = 3;

/// How far the work of streams runs behind, in operations, unless told otherwise.
pub const DEFAULT_LAG: u64 = 200;

/// Whether the streams of a trace are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// All as one: a freed block is reused at once.
    #[default]
    AsOne,
    /// As the trace names them. What a stream is given is done `lag` operations of the trace later.
    AsTraced {
        /// Operations of the trace.
        lag: u64,
    },
}

/// How to replay.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayConfig {
    /// What the pool is told.
    pub pool: PoolConfig,
    /// Bytes of the card; `None` for [`UNLIMITED_CAPACITY`].
    pub capacity: Option<Bytes>,
    /// How often the plan is timed, 0 for not at all.
    pub repeat: u32,
    /// Whether streams are told apart.
    pub streams: Streams,
}

impl ReplayConfig {
    /// A pool configured so, on a card that is never full, timed [`DEFAULT_REPEAT`] times.
    pub fn new(pool: PoolConfig) -> Self {
        Self { pool, capacity: None, repeat: DEFAULT_REPEAT, streams: Streams::AsOne }
    }

    /// Sets [`Self::capacity`].
    #[must_use]
    pub fn with_capacity(mut self, capacity: Option<Bytes>) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets [`Self::repeat`].
    #[must_use]
    pub fn with_repeat(mut self, repeat: u32) -> Self {
        self.repeat = repeat;
        self
    }

    /// Sets [`Self::streams`].
    #[must_use]
    pub fn with_streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// Runs over the plan that a replay makes, for a progress bar.
    pub fn passes(&self) -> u32 {
        self.repeat.saturating_add(2)
    }
}

/// What a replay shows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The fit policy of the pool.
    pub policy: FitPolicy,
    /// Good rows of the trace.
    pub events: u64,
    /// Allocations and frees among them that ask a pool for something.
    pub operations: usize,
    /// The most bytes live at once, as requested: what any allocator must hold.
    pub peak_live: Bytes,
    /// The most bytes that the pool held on the device.
    pub peak_reserved: Bytes,
    /// Address space that the policy needs in one arena without an end. `None` when that is more than 512 GiB; single blocks
    /// that large are left out.
    pub address_space: Option<Bytes>,
    /// Allocations that the pool refused.
    pub failures: u64,
    /// Line and text of the first of these.
    pub first_failure: Option<(u64, String)>,
    /// The pool when the most was live.
    pub at_peak: PoolStatus,
    /// The pool after the last row.
    pub at_end: PoolStatus,
    /// Times of the operations that succeeded, over all timed runs.
    pub latency: Latency,
    /// What keeping the order of streams took, where they are told apart.
    pub stream_order: Option<StreamFigures>,
}

/// What keeping the order of streams took, in the run that grows the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamFigures {
    /// Streams of the trace.
    pub streams: u32,
    /// Waits of one stream for another that the pool put in.
    pub waits: u64,
    /// Events that the pool recorded.
    pub events: u64,
    /// Blocks handed out before other streams' work on them was done, in all runs: 0, or the pool has a fault.
    pub races: u64,
    /// The first of them in words.
    pub first_race: Option<String>,
}

impl ReplayReport {
    /// Peak reserved / peak live; 0 when nothing was ever live.
    pub fn reserved_ratio(&self) -> f64 {
        self.peak_reserved.ratio_of(self.peak_live)
    }

    /// Address space / peak live; 0 when nothing was ever live, `None` when the address space is not known.
    pub fn address_ratio(&self) -> Option<f64> {
        self.address_space.map(|bytes| bytes.ratio_of(self.peak_live))
    }

    /// Share of the free bytes that was not in the longest free run when the most was live, from 0 to 1.
    pub fn fragmentation(&self) -> f64 {
        self.at_peak.fragmentation()
    }
}

/// Replays a plan.
///
/// All figures but the times are the same in every run.
///
/// # Errors
///
/// [`ReplayError`]: the pool cannot be built as configured, or it has a fault. An allocation that fails is counted.
///
/// # Complexity
///
/// O(operations x (2 + repeat)).
pub fn replay(plan: &Plan, config: &ReplayConfig) -> Result<ReplayReport, ReplayError> {
    replay_with(plan, config, || {})
}

/// The same, calling `passed` after each of the [`ReplayConfig::passes`].
///
/// # Errors
///
/// As [`replay`].
pub fn replay_with(
    plan: &Plan,
    config: &ReplayConfig,
    mut passed: impl FnMut(),
) -> Result<ReplayReport, ReplayError> {
    let policy = config.pool.policy();
    let capacity = config.capacity.unwrap_or(UNLIMITED_CAPACITY);
    let (mut runs, lagging) = match config.streams {
        Streams::AsOne => {
            (PoolRuns::new(plan, Arc::new(AddressDevice::new(capacity)), config.pool.clone())?, None)
        }
        Streams::AsTraced { lag } => {
            let device = Arc::new(LaggingDevice::new(capacity, plan.streams() as usize, lag));
            (PoolRuns::as_traced(plan, Arc::clone(&device), config.pool.clone())?, Some(device))
        }
    };
    let growth = runs.grow()?;
    passed();
    let mut times = Histogram::new();
    for _ in 0..config.repeat {
        runs.time(&mut times)?;
        passed();
    }
    let address_space = address_space::needed(plan, policy)?;
    passed();
    let stream_order = lagging.map(|device| {
        let (races, first_race) = device.races();
        let counters = growth.at_end.counters;
        let (waits, events) = (counters.waits, counters.events);
        StreamFigures { streams: plan.streams(), waits, events, races, first_race }
    });
    Ok(ReplayReport {
        policy,
        events: plan.events(),
        operations: plan.operations(),
        peak_live: plan.peak_live(),
        peak_reserved: growth.at_end.total_high_water,
        address_space,
        failures: growth.failures,
        first_failure: growth.first_failure,
        at_peak: growth.at_peak,
        at_end: growth.at_end,
        latency: times.summary(),
        stream_order,
    })
}
