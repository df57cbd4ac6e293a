//! CANN's own stream-ordered pool.

use std::ptr;

use acl_sys::{
    aclrtMemAllocationType, aclrtMemHandleType, aclrtMemLocation, aclrtMemLocationType, aclrtMemPool,
    aclrtMemPoolAttr, aclrtMemPoolProps,
};

use super::{Handle, Release, StreamKind, device_address, device_pointer};
use crate::context::Bound;
use crate::{AclError, Refused};

/// A pool; see [`Handle`].
#[derive(Debug)]
pub(crate) enum PoolKind {}

impl Bound<'_> {
    pub(crate) fn create_pool(&self, device: u32, max_size: usize) -> Result<Handle<PoolKind>, AclError> {
        let properties = aclrtMemPoolProps {
            allocType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
            handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
            location: aclrtMemLocation {
                id: device,
                type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            maxSize: max_size,
            reserved: [0; 32],
        };
        let mut pool: aclrtMemPool = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMemPoolCreate();
        // SAFETY: two locals (A1, A4, A5).
        api.call("aclrtMemPoolCreate", function, |create| unsafe {
            create(&raw mut pool, &raw const properties)
        })?;
        Handle::new(pool, "aclrtMemPoolCreate")
    }

    /// An attribute of 64 bits.
    pub(crate) fn pool_u64(
        &self,
        pool: &Handle<PoolKind>,
        attribute: aclrtMemPoolAttr,
    ) -> Result<u64, AclError> {
        let mut value = 0_u64;
        let api = self.api();
        let function = api.table().aclrtMemPoolGetAttr();
        // SAFETY: the pool lives; the local has 64 bits, as much as any attribute (A1, A2, A4, A5).
        api.call("aclrtMemPoolGetAttr", function, |get| unsafe {
            get(pool.raw(), attribute, (&raw mut value).cast())
        })?;
        Ok(value)
    }

    /// Sets an attribute of 64 bits.
    pub(crate) fn set_pool_u64(
        &self,
        pool: &Handle<PoolKind>,
        attribute: aclrtMemPoolAttr,
        value: u64,
    ) -> Result<(), AclError> {
        let mut value = value;
        let api = self.api();
        let function = api.table().aclrtMemPoolSetAttr();
        // SAFETY: the pool lives; the local has 64 bits, as much as any attribute (A1, A2, A4, A5).
        api.call("aclrtMemPoolSetAttr", function, |set| unsafe {
            set(pool.raw(), attribute, (&raw mut value).cast())
        })
    }

    pub(crate) fn pool_malloc(
        &self,
        pool: &Handle<PoolKind>,
        size: usize,
        stream: &Handle<StreamKind>,
    ) -> Result<u64, AclError> {
        let mut address = ptr::null_mut();
        let api = self.api();
        let function = api.table().aclrtMemPoolMallocAsync();
        // SAFETY: pool and stream live; the out-parameter is a local (A1, A2, A4, A5).
        api.call("aclrtMemPoolMallocAsync", function, |malloc| unsafe {
            malloc(&raw mut address, size, pool.raw(), stream.raw())
        })?;
        let address = ptr::NonNull::new(address);
        Ok(device_address(address.ok_or(AclError::NoResult { call: "aclrtMemPoolMallocAsync" })?))
    }

    /// Frees in the order of a stream.
    ///
    /// # Safety
    ///
    /// - A pool gave `address`, and it was not freed since.
    /// - No work that uses it comes after this in the order of the device.
    pub(crate) unsafe fn pool_free(&self, address: u64, stream: &Handle<StreamKind>) -> Result<(), AclError> {
        let address = device_pointer(address)?;
        let api = self.api();
        let function = api.table().aclrtMemPoolFreeAsync();
        // SAFETY: the caller's promise; the stream lives (A1, A2, A4).
        api.call("aclrtMemPoolFreeAsync", function, |free| unsafe { free(address, stream.raw()) })
    }

    pub(crate) fn trim_pool(&self, pool: &Handle<PoolKind>, keep: usize) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclrtMemPoolTrimTo();
        // SAFETY: the pool lives; only memory that is free goes (A1, A2, A4).
        api.call("aclrtMemPoolTrimTo", function, |trim| unsafe { trim(pool.raw(), keep) })
    }
}

impl Release for Handle<PoolKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw();
        let api = bound.api();
        let function = api.table().aclrtMemPoolDestroy();
        // SAFETY: not destroyed yet; that nothing uses its memory is the promise of who took memory from it
        // (A1, A2, A4).
        api.call("aclrtMemPoolDestroy", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}
