//! Checks of a pool on the device: what it serves, and where it stops.

use mempool_core::{Alignment, AllocError, ArenaKind, Bytes, FitPolicy, MAX_ALIGNMENT, Shortage};

use super::{CheckResult, MakeDevice, Subject, alignment_of, served, times, unit_of};
use crate::actions::{Actions, Mix};
use crate::drive::Driver;
use crate::seed::Seed;
use crate::violation::{Violation, ensure};

pub(super) fn a_pool_allocates_frees_and_trims_to_nothing(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pool = &subject.pool;
    let block = served("allocate", pool.allocate(subject.unit))?;
    let status = pool.status();
    ensure!(status.blocks == 1 && status.used >= subject.unit, "status", "{status:?}");
    drop(block);
    let status = pool.status();
    ensure!(status.used.is_zero() && status.blocks == 0, "status", "{status:?}");
    let released = served("trim", pool.trim())?;
    ensure!(
        released == status.total && subject.device.live_arenas() == 0,
        "trim",
        "{released} of {status:?}"
    );
    subject.end()
}

pub(super) fn a_pool_uses_several_arenas(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pool = &subject.pool;
    let blocks = (0..12).map(|_| pool.allocate(subject.unit)).collect::<Result<Vec<_>, _>>();
    let blocks = served("allocate", blocks)?;
    let status = pool.status();
    ensure!(status.arenas >= 3 && status.blocks == 12, "growth", "{status:?}");
    let held = status.arenas == subject.device.live_arenas() as u64;
    ensure!(held, "growth", "the device counts {} arenas: {status:?}", subject.device.live_arenas());
    drop(blocks);
    served("trim", pool.trim())?;
    ensure!(pool.status().arenas == 0, "trim", "{:?}", pool.status());
    subject.end()
}

pub(super) fn a_pool_starts_with_its_initial_arena(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, unit| config.initial_size(times(unit, 6)))?;
    let status = subject.pool.status();
    ensure!(status.total == times(subject.unit, 6) && status.arenas == 1, "initial", "{status:?}");
    let block = served("allocate", subject.pool.allocate(times(subject.unit, 5)))?;
    ensure!(subject.pool.status().arenas == 1, "initial", "the pool grew: {:?}", subject.pool.status());
    drop(block);
    subject.end()
}

pub(super) fn blocks_have_every_alignment_that_fits(make: MakeDevice<'_>) -> CheckResult {
    for policy in FitPolicy::ALL {
        let subject = Subject::new(make, |config, _| config.policy(policy))?;
        let pool = &subject.pool;
        for shift in 0..=MAX_ALIGNMENT.get().ilog2() {
            let alignment = alignment_of(shift);
            for bytes in [Bytes::new(1), Bytes::kib(20), Bytes::kib(100)] {
                let free = served("memory_info", pool.device().memory_info())?.free;
                let block = match pool.allocate_aligned(bytes, alignment) {
                    Ok(block) => block,
                    // An arena for such an alignment may be more than a small device has.
                    Err(AllocError::OutOfMemory(_)) if free <= times(alignment.bytes(), 2) => continue,
                    Err(error) => {
                        return Err(Violation::new("alignment", format!("{bytes} at {alignment}: {error}")));
                    }
                };
                ensure!(block.address().is_aligned(alignment), "alignment", "{block:?} at {alignment}");
            }
        }
        subject.end()?;
    }
    Ok(())
}

pub(super) fn blocks_have_the_padding_and_alignment_of_the_device(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let properties = subject.pool.device().properties();
    for bytes in
        [1, 31, 32, 33, 480, 481, 512, 513, 16_352, 16_353, 32_736, 32_737, 65_536, 1_000_000].map(Bytes::new)
    {
        let block = served("allocate", subject.pool.allocate(bytes))?;
        let padded = properties.tail_padding.padded(bytes).unwrap_or(Bytes::MAX);
        ensure!(block.bytes() >= padded && block.requested() == bytes, "padding", "{block:?} for {padded}");
        let alignment = properties.block_alignment.max(Alignment::B_512);
        ensure!(block.address().is_aligned(alignment), "alignment", "{block:?} at {alignment}");
    }
    subject.end()
}

pub(super) fn a_pool_keeps_its_limit(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, unit| config.max_size(times(unit, 10)))?;
    let pool = &subject.pool;
    // As many as fit, with padding two fewer than the limit has units.
    let piece = Bytes::new(subject.unit.get() / 2);
    let mut blocks = Vec::new();
    let error = loop {
        match pool.allocate(piece) {
            Ok(block) => blocks.push(block),
            Err(error) => break error,
        }
    };
    ensure!(
        blocks.len() >= 12,
        "limit",
        "only {} of {piece} fit into {}",
        blocks.len(),
        times(subject.unit, 10)
    );
    let right = matches!(&error, AllocError::OutOfMemory(details)
        if details.limit == Some(times(subject.unit, 10)) && details.shortage != Shortage::Device);
    ensure!(right, "limit", "{error:?}");
    let too_large = pool.allocate(times(subject.unit, 11));
    ensure!(matches!(too_large, Err(AllocError::TooLarge { .. })), "limit", "{too_large:?}");
    drop(blocks.pop());
    blocks.push(served("allocate", pool.allocate(piece))?);
    drop(blocks);
    subject.end()
}

pub(super) fn a_pool_stops_at_the_device_s_memory(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let free = served("memory_info", device.memory_info())?.free;
    let piece = Bytes::new(free.get() / 6);
    drop(device);
    let subject = Subject::new(make, |config, _| config)?;
    let mut blocks = Vec::new();
    let error = loop {
        ensure!(blocks.len() < 7, "out of memory", "seven of {piece} cannot fit into {free}");
        match subject.pool.allocate(piece) {
            Ok(block) => blocks.push(block),
            Err(error) => break error,
        }
    };
    ensure!(blocks.len() >= 4, "out of memory", "only {} of {piece} fit into {free}: {error}", blocks.len());
    let right = matches!(&error, AllocError::OutOfMemory(details) if details.shortage == Shortage::Device);
    ensure!(right, "out of memory", "{error:?}");
    drop(blocks);
    let again = served("allocate", subject.pool.allocate(times(piece, 3)))?;
    drop(again);
    subject.end()
}

pub(super) fn a_repeated_pattern_asks_the_device_nothing(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pass = || -> CheckResult {
        let mut blocks = Vec::new();
        for number in 0..60 {
            let bytes = Bytes::new(1 + subject.unit.get() / 40 * (number % 13));
            blocks.push(served("allocate", subject.pool.allocate(bytes))?);
            if number % 3 == 0 {
                drop(blocks.remove(0));
            }
        }
        Ok(())
    };
    pass()?;
    subject.device.forget_calls();
    for _ in 0..5 {
        pass()?;
    }
    let calls = subject.device.calls();
    ensure!(calls.is_empty(), "steady state", "the device was asked {calls:?}");
    subject.end()
}

pub(super) fn random_actions_agree_with_the_shadow(make: MakeDevice<'_>) -> CheckResult {
    let with_kinds = |policy| ArenaKind::ALL.map(|kind| (policy, kind));
    for (policy, kind) in FitPolicy::ALL.into_iter().flat_map(with_kinds) {
        let seed = Seed::for_test(format_args!("conformance, {policy}, {kind} arenas"));
        let subject = Subject::new(make, |config, unit| {
            config.policy(policy).arena_kind(kind).max_size(times(unit, 16))
        })?;
        let mix = Mix::up_to(times(unit_of(&*subject.device), 2));
        let place = format!("seed {}, {policy}, {kind} arenas", seed.value());
        let driver = Driver::new(subject.pool.clone());
        driver.run(Actions::new(seed.value(), mix).take(600)).map_err(|violation| violation.at(place))?;
        subject.end()?;
    }
    Ok(())
}
