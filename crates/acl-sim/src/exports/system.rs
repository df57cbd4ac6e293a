//! Errors of the thread, versions and the name of the chip.

use std::ffi::c_char;
use std::ptr;

use acl_sys::{
    CannVersion, aclCANNPackageName, aclCANNPackageVersion, aclDataType, aclError, aclFloat16,
    aclrtLastErrLevel,
};

use crate::failure::Failure;
use crate::foreign::put_text;
use crate::{half, runtime, thread_state};

/// The card that is simulated: one of the 910B kind, which all families here exist on.
const SOC: &std::ffi::CStr = c"Ascend910B1";

export! {
    /// The text of this thread's last failure, and forgets it; valid until the thread asks again.
    fn aclGetRecentErrMsg() -> *const c_char, ptr::null(), {
        Ok(thread_state::hand_out_text())
    }

    fn aclrtGetLastError(val level: aclrtLastErrLevel) -> aclError, acl_sys::ACL_ERROR_RT_PARAM_INVALID, {
        check(level)?;
        Ok(thread_state::take_error())
    }

    fn aclrtPeekAtLastError(val level: aclrtLastErrLevel) -> aclError, acl_sys::ACL_ERROR_RT_PARAM_INVALID, {
        check(level)?;
        Ok(thread_state::peek_error())
    }

    /// As in CANN, also before initialisation.
    fn aclrtGetSocName() -> *const c_char, ptr::null(), {
        Ok(SOC.as_ptr())
    }

    /// The version of ACL's interface.
    fn aclrtGetVersion(out major: *mut i32, out minor: *mut i32, out patch: *mut i32) {
        major.check("the major version")?;
        minor.check("the minor version")?;
        patch.check("the patch version")?;
        major.set(1);
        minor.set(17);
        patch.set(0);
        Ok(())
    }

    /// CANN's version as one number: 9.1.0 is 90100000.
    fn aclsysGetVersionNum(text package: *mut c_char, out number: *mut i32) {
        number.check("the number")?;
        package.get().ok_or_else(|| Failure::invalid("the name of the package is null"))?;
        let version = simulated_version();
        let value = version.major * 10_000_000 + version.minor * 100_000;
        number.set(i32::try_from(value).map_err(|_| Failure::invalid("the version is no 32-bit number"))?);
        Ok(())
    }

    /// CANN's version as text: 9.1.0. The place has 128 bytes, as ACL says.
    fn aclsysGetVersionStr(text package: *mut c_char, num version: *mut c_char) {
        package.get().ok_or_else(|| Failure::invalid("the name of the package is null"))?;
        if version == 0 {
            return Err(Failure::invalid("the version is null: give a place for the answer"));
        }
        let text = format!("{}.0\0", simulated_version());
        host_bytes!(version, acl_sys::ACL_PKG_VERSION_MAX_SIZE).write(0, text.as_bytes());
        Ok(())
    }

    /// CANN's version, whole and in parts; all packages have the same.
    fn aclsysGetCANNVersion(val package: aclCANNPackageName, out version: *mut aclCANNPackageVersion) {
        version.check("the version")?;
        if package.0 > aclCANNPackageName::ACL_PKG_NAME_DRIVER.0 {
            return Err(Failure::invalid(format!("package {} does not exist: give 0 to 7", package.0)));
        }
        let simulated = simulated_version();
        let mut answer = aclCANNPackageVersion::default();
        put_text(&mut answer.version, format!("{simulated}.0").as_bytes());
        put_text(&mut answer.majorVersion, simulated.major.to_string().as_bytes());
        put_text(&mut answer.minorVersion, simulated.minor.to_string().as_bytes());
        put_text(&mut answer.releaseVersion, b"0");
        version.set(answer);
        Ok(())
    }

    fn aclFloat16ToFloat(val value: aclFloat16) -> f32, 0.0, {
        Ok(half::to_float(value))
    }

    fn aclFloatToFloat16(val value: f32) -> aclFloat16, 0, {
        Ok(half::from_float(value))
    }

    /// Bytes of an element; 0 for types of less than a byte.
    fn aclDataTypeSize(val data_type: aclDataType) -> usize, 0, {
        Ok(size_of(data_type))
    }
}

export! {
    /// Logs are not kept, as with a log level of 4 in CANN.
    variadic fn aclAppLog(
        val _level: u32,
        text _function: *const c_char,
        text _file: *const c_char,
        val _line: u32,
        text _format: *const c_char,
    ) {
        Ok(())
    }
}

fn simulated_version() -> CannVersion {
    runtime::peek().map_or(CannVersion::V9_1, |runtime| runtime.settings.version)
}

fn check(level: aclrtLastErrLevel) -> Result<(), Failure> {
    if level == aclrtLastErrLevel::ACL_RT_THREAD_LEVEL {
        return Ok(());
    }
    Err(Failure::refused(format!("error level {} does not exist: only the thread's, 0", level.0)))
}

/// Bytes of an element.
pub(crate) fn size_of(data_type: aclDataType) -> usize {
    use acl_sys::aclDataType as T;
    match data_type {
        T::ACL_INT8 | T::ACL_UINT8 | T::ACL_BOOL => 1,
        T::ACL_FLOAT16 | T::ACL_INT16 | T::ACL_UINT16 | T::ACL_BF16 => 2,
        T::ACL_FLOAT | T::ACL_INT32 | T::ACL_UINT32 | T::ACL_COMPLEX32 => 4,
        T::ACL_INT64 | T::ACL_UINT64 | T::ACL_DOUBLE | T::ACL_COMPLEX64 => 8,
        T::ACL_COMPLEX128 => 16,
        _ => 0,
    }
}
