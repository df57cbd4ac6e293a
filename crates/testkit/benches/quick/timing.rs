//! The clock: one replay of one candidate, and sums over several.

use std::time::Instant;

use crate::candidate::{Candidate, ReplayError, drain, fill};
use crate::trace::{Step, Trace};

/// Steps between two looks at the clock: 1 024 operations, short enough that most windows see no other tenant.
pub(crate) const WINDOW_STEPS: usize = 512;

/// Nanoseconds per operation of `candidate` on `trace`, after its first `warm_up` steps: the 25th percentile of the windows.
pub(crate) fn time<C: Candidate>(
    mut candidate: C,
    trace: &Trace,
    warm_up: usize,
) -> Result<f64, ReplayError> {
    let mut slots = fill(&mut candidate, trace)?;
    let (warm_up, timed) = trace.steps.split_at(warm_up.min(trace.steps.len()));
    replay(&mut candidate, &mut slots, warm_up)?;
    let mut windows = Vec::with_capacity(timed.len() / WINDOW_STEPS);
    for window in timed.chunks_exact(WINDOW_STEPS) {
        let start = Instant::now();
        replay(&mut candidate, &mut slots, window)?;
        windows.push(start.elapsed().as_secs_f64() * 1e9 / (2.0 * count(WINDOW_STEPS)));
    }
    drain(&mut candidate, slots)?;
    Ok(quantile(&mut windows, 0.25))
}

/// The same machine code for every candidate but for what it inlines.
#[inline(never)]
pub(crate) fn replay<C: Candidate>(
    candidate: &mut C,
    slots: &mut [C::Block],
    steps: &[Step],
) -> Result<(), ReplayError> {
    for step in steps {
        let block = &mut slots[step.slot as usize];
        if !candidate.free(*block) {
            return Err(ReplayError::FreeRefused);
        }
        *block = candidate.allocate(step.bytes).ok_or(ReplayError::Exhausted { bytes: step.bytes })?;
    }
    Ok(())
}

/// Measurements of ours and of a peer, taken one after the other.
///
/// A machine whose speed drifts over seconds changes both halves of a pair alike, so pairs are compared within themselves.
#[derive(Debug, Default)]
pub(crate) struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    /// Adds what ours and the peer took in one repetition.
    pub(crate) fn push(&mut self, ours: f64, peer: f64) {
        self.0.push((ours, peer));
    }

    /// The pair with the median ratio; NaN of nothing.
    pub(crate) fn middle(mut self) -> (f64, f64) {
        self.0.sort_by(|a, b| f64::total_cmp(&(a.0 / a.1), &(b.0 / b.1)));
        self.0.get(self.0.len() / 2).copied().unwrap_or((f64::NAN, f64::NAN))
    }
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}

/// The value below which the share `at` lies; NaN of nothing.
fn quantile(values: &mut [f64], at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index into a short list")]
    let index = (count(values.len().saturating_sub(1)) * at).round() as usize;
    values.get(index).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}
