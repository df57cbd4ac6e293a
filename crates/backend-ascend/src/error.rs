//! What can go wrong, and how ACL's errors become those of a device.

use acl::{AclError, ErrorKind};
use mempool_core::{Alignment, Bytes, DeviceAddress, DeviceError, DeviceEvent, DeviceStream, PhysicalMemory};

/// Why a card could not be opened. Nothing of it is held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no ACL library.
    #[error(
        "{source}\nwithout an Ascend card, `cargo xtask sim DIR` builds a simulated one: set ASCEND_MEMPOOL_ACL_LIBRARY to DIR/lib64"
    )]
    NoLibrary {
        /// Every place that was tried.
        source: AclError,
    },
    /// There is no such device.
    #[error("device is {device}, but this process has {count}, numbered from 0; give one of those")]
    NoSuchDevice {
        /// As given.
        device: i32,
        /// Number of devices.
        count: u32,
        /// ACL's words.
        source: AclError,
    },
    /// The options ask for virtual memory that the library or the card does not have.
    #[error(
        "the options ask for virtual memory, which needs {missing}; use ArenaSource::Malloc and pages of 2 MiB, or a newer CANN"
    )]
    NoVirtualMemory {
        /// The function that is not there, or that the card cannot do.
        missing: &'static str,
        /// The card's words, where it was asked.
        source: Option<AclError>,
    },
    /// The card states a granule that no pool can work with.
    #[error(
        "the card states a granule of {granule} bytes for virtual memory, which is no power of two; use ArenaSource::Malloc"
    )]
    Granule {
        /// As stated.
        granule: usize,
    },
    /// ACL's own error.
    #[error(transparent)]
    Acl(#[from] AclError),
}

/// What a caller of the backend did wrong; nothing was changed. Inside of [`DeviceError::Other`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// No arena of that base and size is live.
    #[error("no arena of {size} starts at {base}; give back what allocate_arena gave, once, with its size")]
    UnknownArena {
        /// As given.
        base: DeviceAddress,
        /// As given.
        size: Bytes,
    },
    /// The driver broke its promise. The arena was given back.
    #[error("the driver gave an arena at {base}, which is no multiple of {alignment}; it was given back")]
    Misaligned {
        /// Where it was.
        base: DeviceAddress,
        /// What the bases of arenas are multiples of.
        alignment: Alignment,
    },
    /// The size is 0, or no multiple of what it has to be.
    #[error("size is {size}, which is no positive multiple of {granule}")]
    InvalidSize {
        /// As given.
        size: Bytes,
        /// What it must be a multiple of.
        granule: Bytes,
    },
    /// The stream was not registered with this backend, or was released.
    #[error(
        "{stream} is not registered with this card; register it, and use the name that register_stream answers"
    )]
    UnknownStream {
        /// As given.
        stream: DeviceStream,
    },
    /// The stream runs on another device.
    #[error(
        "the stream runs on device {stream_device}, this backend is for device {device}; register it with the backend of its device"
    )]
    OtherDevice {
        /// Where the stream runs.
        stream_device: i32,
        /// Where the backend is.
        device: i32,
    },
    /// The event was not recorded by this backend, or was released.
    #[error(
        "{event} was not recorded on this card, or was released; use an event once recorded until it is released"
    )]
    UnknownEvent {
        /// As given.
        event: DeviceEvent,
    },
    /// No reservation of that base and size is live.
    #[error("no reservation of {size} starts at {base}; give back what reserve gave, once, with its size")]
    UnknownReservation {
        /// As given.
        base: DeviceAddress,
        /// As given.
        size: Bytes,
    },
    /// Something is mapped in the reservation.
    #[error("{mappings} mappings are left in the reservation at {base}; unmap them first")]
    ReservationInUse {
        /// Its base.
        base: DeviceAddress,
        /// How many.
        mappings: usize,
    },
    /// No such memory is live.
    #[error("{memory} was not created on this card, or was released")]
    UnknownMemory {
        /// As given.
        memory: PhysicalMemory,
    },
    /// The memory is mapped.
    #[error("{memory} is mapped at {address}; unmap it first")]
    MemoryMapped {
        /// As given.
        memory: PhysicalMemory,
        /// Where.
        address: DeviceAddress,
    },
    /// The range does not lie in one reservation.
    #[error("{size} at {address} do not lie in one reservation; reserve the addresses first")]
    NotReserved {
        /// As given.
        address: DeviceAddress,
        /// Bytes of the memory.
        size: Bytes,
    },
    /// The address of a mapping must be a multiple of the granule.
    #[error("address is {address}, which is no multiple of the granule {granule}")]
    MisalignedMapping {
        /// As given.
        address: DeviceAddress,
        /// Bytes.
        granule: Bytes,
    },
    /// Something is mapped in the range.
    #[error("something is mapped in the {size} at {address}; unmap it first")]
    AlreadyMapped {
        /// As given.
        address: DeviceAddress,
        /// Bytes of the memory.
        size: Bytes,
    },
    /// Neither an arena nor a mapping is there.
    #[error("no arena or mapping of this card holds {size} at {address}; give an address inside live memory")]
    NotHeld {
        /// As given.
        address: DeviceAddress,
        /// Bytes from there on.
        size: Bytes,
    },
    /// Another thread copies to or from it right now.
    #[error("another thread copies to or from the memory at {address}; give it back when that is done")]
    Copying {
        /// Where the memory begins.
        address: DeviceAddress,
    },
    /// No mapping starts there.
    #[error("no mapping starts at {address}; unmap what was mapped, by its first address, once")]
    NotMapped {
        /// As given.
        address: DeviceAddress,
    },
}

impl From<BackendError> for DeviceError {
    fn from(error: BackendError) -> Self {
        Self::Other(Box::new(error))
    }
}

/// What a device reports for an error of ACL. `requested` are the bytes that were asked for, 0 where none were.
pub(crate) fn device_error(error: AclError, requested: Bytes) -> DeviceError {
    match error.kind() {
        ErrorKind::OutOfMemory => DeviceError::OutOfMemory { requested },
        ErrorKind::DeviceLost => DeviceError::Lost { detail: error.to_string() },
        ErrorKind::Unsupported => DeviceError::Unsupported { operation: call_of(&error) },
        _ => DeviceError::Other(Box::new(error)),
    }
}

/// The function that an error of kind `Unsupported` is about.
pub(crate) fn call_of(error: &AclError) -> &'static str {
    match error {
        AclError::Call(failed) => failed.call,
        AclError::Unsupported(missing) => missing.symbol,
        _ => "this operation of ACL",
    }
}

#[cfg(test)]
mod tests {
    use acl::{AclCode, CallFailed};

    use super::*;

    fn failed(code: i32) -> DeviceError {
        let call = "aclrtMalloc";
        let error =
            CallFailed { code: AclCode(code), call, detail: Some("EE9999: the driver's words".into()) };
        device_error(error.into(), Bytes::mib(2))
    }

    // vllm-project/vllm-ascend#2546 (C4): hundreds of equal lines "acl Error 207001" were printed, and the run went on.
    #[test]
    fn c4_codes_of_a_shortage_are_one_typed_error_with_the_bytes_asked_for() {
        for code in [207_001, 207_005, 207_018, 207_007] {
            let error = failed(code);
            assert!(
                matches!(error, DeviceError::OutOfMemory { requested } if requested == Bytes::mib(2)),
                "{code}: {error}"
            );
        }
    }

    #[test]
    fn a_broken_card_is_lost_and_its_words_are_kept() {
        for code in [507_053, 507_054, 507_033] {
            let DeviceError::Lost { detail } = failed(code) else { panic!("{code}") };
            assert!(detail.contains("the driver's words") && detail.contains(&code.to_string()), "{detail}");
        }
    }

    #[test]
    fn what_is_not_there_is_unsupported_by_name() {
        let error = failed(207_000);
        assert!(matches!(error, DeviceError::Unsupported { operation: "aclrtMalloc" }), "{error}");
    }

    #[test]
    fn everything_else_keeps_acls_error_as_its_source() {
        for code in [507_000, 100_000, 107_002] {
            let DeviceError::Other(source) = failed(code) else { panic!("{code}") };
            let source = source.downcast::<AclError>().expect("ACL's error");
            assert_eq!(source.code(), Some(AclCode(code)));
        }
    }
}
