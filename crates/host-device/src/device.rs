//! The device itself: which ranges are live, and how much is free.
//!
//! # Invariants
//!
//! * I1: `own_bytes` is the sum of the sizes of the allocated ranges; with the physical memory that was made it is at
//!   most the capacity.
//! * I2: live ranges do not overlap, on this device or with those of another device in the process (the kernel sees
//!   to it: each is a mapping of its own).
//! * I3: a call that fails changes nothing that a caller can see.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;

use crate::clock::Clock;
use crate::config::HostDeviceConfig;
use crate::error::HostDeviceError;
use crate::identity::{Identity, Place, Registry, Site};
use crate::memory_facts::PhysicalHandle;
use crate::mmap::Mapping;
use crate::page_store::{Extent, PageStore};
use crate::virtual_memory::VirtualMemory;

/// A device made of host memory.
///
/// All methods may be called from any thread. Allocating and freeing exclude everything else on the same device for
/// their duration; accesses to bytes run beside each other.
#[derive(Debug)]
pub struct HostDevice {
    config: HostDeviceConfig,
    pub(crate) clock: Clock,
    pub(crate) state: RwLock<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) pages: PageStore,
    /// What can be accessed, by base address: allocated ranges and mappings.
    pub(crate) ranges: BTreeMap<u64, LiveRange>,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) registry: Registry,
    own_ranges: usize,
    own_bytes: u64,
    foreign_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct LiveRange {
    /// As asked for; the extent may be longer, up to a whole page.
    pub(crate) size: u64,
    pub(crate) extent: Extent,
    pub(crate) backing: Backing,
    pub(crate) identity: Arc<Identity>,
}

/// What makes the addresses of a range reach its pages.
#[derive(Debug)]
pub(crate) enum Backing {
    /// An allocated range has a mapping of its own.
    Own(Mapping),
    /// Physical memory shown in the reservation that starts at `reservation`.
    Shown { reservation: u64, handle: PhysicalHandle },
}

impl State {
    /// Refuses to take `size` bytes more than are free.
    pub(crate) fn check_free(&self, size: u64, total: u64) -> Result<(), HostDeviceError> {
        let free = self.free_bytes(total);
        if size > free {
            let foreign = self.foreign_bytes;
            return Err(HostDeviceError::OutOfMemory { requested: size, free, foreign, total });
        }
        Ok(())
    }

    fn free_bytes(&self, capacity: u64) -> u64 {
        let taken = [self.own_bytes, self.virtual_memory.physical_bytes(), self.foreign_bytes];
        taken.into_iter().fold(capacity, u64::saturating_sub)
    }
}

impl HostDevice {
    /// Makes a device. It takes no memory yet, whatever its capacity.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::InvalidConfig`], or [`HostDeviceError::Host`] when the process may not open another file.
    pub fn new(config: HostDeviceConfig) -> Result<Self, HostDeviceError> {
        config.check()?;
        let pages = PageStore::new().map_err(host("create a memory file", 0))?;
        let state = State {
            pages,
            ranges: BTreeMap::new(),
            virtual_memory: VirtualMemory::default(),
            registry: Registry::default(),
            own_ranges: 0,
            own_bytes: 0,
            foreign_bytes: 0,
        };
        let clock = Clock::new(config.clock);
        Ok(Self { config, clock, state: RwLock::new(state) })
    }

    /// Time since the device was made, by the clock that its configuration names.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// `site`, passed now.
    pub(crate) fn place(&self, site: Site) -> Place {
        Place { site, at: self.now() }
    }

    /// What the device was made from.
    pub fn config(&self) -> &HostDeviceConfig {
        &self.config
    }

    /// Obtains a range of `size` bytes, all zero, and answers its base address.
    ///
    /// The base is a multiple of [`HostDeviceConfig::base_alignment`], and no other live range of the process overlaps.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::InvalidSize`], [`HostDeviceError::OutOfMemory`], or [`HostDeviceError::Host`] when the
    /// process runs out of addresses or mappings. The device is then unchanged.
    ///
    /// # Complexity
    ///
    /// O(log live ranges) and a few system calls.
    pub fn allocate(&self, size: u64) -> Result<u64, HostDeviceError> {
        self.allocate_from(size, Site::default())
    }

    /// As [`HostDevice::allocate`], and tells reports of hazards where the range was obtained.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::allocate`].
    pub fn allocate_from(&self, size: u64, origin: impl Into<Site>) -> Result<u64, HostDeviceError> {
        let granularity = self.config.granularity;
        if size == 0 || !size.is_multiple_of(granularity) {
            return Err(HostDeviceError::InvalidSize { size, granularity });
        }
        let total = self.config.capacity;
        let mut state = self.state.write();
        state.check_free(size, total)?;
        let extent = state.pages.prepare(size).map_err(host("extend the memory file", size))?;
        let mapping = Mapping::of_file(state.pages.as_fd(), extent, self.config.base_alignment)
            .map_err(host("map memory", size))?;
        state.pages.commit(extent);
        let address = mapping.address();
        let identity = state.registry.born(address, size, self.place(origin.into()));
        let range = LiveRange { size, extent, backing: Backing::Own(mapping), identity };
        let replaced = state.ranges.insert(address, range);
        debug_assert!(replaced.is_none(), "I2: live ranges do not overlap");
        state.own_ranges += 1;
        state.own_bytes += size;
        Ok(address)
    }

    /// Gives back the range of `size` bytes at `address`: its addresses are unmapped, its memory returns to the host.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::UnknownRange`] when no live range starts at `address`, [`HostDeviceError::SizeMismatch`] when
    /// it has another size, [`HostDeviceError::Host`] when the host cannot unmap. The range then stays live; only in
    /// the last case may its bytes have become zero.
    ///
    /// # Complexity
    ///
    /// O(log live ranges) and two system calls.
    pub fn free(&self, address: u64, size: u64) -> Result<(), HostDeviceError> {
        self.free_from(address, size, Site::default())
    }

    /// As [`HostDevice::free`], and tells reports of hazards where the range was given back.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::free`].
    pub fn free_from(&self, address: u64, size: u64, origin: impl Into<Site>) -> Result<(), HostDeviceError> {
        let mut guard = self.state.write();
        let state = &mut *guard;
        let range = state.ranges.get_mut(&address).ok_or(HostDeviceError::UnknownRange { address })?;
        let Backing::Own(mapping) = &mut range.backing else {
            return Err(HostDeviceError::UnknownRange { address });
        };
        if range.size != size {
            return Err(HostDeviceError::SizeMismatch { address, given: size, allocated: range.size });
        }
        state.pages.release(range.extent).map_err(host("release pages", size))?;
        mapping.unmap().map_err(host("unmap memory", size))?;
        if let Some(range) = state.ranges.remove(&address) {
            state.registry.died(range.identity, self.place(origin.into()));
        }
        state.own_ranges -= 1;
        state.own_bytes -= size;
        Ok(())
    }

    /// Total and free bytes, over all processes that use the device.
    ///
    /// Free is the capacity less the allocated ranges, the physical memory that was made and the foreign use, at
    /// least 0.
    pub fn memory_info(&self) -> (u64, u64) {
        let total = self.config.capacity;
        (total, self.state.read().free_bytes(total))
    }

    /// Sets how many bytes other processes hold on the device from now on.
    ///
    /// Live ranges stay, even when the sum passes the capacity: nothing is free then.
    pub fn set_foreign_use(&self, bytes: u64) {
        self.state.write().foreign_bytes = bytes;
    }

    /// Bytes that other processes hold on the device.
    pub fn foreign_use(&self) -> u64 {
        self.state.read().foreign_bytes
    }

    /// Number of ranges that were allocated and not freed.
    pub fn live_ranges(&self) -> usize {
        self.state.read().own_ranges
    }

    /// Bytes in the ranges that were allocated and not freed.
    pub fn live_bytes(&self) -> u64 {
        self.state.read().own_bytes
    }

    /// Bytes of host memory that the device really occupies: the pages that were touched and not freed.
    ///
    /// # Errors
    ///
    /// [`HostDeviceError::Host`] when the host does not say.
    pub fn committed_bytes(&self) -> Result<u64, HostDeviceError> {
        self.state.read().pages.committed_bytes().map_err(host("count committed pages of the memory file", 0))
    }
}

/// Adds to an answer of the operating system what was tried.
pub(crate) fn host(operation: &'static str, length: u64) -> impl FnOnce(io::Error) -> HostDeviceError {
    move |source| HostDeviceError::Host { operation, length, source }
}
