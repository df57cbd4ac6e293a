//! Reaching the bytes of a device by address, by copies only.
//!
//! The copies go through the file behind the mapping and not through pointers. The kernel copies, so racing accesses
//! (also with foreign code that uses the addresses) are no data races of Rust's, and reading commits no page. The
//! device's lock is held for reading meanwhile: a range cannot be freed under an access.
//!
//! An access may cross from one mapping of virtual memory into the next of the same reservation, as on a device.

use std::sync::Arc;

use crate::device::{Backing, HostDevice, State, host};
use crate::error::{FillCheckError, HostDeviceError};
use crate::identity::Identity;

/// Bytes that filling, checking and copying hold at a time.
const CHUNK: usize = 256 << 10;

/// A part of an access that lies in one range, and so in one piece in the file.
struct Piece<'a> {
    offset: u64,
    length: u64,
    identity: &'a Arc<Identity>,
}

impl State {
    /// Visits the pieces of an access in order, until one is missing.
    fn walk<'a>(
        &'a self,
        address: u64,
        length: u64,
        mut visit: impl FnMut(Piece<'a>),
    ) -> Result<(), HostDeviceError> {
        let (mut at, mut left) = (address, length);
        loop {
            let nearest = self.ranges.range(..=at).next_back();
            let Some((&base, range)) = nearest.filter(|&(base, range)| at - base < range.size) else {
                let reserved = self.virtual_memory.reservation_at(at).is_some();
                return Err(if reserved {
                    HostDeviceError::Hole { address: at }
                } else {
                    HostDeviceError::NotLive { address: at }
                });
            };
            let taken = left.min(range.size - (at - base));
            let (offset, identity) = (range.extent.offset + (at - base), &range.identity);
            visit(Piece { offset, length: taken, identity });
            left -= taken;
            at += taken;
            if left == 0 {
                return Ok(());
            }
            let (range_base, range_size) = match &range.backing {
                Backing::Own(_) => (base, range.size),
                Backing::Shown { .. } => match self.virtual_memory.reservation_at(at - 1) {
                    Some((start, size)) if at == start + size => (start, size),
                    _ => continue,
                },
            };
            return Err(HostDeviceError::PastEnd { address, length, range_base, range_size });
        }
    }

    /// Where in the file all bytes of an access lie, in order.
    fn pieces(&self, address: u64, length: u64) -> Result<Vec<Piece<'_>>, HostDeviceError> {
        let mut pieces = Vec::with_capacity(1);
        self.walk(address, length, |piece| pieces.push(piece))?;
        Ok(pieces)
    }

    /// Who the memory is that an access would reach, and whether all of it is live.
    pub(crate) fn identities(&self, address: u64, length: u64) -> (Vec<Arc<Identity>>, bool) {
        let mut identities = Vec::with_capacity(1);
        let complete = self.walk(address, length, |piece| identities.push(Arc::clone(piece.identity)));
        (identities, complete.is_ok())
    }
}

impl HostDevice {
    /// Copies `bytes` to the device, starting at `address`.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::NotLive`], [`HostDeviceError::PastEnd`] or [`HostDeviceError::Hole`] unless all bytes lie in
    /// one live range or in adjacent mappings of one reservation; nothing is written then. [`HostDeviceError::Host`]
    /// when the host has no memory left; a part may be written then.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), HostDeviceError> {
        let length = bytes.len() as u64;
        let state = self.state.read();
        let mut rest = bytes;
        for piece in state.pieces(address, length)? {
            let (part, behind) = rest.split_at(as_index(piece.length).min(rest.len()));
            state.pages.write(piece.offset, part).map_err(host("write", length))?;
            rest = behind;
        }
        Ok(())
    }

    /// Copies from the device, starting at `address`, until `bytes` is full.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::write`]; [`HostDeviceError::Host`] when the host does not answer.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), HostDeviceError> {
        let length = bytes.len() as u64;
        let state = self.state.read();
        let mut rest = bytes;
        for piece in state.pieces(address, length)? {
            let (part, behind) = rest.split_at_mut(as_index(piece.length).min(rest.len()));
            state.pages.read(piece.offset, part).map_err(host("read", length))?;
            rest = behind;
        }
        Ok(())
    }

    /// Sets `length` bytes from `address` on to `byte`. This commits their pages.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::write`].
    pub fn fill(&self, address: u64, length: u64, byte: u8) -> Result<(), HostDeviceError> {
        let state = self.state.read();
        let pattern = vec![byte; chunk(length)];
        for piece in state.pieces(address, length)? {
            let mut done = 0;
            while done < piece.length {
                let part = &pattern[..chunk(piece.length - done)];
                state.pages.write(piece.offset + done, part).map_err(host("write", length))?;
                done += part.len() as u64;
            }
        }
        Ok(())
    }

    /// Copies `length` bytes from one place of the device to another; the two may overlap.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::write`], for either place.
    pub fn copy(&self, to: u64, from: u64, length: u64) -> Result<(), HostDeviceError> {
        let state = self.state.read();
        state.pieces(from, length)?;
        state.pieces(to, length)?;
        drop(state);
        let mut buffer = vec![0; chunk(length)];
        let mut done = 0;
        while done < length {
            let part = &mut buffer[..chunk(length - done)];
            // What is overwritten must have been read: from the end on when the target lies behind.
            let offset = if to > from { length - done - part.len() as u64 } else { done };
            self.read(from + offset, part)?;
            self.write(to + offset, part)?;
            done += part.len() as u64;
        }
        Ok(())
    }

    /// Checks that `length` bytes from `address` on all are `byte`. Bytes never written are 0.
    ///
    /// # Errors
    ///
    /// [`FillCheckError::Mismatch`] with the first byte that differs, [`FillCheckError::Access`] as
    /// [`HostDevice::read`].
    pub fn check_fill(&self, address: u64, length: u64, byte: u8) -> Result<(), FillCheckError> {
        let state = self.state.read();
        let mut buffer = vec![0; chunk(length)];
        let mut before = 0;
        for piece in state.pieces(address, length)? {
            let mut done = 0;
            while done < piece.length {
                let part = &mut buffer[..chunk(piece.length - done)];
                state.pages.read(piece.offset + done, part).map_err(host("read", length))?;
                if let Some((index, &found)) = part.iter().enumerate().find(|&(_, &found)| found != byte) {
                    let offset = before + done + index as u64;
                    return Err(FillCheckError::Mismatch { address, offset, expected: byte, found });
                }
                done += part.len() as u64;
            }
            before += piece.length;
        }
        Ok(())
    }
}

/// A length of a part of a slice as an index into it.
fn as_index(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// How many of `length` bytes to take at once.
fn chunk(length: u64) -> usize {
    usize::try_from(length).map_or(CHUNK, |length| length.min(CHUNK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::HostDeviceConfig;

    const MIB: u64 = 1 << 20;

    fn device_with_range(size: u64) -> (HostDevice, u64) {
        let device = HostDevice::new(HostDeviceConfig::new(64 * MIB)).unwrap();
        let range = device.allocate(size).unwrap();
        (device, range)
    }

    #[test]
    fn bytes_written_are_read_back_and_their_neighbours_stay() {
        let (device, range) = device_with_range(2 * MIB);
        let last = range + 2 * MIB - 3;
        for address in [range, range + 4095, last] {
            device.write(address, &[1, 2, 3]).unwrap();
            let mut bytes = [0; 3];
            device.read(address, &mut bytes).unwrap();
            assert_eq!(bytes, [1, 2, 3]);
        }
        device.check_fill(range + 3, 4092, 0).unwrap();
        device.check_fill(range + 4098, last - (range + 4098), 0).unwrap();
    }

    #[test]
    fn ranges_do_not_share_bytes() {
        let (device, first) = device_with_range(2 * MIB);
        let second = device.allocate(2 * MIB).unwrap();
        device.fill(first, 2 * MIB, 0x11).unwrap();
        device.fill(second, 2 * MIB, 0x22).unwrap();
        device.check_fill(first, 2 * MIB, 0x11).unwrap();
        device.check_fill(second, 2 * MIB, 0x22).unwrap();
    }

    #[test]
    fn a_new_range_is_zero_even_where_an_old_one_was_written() {
        let (device, range) = device_with_range(2 * MIB);
        device.fill(range, 2 * MIB, 0xFF).unwrap();
        device.free(range, 2 * MIB).unwrap();
        let again = device.allocate(2 * MIB).unwrap();
        device.check_fill(again, 2 * MIB, 0).unwrap();
    }

    #[test]
    fn check_fill_names_the_first_byte_that_differs_across_chunks() {
        let (device, range) = device_with_range(2 * MIB);
        device.fill(range + 10, MIB, 0x5A).unwrap();
        device.write(range + 10 + 300_000, &[0x5B]).unwrap();
        device.write(range + 10 + 700_000, &[0x5C]).unwrap();
        let error = device.check_fill(range + 10, MIB, 0x5A).unwrap_err();
        assert!(
            matches!(error, FillCheckError::Mismatch { offset: 300_000, expected: 0x5A, found: 0x5B, .. }),
            "{error}"
        );
    }

    #[test]
    fn accesses_that_leave_their_range_are_refused_and_write_nothing() {
        let (device, range) = device_with_range(2 * MIB);
        for (address, length) in
            [(range, 2 * MIB + 1), (range + 2 * MIB - 1, 2), (range + 1, u64::MAX), (range, u64::MAX)]
        {
            let error = device.fill(address, length, 1).unwrap_err();
            assert!(matches!(error, HostDeviceError::PastEnd { .. }), "{error}");
        }
        device.check_fill(range, 2 * MIB, 0).unwrap();
    }

    #[test]
    fn addresses_outside_all_ranges_are_refused() {
        let (device, range) = device_with_range(2 * MIB);
        for address in [0, range - 1, range + 2 * MIB, u64::MAX] {
            let error = device.read(address, &mut [0]).unwrap_err();
            assert!(matches!(error, HostDeviceError::NotLive { .. }), "{error}");
            assert!(device.write(address, &[]).is_err());
            assert!(matches!(device.check_fill(address, 1, 0), Err(FillCheckError::Access(_))));
        }
    }

    #[test]
    fn a_freed_range_can_no_longer_be_reached() {
        let (device, range) = device_with_range(2 * MIB);
        device.free(range, 2 * MIB).unwrap();
        for address in [range, range + MIB] {
            assert!(matches!(device.read(address, &mut [0]), Err(HostDeviceError::NotLive { .. })));
            assert!(matches!(device.write(address, &[0]), Err(HostDeviceError::NotLive { .. })));
        }
    }

    #[test]
    fn an_access_of_no_bytes_inside_a_range_succeeds() {
        let (device, range) = device_with_range(2 * MIB);
        device.write(range, &[]).unwrap();
        device.fill(range, 0, 1).unwrap();
        device.check_fill(range, 0, 1).unwrap();
    }

    #[test]
    fn copies_inside_the_device_keep_bytes_when_the_places_overlap() {
        let (device, range) = device_with_range(2 * MIB);
        let bytes: Vec<u8> = (0..700_000_u32).map(|index| (index % 251) as u8).collect();
        for (from, to) in [(0, 100_000), (100_000, 0), (0, MIB), (5, 5)] {
            device.write(range + from, &bytes).unwrap();
            device.copy(range + to, range + from, bytes.len() as u64).unwrap();
            let mut back = vec![0; bytes.len()];
            device.read(range + to, &mut back).unwrap();
            assert!(back == bytes, "{from} {to}");
        }
    }

    #[test]
    fn a_copy_that_leaves_a_range_at_either_end_writes_nothing() {
        let (device, range) = device_with_range(2 * MIB);
        device.fill(range, MIB, 7).unwrap();
        assert!(device.copy(range + MIB + 1, range, MIB).is_err());
        assert!(device.copy(range, range + MIB + 1, MIB).is_err());
        device.check_fill(range, MIB, 7).unwrap();
        device.check_fill(range + MIB, MIB, 0).unwrap();
    }
}
