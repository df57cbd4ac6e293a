//! Calls that clients link to or ask for, and that this simulation cannot fulfil: 207000, as a chip without the feature
//! answers.

use std::ffi::{c_char, c_void};

use acl_sys::{
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtBinHandle, aclrtBinaryLoadOptions, aclrtDrvMemHandle,
    aclrtFuncHandle, aclrtMemHandleType,
};

use crate::failure::Failure;

const KERNELS: &str = "kernels are not simulated: no code of a card can run here";
const DUMPS: &str = "dumps are not simulated";
const PROCESSES: &str = "memory of several processes is not simulated";

export! {
    fn aclrtBinaryLoadFromData(
        num _data: *const c_void,
        val _length: usize,
        num _options: *const aclrtBinaryLoadOptions,
        num _binary: *mut aclrtBinHandle,
    ) {
        unsupported(KERNELS)
    }

    fn aclrtBinaryGetFunction(
        num _binary: aclrtBinHandle,
        num _name: *const c_char,
        num _function: *mut aclrtFuncHandle,
    ) {
        unsupported(KERNELS)
    }

    fn aclrtGetFunctionAddr(
        num _function: aclrtFuncHandle,
        num _cube: *mut *mut c_void,
        num _vector: *mut *mut c_void,
    ) {
        unsupported(KERNELS)
    }

    fn aclmdlInitDump() {
        unsupported(DUMPS)
    }

    fn aclmdlSetDump(num _config_path: *const c_char) {
        unsupported(DUMPS)
    }

    fn aclmdlFinalizeDump() {
        unsupported(DUMPS)
    }

    fn aclrtMemExportToShareableHandle(
        num _handle: aclrtDrvMemHandle,
        val _kind: aclrtMemHandleType,
        val _flags: u64,
        num _shareable: *mut u64,
    ) {
        unsupported(PROCESSES)
    }

    fn aclrtMemImportFromShareableHandle(
        val _shareable: u64,
        val _device: i32,
        num _handle: *mut aclrtDrvMemHandle,
    ) {
        unsupported(PROCESSES)
    }

    fn aclrtMemSetPidToShareableHandle(val _shareable: u64, num _processes: *mut i32, val _count: usize) {
        unsupported(PROCESSES)
    }
}

fn unsupported(why: &str) -> Result<(), Failure> {
    Err(Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, why))
}
