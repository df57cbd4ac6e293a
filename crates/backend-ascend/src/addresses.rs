//! Reserved addresses that start at a multiple of the granule, where mappings have to start.
//!
//! ACL takes no wish for an alignment. Addresses that come at a multiple are taken as they are; else so many more are reserved
//! that a multiple lies among them. Addresses without memory cost nothing.

use acl::{AclError, Context, Mapping, PhysicalMemory, Refused, Reservation};
use mempool_core::{Bytes, DeviceAddress};

/// `size` bytes of addresses that start at a multiple of the granule.
#[derive(Debug, Clone)]
pub(crate) struct Addresses {
    reservation: Reservation,
    /// What of the reservation lies before them.
    skipped: usize,
    size: usize,
}

impl Addresses {
    /// Reserves. `size` is a multiple of `granule`, a power of two.
    pub(crate) fn reserve(context: &Context, size: usize, granule: usize) -> Result<Self, AclError> {
        let exact = Reservation::new(context, size)?;
        if skipped_to(exact.address(), granule) == 0 {
            return Ok(Self { reservation: exact, skipped: 0, size });
        }
        drop(exact);
        let wide = Reservation::new(context, size.saturating_add(granule))?;
        let skipped = skipped_to(wide.address(), granule);
        Ok(Self { reservation: wide, skipped, size })
    }

    /// The first one.
    pub(crate) fn base(&self) -> DeviceAddress {
        DeviceAddress::new(self.reservation.address() + self.skipped as u64)
    }

    pub(crate) fn size(&self) -> Bytes {
        Bytes::new(self.size as u64)
    }

    /// Whether `size` bytes at `address` lie inside.
    pub(crate) fn contains(&self, address: DeviceAddress, size: Bytes) -> bool {
        let end = address.checked_offset_from(self.base()).and_then(|offset| offset.checked_add(size));
        end.is_some_and(|end| end <= self.size())
    }

    /// Maps at an address that [`Self::contains`] all of the memory.
    pub(crate) fn map(&self, address: DeviceAddress, memory: &PhysicalMemory) -> Result<Mapping, AclError> {
        let offset = address.get().saturating_sub(self.reservation.address());
        // What does not fit lies outside, which the reservation refuses.
        self.reservation.map(usize::try_from(offset).unwrap_or(usize::MAX), memory)
    }

    pub(crate) fn release(self) -> Result<(), Refused<Self>> {
        let Self { reservation, skipped, size } = self;
        reservation.release().map_err(|Refused { error, owner }| Refused {
            error,
            owner: Self { reservation: owner, skipped, size },
        })
    }
}

/// Bytes from an address to the next multiple of `granule`.
fn skipped_to(address: u64, granule: usize) -> usize {
    let past = usize::try_from(address % granule as u64).unwrap_or(0);
    if past == 0 { 0 } else { granule - past }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_multiple_is_found() {
        for (address, skipped) in [(0, 0), (1, 15), (15, 1), (16, 0), (u64::MAX, 1)] {
            assert_eq!(skipped_to(address, 16), skipped, "{address}");
        }
    }
}
