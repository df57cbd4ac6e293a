//! Lines for the person who runs a program. Also used by the example `multi_model`.

use std::fmt::Display;
use std::io::Write as _;

/// Prints one line. A reader that has gone away, as in `... | head`, is no failure of the program.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
