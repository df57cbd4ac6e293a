//! One thing that a rule found, and what to do about it.

use std::fmt;

/// A place in the tree and what is wrong there. `Display` is one line, `path:line: what, and what to do`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Path from the root of the repository.
    path: String,
    /// Line, counted from 1; 1 also stands for the file as a whole.
    line: usize,
    /// What is wrong, and what to do.
    message: String,
}

impl Violation {
    /// A violation at a line, counted from 1.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// A violation of a file as a whole.
    pub(crate) fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 1, message)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Asserts in tests that exactly the lines `expected` were found: each is `path:line:` and a part of the message.
#[cfg(test)]
pub(crate) fn assert_found(violations: &[Violation], expected: &[(&str, &str)]) {
    let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), expected.len(), "found {lines:#?}");
    for (line, (place, message)) in lines.iter().zip(expected) {
        assert!(line.starts_with(&format!("{place}: ")), "{line:?} is not at {place}");
        assert!(line.contains(message), "{line:?} does not say {message:?}");
    }
}
