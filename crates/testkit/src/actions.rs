//! What a caller may do with a pool, and an endless generator of such actions.

use mempool_core::{Alignment, Bytes};

use crate::shadow::Pick;

/// Something that a caller does with a pool. Free actions do nothing when nothing is live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Allocate; the request may be impossible.
    Allocate {
        /// Bytes to ask for.
        bytes: Bytes,
        /// Alignment to ask for.
        alignment: Alignment,
    },
    /// Free a live block.
    Free(Pick),
    /// Free a live block and say the right size.
    FreeSized(Pick),
    /// Try to free what cannot be freed.
    FreeWrong(WrongFree),
    /// Trim.
    Trim,
    /// Read the status.
    Status,
}

/// A free that must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongFree {
    /// An address inside a live block, this far behind its first byte (modulo its size, at least 1).
    Interior(Pick, u64),
    /// The address that was freed last, if no new block starts there.
    Again,
    /// An address that no arena ever has.
    Foreign(u64),
    /// A live block with a size that it was not allocated with.
    WrongSize(Pick),
}

/// What a generator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Sizes are log-uniform from 1 byte to this.
    pub largest: Bytes,
    /// Of four requests three ask for no alignment; the fourth for a power of two up to this.
    pub largest_alignment: Alignment,
    /// Steps of a phase. In one phase allocations prevail, in the next frees.
    pub phase: u32,
}

impl Mix {
    /// Sizes up to `largest`, alignments up to 2 MiB, phases of 200 steps.
    pub const fn up_to(largest: Bytes) -> Self {
        Self { largest, largest_alignment: Alignment::MIB_2, phase: 200 }
    }

    /// Sets [`Self::largest_alignment`].
    #[must_use]
    pub const fn with_largest_alignment(mut self, alignment: Alignment) -> Self {
        self.largest_alignment = alignment;
        self
    }

    /// Sets [`Self::phase`].
    #[must_use]
    pub const fn with_phase(mut self, steps: u32) -> Self {
        self.phase = steps;
        self
    }
}

/// An endless sequence of actions, the same for the same seed.
#[derive(Debug, Clone)]
pub struct Actions {
    random: fastrand::Rng,
    mix: Mix,
    step: u32,
}

impl Actions {
    /// The sequence of this seed.
    pub fn new(seed: u64, mix: Mix) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), mix, step: 0 }
    }

    fn request(&mut self) -> Action {
        let bytes = match self.random.u32(..500) {
            0 => Bytes::ZERO,
            1 => Bytes::new((1 << 63) + 1 - self.random.u64(..3)),
            2 => Bytes::new(u64::MAX - self.random.u64(..70)),
            _ => log_uniform(&mut self.random, self.mix.largest),
        };
        let aligned = self.random.u32(..4) == 0;
        let shift = if aligned { self.random.u32(..=self.mix.largest_alignment.get().ilog2()) } else { 0 };
        let alignment = Alignment::new(1 << shift).expect("a power of two");
        Action::Allocate { bytes, alignment }
    }

    fn pick(&mut self) -> Pick {
        match self.random.u32(..4) {
            0 => Pick::Oldest,
            1 => Pick::Newest,
            _ => Pick::Any(self.random.u64(..)),
        }
    }

    fn wrong_free(&mut self) -> WrongFree {
        match self.random.u32(..4) {
            0 => WrongFree::Again,
            1 => WrongFree::Foreign(self.random.u64(..)),
            2 => WrongFree::WrongSize(self.pick()),
            _ => WrongFree::Interior(self.pick(), self.random.u64(..)),
        }
    }
}

impl Iterator for Actions {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let filling = (self.step / self.mix.phase.max(1)).is_multiple_of(2);
        self.step = self.step.wrapping_add(1);
        let allocations = if filling { 600 } else { 380 };
        Some(match self.random.u32(..1000) {
            number if number < allocations => self.request(),
            number if number < 900 => Action::Free(self.pick()),
            number if number < 930 => Action::FreeSized(self.pick()),
            number if number < 985 => Action::FreeWrong(self.wrong_free()),
            number if number < 995 => Action::Status,
            _ => Action::Trim,
        })
    }
}

/// Log-uniform from 1 to `largest`, powers of two and their neighbours more often.
fn log_uniform(random: &mut fastrand::Rng, largest: Bytes) -> Bytes {
    let largest = largest.get().max(1);
    let power = 1_u64 << random.u32(..=largest.ilog2());
    let bytes = match random.u32(..8) {
        0 => power,
        1 => power + 1,
        2 => power.saturating_sub(1),
        _ => power + random.u64(..power),
    };
    Bytes::new(bytes.clamp(1, largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_actions() {
        let mix = Mix::up_to(Bytes::mib(4));
        let actions = |seed| Actions::new(seed, mix).take(500).collect::<Vec<_>>();
        assert_eq!(actions(7), actions(7));
        assert_ne!(actions(7), actions(8));
    }

    #[test]
    fn every_kind_of_action_comes_and_sizes_cover_the_range() {
        let actions: Vec<_> = Actions::new(1, Mix::up_to(Bytes::mib(4))).take(20_000).collect();
        let any = |wanted: fn(&Action) -> bool| assert!(actions.iter().any(wanted));
        any(|action| matches!(action, Action::Allocate { bytes, .. } if bytes.is_zero()));
        any(|action| matches!(action, Action::Allocate { bytes, .. } if *bytes > Bytes::new(1 << 62)));
        any(|action| matches!(action, Action::Allocate { bytes, .. } if *bytes == Bytes::mib(4)));
        any(|action| matches!(action, Action::Allocate { alignment, .. } if *alignment == Alignment::MIB_2));
        any(|action| matches!(action, Action::FreeWrong(WrongFree::Interior(..))));
        any(|action| matches!(action, Action::FreeWrong(WrongFree::Again)));
        any(|action| matches!(action, Action::FreeWrong(WrongFree::Foreign(_))));
        any(|action| matches!(action, Action::FreeWrong(WrongFree::WrongSize(_))));
        any(|action| matches!(action, Action::FreeSized(_)));
        any(|action| matches!(action, Action::Trim));
    }
}
