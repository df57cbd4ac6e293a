//! Addresses without memory, memory without addresses, and bringing the two together.
//!
//! ```text
//! reservation   |........[ mapping ][ mapping ]......|      addresses only
//!                             |          |
//! physical                [ handle ] [ handle ]             memory only, counts against the capacity
//! ```
//!
//! # Invariants
//!
//! * I1: a mapping shows one whole handle, inside one reservation, and overlaps no other mapping.
//! * I2: a reservation with mappings stays, and so does a handle that is mapped.
//! * I3: `physical_bytes` is the sum of the sizes of the live handles.
//! * I4: a call that fails changes nothing that a caller can see.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use crate::config::check_granule;
use crate::device::{Backing, HostDevice, LiveRange, State, host};
use crate::error::HostDeviceError;
use crate::identity::Site;
use crate::memory_facts::{PhysicalHandle, RangeInfo, RangeKind, VirtualCounts};
use crate::mmap::Reservation;
use crate::page_store::Extent;

#[derive(Debug, Default)]
pub(crate) struct VirtualMemory {
    /// By base address.
    reservations: BTreeMap<u64, Reserved>,
    handles: BTreeMap<PhysicalHandle, Physical>,
    last_handle: u64,
    counts: VirtualCounts,
}

#[derive(Debug)]
struct Reserved {
    size: u64,
    addresses: Reservation,
    mappings: usize,
}

#[derive(Debug)]
struct Physical {
    size: u64,
    granule: u64,
    extent: Extent,
    /// Where it is mapped.
    mapped_at: Vec<u64>,
    /// Its last unmapping releases it.
    retired: bool,
}

impl VirtualMemory {
    pub(crate) fn physical_bytes(&self) -> u64 {
        self.counts.physical_bytes
    }

    /// Base and size of the reservation that contains `address`.
    pub(crate) fn reservation_at(&self, address: u64) -> Option<(u64, u64)> {
        let (&base, reserved) = self.reservations.range(..=address).next_back()?;
        (address - base < reserved.size).then_some((base, reserved.size))
    }

    fn physical(&self, handle: PhysicalHandle) -> Result<&Physical, HostDeviceError> {
        self.handles.get(&handle).ok_or(HostDeviceError::UnknownHandle { handle })
    }
}

impl State {
    /// Checks that `size` bytes at `address` may be mapped and answers the base of the reservation around them.
    fn check_target(&self, address: u64, size: u64, granule: u64) -> Result<u64, HostDeviceError> {
        let (base, reserved) = self
            .virtual_memory
            .reservation_at(address)
            .filter(|&(base, reserved)| size <= reserved - (address - base))
            .ok_or(HostDeviceError::NotReserved { address, size })?;
        debug_assert!(address + size <= base + reserved, "I1");
        if !address.is_multiple_of(granule) {
            return Err(HostDeviceError::MisalignedMapping { address, granule });
        }
        let last_before_end = self.ranges.range(..address + size).next_back();
        if let Some((&mapped, _)) = last_before_end.filter(|&(base, range)| base + range.size > address) {
            return Err(HostDeviceError::AlreadyMapped { address, size, mapped });
        }
        Ok(base)
    }

    /// Gives the memory of an unmapped handle back to the host.
    fn release(&mut self, handle: PhysicalHandle) -> Result<(), HostDeviceError> {
        let physical = self.virtual_memory.physical(handle)?;
        let (extent, size) = (physical.extent, physical.size);
        self.pages.release(extent).map_err(host("release pages", size))?;
        let counts = &mut self.virtual_memory.counts;
        counts.physical_bytes -= size;
        counts.handles -= 1;
        self.virtual_memory.handles.remove(&handle);
        Ok(())
    }
}

/// Virtual memory.
///
/// ```
/// use host_device::{HostDevice, HostDeviceConfig};
/// const MIB_2: u64 = 2 << 20;
/// let device = HostDevice::new(HostDeviceConfig::new(64 << 20))?;
/// let addresses = device.reserve(1 << 40, 0)?;
/// let memory = device.create_physical(MIB_2)?;
/// device.map(addresses, memory)?;
/// device.write(addresses + 5, b"moved")?;
///
/// // The same bytes elsewhere, without a copy.
/// device.unmap(addresses)?;
/// device.map(addresses + 7 * MIB_2, memory)?;
/// let mut bytes = [0; 5];
/// device.read(addresses + 7 * MIB_2 + 5, &mut bytes)?;
/// assert_eq!(&bytes, b"moved");
///
/// device.unmap(addresses + 7 * MIB_2)?;
/// device.release_physical(memory)?;
/// device.free_reservation(addresses)?;
/// assert_eq!(device.virtual_counts(), Default::default());
/// # Ok::<(), host_device::HostDeviceError>(())
/// ```
impl HostDevice {
    /// Takes `size` bytes of addresses, a positive multiple of [`virtual_granule`], without memory, and answers the
    /// first. It is a multiple of `alignment`, a power of two, or of the granule if `alignment` is less (0, say).
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::InvalidSize`], [`HostDeviceError::InvalidAlignment`], or [`HostDeviceError::Host`] when the
    /// process has no such range of addresses left.
    ///
    /// # Complexity
    ///
    /// O(log reservations) and a few system calls, whatever the size. This and the other methods for virtual memory
    /// exclude everything else on the device for their duration; call them from any thread.
    ///
    /// [`virtual_granule`]: crate::HostDeviceConfig::virtual_granule
    pub fn reserve(&self, size: u64, alignment: u64) -> Result<u64, HostDeviceError> {
        let granule = self.config().virtual_granule;
        if size == 0 || !size.is_multiple_of(granule) {
            return Err(HostDeviceError::InvalidSize { size, granularity: granule });
        }
        if alignment != 0 && !alignment.is_power_of_two() {
            return Err(HostDeviceError::InvalidAlignment { alignment });
        }
        let addresses =
            Reservation::new(size, alignment.max(granule)).map_err(host("reserve addresses", size))?;
        let base = addresses.address();
        let memory = &mut self.state.write().virtual_memory;
        memory.reservations.insert(base, Reserved { size, addresses, mappings: 0 });
        memory.counts.reservations += 1;
        memory.counts.reserved_bytes += size;
        Ok(base)
    }

    /// Gives the reservation that starts at `address` back.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownReservation`], [`HostDeviceError::ReservationInUse`] while anything is mapped in it, or
    /// [`HostDeviceError::Host`] when the host cannot unmap it; it then stays.
    pub fn free_reservation(&self, address: u64) -> Result<(), HostDeviceError> {
        let memory = &mut self.state.write().virtual_memory;
        let reserved =
            memory.reservations.get_mut(&address).ok_or(HostDeviceError::UnknownReservation { address })?;
        let (size, mappings) = (reserved.size, reserved.mappings);
        if mappings != 0 {
            return Err(HostDeviceError::ReservationInUse { address, mappings });
        }
        reserved.addresses.release().map_err(host("give addresses back", size))?;
        memory.reservations.remove(&address);
        memory.counts.reservations -= 1;
        memory.counts.reserved_bytes -= size;
        Ok(())
    }

    /// Makes `size` bytes of memory, all zero, without addresses. `size` is a positive multiple of
    /// [`virtual_granule`](crate::HostDeviceConfig::virtual_granule).
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::InvalidSize`], [`HostDeviceError::OutOfMemory`], or [`HostDeviceError::Host`].
    pub fn create_physical(&self, size: u64) -> Result<PhysicalHandle, HostDeviceError> {
        self.create_physical_in(size, self.config().virtual_granule)
    }

    /// As [`HostDevice::create_physical`], with a granule of its own, such as 1 GiB for giant pages.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::create_physical`]; [`HostDeviceError::InvalidConfig`] when `granule` is no power of two or less
    /// than a page of the host.
    pub fn create_physical_in(&self, size: u64, granule: u64) -> Result<PhysicalHandle, HostDeviceError> {
        check_granule(granule)?;
        if size == 0 || !size.is_multiple_of(granule) {
            return Err(HostDeviceError::InvalidSize { size, granularity: granule });
        }
        let mut state = self.state.write();
        state.check_free(size, self.config().capacity)?;
        let extent = state.pages.prepare(size).map_err(host("extend the memory file", size))?;
        state.pages.commit(extent);
        let memory = &mut state.virtual_memory;
        memory.last_handle += 1;
        let handle = PhysicalHandle::new(memory.last_handle);
        memory
            .handles
            .insert(handle, Physical { size, granule, extent, mapped_at: Vec::new(), retired: false });
        memory.counts.handles += 1;
        memory.counts.physical_bytes += size;
        Ok(handle)
    }

    /// Gives the memory of `handle` back to the device.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownHandle`], [`HostDeviceError::HandleMapped`] while it is mapped, or
    /// [`HostDeviceError::Host`].
    pub fn release_physical(&self, handle: PhysicalHandle) -> Result<(), HostDeviceError> {
        let mut state = self.state.write();
        let physical = state.virtual_memory.physical(handle)?;
        if let Some(&address) = physical.mapped_at.first() {
            return Err(HostDeviceError::HandleMapped { handle, address });
        }
        state.release(handle)
    }

    /// As [`HostDevice::release_physical`], but the memory of a mapped handle is given back by its last unmapping, as
    /// CANN does it. The handle can not be mapped again.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownHandle`], also of a handle that was given up before, or [`HostDeviceError::Host`].
    pub fn release_physical_when_unmapped(&self, handle: PhysicalHandle) -> Result<(), HostDeviceError> {
        let mut state = self.state.write();
        let unknown = HostDeviceError::UnknownHandle { handle };
        let Some(physical) = state.virtual_memory.handles.get_mut(&handle) else { return Err(unknown) };
        if physical.retired {
            return Err(unknown);
        }
        if physical.mapped_at.is_empty() {
            return state.release(handle);
        }
        physical.retired = true;
        Ok(())
    }

    /// Maps all of `handle` at `address`, which lies in a reservation with room for it, at a multiple of the handle's
    /// granule.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownHandle`], [`HostDeviceError::HandleMapped`] unless [`aliased_mappings`] are allowed,
    /// [`HostDeviceError::NotReserved`], [`HostDeviceError::MisalignedMapping`], [`HostDeviceError::AlreadyMapped`], or
    /// [`HostDeviceError::Host`] when the process runs out of mappings.
    ///
    /// [`aliased_mappings`]: crate::HostDeviceConfig::aliased_mappings
    pub fn map(&self, address: u64, handle: PhysicalHandle) -> Result<(), HostDeviceError> {
        self.map_from(address, handle, Site::default())
    }

    /// As [`HostDevice::map`], and tells reports of hazards where the mapping was made.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::map`].
    pub fn map_from(
        &self,
        address: u64,
        handle: PhysicalHandle,
        origin: impl Into<Site>,
    ) -> Result<(), HostDeviceError> {
        let mut guard = self.state.write();
        let state = &mut *guard;
        let physical = state.virtual_memory.physical(handle)?;
        if physical.retired {
            return Err(HostDeviceError::UnknownHandle { handle });
        }
        if let Some(&address) = physical.mapped_at.first().filter(|_| !self.config().aliased_mappings) {
            return Err(HostDeviceError::HandleMapped { handle, address });
        }
        let (size, extent) = (physical.size, physical.extent);
        let reservation = state.check_target(address, size, physical.granule)?;
        let memory = &mut state.virtual_memory;
        let (Some(reserved), Some(physical)) =
            (memory.reservations.get_mut(&reservation), memory.handles.get_mut(&handle))
        else {
            return Err(HostDeviceError::NotReserved { address, size });
        };
        reserved
            .addresses
            .show(address - reservation, state.pages.as_fd(), extent)
            .map_err(host("map memory", size))?;
        reserved.mappings += 1;
        physical.mapped_at.push(address);
        memory.counts.mappings += 1;
        memory.counts.mapped_bytes += size;
        let identity = state.registry.born(address, size, self.place(origin.into()));
        let backing = Backing::Shown { reservation, handle };
        state.ranges.insert(address, LiveRange { size, extent, backing, identity });
        Ok(())
    }

    /// Undoes the mapping that starts at `address`. The memory keeps its bytes.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::NotMapped`] when no mapping starts there, [`HostDeviceError::Host`] when the host cannot
    /// unmap; the mapping then stays.
    pub fn unmap(&self, address: u64) -> Result<(), HostDeviceError> {
        self.unmap_from(address, Site::default())
    }

    /// As [`HostDevice::unmap`], and tells reports of hazards where the mapping was undone.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::unmap`].
    pub fn unmap_from(&self, address: u64, origin: impl Into<Site>) -> Result<(), HostDeviceError> {
        let mut guard = self.state.write();
        let state = &mut *guard;
        let not_mapped = HostDeviceError::NotMapped { address };
        let Some(range) = state.ranges.get(&address) else { return Err(not_mapped) };
        let Backing::Shown { reservation, handle } = range.backing else { return Err(not_mapped) };
        let size = range.size;
        let memory = &mut state.virtual_memory;
        if let Some(reserved) = memory.reservations.get_mut(&reservation) {
            reserved.addresses.hide(address - reservation, size).map_err(host("unmap memory", size))?;
            reserved.mappings -= 1;
        }
        memory.counts.mappings -= 1;
        memory.counts.mapped_bytes -= size;
        if let Some(range) = state.ranges.remove(&address) {
            state.registry.died(range.identity, self.place(origin.into()));
        }
        let Some(physical) = memory.handles.get_mut(&handle) else { return Ok(()) };
        physical.mapped_at.retain(|&other| other != address);
        if physical.retired && physical.mapped_at.is_empty() { state.release(handle) } else { Ok(()) }
    }

    /// Size of `handle` in bytes.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownHandle`].
    pub fn physical_size(&self, handle: PhysicalHandle) -> Result<u64, HostDeviceError> {
        self.state.read().virtual_memory.physical(handle).map(|physical| physical.size)
    }

    /// What of virtual memory is alive.
    pub fn virtual_counts(&self) -> VirtualCounts {
        self.state.read().virtual_memory.counts
    }

    /// Base and size in bytes of the reservation that contains `address`.
    pub fn reservation_around(&self, address: u64) -> Option<(u64, u64)> {
        self.state.read().virtual_memory.reservation_at(address)
    }

    /// The allocated range or mapping that contains `address`.
    pub fn describe(&self, address: u64) -> Option<RangeInfo> {
        let state = self.state.read();
        let (base, range) = state.ranges.range(..=address).next_back()?;
        if address - base >= range.size {
            return None;
        }
        let kind = match range.backing {
            Backing::Own(_) => RangeKind::Allocated,
            Backing::Shown { reservation, handle } => RangeKind::Mapped { handle, reservation },
        };
        Some(RangeInfo { life: range.identity.life(), kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::HostDeviceConfig;

    #[test]
    fn a_dropped_device_leaves_no_mapping_behind() {
        const PAGE: u64 = 2 << 20;
        let device = HostDevice::new(HostDeviceConfig::new(64 * PAGE)).unwrap();
        let inode = rustix::fs::fstat(device.state.read().pages.as_fd()).unwrap().st_ino.to_string();
        let mappings = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let is_ours = |line: &&str| {
                line.contains("memfd:host-device") && line.split_whitespace().nth(4) == Some(&inode)
            };
            maps.lines().filter(is_ours).count()
        };
        let base = device.reserve(64 * PAGE, 0).unwrap();
        for index in [0, 2] {
            device.map(base + index * PAGE, device.create_physical(PAGE).unwrap()).unwrap();
        }
        assert_eq!(mappings(), 2);
        drop(device);
        assert_eq!(mappings(), 0);
    }
}
