//! Copies to and from memory that a backend holds, by address and without unsafe code.
//!
//! Whoever has a block of a pool has an address and no owner of `ascend-acl`. The backend has the owner, so it can vouch for the
//! range and keep it while it copies: memory that is being copied is not given back meanwhile.

use acl::{AclError, DeviceSlice};
use mempool_core::{Bytes, DeviceAddress, DeviceError};

use crate::backend::AscendBackend;
use crate::error::{BackendError, device_error};

impl AscendBackend {
    /// Copies `bytes` from the host to `address`, inside arenas or mappings of this backend, and waits.
    ///
    /// Whose block it is, the backend does not know. Neither comes in the order of streams nor waits for them: synchronise what
    /// uses the memory first. After a failure part of it may have been copied.
    ///
    /// # Errors
    ///
    /// [`BackendError::NotHeld`] inside of [`DeviceError::Other`], or ACL's own.
    pub fn write(&self, address: DeviceAddress, bytes: &[u8]) -> Result<(), DeviceError> {
        self.copy(address, bytes.len(), |place, done, length| place.write(&bytes[done..done + length]))
    }

    /// Fills `bytes` from `address`, inside arenas or mappings of this backend, and waits; see [`Self::write`].
    ///
    /// # Errors
    ///
    /// As for [`Self::write`].
    pub fn read(&self, address: DeviceAddress, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.copy(address, bytes.len(), |place, done, length| place.read(&mut bytes[done..done + length]))
    }

    /// Calls `part` for each place that holds a part of the range, with how much lies before and how long the part is.
    fn copy(
        &self,
        address: DeviceAddress,
        length: usize,
        mut part: impl FnMut(DeviceSlice<'_>, usize, usize) -> Result<(), AclError>,
    ) -> Result<(), DeviceError> {
        let size = Bytes::new(length as u64);
        let mut done = 0;
        while done < length {
            let at = address.checked_add(Bytes::new(done as u64));
            let at = at.ok_or(BackendError::NotHeld { address, size })?;
            let mut copy = |place: Result<DeviceSlice<'_>, AclError>, left: usize| {
                let place = place?;
                let now = place.size().min(left).min(length - done);
                part(place.slice(0, now)?, done, now)?;
                Ok(now)
            };
            let copied = if let Some((arena, offset, left)) = self.arenas().around(at) {
                copy(arena.place_at(offset), left)
            } else if let Some((mapping, offset, left)) =
                self.virtual_space().and_then(|space| space.around(at))
            {
                copy(mapping.as_slice().slice(offset, left), left)
            } else {
                return Err(BackendError::NotHeld { address, size }.into());
            };
            match copied.map_err(|error| device_error(error, Bytes::ZERO))? {
                // The last bytes of an arena that ACL counts as padding.
                0 => return Err(BackendError::NotHeld { address, size }.into()),
                now => done += now,
            }
        }
        Ok(())
    }
}
