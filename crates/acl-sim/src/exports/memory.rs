//! Device memory and pinned host memory: taken, given back, asked about.

use std::ffi::c_void;

use acl_sys::{
    ACL_ERROR_RT_INVALID_MEMORY_TYPE, ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocConfig, aclrtMemAttr,
    aclrtMemLocation, aclrtMemLocationType, aclrtMemMallocPolicy, aclrtPtrAttributes,
};

use crate::context::{Current, current};
use crate::failure::Failure;
use crate::foreign::{In, Out};
use crate::handles::address as pointer_to;
use crate::runtime;

/// What the tail of an allocation is padded with, on chips before the 950.
const PADDING: u64 = 32;

export! {
    /// Takes `ALIGN_UP(size, 32) + 32` bytes of the device; pages of 1 GiB take no padding but whole pages.
    fn aclrtMalloc(out address: *mut *mut c_void, val size: usize, val policy: aclrtMemMallocPolicy) {
        allocate(address, size, policy, PADDING, Shortage::Trims)
    }

    /// Takes `ALIGN_UP(size, 32)` bytes.
    fn aclrtMallocAlign32(out address: *mut *mut c_void, val size: usize, val policy: aclrtMemMallocPolicy) {
        allocate(address, size, policy, 0, Shortage::Trims)
    }

    /// As `aclrtMalloc`.
    fn aclrtMallocCached(out address: *mut *mut c_void, val size: usize, val policy: aclrtMemMallocPolicy) {
        allocate(address, size, policy, PADDING, Shortage::Trims)
    }

    /// Takes `ALIGN_UP(size, 32)` bytes. The attributes have no meaning here.
    fn aclrtMallocWithCfg(
        out address: *mut *mut c_void,
        val size: usize,
        val policy: aclrtMemMallocPolicy,
        input config: *mut aclrtMallocConfig,
    ) {
        check_attributes(config)?;
        allocate(address, size, policy, 0, Shortage::Fails)
    }

    /// As `aclrtMallocWithCfg`.
    fn aclrtMallocForTaskScheduler(
        out address: *mut *mut c_void,
        val size: usize,
        val policy: aclrtMemMallocPolicy,
        input config: *mut aclrtMallocConfig,
    ) {
        check_attributes(config)?;
        allocate(address, size, policy, 0, Shortage::Fails)
    }

    /// At once, whatever still uses the memory.
    fn aclrtFree(num address: *mut c_void) {
        free(address, false)
    }

    /// Waits for the device first.
    fn aclrtFreeWithDevSync(num address: *mut c_void) {
        free(address, true)
    }

    fn aclrtMemFlush(num address: *mut c_void, val size: usize) {
        cached_range(address, size)
    }

    fn aclrtMemInvalidate(num address: *mut c_void, val size: usize) {
        cached_range(address, size)
    }

    /// Over all processes. Everything counts as huge pages.
    fn aclrtGetMemInfo(val attribute: aclrtMemAttr, out free_bytes: *mut usize, out total_bytes: *mut usize) {
        free_bytes.check("the free bytes")?;
        total_bytes.check("the total bytes")?;
        let (total, free) = current()?.device.memory.memory_info();
        let (total, free) = match attribute {
            aclrtMemAttr::ACL_DDR_MEM
            | aclrtMemAttr::ACL_HBM_MEM
            | aclrtMemAttr::ACL_DDR_MEM_HUGE
            | aclrtMemAttr::ACL_HBM_MEM_HUGE => (total, free),
            aclrtMemAttr::ACL_DDR_MEM_NORMAL | aclrtMemAttr::ACL_HBM_MEM_NORMAL => (0, 0),
            _ => {
                let text = format!("memory of kind {} cannot be asked about here", attribute.0);
                return Err(Failure::new(ACL_ERROR_RT_INVALID_MEMORY_TYPE, text));
            }
        };
        free_bytes.set(usize::try_from(free).unwrap_or(usize::MAX));
        total_bytes.set(usize::try_from(total).unwrap_or(usize::MAX));
        Ok(())
    }

    fn aclrtPointerGetAttributes(num address: *const c_void, out attributes: *mut aclrtPtrAttributes) {
        attributes.check("the attributes")?;
        if address == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        let runtime = runtime::get()?;
        let (id, type_, page_size) = if let Some(device) = runtime.owner_of(address) {
            (device.index, aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE, 2 << 20)
        } else if runtime.pinned.describe(address).is_some() {
            (0, aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST, 4096)
        } else {
            (0, aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0)
        };
        attributes.set(aclrtPtrAttributes {
            location: aclrtMemLocation { id: u32::try_from(id).unwrap_or(u32::MAX), type_ },
            pageSize: page_size,
            rsv: [0; 4],
        });
        Ok(())
    }

    fn aclrtMallocHost(out address: *mut *mut c_void, val size: usize) {
        allocate_host(address, size as u64)
    }

    /// The attributes have no meaning here: the device reaches all of this memory.
    fn aclrtMallocHostWithCfg(
        out address: *mut *mut c_void,
        val size: u64,
        input config: *mut aclrtMallocConfig,
    ) {
        check_attributes(config)?;
        allocate_host(address, size)
    }

    fn aclrtFreeHost(num address: *mut c_void) {
        if address == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        current()?.runtime.free_pinned(address)
    }

    /// Waits for the device first.
    fn aclrtFreeHostWithDevSync(num address: *mut c_void) {
        if address == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        let current = current()?;
        current.device.engine.synchronize_device()?;
        current.runtime.free_pinned(address)
    }

    fn aclrtMemGetAddressRange(num address: *mut c_void, out base: *mut *mut c_void, out size: *mut usize) {
        let runtime = runtime::get()?;
        let owner = runtime.owner_of(address);
        let range = match &owner {
            Some(device) => device.memory.describe(address),
            None => runtime.pinned.describe(address),
        };
        let range = range.ok_or_else(|| Failure::refused(format!("{address:#x} lies in no live allocation")))?;
        base.set(pointer_to(range.life.base));
        size.set(usize::try_from(round_up(range.life.size, 4096)?).unwrap_or(usize::MAX));
        Ok(())
    }
}

/// The next multiple; 100000 past the end of the address space.
pub(crate) fn round_up(size: u64, unit: u64) -> Result<u64, Failure> {
    size.checked_next_multiple_of(unit)
        .ok_or_else(|| Failure::invalid(format!("{size} bytes pass the end of the address space")))
}

fn allocate_host(address: Out<*mut c_void>, size: u64) -> Result<(), Failure> {
    address.check("the address")?;
    let current = current()?;
    if size == 0 {
        return Err(Failure::invalid("0 bytes of host memory: ask for at least one"));
    }
    let size = round_up(size, 32)?;
    address.set(pointer_to(current.runtime.allocate_pinned(size)?));
    Ok(())
}

/// A configuration may be null, but not say that it has attributes and have none.
fn check_attributes(config: In<aclrtMallocConfig>) -> Result<(), Failure> {
    match config.get("the configuration") {
        Ok(config) if config.numAttrs > 0 && config.attrs.is_null() => {
            Err(Failure::invalid("the configuration has a number of attributes, but none"))
        }
        _ => Ok(()),
    }
}

/// What a call does when the device has no memory left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortage {
    Fails,
    /// CANN 9.1 takes from its pools what nobody uses, and tries once more.
    Trims,
}

fn allocate(
    address: Out<*mut c_void>,
    size: usize,
    policy: aclrtMemMallocPolicy,
    padding: u64,
    shortage: Shortage,
) -> Result<(), Failure> {
    address.check("the address")?;
    let current = current()?;
    let taken = match take(&current, size, policy, padding) {
        Err(failure)
            if failure.code == ACL_ERROR_RT_MEMORY_ALLOCATION
                && shortage == Shortage::Trims
                && super::pool::trim_all(&current) =>
        {
            take(&current, size, policy, padding)?
        }
        taken => taken?,
    };
    address.set(pointer_to(taken));
    Ok(())
}

/// Takes memory of the current device.
pub(crate) fn take(
    current: &Current,
    size: usize,
    policy: aclrtMemMallocPolicy,
    padding: u64,
) -> Result<u64, Failure> {
    if size == 0 {
        return Err(Failure::invalid("0 bytes of device memory: ask for at least one"));
    }
    let giant = [
        aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE1G_ONLY,
        aclrtMemMallocPolicy::ACL_MEM_MALLOC_HUGE1G_ONLY_P2P,
    ];
    let taken = if giant.contains(&policy) {
        round_up(size as u64, 1 << 30)?
    } else {
        let too_many = || Failure::invalid(format!("{size} bytes pass the end of the address space"));
        round_up(size as u64, 32)?.checked_add(padding).ok_or_else(too_many)?
    };
    current.device.allocate(taken)
}

fn free(address: u64, waits: bool) -> Result<(), Failure> {
    if address == 0 {
        return Err(Failure::invalid("the address is null"));
    }
    let runtime = runtime::get()?;
    // Any context of any thread may free; the address says of which device it is.
    let Some(device) = runtime.owner_of(address) else {
        return Err(Failure::refused(format!("{address:#x} is no live memory of a device: free it once")));
    };
    if waits {
        device.engine.synchronize_device()?;
    }
    if super::pool::free_at_once(&device, address)? {
        return Ok(());
    }
    device.free(address)
}

/// Flushing and invalidating do nothing here but check their range.
fn cached_range(address: u64, size: usize) -> Result<(), Failure> {
    if address == 0 || size == 0 {
        return Err(Failure::invalid("the range is empty"));
    }
    let runtime = runtime::get()?;
    match runtime.owner_of(address) {
        Some(_) => Ok(()),
        None => Err(Failure::refused(format!("{address:#x} is no live memory of a device"))),
    }
}
