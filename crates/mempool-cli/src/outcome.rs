//! How a command ends, and how it speaks on stderr.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command ends; the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// The work was done and found something: an allocation that failed, a leak.
    Finding,
    /// Some of the work could not be done; why was told already.
    Failure,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Finding => Self::from(1),
            Outcome::Failure => Self::from(2),
        }
    }
}

/// Writes a line to stderr. When that is closed nobody wants to know.
pub(crate) fn tell(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_outcome_is_the_greatest() {
        assert_eq!(Outcome::Fine.max(Outcome::Finding).max(Outcome::Failure), Outcome::Failure);
    }
}
