//! P12: what the core's books cost in host memory.

use super::{Measured, live_label};
use crate::args::Depth;
use crate::candidate::{OurHeap, drain, fill};
use crate::figure::{Figure, Goal};
use crate::timing::replay;
use crate::trace::{LogUniform, Trace, either};

const P12_SHARE: f64 = 0.002;
const LIVE: u32 = 10_000;
/// Blocks of whole pages that fit, 5 000 of them, into 2 GiB.
const LARGE: LogUniform = LogUniform { min_bytes: 64 << 10, max_bytes: 512 << 10 };

/// P12: bytes of the books / bytes of the arena, after every block was replaced about four times.
pub(crate) fn metadata(_depth: Depth) -> Measured {
    let steps = 4 * LIVE as usize;
    let mixed = Trace::log_uniform(1, LIVE, steps, LogUniform::MIXED);
    let mixed_share = share_after(&mixed, mixed.roomy_arena_bytes())?;
    let halves = Trace::new(1, LIVE, steps, either(LogUniform::SMALL, LARGE));
    let halves_share = share_after(&halves, 2 << 30)?;
    let figure = |what: &str, share| {
        let name = format!("metadata / arena, {what}, {}, seed 1", live_label(LIVE));
        Figure::new("P12", name, share).with_goal(Goal::Ours(P12_SHARE))
    };
    Ok(vec![figure("as P1", mixed_share), figure("2 GiB, half small", halves_share)])
}

fn share_after(trace: &Trace, arena_bytes: u64) -> Result<f64, Box<dyn std::error::Error>> {
    let mut heap = OurHeap::new(arena_bytes)?;
    let mut slots = fill(&mut heap, trace)?;
    replay(&mut heap, &mut slots, &trace.steps)?;
    let share = heap.metadata_share();
    drain(&mut heap, slots)?;
    Ok(share)
}
