//! Lines for the person who runs a task.

use std::fmt::Display;
use std::io::Write as _;

/// Prints one line. A reader that has gone away, as in `cargo xtask tidy | head`, is no failure of the task.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
