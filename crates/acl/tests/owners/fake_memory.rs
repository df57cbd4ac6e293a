//! Device memory, host memory, and copies.

use std::ffi::c_void;

use acl_sys::*;

use super::fake::{Fake, State};
use super::fake_table::{allocate, copy, fakes, give, module_of, pointer, release, set, uses};

/// Whether the driver takes so much more host memory.
fn within_limits(state: &State, size: usize) -> Result<(), aclError> {
    let (at_a_time, in_all) = state.host_limits;
    let is_host = |kind| ["host memory", "registered memory"].contains(&kind);
    let taken: usize = state.live.values().filter(|live| is_host(live.kind)).map(|live| live.size).sum();
    if (at_a_time > 0 && size > at_a_time) || (in_all > 0 && taken + size > in_all) {
        return Err(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    Ok(())
}

/// Where the device sees registered memory.
pub(crate) const MAPPED: usize = 1 << 44;

/// Registers host memory. The mark keeps it apart from an allocation at the same address.
fn register(mut state: Fake, address: *mut c_void, size: u64) -> Result<(), aclError> {
    let device = state.current_device()?;
    let address = address.expose_provenance();
    let size = usize::try_from(size).expect("64 bits");
    if !address.is_multiple_of(4096) || size == 0 {
        state.broken("host memory is registered from a multiple of 4096 on, and not for nothing");
    }
    if state.live.contains_key(&(address | 4)) {
        return Err(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    within_limits(&state, size)?;
    let mut needs = vec![device];
    needs.extend(state.allocation(address).map(|(base, _)| base));
    state.add(address | 4, "registered memory", needs, size);
    Ok(())
}

fakes! {
    fn aclrtMalloc(out: *mut *mut c_void, size: usize, _policy: aclrtMemMallocPolicy) |state, out, size, _| {
        allocate(state, out, size, "device memory")
    };
    fn aclrtMallocAlign32(out: *mut *mut c_void, size: usize, _policy: aclrtMemMallocPolicy) |state, out, size, _| {
        allocate(state, out, size, "device memory")
    };
    fn aclrtMallocWithCfg(out: *mut *mut c_void, size: usize, _policy: aclrtMemMallocPolicy, config: *mut aclrtMallocConfig)
        |mut state, out, size, _, config| {
            state.modules.extend(module_of(config));
            allocate(state, out, size, "device memory")
        };
    fn aclrtFree(address: *mut c_void) |state, address| release(state, address, "device memory");
    fn aclrtFreeWithDevSync(address: *mut c_void) |state, address| release(state, address, "device memory");
    fn aclrtMallocHost(out: *mut *mut c_void, size: usize) |state, out, size| {
        within_limits(&state, size)?;
        allocate(state, out, size, "host memory")
    };
    fn aclrtFreeHost(address: *mut c_void) |state, address| release(state, address, "host memory");
    fn aclrtHostRegister(address: *mut c_void, size: u64, _type: aclrtHostRegisterType, out: *mut *mut c_void)
        |state, address, size, _, out| {
            register(state, address, size)?;
            give(out, pointer(address.addr() | MAPPED));
            Ok(())
        };
    fn aclrtHostRegisterV2(address: *mut c_void, size: u64, _flags: u32) |state, address, size, _| {
        register(state, address, size)
    };
    fn aclrtHostUnregister(address: *mut c_void) |mut state, address| {
        state.current()?;
        state.remove(address.expose_provenance() | 4, "registered memory")
    };
    fn aclrtMemcpy(to: *mut c_void, room: usize, from: *const c_void, count: usize, _kind: aclrtMemcpyKind)
        |mut state, to, room, from, count, _| {
            state.current()?;
            copy(to, room, from, count)
        };
    fn aclrtMemset(address: *mut c_void, room: usize, value: i32, count: usize)
        |mut state, address, room, value, count| {
            state.current()?;
            set(address, value, count.min(room));
            Ok(())
        };
    fn aclrtMemcpyAsync(to: *mut c_void, room: usize, from: *const c_void, count: usize, _kind: aclrtMemcpyKind, stream: aclrtStream)
        |state, to, room, from, count, _, stream| {
            uses(state, stream, "stream")?;
            copy(to, room, from, count)
        };
}
