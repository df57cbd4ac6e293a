//! `cargo xtask soak`: threads that play on streams of one pool for minutes, under the race detector, while calls of the device fail.
//!
//! In rounds, each on a fresh device and with another temper: tight or roomy, with or without failures, either fit policy, any
//! [`StreamReuse`]. After each everything must have gone back. The seed is printed first. What a thread tries in its n-th step depends on
//! the seed, the round, the thread and n alone, so the same seed repeats it; how threads meet is up to the machine.
//!
//! Ends with 1 and says seed, round and thread when a race is found, an invariant is broken or a thread panics; with 2 for wrong
//! arguments.
#![forbid(unsafe_code)]

mod player;
#[expect(clippy::unwrap_used, reason = "a soak is a test: what must not fail is unwrapped")]
#[path = "../../tests/stream_stage/mod.rs"]
mod stream_stage;

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mempool_core::{Bytes, FitPolicy, PoolConfig, StreamReuse};

use player::{Common, Player};
use stream_stage::Stage;

/// Steps of a thread in a round.
const STEPS: u64 = 50_000;

struct Options {
    minutes: f64,
    seed: u64,
    threads: usize,
    streams: usize,
}

impl Options {
    /// The threads by name, as reports of races have them: those want names that live for ever.
    fn names(&self) -> Vec<&'static str> {
        (0..self.threads).map(|number| &*format!("thread {number}").leak()).collect()
    }
}

/// How the pool of a round is made.
struct Temper {
    limit: Bytes,
    policy: FitPolicy,
    reuse: StreamReuse,
    with_faults: bool,
}

impl Temper {
    fn of_round(round: u64, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Self {
            limit: if round.is_multiple_of(2) { Bytes::mib(12) } else { Bytes::mib(512) },
            policy: FitPolicy::ALL[usize::from(round / 4 % 2 == 1)],
            reuse: StreamReuse {
                event_dependencies: random.u8(..4) != 0,
                opportunistic: random.u8(..4) != 0,
                internal_dependencies: random.u8(..4) != 0,
            },
            with_faults: round / 2 % 2 == 1,
        }
    }
}

impl fmt::Display for Temper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = if self.with_faults { "with" } else { "without" };
        write!(f, "{:>7}, {:<9}, {faults} failures", self.limit.to_string(), self.policy)
    }
}

fn main() -> ExitCode {
    let options = match read_options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            say(format_args!("soak: {error}"));
            return ExitCode::from(2);
        }
    };
    let Options { minutes, seed, threads, streams } = options;
    say(format_args!("soak: seed {seed}, {threads} threads, {streams} streams, {minutes} minutes"));
    let names = options.names();
    let start = Instant::now();
    let mut operations = 0;
    for round in 0.. {
        let temper = Temper::of_round(round, seed);
        let began = Instant::now();
        let played = match play(&options, &names, round, &temper) {
            Ok(played) => played,
            Err(failure) => {
                say(format_args!("soak: FAILED in round {round} ({temper}): {failure}"));
                say(format_args!("soak: repeat with --seed {seed} --threads {threads} --streams {streams}"));
                return ExitCode::FAILURE;
            }
        };
        operations += played;
        let rate = per_second(played, began.elapsed());
        say(format_args!("round {round:>4}: {temper}: {played} operations, {rate:.0} a second"));
        if start.elapsed().as_secs_f64() >= minutes * 60.0 {
            break;
        }
    }
    let rate = per_second(operations, start.elapsed());
    say(format_args!("soak: no race in {operations} operations, {rate:.0} a second; seed {seed}"));
    ExitCode::SUCCESS
}

/// Plays one round and answers how many operations that were.
fn play(options: &Options, names: &[&'static str], round: u64, temper: &Temper) -> Result<u64, String> {
    let config = PoolConfig::builder()
        .max_size(temper.limit)
        .arena_size(Bytes::mib(4))
        .policy(temper.policy)
        .stream_reuse(temper.reuse);
    let stage = Stage::new(Bytes::gib(4), config);
    let common = Arc::new(Common::new(temper.with_faults));
    let each = (options.streams / options.threads).max(1);
    let players: Vec<_> = (0_u64..)
        .zip(names)
        .map(|(number, &who)| {
            let seed = options.seed ^ round.rotate_left(40) ^ number.rotate_left(52);
            let mut player = Player::new(stage.of(who), Arc::clone(&common), seed, each);
            let thread = thread::Builder::new().name(who.to_owned()).spawn(move || player.play(STEPS));
            (who, thread)
        })
        .collect();
    let mut first_failure = Ok(());
    for (who, thread) in players {
        let ended = thread.map_err(|error| format!("{who} could not be started: {error}"))?.join();
        if ended.is_err() && first_failure.is_ok() {
            first_failure = Err(format!("{who} panicked; its message is above"));
        }
    }
    first_failure?;
    let failed = |what: &str, detail: &dyn fmt::Display| Err(format!("{what}: {detail}"));
    if let Some(hazard) = stage.hazards().first() {
        let noticed = common.noticed().unwrap_or_else(|| "the end of the round".to_owned());
        return failed(&format!("a race, noticed by {noticed}"), hazard);
    }
    stage.faults.clear();
    common.free_handed_on(&stage);
    if let Err(error) = stage.pool.validate() {
        return failed("at the end of the round", &error);
    }
    match stage.pool.trim() {
        Err(error) => return failed("the device refused its memory", &error),
        Ok(_) if stage.pool.status().total.is_zero() => {}
        Ok(_) => return failed("memory that did not go back", &stage.pool.status()),
    }
    let Stage { engine, pool, .. } = stage;
    drop(pool);
    let left = (engine.live_events(), engine.live_blocks(), engine.device().live_ranges());
    if left != (0, 0, 0) || engine.hazard_count() > 0 {
        return Err(format!(
            "left behind (events, blocks, arenas): {left:?}, {:?}",
            engine.hazards().first()
        ));
    }
    Ok(STEPS * options.threads as u64)
}

fn per_second(operations: u64, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let operations = operations as f64;
    operations / time.as_secs_f64()
}

fn read_options(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { minutes: 5.0, seed: fastrand::u64(..), threads: 8, streams: 16 };
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("`{name}` needs a value after it"))?;
        match name.as_str() {
            "--minutes" => options.minutes = number(&name, &value)?,
            "--seed" => options.seed = number(&name, &value)?,
            "--threads" => options.threads = number(&name, &value)?,
            "--streams" => options.streams = number(&name, &value)?,
            _ => {
                return Err(format!(
                    "there is no option `{name}`; use --minutes, --seed, --threads, --streams"
                ));
            }
        }
    }
    if options.threads == 0 || options.streams < options.threads {
        let Options { threads, streams, .. } = options;
        return Err(format!(
            "{threads} threads and {streams} streams: every thread needs a stream of its own"
        ));
    }
    Ok(options)
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{name}` takes a number, not `{value}`"))
}

/// Prints one line, at once.
fn say(text: impl fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
