//! `cargo bench -p testkit --bench quick -- [--quick|--full] [--json] [--filter P1]`: the core against its peers.
//!
//! Everything runs in one process. Candidates replay the same pre-generated trace through the same driver, by
//! static dispatch, in turns (A B C A B C ...), and the driver touches no memory that a block stands for.
//!
//! A speed is the 25th percentile over short windows inside a run, and the repetition with the median ratio is
//! shown, so that other tenants and a drifting clock disturb it little. It includes the replay of the trace, which
//! has a line of its own. Ratios inside one run are good to about 10 %.
//!
//! A missed goal never fails the command: a noisy machine is no reason to break a build.

mod args;
mod candidate;
mod figure;
mod peers;
mod pool_candidates;
mod sections;
mod timing;
mod trace;

use std::io::{self, Write as _};
use std::process::ExitCode;

use args::{Args, ArgsError, Parsed};
use figure::{Figure, HEADER, Tally};
use sections::{SECTIONS, Section};

fn main() -> ExitCode {
    let outcome = match Args::parse(std::env::args().skip(1)) {
        Ok(Parsed::Measure(args)) => measure(&args),
        Ok(Parsed::Say(text)) => say(text).map_err(Into::into),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the figures may stop after the first: `| head` is no failure.
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            // When even stderr is gone, the exit status says it alone.
            let _ = writeln!(io::stderr(), "quick: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let sections: Vec<&Section> = SECTIONS.iter().filter(|section| args.selects(section)).collect();
    if sections.is_empty() {
        let filter = args.filter.clone().unwrap_or_default();
        let known = SECTIONS.map(|section| section.id).join(", ");
        return Err(ArgsError::NothingSelected { filter, known }.into());
    }
    let mut tally = Tally::default();
    if !args.json {
        say(HEADER)?;
    }
    for section in sections {
        for figure in (section.measure)(args.depth)? {
            tally.add(&figure);
            print(&figure, args.json)?;
        }
    }
    // The summary is for people; on stdout it would be the one line that is no JSON.
    if args.json {
        writeln!(io::stderr(), "{tally}")?;
    } else {
        say(&tally.to_string())?;
    }
    Ok(())
}

fn print(figure: &Figure, json: bool) -> io::Result<()> {
    if json { say(&figure.to_json().to_string()) } else { say(&figure.to_string()) }
}

/// Writes a line at once, so that who waits for the next section sees the last.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
