//! Addresses without memory, memory without addresses, and mapping one to the other, in granules of 2 MiB.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{
    ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtDrvMemHandle, aclrtMemAccessDesc, aclrtMemAccessFlags,
    aclrtMemAttr, aclrtMemGranularityOptions, aclrtMemHandleType, aclrtMemLocationType, aclrtPhysicalMemProp,
};
use host_device::PhysicalHandle;
use parking_lot::Mutex;

use super::memory::round_up;
use crate::call;
use crate::context::current_if_any;
use crate::device::{Device, GRANULE, Slot};
use crate::failure::Failure;
use crate::handles::{Handles, address as pointer_to, pointer};
use crate::runtime::{self, Runtime};

/// Physical memory, by handle.
#[derive(Debug)]
struct Physical {
    device: usize,
    handle: PhysicalHandle,
    size: u64,
    properties: aclrtPhysicalMemProp,
}

static PHYSICAL: Handles<Physical> = Handles::new("physical memory");

/// Device and bytes of live mappings by address, which `aclrtMemSetAccess` has to name.
static MAPPED: Mutex<Option<HashMap<u64, (usize, u64)>>> = Mutex::new(None);

export! {
    /// `alignment` is 0, `expected` null; flag 1, for huge pages, changes nothing. For memory of the current device, or of
    /// the first where none is set: as in CANN, nothing here needs a context.
    fn aclrtReserveMemAddress(
        out address: *mut *mut c_void,
        val size: usize,
        val alignment: usize,
        num expected: *mut c_void,
        val flags: u64,
    ) {
        address.check("the address")?;
        let runtime = runtime::get()?;
        if size == 0 || alignment != 0 || flags > 1 {
            return Err(Failure::refused(format!(
                "reserving {size} bytes aligned to {alignment} with flags {flags}: give a size above 0, 0, and 0 or 1"
            )));
        }
        if expected != 0 {
            return Err(Failure::refused("a wish for an address cannot be met: give null"));
        }
        let size = round_up(size as u64, GRANULE)?;
        let device = match current_if_any() {
            Ok(current) => current.device,
            Err(_) => device(&runtime, 0)?,
        };
        address.set(pointer_to(device.memory.reserve(size, 0)?));
        Ok(())
    }

    /// Refused while anything is mapped inside.
    fn aclrtReleaseMemAddress(num address: *mut c_void) {
        if address == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        device_of_reservation(address)?.memory.free_reservation(address)?;
        Ok(())
    }

    fn aclrtMallocPhysical(
        out handle: *mut aclrtDrvMemHandle,
        val size: usize,
        input properties: *const aclrtPhysicalMemProp,
        val flags: u64,
    ) {
        handle.check("the handle")?;
        let properties = properties.get("the properties")?;
        let runtime = runtime::get()?;
        let granule = check(&properties)?;
        if size == 0 || flags != 0 || !(size as u64).is_multiple_of(granule) {
            return Err(Failure::refused(format!(
                "{size} bytes of physical memory with flags {flags}: give a positive multiple of {granule}, and 0"
            )));
        }
        let device = device(&runtime, properties.location.id)?;
        let size = size as u64;
        let made = device.memory.create_physical_in(size, granule)?;
        let physical = Physical { device: device.index, handle: made, size, properties };
        handle.set(pointer(PHYSICAL.insert(physical)));
        Ok(())
    }

    /// The memory returns to the device when nothing maps it any more.
    fn aclrtFreePhysical(num handle: aclrtDrvMemHandle) {
        let runtime = runtime::get()?;
        let physical = PHYSICAL.remove(handle)?;
        let device = runtime.devices.get(physical.device).and_then(Slot::device);
        match device {
            Some(device) => Ok(device.memory.release_physical_when_unmapped(physical.handle)?),
            None => Err(Failure::handle("physical memory", handle)),
        }
    }

    /// The size is that of the handle, the offset 0.
    fn aclrtMapMem(
        num address: *mut c_void,
        val size: usize,
        val offset: usize,
        num handle: aclrtDrvMemHandle,
        val flags: u64,
    ) {
        map(address, size, offset, handle, flags)
    }

    /// As `aclrtMapMem`: access is not enforced here.
    fn aclrtMemMapNoAccess(
        num address: *mut c_void,
        val size: usize,
        val offset: usize,
        num handle: aclrtDrvMemHandle,
        val flags: u64,
    ) {
        map(address, size, offset, handle, flags)
    }

    /// At once, whatever still uses the memory.
    fn aclrtUnmapMem(num address: *mut c_void) {
        if address == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        let device = device_of_reservation(address)?;
        device.memory.unmap_from(address, call::site())?;
        MAPPED.lock().get_or_insert_default().remove(&address);
        Ok(())
    }

    /// Only reading and writing can be granted, for a whole mapping; the owner has it anyway.
    fn aclrtMemSetAccess(
        num address: *mut c_void,
        val size: usize,
        input descriptions: *mut aclrtMemAccessDesc,
        val count: usize,
    ) {
        runtime::get()?;
        let description = descriptions.get("the descriptions")?;
        if count == 0 {
            return Err(Failure::refused("0 descriptions of access: give at least one"));
        }
        if description.flags != aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_READWRITE {
            return Err(Failure::refused(format!("access {} cannot be granted: only 3", description.flags.0)));
        }
        let mapped = MAPPED.lock().as_ref().and_then(|mapped| mapped.get(&address).copied());
        if mapped.map(|(_, bytes)| bytes) != Some(size as u64) {
            return Err(Failure::refused(format!("no mapping of {size} bytes starts at {address:#x}")));
        }
        Ok(())
    }

    fn aclrtMemGetAllocationGranularity(
        input properties: *mut aclrtPhysicalMemProp,
        val option: aclrtMemGranularityOptions,
        out granularity: *mut usize,
    ) {
        granularity.check("the granularity")?;
        let runtime = runtime::get()?;
        let properties = properties.get("the properties")?;
        let granule = check(&properties)?;
        runtime.slot(i32::try_from(properties.location.id).unwrap_or(i32::MAX))?;
        if option.0 > 1 {
            return Err(Failure::invalid(format!("option {} of a granularity does not exist", option.0)));
        }
        granularity.set(usize::try_from(granule).unwrap_or(usize::MAX));
        Ok(())
    }

    fn aclrtMemGetAllocationPropertiesFromHandle(
        num handle: aclrtDrvMemHandle,
        out properties: *mut aclrtPhysicalMemProp,
    ) {
        properties.check("the properties")?;
        properties.set(PHYSICAL.get(handle)?.properties);
        Ok(())
    }
}

/// A device, in use from now on.
fn device(runtime: &Runtime, number: u32) -> Result<Arc<Device>, Failure> {
    let (index, slot) = runtime.slot(i32::try_from(number).unwrap_or(i32::MAX))?;
    slot.activate(index, &runtime.settings)
}

/// The granule for such memory; 100000 when there is none such.
fn check(properties: &aclrtPhysicalMemProp) -> Result<u64, Failure> {
    if properties.handleType != aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE
        || properties.allocationType.0 != 0
        || properties.location.type_ != aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE
    {
        return Err(Failure::invalid("only pinned memory of a device without a shared handle is simulated"));
    }
    match properties.memAttr {
        aclrtMemAttr::ACL_HBM_MEM_HUGE
        | aclrtMemAttr::ACL_HBM_MEM_NORMAL
        | aclrtMemAttr::ACL_MEM_HUGE
        | aclrtMemAttr::ACL_MEM_NORMAL => Ok(GRANULE),
        aclrtMemAttr::ACL_HBM_MEM_HUGE1G | aclrtMemAttr::ACL_MEM_HUGE1G => Ok(1 << 30),
        attribute => Err(Failure::invalid(format!("no physical memory of kind {}", attribute.0))),
    }
}

fn map(address: u64, size: usize, offset: usize, handle: u64, flags: u64) -> Result<(), Failure> {
    if address == 0 {
        return Err(Failure::invalid("the address is null"));
    }
    let physical = PHYSICAL.get(handle)?;
    if size as u64 != physical.size || offset != 0 || flags != 0 {
        return Err(Failure::refused(format!(
            "mapping {size} bytes at offset {offset} with flags {flags} of a handle of {}: give its size, 0 and 0",
            physical.size
        )));
    }
    let device = device_of_reservation(address)?;
    if device.index != physical.device {
        return Err(Failure::refused("the reservation and the memory belong to different devices"));
    }
    device.memory.map_from(address, physical.handle, call::site())?;
    MAPPED.lock().get_or_insert_default().insert(address, (device.index, physical.size));
    Ok(())
}

fn device_of_reservation(address: u64) -> Result<Arc<Device>, Failure> {
    let runtime = runtime::get()?;
    let found = runtime.active_devices().find(|device| device.memory.reservation_around(address).is_some());
    found.ok_or_else(|| {
        let text = format!("{address:#x} lies in no reservation");
        Failure::new(ACL_ERROR_RT_DRV_INTERNAL_ERROR, text)
    })
}

/// Forgets what was made on a device that is gone.
pub(crate) fn forget_device(index: usize) {
    PHYSICAL.remove_where(|physical| physical.device == index);
    MAPPED.lock().get_or_insert_default().retain(|_, &mut (device, _)| device != index);
}

pub(super) fn describe_left(index: usize) -> Vec<String> {
    PHYSICAL.describe_where(|physical| physical.device == index)
}
