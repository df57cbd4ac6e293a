//! Traces: what is allocated and freed, made before any clock starts, so that a replay costs a load and a store.

/// Sizes spread evenly over the logarithm between two bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogUniform {
    /// Smallest size in bytes.
    pub(crate) min_bytes: u32,
    /// Largest size in bytes.
    pub(crate) max_bytes: u32,
}

impl LogUniform {
    /// 256 B to 16 MiB, what the goals for mixed sizes use.
    pub(crate) const MIXED: Self = Self { min_bytes: 256, max_bytes: 16 << 20 };
    /// 256 B to 32 KiB, what slabs serve.
    pub(crate) const SMALL: Self = Self { min_bytes: 256, max_bytes: 32 << 10 };

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lies between two u32")]
    fn draw(self, random: &mut fastrand::Rng) -> u32 {
        let (low, high) = (f64::from(self.min_bytes).log2(), f64::from(self.max_bytes).log2());
        (low + random.f64() * (high - low)).exp2() as u32
    }
}

/// Frees the block in a slot and allocates another in its place: two operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Whose block goes.
    pub(crate) slot: u32,
    /// Size of the new block in bytes.
    pub(crate) bytes: u32,
}

/// A population that is filled once and then replaced block by block, at random.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Sizes of the first blocks, one a slot.
    pub(crate) fill: Vec<u32>,
    /// What follows.
    pub(crate) steps: Vec<Step>,
}

impl Trace {
    /// `live` blocks of which `steps` random ones are replaced; the same for the same seed.
    pub(crate) fn new(seed: u64, live: u32, steps: usize, draw: impl Fn(&mut fastrand::Rng) -> u32) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let fill = (0..live).map(|_| draw(&mut random)).collect();
        let steps =
            (0..steps).map(|_| Step { slot: random.u32(0..live), bytes: draw(&mut random) }).collect();
        Self { fill, steps }
    }

    /// [`Self::new`] with sizes of one distribution.
    pub(crate) fn log_uniform(seed: u64, live: u32, steps: usize, sizes: LogUniform) -> Self {
        Self::new(seed, live, steps, |random| sizes.draw(random))
    }

    /// Most bytes that are live at any time, as requested.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let mut sizes = self.fill.clone();
        let mut live: u64 = sizes.iter().map(|&bytes| u64::from(bytes)).sum();
        let mut peak = live;
        for step in &self.steps {
            let size = &mut sizes[step.slot as usize];
            live = live - u64::from(*size) + u64::from(step.bytes);
            *size = step.bytes;
            peak = peak.max(live);
        }
        peak
    }

    /// Address space in which every candidate serves the trace: a quarter and some MiB above the peak.
    pub(crate) fn roomy_arena_bytes(&self) -> u64 {
        let peak = self.peak_bytes();
        (peak + peak / 4 + (128 << 20)).next_multiple_of(2 << 20)
    }
}

/// Draws from one distribution or the other, with equal chance.
pub(crate) fn either(first: LogUniform, second: LogUniform) -> impl Fn(&mut fastrand::Rng) -> u32 {
    move |random| if random.bool() { first.draw(random) } else { second.draw(random) }
}
