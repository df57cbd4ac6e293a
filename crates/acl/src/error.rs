//! What can go wrong when ACL is called.

use crate::{AclCode, ErrorKind};

/// Why a call did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AclError {
    /// ACL answered a code other than success.
    #[error(transparent)]
    Call(#[from] CallFailed),
    /// The library at hand has no such function.
    #[error(transparent)]
    Unsupported(#[from] acl_sys::Unsupported),
    /// ACL answered success, but gave nothing.
    #[error("{call} answered success without a result; the library breaks its contract")]
    NoResult {
        /// The function.
        call: &'static str,
    },
    /// The range is not inside the memory.
    #[error("{length} bytes at offset {offset} do not lie inside {size} bytes of memory")]
    OutOfBounds {
        /// Where the range begins, in bytes.
        offset: usize,
        /// Its length in bytes.
        length: usize,
        /// Bytes of the memory.
        size: usize,
    },
    /// A parameter is wrong, found before ACL was called.
    #[error("{parameter} is {value}; {rule}")]
    Argument {
        /// Its name.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        rule: &'static str,
    },
    /// The event was never recorded, so there is nothing to wait for; ACL would answer at random, by the sort of event.
    #[error("{call} on an event that was never recorded; record it first")]
    NotRecorded {
        /// The function that would have been called.
        call: &'static str,
    },
    /// There is no device of that number.
    #[error("device is {number}, but this process has {count} of them, counted from 0: {failed}")]
    NoSuchDevice {
        /// The number that was asked for.
        number: i32,
        /// How many there are.
        count: u32,
        /// What ACL said.
        failed: Box<CallFailed>,
    },
    /// The event is of another device than the stream.
    #[error(
        "the event is of device {event} and the stream of device {stream}; use an event of the stream's device"
    )]
    OtherDevice {
        /// Number of the event's device.
        event: i32,
        /// Number of the stream's device.
        stream: i32,
    },
    /// The host or its driver does not pin or register so much memory, not even in parts. Nothing was kept.
    #[error(
        "of {asked} bytes of host memory only {worked} could be pinned, in parts; ask for no more than that: {failed}"
    )]
    HostLimit {
        /// Bytes that were asked for.
        asked: usize,
        /// Bytes that could be had; 0 if not even the smallest part.
        worked: usize,
        /// What ACL said to the next part.
        failed: Box<CallFailed>,
    },
    /// The device was reset by [`crate::Device::reset_force`]; what belonged to it before is gone.
    #[error(
        "device {number} was reset by force, so {call} is not called on what it had before; open it again"
    )]
    DeviceReset {
        /// Its number.
        number: i32,
        /// The function that would have been called.
        call: &'static str,
    },
    /// A path or name has a zero byte inside.
    #[error("{0:?} has a zero byte inside, which C cannot take")]
    ZeroByte(Box<str>),
    /// ACL already runs in this process with another configuration file.
    #[error("ACL already runs in this process with another configuration; start all users with the same")]
    OtherConfiguration,
    /// The runtime was abandoned; see [`crate::Runtime::abandon`].
    #[error("the runtime was abandoned, so {call} is not called any more")]
    Abandoned {
        /// The function that would have been called.
        call: &'static str,
    },
    /// No library could be loaded; the text has every place that was tried.
    #[error("{0}")]
    NoLibrary(Box<str>),
}

/// An ACL function failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed with {code}{}{}", if detail.is_some() { ": " } else { "" }, detail.as_deref().unwrap_or_default())]
pub struct CallFailed {
    /// What it answered.
    pub code: AclCode,
    /// The function.
    pub call: &'static str,
    /// The driver's own text about it, taken at once on the same thread; `None` where it has none.
    pub detail: Option<Box<str>>,
}

impl AclError {
    /// What a caller does about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            // A full pool of CANN has no code of its own, nor has a driver's limit for host memory.
            Self::Call(CallFailed {
                code: AclCode::RT_INTERNAL_ERROR,
                call: "aclrtMemPoolMallocAsync",
                ..
            })
            | Self::HostLimit { .. } => ErrorKind::OutOfMemory,
            Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::OutOfBounds { .. }
            | Self::Argument { .. }
            | Self::NotRecorded { .. }
            | Self::OtherDevice { .. }
            | Self::ZeroByte(_)
            | Self::OtherConfiguration => ErrorKind::InvalidArgument,
            Self::Abandoned { .. } | Self::DeviceReset { .. } | Self::NoLibrary(_) => {
                ErrorKind::NotInitialised
            }
            Self::NoResult { .. } => ErrorKind::Other,
            Self::Call(_) | Self::NoSuchDevice { .. } => self.code().map_or(ErrorKind::Other, AclCode::kind),
        }
    }

    /// What ACL answered, where it was asked.
    pub fn failed_call(&self) -> Option<&CallFailed> {
        match self {
            Self::Call(failed) => Some(failed),
            Self::NoSuchDevice { failed, .. } | Self::HostLimit { failed, .. } => Some(failed),
            _ => None,
        }
    }

    /// The code, where ACL answered one.
    pub fn code(&self) -> Option<AclCode> {
        self.failed_call().map(|failed| failed.code)
    }

    /// The driver's own text, where it has one.
    pub fn detail(&self) -> Option<&str> {
        self.failed_call()?.detail.as_deref()
    }
}

/// Something was not released; it still belongs to the caller.
#[derive(Debug, thiserror::Error)]
#[error("not released: {error}")]
pub struct Refused<T> {
    /// Why.
    #[source]
    pub error: AclError,
    /// What was to be released. Dropping it tries once more.
    pub owner: T,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(call: &'static str, detail: Option<&str>) -> AclError {
        CallFailed { code: AclCode::RT_INTERNAL_ERROR, call, detail: detail.map(Into::into) }.into()
    }

    #[test]
    fn the_text_has_the_call_the_code_and_the_drivers_words() {
        assert_eq!(
            failed("aclrtFree", Some("EE1001: wrong")).to_string(),
            "aclrtFree failed with 507000 (ACL_ERROR_RT_INTERNAL_ERROR): EE1001: wrong"
        );
        assert!(!failed("aclrtFree", None).to_string().contains("): "));
    }

    #[test]
    fn an_internal_error_is_out_of_memory_only_from_canns_pool() {
        assert_eq!(failed("aclrtMemPoolMallocAsync", None).kind(), ErrorKind::OutOfMemory);
        assert_eq!(failed("aclrtMalloc", None).kind(), ErrorKind::Other);
    }

    #[test]
    fn a_missing_symbol_is_unsupported() {
        let error = AclError::from(acl_sys::Unsupported { symbol: "aclrtMemPoolCreate" });
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("aclrtMemPoolCreate"));
    }
}
