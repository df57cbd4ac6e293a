//! `cargo xtask soak`: threads that play on streams for minutes under the race detector, by an example of testkit.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// The options of the example, each with a value.
pub(crate) const OPTIONS: [&str; 4] = ["--minutes", "--seed", "--threads", "--streams"];

/// Runs the soak in release, with these arguments; false when it found something, which it has said.
///
/// # Errors
///
/// When cargo could not be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "-p", "testkit", "--example", "soak", "--"])
        .args(arguments)
        .current_dir(root)
        .status()
        .context("`cargo run` could not be started; is cargo on the PATH?")?;
    Ok(status.success())
}
