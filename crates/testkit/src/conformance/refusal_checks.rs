//! Checks of what a pool must refuse, each time without any change to what is live.

use mempool_core::{Alignment, AllocError, Bytes, DeviceAddress, FreeError, Pool};

use super::{CheckResult, MakeDevice, Subject, served, times};
use crate::violation::ensure;

/// A free that must fail in one way, and changes nothing but the counter.
fn refused(pool: &Pool, address: DeviceAddress, right: impl Fn(&FreeError) -> bool) -> CheckResult {
    let before = pool.status();
    let answer = pool.free(address);
    ensure!(answer.as_ref().is_err_and(&right), "refusal", "{answer:?} for {address}");
    let found = pool.block_at(address);
    ensure!(found.as_ref().is_err_and(&right), "look-up", "{found:?} for {address}");
    let mut after = pool.status();
    ensure!(after.counters.refused_frees == before.counters.refused_frees + 1, "I6", "{after:?}");
    after.counters.refused_frees -= 1;
    ensure!(after == before, "I4", "{before:?} became {after:?}");
    Ok(())
}

pub(super) fn zero_bytes_are_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let answer = subject.pool.allocate(Bytes::ZERO);
    ensure!(matches!(answer, Err(AllocError::ZeroSize)), "size", "{answer:?}");
    ensure!(subject.device.calls().is_empty(), "size", "the device was asked: {:?}", subject.device.calls());
    subject.end()
}

pub(super) fn sizes_near_2_to_the_63_are_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    for base in [1 << 63, u64::MAX, u64::MAX - 64, u64::MAX - (1 << 21), 1 << 62] {
        for bytes in [base - 1, base, base.saturating_add(1)].map(Bytes::new) {
            for alignment in [Alignment::ONE, Alignment::MIB_2, Alignment::GIB_1] {
                let answer = subject.pool.allocate_aligned(bytes, alignment);
                let right =
                    matches!(answer, Err(AllocError::TooLarge { requested, .. }) if requested == bytes);
                ensure!(right, "size", "{answer:?} for {} at {alignment}", bytes.get());
            }
        }
    }
    ensure!(subject.device.calls().is_empty(), "size", "the device was asked: {:?}", subject.device.calls());
    subject.end()
}

pub(super) fn alignments_over_1_gib_are_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    for shift in 31..64 {
        let answer = subject.pool.allocate_aligned(Bytes::new(1), super::alignment_of(shift));
        ensure!(
            matches!(answer, Err(AllocError::AlignmentTooLarge { .. })),
            "alignment",
            "{answer:?} for 2^{shift}"
        );
    }
    for no_power in [0, 3, 48, u64::MAX] {
        ensure!(Alignment::new(no_power).is_err(), "alignment", "{no_power} is no power of two");
    }
    subject.end()
}

pub(super) fn a_double_free_is_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pool = &subject.pool;
    let neighbour = served("allocate", pool.allocate(Bytes::new(100)))?;
    for bytes in [Bytes::new(100), Bytes::kib(100), subject.unit] {
        let raw = served("allocate", pool.allocate_raw(bytes, Alignment::ONE))?;
        served("free", pool.free(raw.address))?;
        for _ in 0..2 {
            refused(pool, raw.address, |error| *error == FreeError::DoubleFree { address: raw.address })?;
        }
    }
    drop(neighbour);
    subject.end()
}

pub(super) fn an_interior_free_is_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pool = &subject.pool;
    for bytes in [Bytes::new(100), Bytes::kib(10), Bytes::kib(100), subject.unit] {
        let block = served("allocate", pool.allocate(bytes))?;
        let size = block.bytes().get();
        for offset in [1, 256, size / 2, size - 1] {
            let address = DeviceAddress::new(block.address().get() + offset);
            let (block, block_bytes) = (block.address(), block.bytes());
            refused(pool, address, |error| *error == FreeError::Interior { address, block, block_bytes })?;
        }
    }
    subject.end()
}

pub(super) fn a_foreign_free_is_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let check_all = || {
        [0, 1, 4096, 1 << 48, (1 << 48) - 1, u64::MAX / 2, u64::MAX]
            .map(DeviceAddress::new)
            .into_iter()
            .try_for_each(|address| {
                refused(&subject.pool, address, |error| *error == FreeError::Foreign { address })
            })
    };
    check_all()?;
    let block = served("allocate", subject.pool.allocate(subject.unit))?;
    check_all()?;
    drop(block);
    subject.end()
}

pub(super) fn a_free_in_the_wrong_pool_names_the_owner(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let first = Subject::new(&|| std::sync::Arc::clone(&device), |config, _| config.name("first"))?;
    let second = Subject::new(&|| std::sync::Arc::clone(&device), |config, _| config.name("second"))?;
    let block = served("allocate", first.pool.allocate(first.unit))?;
    let other = served("allocate", second.pool.allocate(first.unit))?;
    let wrong = |address| move |error: &FreeError| matches!(error, FreeError::WrongPool { address: at, .. } if *at == address);
    refused(&second.pool, block.address(), wrong(block.address()))?;
    refused(&first.pool, other.address(), wrong(other.address()))?;
    let Err(FreeError::WrongPool { owner, .. }) = second.pool.free(block.address()) else {
        return Err(crate::Violation::new("refusal", "the second time differs from the first"));
    };
    ensure!(owner == "first", "refusal", "the owner is said to be {owner:?}");
    drop((block, other));
    first.end()?;
    second.end()
}

pub(super) fn a_stale_free_is_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let raw = served("allocate", subject.pool.allocate_raw(times(subject.unit, 2), Alignment::ONE))?;
    served("free", subject.pool.free(raw.address))?;
    served("trim", subject.pool.trim())?;
    // Another pool of this process may have got the same addresses since, and is named then.
    let right = |error: &FreeError| matches!(error, FreeError::Stale { .. } | FreeError::WrongPool { .. });
    refused(&subject.pool, raw.address, right)?;
    subject.end()
}

pub(super) fn a_free_with_the_wrong_size_is_refused(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let pool = &subject.pool;
    for requested in [Bytes::new(100), Bytes::kib(100)] {
        let raw = served("allocate", pool.allocate_raw(requested, Alignment::ONE))?;
        let address = raw.address;
        for given in
            [Bytes::ZERO, Bytes::new(requested.get() - 1), Bytes::new(requested.get() + 1), Bytes::MAX]
        {
            let answer = pool.free_sized(address, given);
            let expected = Err(FreeError::SizeMismatch { address, given, requested });
            ensure!(answer == expected, "refusal", "{answer:?} instead of {expected:?}");
        }
        let freed = served("free_sized", pool.free_sized(address, requested))?;
        ensure!(freed == raw.bytes, "free", "{freed} instead of {}", raw.bytes);
    }
    subject.end()
}
