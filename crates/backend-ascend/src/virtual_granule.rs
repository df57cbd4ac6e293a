//! Whether a card has virtual memory, and in which granules.

use acl::{AclError, Context, ErrorKind, granularity};
use mempool_core::Alignment;

use crate::error::{OpenError, call_of};
use crate::options::VirtualPages;

/// What virtual memory is made of.
const VIRTUAL_MEMORY: [&str; 6] = [
    "aclrtReserveMemAddress",
    "aclrtReleaseMemAddress",
    "aclrtMallocPhysical",
    "aclrtFreePhysical",
    "aclrtMapMem",
    "aclrtUnmapMem",
];

/// The granule of virtual memory.
///
/// # Errors
///
/// [`OpenError::NoVirtualMemory`] where the library or the chip has none, [`OpenError::Granule`], or ACL's own.
pub(crate) fn granule_of(context: &Context, pages: VirtualPages) -> Result<Alignment, OpenError> {
    let runtime = context.device().runtime();
    if let Some(missing) = VIRTUAL_MEMORY.into_iter().find(|symbol| !runtime.is_supported(symbol)) {
        return Err(OpenError::NoVirtualMemory { missing, source: None });
    }
    let granule = match granularity(context, pages.kind()) {
        Ok(granule) => granule,
        // An older library cannot be asked, and has this one.
        Err(AclError::Unsupported(_)) if pages == VirtualPages::Mib2 => {
            return Ok(Alignment::MIB_2);
        }
        // Chips that have no such memory call the question wrong, or unsupported.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidArgument) => {
            return Err(OpenError::NoVirtualMemory { missing: call_of(&error), source: Some(error) });
        }
        Err(error) => return Err(error.into()),
    };
    Alignment::new(granule as u64).map_err(|_| OpenError::Granule { granule })
}
