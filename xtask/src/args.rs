//! What was typed after `cargo xtask`, as a [`Verb`].

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::bench::{BenchOptions, Depth};
use crate::card_program::Card;
use crate::demo_ascend::DemoOptions;
use crate::hardware_test::HardwareTestOptions;
use crate::mutants::MutantOptions;
use crate::soak;
use crate::step::{self, Step};

/// One task with its options.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Print the usage.
    Help,
    /// Check the rules of the tree.
    Tidy,
    /// Run the tests.
    Test {
        /// Run the long property tests too, in release.
        long: bool,
        /// Handed to `cargo test` as they are.
        rest: Vec<String>,
    },
    /// Run the checks in order.
    Ci {
        /// The steps to run, in this order; empty means all.
        only: Vec<&'static Step>,
    },
    /// Run the benchmark.
    Bench(BenchOptions),
    /// Break dangerous lines and see whether tests notice.
    Mutants(MutantOptions),
    /// Play on streams for minutes.
    Soak {
        /// Options of the soak and their values.
        arguments: Vec<String>,
    },
    /// Make the bindings of ACL from our headers.
    Bindgen {
        /// Only compare with the committed ones.
        check: bool,
    },
    /// Compare our headers of ACL with the vendor's.
    CheckHeaders {
        /// Where the vendor's are.
        folder: PathBuf,
    },
    /// Build the simulated Ascend runtime.
    Sim {
        /// Where it goes.
        folder: PathBuf,
    },
    /// Test the backend on a card.
    HardwareTest(HardwareTestOptions),
    /// Show three models on a card.
    DemoAscend(DemoOptions),
}

/// Arguments that make no task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UsageError {
    /// Nothing was typed.
    NoVerb,
    /// There is no such verb.
    UnknownVerb(String),
    /// The verb does not take this argument.
    UnknownArgument { verb: &'static str, argument: String },
    /// The option needs a value after it.
    MissingValue { option: &'static str },
    /// The value after the option is no number that it takes.
    NoNumber { option: &'static str, value: String },
    /// `ci` was asked for a step that does not exist.
    UnknownStep(String),
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVerb => write!(f, "no task given"),
            Self::UnknownVerb(verb) => write!(f, "there is no task `{verb}`"),
            Self::UnknownArgument { verb, argument } => write!(f, "`{verb}` does not take `{argument}`"),
            Self::MissingValue { option } => write!(f, "`{option}` needs a value after it"),
            Self::NoNumber { option, value } => {
                write!(f, "`{option}` takes a whole number, not `{value}`")
            }
            Self::UnknownStep(name) => {
                write!(f, "`ci` has no step `{name}`; the steps are {}", step_names())
            }
        }
    }
}

/// The text for people who need to know what can be typed.
pub(crate) fn usage() -> String {
    format!(
        "\
Usage: cargo xtask TASK [OPTIONS]

Tasks:
  tidy                       check the rules of the tree: edges between crates, file heads, unsafe, stray files
  test [--long] [-- ARGS]    run the tests; --long adds the long property tests, in release
  ci [STEP...]               run the checks in order, or only the named ones: {steps}
  bench [--quick|--full] [--json] [--filter NAME]
                             measure the pool against its peers
  mutants [--only N]... [--list]
                             break the most dangerous lines of the pool, in a copy, and see whether the tests notice
  soak [--minutes N] [--seed S] [--threads N] [--streams N]
                             let threads play on streams under the race detector, while device calls fail; in release
  bindgen [--check]          make the bindings of ACL from crates/acl-sys/headers, or only compare; needs libclang
  check-headers DIR          compare crates/acl-sys/headers with the ACL headers below DIR: of an installed CANN, or of
                             an unpacked torch_npu wheel
  sim DIR                    build the simulated Ascend runtime and lay it out in DIR/lib64 and DIR/include
  hardware-test [--sim] [--report FILE] [--device N]
                             conformance, timings and open questions on the card of this machine, or on the simulator;
                             exit code 2 where there is no card
  demo-ascend [--sim] [--device N] [MODEL...]
                             three models on one card with all memory from one pool; without models on the simulator
  help                       print this

Examples:
  cargo xtask ci                     everything that has to pass before a commit
  cargo xtask ci fmt lint            only these two
  cargo xtask test -- -p host-device hand arguments on to cargo test
  cargo xtask bench --quick --json   figures for a program to read",
        steps = step_names()
    )
}

/// Reads the arguments after `cargo xtask`.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Verb, UsageError> {
    let mut args = args.into_iter();
    let verb = args.next().ok_or(UsageError::NoVerb)?;
    match verb.as_str() {
        "help" | "--help" | "-h" => Ok(Verb::Help),
        "tidy" => match args.next() {
            None => Ok(Verb::Tidy),
            Some(argument) => Err(UsageError::UnknownArgument { verb: "tidy", argument }),
        },
        "test" => parse_test(args),
        "ci" => Ok(Verb::Ci {
            only: args
                .map(|name| step::by_name(&name).ok_or(UsageError::UnknownStep(name)))
                .collect::<Result<_, _>>()?,
        }),
        "bench" => parse_bench(args),
        "mutants" => parse_mutants(args),
        "soak" => parse_soak(args),
        "bindgen" => parse_bindgen(args),
        "check-headers" => Ok(Verb::CheckHeaders { folder: parse_folder("check-headers", args)? }),
        "hardware-test" => parse_hardware_test(args),
        "demo-ascend" => parse_demo_ascend(args),
        "sim" => Ok(Verb::Sim { folder: parse_folder("sim", args)? }),
        _ => Err(UsageError::UnknownVerb(verb)),
    }
}

fn parse_test(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut long = false;
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--long" => long = true,
            "--" => return Ok(Verb::Test { long, rest: args.collect() }),
            _ => return Err(UsageError::UnknownArgument { verb: "test", argument }),
        }
    }
    Ok(Verb::Test { long, rest: Vec::new() })
}

fn parse_bench(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut options = BenchOptions { depth: Depth::Quick, json: false, filter: None };
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--quick" => options.depth = Depth::Quick,
            "--full" => options.depth = Depth::Full,
            "--json" => options.json = true,
            "--filter" => {
                options.filter = Some(value(&mut args, "--filter")?);
            }
            other => match other.strip_prefix("--filter=") {
                Some(name) => options.filter = Some(name.to_owned()),
                None => return Err(UsageError::UnknownArgument { verb: "bench", argument }),
            },
        }
    }
    Ok(Verb::Bench(options))
}

fn parse_mutants(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut options = MutantOptions::default();
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--list" => options.list = true,
            "--only" => options.only.push(number_after("--only", &mut args)?),
            _ => return Err(UsageError::UnknownArgument { verb: "mutants", argument }),
        }
    }
    Ok(Verb::Mutants(options))
}

/// The soak itself reads the values.
fn parse_soak(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut arguments = Vec::new();
    while let Some(argument) = args.next() {
        let Some(&option) = soak::OPTIONS.iter().find(|&&option| option == argument) else {
            return Err(UsageError::UnknownArgument { verb: "soak", argument });
        };
        arguments.extend([argument, args.next().ok_or(UsageError::MissingValue { option })?]);
    }
    Ok(Verb::Soak { arguments })
}

/// The number that follows an option.
fn number_after<T: FromStr>(
    option: &'static str,
    args: &mut impl Iterator<Item = String>,
) -> Result<T, UsageError> {
    let value = args.next().ok_or(UsageError::MissingValue { option })?;
    value.parse().map_err(|_| UsageError::NoNumber { option, value })
}

fn parse_bindgen(args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut check = false;
    for argument in args {
        match argument.as_str() {
            "--check" => check = true,
            _ => return Err(UsageError::UnknownArgument { verb: "bindgen", argument }),
        }
    }
    Ok(Verb::Bindgen { check })
}

fn parse_hardware_test(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut options = HardwareTestOptions { card: Card::Real, report: None, device: None };
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--sim" => options.card = Card::Simulated,
            "--report" => options.report = Some(value(&mut args, "--report")?.into()),
            "--device" => options.device = Some(value(&mut args, "--device")?),
            _ => return Err(UsageError::UnknownArgument { verb: "hardware-test", argument }),
        }
    }
    Ok(Verb::HardwareTest(options))
}

fn parse_demo_ascend(mut args: impl Iterator<Item = String>) -> Result<Verb, UsageError> {
    let mut options = DemoOptions { simulated: false, models: Vec::new(), device: None };
    while let Some(argument) = args.next() {
        match argument.as_str() {
            "--sim" => options.simulated = true,
            "--device" => options.device = Some(value(&mut args, "--device")?),
            option if option.starts_with('-') => {
                return Err(UsageError::UnknownArgument { verb: "demo-ascend", argument });
            }
            _ => options.models.push(argument.into()),
        }
    }
    Ok(Verb::DemoAscend(options))
}

fn value(args: &mut impl Iterator<Item = String>, option: &'static str) -> Result<String, UsageError> {
    args.next().ok_or(UsageError::MissingValue { option })
}

fn parse_folder(verb: &'static str, mut args: impl Iterator<Item = String>) -> Result<PathBuf, UsageError> {
    let folder = args.next().ok_or(UsageError::MissingValue { option: verb })?.into();
    match args.next() {
        None => Ok(folder),
        Some(argument) => Err(UsageError::UnknownArgument { verb, argument }),
    }
}

fn step_names() -> String {
    step::ALL.iter().map(|step| step.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Verb, UsageError> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn verbs_and_their_options_are_read() {
        assert_eq!(parse_line("tidy"), Ok(Verb::Tidy));
        assert_eq!(parse_line("test"), Ok(Verb::Test { long: false, rest: vec![] }));
        assert_eq!(
            parse_line("test --long -- -p testkit"),
            Ok(Verb::Test { long: true, rest: vec!["-p".to_owned(), "testkit".to_owned()] })
        );
        let chosen = MutantOptions { only: vec![3, 7], list: false };
        assert_eq!(parse_line("mutants --only 3 --only 7"), Ok(Verb::Mutants(chosen)));
        let arguments = ["--seed", "7", "--minutes", "0.5"].map(str::to_owned).into();
        assert_eq!(parse_line("soak --seed 7 --minutes 0.5"), Ok(Verb::Soak { arguments }));
        assert_eq!(parse_line("bindgen --check"), Ok(Verb::Bindgen { check: true }));
        assert_eq!(parse_line("check-headers a/b"), Ok(Verb::CheckHeaders { folder: "a/b".into() }));
        assert_eq!(parse_line("sim a/b"), Ok(Verb::Sim { folder: "a/b".into() }));
        let options = HardwareTestOptions {
            card: Card::Simulated,
            report: Some("a.json".into()),
            device: Some("1".to_owned()),
        };
        assert_eq!(
            parse_line("hardware-test --sim --report a.json --device 1"),
            Ok(Verb::HardwareTest(options))
        );
        let options =
            DemoOptions { simulated: false, models: vec!["a.om".into(), "b.om".into()], device: None };
        assert_eq!(parse_line("demo-ascend a.om b.om"), Ok(Verb::DemoAscend(options)));
        assert_eq!(parse_line("sim"), Err(UsageError::MissingValue { option: "sim" }));
        let filter = Some("P1".to_owned());
        let full = Verb::Bench(BenchOptions { depth: Depth::Full, json: true, filter });
        assert_eq!(parse_line("bench --full --json --filter P1"), Ok(full));
        assert_eq!(
            parse_line("bench --full --json --filter=P1"),
            parse_line("bench --filter P1 --json --full")
        );
    }

    #[test]
    fn ci_takes_the_names_of_its_steps_and_no_others() {
        assert_eq!(parse_line("ci"), Ok(Verb::Ci { only: vec![] }));
        let Ok(Verb::Ci { only }) = parse_line("ci tidy fmt") else { panic!("`ci tidy fmt` is valid") };
        assert_eq!(only.iter().map(|step| step.name).collect::<Vec<_>>(), ["tidy", "fmt"]);
        let error = parse_line("ci lnit").expect_err("no such step");
        assert_eq!(error, UsageError::UnknownStep("lnit".to_owned()));
        assert!(error.to_string().contains("lint"), "the message lists the steps: {error}");
    }

    #[test]
    fn what_makes_no_task_is_an_error_that_names_the_argument() {
        assert_eq!(parse_line(""), Err(UsageError::NoVerb));
        assert_eq!(parse_line("tidyy"), Err(UsageError::UnknownVerb("tidyy".to_owned())));
        assert_eq!(
            parse_line("tidy --fix"),
            Err(UsageError::UnknownArgument { verb: "tidy", argument: "--fix".to_owned() })
        );
        assert_eq!(
            parse_line("test --short"),
            Err(UsageError::UnknownArgument { verb: "test", argument: "--short".to_owned() })
        );
        assert_eq!(
            parse_line("bindgen --write"),
            Err(UsageError::UnknownArgument { verb: "bindgen", argument: "--write".to_owned() })
        );
        assert_eq!(
            parse_line("demo-ascend --simulated"),
            Err(UsageError::UnknownArgument { verb: "demo-ascend", argument: "--simulated".to_owned() })
        );
        assert_eq!(
            parse_line("hardware-test --report"),
            Err(UsageError::MissingValue { option: "--report" })
        );
        let no_number = UsageError::NoNumber { option: "--only", value: "all".to_owned() };
        assert_eq!(parse_line("mutants --only all"), Err(no_number));
        assert_eq!(parse_line("soak --seed"), Err(UsageError::MissingValue { option: "--seed" }));
        assert_eq!(parse_line("check-headers"), Err(UsageError::MissingValue { option: "check-headers" }));
        assert_eq!(parse_line("bench --filter"), Err(UsageError::MissingValue { option: "--filter" }));
    }

    #[test]
    fn the_usage_names_every_step() {
        let usage = usage();
        for step in step::ALL {
            assert!(usage.contains(step.name), "{} is missing", step.name);
        }
    }
}
