//! A device that hands out addresses with nothing behind them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::device::{
    Device, DeviceError, DeviceProperties, MemoryInfo, PhysicalMemory, StreamOrder, VirtualMemory,
};
use crate::units::{Bytes, DeviceAddress};

/// A [`Device`] that keeps books of a capacity and hands out addresses with nothing behind them: to plan, to replay a recording of
/// a card larger than this machine, or to try the pool. Never read or write what it hands out.
///
/// Takes the lowest gap that fits. Each device of a process has addresses of its own (for the first 200). Virtual memory comes in granules
/// of 2 MiB.
///
/// ```
/// use std::sync::Arc;
/// use mempool_core::{AddressDevice, Bytes, Pool, PoolConfig};
/// let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(64))), PoolConfig::default())?;
/// let block = pool.allocate(Bytes::gib(40))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AddressDevice {
    properties: DeviceProperties,
    capacity: Bytes,
    first: u64,
    books: Mutex<Books>,
}

/// Granule of virtual memory.
const GRANULE: Bytes = Bytes::mib(2);

#[derive(Debug, Default)]
struct Books {
    /// Ranges of addresses by base.
    ranges: BTreeMap<u64, Range>,
    /// Memory without an address of its own.
    physical: BTreeMap<PhysicalMemory, Physical>,
    /// What is behind addresses.
    mapped: BTreeMap<u64, PhysicalMemory>,
    last_number: u64,
    /// Bytes of memory that are handed out.
    live: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    bytes: u64,
    /// Whether it is memory, too.
    is_memory: bool,
}

#[derive(Debug, Clone, Copy)]
struct Physical {
    bytes: u64,
    is_mapped: bool,
}

impl Books {
    /// Takes the lowest gap.
    fn take_range(&mut self, first: u64, alignment: u64, range: Range) -> DeviceAddress {
        let mut base = first.next_multiple_of(alignment);
        for (&start, other) in &self.ranges {
            if start.saturating_sub(base) >= range.bytes {
                break;
            }
            base = (start + other.bytes).next_multiple_of(alignment);
        }
        self.ranges.insert(base, range);
        self.live += if range.is_memory { range.bytes } else { 0 };
        DeviceAddress::new(base)
    }

    fn give_range_back(&mut self, base: DeviceAddress, range: Range) -> Result<(), DeviceError> {
        if self.ranges.get(&base.get()) != Some(&range) {
            let size = Bytes::new(range.bytes);
            return Err(DeviceError::Other(format!("no range of {size} is live at {base}").into()));
        }
        self.ranges.remove(&base.get());
        self.live -= if range.is_memory { range.bytes } else { 0 };
        Ok(())
    }
}

impl AddressDevice {
    /// A device of `capacity` bytes with the properties of [`DeviceProperties::new`].
    pub fn new(capacity: Bytes) -> Self {
        Self::with_properties(capacity, DeviceProperties::new("addresses"))
    }

    /// A device of `capacity` bytes that states these properties.
    pub fn with_properties(capacity: Bytes, properties: DeviceProperties) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only uniqueness matters. 200 regions of 1 TiB each fit into 48 bits.
        let region = NEXT.fetch_add(1, Ordering::Relaxed) % 200;
        Self { properties, capacity, first: (region + 1) << 40, books: Mutex::default() }
    }

    /// Bytes of memory that are handed out.
    pub fn live(&self) -> Bytes {
        Bytes::new(self.books.lock().live)
    }

    /// Whether so much memory is left.
    fn check_left(&self, books: &Books, size: Bytes) -> Result<(), DeviceError> {
        if size > self.capacity.saturating_sub(Bytes::new(books.live)) || size.is_zero() {
            return Err(DeviceError::OutOfMemory { requested: size });
        }
        Ok(())
    }
}

impl Device for AddressDevice {
    fn properties(&self) -> DeviceProperties {
        self.properties.clone()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        Ok(MemoryInfo { total: self.capacity, free: self.capacity.saturating_sub(self.live()) })
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        let mut books = self.books.lock();
        self.check_left(&books, size)?;
        let range = Range { bytes: size.get(), is_memory: true };
        Ok(books.take_range(self.first, self.properties.arena_alignment.get(), range))
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.books.lock().give_range_back(base, Range { bytes: size.get(), is_memory: true })
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        None
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        Some(self)
    }
}

fn refuse<T>(text: String) -> Result<T, DeviceError> {
    Err(DeviceError::Other(text.into()))
}

impl VirtualMemory for AddressDevice {
    fn granule(&self) -> Bytes {
        GRANULE
    }

    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        if size.is_zero() || !size.get().is_multiple_of(GRANULE.get()) {
            return refuse(format!("a reservation of {size} is not made of granules of {GRANULE}"));
        }
        let range = Range { bytes: size.get(), is_memory: false };
        Ok(self.books.lock().take_range(self.first, GRANULE.get(), range))
    }

    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        let mut books = self.books.lock();
        let end = base.get().saturating_add(size.get());
        if let Some((address, memory)) = books.mapped.range(base.get()..end).next() {
            return refuse(format!("{memory} is mapped at {address:#x}"));
        }
        books.give_range_back(base, Range { bytes: size.get(), is_memory: false })
    }

    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        if size.is_zero() || !size.get().is_multiple_of(GRANULE.get()) {
            return refuse(format!("memory of {size} is not made of granules of {GRANULE}"));
        }
        let mut books = self.books.lock();
        self.check_left(&books, size)?;
        books.last_number += 1;
        let memory = PhysicalMemory::new(books.last_number);
        books.physical.insert(memory, Physical { bytes: size.get(), is_mapped: false });
        books.live += size.get();
        Ok(memory)
    }

    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
        let mut books = self.books.lock();
        match books.physical.get(&memory) {
            Some(physical) if physical.is_mapped => refuse(format!("{memory} is mapped")),
            Some(&Physical { bytes, .. }) => {
                books.physical.remove(&memory);
                books.live -= bytes;
                Ok(())
            }
            None => refuse(format!("there is no {memory}")),
        }
    }

    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
        let mut books = self.books.lock();
        let Some(&Physical { bytes: size, is_mapped: false }) = books.physical.get(&memory) else {
            return refuse(format!("there is no {memory} that is mapped nowhere"));
        };
        let (start, end) = (address.get(), address.get().saturating_add(size));
        let around = books.ranges.range(..=start).next_back();
        if around.is_none_or(|(base, range)| range.is_memory || end > base + range.bytes) {
            return refuse(format!("{} at {address} are in no reservation", Bytes::new(size)));
        }
        let before = books.mapped.range(..end).next_back();
        let taken = before.is_some_and(|(&base, mapped)| {
            base + books.physical.get(mapped).map_or(0, |mapped| mapped.bytes) > start
        });
        if taken || !start.is_multiple_of(GRANULE.get()) {
            return refuse(format!("{address} is no free multiple of {GRANULE}"));
        }
        books.mapped.insert(start, memory);
        books.physical.insert(memory, Physical { bytes: size, is_mapped: true });
        Ok(())
    }

    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        let mut books = self.books.lock();
        let Some(memory) = books.mapped.remove(&address.get()) else {
            return refuse(format!("nothing is mapped at {address}"));
        };
        if let Some(physical) = books.physical.get_mut(&memory) {
            physical.is_mapped = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again_and_the_capacity_is_kept() {
        let device = AddressDevice::new(Bytes::mib(8));
        let a = device.allocate_arena(Bytes::mib(4)).unwrap();
        let b = device.allocate_arena(Bytes::mib(4)).unwrap();
        assert!(matches!(device.allocate_arena(Bytes::mib(2)), Err(DeviceError::OutOfMemory { .. })));
        device.free_arena(a, Bytes::mib(4)).unwrap();
        assert_eq!(device.allocate_arena(Bytes::mib(2)).unwrap(), a);
        assert!(device.free_arena(b, Bytes::mib(2)).is_err(), "the size must be that of the range");
        assert_eq!(device.live(), Bytes::mib(6));
    }

    #[test]
    fn addresses_cost_nothing_and_memory_shows_at_one_place_at_a_time() {
        let device = AddressDevice::new(Bytes::mib(4));
        let base = device.reserve(Bytes::gib(1)).unwrap();
        assert_eq!(device.live(), Bytes::ZERO);
        let memory = device.create_physical(GRANULE).unwrap();
        device.map(base, memory).unwrap();
        assert!(device.map(base, device.create_physical(GRANULE).unwrap()).is_err(), "it is taken");
        assert!(matches!(device.create_physical(GRANULE), Err(DeviceError::OutOfMemory { .. })));
        assert!(device.release_physical(memory).is_err(), "it is mapped");
        assert!(device.free_reservation(base, Bytes::gib(1)).is_err(), "something is mapped there");
        device.unmap(base).unwrap();
        assert!(device.unmap(base).is_err(), "nothing is there any more");
        let end = base.checked_add(Bytes::gib(1)).unwrap();
        assert!(device.map(end, memory).is_err(), "no reservation is there");
        device.release_physical(memory).unwrap();
        device.free_reservation(base, Bytes::gib(1)).unwrap();
        assert_eq!(device.live(), GRANULE);
    }
}
