//! The conformance suite of testkit, over each way of taking memory.

use std::sync::Arc;

use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, OpenError, Pages};
use mempool_core::Device;
use testkit::Violation;
use testkit::conformance::{BYTE_CHECKS, CHECKS, DeviceWithBytes, EVENT_CHECKS, StreamRig};

use crate::output::say;
use crate::report::Suite;
use crate::rig::{AscendBytes, AscendRig};
use crate::watch::watched;

/// Opens the card once more, in another way.
pub(crate) type Open<'a> = &'a dyn Fn(AscendOptions) -> Result<AscendBackend, OpenError>;

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
    suites.push(bytes("bytes of memory by malloc", open, AscendOptions::default()));
    if backend.virtual_memory().is_some() {
        let options = AscendOptions::default().arena_source(ArenaSource::VirtualMemory);
        suites.push(bytes("bytes of virtual memory", open, options));
    }
    suites.push(events(open));
    suites
}

fn arenas(name: &'static str, open: Open<'_>, options: AscendOptions) -> Suite {
    if let Err(error) = open(options) {
        return print(Suite { name, checks: 0, failed: vec![("open".to_owned(), error.to_string())] });
    }
    let make = || Arc::new(open(options).expect("it was opened just now")) as Arc<dyn Device>;
    let found = CHECKS.iter().map(|check| (check.name, guarded(check.name, || (check.run)(&make))));
    print(suite(name, found))
}

fn bytes(name: &'static str, open: Open<'_>, options: AscendOptions) -> Suite {
    let make = || -> DeviceWithBytes {
        let backend = Arc::new(open(options).expect("it was opened just now"));
        (Arc::clone(&backend) as _, Arc::new(AscendBytes(backend)))
    };
    let found = BYTE_CHECKS.iter().map(|check| (check.name, guarded(check.name, || (check.run)(&make))));
    print(suite(name, found))
}

fn events(open: Open<'_>) -> Suite {
    let name = "events of streams";
    let rig = || {
        open(AscendOptions::default())
            .map(AscendRig::new)
            .map_err(|error| Violation::new("open", error.to_string()))
    };
    let check = |run: fn(&dyn StreamRig) -> Result<(), Violation>| rig().and_then(|rig| run(&rig));
    let found = EVENT_CHECKS.iter().map(|it| (it.name, guarded(it.name, || check(it.run))));
    print(suite(name, found))
}

/// Runs a check, whose end by a panic is a finding too.
fn guarded(name: &'static str, check: impl FnOnce() -> Result<(), Violation>) -> Result<(), Violation> {
    watched(name, check).unwrap_or_else(|words| Err(Violation::new("panic", words)))
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
