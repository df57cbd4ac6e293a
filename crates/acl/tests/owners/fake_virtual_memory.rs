//! Reserved addresses, physical memory, mappings, and CANN's own pool.

use std::ffi::c_void;

use acl_sys::*;

use super::fake::Fake;
use super::fake_table::{fakes, give, pointer, real_memory, release, take, uses};

/// Bytes of a page; a card has 2 MiB.
pub(crate) const GRANULARITY: usize = 4096;

/// Properties as ACL wants them; what it answers otherwise is the same for all that is wrong in them.
fn check(state: &mut Fake, properties: *const aclrtPhysicalMemProp) -> Result<usize, aclError> {
    let device = state.current_device()?;
    let properties = take(properties);
    let fits = properties.handleType == aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE
        && properties.allocationType == aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED
        && properties.location.type_ == aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE
        && properties.location.id < 2
        && properties.reserve == 0;
    if fits { Ok(device) } else { Err(ACL_ERROR_INVALID_PARAM) }
}

fakes! {
    fn aclrtReserveMemAddress(out: *mut *mut c_void, size: usize, align: usize, wish: *mut c_void, flags: u64)
        |mut state, out, size, align, wish, flags| {
            let device = state.current_device()?;
            if align != 0 || !wish.is_null() || flags != 0 {
                state.broken("alignment, address and flags are not chosen");
            }
            let memory = real_memory(size);
            state.add(memory.expose_provenance() | 1, "reservation", vec![device], size);
            give(out, memory);
            Ok(())
        };
    fn aclrtReleaseMemAddress(address: *mut c_void) |mut state, address| {
        state.current()?;
        state.remove(address.expose_provenance() | 1, "reservation")
    };
    fn aclrtMemGetAllocationGranularity(properties: *mut aclrtPhysicalMemProp, _option: aclrtMemGranularityOptions, out: *mut usize)
        |mut state, properties, _, out| {
            check(&mut state, properties)?;
            give(out, GRANULARITY);
            Ok(())
        };
    fn aclrtMallocPhysical(out: *mut aclrtDrvMemHandle, size: usize, properties: *const aclrtPhysicalMemProp, _flags: u64)
        |mut state, out, size, properties, _| {
            let device = check(&mut state, properties)?;
            let handle = state.handle();
            give(out, pointer(state.add(handle, "physical memory", vec![device], size)));
            Ok(())
        };
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) |state, handle| release(state, handle, "physical memory");
    fn aclrtMapMem(address: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, _flags: u64)
        |mut state, address, size, offset, handle, _| {
            let (address, handle) = (address.expose_provenance(), handle.expose_provenance());
            state.require(handle, "physical memory")?;
            let base = state.live.range(..=(address | 1)).rev().find(|(_, live)| live.kind == "reservation");
            let base = *base.ok_or(ACL_ERROR_RT_PARAM_INVALID)?.0;
            if offset != 0 || state.live[&handle].size != size || address + size > (base & !1) + state.live[&base].size {
                return Err(ACL_ERROR_RT_PARAM_INVALID);
            }
            state.add(address | 2, "mapping", vec![base, handle], 0);
            Ok(())
        };
    fn aclrtUnmapMem(address: *mut c_void) |mut state, address| {
        state.current()?;
        state.remove(address.expose_provenance() | 2, "mapping")
    };
    fn aclrtMemSetAccess(address: *mut c_void, _size: usize, access: *mut aclrtMemAccessDesc, count: usize)
        |state, address, _, access, count| {
            let access = take(access);
            if count != 1 || access.flags != aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_READWRITE {
                return Err(ACL_ERROR_INVALID_PARAM);
            }
            uses(state, pointer(address.expose_provenance() | 2), "mapping")
        };
    fn aclrtMemPoolCreate(out: *mut aclrtMemPool, _properties: *const aclrtMemPoolProps) |mut state, out, _| {
        let device = state.current_device()?;
        let handle = state.handle();
        give(out, pointer(state.add(handle, "pool", vec![device], 0)));
        Ok(())
    };
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) |state, pool| release(state, pool, "pool");
    fn aclrtMemPoolMallocAsync(out: *mut *mut c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream)
        |mut state, out, size, pool, stream| {
            state.require(pool.expose_provenance(), "pool")?;
            state.require(stream.expose_provenance(), "stream")?;
            if size > state.capacity {
                return Err(ACL_ERROR_RT_INTERNAL_ERROR);
            }
            give(out, real_memory(size));
            Ok(())
        };
    fn aclrtMemPoolFreeAsync(_address: *mut c_void, stream: aclrtStream) |state, _, stream| {
        uses(state, stream, "stream")
    };
    fn aclrtMemPoolTrimTo(pool: aclrtMemPool, _keep: usize) |state, pool, _| uses(state, pool, "pool");
    fn aclrtMemPoolGetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, out: *mut c_void)
        |state, pool, attribute, out| {
            give(out.cast(), u64::from(attribute.0));
            uses(state, pool, "pool")
        };
    fn aclrtMemPoolSetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, value: *mut c_void)
        |mut state, pool, attribute, value| {
            let value: u64 = take(value.cast());
            if (attribute.0, value) != (4, 4096) {
                state.broken(format!("{attribute:?} and {value}"));
            }
            uses(state, pool, "pool")
        };
}
