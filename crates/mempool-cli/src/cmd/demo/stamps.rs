//! Proof that blocks do not overlap: by their addresses, and by what is stored in them.
//!
//! A block is stamped at its start, at its end, and at every address inside it that is a multiple of 64 KiB. A stamp says
//! whose it is and where it lies. Before the block is freed all of its stamps must still be there. Two blocks that shared
//! bytes on such a place would spoil each other's stamps; the ranges of live blocks, kept in order, find the others.

use std::collections::BTreeMap;

use backend_host::{HostDevice, HostDeviceError};
use mempool_core::RawAllocation;

/// Distance of the stamps inside a block, in bytes.
const STRIDE: u64 = 64 << 10;
/// Bytes of a stamp: the block's number and the address, 8 each.
const STAMP_BYTES: usize = 16;
/// The same, for arithmetic on addresses.
const STAMP: u64 = STAMP_BYTES as u64;

/// Live blocks and what was found about them.
#[derive(Debug)]
pub(super) struct Stamps<'a> {
    device: &'a HostDevice,
    /// End and number of each live block, by start.
    live: BTreeMap<u64, (u64, u64)>,
    numbered: u64,
    /// Blocks whose stamps were all there when they were freed.
    pub(super) intact: u64,
    /// What is wrong, the first few in words.
    pub(super) faults: Vec<String>,
    pub(super) fault_count: u64,
}

/// How many faults are told in words.
const FAULTS_IN_WORDS: usize = 5;

impl<'a> Stamps<'a> {
    pub(super) fn new(device: &'a HostDevice) -> Self {
        Self { device, live: BTreeMap::new(), numbered: 0, intact: 0, faults: Vec::new(), fault_count: 0 }
    }

    /// Takes a new block and writes its stamps.
    pub(super) fn write(&mut self, block: RawAllocation) -> Result<(), HostDeviceError> {
        self.write_range(block.address.get(), block.requested.get())
    }

    /// Checks the stamps of a block that is about to be freed.
    pub(super) fn check(&mut self, block: RawAllocation) -> Result<(), HostDeviceError> {
        self.check_at(block.address.get())
    }

    fn write_range(&mut self, start: u64, bytes: u64) -> Result<(), HostDeviceError> {
        let end = start + bytes;
        let number = self.numbered;
        self.numbered += 1;
        if let Some((&other, &(other_end, other_number))) = self.live.range(..end).next_back()
            && other_end > start
        {
            self.fault(format!("block {number} at {start:#x} overlaps block {other_number} at {other:#x}"));
        }
        self.live.insert(start, (end, number));
        for place in places(start, end) {
            let stamp = stamp(number, place);
            self.device.write(place, &stamp[..length(place, end)])?;
        }
        Ok(())
    }

    fn check_at(&mut self, start: u64) -> Result<(), HostDeviceError> {
        let Some((end, number)) = self.live.remove(&start) else {
            self.fault(format!("no block is known at {start:#x}"));
            return Ok(());
        };
        for place in places(start, end) {
            let length = length(place, end);
            let mut found = [0; STAMP_BYTES];
            self.device.read(place, &mut found[..length])?;
            if found[..length] != stamp(number, place)[..length] {
                self.fault(format!("block {number} at {start:#x} was overwritten at {place:#x}"));
                return Ok(());
            }
        }
        self.intact += 1;
        Ok(())
    }

    fn fault(&mut self, text: String) {
        self.fault_count += 1;
        if self.faults.len() < FAULTS_IN_WORDS {
            self.faults.push(text);
        }
    }

    /// Blocks written so far.
    pub(super) fn written(&self) -> u64 {
        self.numbered
    }
}

/// Where the stamps of a block lie: none overlap another of the same block.
fn places(start: u64, end: u64) -> impl Iterator<Item = u64> {
    let last = end.saturating_sub(STAMP).max(start);
    let inner = (start + STAMP).next_multiple_of(STRIDE);
    let inner = std::iter::successors(Some(inner), |place| Some(place + STRIDE))
        .take_while(move |place| place + STAMP <= last);
    let last = (last >= start + STAMP).then_some(last);
    std::iter::once(start).chain(inner).chain(last)
}

/// Bytes of the stamp at `place`: fewer in a block that ends before.
fn length(place: u64, end: u64) -> usize {
    usize::try_from(end - place).unwrap_or(usize::MAX).min(STAMP_BYTES)
}

fn stamp(number: u64, place: u64) -> [u8; STAMP_BYTES] {
    let mut stamp = [0; STAMP_BYTES];
    // The number comes first, so that the shortest blocks hold it. It is never 0, as untouched memory is.
    stamp[..8].copy_from_slice(&(number + 1).to_le_bytes());
    stamp[8..].copy_from_slice(&place.to_le_bytes());
    stamp
}

#[cfg(test)]
mod tests {
    use backend_host::HostDeviceConfig;

    use super::*;

    fn device() -> (HostDevice, u64) {
        let device = HostDevice::new(HostDeviceConfig::new(4 << 20)).unwrap();
        let base = device.allocate(4 << 20).unwrap();
        (device, base)
    }

    #[test]
    fn stamps_lie_inside_their_block_and_apart() {
        for start in [0, 512, STRIDE - 8, STRIDE, STRIDE + 512] {
            for bytes in [1, 8, 15, 16, 17, 31, 32, 33, STRIDE - 1, STRIDE, STRIDE + 16, 3 * STRIDE + 700] {
                let end = start + bytes;
                let spans: Vec<_> =
                    places(start, end).map(|place| (place, place + length(place, end) as u64)).collect();
                assert_eq!(spans[0].0, start);
                assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{start} {bytes}: {spans:?}");
                assert!(spans.iter().all(|&(from, to)| from < to && to <= end), "{start} {bytes}: {spans:?}");
                assert!(bytes < 32 || spans.last().unwrap().1 == end, "{start} {bytes}: {spans:?}");
            }
        }
    }

    #[test]
    fn blocks_side_by_side_are_intact() {
        let (device, base) = device();
        let mut stamps = Stamps::new(&device);
        for (start, bytes) in [(0, 512), (512, 1), (1024, 300_000), (1024 + 300_000, 7)] {
            stamps.write_range(base + start, bytes).unwrap();
        }
        for start in [0, 512, 1024, 1024 + 300_000] {
            stamps.check_at(base + start).unwrap();
        }
        assert_eq!((stamps.written(), stamps.intact, stamps.fault_count), (4, 4, 0));
    }

    #[test]
    fn overlapping_blocks_are_found_by_address_and_by_content() {
        let (device, base) = device();
        let mut stamps = Stamps::new(&device);
        stamps.write_range(base, 200_000).unwrap();
        stamps.write_range(base + 100_000, 200_000).unwrap();
        assert_eq!(stamps.fault_count, 1, "{:?}", stamps.faults);
        stamps.check_at(base).unwrap();
        assert_eq!((stamps.fault_count, stamps.intact), (2, 0), "{:?}", stamps.faults);
        assert!(stamps.faults[1].contains("was overwritten"), "{:?}", stamps.faults);
        stamps.check_at(base + 100_000).unwrap();
        assert_eq!(stamps.intact, 1, "the block written last has its stamps");
    }

    #[test]
    fn a_block_inside_another_is_found_by_address() {
        let (device, base) = device();
        let mut stamps = Stamps::new(&device);
        stamps.write_range(base, 60_000).unwrap();
        stamps.write_range(base + 512, 512).unwrap();
        assert!(stamps.faults[0].contains("overlaps block 0"), "{:?}", stamps.faults);
    }
}
