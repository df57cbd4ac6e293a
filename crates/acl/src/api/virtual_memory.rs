//! Reserved addresses, physical memory, and mappings.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use acl_sys::{
    aclrtDrvMemHandle, aclrtMemAccessDesc, aclrtMemAccessFlags, aclrtMemAllocationType, aclrtMemAttr,
    aclrtMemGranularityOptions, aclrtMemHandleType, aclrtMemLocation, aclrtMemLocationType,
    aclrtPhysicalMemProp,
};

use super::memory::check_range;
use super::{Handle, Release, device_address};
use crate::context::Bound;
use crate::{AclError, Refused};

/// Physical memory; see [`Handle`].
#[derive(Debug)]
pub(crate) enum PhysicalKind {}

#[derive(Debug)]
pub(crate) enum ReservedKind {}

#[derive(Debug)]
pub(crate) enum MappedKind {}

/// Addresses that were reserved and not released yet.
#[derive(Debug)]
pub(crate) struct Reserved {
    handle: Handle<ReservedKind>,
    size: usize,
}

/// A mapping that was made and not undone yet.
#[derive(Debug)]
pub(crate) struct Mapped {
    handle: Handle<MappedKind>,
    size: usize,
}

impl Reserved {
    pub(crate) fn address(&self) -> u64 {
        device_address(self.handle.pointer)
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

impl Mapped {
    pub(crate) fn address(&self) -> u64 {
        device_address(self.handle.pointer)
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

/// What physical memory on a device shall be.
fn properties(device: u32, attribute: aclrtMemAttr) -> aclrtPhysicalMemProp {
    aclrtPhysicalMemProp {
        handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: attribute,
        location: device_location(device),
        reserve: 0,
    }
}

fn device_location(device: u32) -> aclrtMemLocation {
    aclrtMemLocation { id: device, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE }
}

impl Bound<'_> {
    pub(crate) fn granularity(
        &self,
        device: u32,
        attribute: aclrtMemAttr,
        option: aclrtMemGranularityOptions,
    ) -> Result<usize, AclError> {
        let mut properties = properties(device, attribute);
        let mut granularity = 0;
        let api = self.api();
        let function = api.table().aclrtMemGetAllocationGranularity();
        // SAFETY: two locals (A1, A4, A5).
        api.call("aclrtMemGetAllocationGranularity", function, |get| unsafe {
            get(&raw mut properties, option, &raw mut granularity)
        })?;
        Ok(granularity)
    }

    pub(crate) fn reserve(&self, size: usize, flags: u64) -> Result<Reserved, AclError> {
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtReserveMemAddress();
        // SAFETY: the out-parameter is a local; alignment 0 and no wish for an address, as the documentation asks
        // (A1, A4, A5).
        api.call("aclrtReserveMemAddress", function, |reserve| unsafe {
            reserve(&raw mut address, size, 0, ptr::null_mut(), flags)
        })?;
        Ok(Reserved { handle: Handle::new(address, "aclrtReserveMemAddress")?, size })
    }

    pub(crate) fn malloc_physical(
        &self,
        device: u32,
        attribute: aclrtMemAttr,
        size: usize,
    ) -> Result<Handle<PhysicalKind>, AclError> {
        let properties = properties(device, attribute);
        let mut handle: aclrtDrvMemHandle = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMallocPhysical();
        // SAFETY: two locals; ACL checks the size (A1, A4, A5).
        api.call("aclrtMallocPhysical", function, |malloc| unsafe {
            malloc(&raw mut handle, size, &raw const properties, 0)
        })?;
        Handle::new(handle, "aclrtMallocPhysical")
    }

    /// Maps all of `physical`, which is `size` bytes, at `offset` of a reservation.
    pub(crate) fn map(
        &self,
        reserved: &Reserved,
        offset: usize,
        size: usize,
        physical: &Handle<PhysicalKind>,
    ) -> Result<Mapped, AclError> {
        check_range(offset, size, reserved.size)?;
        let address: *mut c_void = reserved.handle.raw().wrapping_byte_add(offset);
        let api = self.api();
        let function = api.table().aclrtMapMem();
        // SAFETY: the range is reserved, by the check above; the physical memory lives (A1, A2, A4).
        api.call("aclrtMapMem", function, |map| unsafe { map(address, size, 0, physical.raw(), 0) })?;
        let pointer = NonNull::new(address).ok_or(AclError::NoResult { call: "aclrtMapMem" })?;
        Ok(Mapped { handle: Handle { pointer, kind: PhantomData }, size })
    }

    /// Lets `device` read and write a mapping.
    pub(crate) fn set_access(&self, mapped: &Mapped, device: u32) -> Result<(), AclError> {
        let mut access = aclrtMemAccessDesc {
            flags: aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
            location: device_location(device),
            rsv: [0; 12],
        };
        let api = self.api();
        let function = api.table().aclrtMemSetAccess();
        // SAFETY: the range is that of a mapping that lives; one local description (A1, A2, A4).
        api.call("aclrtMemSetAccess", function, |set| unsafe {
            set(mapped.handle.raw(), mapped.size, &raw mut access, 1)
        })
    }
}

impl Release for Reserved {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtReleaseMemAddress();
        // SAFETY: not released yet; the mappings inside hold the reservation, so are gone, and where one could not be
        // undone the reservation is leaked instead (A1, A2, A3, A4).
        api.call("aclrtReleaseMemAddress", function, |release| unsafe { release(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for Handle<PhysicalKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw();
        let api = bound.api();
        let function = api.table().aclrtFreePhysical();
        // SAFETY: not freed yet; a mapping that could not be undone keeps the memory, not this handle (A1, A2, A4).
        api.call("aclrtFreePhysical", function, |free| unsafe { free(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for Mapped {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.handle.raw();
        let api = bound.api();
        let function = api.table().aclrtUnmapMem();
        // SAFETY: mapped, and this is the only handle; queued work that still uses it is excluded by the promise of the
        // asynchronous functions (A1, A2, A4).
        api.call("aclrtUnmapMem", function, |unmap| unsafe { unmap(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}
