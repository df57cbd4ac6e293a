//! The command line: typed, and lenient only about what cargo itself adds.

use crate::sections::Section;

/// What cargo's test runners see when they run the target without asking for a measurement.
const HINT: &str = "nothing measured; ask by `cargo bench -p testkit --bench quick -- --quick`";
/// The answer to `--help`.
const USAGE: &str =
    "usage: cargo bench -p testkit --bench quick -- [--quick | --full] [--json] [--filter WHAT]

  --quick        under a minute (the default)
  --full         more repetitions and seeds
  --json         one object a line: id name ours peer_name peer ratio goal met
  --filter WHAT  only one section, by its id (P1), or those whose description contains WHAT";

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Under a minute.
    Quick,
    /// More repetitions and seeds.
    Full,
}

/// A request to measure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// How long.
    pub(crate) depth: Depth,
    /// Print JSON in place of a table.
    pub(crate) json: bool,
    /// Measure only some sections.
    pub(crate) filter: Option<String>,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// To measure.
    Measure(Args),
    /// To print this and stop.
    Say(&'static str),
}

/// A command line that cannot be followed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgsError {
    /// An argument that does not exist.
    #[error("unknown argument {argument:?}; --help lists those there are")]
    Unknown {
        /// As given.
        argument: String,
    },
    /// `--filter` at the end of the line.
    #[error("--filter needs a value, for example `--filter P1`")]
    FilterWithoutValue,
    /// A filter that leaves nothing.
    #[error("no section matches {filter:?}; there are {known}")]
    NothingSelected {
        /// As given.
        filter: String,
        /// The ids of all sections.
        known: String,
    },
}

impl Args {
    /// Reads the arguments behind the name of the program.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Parsed, ArgsError> {
        let mut args = Self { depth: Depth::Quick, json: false, filter: None };
        let mut asked = false;
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // `cargo bench` passes it; `cargo test --all-targets` does not.
                "--bench" => asked = true,
                "--quick" => (args.depth, asked) = (Depth::Quick, true),
                "--full" => (args.depth, asked) = (Depth::Full, true),
                "--json" => args.json = true,
                "--filter" => args.filter = Some(arguments.next().ok_or(ArgsError::FilterWithoutValue)?),
                "--help" | "-h" => return Ok(Parsed::Say(USAGE)),
                // How nextest asks which tests a target holds: none.
                "--list" => return Ok(Parsed::Say("")),
                _ => return Err(ArgsError::Unknown { argument }),
            }
        }
        Ok(if asked { Parsed::Measure(args) } else { Parsed::Say(HINT) })
    }

    /// Whether the filter lets a section through. An id is compared whole, or P1 would mean P12 as well.
    pub(crate) fn selects(&self, section: &Section) -> bool {
        let Some(filter) = &self.filter else { return true };
        let filter = filter.to_lowercase();
        section.id.to_lowercase() == filter || section.what.to_lowercase().contains(&filter)
    }
}
