//! The codes of ACL, and the few kinds into which a caller sorts them.

use std::fmt;

/// A code that an ACL function answered.
///
/// A newtype and no enum: a newer CANN adds codes, and all of them must be carried.
///
/// ```
/// use acl::{AclCode, ErrorKind};
/// assert_eq!(AclCode::MEMORY_ALLOCATION, AclCode(207001));
/// assert_eq!(AclCode(207001).kind(), ErrorKind::OutOfMemory);
/// assert_eq!(AclCode(123456).kind(), ErrorKind::Other);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AclCode(pub i32);

/// What a caller does about an error depends on this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The device, or the host on its behalf, has no memory or no handle of that sort left. Free some and try again.
    OutOfMemory,
    /// The call was wrong; trying again does not help.
    InvalidArgument,
    /// The library, the driver or the chip cannot do this.
    Unsupported,
    /// The device or its memory is broken; nothing on it can be trusted.
    DeviceLost,
    /// ACL, the device or the context is not set up, or not any more.
    NotInitialised,
    /// Not yet: a wait ran out, or something is in use. Trying again may help.
    Busy,
    /// Anything else.
    Other,
}

/// Constants of [`AclCode`] with the value of ACL's constant.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident;)*) => {
        impl AclCode {
            $($(#[$doc])* pub const $name: Self = Self(acl_sys::$raw);)*

            /// The name of the constant in ACL's headers; `None` for a code without a constant here.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($raw)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// No error.
    SUCCESS = ACL_SUCCESS;
    /// A parameter is wrong; checked before the runtime is asked.
    INVALID_PARAM = ACL_ERROR_INVALID_PARAM;
    /// ACL is not initialised.
    UNINITIALIZE = ACL_ERROR_UNINITIALIZE;
    /// ACL was initialised already; the count went up all the same.
    REPEAT_INITIALIZE = ACL_ERROR_REPEAT_INITIALIZE;
    /// ACL was finalised already.
    REPEAT_FINALIZE = ACL_ERROR_REPEAT_FINALIZE;
    /// The program is linked to a library without code.
    COMPILING_STUB_MODE = ACL_ERROR_COMPILING_STUB_MODE;
    /// There is no model of that id.
    INVALID_MODEL_ID = ACL_ERROR_INVALID_MODEL_ID;
    /// The file is no model.
    PARSE_MODEL = ACL_ERROR_PARSE_MODEL;
    /// The file cannot be read.
    READ_MODEL_FAILURE = ACL_ERROR_READ_MODEL_FAILURE;
    /// The inputs are not those of the model.
    MODEL_INPUT_NOT_MATCH = ACL_ERROR_MODEL_INPUT_NOT_MATCH;
    /// The outputs are not those of the model.
    MODEL_OUTPUT_NOT_MATCH = ACL_ERROR_MODEL_OUTPUT_NOT_MATCH;
    /// Something that depends on this is still there.
    RELATIVE_RESOURCE_NOT_CLEARED = ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED;
    /// The host has no memory left.
    BAD_ALLOC = ACL_ERROR_BAD_ALLOC;
    /// The library has the function, but it does nothing.
    API_NOT_SUPPORT = ACL_ERROR_API_NOT_SUPPORT;
    /// There is no device of that number.
    INVALID_DEVICE = ACL_ERROR_INVALID_DEVICE;
    /// An address is not aligned.
    MEMORY_ADDRESS_UNALIGNED = ACL_ERROR_MEMORY_ADDRESS_UNALIGNED;
    /// The parts do not belong together.
    RESOURCE_NOT_MATCH = ACL_ERROR_RESOURCE_NOT_MATCH;
    /// A handle is wrong.
    INVALID_RESOURCE_HANDLE = ACL_ERROR_INVALID_RESOURCE_HANDLE;
    /// The feature does not exist here.
    FEATURE_UNSUPPORTED = ACL_ERROR_FEATURE_UNSUPPORTED;
    /// A storage limit was passed.
    STORAGE_OVER_LIMIT = ACL_ERROR_STORAGE_OVER_LIMIT;
    /// An error inside ACL.
    INTERNAL_ERROR = ACL_ERROR_INTERNAL_ERROR;
    /// A parameter is wrong; checked by the runtime.
    RT_PARAM_INVALID = ACL_ERROR_RT_PARAM_INVALID;
    /// There is no device of that number.
    RT_INVALID_DEVICEID = ACL_ERROR_RT_INVALID_DEVICEID;
    /// No context is current on this thread.
    CONTEXT_NULL = ACL_ERROR_RT_CONTEXT_NULL;
    /// The stream belongs to another context than the current one.
    STREAM_CONTEXT = ACL_ERROR_RT_STREAM_CONTEXT;
    /// The model belongs to another context than the current one.
    MODEL_CONTEXT = ACL_ERROR_RT_MODEL_CONTEXT;
    /// An address is not aligned.
    ADDR_UNALIGNED = ACL_ERROR_RT_ADDR_UNALIGNED;
    /// The device does not have this kind of memory.
    INVALID_MEMORY_TYPE = ACL_ERROR_RT_INVALID_MEMORY_TYPE;
    /// A handle is wrong.
    INVALID_HANDLE = ACL_ERROR_RT_INVALID_HANDLE;
    /// The policy cannot be used here.
    INVALID_MALLOC_TYPE = ACL_ERROR_RT_INVALID_MALLOC_TYPE;
    /// A wait ran out.
    WAIT_TIMEOUT = ACL_ERROR_RT_WAIT_TIMEOUT;
    /// The device is aborting its tasks.
    DEVICE_TASK_ABORT = ACL_ERROR_RT_DEVICE_TASK_ABORT;
    /// The stream is being aborted.
    STREAM_ABORT = ACL_ERROR_RT_STREAM_ABORT;
    /// The stream is being captured.
    STREAM_CAPTURED = ACL_ERROR_RT_STREAM_CAPTURED;
    /// The call is not allowed during a capture.
    CAPTURE_MODE_NOT_SUPPORT = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
    /// The chip or the driver cannot do this.
    FEATURE_NOT_SUPPORT = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    /// **Out of device memory.**
    MEMORY_ALLOCATION = ACL_ERROR_RT_MEMORY_ALLOCATION;
    /// The driver did not free.
    MEMORY_FREE = ACL_ERROR_RT_MEMORY_FREE;
    /// There is no such device.
    NO_DEVICE = ACL_ERROR_RT_NO_DEVICE;
    /// The driver has no resource left.
    RESOURCE_ALLOC_FAIL = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
    /// The process may not do this.
    NO_PERMISSION = ACL_ERROR_RT_NO_PERMISSION;
    /// The device has no event left.
    NO_EVENT_RESOURCE = ACL_ERROR_RT_NO_EVENT_RESOURCE;
    /// The device has no stream left.
    NO_STREAM_RESOURCE = ACL_ERROR_RT_NO_STREAM_RESOURCE;
    /// A limit was passed.
    OVER_LIMIT = ACL_ERROR_RT_OVER_LIMIT;
    /// The process on the device has no memory left.
    DEVICE_OOM = ACL_ERROR_RT_DEVICE_OOM;
    /// A wait ran out.
    TIMEOUT = ACL_ERROR_RT_TIMEOUT;
    /// An error inside the runtime; also what a full pool of CANN answers.
    RT_INTERNAL_ERROR = ACL_ERROR_RT_INTERNAL_ERROR;
    /// The stream has not finished.
    STREAM_NOT_COMPLETE = ACL_ERROR_RT_STREAM_NOT_COMPLETE;
    /// The event has not happened.
    EVENT_NOT_COMPLETE = ACL_ERROR_RT_EVENT_NOT_COMPLETE;
    /// A context could not be released.
    CONTEXT_RELEASE_ERROR = ACL_ERROR_RT_CONTEXT_RELEASE_ERROR;
    /// The device does not answer any more.
    LOST_HEARTBEAT = ACL_ERROR_RT_LOST_HEARTBEAT;
    /// No callback came in time.
    REPORT_TIMEOUT = ACL_ERROR_RT_REPORT_TIMEOUT;
    /// The device could not be set up.
    DEV_SETUP_ERROR = ACL_ERROR_RT_DEV_SETUP_ERROR;
    /// A wait for a stream ran out.
    STREAM_SYNC_TIMEOUT = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
    /// A wait for an event ran out.
    EVENT_SYNC_TIMEOUT = ACL_ERROR_RT_EVENT_SYNC_TIMEOUT;
    /// Device memory is broken.
    DEVICE_MEM_ERROR = ACL_ERROR_RT_DEVICE_MEM_ERROR;
    /// Several bits of device memory are broken.
    HBM_MULTI_BIT_ECC_ERROR = ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR;
    /// Device memory may be broken.
    SUSPECT_DEVICE_MEM_ERROR = ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR;
    /// An error inside the driver.
    DRV_INTERNAL_ERROR = ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    /// The host memory is registered already.
    HOST_MEMORY_ALREADY_REGISTERED = ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    /// The host memory is not registered.
    HOST_MEMORY_NOT_REGISTERED = ACL_ERROR_HOST_MEMORY_NOT_REGISTERED;
    /// The model loader has no memory left.
    GE_MEMORY_ALLOCATION = ACL_ERROR_GE_MEMORY_ALLOCATION;
}

impl AclCode {
    /// The kind of this code; [`ErrorKind::Other`] for one that is not known. O(1).
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::MEMORY_ALLOCATION
            | Self::RESOURCE_ALLOC_FAIL
            | Self::DEVICE_OOM
            | Self::BAD_ALLOC
            | Self::NO_EVENT_RESOURCE
            | Self::NO_STREAM_RESOURCE
            | Self::GE_MEMORY_ALLOCATION
            | Self::OVER_LIMIT
            | Self::STORAGE_OVER_LIMIT => ErrorKind::OutOfMemory,
            Self::API_NOT_SUPPORT
            | Self::FEATURE_UNSUPPORTED
            | Self::FEATURE_NOT_SUPPORT
            | Self::INVALID_MEMORY_TYPE
            | Self::COMPILING_STUB_MODE => ErrorKind::Unsupported,
            Self::LOST_HEARTBEAT
            | Self::DEV_SETUP_ERROR
            | Self::DEVICE_MEM_ERROR
            | Self::HBM_MULTI_BIT_ECC_ERROR
            | Self::SUSPECT_DEVICE_MEM_ERROR => ErrorKind::DeviceLost,
            Self::UNINITIALIZE | Self::REPEAT_FINALIZE | Self::CONTEXT_NULL => ErrorKind::NotInitialised,
            Self::WAIT_TIMEOUT
            | Self::TIMEOUT
            | Self::REPORT_TIMEOUT
            | Self::STREAM_NOT_COMPLETE
            | Self::EVENT_NOT_COMPLETE
            | Self::STREAM_SYNC_TIMEOUT
            | Self::EVENT_SYNC_TIMEOUT
            | Self::DEVICE_TASK_ABORT
            | Self::STREAM_ABORT
            | Self::STREAM_CAPTURED
            | Self::CAPTURE_MODE_NOT_SUPPORT
            | Self::RELATIVE_RESOURCE_NOT_CLEARED => ErrorKind::Busy,
            Self::INVALID_PARAM
            | Self::RT_PARAM_INVALID
            | Self::INVALID_DEVICE
            | Self::RT_INVALID_DEVICEID
            | Self::NO_DEVICE
            | Self::STREAM_CONTEXT
            | Self::MODEL_CONTEXT
            | Self::MEMORY_ADDRESS_UNALIGNED
            | Self::ADDR_UNALIGNED
            | Self::INVALID_HANDLE
            | Self::INVALID_RESOURCE_HANDLE
            | Self::INVALID_MALLOC_TYPE
            | Self::RESOURCE_NOT_MATCH
            | Self::HOST_MEMORY_ALREADY_REGISTERED
            | Self::HOST_MEMORY_NOT_REGISTERED
            | Self::INVALID_MODEL_ID
            | Self::PARSE_MODEL
            | Self::READ_MODEL_FAILURE
            | Self::MODEL_INPUT_NOT_MATCH
            | Self::MODEL_OUTPUT_NOT_MATCH => ErrorKind::InvalidArgument,
            _ => ErrorKind::Other,
        }
    }
}

impl fmt::Display for AclCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_memory_are_sorted_as_out_of_memory_and_no_other_common_one_is() {
        for code in [207_001, 207_005, 207_018, 200_000, 245_000] {
            assert_eq!(AclCode(code).kind(), ErrorKind::OutOfMemory, "{code}");
        }
        for code in [0, 100_000, 107_000, 207_000, 507_000, -1] {
            assert_ne!(AclCode(code).kind(), ErrorKind::OutOfMemory, "{code}");
        }
    }

    #[test]
    fn a_code_says_its_number_and_its_name_if_it_has_one() {
        assert_eq!(AclCode(107_002).to_string(), "107002 (ACL_ERROR_RT_CONTEXT_NULL)");
        assert_eq!(AclCode(42).to_string(), "42");
    }
}
