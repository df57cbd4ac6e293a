//! `cargo xtask VERB`: the tasks of this repository, one module per verb.
//!
//! `xtask` is the one authority for the command lines of the checks ([`step`]): the scripts in `ci/` and the forge
//! workflows call it, and `cargo xtask ci` runs the same table in order.
//!
//! Exit codes: 0 fine, 1 a check failed, 2 the task could not be run (wrong arguments, a missing program).
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "a command-line tool says there why it could not run")]

mod args;
mod bench;
mod bindgen;
mod card_program;
mod check_headers;
mod ci;
mod demo_ascend;
mod hardware_test;
mod mutants;
mod output;
mod root;
mod sim;
mod soak;
mod step;
mod test_run;
mod tidy;

use std::process::ExitCode;

use args::Verb;

/// The exit code of a task that ran and found nothing wrong.
const FINE: u8 = 0;
/// The exit code of a task that ran and found something wrong.
const FOUND: u8 = 1;
/// The exit code of a task that could not be run at all.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let verb = match args::parse(std::env::args().skip(1)) {
        Ok(verb) => verb,
        Err(error) => {
            eprintln!("xtask: {error}\n\n{}", args::usage());
            return ExitCode::from(COULD_NOT_RUN);
        }
    };
    match run(verb) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Runs one verb and answers its exit code. It has said what it found.
fn run(verb: Verb) -> anyhow::Result<u8> {
    let root = root::find()?;
    let fine = match verb {
        Verb::Help => {
            output::say(args::usage());
            true
        }
        Verb::Tidy => tidy::run(&root)?,
        Verb::Test { long, rest } => test_run::run(&root, long, &rest)?,
        Verb::Ci { only } => ci::run(&root, &only)?,
        Verb::Bench(options) => bench::run(&root, &options)?,
        Verb::Mutants(options) => mutants::run(&root, &options)?,
        Verb::Soak { arguments } => soak::run(&root, &arguments)?,
        Verb::Bindgen { check } => bindgen::run(&root, check)?,
        Verb::CheckHeaders { folder } => check_headers::run(&root, &folder)?,
        Verb::Sim { folder } => sim::run(&root, &folder)?,
        Verb::HardwareTest(options) => return hardware_test::run(&root, &options),
        Verb::DemoAscend(options) => return demo_ascend::run(&root, &options),
    };
    Ok(if fine { FINE } else { FOUND })
}
