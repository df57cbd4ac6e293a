//! What an engine refuses, and what it cannot wait for.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::engine::{EventId, StreamId};

/// Why a call on an [`Engine`](crate::engine::Engine) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No such stream exists (any more).
    #[error("{stream} does not exist: it was destroyed, or made by another engine")]
    UnknownStream {
        /// Stream given.
        stream: StreamId,
    },
    /// The stream takes no more work.
    #[error("{stream} is being destroyed: enqueue on another one")]
    StreamClosing {
        /// Stream given.
        stream: StreamId,
    },
    /// No such event exists (any more).
    #[error("{event} does not exist: it was destroyed, or made by another engine")]
    UnknownEvent {
        /// Event given.
        event: EventId,
    },
    /// An event has no time yet.
    #[error("{event} is not complete: record it and synchronise with it first")]
    EventNotComplete {
        /// Event given.
        event: EventId,
    },
    /// What was waited for can never happen as things stand.
    #[error("waiting for {goal} would never end; {}", StalledList(stalled))]
    Deadlock {
        /// What was waited for.
        goal: String,
        /// Streams whose next operation cannot run.
        stalled: Vec<Stalled>,
    },
    /// What was waited for did not happen in time.
    #[error("{goal} did not happen within {timeout:?}: allow more time, or look for what holds it up")]
    TimedOut {
        /// What was waited for.
        goal: String,
        /// How long was waited.
        timeout: Duration,
    },
    /// The clock of a threaded engine cannot be set.
    #[error("time passes by itself here: only an engine with a manual clock can be advanced")]
    ClockNotManual,
    /// A block has no bytes, or more than an address space.
    #[error("{size} bytes at {base:#x} are no block: give at least one byte below 2^64")]
    InvalidBlock {
        /// Where the block would start.
        base: u64,
        /// Its bytes.
        size: u64,
    },
    /// No declared block is this one.
    #[error("no declared block of {size} bytes starts at {base:#x}: retire what was declared, once")]
    UnknownBlock {
        /// Where the block would start.
        base: u64,
        /// Its bytes.
        size: u64,
    },
    /// A thread of the engine did not start.
    #[error("cannot start a thread of the engine: look at the limit of processes")]
    Thread {
        /// The operating system's answer.
        source: io::Error,
    },
}

/// A stream whose next operation cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stalled {
    /// The stream.
    pub stream: StreamId,
    /// Label of the operation.
    pub operation: Cow<'static, str>,
    /// What it waits for.
    pub reason: StallReason,
}

/// What an operation that cannot run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallReason {
    /// For a record of an event on this stream.
    Record(StreamId),
    /// For another value at this address.
    Value(u64),
    /// For a gate that is closed.
    Gate,
    /// For its own effect or callback to return: whoever waits is that, or waits for it.
    Executing,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {} ", self.operation, self.stream)?;
        match self.reason {
            StallReason::Record(stream) => write!(f, "waits for a record on {stream}"),
            StallReason::Value(address) => write!(f, "waits for another value at {address:#x}"),
            StallReason::Gate => write!(f, "waits for a gate to be opened"),
            StallReason::Executing => write!(f, "has not returned"),
        }
    }
}

struct StalledList<'a>(&'a [Stalled]);

impl fmt::Display for StalledList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "nothing is left to run");
        }
        for (index, stalled) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{stalled}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_names_every_stalled_stream_and_why() {
        let stalled =
            |number, reason| Stalled { stream: StreamId::new(number), operation: "op".into(), reason };
        let error = EngineError::Deadlock {
            goal: String::from("stream 1"),
            stalled: vec![
                stalled(1, StallReason::Record(StreamId::new(2))),
                stalled(2, StallReason::Value(0x10)),
            ],
        };
        let text = error.to_string();
        assert!(
            text.contains("\"op\" on stream 1 waits for a record on stream 2; \"op\" on stream 2"),
            "{text}"
        );
        assert!(text.contains("0x10"), "{text}");
    }
}
