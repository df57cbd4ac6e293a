//! `cargo xtask sim DIR`: builds the simulated Ascend runtime and lays it out as an installation of CANN would.
//!
//! `DIR/lib64` gets `libascendcl.so` and the other names under which clients look for it; `DIR/include/acl` gets our
//! headers. A program then needs `-I DIR/include -L DIR/lib64 -lascendcl`, and `LD_LIBRARY_PATH=DIR/lib64` to start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::bindgen;
use crate::output::say;

/// The file that cargo builds.
const LIBRARY: &str = "libascendcl.so";
/// Its other names.
const OTHER_NAMES: [&str; 3] = ["libacl_rt.so", "libacl_rt_impl.so", "libacl_mdl.so"];

/// Builds, in release, and lays out; what is there already is replaced. False when the build failed.
///
/// # Errors
///
/// When cargo cannot be started, or a file cannot be written.
pub(crate) fn run(root: &Path, folder: &Path) -> anyhow::Result<bool> {
    let Some(library) = build(root)? else { return Ok(false) };
    lay_out(&library, &bindgen::headers(root), folder)?;
    say(format_args!("laid out in {0}: {0}/lib64/{LIBRARY}, {0}/include/acl", folder.display()));
    Ok(true)
}

/// The path of the built library; `None` when it does not build.
pub(crate) fn build(root: &Path) -> anyhow::Result<Option<PathBuf>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["build", "--release", "--package", "acl-sim", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        return Ok(None);
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let path = messages.lines().find_map(library_of).context("cargo did not say where it put the library")?;
    Ok(Some(path))
}

/// The library that a message of cargo names, if it names it.
fn library_of(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let files = message.get("filenames")?.as_array()?;
    let mut paths = files.iter().filter_map(|file| file.as_str()).map(PathBuf::from);
    paths.find(|path| path.file_name().is_some_and(|name| name == LIBRARY))
}

fn lay_out(library: &Path, headers: &Path, folder: &Path) -> anyhow::Result<()> {
    let (libraries, include) = (folder.join("lib64"), folder.join("include/acl"));
    for folder in [&libraries, &include] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    place(library, &libraries.join(LIBRARY))?;
    for name in OTHER_NAMES {
        let link = libraries.join(name);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link).with_context(|| format!("cannot replace {}", link.display()))?;
        }
        std::os::unix::fs::symlink(LIBRARY, &link)
            .with_context(|| format!("cannot link {}", link.display()))?;
    }
    let headers = headers.join("acl");
    for entry in fs::read_dir(&headers).with_context(|| format!("cannot read {}", headers.display()))? {
        let entry = entry?;
        place(&entry.path(), &include.join(entry.file_name()))?;
    }
    Ok(())
}

/// Copies beside the place and renames, so that programs which have the old file open keep it.
fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    let beside = to.with_extension("new");
    fs::copy(from, &beside)
        .and_then(|_| fs::rename(&beside, to))
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_among_the_messages_of_cargo() {
        let message =
            r#"{"reason":"compiler-artifact","filenames":["/t/libascendcl.so","/t/libascendcl.rlib"]}"#;
        assert_eq!(library_of(message), Some(PathBuf::from("/t/libascendcl.so")));
        assert_eq!(library_of(r#"{"reason":"compiler-artifact","filenames":["/t/liba.rlib"]}"#), None);
        assert_eq!(library_of("no json"), None);
    }
}
