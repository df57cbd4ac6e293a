//! Growth, limits, trimming and errors of a pool over addresses only.

use std::sync::Arc;

use parking_lot::Mutex;

use super::*;
use crate::address_device::AddressDevice;
use crate::device::TailPadding;
use crate::error::{AllocError, FreeError, Shortage};
use crate::units::DeviceAddress;

fn pool(capacity: Bytes, config: impl FnOnce(crate::PoolConfigBuilder) -> crate::PoolConfigBuilder) -> Pool {
    let config = config(PoolConfig::builder()).build().unwrap();
    Pool::new(Arc::new(AddressDevice::new(capacity)), config).unwrap()
}

#[test]
fn a_pool_grows_by_arenas_and_trims_to_nothing() {
    let pool = pool(Bytes::gib(1), |config| config.arena_size(Bytes::mib(8)));
    let blocks: Vec<_> = (0..20).map(|_| pool.allocate(Bytes::mib(1)).unwrap()).collect();
    let status = pool.status();
    assert_eq!((status.total, status.arenas, status.used), (Bytes::mib(24), 3, Bytes::mib(20)));
    drop(blocks);
    pool.validate().unwrap();
    assert_eq!(pool.trim().unwrap(), Bytes::mib(24));
    let status = pool.status();
    assert_eq!((status.total, status.arenas, status.counters.trims), (Bytes::ZERO, 0, 3));
    assert_eq!(status.total_high_water, Bytes::mib(24));
}

#[test]
fn growth_takes_less_than_an_arena_when_limit_or_device_allow_no_more() {
    let limited = pool(Bytes::gib(1), |config| config.arena_size(Bytes::mib(64)).max_size(Bytes::mib(20)));
    drop(limited.allocate(Bytes::mib(3)).unwrap());
    assert_eq!(limited.status().total, Bytes::mib(16), "64 does not fit, 32 does not, 16 does");
    let small = pool(Bytes::mib(6), |config| config);
    let _block = small.allocate(Bytes::mib(5)).unwrap();
    assert_eq!(small.status().total, Bytes::mib(6), "down to what is needed, in granules");
}

#[test]
fn the_limit_is_never_passed_and_the_error_says_so() {
    let pool =
        pool(Bytes::gib(1), |config| config.name("bert").max_size(Bytes::mib(10)).arena_size(Bytes::mib(4)));
    let _first = pool.allocate(Bytes::mib(6)).unwrap();
    let Err(AllocError::OutOfMemory(error)) = pool.allocate(Bytes::mib(5)) else { panic!("must not fit") };
    assert_eq!(
        (error.shortage, error.requested, error.total),
        (Shortage::Limit, Bytes::mib(5), Bytes::mib(6))
    );
    let text = error.to_string();
    assert!(
        text.contains("\"bert\"") && text.contains("5 MiB") && text.contains("ASCEND_MEMORY_POOL_MAX_SIZE"),
        "{text}"
    );
    assert!(pool.status().total_high_water <= Bytes::mib(10));
    assert_eq!(pool.status().counters.failures, 1);
    pool.validate().unwrap();
}

#[test]
fn fragmentation_is_told_from_shortage() {
    let pool = pool(Bytes::mib(8), |config| config.initial_size(Bytes::mib(8)));
    let blocks: Vec<_> = (0..128).map(|_| pool.allocate(Bytes::kib(64)).unwrap()).collect();
    let kept: Vec<_> = blocks.into_iter().enumerate().filter(|(index, _)| index % 2 == 0).collect();
    let Err(AllocError::OutOfMemory(error)) = pool.allocate(Bytes::mib(1)) else {
        panic!("no hole is so long")
    };
    assert_eq!(
        (error.shortage, error.free, error.largest_free),
        (Shortage::Fragmentation, Bytes::mib(4), Bytes::kib(64))
    );
    assert!((pool.status().fragmentation() - (1.0 - 1.0 / 64.0)).abs() < 1e-12);
    drop(kept);
    assert!(pool.status().fragmentation().abs() < 1e-12);
}

#[test]
fn requests_that_make_no_sense_are_typed_errors() {
    let pool = pool(Bytes::gib(1), |config| config.max_size(Bytes::mib(64)));
    assert!(matches!(pool.allocate(Bytes::ZERO), Err(AllocError::ZeroSize)));
    let too_aligned = Alignment::new(1 << 31).unwrap();
    assert!(matches!(
        pool.allocate_aligned(Bytes::new(1), too_aligned),
        Err(AllocError::AlignmentTooLarge { .. })
    ));
    for bytes in [(64 << 20) + 1, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX] {
        let refused = pool.allocate(Bytes::new(bytes));
        assert!(matches!(refused, Err(AllocError::TooLarge { .. })), "{bytes}: {refused:?}");
    }
    let status = pool.status();
    assert_eq!((status.total, status.counters.failures), (Bytes::ZERO, 7));
}

#[test]
fn padding_and_alignment_of_the_device_are_kept() {
    let properties = DeviceProperties::new("ascend").with_tail_padding(TailPadding::ASCEND);
    let device = AddressDevice::with_properties(Bytes::mib(64), properties);
    let pool = Pool::new(Arc::new(device), PoolConfig::default()).unwrap();
    let block = pool.allocate(Bytes::new(512)).unwrap();
    assert_eq!(
        (block.requested(), block.bytes()),
        (Bytes::new(512), Bytes::new(1024)),
        "512 + 32 need the next class"
    );
    assert_eq!(pool.status().requested, Bytes::new(512));
}

#[test]
fn a_block_is_freed_with_the_size_of_its_request_or_not_at_all() {
    let pool = pool(Bytes::gib(1), |config| config);
    for bytes in [1, 100, 512, 40_000, 3 << 20] {
        let raw = pool.allocate_raw(Bytes::new(bytes), Alignment::ONE).unwrap();
        let refused = pool.free_sized(raw.address, Bytes::new(bytes + 1));
        assert!(
            matches!(refused, Err(FreeError::SizeMismatch { requested, .. }) if requested == Bytes::new(bytes))
        );
        assert_eq!(pool.block_at(raw.address), Ok(raw));
        assert_eq!(pool.free_sized(raw.address, Bytes::new(bytes)), Ok(raw.bytes));
    }
    pool.validate().unwrap();
}

#[test]
fn wrong_frees_are_named() {
    let (first, second) =
        (pool(Bytes::gib(1), |config| config.name("first")), pool(Bytes::gib(1), |config| config));
    let raw = first.allocate_raw(Bytes::mib(1), Alignment::ONE).unwrap();
    let wrong = second.free(raw.address);
    assert_eq!(wrong, Err(FreeError::WrongPool { address: raw.address, owner: "first".to_owned() }));
    first.free(raw.address).unwrap();
    assert_eq!(first.free(raw.address), Err(FreeError::DoubleFree { address: raw.address }));
    first.trim().unwrap();
    assert_eq!(first.free(raw.address), Err(FreeError::Stale { address: raw.address }));
    let nowhere = DeviceAddress::new(64);
    assert_eq!(first.free(nowhere), Err(FreeError::Foreign { address: nowhere }));
    assert_eq!(first.status().counters.refused_frees, 3);
}

#[derive(Debug, Default)]
struct Tape(Mutex<Vec<Event>>);

impl Recorder for Tape {
    fn record(&self, event: &Event) {
        self.0.lock().push(event.clone());
    }
}

#[test]
fn every_event_is_told_once_and_in_order() {
    let tape = Arc::new(Tape::default());
    let device = Arc::new(AddressDevice::new(Bytes::gib(1)));
    let pool = Pool::with_recorder(device, PoolConfig::default(), tape.clone()).unwrap();
    let block = pool.allocate(Bytes::new(5)).unwrap();
    let address = block.address();
    drop(block);
    pool.free(address).unwrap_err();
    pool.allocate(Bytes::ZERO).unwrap_err();
    pool.trim().unwrap();
    let raw = pool.allocate_raw(Bytes::new(7), Alignment::ONE).unwrap();
    drop(pool);
    let events = tape.0.lock();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| format!("{:?}", event.kind).split([' ', '{']).next().map(str::to_owned))
        .collect();
    let expected = [
        "Grown",
        "Allocated",
        "Freed",
        "FreeRefused",
        "AllocationFailed",
        "Trimmed",
        "Grown",
        "Allocated",
        "EndedWithLiveBlocks",
    ];
    assert_eq!(kinds, expected.map(|name| Some(name.to_owned())));
    assert!(events.iter().enumerate().all(|(index, event)| event.sequence == index as u64));
    assert!(raw.bytes >= raw.requested);
}

#[test]
fn the_report_adds_up_to_the_status() {
    let pool = pool(Bytes::gib(1), |config| config.arena_size(Bytes::mib(2)));
    let blocks: Vec<_> = (1..200).map(|index| pool.allocate(Bytes::new(index * 3_001)).unwrap()).collect();
    let kept: Vec<_> = blocks.into_iter().enumerate().filter(|(index, _)| index % 3 == 0).collect();
    let report = pool.report();
    let sum = |part: fn(&ArenaReport) -> Bytes| report.arenas.iter().map(part).sum::<Bytes>();
    assert_eq!(sum(|arena| arena.bytes), report.status.total);
    assert_eq!(sum(|arena| arena.used), report.status.used);
    assert_eq!(sum(|arena| arena.free), report.status.free);
    assert_eq!(sum(|arena| arena.cached), report.status.cached);
    assert_eq!(report.buckets.iter().map(|bucket| bucket.live_blocks).sum::<u64>(), kept.len() as u64);
    assert_eq!(report.arenas.iter().map(|arena| arena.largest_free).max(), Some(report.status.largest_free));
    assert!(report.to_string().lines().count() > report.arenas.len() + report.buckets.len());
}
