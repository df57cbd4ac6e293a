//! `cargo xtask test`: the tests, with or without the long ones.

use std::path::Path;

use crate::output::say;
use crate::step::{TEST, TEST_LONG};

/// Runs the tests with `rest` handed on to `cargo test`; false when one failed.
pub(crate) fn run(root: &Path, long: bool, rest: &[String]) -> anyhow::Result<bool> {
    let command = if long { TEST_LONG } else { TEST };
    say(format_args!(
        "xtask test: {}",
        [command.to_string()].iter().chain(rest).cloned().collect::<Vec<_>>().join(" ")
    ));
    command.run(root, rest)
}
