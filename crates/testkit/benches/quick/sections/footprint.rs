//! P8: how much address space a population needs, compared with what it asked for at its peak.

use super::{Measured, live_label};
use crate::args::Depth;
use crate::candidate::{OurHeap, Placed, ReplayError, drain, fill};
use crate::figure::{Figure, Goal};
use crate::peers::{BTreeBestFit, OffsetByHandle};
use crate::timing::median;
use crate::trace::{LogUniform, Trace};

/// Live blocks.
const LIVE: [u32; 3] = [2_000, 10_000, 100_000];
/// To need no more than a search for the exact best fit on the same traces. What a trace needs differs by more than
/// policies do, so a figure without a peer beside it says little.
const BEST_FIT_RATIO: f64 = 1.0;
/// Steps of a run, at least. Longer runs move the medians by less than the seeds do.
const MIN_STEPS: usize = 400_000;
/// Steps for each live block, at least: the offset allocator has not settled before.
const MIN_TURNS: usize = 8;

/// P8: end of the highest block that ever was / peak of requested bytes.
pub(crate) fn footprint(depth: Depth) -> Measured {
    let seeds = match depth {
        Depth::Quick => 1..=7_u64,
        Depth::Full => 1..=15,
    };
    let mut figures = Vec::new();
    for live in LIVE {
        let (mut ours, mut offset, mut btree) = (vec![], vec![], vec![]);
        for seed in seeds.clone() {
            let steps = MIN_STEPS.max(MIN_TURNS * live as usize);
            let trace = Trace::log_uniform(seed, live, steps, LogUniform::MIXED);
            // Twice the peak: nobody is pressed into holes by the end of the arena.
            let arena = (2 * trace.peak_bytes()).next_multiple_of(2 << 20);
            ours.push(extent_over_peak(OurHeap::new(arena)?, &trace)?);
            offset.push(extent_over_peak(OffsetByHandle::new(arena, live), &trace)?);
            btree.push(extent_over_peak(BTreeBestFit::new(arena, live), &trace)?);
        }
        let name =
            format!("address space / peak, {}, seeds {}-{}", live_label(live), seeds.start(), seeds.end());
        let ours = median(ours);
        figures.push(
            Figure::new("P8", &name, ours)
                .against("B-tree best fit", median(btree))
                .with_goal(Goal::Ratio(BEST_FIT_RATIO)),
        );
        figures.push(Figure::new("P8", &name, ours).against("offset-allocator", median(offset)));
    }
    Ok(figures)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of which three digits are shown")]
fn extent_over_peak<C: Placed>(mut candidate: C, trace: &Trace) -> Result<f64, ReplayError> {
    let mut slots = fill(&mut candidate, trace)?;
    let mut extent = 0;
    for (&block, &bytes) in slots.iter().zip(&trace.fill) {
        extent = extent.max(candidate.end_of(block, bytes));
    }
    for step in &trace.steps {
        let slot = &mut slots[step.slot as usize];
        if !candidate.free(*slot) {
            return Err(ReplayError::FreeRefused);
        }
        *slot = candidate.allocate(step.bytes).ok_or(ReplayError::Exhausted { bytes: step.bytes })?;
        extent = extent.max(candidate.end_of(*slot, step.bytes));
    }
    drain(&mut candidate, slots)?;
    Ok(extent as f64 / trace.peak_bytes() as f64)
}
