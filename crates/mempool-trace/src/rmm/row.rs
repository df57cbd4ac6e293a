//! One event of a trace.

use std::fmt;

/// What an event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A block was handed out.
    Allocate,
    /// A block was given back.
    Free,
    /// A block was asked for and refused. The pointer of such a row says nothing.
    AllocateFailure,
}

impl Action {
    /// The word in the log: `allocate`, `free` or `allocate failure`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Free => "free",
            Self::AllocateFailure => "allocate failure",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A time of day with microseconds. It carries no date, so a later event may have an earlier time.
///
/// ```
/// use mempool_trace::TimeOfDay;
/// assert_eq!(TimeOfDay::from_micros(3_661_000_007).to_string(), "01:01:01.000007");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TimeOfDay(u64);

impl TimeOfDay {
    /// Microseconds of a day.
    pub const MICROS_PER_DAY: u64 = 86_400_000_000;

    /// The time `micros` microseconds after midnight; whole days are dropped.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros % Self::MICROS_PER_DAY)
    }

    /// Microseconds since midnight, below [`Self::MICROS_PER_DAY`].
    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{hour:02}:{minute:02}:{second:02}.{:06}", self.0 % 1_000_000)
    }
}

/// One event of a trace, with its place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRow {
    /// The thread that called, by the operating system's number.
    pub thread: u64,
    /// When.
    pub time: TimeOfDay,
    /// What happened.
    pub action: Action,
    /// Address of the block, 0 for `(nil)`.
    pub pointer: u64,
    /// Bytes as requested, before any rounding. May be 0.
    pub size: u64,
    /// The stream, 0 for the null stream.
    pub stream: u64,
    /// Number of the data row, from 1; bad rows count, headers and blank lines do not. 0 when not from a file.
    pub row: u64,
    /// Number of the line, from 1. 0 when not from a file.
    pub line: u64,
}

impl TraceRow {
    /// An event that comes from no file: thread 0, midnight, the null stream. For generators and tests.
    ///
    /// ```
    /// use mempool_trace::{Action, TraceRow};
    /// let row = TraceRow::new(Action::Allocate, 0x1000, 512).with_stream(3);
    /// assert_eq!((row.stream, row.line), (3, 0));
    /// ```
    pub const fn new(action: Action, pointer: u64, size: u64) -> Self {
        Self { thread: 0, time: TimeOfDay::from_micros(0), action, pointer, size, stream: 0, row: 0, line: 0 }
    }

    /// Sets [`Self::thread`].
    #[must_use]
    pub const fn with_thread(mut self, thread: u64) -> Self {
        self.thread = thread;
        self
    }

    /// Sets [`Self::time`].
    #[must_use]
    pub const fn with_time(mut self, time: TimeOfDay) -> Self {
        self.time = time;
        self
    }

    /// Sets [`Self::stream`].
    #[must_use]
    pub const fn with_stream(mut self, stream: u64) -> Self {
        self.stream = stream;
        self
    }

    /// Sets [`Self::row`] and [`Self::line`].
    #[must_use]
    pub const fn at(mut self, row: u64, line: u64) -> Self {
        self.row = row;
        self.line = line;
        self
    }
}
