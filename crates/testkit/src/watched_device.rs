//! A device that keeps the pool to its part of the contract, whatever device is below.
//!
//! Rules
//! * W1: sizes are positive multiples of the granularity.
//! * W2: an arena is given back once, with the base and the size with which it was obtained.
//! * W3: the bytes of arenas, counted from before the device is asked to after it has them back, never pass the limit: what the
//!   pool holds at any instant is at most that.
//! * W5: of virtual memory, the bytes count so from before they are created to after they are released; a piece is shown at one place at
//!   a time, inside a reservation, and released when it is shown nowhere; addresses go back when nothing is shown in them.
//! * W4: the device does not hand out what is live (the other side's part).

use std::collections::BTreeMap;
use std::sync::Arc;

use mempool_core::{
    Bytes, Device, DeviceAddress, DeviceError, DeviceProperties, MemoryInfo, PhysicalMemory, StreamOrder,
    VirtualMemory,
};
use parking_lot::Mutex;

use crate::violation::{Violation, ensure};

/// A call, in the order in which calls returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// An arena was asked for.
    AllocateArena {
        /// Bytes asked for.
        size: Bytes,
        /// Its base, unless the device refused.
        base: Option<DeviceAddress>,
    },
    /// An arena was given back.
    FreeArena {
        /// As given.
        base: DeviceAddress,
        /// As given.
        size: Bytes,
        /// Whether the device took it.
        taken: bool,
    },
    /// Memory was asked about.
    MemoryInfo,
}

/// A device around another one, with books of its own.
#[derive(Debug)]
pub struct WatchedDevice {
    inner: Arc<dyn Device>,
    properties: DeviceProperties,
    limit: Option<Bytes>,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    /// Sizes by base.
    live: BTreeMap<u64, Bytes>,
    /// Sizes of reservations by base.
    reservations: BTreeMap<u64, Bytes>,
    /// Sizes of memory without an address of its own.
    physical: BTreeMap<PhysicalMemory, Bytes>,
    /// What is shown where.
    mapped: BTreeMap<u64, PhysicalMemory>,
    /// Bytes live, being asked for, or on the way back.
    held: Bytes,
    most_held: Bytes,
    calls: Vec<Call>,
    violations: Vec<Violation>,
}

impl WatchedDevice {
    /// Watches calls to `inner`.
    pub fn new(inner: Arc<dyn Device>) -> Self {
        let properties = inner.properties();
        Self { inner, properties, limit: None, books: Mutex::default() }
    }

    /// Holds the pool to a limit, too.
    #[must_use]
    pub fn with_limit(mut self, limit: Bytes) -> Self {
        self.limit = Some(limit);
        self
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.books.lock().calls.clone()
    }

    /// Forgets the calls so far.
    pub fn forget_calls(&self) {
        self.books.lock().calls.clear();
    }

    /// Arenas that are live.
    pub fn live_arenas(&self) -> usize {
        self.books.lock().live.len()
    }

    /// Most bytes that were held at any instant.
    pub fn most_held(&self) -> Bytes {
        self.books.lock().most_held
    }

    /// Checks that no rule was broken so far.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub fn check(&self) -> Result<(), Violation> {
        self.books.lock().violations.first().cloned().map_or(Ok(()), Err)
    }

    /// Checks that no rule was broken and that everything was given back.
    ///
    /// # Errors
    ///
    /// The first violation, or the arenas that are still live.
    pub fn check_all_returned(&self) -> Result<(), Violation> {
        self.check()?;
        let books = self.books.lock();
        ensure!(books.live.is_empty(), "W2", "arenas that were not given back: {:x?}", books.live);
        let left = (books.mapped.len(), books.physical.len(), books.reservations.len());
        ensure!(
            left == (0, 0, 0),
            "W5",
            "mappings, memory and reservations that were not given back: {left:?}"
        );
        Ok(())
    }

    fn ask(&self, size: Bytes, granularity: Bytes) -> Result<(), Violation> {
        let mut books = self.books.lock();
        books.held = books.held.saturating_add(size);
        books.most_held = books.most_held.max(books.held);
        ensure!(
            !size.is_zero() && size.get().is_multiple_of(granularity.get()),
            "W1",
            "{} bytes were asked for",
            size.get()
        );
        let held = books.held;
        ensure!(
            self.limit.is_none_or(|limit| held <= limit),
            "W3",
            "{held} are held, limit {:?}",
            self.limit
        );
        Ok(())
    }

    fn note(&self, result: Result<(), Violation>) {
        if let Err(violation) = result {
            self.books.lock().violations.push(violation);
        }
    }
}

impl Books {
    fn arrived(&mut self, base: DeviceAddress, size: Bytes) -> Result<(), Violation> {
        let end = base.get().saturating_add(size.get());
        let before = self.live.range(..end).next_back();
        let overlap = before.filter(|&(&start, bytes)| start.saturating_add(bytes.get()) > base.get());
        ensure!(overlap.is_none(), "W4", "{size} at {base} overlaps {overlap:?}");
        self.live.insert(base.get(), size);
        Ok(())
    }
}

impl Device for WatchedDevice {
    fn properties(&self) -> DeviceProperties {
        self.properties.clone()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        let answer = self.inner.memory_info();
        self.books.lock().calls.push(Call::MemoryInfo);
        answer
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.note(self.ask(size, self.properties.arena_granularity));
        let answer = self.inner.allocate_arena(size);
        let mut books = self.books.lock();
        books.calls.push(Call::AllocateArena { size, base: answer.as_ref().ok().copied() });
        let result = if let Ok(base) = answer {
            books.arrived(base, size)
        } else {
            books.held = books.held.saturating_sub(size);
            Ok(())
        };
        drop(books);
        self.note(result);
        answer
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        // Taken out beforehand: as soon as the device has it, another thread may obtain the same range.
        let known = {
            let mut books = self.books.lock();
            let known = books.live.get(&base.get()) == Some(&size);
            if known {
                books.live.remove(&base.get());
            } else {
                let found = format!("{size} at {base} were given back; live are {:x?}", books.live);
                books.violations.push(Violation::new("W2", found));
            }
            known
        };
        let answer = self.inner.free_arena(base, size);
        let mut books = self.books.lock();
        let taken = answer.is_ok();
        books.calls.push(Call::FreeArena { base, size, taken });
        if taken {
            books.held = books.held.saturating_sub(size);
        } else if known {
            books.live.insert(base.get(), size);
        }
        answer
    }

    /// Events are none of the rules' business.
    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        self.inner.stream_order()
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        self.inner.virtual_memory().map(|_| self as &dyn VirtualMemory)
    }
}

impl WatchedDevice {
    fn below(&self) -> Result<&dyn VirtualMemory, DeviceError> {
        self.inner.virtual_memory().ok_or(DeviceError::Unsupported { operation: "virtual memory" })
    }
}

impl VirtualMemory for WatchedDevice {
    fn granule(&self) -> Bytes {
        self.inner.virtual_memory().map_or(Bytes::ZERO, VirtualMemory::granule)
    }

    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        let base = self.below()?.reserve(size)?;
        self.books.lock().reservations.insert(base.get(), size);
        Ok(base)
    }

    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        let result = {
            let books = self.books.lock();
            let known = books.reservations.get(&base.get()) == Some(&size);
            let is_empty = books.mapped.range(base.get()..base.get() + size.get()).next().is_none();
            (known && is_empty).then_some(()).ok_or_else(|| {
                Violation::new(
                    "W5",
                    format!("addresses at {base} ({size}) go back, known: {known}, empty: {is_empty}"),
                )
            })
        };
        self.note(result);
        self.below()?.free_reservation(base, size)?;
        self.books.lock().reservations.remove(&base.get());
        Ok(())
    }

    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        self.note(self.ask(size, self.granule()));
        let answer = self.below()?.create_physical(size);
        let mut books = self.books.lock();
        match answer {
            Ok(memory) => drop(books.physical.insert(memory, size)),
            Err(_) => books.held = books.held.saturating_sub(size),
        }
        answer
    }

    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
        let result = {
            let books = self.books.lock();
            let known = books.physical.contains_key(&memory);
            let is_shown = books.mapped.values().any(|&shown| shown == memory);
            (known && !is_shown).then_some(()).ok_or_else(|| {
                Violation::new("W5", format!("{memory} goes back, known: {known}, shown: {is_shown}"))
            })
        };
        self.note(result);
        self.below()?.release_physical(memory)?;
        let mut books = self.books.lock();
        let size = books.physical.remove(&memory).unwrap_or(Bytes::ZERO);
        books.held = books.held.saturating_sub(size);
        Ok(())
    }

    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
        let result = {
            let books = self.books.lock();
            let size = books.physical.get(&memory).copied().unwrap_or(Bytes::ZERO);
            let end = address.get().saturating_add(size.get());
            let around = books.reservations.range(..=address.get()).next_back();
            let inside = around.is_some_and(|(base, bytes)| end <= base + bytes.get());
            let is_shown = books.mapped.values().any(|&shown| shown == memory);
            let is_taken = books.mapped.range(address.get()..end).next().is_some();
            (inside && !is_shown && !is_taken && !size.is_zero()).then_some(()).ok_or_else(|| {
                let found = format!(
                    "{memory} of {size} at {address}, inside: {inside}, shown: {is_shown}, taken: {is_taken}"
                );
                Violation::new("W5", found)
            })
        };
        self.note(result);
        self.below()?.map(address, memory)?;
        self.books.lock().mapped.insert(address.get(), memory);
        Ok(())
    }

    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        self.below()?.unmap(address)?;
        let removed = self.books.lock().mapped.remove(&address.get());
        let result =
            removed.map(drop).ok_or_else(|| Violation::new("W5", format!("nothing was shown at {address}")));
        self.note(result);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mempool_core::AddressDevice;

    use super::*;

    fn device() -> WatchedDevice {
        WatchedDevice::new(Arc::new(AddressDevice::new(Bytes::mib(64)))).with_limit(Bytes::mib(8))
    }

    #[test]
    fn what_keeps_the_contract_is_not_reported() {
        let device = device();
        let base = device.allocate_arena(Bytes::mib(8)).unwrap();
        assert!(device.check_all_returned().is_err());
        device.free_arena(base, Bytes::mib(8)).unwrap();
        device.check_all_returned().unwrap();
        assert_eq!((device.live_arenas(), device.most_held(), device.calls().len()), (0, Bytes::mib(8), 2));
    }

    #[test]
    fn what_breaks_it_is() {
        let odd = device();
        let _ = odd.allocate_arena(Bytes::new(100));
        assert_eq!(odd.check().unwrap_err().rule, "W1");
        let over = device();
        let _ = over.allocate_arena(Bytes::mib(10));
        assert_eq!(over.check().unwrap_err().rule, "W3");
        let twice = device();
        let base = twice.allocate_arena(Bytes::mib(2)).unwrap();
        twice.free_arena(base, Bytes::mib(2)).unwrap();
        assert!(twice.free_arena(base, Bytes::mib(2)).is_err());
        assert_eq!(twice.check().unwrap_err().rule, "W2");
    }
}
