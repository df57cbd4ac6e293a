//! `mempool replay`: traces on a pool, one policy after the other.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mempool_core::{Bytes, FitPolicy, PoolConfig};
use mempool_trace::replay::{Notes, ReadError, ReplayConfig, ReplayReport, replay_with};
use mempool_trace::{CachingBaseline, CachingConfig, Plan, Strictness, TraceReader};

use crate::args::{PolicyChoice, ReplayArgs, TraceSize};
use crate::outcome::{Outcome, tell};
use crate::render::{json, numbers, table};
use crate::settings::Overrides;

/// A trace on a pool with one policy.
#[derive(Debug)]
pub(crate) struct Row {
    /// The path as given.
    pub(crate) trace: String,
    pub(crate) report: ReplayReport,
    /// What a caching allocator with a pool per stream would hold at its peak, when asked for.
    pub(crate) caching: Option<Bytes>,
}

pub(crate) fn run(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let environment = PoolConfig::from_env()?;
    // What every trace needs whatever its peak, to refuse what is wrong before anything is read.
    let passes: u64 =
        configs(args, &environment, Bytes::gib(1))?.iter().map(|config| u64::from(config.passes())).sum();
    let mut progress = Progress::new(!args.json, (passes + 1) * args.files.len() as u64);
    let mut outcome = Outcome::Fine;
    let mut rows = Vec::new();
    for file in &args.files {
        let trace = file.display().to_string();
        progress.start(table::short_name(&trace));
        let (plan, caching) = match read(file, args) {
            Ok(read) => read,
            // The other traces are replayed nevertheless.
            Err(error) => {
                progress.tell(&format!("error: {}", explain(&error)));
                outcome = Outcome::Failure;
                continue;
            }
        };
        progress.step();
        if !plan.notes().is_empty() {
            progress.tell(&summary(&trace, plan.notes()));
        }
        for config in &configs(args, &environment, plan.peak_live())? {
            let policy = config.pool.policy();
            let report = replay_with(&plan, config, || progress.step())
                .with_context(|| format!("{trace}: cannot replay with {policy}"))?;
            if let Some((line, error)) = &report.first_failure {
                let (failures, all) = (report.failures, plan.counts().allocations);
                let (failures, all) = (numbers::count(failures), numbers::count(all));
                progress.tell(&format!(
                    "{trace}: {failures} of {all} allocations failed with {policy}, the first on line {line}: {error}"
                ));
                outcome = outcome.max(Outcome::Finding);
            }
            if let Some(race) = report.stream_order.as_ref().and_then(|order| order.first_race.as_ref()) {
                progress.tell(&format!("{trace}: memory was handed out too early with {policy}: {race}"));
                outcome = outcome.max(Outcome::Finding);
            }
            let row = Row { trace: trace.clone(), report, caching };
            if args.json {
                json::write_line(out, &row)?;
            } else {
                rows.push(row);
            }
        }
    }
    progress.finish();
    if !rows.is_empty() {
        writeln!(out, "{}", table::table(&rows))?;
    }
    Ok(outcome)
}

/// One configuration for each policy, for a trace with this peak.
fn configs(
    args: &ReplayArgs,
    environment: &PoolConfig,
    peak_live: Bytes,
) -> anyhow::Result<Vec<ReplayConfig>> {
    let policies = match args.policy {
        None => vec![environment.policy()],
        Some(PolicyChoice::One(policy)) => vec![policy],
        Some(PolicyChoice::Both) => FitPolicy::ALL.to_vec(),
    };
    let capacity = args.capacity.map(|size| size.of(peak_live));
    let arena_size = args.arena.map(|size| size.of(peak_live));
    // Rounded up it might be more than the card has.
    let arena_size = match (args.arena, arena_size) {
        (Some(TraceSize::TimesPeak(_)), Some(bytes)) => Some(whole_granules(bytes)),
        (_, given) => given,
    };
    let config = |policy| -> anyhow::Result<ReplayConfig> {
        let arena_kind = args.arena_kind;
        let overrides = Overrides { policy: Some(policy), arena_size, arena_kind, ..Overrides::default() };
        let pool = overrides.apply(environment)?;
        let config = ReplayConfig::new(pool).with_capacity(capacity).with_repeat(args.repeat);
        Ok(config.with_streams(args.streams()))
    };
    policies.into_iter().map(config).collect()
}

/// The largest multiple of what cards give memory in, at least one.
fn whole_granules(bytes: Bytes) -> Bytes {
    const GRANULE: u64 = 2 << 20;
    Bytes::new((bytes.get() / GRANULE).max(1) * GRANULE)
}

/// Reads a trace once, for the replay and for the comparison.
fn read(file: &Path, args: &ReplayArgs) -> Result<(Plan, Option<Bytes>), ReadError> {
    let strictness = if args.lenient { Strictness::Lenient } else { Strictness::Strict };
    let reader = TraceReader::open(file)?;
    if !args.compare {
        return Ok((Plan::read(reader, strictness)?, None));
    }
    let mut caching = CachingBaseline::new(CachingConfig::per_stream());
    let plan = Plan::read_with(reader, strictness, |row| caching.apply(row))?;
    Ok((plan, Some(caching.report().peak_reserved)))
}

/// `file:line: reason`, and what to do.
fn explain(error: &ReadError) -> String {
    match error.as_note() {
        Some(note) => {
            format!(
                "{}:{}: {note}; correct the row, or pass --lenient to skip such rows",
                error.file(),
                note.line()
            )
        }
        None => error.to_string(),
    }
}

/// What was passed over in a trace.
fn summary(trace: &str, notes: &Notes) -> String {
    let (skipped, odd) = (numbers::count(notes.bad_rows()), numbers::count(notes.findings()));
    let head = format!("note: {trace}: bad rows skipped: {skipped}, rows that make no sense: {odd}");
    let first = notes.first().iter().map(|note| format!("  {trace}:{}: {note}", note.line()));
    let more = notes.bad_rows() + notes.findings() - notes.first().len() as u64;
    let more = (more > 0).then(|| format!("  and {} more", numbers::count(more)));
    std::iter::once(head).chain(first).chain(more).collect::<Vec<_>>().join("\n")
}

/// A bar on stderr that shows itself only on a terminal and only when the work takes long.
struct Progress {
    bar: ProgressBar,
    wanted: bool,
    started: Instant,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_millis(700);

    fn new(wanted: bool, steps: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} passes  {wide_msg}");
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, wanted: wanted && io::stderr().is_terminal(), started: Instant::now() }
    }

    fn start(&self, trace: String) {
        self.bar.set_message(trace);
    }

    fn step(&mut self) {
        if self.wanted && self.started.elapsed() > Self::PATIENCE {
            self.wanted = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }

    /// Writes to stderr without tearing the bar.
    fn tell(&self, text: &str) {
        self.bar.suspend(|| tell(text));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
