//! A plan on a pool: once while the pool grows, then timed on the warm pool.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use mempool_core::{
    Alignment, AllocError, Bytes, Device, DeviceAddress, FreeError, Pool, PoolConfig, PoolStatus,
    RawAllocation, StreamId,
};

use super::ReplayError;
use super::lagging_device::LaggingDevice;
use super::latency::Histogram;
use super::plan::{Plan, Todo};

/// What the first run shows.
#[derive(Debug)]
pub(super) struct GrowthRun {
    /// The pool's status when the most was live.
    pub(super) at_peak: PoolStatus,
    /// The pool's status at the end, before leftovers are freed.
    pub(super) at_end: PoolStatus,
    pub(super) failures: u64,
    /// Line and text of the first failure.
    pub(super) first_failure: Option<(u64, String)>,
}

/// A pool and the blocks that are live on it.
pub(super) struct PoolRuns<'a> {
    plan: &'a Plan,
    pool: Pool,
    /// By slot.
    live: Vec<Option<Live>>,
    streams: Option<TracedStreams>,
}

#[derive(Debug, Clone, Copy)]
struct Live {
    address: DeviceAddress,
    bytes: Bytes,
    /// Index of the stream that it was allocated on.
    stream: u32,
}

/// The streams of the trace, told apart.
struct TracedStreams {
    device: Arc<LaggingDevice>,
    /// By index.
    ids: Vec<StreamId>,
}

impl<'a> PoolRuns<'a> {
    /// All streams as one.
    pub(super) fn new(
        plan: &'a Plan,
        device: Arc<dyn Device>,
        config: PoolConfig,
    ) -> Result<Self, ReplayError> {
        let pool = Pool::new(device, config)?;
        Ok(Self { plan, pool, live: vec![None; plan.slots()], streams: None })
    }

    /// Each stream by itself.
    pub(super) fn as_traced(
        plan: &'a Plan,
        device: Arc<LaggingDevice>,
        config: PoolConfig,
    ) -> Result<Self, ReplayError> {
        let mut runs = Self::new(plan, Arc::clone(&device) as _, config)?;
        let add = |index| runs.pool.add_stream(LaggingDevice::stream(index));
        let ids = (0..plan.streams()).map(add).collect::<Result<_, _>>()?;
        runs.streams = Some(TracedStreams { device, ids });
        Ok(runs)
    }

    /// Runs the plan once, growing the pool as it needs.
    pub(super) fn grow(&mut self) -> Result<GrowthRun, ReplayError> {
        let mut run = GrowthRun {
            at_peak: PoolStatus::default(),
            at_end: PoolStatus::default(),
            failures: 0,
            first_failure: None,
        };
        for (done, operation) in (1..).zip(self.plan.steps()) {
            match operation.todo() {
                Todo::Allocate(size) => match self.allocate(size, operation.stream()) {
                    Ok(block) => self.keep(operation.slot(), &block, operation.stream()),
                    Err(error) => {
                        run.failures += 1;
                        run.first_failure.get_or_insert_with(|| (operation.line(), with_sources(&error)));
                    }
                },
                Todo::Free => {
                    // The slot is empty when the allocation failed.
                    if let Some(live) = self.live[operation.slot()].take() {
                        self.before_free(live, operation.stream());
                        let freed = self.free(live.address, operation.stream());
                        freed.map_err(|source| ReplayError::Free { line: operation.line(), source })?;
                    }
                }
            }
            if done == self.plan.peak_operation() {
                run.at_peak = self.pool.status();
            }
        }
        run.at_end = self.pool.status();
        self.free_leftovers()?;
        Ok(run)
    }

    /// Runs the plan once on the pool as it is and adds the time of each operation that succeeds.
    pub(super) fn time(&mut self, times: &mut Histogram) -> Result<(), ReplayError> {
        let overhead = clock_overhead_ns();
        for operation in self.plan.steps() {
            match operation.todo() {
                Todo::Allocate(size) => {
                    let start = Instant::now();
                    let block = self.allocate(size, operation.stream());
                    let ns = elapsed_ns(start);
                    if let Ok(block) = block {
                        self.keep(operation.slot(), &block, operation.stream());
                        times.add(ns.saturating_sub(overhead));
                    }
                }
                Todo::Free => {
                    if let Some(live) = self.live[operation.slot()].take() {
                        self.before_free(live, operation.stream());
                        let start = Instant::now();
                        let freed = self.free(live.address, operation.stream());
                        let ns = elapsed_ns(start);
                        freed.map_err(|source| ReplayError::Free { line: operation.line(), source })?;
                        times.add(ns.saturating_sub(overhead));
                    }
                }
            }
        }
        self.free_leftovers()
    }

    #[inline]
    fn allocate(&self, size: Bytes, stream: u32) -> Result<RawAllocation, AllocError> {
        match &self.streams {
            None => self.pool.allocate_raw(size, Alignment::ONE),
            Some(streams) => self.pool.allocate_raw_on(streams.ids[stream as usize], size, Alignment::ONE),
        }
    }

    #[inline]
    fn free(&self, address: DeviceAddress, stream: u32) -> Result<Bytes, FreeError> {
        match &self.streams {
            None => self.pool.free(address),
            Some(streams) => self.pool.free_on(address, streams.ids[stream as usize]),
        }
    }

    fn keep(&mut self, slot: usize, block: &RawAllocation, stream: u32) {
        let RawAllocation { address, bytes, .. } = *block;
        if let Some(streams) = &self.streams {
            streams.device.handed_out(address, bytes, stream);
        }
        self.live[slot] = Some(Live { address, bytes, stream });
    }

    fn before_free(&self, live: Live, stream: u32) {
        if let Some(streams) = &self.streams {
            streams.device.freed(live.address, live.bytes, live.stream, stream);
        }
    }

    fn free_leftovers(&mut self) -> Result<(), ReplayError> {
        for live in std::mem::take(&mut self.live).into_iter().flatten() {
            self.before_free(live, live.stream);
            self.free(live.address, live.stream).map_err(|source| ReplayError::Free { line: 0, source })?;
        }
        self.live.resize(self.plan.slots(), None);
        Ok(())
    }
}

#[inline]
fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What reading the clock twice adds to a time, in nanoseconds: the median of many pairs with nothing between.
fn clock_overhead_ns() -> u64 {
    let mut pairs: Vec<u64> = (0..1001).map(|_| elapsed_ns(black_box(Instant::now()))).collect();
    *pairs.select_nth_unstable(500).1
}

/// An error and what caused it, in one line.
fn with_sources(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
