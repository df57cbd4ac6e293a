//! `cargo xtask bindgen [--check]`: makes `crates/acl-sys/src/bindings.rs` from the C headers beside it, or compares.
//!
//! The bindings are committed, so that only this task needs libclang. The code that calls it stands behind the cargo
//! feature `bindgen` of this crate; without it, the task runs itself again with the feature.

#[cfg(feature = "bindgen")]
mod generate;

use std::path::{Path, PathBuf};

/// The crate that the bindings belong to, from the root of the repository.
const CRATE: &str = "crates/acl-sys";

/// The folder with our own headers.
pub(crate) fn headers(root: &Path) -> PathBuf {
    root.join(CRATE).join("headers")
}

/// The committed bindings.
pub(crate) fn bindings(root: &Path) -> PathBuf {
    root.join(CRATE).join("src/bindings.rs")
}

/// Writes the bindings, or with `check` compares them with the committed ones; false when those differ.
///
/// # Errors
///
/// When libclang is missing, or a header cannot be read.
#[cfg(feature = "bindgen")]
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<bool> {
    use anyhow::Context as _;

    use crate::output;

    let path = bindings(root);
    let made = generate::generate(&headers(root))?;
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if made == committed {
        output::say(format_args!("{}: up to date", path.display()));
        return Ok(true);
    }
    if check {
        let line = made.lines().zip(committed.lines()).take_while(|(made, old)| made == old).count() + 1;
        output::say(format_args!(
            "{}:{line}: not what the headers say from here on; run `cargo xtask bindgen` and commit the result",
            path.display()
        ));
        return Ok(false);
    }
    std::fs::write(&path, made).with_context(|| format!("{} could not be written", path.display()))?;
    output::say(format_args!("{}: written", path.display()));
    Ok(true)
}

/// Runs this task again in an xtask that was built with the feature.
///
/// # Errors
///
/// When cargo could not be started, or the task could not be run.
#[cfg(not(feature = "bindgen"))]
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<bool> {
    use anyhow::Context as _;

    let mut command = std::process::Command::new("cargo");
    command.args(["run", "--quiet", "--package", "xtask", "--features", "bindgen", "--", "bindgen"]);
    if check {
        command.arg("--check");
    }
    let status = command.current_dir(root).status().context(
        "`cargo run --package xtask --features bindgen` could not be started; is cargo on the PATH?",
    )?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => anyhow::bail!("the bindings could not be made, for the reason above"),
    }
}
