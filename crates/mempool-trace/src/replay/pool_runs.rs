//! A plan on a pool: once while the pool grows, then timed on the warm pool.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use mempool_core::{Alignment, Device, DeviceAddress, Pool, PoolConfig, PoolStatus};

use super::ReplayError;
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
    live: Vec<Option<DeviceAddress>>,
}

impl<'a> PoolRuns<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        device: Arc<dyn Device>,
        config: PoolConfig,
    ) -> Result<Self, ReplayError> {
        Ok(Self { plan, pool: Pool::new(device, config)?, live: vec![None; plan.slots()] })
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
            let live = &mut self.live[operation.slot()];
            match operation.todo() {
                Todo::Allocate(size) => match self.pool.allocate_raw(size, Alignment::ONE) {
                    Ok(block) => *live = Some(block.address),
                    Err(error) => {
                        run.failures += 1;
                        run.first_failure.get_or_insert_with(|| (operation.line(), with_sources(&error)));
                    }
                },
                Todo::Free => {
                    // The slot is empty when the allocation failed.
                    if let Some(address) = live.take() {
                        let freed = self.pool.free(address);
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
            let live = &mut self.live[operation.slot()];
            match operation.todo() {
                Todo::Allocate(size) => {
                    let start = Instant::now();
                    let block = self.pool.allocate_raw(size, Alignment::ONE);
                    let ns = elapsed_ns(start);
                    if let Ok(block) = block {
                        *live = Some(block.address);
                        times.add(ns.saturating_sub(overhead));
                    }
                }
                Todo::Free => {
                    if let Some(address) = live.take() {
                        let start = Instant::now();
                        let freed = self.pool.free(address);
                        let ns = elapsed_ns(start);
                        freed.map_err(|source| ReplayError::Free { line: operation.line(), source })?;
                        times.add(ns.saturating_sub(overhead));
                    }
                }
            }
        }
        self.free_leftovers()
    }

    fn free_leftovers(&mut self) -> Result<(), ReplayError> {
        for address in self.live.iter_mut().filter_map(Option::take) {
            self.pool.free(address).map_err(|source| ReplayError::Free { line: 0, source })?;
        }
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
