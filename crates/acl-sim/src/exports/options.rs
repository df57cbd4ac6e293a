//! Settings of the process, of contexts and of devices that are kept and answered: kernels, which they are for, do not
//! run here.

use acl_sys::{
    ACL_ERROR_RT_CONTEXT_NULL, aclSysParamOpt, aclrtDevResLimitType, aclrtFloatOverflowMode, aclrtStream,
};

use crate::context::current;
use crate::failure::Failure;
use crate::options::CoreLimits;
use crate::runtime::{self, Runtime};

/// Microseconds of a step in which a card of the 910B kind counts the longest run of an operator.
const STEP_US: u64 = 4_294_967;

export! {
    /// Takes 0 to 3 for determinism, 0 or 1 for the others; else 107000.
    fn aclrtSetSysParamOpt(val option: aclSysParamOpt, val value: i64) {
        runtime::get()?.options.lock().system.set(option, value)
    }

    /// What was never set is 0.
    fn aclrtGetSysParamOpt(val option: aclSysParamOpt, out value: *mut i64) {
        value.check("the value")?;
        let answer = runtime::get()?.options.lock().system.get(option);
        value.set(match answer {
            Err(failure) if failure.code == acl_sys::ACL_ERROR_RT_SYSPARAMOPT_NOT_SET => 0,
            answer => answer?,
        });
        Ok(())
    }

    /// As in CANN, the process gets it too.
    fn aclrtCtxSetSysParamOpt(val option: aclSysParamOpt, val value: i64) {
        of_contexts(option)?;
        let current = current()?;
        current.context.options.lock().set(option, value)?;
        current.runtime.options.lock().system.set(option, value)
    }

    /// 107021 when the context has no such setting.
    fn aclrtCtxGetSysParamOpt(val option: aclSysParamOpt, out value: *mut i64) {
        value.check("the value")?;
        of_contexts(option)?;
        value.set(current()?.context.options.lock().get(option)?);
        Ok(())
    }

    fn aclrtSetDeviceSatMode(val mode: aclrtFloatOverflowMode) {
        if mode.0 > aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_INFNAN.0 {
            return Err(Failure::refused(format!("overflow mode {} does not exist: give 0 or 1", mode.0)));
        }
        runtime::get()?.options.lock().saturation = mode;
        Ok(())
    }

    fn aclrtGetDeviceSatMode(out mode: *mut aclrtFloatOverflowMode) {
        mode.check("the mode")?;
        mode.set(runtime::get()?.options.lock().saturation);
        Ok(())
    }

    fn aclrtSetStreamOverflowSwitch(num stream: aclrtStream, val flag: u32) {
        if flag > 1 {
            return Err(Failure::refused(format!("an overflow switch of {flag}: give 0 or 1")));
        }
        current()?.stream(stream)?.settings.lock().overflow_switch = flag;
        Ok(())
    }

    fn aclrtGetStreamOverflowSwitch(num stream: aclrtStream, out flag: *mut u32) {
        flag.check("the flag")?;
        flag.set(current()?.stream(stream)?.settings.lock().overflow_switch);
        Ok(())
    }

    fn aclrtGetDeviceResLimit(val device: i32, val kind: aclrtDevResLimitType, out value: *mut u32) {
        value.check("the value")?;
        let limits = with_limits(&*runtime::get()?, device, |limits| *limits)?;
        value.set(limits.get(kind)?);
        Ok(())
    }

    /// 1 to as many cores as there are.
    fn aclrtSetDeviceResLimit(val device: i32, val kind: aclrtDevResLimitType, val value: u32) {
        with_limits(&*runtime::get()?, device, |limits| limits.set(kind, value))?
    }

    fn aclrtResetDeviceResLimit(val device: i32) {
        with_limits(&*runtime::get()?, device, |limits| *limits = CoreLimits::default())
    }

    /// What the current device has: threads and streams have no limits of their own here.
    fn aclrtGetResInCurrentThread(val kind: aclrtDevResLimitType, out value: *mut u32) {
        value.check("the value")?;
        value.set(current()?.device.limits.lock().get(kind)?);
        Ok(())
    }

    /// Changes nothing: a wait of a stream for an event has no end of its own.
    fn aclrtSetOpWaitTimeout(val _timeout_s: u32) {
        current().map(drop)
    }

    /// Changes nothing: no operator runs, and nothing in ACL asks for it again.
    fn aclrtSetOpExecuteTimeOut(val _timeout_s: u32) {
        runtime::get().map(drop)
    }

    /// As `aclrtSetOpExecuteTimeOut`.
    fn aclrtSetOpExecuteTimeOutWithMs(val _timeout_ms: u32) {
        runtime::get().map(drop)
    }

    /// As `aclrtSetOpExecuteTimeOut`, and answers the next whole number of steps; for 0, which is without end, the largest number.
    fn aclrtSetOpExecuteTimeOutV2(val timeout_us: u64, out actual_us: *mut u64) {
        actual_us.check("the actual time")?;
        current()?;
        actual_us.set(match timeout_us {
            0 => u64::MAX,
            _ => timeout_us.div_ceil(STEP_US).saturating_mul(STEP_US),
        });
        Ok(())
    }

    fn aclrtGetOpTimeOutInterval(out interval_us: *mut u64) {
        interval_us.check("the interval")?;
        current()?;
        interval_us.set(STEP_US);
        Ok(())
    }
}

/// Contexts have no early start of kernels.
fn of_contexts(option: aclSysParamOpt) -> Result<(), Failure> {
    if option == aclSysParamOpt::ACL_OPT_ENABLE_KERNEL_EARLY_START {
        return Err(Failure::invalid("option 3 belongs to the process, not to a context"));
    }
    Ok(())
}

/// The limits of a device that is in use; 107002 for one that is not.
fn with_limits<T>(
    runtime: &Runtime,
    device: i32,
    work: impl FnOnce(&mut CoreLimits) -> T,
) -> Result<T, Failure> {
    let (index, slot) = runtime.slot(device)?;
    let device = slot.device().ok_or_else(|| {
        Failure::new(
            ACL_ERROR_RT_CONTEXT_NULL,
            format!("device {index} is not set: call aclrtSetDevice first"),
        )
    })?;
    let mut limits = device.limits.lock();
    Ok(work(&mut limits))
}
