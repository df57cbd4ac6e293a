//! Checks of the memory itself, which only the maker of the device can reach: [`DeviceBytes`].

use std::sync::Arc;

use mempool_core::{Bytes, Device, DeviceAddress, FitPolicy};

use super::{CheckResult, ConformanceError, Subject, run_list, served, times, unit_of};
use crate::actions::{Actions, Mix};
use crate::contents::DeviceBytes;
use crate::drive::Driver;
use crate::seed::Seed;
use crate::violation::{Violation, ensure};

/// A device, and its bytes.
pub type DeviceWithBytes = (Arc<dyn Device>, Arc<dyn DeviceBytes>);

/// A check of bytes by name.
#[derive(Debug, Clone, Copy)]
pub struct ByteCheck {
    /// Says what holds.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&dyn Fn() -> DeviceWithBytes) -> CheckResult,
}

macro_rules! byte_checks {
    ($($name:ident),* $(,)?) => {
        /// All checks of bytes, in the order in which they run.
        pub const BYTE_CHECKS: &[ByteCheck] = &[$(ByteCheck { name: stringify!($name), run: $name }),*];
    };
}

byte_checks![
    arenas_can_be_used_from_end_to_end,
    arenas_keep_their_bytes_beside_each_other,
    blocks_of_a_pool_keep_their_bytes,
    memory_keeps_its_bytes_when_it_is_mapped_elsewhere,
    mappings_keep_their_bytes_beside_each_other,
];

/// Runs all checks of bytes, each on devices of its own.
///
/// # Errors
///
/// All checks that failed, by name.
pub fn run_byte_conformance(make: impl Fn() -> DeviceWithBytes) -> Result<(), ConformanceError> {
    let checks = BYTE_CHECKS.iter().map(|check| (check.name, (check.run)(&make)));
    run_list(checks, || make().0.properties().name)
}

/// Bytes that a place of so many gets, by a number.
fn pattern(number: u64, length: usize) -> Vec<u8> {
    let seed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    (0..length).map(|at| seed[at % 8] ^ at.to_le_bytes()[0]).collect()
}

/// Where a range of this size is looked at: its first bytes, its middle, its last.
fn places(base: DeviceAddress, size: Bytes) -> [DeviceAddress; 3] {
    [0, size.get() / 2, size.get() - LENGTH as u64].map(|offset| DeviceAddress::new(base.get() + offset))
}

/// Bytes that are looked at in one place.
const LENGTH: usize = 4096;

fn write(bytes: &dyn DeviceBytes, number: u64, base: DeviceAddress, size: Bytes) -> CheckResult {
    places(base, size).into_iter().zip(number * 3..).try_for_each(|(address, number)| {
        let answer = bytes.write(address, &pattern(number, LENGTH));
        answer.map_err(|error| {
            Violation::new("bytes", format!("{LENGTH} at {address}, of {size} at {base}: {error}"))
        })
    })
}

fn check(bytes: &dyn DeviceBytes, number: u64, base: DeviceAddress, size: Bytes) -> CheckResult {
    places(base, size).into_iter().zip(number * 3..).try_for_each(|(address, number)| {
        let mut found = vec![0; LENGTH];
        let answer = bytes.read(address, &mut found);
        answer.map_err(|error| {
            Violation::new("bytes", format!("{LENGTH} at {address}, of {size} at {base}: {error}"))
        })?;
        let wrong = found.iter().zip(pattern(number, LENGTH)).position(|(found, written)| *found != written);
        ensure!(wrong.is_none(), "bytes", "byte {wrong:?} of {LENGTH} at {address} is not what was written");
        Ok(())
    })
}

fn arenas_can_be_used_from_end_to_end(make: &dyn Fn() -> DeviceWithBytes) -> CheckResult {
    let (device, bytes) = make();
    for granules in [1, 3, 16] {
        let size = times(device.properties().arena_granularity, granules);
        let base = served("allocate_arena", device.allocate_arena(size))?;
        write(&*bytes, granules, base, size)?;
        check(&*bytes, granules, base, size)?;
        served("free_arena", device.free_arena(base, size))?;
    }
    Ok(())
}

fn arenas_keep_their_bytes_beside_each_other(make: &dyn Fn() -> DeviceWithBytes) -> CheckResult {
    let (device, bytes) = make();
    let granularity = device.properties().arena_granularity;
    let mut arenas = Vec::new();
    for number in 0..8_u64 {
        let size = times(granularity, 1 + number % 3);
        let base = served("allocate_arena", device.allocate_arena(size))?;
        write(&*bytes, number, base, size)?;
        arenas.push((number, base, size));
    }
    for (number, base, size) in arenas {
        check(&*bytes, number, base, size)?;
        served("free_arena", device.free_arena(base, size))?;
    }
    Ok(())
}

fn blocks_of_a_pool_keep_their_bytes(make: &dyn Fn() -> DeviceWithBytes) -> CheckResult {
    for policy in FitPolicy::ALL {
        let (device, bytes) = make();
        let seed = Seed::for_test(format_args!("conformance of bytes, {policy}"));
        let mix = Mix::up_to(times(unit_of(&*device), 2));
        let subject = Subject::new(&|| Arc::clone(&device), |config, unit| {
            config.policy(policy).max_size(times(unit, 16))
        })?;
        let place = format!("seed {}, {policy}", seed.value());
        let driver = Driver::new(subject.pool.clone()).walking_every(50).with_bytes(bytes);
        driver.run(Actions::new(seed.value(), mix).take(600)).map_err(|violation| violation.at(place))?;
        subject.end()?;
    }
    Ok(())
}

fn memory_keeps_its_bytes_when_it_is_mapped_elsewhere(make: &dyn Fn() -> DeviceWithBytes) -> CheckResult {
    let (device, bytes) = make();
    let Some(memory) = device.virtual_memory() else { return Ok(()) };
    let (granule, size) = (memory.granule(), times(memory.granule(), 8));
    let base = served("reserve", memory.reserve(size))?;
    let piece = served("create_physical", memory.create_physical(times(granule, 2)))?;
    let mut before = None;
    for offset in [0, 5, 1, 6, 3] {
        let address = DeviceAddress::new(base.get() + times(granule, offset).get());
        served("map", memory.map(address, piece))?;
        if let Some(number) = before {
            check(&*bytes, number, address, times(granule, 2))?;
        }
        write(&*bytes, offset, address, times(granule, 2))?;
        before = Some(offset);
        served("unmap", memory.unmap(address))?;
    }
    served("release_physical", memory.release_physical(piece))?;
    served("free_reservation", memory.free_reservation(base, size))
}

fn mappings_keep_their_bytes_beside_each_other(make: &dyn Fn() -> DeviceWithBytes) -> CheckResult {
    let (device, bytes) = make();
    let Some(memory) = device.virtual_memory() else { return Ok(()) };
    let (granule, size) = (memory.granule(), times(memory.granule(), 4));
    let base = served("reserve", memory.reserve(size))?;
    let at = |number| DeviceAddress::new(base.get() + times(granule, number).get());
    let mut pieces = Vec::new();
    // The last one first, so that memory and addresses do not run in step.
    for number in [3, 1, 0, 2] {
        let piece = served("create_physical", memory.create_physical(granule))?;
        served("map", memory.map(at(number), piece))?;
        write(&*bytes, number, at(number), granule)?;
        pieces.push((number, piece));
    }
    // One range over all of them.
    let across = DeviceAddress::new(at(1).get() - LENGTH as u64 / 2);
    served_bytes(bytes.write(across, &pattern(77, LENGTH)))?;
    let mut found = vec![0; LENGTH];
    served_bytes(bytes.read(across, &mut found))?;
    ensure!(found == pattern(77, LENGTH), "bytes", "what was written across two mappings is not there");
    for (number, piece) in pieces {
        if number > 1 {
            check(&*bytes, number, at(number), granule)?;
        }
        served("unmap", memory.unmap(at(number)))?;
        served("release_physical", memory.release_physical(piece))?;
    }
    served("free_reservation", memory.free_reservation(base, size))
}

fn served_bytes(answer: Result<(), String>) -> CheckResult {
    answer.map_err(|error| Violation::new("bytes", error))
}
