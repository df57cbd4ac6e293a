//! The backend on a card: conformance, timings, and answers to what CANN's documents leave open, as a text and as JSON.
//!
//! Run by `cargo xtask hardware-test`. The card must be free otherwise: checks compare how much memory is free.
//!
//! Exit codes: 0 all checks hold, 1 one does not, 2 there is no card or it could not be opened.
#![expect(clippy::print_stderr, reason = "a program for people, who look there for why it could not run")]
#![forbid(unsafe_code)]

mod alignment;
mod arguments;
mod card;
mod checks;
mod output;
mod overhead;
mod questions;
mod report;
#[path = "../../tests/simulator/rig.rs"]
mod rig;
mod samples;
mod timings;
mod version_text;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use backend_ascend::{AscendBackend, AscendOptions, OpenError};

use arguments::Arguments;
use output::say;
use report::Report;

/// One check at least does not hold.
const FOUND: u8 = 1;
/// There is no card, or it could not be opened or the report not written.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    match Arguments::parse(std::env::args_os().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FOUND),
        Err(text) => {
            eprintln!("hardware-test: {text}");
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Runs everything and prints it as it comes; false when a check does not hold.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let open = |options| AscendBackend::open(arguments.device, options);
    let backend = open(AscendOptions::default()).map(Arc::new).map_err(|error| match error {
        OpenError::NoLibrary { .. } => {
            "there is no Ascend card here, as no ACL library was found; on an Ascend machine source CANN's set_env.sh first, \
             elsewhere try the simulated card: cargo xtask hardware-test --sim"
                .to_owned()
        }
        other => other.to_string(),
    })?;
    say(format_args!("hardware-test of ascend-mempool {}\n", env!("CARGO_PKG_VERSION")));
    let mut report = Report::new(card::describe(&backend, arguments.simulated)?);
    report.conformance = checks::run(&backend, &open);
    report.timings = timings::run(&backend, &open);
    report.pool = overhead::run(&backend)?;
    report.questions = questions::run(&backend, &report.timings);
    let passed = report.passed();
    say(format_args!("\n{}", if passed { "all checks hold" } else { "NOT ALL CHECKS HOLD: see above" }));
    if let Some(path) = &arguments.report {
        report.write(path)?;
        say(format_args!("report written to {}", path.display()));
    }
    Ok(passed)
}
