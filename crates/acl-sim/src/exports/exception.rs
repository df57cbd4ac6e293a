//! Tasks that failed, as a callback of the program hears of them.

use std::ffi::c_void;

use acl_sys::{
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclError, aclrtExceptionInfo, aclrtExceptionInfoCallback,
    aclrtFuncHandle,
};
use parking_lot::Mutex;

use crate::failure::Failure;
use crate::foreign::ExceptionWatcher;
use crate::handles::Handles;
use crate::thread_state;

/// Which task failed, where and with what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedTask {
    pub(crate) task: u32,
    pub(crate) stream: i32,
    pub(crate) thread: u32,
    pub(crate) device: usize,
    pub(crate) code: aclError,
}

/// What the questions answer to no exception.
const NONE: u32 = u32::MAX;

static FAILED: Handles<FailedTask> = Handles::new("exception");
static CALLBACK: Mutex<Option<ExceptionWatcher>> = Mutex::new(None);

export! {
    fn aclrtGetThreadLastTaskId(out task: *mut u32) {
        task.check("the number")?;
        task.set(thread_state::last_task());
        Ok(())
    }

    /// One for the process; null takes it away. It runs on a thread of the runtime's.
    fn aclrtSetExceptionInfoCallback(val callback: aclrtExceptionInfoCallback) {
        *CALLBACK.lock() = watcher!(callback, std::ptr::null_mut::<c_void>());
        Ok(())
    }

    fn aclrtGetTaskIdFromExceptionInfo(num info: *const aclrtExceptionInfo) -> u32, NONE, {
        Ok(FAILED.get(info)?.task)
    }

    fn aclrtGetStreamIdFromExceptionInfo(num info: *const aclrtExceptionInfo) -> u32, NONE, {
        Ok(u32::try_from(FAILED.get(info)?.stream).unwrap_or(NONE))
    }

    fn aclrtGetThreadIdFromExceptionInfo(num info: *const aclrtExceptionInfo) -> u32, NONE, {
        Ok(FAILED.get(info)?.thread)
    }

    fn aclrtGetDeviceIdFromExceptionInfo(num info: *const aclrtExceptionInfo) -> u32, NONE, {
        Ok(u32::try_from(FAILED.get(info)?.device).unwrap_or(NONE))
    }

    fn aclrtGetErrorCodeFromExceptionInfo(num info: *const aclrtExceptionInfo) -> u32, NONE, {
        Ok(u32::try_from(FAILED.get(info)?.code).unwrap_or(NONE))
    }

    /// Only kernels have arguments on the device.
    fn aclrtGetArgsFromExceptionInfo(
        num info: *const aclrtExceptionInfo,
        out arguments: *mut *mut c_void,
        out length: *mut u32,
    ) {
        arguments.check("the arguments")?;
        length.check("the length")?;
        FAILED.get(info)?;
        Err(no_kernel())
    }

    fn aclrtGetFuncHandleFromExceptionInfo(
        num info: *const aclrtExceptionInfo,
        out function: *mut aclrtFuncHandle,
    ) {
        function.check("the function")?;
        FAILED.get(info)?;
        Err(no_kernel())
    }
}

fn no_kernel() -> Failure {
    Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the task that failed was no kernel: none are simulated")
}

/// Calls the callback, which may ask about the task as long as it runs.
pub(crate) fn tell_of_failure(failed: FailedTask) {
    let callback = *CALLBACK.lock();
    if let Some(callback) = callback {
        let info = FAILED.insert(failed);
        callback.call(info);
        let _it_was_there = FAILED.remove(info);
    }
}
