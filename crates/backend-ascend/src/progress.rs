//! How far a stream is known to have come.
//!
//! ```text
//! calls of ACL   record a     wait b        record c         ...
//! numbers                 1          2                3
//! proof of c                            2: everything up to number 2 came before c
//! ```
//!
//! # Invariants
//!
//! * P1: a number is taken after the call of ACL that it stands for has returned.
//! * P2: the proof of an event is read before the call of ACL that records it. So, whatever threads do at once, what has a
//!   number up to the proof lies before the event in the stream, and has run when the event has happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The progress of one stream.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    given: AtomicU64,
    passed: AtomicU64,
}

/// Something that a stream was given.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    progress: Arc<Progress>,
    number: u64,
}

impl Progress {
    /// Numbers what the stream has just been given (P1).
    pub(crate) fn mark(self: &Arc<Self>) -> Mark {
        // Release: who reads the number in `proof` comes after the call of ACL.
        let number = self.given.fetch_add(1, Ordering::Release) + 1;
        Mark { progress: Arc::clone(self), number }
    }

    /// What an event that is recorded next proves (P2).
    pub(crate) fn proof(&self) -> u64 {
        self.given.load(Ordering::Acquire)
    }

    /// An event with this proof has happened.
    pub(crate) fn note_passed(&self, proof: u64) {
        // Pairs with the load in `is_passed`.
        self.passed.fetch_max(proof, Ordering::Release);
    }

    /// Whether all that the stream was given is known to have run.
    pub(crate) fn is_settled(&self) -> bool {
        self.passed.load(Ordering::Acquire) >= self.proof()
    }
}

impl Mark {
    /// Whether the stream is known to have run it.
    pub(crate) fn is_passed(&self) -> bool {
        self.progress.passed.load(Ordering::Acquire) >= self.number
    }

    /// The stream's progress.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_proves_what_was_given_before_it_and_no_more() {
        let progress = Arc::new(Progress::default());
        let before = progress.mark();
        let proof = progress.proof();
        let itself = progress.mark();
        assert!(!before.is_passed() && !progress.is_settled());
        progress.note_passed(proof);
        assert!(before.is_passed() && !itself.is_passed() && !progress.is_settled());
        progress.note_passed(progress.proof());
        assert!(itself.is_passed() && progress.is_settled());
    }

    #[test]
    fn an_older_event_takes_nothing_back() {
        let progress = Arc::new(Progress::default());
        let mark = progress.mark();
        progress.note_passed(1);
        progress.note_passed(0);
        assert!(mark.is_passed());
    }
}
