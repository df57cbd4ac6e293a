//! `cargo xtask ci`: the checks in order, with their times, up to the first that fails.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::output::say;
use crate::step::{self, Step};

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Runs the steps `only`, or all of them when it is empty, and prints a table at the end; false when one failed.
///
/// # Errors
///
/// When a step could not be started.
pub(crate) fn run(root: &Path, only: &[&'static Step]) -> anyhow::Result<bool> {
    let steps: Vec<&Step> = if only.is_empty() { step::ALL.iter().collect() } else { only.to_vec() };
    let outcomes = run_until_failure(&steps, |step| {
        say(format_args!("== {}: {}", step.name, step.command_line()));
        let start = Instant::now();
        let passed = step.run(root)?;
        let took = start.elapsed();
        say(format_args!(
            "== {} {} in {}\n",
            step.name,
            if passed { "passed" } else { "FAILED" },
            seconds(took)
        ));
        Ok(if passed { Outcome::Passed(took) } else { Outcome::Failed(took) })
    })?;
    say(summary(&steps, &outcomes));
    let failed = outcomes.iter().position(|outcome| matches!(outcome, Outcome::Failed(_)));
    if let Some(index) = failed {
        say(format_args!(
            "ci: {} failed; to see it alone, run: {}",
            steps[index].name,
            steps[index].command_line()
        ));
    }
    Ok(failed.is_none())
}

/// Runs the steps with `run_one`, up to and including the first that fails; one outcome for each step.
fn run_until_failure(
    steps: &[&Step],
    mut run_one: impl FnMut(&Step) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = vec![Outcome::NotRun; steps.len()];
    for (step, outcome) in steps.iter().zip(&mut outcomes) {
        *outcome = run_one(step)?;
        if matches!(outcome, Outcome::Failed(_)) {
            break;
        }
    }
    Ok(outcomes)
}

/// The table at the end: a line for each step.
fn summary(steps: &[&Step], outcomes: &[Outcome]) -> String {
    let mut lines = vec![format!("{:<8}{:<10}{:>8}  command", "step", "outcome", "time")];
    for (step, outcome) in steps.iter().zip(outcomes) {
        let (word, time) = match outcome {
            Outcome::Passed(took) => ("passed", seconds(*took)),
            Outcome::Failed(took) => ("FAILED", seconds(*took)),
            Outcome::NotRun => ("not run", "-".to_owned()),
        };
        lines.push(format!("{:<8}{word:<10}{time:>8}  {}", step.name, step.command_line()));
    }
    lines.join("\n")
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<&'static Step> {
        step::ALL.iter().collect()
    }

    #[test]
    fn nothing_runs_after_the_first_failure() {
        let mut ran = Vec::new();
        let outcomes = run_until_failure(&all(), |step| {
            ran.push(step.name.to_owned());
            let took = Duration::from_secs(1);
            Ok(if step.name == "doc" { Outcome::Failed(took) } else { Outcome::Passed(took) })
        })
        .expect("every step could be started");
        assert_eq!(ran, ["fmt", "lint", "doc"]);
        assert_eq!(outcomes[2], Outcome::Failed(Duration::from_secs(1)));
        assert_eq!(outcomes.len(), step::ALL.len());
        assert!(outcomes[3..].iter().all(|&outcome| outcome == Outcome::NotRun));
    }

    #[test]
    fn the_table_has_a_line_for_each_step_with_its_outcome() {
        let mut outcomes = vec![Outcome::Passed(Duration::from_millis(1_250)); step::ALL.len()];
        outcomes[3] = Outcome::Failed(Duration::from_secs(2));
        outcomes[4] = Outcome::NotRun;
        let table = summary(&all(), &outcomes);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 1 + step::ALL.len());
        assert!(
            lines[1].starts_with("fmt") && lines[1].contains("passed") && lines[1].contains("1.2 s"),
            "{table}"
        );
        assert!(lines[4].starts_with("tidy") && lines[4].contains("FAILED"), "{table}");
        assert!(lines[5].starts_with("test") && lines[5].contains("not run"), "{table}");
    }
}
