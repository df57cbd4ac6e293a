//! Reaching the bytes of a device by address, by copies only.
//!
//! The copies go through the file behind the mapping and not through pointers. The kernel copies, so racing accesses
//! (also with foreign code that uses the addresses) are no data races of Rust's, and reading commits no page. The
//! device's lock is held for reading meanwhile: a range cannot be freed under an access.

use crate::device::{HostDevice, State, host};
use crate::error::{FillCheckError, HostDeviceError};

/// Bytes that filling and checking hold at a time.
const CHUNK: usize = 256 << 10;

impl State {
    /// Where in the file `length` bytes at `address` lie, if all of them lie in one live range.
    fn locate(&self, address: u64, length: u64) -> Result<u64, HostDeviceError> {
        let not_live = HostDeviceError::NotLive { address };
        let Some((&range_base, range)) = self.ranges.range(..=address).next_back() else {
            return Err(not_live);
        };
        let offset = address - range_base;
        if offset >= range.size {
            return Err(not_live);
        }
        if length > range.size - offset {
            let range_size = range.size;
            return Err(HostDeviceError::PastEnd { address, length, range_base, range_size });
        }
        Ok(range.extent.offset + offset)
    }
}

impl HostDevice {
    /// Copies `bytes` to the device, starting at `address`.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::NotLive`] or [`HostDeviceError::PastEnd`] unless all bytes lie in one live range; nothing is
    /// written then. [`HostDeviceError::Host`] when the host has no memory left; a part may be written then.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), HostDeviceError> {
        let length = bytes.len() as u64;
        let state = self.state.read();
        let offset = state.locate(address, length)?;
        state.pages.write(offset, bytes).map_err(host("write", length))
    }

    /// Copies from the device, starting at `address`, until `bytes` is full.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::NotLive`] or [`HostDeviceError::PastEnd`] unless all bytes lie in one live range;
    /// [`HostDeviceError::Host`] when the host does not answer.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), HostDeviceError> {
        let length = bytes.len() as u64;
        let state = self.state.read();
        let offset = state.locate(address, length)?;
        state.pages.read(offset, bytes).map_err(host("read", length))
    }

    /// Sets `length` bytes from `address` on to `byte`. This commits their pages.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::write`].
    pub fn fill(&self, address: u64, length: u64, byte: u8) -> Result<(), HostDeviceError> {
        let state = self.state.read();
        let offset = state.locate(address, length)?;
        let pattern = vec![byte; chunk(length)];
        let mut done = 0;
        while done < length {
            let part = &pattern[..chunk(length - done)];
            state.pages.write(offset + done, part).map_err(host("write", length))?;
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
        let offset = state.locate(address, length)?;
        let mut buffer = vec![0; chunk(length)];
        let mut done = 0;
        while done < length {
            let part = &mut buffer[..chunk(length - done)];
            state.pages.read(offset + done, part).map_err(host("read", length))?;
            if let Some((index, &found)) = part.iter().enumerate().find(|&(_, &found)| found != byte) {
                let offset = done + index as u64;
                return Err(FillCheckError::Mismatch { address, offset, expected: byte, found });
            }
            done += part.len() as u64;
        }
        Ok(())
    }
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
}
