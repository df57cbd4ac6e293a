//! `mempool`: replays allocation traces on the pool, shows the pool at work, and prints its configuration.
//!
//! Exit codes: 0 all is well, 1 there is a finding (a failed allocation, a leak), 2 the command could not do its work. A reader
//! that closes the pipe is no error.

#![forbid(unsafe_code)]

mod args;
mod cmd;
mod logging;
mod outcome;
mod render;
mod settings;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use outcome::Outcome;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version come this way too, with exit code 0. Nothing helps when they cannot be printed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match run(args) {
        Ok(outcome) => outcome.into(),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            outcome::tell(format_args!("error: {error:#}"));
            Outcome::Failure.into()
        }
    }
}

fn run(args: Args) -> anyhow::Result<Outcome> {
    logging::start()?;
    let mut out = io::stdout().lock();
    let outcome = match args.command {
        Command::Replay(args) => cmd::replay::run(&args, &mut out)?,
        Command::Demo(args) => cmd::demo::run(&args, &mut out)?,
        Command::Config(args) => cmd::config::run(&args, &mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
