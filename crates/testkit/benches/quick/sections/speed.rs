//! P1 and P2: nanoseconds per operation of the core, one thread.

use super::{Measured, live_label};
use crate::args::Depth;
use crate::candidate::{Nothing, OurHeap};
use crate::figure::{Figure, Goal};
use crate::peers::{BTreeBestFit, Mimalloc, OffsetByAddress, OffsetByHandle};
use crate::timing::{Pairs, WINDOW_STEPS, median, time};
use crate::trace::{LogUniform, Trace};

/// The population for which the goals hold.
const HEADLINE_LIVE: u32 = 10_000;
const P1_RATIO: f64 = 0.70;
const P2_RATIO_HANDLE: f64 = 0.45;
const P2_RATIO_MIMALLOC: f64 = 0.50;

/// Repetitions in turns; each has a seed of its own, the same for all candidates.
fn repetitions(depth: Depth) -> u64 {
    match depth {
        Depth::Quick => 21,
        Depth::Full => 75,
    }
}

/// A trace whose population is replaced twice before the clock starts.
fn trace(seed: u64, live: u32, sizes: LogUniform) -> (Trace, usize) {
    let warm_up = 2 * live as usize;
    (Trace::log_uniform(seed, live, warm_up + 300 * WINDOW_STEPS, sizes), warm_up)
}

/// P1: sizes from 256 B to 16 MiB, freed by address.
pub(crate) fn mixed(depth: Depth) -> Measured {
    let mut figures = Vec::new();
    for live in [HEADLINE_LIVE, 2_000] {
        let (mut offset, mut btree, mut floor) = (Pairs::default(), Pairs::default(), Vec::new());
        for seed in 1..=repetitions(depth) {
            let (trace, warm_up) = trace(seed, live, LogUniform::MIXED);
            let arena = trace.roomy_arena_bytes();
            let ours = time(OurHeap::new(arena)?, &trace, warm_up)?;
            offset.push(ours, time(OffsetByAddress::new(arena, live), &trace, warm_up)?);
            // Slow, and without a goal: a third of the repetitions will do.
            if live == HEADLINE_LIVE && seed % 3 == 0 {
                btree.push(ours, time(BTreeBestFit::new(arena, live), &trace, warm_up)?);
                floor.push(time(Nothing, &trace, warm_up)?);
            }
        }
        let name = format!("256 B-16 MiB, {}, by address, ns/op", live_label(live));
        let headline = Figure::of_pair("P1", &name, "offset-allocator + hash map", offset.middle());
        if live == HEADLINE_LIVE {
            figures.push(headline.with_goal(Goal::Ratio(P1_RATIO)));
            figures.push(Figure::of_pair("P1", &name, "B-tree best fit", btree.middle()));
            let name = "replay of the trace alone, part of every speed, ns/op";
            figures.push(Figure::new("P1", name, median(floor)));
        } else {
            figures.push(headline);
        }
    }
    Ok(figures)
}

/// P2: sizes from 256 B to 32 KiB.
pub(crate) fn small(depth: Depth) -> Measured {
    let live = HEADLINE_LIVE;
    let (mut offset, mut mimalloc) = (Pairs::default(), Pairs::default());
    for seed in 1..=repetitions(depth) {
        let (trace, warm_up) = trace(seed, live, LogUniform::SMALL);
        let arena = trace.roomy_arena_bytes();
        let ours = time(OurHeap::new(arena)?, &trace, warm_up)?;
        offset.push(ours, time(OffsetByHandle::new(arena, live), &trace, warm_up)?);
        mimalloc.push(ours, time(Mimalloc, &trace, warm_up)?);
    }
    let name = format!("256 B-32 KiB, {}, ns/op", live_label(live));
    Ok(vec![
        Figure::of_pair("P2", &name, "offset-allocator by handle", offset.middle())
            .with_goal(Goal::Ratio(P2_RATIO_HANDLE)),
        Figure::of_pair("P2", &name, "mimalloc", mimalloc.middle()).with_goal(Goal::Ratio(P2_RATIO_MIMALLOC)),
    ])
}
