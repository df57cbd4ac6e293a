//! `mempool demo`: ResNet-50, BERT and `YOLOv8` share one simulated card; every block is written and checked.

mod play;
mod scene;
mod stamps;

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context;
use backend_host::{HostBackend, HostDeviceConfig};
use comfy_table::CellAlignment;
use mempool_core::{Bytes, Pool, PoolConfig, PoolStatus};
use mempool_trace::replay::{Plan, ReplayConfig, Strictness, replay};
use mempool_trace::{CachingBaseline, CachingConfig, Recording};

use crate::args::DemoArgs;
use crate::outcome::Outcome;
use crate::render::numbers::{count, size};
use crate::render::plain_table;
use crate::settings::Overrides;
use play::{Played, play};
use scene::{EVENTS_PER_TURN, Scene};
use stamps::Stamps;

pub(crate) fn run(args: &DemoArgs, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let overrides = Overrides { policy: args.policy, ..Overrides::default() };
    let config = overrides.apply(&PoolConfig::from_env()?)?;
    let card = HostDeviceConfig::new(args.capacity.get()).with_name("card");
    let backend = HostBackend::open(card).context("cannot simulate a card")?;
    let pool = Pool::new(Arc::new(backend.clone()), config.clone()).context("cannot build the pool")?;
    let scene = Scene::of(&Recording::ALL).context("cannot read the recordings")?;

    let (capacity, policy) = (args.capacity, config.policy());
    writeln!(out, "Three models share one simulated card of {capacity}: real memory, one pool, {policy}.\n")?;
    let separate = introduce(&scene, &config, out)?;

    show(out, "before: nothing is loaded", &pool.status())?;
    let mut stamps = Stamps::new(backend.host_device());
    let played = play(&scene, &pool, &mut stamps)?;
    let (event, events) = (count(scene.peak_event as u64), count(scene.rows.len() as u64));
    show(out, &format!("at peak: event {event} of {events}, when the most is live"), &played.at_peak)?;
    let after = pool.status();
    show(out, "after: all models are unloaded", &after)?;
    // With blocks missing the figures would compare nothing.
    if played.failures == 0 {
        compare(&scene, after.total_high_water, separate, out)?;
    }

    let trimmed = pool.trim().context("empty arenas could not go back to the card")?;
    drop(pool);
    let end = End { live: after, trimmed, ranges: backend.host_device().live_ranges() };
    conclude(&played, &stamps, &end, out)
}

/// Shows the models and answers what pools of their own would hold in all.
fn introduce(scene: &Scene, config: &PoolConfig, out: &mut impl Write) -> anyhow::Result<Bytes> {
    let mut table = plain_table(&["model", "recording", "events", "peak live", "in its own pool"]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    // No limit: what they would hold if they could.
    let config = ReplayConfig::new(config.to_builder().no_max_size().build()?).with_repeat(0);
    let mut separate = Bytes::ZERO;
    for recording in Recording::ALL {
        let plan = Plan::read(recording.reader(), Strictness::Strict)?;
        let reserved = replay(&plan, &config)?.peak_reserved;
        separate = separate.saturating_add(reserved);
        let (events, live) = (count(plan.events()), size(plan.peak_live()));
        table.add_row([recording.name(), recording.title(), &events, &live, &size(reserved)]);
    }
    let turns = format!("in turns of {EVENTS_PER_TURN} events");
    let (events, live) = (count(scene.rows.len() as u64), size(scene.peak_live));
    table.add_row(["together", &turns, &events, &live, &size(separate)]);
    writeln!(out, "{}\n", table.trim_fmt())?;
    Ok(separate)
}

fn show(out: &mut impl Write, when: &str, status: &PoolStatus) -> io::Result<()> {
    writeln!(out, "{when}")?;
    for line in status.to_string().lines() {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// What one pool held, beside what others would hold for the same events.
fn compare(scene: &Scene, shared: Bytes, separate: Bytes, out: &mut impl Write) -> anyhow::Result<()> {
    let rows = scene.rows.iter().copied().map(Ok);
    let caching = CachingBaseline::run(CachingConfig::per_stream(), rows)?.peak_reserved;
    let mut table = plain_table(&["for the same events", "reserved", "for a byte live", "against one pool"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (what, reserved) in [
        ("one pool for all models", shared),
        ("three pools like it, one for each model", separate),
        ("a caching allocator like torch's, a stream for each model", caching),
    ] {
        let for_a_byte = format!("{:.3}", reserved.ratio_of(scene.peak_live));
        let against = match 100.0 * (reserved.ratio_of(shared) - 1.0) {
            _ if reserved == shared || shared.is_zero() => String::new(),
            percent => format!("{percent:+.1} %"),
        };
        table.add_row([what.to_owned(), size(reserved), for_a_byte, against]);
    }
    writeln!(out, "{}\n", table.trim_fmt())?;
    Ok(())
}

/// How it looks when all is done.
struct End {
    /// The pool after the last event.
    live: PoolStatus,
    trimmed: Bytes,
    /// Ranges of the card that are still taken when the pool is gone.
    ranges: usize,
}

/// Says what was found; the last line is the verdict.
fn conclude(
    played: &Played,
    stamps: &Stamps<'_>,
    end: &End,
    out: &mut impl Write,
) -> anyhow::Result<Outcome> {
    let (written, intact) = (count(stamps.written()), count(stamps.intact));
    let (blocks, ranges) = (end.live.blocks, end.ranges);
    writeln!(out, "blocks   {written} written ({} in all), {intact} intact when freed", size(played.bytes))?;
    writeln!(out, "leaks    pool: {blocks} blocks, {}; card: {ranges} ranges", end.live.used)?;
    writeln!(out, "trimmed  {} went back to the card\n", size(end.trimmed))?;

    for fault in &stamps.faults {
        writeln!(out, "FAULT: {fault}")?;
    }
    if let Some((event, error)) = &played.first_failure {
        let failures = count(played.failures);
        writeln!(out, "FAILED: {failures} allocations, the first at event {event}: {error}")?;
    }
    let verdict = if stamps.fault_count > 0 {
        Err(format!("{} blocks overlap or were overwritten", count(stamps.fault_count)))
    } else if blocks > 0 || ranges > 0 {
        Err("something leaked".to_owned())
    } else if played.failures > 0 {
        Err("the card is too small for these models, or the pool's limit too low".to_owned())
    } else {
        Ok("no block overlaps another, none was overwritten, no leak, no failed allocation")
    };
    match verdict {
        Ok(text) => writeln!(out, "verdict: good: {text}")?,
        Err(ref text) => writeln!(out, "verdict: BAD: {text}")?,
    }
    Ok(if verdict.is_ok() { Outcome::Fine } else { Outcome::Finding })
}
