//! What ACL knows about addresses, and about whose memory is where.

use std::ptr::{self, NonNull};

use acl_sys::{MAX_MEM_UCE_INFO_ARRAY_SIZE, aclrtMemUceInfo, aclrtMemUsageInfo, aclrtPtrAttributes};

use super::{device_address, device_pointer};
use crate::AclError;
use crate::context::Bound;

/// The most modules that are asked for.
const MODULES: usize = 128;

/// The most ranges that ACL records; it refuses to answer where there is less room.
const DAMAGED: usize = MAX_MEM_UCE_INFO_ARRAY_SIZE;

impl Bound<'_> {
    /// ACL looks the number up; it follows no address.
    pub(crate) fn pointer_attributes(&self, address: u64) -> Result<aclrtPtrAttributes, AclError> {
        let address = device_pointer(address)?;
        let mut attributes = aclrtPtrAttributes::default();
        let api = self.api();
        let function = api.table().aclrtPointerGetAttributes();
        // SAFETY: the out-parameter is a local (A1, A4, A5).
        api.call("aclrtPointerGetAttributes", function, |get| unsafe { get(address, &raw mut attributes) })?;
        Ok(attributes)
    }

    /// Base and size of the allocation that an address lies in.
    pub(crate) fn address_range(&self, address: u64) -> Result<(u64, usize), AclError> {
        let address = device_pointer(address)?;
        let (mut base, mut size) = (ptr::null_mut(), 0);
        let api = self.api();
        let function = api.table().aclrtMemGetAddressRange();
        // SAFETY: two locals (A1, A4, A5).
        api.call("aclrtMemGetAddressRange", function, |get| unsafe {
            get(address, &raw mut base, &raw mut size)
        })?;
        let base = NonNull::new(base).ok_or(AclError::NoResult { call: "aclrtMemGetAddressRange" })?;
        Ok((device_address(base), size))
    }

    /// Memory by module.
    pub(crate) fn memory_usage(&self, device: i32) -> Result<Vec<aclrtMemUsageInfo>, AclError> {
        let mut usage = vec![aclrtMemUsageInfo::default(); MODULES];
        let mut found = 0;
        let api = self.api();
        let function = api.table().aclrtGetMemUsageInfo();
        // SAFETY: room for as many as are asked for, and a local (A1, A4, A5).
        api.call("aclrtGetMemUsageInfo", function, |get| unsafe {
            get(device, usage.as_mut_ptr(), MODULES, &raw mut found)
        })?;
        // ACL answers how many there are, which can be more than fit.
        usage.truncate(found);
        Ok(usage)
    }

    /// Addresses and lengths of memory with errors that cannot be corrected.
    pub(crate) fn damaged_memory(&self, device: i32) -> Result<Vec<(u64, usize)>, AclError> {
        let mut ranges = vec![aclrtMemUceInfo::default(); DAMAGED];
        let mut found = 0;
        let api = self.api();
        let function = api.table().aclrtGetMemUceInfo();
        // SAFETY: room for as many as are asked for, and a local (A1, A4, A5).
        api.call("aclrtGetMemUceInfo", function, |get| unsafe {
            get(device, ranges.as_mut_ptr(), DAMAGED, &raw mut found)
        })?;
        let of_range = |range: &aclrtMemUceInfo| Some((device_address(NonNull::new(range.addr)?), range.len));
        Ok(ranges.iter().take(found).filter_map(of_range).collect())
    }
}
