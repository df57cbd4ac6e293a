//! Start and end, devices and contexts.

use std::ffi::{c_char, c_void};

use acl_sys::*;

use super::fake::{Fake, again, enter, primary};
use super::fake_table::{fakes, give, give_at, pointer, tell_device_resets, text};

/// Ends ACL.
fn end(state: &mut Fake, call: &'static str) {
    state.initialised = 0;
    if state.left() > 0 {
        let left = format!("{call} with {:?} and {:?} left", state.live, state.sets);
        state.broken_rules.push(left);
    }
}

extern "C" fn soc_name() -> *const c_char {
    let known = enter("aclrtGetSocName").is_ok();
    if known { c"Ascend910B3".as_ptr() } else { std::ptr::null() }
}

/// Those that answer no code.
pub(crate) fn fill_without_code(table: &mut Table) {
    table.aclrtGetSocName = Some(soc_name);
}

fakes! {
    fn aclInit(_config: *const c_char) |mut state, _| {
        state.initialised += 1;
        if state.initialised_elsewhere { Err(ACL_ERROR_REPEAT_INITIALIZE) } else { Ok(()) }
    };
    fn aclFinalize() |mut state| { end(&mut state, "aclFinalize"); Ok(()) };
    fn aclFinalizeReference(_left: *mut u64) |mut state, _| {
        end(&mut state, "aclFinalizeReference");
        Ok(())
    };
    fn aclrtGetDeviceCount(out: *mut u32) |_, out| { give(out, 2); Ok(()) };
    fn aclrtRegDeviceStateCallback(name: *const c_char, callback: aclrtDeviceStateCallback, argument: *mut c_void)
        |mut state, name, callback, argument| {
            match callback {
                Some(_) if state.device_callbacks.contains_key(&text(name)) => return Err(ACL_ERROR_RT_PARAM_INVALID),
                Some(_) => drop(state.device_callbacks.insert(text(name), (callback, argument.addr()))),
                None => drop(state.device_callbacks.remove(&text(name))),
            }
            Ok(())
        };
    fn aclrtRegStreamStateCallback(name: *const c_char, callback: aclrtStreamStateCallback, argument: *mut c_void)
        |mut state, name, callback, argument| {
            match callback {
                Some(_) if state.stream_callbacks.contains_key(&text(name)) => return Err(ACL_ERROR_RT_PARAM_INVALID),
                Some(_) => drop(state.stream_callbacks.insert(text(name), (callback, argument.addr()))),
                None => drop(state.stream_callbacks.remove(&text(name))),
            }
            Ok(())
        };
    fn aclFinalizeCallbackRegister(_type: aclRegisterCallbackType, callback: aclFinalizeCallbackFunc, argument: *mut c_void)
        |mut state, _, callback, argument| {
            state.finalize_callbacks.push((callback, argument.addr()));
            Ok(())
        };
    fn aclFinalizeCallbackUnRegister(_type: aclRegisterCallbackType, _callback: aclFinalizeCallbackFunc)
        |mut state, _, _| {
            // By the function, which is always the same one here.
            if state.finalize_callbacks.is_empty() {
                return Err(ACL_ERROR_INTERNAL_ERROR);
            }
            state.finalize_callbacks.remove(0);
            Ok(())
        };
    fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) |_, major, minor, patch| {
        give(major, 1);
        give(minor, 17);
        give(patch, 3);
        Ok(())
    };
    fn aclrtGetRunMode(out: *mut aclrtRunMode) |_, out| { give(out, aclrtRunMode::ACL_HOST); Ok(()) };
    fn aclrtSetDevice(device: i32) |mut state, device| {
        if !(0..2).contains(&device) {
            return Err(ACL_ERROR_RT_INVALID_DEVICEID);
        }
        *state.sets.entry(device).or_default() += 1;
        state.set_current(Some(primary(device)));
        Ok(())
    };
    fn aclrtResetDevice(device: i32) |mut state, device| {
        let sets = state.sets.get_mut(&device).filter(|sets| **sets > 0);
        let Some(sets) = sets else {
            state.broken("the device is not set");
            return Err(ACL_ERROR_RT_INVALID_DEVICEID);
        };
        if *sets == 1 {
            drop(state);
            tell_device_resets(device);
            state = again();
        }
        let sets = state.sets.entry(device).or_default();
        *sets -= 1;
        if *sets == 0 {
            state.check_unneeded(primary(device), "aclrtResetDevice");
            // As CANN does, whatever was current.
            state.set_current(None);
        }
        Ok(())
    };
    fn aclrtResetDeviceForce(device: i32) |mut state, device| {
        if state.sets.insert(device, 0).is_none_or(|sets| sets == 0) {
            state.broken("the device is not set");
            return Err(ACL_ERROR_RT_INVALID_DEVICEID);
        }
        drop(state);
        tell_device_resets(device);
        state = again();
        state.remove_below(primary(device));
        state.set_current(None);
        Ok(())
    };
    fn aclrtGetCurrentContext(out: *mut aclrtContext) |state, out| {
        // Asking where there is none breaks no rule.
        let current = state.found_current().filter(|context| state.is_context(*context));
        give(out, pointer(current.ok_or(ACL_ERROR_RT_CONTEXT_NULL)?));
        Ok(())
    };
    fn aclrtSetCurrentContext(context: aclrtContext) |mut state, context| {
        if !state.is_context(context.expose_provenance()) {
            state.broken("a dead context was made current");
        }
        state.set_current(Some(context.expose_provenance()));
        Ok(())
    };
    fn aclrtCreateContext(out: *mut aclrtContext, device: i32) |mut state, out, device| {
        let handle = state.handle();
        state.add(handle, "context", vec![primary(device)], 0);
        state.set_current(Some(handle));
        give(out, pointer(handle));
        Ok(())
    };
    fn aclrtDestroyContext(context: aclrtContext) |mut state, context| {
        state.remove(context.expose_provenance(), "context")
    };
    fn aclrtSynchronizeDevice() |mut state| {
        let device = state.current_device()?;
        state.synchronised.push(device);
        Ok(())
    };
    fn aclrtSynchronizeDeviceWithTimeout(millis: i32) |mut state, millis| {
        state.current()?;
        if millis == 1 { Err(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) } else { Ok(()) }
    };
    fn aclrtGetMemInfo(_kind: aclrtMemAttr, free: *mut usize, total: *mut usize) |mut state, _, free, total| {
        // By device, so that a question to the wrong one is seen.
        let device = state.current_device()? - primary(0);
        give(free, 10 + device);
        give(total, 20 + device);
        Ok(())
    };
    fn aclrtGetMemUsageInfo(_device: i32, out: *mut aclrtMemUsageInfo, room: usize, found: *mut usize)
        |mut state, _, out, room, found| {
            state.current()?;
            for (index, name) in [c"GE", c"RUNTIME"].into_iter().enumerate().take(room) {
                let mut usage = aclrtMemUsageInfo { curMemSize: 7, memPeakSize: 9, ..aclrtMemUsageInfo::default() };
                for (to, from) in usage.name.iter_mut().zip(name.to_bytes()) {
                    *to = c_char::from_ne_bytes([*from]);
                }
                give_at(out, index, usage);
            }
            give(found, state.modules_found.max(2));
            Ok(())
        };
    fn aclrtGetMemUceInfo(_device: i32, out: *mut aclrtMemUceInfo, room: usize, found: *mut usize)
        |mut state, _, out, room, found| {
            state.current()?;
            let damaged = state.live.iter().filter(|(_, live)| live.kind == "device memory").take(room);
            for (index, (address, _)) in damaged.clone().enumerate() {
                let range = aclrtMemUceInfo { addr: pointer(*address), len: 32, ..aclrtMemUceInfo::default() };
                give_at(out, index, range);
            }
            give(found, damaged.count());
            Ok(())
        };
    fn aclrtPointerGetAttributes(address: *const c_void, out: *mut aclrtPtrAttributes) |mut state, address, out| {
        let device = state.current_device()? - primary(0);
        if address.is_null() {
            return Err(ACL_ERROR_INVALID_PARAM);
        }
        let kind = state.allocation(address.addr()).map(|(_, live)| live.kind);
        let mut attributes = aclrtPtrAttributes { pageSize: 4096, ..aclrtPtrAttributes::default() };
        attributes.location.type_ = match kind {
            Some("device memory") => aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE,
            Some(_) => aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST,
            None => aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_UNREGISTERED,
        };
        attributes.location.id = u32::try_from(device).expect("a small number");
        give(out, attributes);
        Ok(())
    };
    fn aclrtMemGetAddressRange(address: *mut c_void, base: *mut *mut c_void, size: *mut usize)
        |mut state, address, base, size| {
            state.current()?;
            let (start, live) = state.allocation(address.addr()).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
            give(base, pointer(start));
            give(size, live.size);
            Ok(())
        };
}
