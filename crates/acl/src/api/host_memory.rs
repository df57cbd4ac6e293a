//! Host memory: pinned, and registered.

use std::ptr::{self, NonNull};

use acl_sys::{ACL_HOST_REG_PINNED, aclrtHostRegisterType};

use super::memory::check_range;
use super::{Handle, Release, device_address};
use crate::context::Bound;
use crate::{AclError, Refused};

/// Host memory that aclrtMallocHost gave and nobody freed yet.
#[derive(Debug)]
pub(crate) struct HostBlock {
    handle: Handle<HostKind>,
    size: usize,
}

#[derive(Debug)]
enum HostKind {}

/// Host memory of the caller that was registered and not unregistered yet.
#[derive(Debug)]
pub(crate) struct HostRange {
    handle: Handle<RangeKind>,
    size: usize,
    /// Where the device sees it, if it was mapped.
    device_address: Option<u64>,
}

#[derive(Debug)]
enum RangeKind {}

impl HostRange {
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn device_address(&self) -> Option<u64> {
        self.device_address
    }
}

impl HostBlock {
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The first byte.
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.handle.pointer.cast()
    }

    pub(super) fn at(&self, offset: usize, length: usize) -> Result<NonNull<u8>, AclError> {
        check_range(offset, length, self.size)?;
        // SAFETY: `offset` is inside or at the end of one allocation of `size` bytes, by the line above.
        Ok(unsafe { self.handle.pointer.cast::<u8>().add(offset) })
    }

    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), AclError> {
        let source = self.at(offset, bytes.len())?;
        // SAFETY: both are as long as `bytes`, by `at`; a slice of the caller cannot overlap memory that no slice is made
        // of. That the device does not write meanwhile is what the asynchronous copies ask of their callers.
        unsafe { ptr::copy_nonoverlapping(source.as_ptr(), bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), AclError> {
        let destination = self.at(offset, bytes.len())?;
        // SAFETY: as for `read`; `&mut self` keeps other threads out.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), destination.as_ptr(), bytes.len()) };
        Ok(())
    }
}

impl Bound<'_> {
    pub(crate) fn malloc_host(&self, size: usize) -> Result<HostBlock, AclError> {
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMallocHost();
        // SAFETY: the out-parameter is a local; ACL checks the size (A1, A4, A5).
        api.call("aclrtMallocHost", function, |malloc| unsafe { malloc(&raw mut address, size) })?;
        let handle = Handle::<HostKind>::new(address, "aclrtMallocHost")?;
        // SAFETY: ACL gave at least `size` bytes, which are nobody else's. Zeroed because reading what nobody wrote is
        // undefined behaviour in Rust.
        unsafe { ptr::write_bytes(handle.pointer.cast::<u8>().as_ptr(), 0, size) };
        Ok(HostBlock { handle, size })
    }

    /// Maps host memory for the device.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are host memory, and stay until the range is released.
    pub(crate) unsafe fn map_host(&self, address: NonNull<u8>, size: usize) -> Result<HostRange, AclError> {
        let mut mapped = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtHostRegister();
        let kind = aclrtHostRegisterType::ACL_HOST_REGISTER_MAPPED;
        // SAFETY: the memory by the caller; the out-parameter is a local (A1, A4, A5).
        api.call("aclrtHostRegister", function, |register| unsafe {
            register(address.as_ptr().cast(), size as u64, kind, &raw mut mapped)
        })?;
        let handle = Handle::new(address.as_ptr().cast(), "aclrtHostRegister")?;
        // Registered, so it must be unregistered even if no address came.
        let device_address = NonNull::new(mapped).map(device_address);
        Ok(HostRange { handle, size, device_address })
    }

    /// Pins host memory.
    ///
    /// # Safety
    ///
    /// - As for `map_host`.
    pub(crate) unsafe fn pin_host(&self, address: NonNull<u8>, size: usize) -> Result<HostRange, AclError> {
        let api = self.api();
        let function = api.table().aclrtHostRegisterV2();
        // SAFETY: the memory by the caller (A1, A4).
        api.call("aclrtHostRegisterV2", function, |register| unsafe {
            register(address.as_ptr().cast(), size as u64, ACL_HOST_REG_PINNED)
        })?;
        let handle = Handle::new(address.as_ptr().cast(), "aclrtHostRegisterV2")?;
        Ok(HostRange { handle, size, device_address: None })
    }
}

impl Release for HostBlock {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtFreeHost();
        // SAFETY: as for device memory; no slice was ever made of it (A1, A2, A4).
        api.call("aclrtFreeHost", function, |free| unsafe { free(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for HostRange {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtHostUnregister();
        // SAFETY: registered and not unregistered yet; the memory is still there by the promise of who registered
        // (A1, A2, A4).
        api.call("aclrtHostUnregister", function, |unregister| unsafe { unregister(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}
