//! The checks of this repository, in the order in which `cargo xtask ci` runs them.
//!
//! This table is the only place that holds their command lines.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::tidy;

/// One check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// What `cargo xtask ci NAME` calls it.
    pub(crate) name: &'static str,
    /// How it is done.
    pub(crate) action: Action,
}

/// How a check is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// By cargo, in the root of the workspace.
    Cargo(Cargo),
    /// By [`tidy::run`], in this process.
    Tidy,
}

/// A call of cargo. `Display` writes it as a person would type it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cargo {
    /// Variables set for the call, beside those of the caller.
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// What follows `cargo`.
    pub(crate) args: &'static [&'static str],
}

/// The tests, as the README gives them.
pub(crate) const TEST: Cargo = Cargo { env: &[], args: &["test", "--workspace"] };

/// The tests with the long property tests, in release, because those run a million operations.
pub(crate) const TEST_LONG: Cargo =
    Cargo { env: &[("MEMPOOL_TEST_LONG", "1")], args: &["test", "--workspace", "--release"] };

/// Every check, in order.
pub(crate) static ALL: &[Step] = &[
    Step { name: "fmt", action: Action::Cargo(Cargo { env: &[], args: &["fmt", "--all", "--check"] }) },
    Step {
        name: "lint",
        action: Action::Cargo(Cargo {
            env: &[],
            args: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        }),
    },
    Step {
        name: "doc",
        action: Action::Cargo(Cargo {
            env: &[("RUSTDOCFLAGS", "-Dwarnings")],
            args: &["doc", "--workspace", "--no-deps"],
        }),
    },
    Step { name: "tidy", action: Action::Tidy },
    Step { name: "test", action: Action::Cargo(TEST) },
    // Its flag changes every crate below, so it has a folder of its own.
    Step {
        name: "models",
        action: Action::Cargo(Cargo {
            env: &[("RUSTFLAGS", "--cfg shuttle")],
            args: &[
                "test",
                "--release",
                "--package",
                "mempool-core",
                "--lib",
                "models",
                "--target-dir",
                "target/models",
            ],
        }),
    },
];

/// The step of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static Step> {
    ALL.iter().find(|step| step.name == name)
}

impl Step {
    /// Runs the check; `Ok(false)` means that it found something, which it has printed.
    ///
    /// # Errors
    ///
    /// When the check could not be started.
    pub(crate) fn run(&self, root: &Path) -> anyhow::Result<bool> {
        match &self.action {
            Action::Cargo(cargo) => cargo.run(root, &[]),
            Action::Tidy => tidy::run(root),
        }
    }

    /// The command that does this check alone.
    pub(crate) fn command_line(&self) -> String {
        match &self.action {
            Action::Cargo(cargo) => cargo.to_string(),
            Action::Tidy => "cargo xtask tidy".to_owned(),
        }
    }
}

impl Cargo {
    /// Runs the call in `root` with `more` arguments at its end. `Ok(false)` means that cargo was not content.
    ///
    /// # Errors
    ///
    /// When cargo could not be started.
    pub(crate) fn run(&self, root: &Path, more: &[String]) -> anyhow::Result<bool> {
        let status = Command::new("cargo")
            .args(self.args)
            .args(more)
            .envs(self.env.iter().copied())
            .current_dir(root)
            .status()
            .with_context(|| format!("`{self}` could not be started; is cargo on the PATH?"))?;
        Ok(status.success())
    }
}

impl fmt::Display for Cargo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.env {
            write!(f, "{name}={value} ")?;
        }
        write!(f, "cargo {}", self.args.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_command_line_is_what_a_person_would_type() {
        let doc = by_name("doc").expect("the docs are checked");
        assert_eq!(doc.command_line(), "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps");
        assert_eq!(TEST_LONG.to_string(), "MEMPOOL_TEST_LONG=1 cargo test --workspace --release");
    }

    #[test]
    fn names_are_unique_and_what_takes_long_comes_last() {
        let names: Vec<_> = ALL.iter().map(|step| step.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(names, ["fmt", "lint", "doc", "tidy", "test", "models"]);
        assert_eq!(by_name("nothing"), None);
    }
}
