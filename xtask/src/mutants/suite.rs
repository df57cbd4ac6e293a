//! The suites that are asked about mutants: building one, running it within a time limit, and reading what failed.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// Longer than any suite takes by far. A mutant that hangs is caught.
const TIME_LIMIT: Duration = Duration::from_mins(5);
/// How often a running suite is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Random tests take the same numbers in every run, unless the caller names others: a mutant that is caught stays caught.
const SEED: (&str, &str) = ("MEMPOOL_TEST_SEED", "1");

/// A test target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suite {
    /// The tests beside the code of the core.
    Core,
    /// Memory that goes from stream to stream, under the race detector.
    StreamOrder,
    /// How often streams wait.
    StreamWaits,
    /// What users ran into.
    StreamBugLog,
    /// Random actions on streams, and threads.
    StreamActions,
    /// What comes in between the device calls for streams.
    StreamCalls,
    /// Joining what streams have passed.
    StreamJoins,
}

/// What came of building a suite.
pub(super) enum Built {
    Program(PathBuf),
    Errors,
}

/// What came of running it.
pub(super) enum Ran {
    Passed,
    /// The first test that failed, or that time ran out.
    Failed(String),
}

impl Suite {
    fn package(self) -> &'static str {
        match self {
            Self::Core => "mempool-core",
            Self::StreamOrder
            | Self::StreamWaits
            | Self::StreamBugLog
            | Self::StreamActions
            | Self::StreamCalls
            | Self::StreamJoins => "testkit",
        }
    }

    /// The integration test; `None` for the tests of the library.
    fn test(self) -> Option<&'static str> {
        match self {
            Self::Core => None,
            Self::StreamOrder => Some("stream_order"),
            Self::StreamWaits => Some("stream_waits"),
            Self::StreamBugLog => Some("stream_bug_log"),
            Self::StreamActions => Some("stream_actions"),
            Self::StreamCalls => Some("stream_calls"),
            Self::StreamJoins => Some("stream_joins"),
        }
    }

    /// The arguments of cargo that select it.
    fn selection(self) -> Vec<&'static str> {
        let mut arguments = vec!["-p", self.package()];
        match self.test() {
            Some(test) => arguments.extend(["--test", test]),
            None => arguments.push("--lib"),
        }
        arguments
    }

    /// Builds it in the workspace at `copy`.
    pub(super) fn build(self, copy: &Path, target: &Path) -> anyhow::Result<Built> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["test", "--no-run", "--quiet", "--message-format", "json-render-diagnostics"])
            .args(self.selection())
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", target)
            // Mutants have unused variables, which must not be errors.
            .env_remove("RUSTFLAGS")
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            return Ok(Built::Errors);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let program = messages.lines().find_map(test_program);
        program.map(Built::Program).with_context(|| format!("cargo did not say where it put {self}"))
    }

    /// Runs it as cargo would.
    pub(super) fn run(self, copy: &Path, target: &Path, program: &Path) -> anyhow::Result<Ran> {
        let log = target.join("output.txt");
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command.current_dir(copy.join("crates").join(self.package()));
        if std::env::var_os(SEED.0).is_none() {
            command.env(SEED.0, SEED.1);
        }
        let mut child = command
            .stderr(output.try_clone()?)
            .stdout(output)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let end = Instant::now() + TIME_LIMIT;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if Instant::now() > end {
                child.kill()?;
                child.wait()?;
                break None;
            }
            thread::sleep(LOOK);
        };
        let text = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
        Ok(judge(status, &String::from_utf8_lossy(&text)))
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.selection().join(" "))
    }
}

/// The program that a message of cargo names, if it names that of a test.
fn test_program(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message["profile"]["test"].as_bool().filter(|&is_test| is_test)?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Reads how a suite ended; no status means that time ran out.
fn judge(status: Option<ExitStatus>, output: &str) -> Ran {
    match status {
        None => Ran::Failed(format!("the time limit of {} s", TIME_LIMIT.as_secs())),
        Some(status) if status.success() => Ran::Passed,
        Some(status) => Ran::Failed(first_failure(output).unwrap_or_else(|| status.to_string())),
    }
}

/// The first test that an output of libtest says has failed.
fn first_failure(output: &str) -> Option<String> {
    let failed = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    output.lines().find_map(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_test_is_found_among_the_messages_of_cargo() {
        let test =
            r#"{"reason":"compiler-artifact","profile":{"test":true},"executable":"/t/stream_order-1"}"#;
        assert_eq!(test_program(test), Some(PathBuf::from("/t/stream_order-1")));
        let library = r#"{"reason":"compiler-artifact","profile":{"test":false},"executable":null}"#;
        assert_eq!(test_program(library), None);
        assert_eq!(test_program("no json"), None);
    }

    #[test]
    fn a_failure_names_its_test_and_a_run_out_of_time_says_so() {
        let output = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest a::d ... FAILED\n";
        assert_eq!(first_failure(output).as_deref(), Some("a::c"));
        assert_eq!(first_failure("test a::b ... ok\n"), None);
        let Ran::Failed(words) = judge(None, output) else { panic!("time ran out") };
        assert!(words.contains("300 s"), "{words}");
        assert!(matches!(judge(Some(ExitStatus::default()), output), Ran::Passed));
    }

    #[test]
    fn a_suite_is_written_as_cargo_takes_it() {
        assert_eq!(Suite::Core.to_string(), "-p mempool-core --lib");
        assert_eq!(Suite::StreamOrder.to_string(), "-p testkit --test stream_order");
    }
}
