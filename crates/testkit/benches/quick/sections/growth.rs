//! P5: how much slower an operation becomes when the population outgrows the caches.

use std::error::Error;

use super::Measured;
use crate::args::Depth;
use crate::candidate::{Candidate, OurHeap};
use crate::figure::{Figure, Goal};
use crate::peers::OffsetByAddress;
use crate::timing::{Pairs, WINDOW_STEPS, median, time};
use crate::trace::{LogUniform, Trace};

const FEW: u32 = 2_000;
/// About 1.4 TiB of address space.
const MANY: u32 = 1_000_000;
const P5_GROWTH: f64 = 4.5;

/// A population and the trace that replaces it.
struct Case {
    live: u32,
    arena_bytes: u64,
    trace: Trace,
}

impl Case {
    fn new(seed: u64, live: u32) -> Self {
        let trace = Trace::log_uniform(seed, live, live as usize + 300 * WINDOW_STEPS, LogUniform::MIXED);
        Self { live, arena_bytes: trace.roomy_arena_bytes(), trace }
    }

    /// One turn of the population is warm-up enough: more do not change the figures, and cost seconds at 1 M live.
    fn time<C: Candidate>(&self, candidate: C) -> Result<f64, Box<dyn Error>> {
        Ok(time(candidate, &self.trace, self.live as usize)?)
    }
}

/// Time per operation with few and with many live blocks. Few are timed before and after, for the clock drifts meanwhile.
fn few_and_many<C: Candidate>(
    few: &Case,
    many: &Case,
    make: impl Fn(&Case) -> Result<C, Box<dyn Error>>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let before = few.time(make(few)?)?;
    let with_many = many.time(make(many)?)?;
    let after = few.time(make(few)?)?;
    Ok((f64::midpoint(before, after), with_many))
}

/// P5: time with 1 M live blocks divided by time with 2 k.
pub(crate) fn growth(depth: Depth) -> Measured {
    let repetitions = match depth {
        Depth::Quick => 5,
        Depth::Full => 15,
    };
    let (mut our_growth, mut peer_growth, mut at_many) = (Vec::new(), Vec::new(), Pairs::default());
    for seed in 1..=repetitions {
        let (few, many) = (Case::new(seed, FEW), Case::new(seed, MANY));
        let ours = few_and_many(&few, &many, |case| Ok(OurHeap::new(case.arena_bytes)?))?;
        let peer = few_and_many(&few, &many, |case| Ok(OffsetByAddress::new(case.arena_bytes, case.live)))?;
        our_growth.push(ours.1 / ours.0);
        peer_growth.push(peer.1 / peer.0);
        at_many.push(ours.1, peer.1);
    }
    let peer = "offset-allocator + hash map";
    Ok(vec![
        Figure::new("P5", "256 B-16 MiB, ns/op at 1 M live / at 2 k live", median(our_growth))
            .against(peer, median(peer_growth))
            .with_goal(Goal::Ours(P5_GROWTH)),
        Figure::of_pair("P5", "256 B-16 MiB, 1 M live, by address, ns/op", peer, at_many.middle()),
    ])
}
