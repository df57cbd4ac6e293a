//! Ranges of device memory, and the copies that wait.
#![expect(unsafe_code, reason = "vouches for ranges of memory, and lets callers vouch for theirs")]

use crate::api::check_range;
use crate::context::ContextInner;
use crate::{AclError, Context};

/// A range of device memory that stays as long as the borrow.
///
/// The copies wait until they are done, but not for work in streams: whoever uses the memory in a stream synchronises it
/// first. Several threads may copy at once; what two of them write to the same place is one of the two, byte by byte.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSlice<'a> {
    // Invariant: `size` bytes at `address` are device memory for `'a`.
    address: u64,
    size: usize,
    context: &'a ContextInner,
}

impl Context {
    /// A range of memory that the caller knows of, such as a block of a pool.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are memory of this context's device as long as the slice lives.
    /// - They are the caller's to read and write.
    pub unsafe fn slice_at(&self, address: u64, size: usize) -> DeviceSlice<'_> {
        DeviceSlice { address, size, context: &self.inner }
    }
}

impl<'a> DeviceSlice<'a> {
    /// A range of memory that `context` keeps.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are device memory for `'a`.
    pub(crate) unsafe fn new(context: &'a ContextInner, address: u64, size: usize) -> Self {
        Self { address, size, context }
    }

    /// The address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A part.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`].
    pub fn slice(&self, offset: usize, length: usize) -> Result<Self, AclError> {
        check_range(offset, length, self.size)?;
        Ok(Self { address: self.address + offset as u64, size: length, context: self.context })
    }

    /// Copies `bytes` to the beginning, and waits.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] if they are too many, or ACL's own.
    pub fn write(&self, bytes: &[u8]) -> Result<(), AclError> {
        check_range(0, bytes.len(), self.size)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let bound = self.context.bind()?;
        // SAFETY: as many bytes are device memory, by the invariant and the check.
        unsafe { bound.copy_to_device(self.address, bytes) }
    }

    /// Fills `bytes` from the beginning, and waits.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] if they are too many, or ACL's own.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), AclError> {
        check_range(0, bytes.len(), self.size)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let bound = self.context.bind()?;
        // SAFETY: as many bytes are device memory, by the invariant and the check.
        unsafe { bound.copy_to_host(bytes, self.address) }
    }

    /// Sets every byte, and waits.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn fill(&self, value: u8) -> Result<(), AclError> {
        if self.size == 0 {
            return Ok(());
        }
        let bound = self.context.bind()?;
        // SAFETY: the invariant.
        unsafe { bound.fill(self.address, value, self.size) }
    }

    /// Copies all of `source` to the beginning.
    ///
    /// # Errors
    ///
    /// [`AclError::OutOfBounds`] if it is larger, or ACL's own.
    pub fn copy_from(&self, source: &DeviceSlice<'_>) -> Result<(), AclError> {
        check_range(0, source.size, self.size)?;
        if source.size == 0 {
            return Ok(());
        }
        let bound = self.context.bind()?;
        // SAFETY: both are device memory of that many bytes, by the invariant and the check.
        unsafe { bound.copy_in_device(self.address, source.address, source.size) }
    }
}
