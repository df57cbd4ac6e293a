//! P3 and P4: nanoseconds per operation of the thread-safe pool, one thread; and what the order of streams costs.

use super::{Measured, live_label};
use crate::args::Depth;
use crate::candidate::{drain, fill};
use crate::figure::{Figure, Goal};
use crate::peers::Mimalloc;
use crate::pool_candidates::{LockedOffset, OurPool, OurStreams};
use crate::timing::{Pairs, WINDOW_STEPS, median, replay, time};
use crate::trace::{LogUniform, Trace};

const P3_RATIO_MIMALLOC: f64 = 0.30;
const P3_RATIO_LOCKED: f64 = 0.13;
const P4_RATIO_LOCKED: f64 = 0.16;
const LIVE: u32 = 10_000;
/// Operations after which the work of a stream is done.
const LAG: u64 = 200;

fn repetitions(depth: Depth) -> u64 {
    match depth {
        Depth::Quick => 9,
        Depth::Full => 45,
    }
}

/// The sizes that three models ask for, again and again: in elements of activations, workspaces and results.
const INFERENCE_SIZES: [u32; 8] = [602_112, 3_211_264, 1_605_632, 401_408, 196_608, 4_096, 8_192, 6_422_528];

fn inference(seed: u64, live: u32, steps: usize) -> Trace {
    Trace::new(seed, live, steps, |random| INFERENCE_SIZES[random.usize(..INFERENCE_SIZES.len())])
}

/// P3: sizes up to 32 KiB. P4: inference.
pub(crate) fn thread_safe(depth: Depth) -> Measured {
    let (mut mimalloc, mut locked, mut steps) = (Pairs::default(), Pairs::default(), Pairs::default());
    for seed in 1..=repetitions(depth) {
        let warm_up = 2 * LIVE as usize;
        let trace = Trace::log_uniform(seed, LIVE, warm_up + 150 * WINDOW_STEPS, LogUniform::SMALL);
        let arena = trace.roomy_arena_bytes();
        let ours = time(OurPool::new(arena)?, &trace, warm_up)?;
        mimalloc.push(ours, time(Mimalloc, &trace, warm_up)?);
        locked.push(ours, time(LockedOffset::new(arena, LIVE), &trace, warm_up)?);
        let live = 400;
        let trace = inference(seed, live, 2_000 + 150 * WINDOW_STEPS);
        let arena = trace.roomy_arena_bytes();
        let ours = time(OurPool::new(arena)?, &trace, 2_000)?;
        steps.push(ours, time(LockedOffset::new(arena, live), &trace, 2_000)?);
    }
    let small = format!("pool, 256 B-32 KiB, {}, ns/op", live_label(LIVE));
    let with_lock = "offset-allocator+hash+Mutex";
    Ok(vec![
        Figure::of_pair("P3", &small, "mimalloc", mimalloc.middle())
            .with_goal(Goal::Ratio(P3_RATIO_MIMALLOC)),
        Figure::of_pair("P3", &small, with_lock, locked.middle()).with_goal(Goal::Ratio(P3_RATIO_LOCKED)),
        Figure::of_pair("P4", "pool, inference, 400 live, ns/op", with_lock, steps.middle())
            .with_goal(Goal::Ratio(P4_RATIO_LOCKED)),
    ])
}

/// The pool with streams against the same pool without.
pub(crate) fn stream_order(depth: Depth) -> Measured {
    let mut figures = Vec::new();
    let live = 2_000;
    for (what, streams, slack) in [
        ("one stream", 1, true),
        ("four streams, memory to spare", 4, true),
        ("four streams, 1.2 x the peak", 4, false),
    ] {
        let (mut pairs, mut waits) = (Pairs::default(), Vec::new());
        for seed in 1..=repetitions(depth) {
            let warm_up = 2 * live as usize;
            let trace = Trace::log_uniform(seed, live, warm_up + 60 * WINDOW_STEPS, LogUniform::MIXED);
            let roomy = trace.roomy_arena_bytes();
            // Roomy is below half of the limit, where streams keep their memory apart.
            let arena = if slack { 3 * roomy } else { tight(&trace) };
            let with = time(OurStreams::new(arena, streams, LAG)?, &trace, warm_up)?;
            pairs.push(with, time(OurPool::new(roomy)?, &trace, warm_up)?);
            let mut counted = OurStreams::new(arena, streams, LAG)?;
            let mut slots = fill(&mut counted, &trace)?;
            replay(&mut counted, &mut slots, &trace.steps)?;
            waits.push(counted.waits_per_thousand());
            drain(&mut counted, slots)?;
        }
        let name = format!("{what}, 256 B-16 MiB, {}, ns/op", live_label(live));
        figures.push(Figure::of_pair("order", &name, "the pool without streams", pairs.middle()));
        let name = format!("{what}: waits in 1000 operations");
        figures.push(Figure::new("order", &name, median(waits)));
    }
    Ok(figures)
}

/// A little more than what the trace needs at its peak.
fn tight(trace: &Trace) -> u64 {
    (trace.peak_bytes() * 6 / 5 + (8 << 20)).next_multiple_of(2 << 20)
}
