//! A pattern at both ends of every block, so that two blocks that share bytes give themselves away.

use std::fmt;

use mempool_core::{Bytes, DeviceAddress};

use crate::shadow::LiveBlock;
use crate::violation::{Violation, ensure};

/// Bytes at addresses of a device, for those that have any.
pub trait DeviceBytes: fmt::Debug + Send + Sync {
    /// Copies `bytes` to `address`.
    ///
    /// # Errors
    ///
    /// The device's words.
    fn write(&self, address: DeviceAddress, bytes: &[u8]) -> Result<(), String>;

    /// Copies from `address` until `bytes` is full.
    ///
    /// # Errors
    ///
    /// The device's words.
    fn read(&self, address: DeviceAddress, bytes: &mut [u8]) -> Result<(), String>;
}

/// Bytes of the pattern at each end of a block. Blocks are never shorter.
const PATTERN_BYTES: usize = 16;

/// Which block of which run, and which end, so that no two ends have the same.
fn pattern(block: &LiveBlock, end: u8) -> [u8; PATTERN_BYTES] {
    let mut pattern = [0; PATTERN_BYTES];
    let id = (block.id << 1 | u64::from(end)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    pattern[..8].copy_from_slice(&id.to_le_bytes());
    pattern[8..].copy_from_slice(&block.address.get().to_le_bytes());
    pattern
}

/// First byte of the pattern at the start and at the end: the last bytes that the block may use.
fn ends(block: &LiveBlock) -> [DeviceAddress; 2] {
    let last = block.bytes.saturating_sub(Bytes::new(PATTERN_BYTES as u64));
    [block.address, DeviceAddress::new(block.address.get() + last.get())]
}

/// Writes the pattern of a block to both of its ends.
///
/// # Errors
///
/// [`Violation`] when the device refuses: the block does not lie where the device has memory.
pub fn mark(bytes: &dyn DeviceBytes, block: &LiveBlock) -> Result<(), Violation> {
    for (end, address) in (0..).zip(ends(block)) {
        bytes
            .write(address, &pattern(block, end))
            .map_err(|error| Violation::new("contents", format!("{block} cannot be written: {error}")))?;
    }
    Ok(())
}

/// Checks that both ends of a block hold its pattern.
///
/// # Errors
///
/// [`Violation`] when they do not: somebody else wrote there.
pub fn check(bytes: &dyn DeviceBytes, block: &LiveBlock) -> Result<(), Violation> {
    for (end, address) in (0..).zip(ends(block)) {
        let mut found = [0; PATTERN_BYTES];
        bytes
            .read(address, &mut found)
            .map_err(|error| Violation::new("contents", format!("{block} cannot be read: {error}")))?;
        ensure!(found == pattern(block, end), "contents", "end {end} of {block} holds {found:x?}");
    }
    Ok(())
}
