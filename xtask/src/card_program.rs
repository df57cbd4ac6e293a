//! Programs of backend-ascend that work with a card, or with the simulator in its place. They are examples of that crate, so that
//! xtask itself needs no ACL.
//!
//! Cargo puts its own folders before those in which the system looks for libraries, and there lies the simulator, which the
//! tests need. So a program is built by cargo but started without cargo's folders: a machine without a card must not seem to
//! have one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::output::say;
use crate::sim;

const PACKAGE: &str = "backend-ascend";
/// Where a program looks for ACL, and nowhere else if it is set.
const LIBRARY_VARIABLE: &str = "ASCEND_MEMPOOL_ACL_LIBRARY";
/// Where the system looks for libraries first.
const SEARCH_VARIABLE: &str = "LD_LIBRARY_PATH";
/// What a program that was ended by a signal counts as: something is wrong.
const ENDED_BY_SIGNAL: u8 = 1;

/// On what a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    /// The card of this machine, by the ACL that is installed.
    Real,
    /// The simulator, built first.
    Simulated,
}

/// Builds the example and runs it; answers its exit code. It has said what was the matter.
///
/// # Errors
///
/// When a program could not be built or started.
pub(crate) fn run(root: &Path, example: &str, card: Card, arguments: &[OsString]) -> anyhow::Result<u8> {
    let program = build(root, example)?;
    let mut command = Command::new(&program);
    command.args(arguments);
    // DIR/release/examples/NAME
    let built = program.ancestors().nth(3).unwrap_or(root);
    if let Some(search) = std::env::var_os(SEARCH_VARIABLE) {
        command.env(SEARCH_VARIABLE, without_folder(&search, built)?);
    }
    if card == Card::Simulated {
        let library = sim::build(root)?.context("the simulator does not build; cargo said why")?;
        command.env(LIBRARY_VARIABLE, library);
    }
    let status = command.status().with_context(|| format!("{} could not be started", program.display()))?;
    if status.code().is_none() {
        say(format_args!("{} ended by {status}", program.display()));
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(ENDED_BY_SIGNAL))
}

/// The path of the built example.
fn build(root: &Path, example: &str) -> anyhow::Result<PathBuf> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["build", "--quiet", "--release", "--package", PACKAGE, "--example", example])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("`cargo build` could not be started; is cargo on the PATH?")?;
    anyhow::ensure!(output.status.success(), "the example {example} does not build; cargo said why");
    let messages = String::from_utf8_lossy(&output.stdout);
    let path = messages.lines().find_map(|message| program_of(message, example));
    path.with_context(|| format!("cargo did not say where it put the example {example}"))
}

/// The program of an example that a message of cargo names, if it names it.
fn program_of(message: &str, example: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let is_it = message.pointer("/target/name")?.as_str() == Some(example);
    message.get("executable")?.as_str().filter(|_| is_it).map(PathBuf::from)
}

/// A list of folders without those below `folder`.
fn without_folder(list: &OsStr, folder: &Path) -> anyhow::Result<OsString> {
    let kept = std::env::split_paths(list).filter(|path| !path.starts_with(folder));
    std::env::join_paths(kept).context("a folder of LD_LIBRARY_PATH has a colon in its name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_the_messages_of_cargo() {
        let message = r#"{"target":{"name":"demo"},"executable":"/t/release/examples/demo"}"#;
        assert_eq!(program_of(message, "demo"), Some(PathBuf::from("/t/release/examples/demo")));
        assert_eq!(program_of(message, "other"), None);
        assert_eq!(program_of(r#"{"target":{"name":"demo"},"executable":null}"#, "demo"), None);
    }

    #[test]
    fn folders_of_cargo_are_not_searched_for_libraries() -> anyhow::Result<()> {
        let list = OsString::from("/t/debug/deps:/opt/cann/lib64:/t/debug:/tt");
        assert_eq!(without_folder(&list, Path::new("/t"))?, OsString::from("/opt/cann/lib64:/tt"));
        Ok(())
    }
}
