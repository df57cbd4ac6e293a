//! Checks of [`mempool_core::VirtualMemory`], on devices that have it; on others they hold as they are.

use std::thread;

use mempool_core::{ArenaKind, Bytes, Device, DeviceAddress, DeviceError, PhysicalMemory, VirtualMemory};

use super::{CheckResult, MakeDevice, Subject, served, times};
use crate::violation::{Violation, ensure};

/// Runs a check on a device with virtual memory, and looks afterwards whether the device has everything back.
fn with_virtual_memory(
    make: MakeDevice<'_>,
    check: impl FnOnce(&dyn VirtualMemory, &dyn Device) -> CheckResult,
) -> CheckResult {
    let device = make();
    let Some(memory) = device.virtual_memory() else { return Ok(()) };
    let before = served("memory_info", device.memory_info())?;
    check(memory, &*device)?;
    let after = served("memory_info", device.memory_info())?;
    ensure!(before == after, "memory_info", "{before:?} became {after:?} though nothing is held");
    Ok(())
}

fn at(base: DeviceAddress, offset: Bytes) -> DeviceAddress {
    DeviceAddress::new(base.get() + offset.get())
}

fn reserve(memory: &dyn VirtualMemory, size: Bytes) -> Result<DeviceAddress, Violation> {
    served("reserve", memory.reserve(size))
}

fn create(memory: &dyn VirtualMemory, size: Bytes) -> Result<PhysicalMemory, Violation> {
    served("create_physical", memory.create_physical(size))
}

fn map(memory: &dyn VirtualMemory, address: DeviceAddress, piece: PhysicalMemory) -> CheckResult {
    served("map", memory.map(address, piece))
}

fn unmap(memory: &dyn VirtualMemory, address: DeviceAddress) -> CheckResult {
    served("unmap", memory.unmap(address))
}

fn release(memory: &dyn VirtualMemory, piece: PhysicalMemory) -> CheckResult {
    served("release_physical", memory.release_physical(piece))
}

fn give_addresses(memory: &dyn VirtualMemory, base: DeviceAddress, size: Bytes) -> CheckResult {
    served("free_reservation", memory.free_reservation(base, size))
}

/// That a mistake of the caller is answered as one.
fn refused<T: std::fmt::Debug>(what: &'static str, answer: &Result<T, DeviceError>) -> CheckResult {
    ensure!(matches!(answer, Err(DeviceError::Other(_))), what, "answered {answer:?}");
    Ok(())
}

pub(super) fn whether_there_is_virtual_memory_never_changes(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let before = device.virtual_memory().map(VirtualMemory::granule);
    let base = served("allocate_arena", device.allocate_arena(device.properties().arena_granularity))?;
    let during = device.virtual_memory().map(VirtualMemory::granule);
    served("free_arena", device.free_arena(base, device.properties().arena_granularity))?;
    ensure!(before == during, "granule", "{before:?} became {during:?}");
    ensure!(
        before.is_none_or(|granule| granule.get().is_power_of_two()),
        "granule",
        "{before:?} is no power of two"
    );
    Ok(())
}

pub(super) fn addresses_cost_no_memory_and_memory_no_addresses(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, device| {
        let granule = memory.granule();
        let free = || served("memory_info", device.memory_info()).map(|info| info.free);
        let before = free()?;
        let size = times(granule, 64);
        let base = reserve(memory, size)?;
        ensure!(free()? == before, "reserve", "took memory");
        let piece = create(memory, times(granule, 2))?;
        let fell = before.checked_sub(free()?);
        ensure!(fell == Some(times(granule, 2)), "create_physical", "free fell by {fell:?} for 2 granules");
        map(memory, at(base, granule), piece)?;
        let fell = before.checked_sub(free()?);
        ensure!(fell == Some(times(granule, 2)), "map", "free fell by {fell:?} for 2 granules");
        unmap(memory, at(base, granule))?;
        release(memory, piece)?;
        give_addresses(memory, base, size)
    })
}

pub(super) fn memory_can_be_mapped_again_and_elsewhere(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, _| {
        let granule = memory.granule();
        let base = reserve(memory, times(granule, 8))?;
        ensure!(base.get().is_multiple_of(granule.get()), "reserve", "{base} is no multiple of {granule}");
        let pieces = [create(memory, granule)?, create(memory, times(granule, 3))?];
        for [first, second] in [[0, 1], [7, 0], [3, 4], [0, 5]] {
            map(memory, at(base, times(granule, first)), pieces[0])?;
            map(memory, at(base, times(granule, second)), pieces[1])?;
            unmap(memory, at(base, times(granule, first)))?;
            unmap(memory, at(base, times(granule, second)))?;
        }
        pieces.into_iter().try_for_each(|piece| release(memory, piece))?;
        give_addresses(memory, base, times(granule, 8))
    })
}

pub(super) fn reservations_and_arenas_do_not_overlap(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, device| {
        let granule = memory.granule();
        let arena = device.properties().arena_granularity;
        let mut taken: Vec<(u64, Bytes)> = Vec::new();
        for step in 1..=6_u64 {
            let size = times(granule, step);
            taken.push((reserve(memory, size)?.get(), size));
            taken.push((served("allocate_arena", device.allocate_arena(arena))?.get(), arena));
        }
        let mut sorted = taken.clone();
        sorted.sort_unstable();
        for pair in sorted.windows(2) {
            let [(base, size), (next, _)] = [pair[0], pair[1]];
            ensure!(base + size.get() <= next, "I1", "{size} at {base:#x} overlaps {next:#x}");
        }
        for pair in taken.chunks(2) {
            let [(base, size), (arena_base, _)] = [pair[0], pair[1]];
            give_addresses(memory, DeviceAddress::new(base), size)?;
            served("free_arena", device.free_arena(DeviceAddress::new(arena_base), arena))?;
        }
        Ok(())
    })
}

pub(super) fn a_refused_mapping_changes_nothing(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, _| {
        let granule = memory.granule();
        let size = times(granule, 4);
        let base = reserve(memory, size)?;
        let [one, two] = [create(memory, granule)?, create(memory, times(granule, 2))?];
        map(memory, at(base, granule), one)?;
        refused("map what is mapped", &memory.map(at(base, times(granule, 3)), one))?;
        refused("map over a mapping", &memory.map(base, two))?;
        refused("map past the end", &memory.map(at(base, times(granule, 3)), two))?;
        let crooked = at(base, Bytes::new(granule.get() * 2 + granule.get() / 2));
        refused("map at no multiple", &memory.map(crooked, two))?;
        refused("map outside", &memory.map(DeviceAddress::new(granule.get()), two))?;
        refused("map nothing", &memory.map(base, PhysicalMemory::new(u64::MAX)))?;
        // Neither the memory nor the place is spoilt.
        map(memory, at(base, times(granule, 2)), two)?;
        unmap(memory, at(base, granule))?;
        unmap(memory, at(base, times(granule, 2)))?;
        release(memory, one)?;
        release(memory, two)?;
        give_addresses(memory, base, size)
    })
}

pub(super) fn what_is_mapped_stays(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, _| {
        let granule = memory.granule();
        let size = times(granule, 4);
        let base = reserve(memory, size)?;
        let piece = create(memory, times(granule, 2))?;
        map(memory, base, piece)?;
        refused("release mapped memory", &memory.release_physical(piece))?;
        refused("free addresses with a mapping", &memory.free_reservation(base, size))?;
        refused("unmap in the middle", &memory.unmap(at(base, granule)))?;
        refused("unmap behind", &memory.unmap(at(base, times(granule, 2))))?;
        unmap(memory, base)?;
        refused("unmap twice", &memory.unmap(base))?;
        release(memory, piece)?;
        refused("release twice", &memory.release_physical(piece))?;
        refused("map what was released", &memory.map(base, piece))?;
        give_addresses(memory, base, size)?;
        refused("free addresses twice", &memory.free_reservation(base, size))?;
        refused("unmap in addresses that are gone", &memory.unmap(base))
    })
}

pub(super) fn sizes_that_are_no_granules_are_refused(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, _| {
        let granule = memory.granule().get();
        for size in [0, 1, granule - 1, granule + 1, granule / 2].map(Bytes::new) {
            refused("reserve an odd size", &memory.reserve(size))?;
            refused("create an odd size", &memory.create_physical(size))?;
        }
        Ok(())
    })
}

pub(super) fn more_physical_memory_than_is_free_is_out_of_memory(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, device| {
        let granule = memory.granule();
        let held = create(memory, granule)?;
        let free = served("memory_info", device.memory_info())?.free;
        let wanted = free.saturating_add(granule).round_up_to(granule).unwrap_or(Bytes::MAX);
        let answer = memory.create_physical(wanted);
        let right = matches!(&answer, Err(DeviceError::OutOfMemory { requested }) if *requested == wanted);
        ensure!(right, "out of memory", "{answer:?} for {wanted} of {free}");
        let after = served("memory_info", device.memory_info())?.free;
        ensure!(after == free, "out of memory", "a failed call took {:?}", free.checked_sub(after));
        release(memory, held)
    })
}

pub(super) fn threads_may_map_at_the_same_time(make: MakeDevice<'_>) -> CheckResult {
    with_virtual_memory(make, |memory, _| {
        let granule = memory.granule();
        let size = times(granule, 8);
        let base = reserve(memory, size)?;
        let work = |number: u64| {
            (0..20).try_for_each(|round| {
                let piece = create(memory, granule)?;
                let address = at(base, times(granule, 2 * number + round % 2));
                map(memory, address, piece)?;
                unmap(memory, address)?;
                release(memory, piece)
            })
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|number| scope.spawn(move || work(number))).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => Err(Violation::new("threads", "a thread panicked")),
            })
        })?;
        give_addresses(memory, base, size)
    })
}

pub(super) fn whole_free_granules_serve_a_pool_wherever_they_are(make: MakeDevice<'_>) -> CheckResult {
    let Some(granule) = make().virtual_memory().map(VirtualMemory::granule) else { return Ok(()) };
    let size = granule.max(Bytes::mib(2));
    let padded = |count| times(size, count).saturating_sub(Bytes::kib(1));
    let subject =
        Subject::new(make, |config, _| config.arena_kind(ArenaKind::Virtual).max_size(times(size, 12)))?;
    let pool = &subject.pool;
    let blocks = (0..12).map(|_| pool.allocate(padded(1))).collect::<Result<Vec<_>, _>>();
    let blocks = served("allocate", blocks)?;
    let kept: Vec<_> = blocks.into_iter().step_by(2).collect();
    let large = served("allocate", pool.allocate(padded(6)))?;
    let status = pool.status();
    ensure!(status.counters.stolen_granules > 0, "moved", "{status:?}");
    drop(large);
    let again = served("allocate", pool.allocate(padded(6)))?;
    ensure!(pool.status().counters.maps == status.counters.maps, "again", "{:?}", pool.status());
    drop((again, kept));
    served("trim", pool.trim())?;
    ensure!(pool.status().total.is_zero(), "trim", "{:?}", pool.status());
    subject.end()
}
