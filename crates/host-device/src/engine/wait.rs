//! Waiting: with a manual clock by running what is due until it has happened, with a threaded one by blocking.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use crate::clock::ClockMode;
use crate::engine::event::Recording;
use crate::engine::execute::Job;
use crate::engine::queue::{Core, Executing, is_pending};
use crate::engine::{EngineError, EventId, Shared, StreamId};

/// What somebody waits for.
#[derive(Debug)]
pub(super) enum Goal {
    /// That these operations are complete, and with them what is before them on their streams.
    Operations(Vec<(StreamId, u64)>),
    /// That a record of an event has run.
    Record(EventId, Arc<Recording>),
}

impl Goal {
    fn is_met(&self, core: &Core) -> bool {
        match self {
            Self::Operations(operations) => {
                !operations.iter().any(|&(stream, sequence)| is_pending(&core.streams, stream, sequence))
            }
            Self::Record(_, recording) => recording.done.get().is_some(),
        }
    }

    /// Whether it cannot be met before `executing` is over.
    fn needs(&self, executing: &Executing) -> bool {
        let behind = |stream, sequence| stream == executing.stream && sequence >= executing.sequence;
        match self {
            Self::Operations(operations) => {
                operations.iter().any(|&(stream, sequence)| behind(stream, sequence))
            }
            Self::Record(_, recording) => behind(recording.stream, recording.sequence),
        }
    }

    fn deadlock(&self, core: &Core) -> EngineError {
        EngineError::Deadlock { goal: self.to_string(), stalled: core.stalled() }
    }

    fn timed_out(&self, timeout: Option<Duration>) -> EngineError {
        EngineError::TimedOut { goal: self.to_string(), timeout: timeout.unwrap_or_default() }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(operations) => match operations.as_slice() {
                [(stream, _)] => write!(f, "{stream}"),
                _ => write!(f, "all streams"),
            },
            Self::Record(event, recording) => write!(f, "{event} on {}", recording.stream),
        }
    }
}

impl Shared {
    /// Returns when the goal is met, or when it never will be, or after `timeout` by the engine's clock.
    pub(super) fn wait_for(&self, goal: &Goal, timeout: Option<Duration>) -> Result<(), EngineError> {
        match self.device.clock.mode() {
            ClockMode::Manual => self.drive(goal, timeout),
            ClockMode::Threaded { .. } => self.block(goal, timeout),
        }
    }

    /// Runs what is due, earliest first, until the goal is met.
    fn drive(&self, goal: &Goal, timeout: Option<Duration>) -> Result<(), EngineError> {
        let clock = &self.device.clock;
        let deadline = timeout.map(|timeout| clock.now().saturating_add(timeout));
        let me = thread::current().id();
        let mut core = self.core.lock();
        loop {
            if goal.is_met(&core) {
                return Ok(());
            }
            if self.step(&mut core, deadline) {
                continue;
            }
            let nothing_due = core.next(&self.device, true).due.is_none();
            let mut others = core.executing.iter().map(|executing| executing.thread);
            if nothing_due && others.any(|other| other != me && !core.blocked.contains(&other)) {
                // Another thread runs what this one waits for. Others that are blocked look again whether that holds.
                core.blocked.push(me);
                self.progress.notify_all();
                self.progress.wait(&mut core);
                if let Some(index) = core.blocked.iter().position(|&thread| thread == me) {
                    core.blocked.swap_remove(index);
                }
            } else if let Some(deadline) = deadline {
                clock.advance_to(deadline);
                return Err(goal.timed_out(timeout));
            } else {
                return Err(goal.deadlock(&core));
            }
        }
    }

    /// Runs the next operation of a manual clock, if one ends by `limit`. Answers whether one did.
    pub(super) fn step(&self, core: &mut MutexGuard<'_, Core>, limit: Option<Duration>) -> bool {
        let Some((end, stream)) = core.next(&self.device, true).due else { return false };
        if limit.is_some_and(|limit| end > limit) {
            return false;
        }
        let Some(job) = core.take(stream) else { return false };
        self.device.clock.advance_to(end);
        self.run(core, job);
        true
    }

    /// Runs a taken operation, without the lock unless it is only a mark.
    pub(super) fn run(&self, core: &mut MutexGuard<'_, Core>, mut job: Job) {
        if !job.is_mark() {
            let (thread, stream, sequence) = (thread::current().id(), job.stream, job.sequence);
            core.executing.push(Executing { thread, stream, sequence });
            MutexGuard::unlocked(core, || self.hazards.add(job.execute(&self.device)));
            core.executing.retain(|running| (running.stream, running.sequence) != (stream, sequence));
        }
        core.finish(&job, self.device.now());
        self.progress.notify_all();
        self.work.notify_one();
    }

    /// Blocks until the engine's threads have met the goal.
    fn block(&self, goal: &Goal, timeout: Option<Duration>) -> Result<(), EngineError> {
        let deadline = timeout.map(|timeout| Instant::now().checked_add(timeout));
        let me = thread::current().id();
        let mut core = self.core.lock();
        loop {
            if goal.is_met(&core) {
                return Ok(());
            }
            // The device's thread cannot wait for itself, nor a callback for what comes after it.
            let mut mine = core.executing.iter().filter(|executing| executing.thread == me);
            if core.threads.device == Some(me) || mine.any(|executing| goal.needs(executing)) {
                return Err(goal.deadlock(&core));
            }
            if core.threads.callback == Some(me)
                && let Some(job) = core.callbacks.pop_front()
            {
                // Its own callback waits; others must not wait for that.
                self.run(&mut core, job);
                continue;
            }
            match deadline {
                None | Some(None) => self.progress.wait(&mut core),
                Some(Some(deadline)) => {
                    if self.progress.wait_until(&mut core, deadline).timed_out() && !goal.is_met(&core) {
                        return Err(goal.timed_out(timeout));
                    }
                }
            }
        }
    }
}
