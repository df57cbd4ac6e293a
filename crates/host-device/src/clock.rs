//! The time of a device: counted by hand for tests, or the machine's own for programs.
//!
//! # Invariants
//!
//! * I1: time never goes back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How time passes on a device and who runs what was enqueued on its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockMode {
    /// Time stands still until a test advances it or waits for something. No thread, no sleeping: the same calls give
    /// the same history.
    #[default]
    Manual,
    /// Work runs behind the caller, on threads of the engine, by the machine's clock.
    Threaded {
        /// Whether operations take the time that they say; otherwise they take as long as their effects do.
        delays: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Clock {
    mode: ClockMode,
    origin: Instant,
    manual_ns: AtomicU64,
}

impl Clock {
    pub(crate) fn new(mode: ClockMode) -> Self {
        Self { mode, origin: Instant::now(), manual_ns: AtomicU64::new(0) }
    }

    pub(crate) fn mode(&self) -> ClockMode {
        self.mode
    }

    /// Time since the device was made.
    pub(crate) fn now(&self) -> Duration {
        match self.mode {
            ClockMode::Manual => Duration::from_nanos(self.manual_ns.load(Ordering::SeqCst)),
            ClockMode::Threaded { .. } => self.origin.elapsed(),
        }
    }

    /// Moves a manual clock on to `time` unless it is there already. It holds about 584 years.
    pub(crate) fn advance_to(&self, time: Duration) {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.manual_ns.fetch_max(time_ns, Ordering::SeqCst);
    }

    /// When the machine's clock will show `time`; `None` when that is beyond what it can show.
    pub(crate) fn instant_of(&self, time: Duration) -> Option<Instant> {
        self.origin.checked_add(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_forward_and_only_when_told() {
        let clock = Clock::new(ClockMode::Manual);
        assert_eq!(clock.now(), Duration::ZERO);
        clock.advance_to(Duration::from_millis(5));
        clock.advance_to(Duration::from_millis(3));
        assert_eq!(clock.now(), Duration::from_millis(5));
        clock.advance_to(Duration::MAX);
        assert_eq!(clock.now(), Duration::from_nanos(u64::MAX));
    }

    #[test]
    fn a_threaded_clock_cannot_be_moved_by_hand() {
        let clock = Clock::new(ClockMode::Threaded { delays: true });
        clock.advance_to(Duration::from_secs(1 << 30));
        assert!(clock.now() < Duration::from_secs(1 << 30));
        assert_eq!(clock.instant_of(Duration::MAX), None);
    }
}
