//! `cargo xtask bench`: measures the pool against its peers, by the bench target of testkit.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::tidy::workspace::{self, Package};

const PACKAGE: &str = "testkit";
const TARGET: &str = "quick";

/// What to measure and how to print it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BenchOptions {
    /// How long to measure.
    pub(crate) depth: Depth,
    /// Print JSON in place of text.
    pub(crate) json: bool,
    /// Measure only the figures whose names contain this.
    pub(crate) filter: Option<String>,
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Under a minute.
    Quick,
    /// As long as steady figures need.
    Full,
}

impl BenchOptions {
    /// The arguments of the bench binary.
    fn args(&self) -> Vec<&str> {
        let mut args = vec![match self.depth {
            Depth::Quick => "--quick",
            Depth::Full => "--full",
        }];
        if self.json {
            args.push("--json");
        }
        if let Some(filter) = &self.filter {
            args.extend(["--filter", filter]);
        }
        args
    }
}

/// Runs the benchmark; false when it failed.
///
/// # Errors
///
/// When the bench target does not exist or cargo could not be started.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> anyhow::Result<bool> {
    require_target(&workspace::read(root)?)?;
    let status = Command::new("cargo")
        .args(["bench", "--quiet", "-p", PACKAGE, "--bench", TARGET, "--"])
        .args(options.args())
        .current_dir(root)
        .status()
        .context("`cargo bench` could not be started; is cargo on the PATH?")?;
    Ok(status.success())
}

/// Cargo's own message for a missing bench target lists every other one; this says what is the matter.
fn require_target(packages: &[Package]) -> anyhow::Result<()> {
    let has_target = packages
        .iter()
        .find(|package| package.name == PACKAGE)
        .is_some_and(|package| package.benches.iter().any(|bench| bench == TARGET));
    anyhow::ensure!(
        has_target,
        "crate {PACKAGE} has no bench target `{TARGET}`; \
         add crates/{PACKAGE}/benches/{TARGET}/main.rs and a [[bench]] entry with harness = false"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments_of_the_bench_binary() {
        let options = BenchOptions { depth: Depth::Full, json: true, filter: Some("P1".to_owned()) };
        assert_eq!(options.args(), ["--full", "--json", "--filter", "P1"]);
        let options = BenchOptions { depth: Depth::Quick, json: false, filter: None };
        assert_eq!(options.args(), ["--quick"]);
    }

    #[test]
    fn a_missing_bench_target_is_named() {
        let mut testkit = Package::named("testkit");
        let error = require_target(std::slice::from_ref(&testkit)).expect_err("there is no bench target");
        assert!(error.to_string().contains("crates/testkit/benches/quick/main.rs"), "{error}");
        testkit.benches.push("quick".to_owned());
        require_target(&[testkit]).expect("the bench target is there");
    }
}
