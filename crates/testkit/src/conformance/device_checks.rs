//! Checks of a device alone: the promises of [`mempool_core::Device`].

use std::thread;

use mempool_core::{Bytes, Device, DeviceAddress, DeviceError};

use super::{CheckResult, MakeDevice, served, times, unit_of};
use crate::violation::{Violation, ensure};

fn free_of(device: &dyn Device) -> Result<Bytes, Violation> {
    served("memory_info", device.memory_info()).map(|info| info.free)
}

fn take(device: &dyn Device, size: Bytes) -> Result<DeviceAddress, Violation> {
    served("allocate_arena", device.allocate_arena(size))
}

fn give(device: &dyn Device, base: DeviceAddress, size: Bytes) -> CheckResult {
    served("free_arena", device.free_arena(base, size))
}

pub(super) fn properties_stay_the_same(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let before = device.properties();
    ensure!(!before.arena_granularity.is_zero(), "properties", "the granularity is 0");
    let base = take(&*device, before.arena_granularity)?;
    let during = device.properties();
    give(&*device, base, before.arena_granularity)?;
    ensure!(before == during, "properties", "{before:?} became {during:?}");
    Ok(())
}

pub(super) fn free_memory_is_no_more_than_all_memory(make: MakeDevice<'_>) -> CheckResult {
    let info = served("memory_info", make().memory_info())?;
    ensure!(info.free <= info.total && !info.free.is_zero(), "memory_info", "{info:?}");
    Ok(())
}

pub(super) fn bases_are_multiples_of_the_arena_alignment(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let properties = device.properties();
    // Sizes that are no multiples of the alignment, so that one base after another would drift away from it.
    let arenas = (1..=8).map(|granules| times(properties.arena_granularity, granules));
    let mut taken = Vec::new();
    for size in arenas {
        let base = take(&*device, size)?;
        taken.push((base, size));
        let alignment = properties.arena_alignment;
        ensure!(
            base.is_aligned(alignment),
            "alignment",
            "an arena of {size} at {base}, no multiple of {alignment}"
        );
    }
    taken.into_iter().try_for_each(|(base, size)| give(&*device, base, size))
}

pub(super) fn any_number_of_granules_is_served(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    for granules in [1, 2, 3, 7, 8, 31, 64] {
        let size = times(device.properties().arena_granularity, granules);
        let base = take(&*device, size)?;
        give(&*device, base, size)?;
    }
    Ok(())
}

pub(super) fn arenas_do_not_overlap(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let granularity = device.properties().arena_granularity;
    let mut live: Vec<(u64, Bytes)> = Vec::new();
    for step in 0..48_u64 {
        if step % 3 == 2 {
            let (base, size) = live.swap_remove(usize::try_from(step * 7).unwrap_or(0) % live.len());
            give(&*device, DeviceAddress::new(base), size)?;
            continue;
        }
        let size = times(granularity, 1 + step % 4);
        let base = take(&*device, size)?.get();
        let other = live.iter().find(|&&(at, bytes)| at < base + size.get() && base < at + bytes.get());
        ensure!(other.is_none(), "I1", "{size} at {base:#x} overlaps {other:x?}");
        live.push((base, size));
    }
    live.into_iter().try_for_each(|(base, size)| give(&*device, DeviceAddress::new(base), size))
}

pub(super) fn memory_info_moves_by_what_is_taken(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let before = served("memory_info", device.memory_info())?;
    let size = times(unit_of(&*device), 3);
    let base = take(&*device, size)?;
    let during = served("memory_info", device.memory_info())?;
    give(&*device, base, size)?;
    let after = served("memory_info", device.memory_info())?;
    let fell = before.free.checked_sub(during.free);
    ensure!(fell == Some(size), "memory_info", "free fell by {fell:?} when {size} were taken");
    ensure!(before == after, "memory_info", "{before:?} became {after:?} though nothing is held");
    ensure!(
        during.total == before.total,
        "memory_info",
        "all memory became {} from {}",
        during.total,
        before.total
    );
    Ok(())
}

pub(super) fn more_than_is_free_is_out_of_memory_and_changes_nothing(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let granularity = device.properties().arena_granularity;
    let size = times(granularity, 2);
    let base = take(&*device, size)?;
    let free = free_of(&*device)?;
    let too_much = free.saturating_add(granularity).round_up_to(granularity).unwrap_or(Bytes::MAX);
    for wanted in [too_much, times(too_much, 16)] {
        let answer = device.allocate_arena(wanted);
        let right = matches!(&answer, Err(DeviceError::OutOfMemory { requested }) if *requested == wanted);
        ensure!(right, "out of memory", "{answer:?} for {wanted} of {free}");
    }
    let after = free_of(&*device)?;
    ensure!(after == free, "out of memory", "a failed call took {:?}", free.checked_sub(after));
    give(&*device, base, size)
}

pub(super) fn all_free_memory_can_be_taken_and_no_more(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let granularity = device.properties().arena_granularity;
    let whole = |bytes: Bytes| Bytes::new(bytes.get() / granularity.get() * granularity.get());
    let piece = whole(Bytes::new(free_of(&*device)?.get() / 8)).max(granularity);
    let mut taken = Vec::new();
    loop {
        let size = whole(free_of(&*device)?).min(piece);
        if size.is_zero() {
            break;
        }
        taken.push((take(&*device, size)?, size));
    }
    let answer = device.allocate_arena(granularity);
    ensure!(
        matches!(answer, Err(DeviceError::OutOfMemory { .. })),
        "out of memory",
        "{answer:?} on a full device"
    );
    taken.into_iter().try_for_each(|(base, size)| give(&*device, base, size))
}

pub(super) fn what_was_given_back_can_be_taken_again(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let granularity = device.properties().arena_granularity;
    let most = Bytes::new(free_of(&*device)?.get() / granularity.get() * granularity.get());
    for _ in 0..16 {
        let base = take(&*device, most)?;
        give(&*device, base, most)?;
    }
    Ok(())
}

pub(super) fn threads_may_call_at_the_same_time(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let before = free_of(&*device)?;
    let size = device.properties().arena_granularity;
    let work = || {
        (0..50).try_for_each(|_| {
            let base = take(&*device, size)?;
            free_of(&*device)?;
            give(&*device, base, size)
        })
    };
    thread::scope(|scope| {
        let workers = [(); 4].map(|()| scope.spawn(work));
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => Err(Violation::new("threads", "a thread panicked")),
        })
    })?;
    let after = free_of(&*device)?;
    ensure!(before == after, "memory_info", "{before} became {after} though nothing is held");
    Ok(())
}
