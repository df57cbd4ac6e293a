//! A device that hands out addresses with nothing behind them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::device::{Device, DeviceError, DeviceProperties, MemoryInfo, StreamOrder, VirtualMemory};
use crate::units::{Bytes, DeviceAddress};

/// A [`Device`] that keeps books of a capacity and hands out addresses with nothing behind them: to plan, to replay a recording of
/// a card larger than this machine, or to try the pool. Never read or write what it hands out.
///
/// Takes the lowest gap that fits. Each device of a process has addresses of its own (for the first 200).
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
    /// Sizes of live ranges by base.
    live: Mutex<BTreeMap<u64, u64>>,
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
        Self { properties, capacity, first: (region + 1) << 40, live: Mutex::new(BTreeMap::new()) }
    }

    /// Bytes that are handed out.
    pub fn live(&self) -> Bytes {
        self.live.lock().values().map(|&bytes| Bytes::new(bytes)).sum()
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
        let out_of_memory = DeviceError::OutOfMemory { requested: size };
        let mut live = self.live.lock();
        let used: Bytes = live.values().map(|&bytes| Bytes::new(bytes)).sum();
        if size > self.capacity.saturating_sub(used) || size.is_zero() {
            return Err(out_of_memory);
        }
        let alignment = self.properties.arena_alignment.get();
        let mut base = self.first.next_multiple_of(alignment);
        for (&start, &bytes) in live.iter() {
            if start.saturating_sub(base) >= size.get() {
                break;
            }
            base = (start + bytes).next_multiple_of(alignment);
        }
        live.insert(base, size.get());
        Ok(DeviceAddress::new(base))
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        let mut live = self.live.lock();
        if live.get(&base.get()) != Some(&size.get()) {
            return Err(DeviceError::Other(format!("no range of {size} is live at {base}").into()));
        }
        live.remove(&base.get());
        Ok(())
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        None
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        None
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
}
