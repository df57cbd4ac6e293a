//! Devices: counted, set, reset and waited for.

use std::time::Duration;

use acl_sys::{ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtDeviceState, aclrtRunMode};

use crate::context::{self, current};
use crate::failure::{Failure, timed};
use crate::tasks;
use crate::watchers::tell_of_device;
use crate::{leftovers, runtime, thread_state};

export! {
    /// As in CANN, also before initialisation.
    fn aclrtGetDeviceCount(out count: *mut u32) {
        count.check("the count")?;
        count.set(u32::try_from(runtime::device_count()?).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Makes the device's default context the first time and binds it to this thread.
    fn aclrtSetDevice(val device: i32) {
        let runtime = runtime::get()?;
        let (index, slot) = runtime.slot(device)?;
        let device = slot.activate(index, &runtime.settings)?;
        let (primary, is_first) = slot.set(|| context::create(&device, true));
        thread_state::set_context(primary);
        if is_first {
            context::tell_of_start(primary);
        }
        tell_of_device(index, aclrtDeviceState::ACL_RT_DEVICE_STATE_SET_POST);
        Ok(())
    }

    /// Counts down and tears the device down at 0: its memory, streams, events and contexts are gone.
    fn aclrtResetDevice(val device: i32) {
        reset(device, false)
    }

    /// Tears the device down at once.
    fn aclrtResetDeviceForce(val device: i32) {
        reset(device, true)
    }

    /// 107002 when none was set on this thread, as before initialisation.
    fn aclrtGetDevice(out device: *mut i32) {
        device.check("the device")?;
        let index = context::current_if_any()?.device.index;
        device.set(i32::try_from(index).unwrap_or(i32::MAX));
        Ok(())
    }

    fn aclrtGetRunMode(out mode: *mut aclrtRunMode) {
        mode.check("the mode")?;
        mode.set(aclrtRunMode::ACL_HOST);
        Ok(())
    }

    fn aclrtSynchronizeDevice() {
        let current = current()?;
        current.device.engine.synchronize_device()?;
        super::pool::trim(&current);
        tasks::outcome_of_device(current.device.index)
    }

    fn aclrtSynchronizeDeviceWithTimeout(val timeout_ms: i32) {
        let current = current()?;
        match patience(timeout_ms)? {
            None => current.device.engine.synchronize_device()?,
            Some(patience) => {
                let waited = current.device.engine.synchronize_device_within(patience);
                waited.map_err(|error| timed(error, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT))?;
            }
        }
        tasks::outcome_of_device(current.device.index)
    }

    /// The number of this process.
    fn aclrtDeviceGetBareTgid(out process: *mut i32) {
        process.check("the process")?;
        runtime::get()?;
        process.set(i32::try_from(std::process::id()).unwrap_or(i32::MAX));
        Ok(())
    }

    fn aclrtDeviceGetStreamPriorityRange(out least: *mut i32, out greatest: *mut i32) {
        current()?;
        least.check("the least priority")?;
        greatest.check("the greatest priority")?;
        least.set(7);
        greatest.set(0);
        Ok(())
    }
}

fn reset(number: i32, all: bool) -> Result<(), Failure> {
    let runtime = runtime::get()?;
    let (index, slot) = runtime.slot(number)?;
    if slot.is_last_reset(all) {
        context::tell_of_end(|stream| stream.device == index);
        tell_of_device(index, aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_PRE);
    }
    if let Some(device) = slot.reset(index, all)? {
        leftovers::tell_of_device(&runtime, &device);
        device.settle();
        for hazard in device.engine.take_hazards() {
            runtime.reports.add(format!("device {index}: {hazard}"));
        }
        context::forget_device(index);
        runtime.peers.lock().retain(|&(from, _)| from != index);
        tell_of_device(index, aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_POST);
    }
    Ok(())
}

/// A timeout in milliseconds: -1 is for ever, less is refused with 107000.
pub(crate) fn patience(timeout_ms: i32) -> Result<Option<Duration>, Failure> {
    match timeout_ms {
        -1 => Ok(None),
        _ => match u64::try_from(timeout_ms) {
            Ok(ms) => Ok(Some(Duration::from_millis(ms))),
            Err(_) => {
                Err(Failure::refused(format!("a timeout of {timeout_ms} ms: give -1 (for ever) or more")))
            }
        },
    }
}
