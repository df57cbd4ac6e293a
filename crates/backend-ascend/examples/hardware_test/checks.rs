//! The conformance suite of testkit, over each way of taking memory.

use std::sync::Arc;

use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, OpenError, Pages};
use mempool_core::Device;
use testkit::Violation;
use testkit::conformance::{CHECKS, EVENT_CHECKS};

use crate::output::say;
use crate::report::Suite;
use crate::rig::AscendRig;

/// Opens the card once more, in another way.
type Open<'a> = &'a dyn Fn(AscendOptions) -> Result<AscendBackend, OpenError>;

/// Runs and prints.
pub(crate) fn run(backend: &AscendBackend, open: Open<'_>) -> Vec<Suite> {
    say(format_args!("\nconformance"));
    let mut suites = vec![
        arenas("arenas by aclrtMalloc", open, AscendOptions::default()),
        arenas("arenas on pages of 4 KiB", open, AscendOptions::default().pages(Pages::Normal)),
    ];
    if backend.virtual_memory().is_some() {
        let options = AscendOptions::default().arena_source(ArenaSource::VirtualMemory);
        suites.push(arenas("arenas by virtual memory", open, options));
    }
    suites.push(events(open));
    suites
}

fn arenas(name: &'static str, open: Open<'_>, options: AscendOptions) -> Suite {
    if let Err(error) = open(options) {
        return print(Suite { name, checks: 0, failed: vec![("open".to_owned(), error.to_string())] });
    }
    let make = || Arc::new(open(options).expect("it was opened just now")) as Arc<dyn Device>;
    let found = CHECKS.iter().map(|check| (check.name, (check.run)(&make)));
    print(suite(name, found))
}

fn events(open: Open<'_>) -> Suite {
    let name = "events of streams";
    let rig = || {
        open(AscendOptions::default())
            .map(AscendRig::new)
            .map_err(|error| Violation::new("open", error.to_string()))
    };
    let found = EVENT_CHECKS.iter().map(|check| (check.name, rig().and_then(|rig| (check.run)(&rig))));
    print(suite(name, found))
}

fn suite(name: &'static str, found: impl Iterator<Item = (&'static str, Result<(), Violation>)>) -> Suite {
    let mut suite = Suite { name, checks: 0, failed: Vec::new() };
    for (check, result) in found {
        suite.checks += 1;
        suite.failed.extend(result.err().map(|violation| (check.to_owned(), violation.to_string())));
    }
    suite
}

fn print(suite: Suite) -> Suite {
    let verdict = match suite.failed.len() {
        0 => "all hold".to_owned(),
        failed => format!("{failed} DO NOT HOLD"),
    };
    say(format_args!("  {:<26} {:>3} checks  {verdict}", suite.name, suite.checks));
    for (name, found) in &suite.failed {
        say(format_args!("    {name}: {found}"));
    }
    suite
}
