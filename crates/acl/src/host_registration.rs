//! Host memory of the caller that the device reaches.
#![expect(unsafe_code, reason = "declares registration, whose caller keeps the memory")]

use std::ptr::NonNull;

use crate::api::HostRange;
use crate::owned::Owned;
use crate::parts::in_parts;
use crate::{AclError, Context, PinnedMemory};

/// Bytes to whose multiple registered memory is aligned.
const PAGE: usize = 4096;

/// What host memory is registered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostUse {
    /// Kernels read and write it, at an address of the device's own. That address serves no copies of ACL.
    Mapped,
    /// Copies go straight to and from it, and not over a buffer of the driver.
    Pinned,
}

/// One range of a [`HostRegistration`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisteredPart {
    /// Bytes from the beginning of the memory.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// Its address for kernels; `None` if it was registered for copies.
    pub device_address: Option<u64>,
}

/// Host memory that is registered with a device, until this is dropped. Only on A2, A3 and 950. Any thread.
///
/// Drivers have limits for one registration and for all of them, which nobody can ask for. So what cannot be registered as a
/// whole is registered in parts, of 2 MiB at least, each with an address of its own.
///
/// ```
/// use acl::{AclError, Context, HostRegistration, PinnedMemory};
///
/// /// Memory of the host that kernels reach at these addresses.
/// fn shared(context: &Context) -> Result<(HostRegistration, Vec<u64>), AclError> {
///     let memory = PinnedMemory::allocate(context, 64 << 20)?;
///     let registered = HostRegistration::of_pinned(context, memory)?;
///     let addresses = registered.parts().filter_map(|part| part.device_address).collect();
///     Ok((registered, addresses))
/// }
/// ```
#[derive(Debug)]
pub struct HostRegistration {
    // Before `memory`: unregistered while it is there.
    parts: Vec<Owned<HostRange>>,
    memory: Option<PinnedMemory>,
}

impl HostRegistration {
    /// Registers `size` bytes at `address`, a multiple of 4096.
    ///
    /// With a Linux before 5.11 the memory must be pinned already, as by [`Self::of_pinned`].
    ///
    /// # Errors
    ///
    /// [`AclError::Argument`] for an address that is not aligned, and for no bytes; [`AclError::HostLimit`] with the bytes that
    /// could be registered; [`AclError::Unsupported`], or ACL's own. Nothing stays registered then.
    ///
    /// # Safety
    ///
    /// - `size` bytes at `address` are memory of this process, and stay so until this is dropped.
    /// - Where the device writes them, or reads them while others write, that is told by other means than references.
    pub unsafe fn register(
        context: &Context,
        address: NonNull<u8>,
        size: usize,
        purpose: HostUse,
    ) -> Result<Self, AclError> {
        let number = address.addr().get();
        if !number.is_multiple_of(PAGE) {
            let rule = "memory is registered from a multiple of 4096 on";
            return Err(AclError::Argument { parameter: "address", value: number as u64, rule });
        }
        if size == 0 {
            let rule = "register at least one byte";
            return Err(AclError::Argument { parameter: "size", value: 0, rule });
        }
        let parts = in_parts(size, |offset, length| {
            // SAFETY: the offset is inside the `size` bytes, which the caller says are memory.
            let address = unsafe { address.add(offset) };
            Owned::make(context, |bound| match purpose {
                // SAFETY: the caller keeps the memory until the parts are dropped with `self`.
                HostUse::Mapped => unsafe { bound.map_host(address, length) },
                // SAFETY: the same.
                HostUse::Pinned => unsafe { bound.pin_host(address, length) },
            })
        })?;
        Ok(Self { parts, memory: None })
    }

    /// Maps pinned memory, which this keeps.
    ///
    /// # Errors
    ///
    /// As for [`Self::register`]; the memory is freed then.
    pub fn of_pinned(context: &Context, memory: PinnedMemory) -> Result<Self, AclError> {
        let address = memory.owned.get().pointer();
        // SAFETY: the memory is moved in below, and dropped after the parts. No reference to it is ever made.
        let registered = unsafe { Self::register(context, address, memory.size(), HostUse::Mapped) }?;
        Ok(Self { memory: Some(memory), ..registered })
    }

    /// The pinned memory that is mapped, if it was made of such.
    pub fn memory(&self) -> Option<&PinnedMemory> {
        self.memory.as_ref()
    }

    /// The same, to write it.
    pub fn memory_mut(&mut self) -> Option<&mut PinnedMemory> {
        self.memory.as_mut()
    }

    /// The ranges, in order and without gaps; more than one only where the driver has a limit.
    pub fn parts(&self) -> impl Iterator<Item = RegisteredPart> + '_ {
        self.parts.iter().scan(0, |offset, part| {
            let part = part.get();
            let here = *offset;
            *offset += part.size();
            Some(RegisteredPart { offset: here, size: part.size(), device_address: part.device_address() })
        })
    }
}
