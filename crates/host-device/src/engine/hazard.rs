//! Reports of memory that was touched when it should not have been, with both histories.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;

use crate::identity::{Life, Place};

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HazardKind {
    /// An operation ran when its memory had been freed or unmapped, and nothing lives there now.
    UseAfterFree,
    /// An operation ran when its memory belonged to a newer allocation or mapping than when it was enqueued.
    NewerAllocation,
    /// An operation ran on memory that was not live when it was enqueued.
    NotLive,
    /// An operation was enqueued on a stream for which its block was not declared.
    StreamNotDeclared,
    /// An operation was enqueued on a block that its owner had retired.
    RetiredBlock,
    /// A block was declared while operations of the former owner were pending after which the new owner's stream is
    /// not ordered.
    HandedOutEarly,
    /// An operation was enqueued that is not ordered after pending operations of the block's former owner.
    RaceWithFormerOwner,
    /// A block was declared over another one that was not retired.
    OverlappingBlocks,
    /// An operation could not reach its memory for another reason.
    AccessFailed,
    /// The closure of an operation panicked.
    Panicked,
}

impl HazardKind {
    fn words(self) -> &'static str {
        match self {
            Self::UseAfterFree => "use of freed memory",
            Self::NewerAllocation => "use of memory that belongs to a newer allocation",
            Self::NotLive => "use of memory that was not live",
            Self::StreamNotDeclared => "use of a block on a stream it was not declared for",
            Self::RetiredBlock => "use of a retired block",
            Self::HandedOutEarly => "block handed out before its former owner was done",
            Self::RaceWithFormerOwner => "use of a block that is not ordered after its former owner's",
            Self::OverlappingBlocks => "block handed out that another owner holds",
            Self::AccessFailed => "failed access",
            Self::Panicked => "panic in an operation",
        }
    }
}

/// A report of a misuse that real hardware would not have noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hazard {
    /// What went wrong.
    pub kind: HazardKind,
    /// First address touched or declared.
    pub address: u64,
    /// Bytes touched or declared.
    pub length: u64,
    /// Where the operation was enqueued, or the block declared.
    pub user: Place,
    /// When it was noticed: for operations, when they ran; for blocks, when they were enqueued or declared.
    pub found_at: Duration,
    /// What the memory was for the user, or the former owner: where it was obtained and given back.
    pub before: Option<Life>,
    /// What the memory is now.
    pub after: Option<Life>,
    /// More words; may be empty.
    pub detail: Cow<'static, str>,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, address, length, user, found_at, .. } = self;
        write!(f, "{}: {length} bytes at {address:#x} by {user}, noticed at {found_at:?}", kind.words())?;
        if let Some(before) = &self.before {
            write!(f, "; it was {before}")?;
        }
        if let Some(after) = &self.after {
            write!(f, "; it is {after}")?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, "; {}", self.detail) }
    }
}

/// The last reports, and how many there were.
#[derive(Debug, Default)]
pub(super) struct HazardLog(Mutex<(VecDeque<Hazard>, u64)>);

impl HazardLog {
    /// How many reports are kept.
    const KEPT: usize = 4096;

    pub(super) fn add(&self, hazards: impl IntoIterator<Item = Hazard>) {
        let mut log = self.0.lock();
        for hazard in hazards {
            if log.0.len() == Self::KEPT {
                log.0.pop_front();
            }
            log.0.push_back(hazard);
            log.1 += 1;
        }
    }

    pub(super) fn kept(&self) -> Vec<Hazard> {
        self.0.lock().0.iter().cloned().collect()
    }

    pub(super) fn take(&self) -> Vec<Hazard> {
        std::mem::take(&mut self.0.lock().0).into()
    }

    pub(super) fn count(&self) -> u64 {
        self.0.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Site;

    fn hazard(address: u64) -> Hazard {
        let user = Place { site: Site::from("kernel"), at: Duration::from_nanos(1) };
        let began = Place { site: Site::from("load"), at: Duration::ZERO };
        let before = Life { generation: 1, base: address, size: 8, began, ended: Some(user.clone()) };
        Hazard {
            kind: HazardKind::UseAfterFree,
            address,
            length: 4,
            user,
            found_at: Duration::from_nanos(2),
            before: Some(before),
            after: None,
            detail: Cow::Borrowed(""),
        }
    }

    #[test]
    fn the_newest_reports_are_kept_and_all_are_counted() {
        let log = HazardLog::default();
        let count = HazardLog::KEPT as u64 + 1;
        log.add((0..count).map(hazard));
        assert_eq!((log.kept().len(), log.count()), (HazardLog::KEPT, count));
        assert_eq!(log.take()[0].address, 1);
        assert_eq!((log.kept().len(), log.count()), (0, count));
    }

    #[test]
    fn a_report_names_both_places() {
        let text = hazard(16).to_string();
        assert_eq!(
            text,
            "use of freed memory: 4 bytes at 0x10 by \"kernel\" at 1ns, noticed at 2ns; it was 8 bytes at 0x10, \
             obtained by \"load\" at 0ns, given back by \"kernel\" at 1ns"
        );
    }
}
