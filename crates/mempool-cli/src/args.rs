//! The command line as types.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand};
use mempool_core::{ArenaKind, Bytes, FitPolicy};
use mempool_trace::replay::{DEFAULT_LAG, Streams};

/// A device-memory pool on the bench: replay traces on it, watch it work, see how it is configured.
#[derive(Debug, Parser)]
#[command(name = "mempool", version, arg_required_else_help = true, after_help = GENERAL)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const GENERAL: &str = "\
Exit codes:
  0  all is well
  1  a finding: an allocation that failed, a leak
  2  a failure: wrong arguments, a file that cannot be read

Environment:
  ASCEND_GLOBAL_LOG_LEVEL  log on stderr: 0 debug, 1 info, 2 warning, 3 error (default), 4 none
  Variables for the pool are listed by `mempool config`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replay allocation traces on a pool and show what it holds, what it needs and how long it takes
    Replay(ReplayArgs),
    /// Let three models share one simulated card, with every block written and checked
    Demo(DemoArgs),
    /// Print the effective configuration of a pool and where each value comes from
    Config(ConfigArgs),
}

/// Arguments of `mempool replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = REPLAY)]
pub(crate) struct ReplayArgs {
    /// RMM's CSV allocation logs, plain or packed with gzip or zstd
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Fit policy: best-fit, first-fit or both [default: that of the environment, best-fit without]
    #[arg(long)]
    pub(crate) policy: Option<PolicyChoice>,
    /// Memory of the card, such as 32GiB, or 1.15x for a multiple of the trace's peak live; requests beyond it fail [default: never full]
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<TraceSize>,
    /// Smallest arena that the pool takes from the card, in the same ways [default: that of the environment, 32 MiB without]
    #[arg(long, value_name = "SIZE")]
    pub(crate) arena: Option<TraceSize>,
    /// plain: ranges of the card; virtual: addresses behind which memory is mapped as needed [default: that of the environment]
    #[arg(long, value_name = "KIND")]
    pub(crate) arena_kind: Option<ArenaKind>,
    /// How often each trace is timed
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeat: u32,
    /// as-one: a freed block is reused at once; as-traced: the pool keeps the order of the trace's streams
    #[arg(long, value_enum, default_value_t = StreamsChoice::AsOne)]
    pub(crate) streams: StreamsChoice,
    /// With --streams as-traced: operations of the trace after which work on a stream is done
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LAG)]
    pub(crate) lag: u64,
    /// Print one JSON object a line instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Skip rows that are bad or make no sense, and say how many
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Also show what a caching allocator with a pool per stream, as in torch, would hold
    #[arg(long)]
    pub(crate) compare: bool,
}

const REPLAY: &str = "\
What the columns say (ratios are to peak live):
  peak live        most bytes live at once, as requested: what any allocator must hold
  peak reserved    most bytes that the pool held on the card
  address space    what the policy needs in one range without an end
  fail             allocations that failed
  frag             1 - longest free run / all free bytes, when the most was live
  ns/op            one allocation or free on the warm pool, less what reading the clock costs
  pool per stream  (--compare) what a caching allocator in torch's style would hold, simulated:
                   segments of 2 MiB and 20 MiB for each stream, sizes rounded up to 512 B

  streams          (--streams as-traced) streams of the trace
  waits            waits of one stream for another that the pool put in, while it grew
  races            blocks handed out before other streams' work on them was done: 0, or the pool has a fault

All streams of a trace share one pool. As one, a freed block is reused at once. As traced, a stream gets its own blocks
back at once, and others' when their work is done, or with a wait when nothing else serves; the work of a stream is done
--lag operations after it was given, and a race detector watches.
Memory is addresses only: a trace of a large card replays anywhere.
Environment variables for the pool count (see `mempool config`); arguments come first.

Examples:
  mempool replay trace.csv
  mempool replay --policy both --compare traces/*.csv.zst
  mempool replay --streams as-traced --compare traces/mix*.csv.zst
  mempool replay --streams as-traced --capacity 1.15x --arena 1.15x traces/mix*.csv.zst
  mempool replay --arena-kind virtual --capacity 1.05x traces/*.csv.zst
  mempool replay --capacity 8GiB --lenient --json broken.csv.gz | jq .failures";

/// Arguments of `mempool demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = DEMO)]
pub(crate) struct DemoArgs {
    /// Fit policy: best-fit or first-fit [default: that of the environment, best-fit without]
    #[arg(long)]
    pub(crate) policy: Option<FitPolicy>,
    /// Memory of the simulated card
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = positive_size)]
    pub(crate) capacity: Bytes,
}

const DEMO: &str = "\
Recordings of ResNet-50, BERT and YOLOv8 are part of the program. The card is host memory.
Each block is written and checked at its start, at its end and once every 64 KiB, and its
addresses are compared with those of all live blocks. Little memory is really occupied.

Examples:
  mempool demo
  mempool demo --policy first-fit --capacity 2GiB
  mempool demo --capacity 512MiB      (too small: shows what a failed allocation says, exit code 1)";

/// Arguments of `mempool config`.
#[derive(Debug, clap::Args)]
#[command(after_help = CONFIG)]
pub(crate) struct ConfigArgs {
    /// Fit policy: best-fit or first-fit
    #[arg(long)]
    pub(crate) policy: Option<FitPolicy>,
    /// Most bytes that the pool may take from the card
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub(crate) max_size: Option<Bytes>,
    /// Bytes that the pool takes from the card when it is built
    #[arg(long, value_name = "SIZE", value_parser = Bytes::from_str)]
    pub(crate) initial_size: Option<Bytes>,
    /// Smallest arena that the pool takes from the card
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub(crate) arena_size: Option<Bytes>,
    /// What arenas are made of: plain or virtual
    #[arg(long, value_name = "KIND")]
    pub(crate) arena_kind: Option<ArenaKind>,
}

const CONFIG: &str = "\
Arguments come before environment variables, these before defaults.

Examples:
  mempool config
  ASCEND_MEMPOOL_POLICY=FIRST_FIT mempool config
  ASCEND_MEMORY_POOL_MAX_SIZE=8GiB mempool config --arena-size 64MiB";

/// A size, by itself or as a multiple of what a trace has live at its peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TraceSize {
    Bytes(Bytes),
    TimesPeak(f64),
}

impl TraceSize {
    /// Bytes for a trace, at least one.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a multiple of a size is as exact as its factor, and the factor is positive"
    )]
    pub(crate) fn of(self, peak_live: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::TimesPeak(factor) => Bytes::new(((peak_live.get() as f64 * factor) as u64).max(1)),
        }
    }
}

impl FromStr for TraceSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(factor) = text.trim().strip_suffix(['x', 'X']) else {
            return positive_size(text).map(Self::Bytes);
        };
        match factor.trim().parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= 1000.0 => Ok(Self::TimesPeak(factor)),
            _ => Err(format!("{text:?} is no multiple of the peak; use a factor up to 1000 such as 1.15x")),
        }
    }
}

/// Whether the streams of a trace are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StreamsChoice {
    AsOne,
    AsTraced,
}

impl ReplayArgs {
    /// What the arguments say about streams.
    pub(crate) fn streams(&self) -> Streams {
        match self.streams {
            StreamsChoice::AsOne => Streams::AsOne,
            StreamsChoice::AsTraced => Streams::AsTraced { lag: self.lag },
        }
    }
}

/// One policy, or both one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyChoice {
    One(FitPolicy),
    Both,
}

impl FromStr for PolicyChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().eq_ignore_ascii_case("both") {
            return Ok(Self::Both);
        }
        text.parse()
            .map(Self::One)
            .map_err(|_| format!("{text:?} is no fit policy; use best-fit, first-fit or both"))
    }
}

fn positive_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes::ZERO) => Err("0 bytes make no sense here; give a positive size such as 8GiB".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn policies_are_read_in_both_spellings() {
        assert_eq!("both".parse(), Ok(PolicyChoice::Both));
        assert_eq!("FIRST_FIT".parse(), Ok(PolicyChoice::One(FitPolicy::FirstFit)));
        assert!("worst-fit".parse::<PolicyChoice>().unwrap_err().contains("first-fit or both"));
    }

    #[test]
    fn sizes_may_be_multiples_of_the_peak() {
        let peak = Bytes::mib(100);
        assert_eq!("1.5x".parse::<TraceSize>().unwrap().of(peak), Bytes::mib(150));
        assert_eq!(" 2 X".parse::<TraceSize>().unwrap().of(peak), Bytes::mib(200));
        assert_eq!("8GiB".parse::<TraceSize>().unwrap().of(peak), Bytes::gib(8));
        assert_eq!("1x".parse::<TraceSize>().unwrap().of(Bytes::ZERO), Bytes::new(1));
        for wrong in ["x", "0x", "-1x", "NaNx", "infx", "1e9x", "1.5", "much"] {
            assert!(wrong.parse::<TraceSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_positive() {
        assert_eq!(positive_size("8GiB"), Ok(Bytes::gib(8)));
        for wrong in ["0", "0 GiB", "many", ""] {
            assert!(positive_size(wrong).is_err(), "{wrong}");
        }
    }
}
