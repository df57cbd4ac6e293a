//! Why a call failed: the code that C sees, and the text behind `aclGetRecentErrMsg`.

use acl_sys::{
    ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_ADDR_UNALIGNED, ACL_ERROR_RT_DRV_INTERNAL_ERROR,
    ACL_ERROR_RT_EVENT_NOT_COMPLETE, ACL_ERROR_RT_INTERNAL_ERROR, ACL_ERROR_RT_INVALID_HANDLE,
    ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_PARAM_INVALID, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclError,
};
use host_device::HostDeviceError;
use host_device::engine::EngineError;

/// A failure of a call.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) code: aclError,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(code: aclError, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    /// 100000: what the outer layer of ACL checks.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(ACL_ERROR_INVALID_PARAM, text)
    }

    /// 107000: what the runtime below it checks.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::new(ACL_ERROR_RT_PARAM_INVALID, text)
    }

    /// 107017.
    pub(crate) fn handle(kind: &str, number: u64) -> Self {
        Self::new(
            ACL_ERROR_RT_INVALID_HANDLE,
            format!("no {kind} has the handle {number:#x}: it was destroyed, or never made"),
        )
    }

    /// The same failure with another code.
    pub(crate) fn with_code(mut self, code: aclError) -> Self {
        self.code = code;
        self
    }
}

impl From<HostDeviceError> for Failure {
    fn from(error: HostDeviceError) -> Self {
        use HostDeviceError as E;
        let code = match &error {
            E::OutOfMemory { .. } => ACL_ERROR_RT_MEMORY_ALLOCATION,
            E::Host { .. } => ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            E::InvalidAlignment { .. } | E::MisalignedMapping { .. } => ACL_ERROR_RT_ADDR_UNALIGNED,
            E::UnknownHandle { .. } => ACL_ERROR_RT_INVALID_HANDLE,
            E::ReservationInUse { .. } | E::HandleMapped { .. } | E::AlreadyMapped { .. } => {
                ACL_ERROR_RT_DRV_INTERNAL_ERROR
            }
            _ => ACL_ERROR_RT_PARAM_INVALID,
        };
        Self::new(code, error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        use EngineError as E;
        let code = match &error {
            E::UnknownStream { .. } | E::StreamClosing { .. } | E::UnknownEvent { .. } => {
                ACL_ERROR_RT_INVALID_HANDLE
            }
            E::EventNotComplete { .. } => ACL_ERROR_RT_EVENT_NOT_COMPLETE,
            E::Thread { .. } => ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            _ => ACL_ERROR_RT_INTERNAL_ERROR,
        };
        Self::new(code, error.to_string())
    }
}

/// As [`Failure::from`], but a wait that took too long has a code of its own.
pub(crate) fn timed(error: EngineError, timeout_code: aclError) -> Failure {
    let timed_out = matches!(error, EngineError::TimedOut { .. });
    let failure = Failure::from(error);
    if timed_out { failure.with_code(timeout_code) } else { failure }
}
