//! Names of streams and events: numbers that are never used again on an engine.

use std::fmt;

/// A stream of an engine. Numbers are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u64);

impl StreamId {
    /// The stream with this number, for callers that keep plain numbers.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number, at least 1.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {}", self.0)
    }
}

/// An event of an engine. Numbers are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u64);

impl EventId {
    /// The event with this number, for callers that keep plain numbers.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number, at least 1.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}", self.0)
    }
}
