//! What ACL knows about an address, and whose memory is where.

use std::ffi::CStr;
use std::fmt;

use acl_sys::{aclrtMemLocationType, aclrtMemUsageInfo};

use crate::{AclError, Context};

/// Where memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryPlace {
    /// Pinned or registered memory of the host.
    Host,
    /// Memory of the device with this number; also that of CANN's own pool.
    Device(u32),
    /// Memory that ACL does not know, such as that of `malloc`.
    Unregistered,
    /// Memory that host and device share.
    Managed,
    /// Memory of one part of the host.
    HostNuma(u32),
    /// A place that a newer CANN has.
    Other(u32),
}

/// What ACL knows about an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressInfo {
    /// Where its memory lies.
    pub place: MemoryPlace,
    /// Bytes of a page there.
    pub page_size: u32,
}

/// A range of device memory, as the driver keeps it: rounded to pages, so that an allocation's may hold small allocations of
/// others too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    /// The first address.
    pub base: u64,
    /// Bytes.
    pub size: usize,
}

/// Device memory that one module of CANN has, in bytes.
///
/// ```
/// let module = acl::ModuleMemory { name: "GE".to_owned(), current: 3 << 20, peak: 5 << 20 };
/// assert_eq!(module.to_string(), "GE                               3145728     5242880");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleMemory {
    /// CANN's name of it.
    pub name: String,
    /// Now.
    pub current: u64,
    /// The most so far.
    pub peak: u64,
}

impl Context {
    /// What ACL knows about an address, of whatever memory.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`], or ACL's own, as for the address 0.
    pub fn address_info(&self, address: u64) -> Result<AddressInfo, AclError> {
        let raw = self.inner.bind()?.pointer_attributes(address)?;
        let place = match raw.location.type_ {
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST => MemoryPlace::Host,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE => MemoryPlace::Device(raw.location.id),
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_UNREGISTERED => MemoryPlace::Unregistered,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_MANAGED => MemoryPlace::Managed,
            aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST_NUMA => MemoryPlace::HostNuma(raw.location.id),
            other => MemoryPlace::Other(other.0),
        };
        Ok(AddressInfo { place, page_size: raw.pageSize })
    }

    /// The allocation in which an address lies, of device memory or pinned memory.
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`] with a library before CANN 9.0; ACL's own, if the address is in no allocation.
    pub fn address_range(&self, address: u64) -> Result<AddressRange, AclError> {
        let (base, size) = self.inner.bind()?.address_range(address)?;
        Ok(AddressRange { base, size })
    }
}

impl ModuleMemory {
    pub(crate) fn from_raw(raw: &aclrtMemUsageInfo) -> Self {
        let bytes = raw.name.map(c_char_bits);
        let name = CStr::from_bytes_until_nul(&bytes).map_or(&bytes[..], CStr::to_bytes);
        Self {
            name: String::from_utf8_lossy(name).into_owned(),
            current: raw.curMemSize,
            peak: raw.memPeakSize,
        }
    }
}

/// The bits of a `char` of C, which has a sign on one architecture and none on another.
fn c_char_bits(character: std::ffi::c_char) -> u8 {
    u8::from_ne_bytes(character.to_ne_bytes())
}

impl fmt::Display for ModuleMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Lines of several modules stand in columns.
        write!(f, "{:<28}{:>12}{:>12}", self.name, self.current, self.peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_closing_zero_ends_with_its_field() {
        let raw = aclrtMemUsageInfo { name: [0x41; 32], ..aclrtMemUsageInfo::default() };
        assert_eq!(ModuleMemory::from_raw(&raw).name, "A".repeat(32));
    }
}
