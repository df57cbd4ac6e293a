//! Device memory, copies and fills.

use std::ffi::c_void;
use std::ptr;

use acl_sys::{
    aclrtMallocAttrType, aclrtMallocAttrValue, aclrtMallocAttribute, aclrtMallocConfig, aclrtMemMallocPolicy,
    aclrtMemcpyKind,
};

use super::{Handle, HostBlock, Release, StreamKind, device_address, device_pointer};
use crate::context::Bound;
use crate::{AclError, Refused};

/// Device memory that aclrtMalloc gave and nobody freed yet.
#[derive(Debug)]
pub(crate) struct DeviceBlock {
    handle: Handle<DeviceKind>,
}

#[derive(Debug)]
enum DeviceKind {}

impl DeviceBlock {
    pub(crate) fn address(&self) -> u64 {
        device_address(self.handle.pointer)
    }

    /// Waits for the device, then frees.
    pub(crate) fn free_after_device(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtFreeWithDevSync();
        // SAFETY: not freed yet, and this is the only handle (A1, A2, A4).
        api.call("aclrtFreeWithDevSync", function, |free| unsafe { free(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

/// Whether a range lies inside `size` bytes.
pub(crate) fn check_range(offset: usize, length: usize, size: usize) -> Result<(), AclError> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(AclError::OutOfBounds { offset, length, size }),
    }
}

impl Bound<'_> {
    pub(crate) fn malloc(&self, size: usize, policy: aclrtMemMallocPolicy) -> Result<DeviceBlock, AclError> {
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMalloc();
        // SAFETY: the out-parameter is a local; ACL checks the numbers (A1, A4, A5).
        api.call("aclrtMalloc", function, |malloc| unsafe { malloc(&raw mut address, size, policy) })?;
        Ok(DeviceBlock { handle: Handle::new(address, "aclrtMalloc")? })
    }

    pub(crate) fn malloc_align32(
        &self,
        size: usize,
        policy: aclrtMemMallocPolicy,
    ) -> Result<DeviceBlock, AclError> {
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMallocAlign32();
        // SAFETY: the out-parameter is a local; ACL checks the numbers (A1, A4, A5).
        api.call("aclrtMallocAlign32", function, |malloc| unsafe { malloc(&raw mut address, size, policy) })?;
        Ok(DeviceBlock { handle: Handle::new(address, "aclrtMallocAlign32")? })
    }

    /// With a module's number for ACL's books, and policies that only this function takes.
    pub(crate) fn malloc_with_config(
        &self,
        size: usize,
        policy: aclrtMemMallocPolicy,
        module: Option<u16>,
    ) -> Result<DeviceBlock, AclError> {
        let mut attributes = module.map(|module| aclrtMallocAttribute {
            attr: aclrtMallocAttrType::ACL_RT_MEM_ATTR_MODULE_ID,
            value: aclrtMallocAttrValue { moduleId: module },
        });
        let mut config = aclrtMallocConfig {
            numAttrs: usize::from(attributes.is_some()),
            attrs: attributes.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
        };
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMallocWithCfg();
        // SAFETY: the out-parameter is a local; the configuration names as many local attributes as there are (A1, A4, A5).
        api.call("aclrtMallocWithCfg", function, |malloc| unsafe {
            malloc(&raw mut address, size, policy, &raw mut config)
        })?;
        Ok(DeviceBlock { handle: Handle::new(address, "aclrtMallocWithCfg")? })
    }

    /// Copies to the device and waits.
    ///
    /// # Safety
    ///
    /// - `bytes.len()` bytes at `destination` are device memory that the caller may write.
    pub(crate) unsafe fn copy_to_device(&self, destination: u64, bytes: &[u8]) -> Result<(), AclError> {
        let source = bytes.as_ptr().cast();
        let kind = aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE;
        // SAFETY: the destination by the caller; the source is a slice that lives through the call.
        unsafe { self.memcpy(device_pointer(destination)?, source, bytes.len(), kind) }
    }

    /// Copies from the device and waits.
    ///
    /// # Safety
    ///
    /// - `bytes.len()` bytes at `source` are device memory that the caller may read.
    pub(crate) unsafe fn copy_to_host(&self, bytes: &mut [u8], source: u64) -> Result<(), AclError> {
        let destination = bytes.as_mut_ptr().cast();
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST;
        // SAFETY: the source by the caller; the destination is a slice that is borrowed through the call.
        unsafe { self.memcpy(destination, device_pointer(source)?, bytes.len(), kind) }
    }

    /// Copies inside the device.
    ///
    /// # Safety
    ///
    /// - `size` bytes at both addresses are device memory that the caller may write and read.
    pub(crate) unsafe fn copy_in_device(
        &self,
        destination: u64,
        source: u64,
        size: usize,
    ) -> Result<(), AclError> {
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
        // SAFETY: the caller's promise.
        unsafe { self.memcpy(device_pointer(destination)?, device_pointer(source)?, size, kind) }
    }

    /// Copies and waits.
    ///
    /// # Safety
    ///
    /// - `size` bytes may be read at `source` and written at `destination`, on the side that `kind` says.
    unsafe fn memcpy(
        &self,
        destination: *mut c_void,
        source: *const c_void,
        size: usize,
        kind: aclrtMemcpyKind,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtMemcpy();
        // SAFETY: the caller's promise (A1, A4).
        api.call("aclrtMemcpy", function, |copy| unsafe { copy(destination, size, source, size, kind) })
    }

    /// Sets bytes and waits.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are device memory that the caller may write.
    pub(crate) unsafe fn fill(&self, address: u64, value: u8, size: usize) -> Result<(), AclError> {
        let address = device_pointer(address)?;
        let api = self.api();
        let function = api.table().aclrtMemset();
        // SAFETY: the caller's promise (A1, A4).
        api.call("aclrtMemset", function, |set| unsafe { set(address, size, i32::from(value), size) })
    }

    /// Copies pinned memory to the device in the order of a stream.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `destination` are device memory that the caller may write.
    /// - Both stay as they are until the stream has passed this.
    pub(crate) unsafe fn copy_to_device_async(
        &self,
        destination: u64,
        source: (&HostBlock, usize),
        size: usize,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let source = source.0.at(source.1, size)?.as_ptr().cast();
        let kind = aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE;
        // SAFETY: the destination and the time by the caller, the source by `at`.
        unsafe { self.memcpy_async(device_pointer(destination)?, source, size, kind, stream) }
    }

    /// Copies from the device to pinned memory in the order of a stream.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `source` are device memory that the caller may read.
    /// - Both stay, and the pinned memory is not touched, until the stream has passed this.
    pub(crate) unsafe fn copy_to_host_async(
        &self,
        destination: (&HostBlock, usize),
        source: u64,
        size: usize,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let destination = destination.0.at(destination.1, size)?.as_ptr().cast();
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST;
        // SAFETY: the source and the time by the caller, the destination by `at`.
        unsafe { self.memcpy_async(destination, device_pointer(source)?, size, kind, stream) }
    }

    /// Copies inside the device in the order of a stream.
    ///
    /// # Safety
    ///
    /// - `size` bytes at both addresses are device memory that the caller may write and read, until the stream has
    ///   passed this.
    pub(crate) unsafe fn copy_in_device_async(
        &self,
        destination: u64,
        source: u64,
        size: usize,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
        // SAFETY: the caller's promise.
        unsafe {
            self.memcpy_async(device_pointer(destination)?, device_pointer(source)?, size, kind, stream)
        }
    }

    /// Copies in the order of a stream.
    ///
    /// # Safety
    ///
    /// - As for `memcpy`, until the stream has passed this.
    unsafe fn memcpy_async(
        &self,
        destination: *mut c_void,
        source: *const c_void,
        size: usize,
        kind: aclrtMemcpyKind,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtMemcpyAsync();
        // SAFETY: the caller's promise; the stream lives (A1, A2, A4).
        api.call("aclrtMemcpyAsync", function, |copy| unsafe {
            copy(destination, size, source, size, kind, stream.raw())
        })
    }

    /// Sets bytes in the order of a stream.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are device memory that the caller may write, until the stream has passed this.
    pub(crate) unsafe fn fill_async(
        &self,
        address: u64,
        value: u8,
        size: usize,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let address = device_pointer(address)?;
        let api = self.api();
        let function = api.table().aclrtMemsetAsync();
        // SAFETY: the caller's promise; the stream lives (A1, A2, A4).
        api.call("aclrtMemsetAsync", function, |set| unsafe {
            set(address, size, i32::from(value), size, stream.raw())
        })
    }
}

impl Release for DeviceBlock {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtFree();
        // SAFETY: not freed yet, and this is the only handle; queued work that still uses it is excluded by the promise of
        // the asynchronous functions (A1, A2, A4).
        api.call("aclrtFree", function, |free| unsafe { free(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}
