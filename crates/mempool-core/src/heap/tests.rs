//! Random actions against a shadow model that is a plain sorted map of live blocks.

use std::collections::BTreeMap;

use super::*;

/// xorshift64*: enough for tests, and no dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Log-uniform between 1 and 2^`bits`.
    fn size(&mut self, bits: u64) -> u64 {
        let shift = self.below(bits + 1);
        1 + self.below(1 << shift)
    }
}

fn check_against_shadow(policy: FitPolicy, seed: u64, steps: u64) {
    let mut random = Random(seed | 1);
    let mut heap = Heap::new(policy);
    let bases = [1_u64 << 30, (1 << 30) + (16 << 20) + (5 << 14), (3 << 40) + (1 << 14)];
    for base in bases {
        heap.add_arena(DeviceAddress::new(base), Bytes::mib(16)).unwrap();
    }
    let mut live: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for step in 0..steps {
        if random.below(100) < 55 {
            let bytes = random.size(22);
            let alignment = 1 << random.below(if step % 8 == 0 { 23 } else { 15 });
            let Some(block) = heap.allocate(Bytes::new(bytes), Alignment::new(alignment).unwrap()) else {
                continue;
            };
            let (start, size) = (block.address.get(), block.bytes.get());
            assert!(size >= bytes && start % alignment.max(512) == 0, "{block:?} for {bytes} at {alignment}");
            let before = live.range(..=start).next_back().map(|(at, (size, _))| at + size);
            assert!(before.is_none_or(|end| end <= start), "{block:?} overlaps the block before");
            assert!(
                live.range(start..).next().is_none_or(|(&next, _)| start + size <= next),
                "{block:?} overlaps the next"
            );
            assert!(bases.iter().any(|base| *base <= start && start + size <= base + (16 << 20)));
            live.insert(start, (size, bytes));
        } else if let Some((&start, &(size, bytes))) =
            live.range(random.next() % (4 << 40)..).next().or(live.iter().next())
        {
            let interior = DeviceAddress::new(start + 1 + random.below(size - 1));
            assert!(
                matches!(heap.free(interior), Err(FreeError::Interior { block, .. }) if block.get() == start)
            );
            let freed = heap.free(DeviceAddress::new(start)).unwrap();
            assert_eq!((freed.bytes.get(), freed.requested.get()), (size, bytes));
            live.remove(&start);
            let again = heap.free(DeviceAddress::new(start));
            assert_eq!(again, Err(FreeError::DoubleFree { address: DeviceAddress::new(start) }));
        }
        let totals = heap.totals();
        assert_eq!(totals.live_blocks, live.len() as u64);
        assert_eq!(totals.live.get(), live.values().map(|(size, _)| size).sum::<u64>());
        assert_eq!(totals.requested.get(), live.values().map(|(_, bytes)| bytes).sum::<u64>());
        if step % 16 == 0 {
            heap.validate().unwrap();
        }
    }
    for &start in live.keys() {
        heap.free(DeviceAddress::new(start)).unwrap();
    }
    heap.validate().unwrap();
    for base in bases {
        assert!(
            heap.remove_arena_if_empty(DeviceAddress::new(base)),
            "all blocks are free, so the arena is one run"
        );
    }
    heap.validate().unwrap();
    assert_eq!(heap.totals(), HeapTotals::default());
}

#[test]
fn random_actions_agree_with_a_shadow_under_best_fit() {
    (1..=8).for_each(|seed| check_against_shadow(FitPolicy::BestFit, seed * 0x9E37_79B9, 2_000));
}

#[test]
fn random_actions_agree_with_a_shadow_under_first_fit() {
    (1..=8).for_each(|seed| check_against_shadow(FitPolicy::FirstFit, seed * 0x9E37_79B9, 2_000));
}

/// Runs of whole pages only, so that the naive answer is easy: which hole would each policy take?
fn check_choice(policy: FitPolicy, seed: u64) {
    let mut random = Random(seed | 1);
    let mut heap = Heap::new(policy);
    let base = 1_u64 << 32;
    heap.add_arena(DeviceAddress::new(base), Bytes::mib(256)).unwrap();
    let mut live = Vec::new();
    for _ in 0..1_000 {
        if random.below(100) < 52 {
            let bytes = SMALL_MAX_BYTES + 1 + random.size(24);
            let wanted = bytes.next_multiple_of(PAGE_BYTES);
            let holes: Vec<_> = heap
                .blocks_of_arena(DeviceAddress::new(base))
                .filter(|block| block.state == BlockState::Free && block.bytes.get() >= wanted)
                .map(|block| (block.address.get(), block.bytes.get()))
                .collect();
            let block = heap.allocate(Bytes::new(bytes), Alignment::ONE);
            assert_eq!(block.is_some(), !holes.is_empty(), "served if and only if a hole is long enough");
            let Some(block) = block else { continue };
            let start = block.address.get();
            let taken =
                holes.iter().find(|(hole, _)| *hole == start).expect("a block starts at the start of a hole");
            match policy {
                FitPolicy::BestFit => {
                    assert_eq!(
                        Some(taken.1),
                        holes.iter().map(|(_, size)| *size).min(),
                        "the smallest that suffices"
                    );
                }
                FitPolicy::FirstFit => {
                    assert_eq!(
                        Some(taken.0),
                        holes.iter().map(|(hole, _)| *hole).min(),
                        "the lowest that suffices"
                    );
                }
            }
            live.push(block.address);
        } else if !live.is_empty() {
            let victim = live.swap_remove(usize::try_from(random.below(live.len() as u64)).unwrap());
            heap.free(victim).unwrap();
        }
    }
}

#[test]
fn best_fit_takes_the_smallest_hole_that_a_naive_search_finds() {
    (1..=8).for_each(|seed| check_choice(FitPolicy::BestFit, seed * 77_777));
}

#[test]
fn first_fit_takes_the_lowest_hole_that_a_naive_search_finds() {
    (1..=8).for_each(|seed| check_choice(FitPolicy::FirstFit, seed * 77_777));
}

#[test]
fn alignment_up_to_one_gib_is_kept_and_fails_only_when_no_place_exists() {
    for shift in 0..=30 {
        let mut heap = Heap::new(FitPolicy::BestFit);
        heap.add_arena(DeviceAddress::new((1 << 36) + (1 << 21)), Bytes::gib(2)).unwrap();
        let alignment = Alignment::new(1 << shift).unwrap();
        let block = heap.allocate(Bytes::mib(1), alignment).unwrap();
        assert!(block.address.is_aligned(alignment), "{block:?} at {alignment}");
        heap.validate().unwrap();
        heap.free(block.address).unwrap();
        assert_eq!(heap.totals().largest_free, Bytes::gib(2), "head and tail coalesce again");
    }
}

#[test]
fn an_aligned_block_finds_the_one_hole_that_fits_exactly() {
    let mut heap = Heap::new(FitPolicy::BestFit);
    heap.add_arena(DeviceAddress::new(1 << 32), Bytes::mib(8)).unwrap();
    let blocks: Vec<_> = (0..128).map(|_| heap.allocate(Bytes::kib(64), Alignment::ONE).unwrap()).collect();
    // Holes of 64 KiB everywhere but on 2 MiB, then the one at 4 MiB.
    for block in blocks.iter().filter(|block| block.address.get() % (128 << 10) == 64 << 10) {
        heap.free(block.address).unwrap();
    }
    assert_eq!(heap.allocate(Bytes::kib(64), Alignment::MIB_2), None);
    let wanted = DeviceAddress::new((1 << 32) + (4 << 20));
    heap.free(wanted).unwrap();
    assert_eq!(heap.allocate(Bytes::kib(64), Alignment::MIB_2).map(|block| block.address), Some(wanted));
    heap.validate().unwrap();
}

#[test]
fn sizes_that_cannot_be_served_are_answered_with_none() {
    let mut heap = Heap::new(FitPolicy::BestFit);
    assert_eq!(heap.allocate(Bytes::new(1), Alignment::ONE), None, "no arena yet");
    heap.add_arena(DeviceAddress::new(1 << 32), Bytes::mib(8)).unwrap();
    for bytes in [0, (8 << 20) + 1, 1 << 43, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX] {
        assert_eq!(heap.allocate(Bytes::new(bytes), Alignment::ONE), None, "{bytes}");
    }
    for shift in 31..64 {
        let alignment = Alignment::new(1 << shift).unwrap();
        let block = heap.allocate(Bytes::new(1), alignment);
        assert!(block.is_none_or(|block| block.address.is_aligned(alignment)));
        if let Some(block) = block {
            heap.free(block.address).unwrap();
        }
    }
    heap.validate().unwrap();
}

#[test]
fn a_start_that_was_merged_into_its_left_neighbour_cannot_be_freed_again() {
    let mut heap = Heap::new(FitPolicy::BestFit);
    heap.add_arena(DeviceAddress::new(1 << 32), Bytes::mib(8)).unwrap();
    let left = heap.allocate(Bytes::mib(1), Alignment::ONE).unwrap();
    let right = heap.allocate(Bytes::mib(1), Alignment::ONE).unwrap();
    heap.free(left.address).unwrap();
    heap.free(right.address).unwrap();
    assert!(matches!(heap.free(right.address), Err(FreeError::DoubleFree { .. })));
    let both = heap.allocate(Bytes::mib(2), Alignment::ONE).unwrap();
    assert_eq!(both.address, left.address);
    assert!(
        matches!(heap.free(right.address), Err(FreeError::Interior { .. })),
        "stale tag inside a live block"
    );
    heap.validate().unwrap();
}

#[test]
fn foreign_addresses_are_told_from_double_frees() {
    let mut heap = Heap::new(FitPolicy::BestFit);
    let base = (1 << 32) + (3 << 14);
    heap.add_arena(DeviceAddress::new(base), Bytes::mib(2)).unwrap();
    for address in [0, 1, base - 1, base - (3 << 14), base + (2 << 20), 1 << 47, 1 << 48, u64::MAX] {
        let address = DeviceAddress::new(address);
        assert_eq!(heap.free(address), Err(FreeError::Foreign { address }));
    }
    for address in [base, base + 512, base + (2 << 20) - 1] {
        let address = DeviceAddress::new(address);
        assert_eq!(heap.free(address), Err(FreeError::DoubleFree { address }));
    }
}
