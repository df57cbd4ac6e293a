//! The thread-safe pool under test, without streams and with them, and the peer behind the lock that it needs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mempool_core::{
    AddressDevice, Alignment, Bytes, Device, DeviceAddress, DeviceError, DeviceEvent, DeviceProperties,
    DeviceStream, MemoryInfo, Pool, PoolConfig, StreamId, StreamOrder, VirtualMemory,
};

use crate::candidate::Candidate;
use crate::peers::OffsetByAddress;

type Failed = Box<dyn std::error::Error>;

/// The pool with one arena, freed by address.
#[derive(Debug, Clone)]
pub(crate) struct OurPool(Pool);

impl OurPool {
    pub(crate) fn new(arena_bytes: u64) -> Result<Self, Failed> {
        pool_over(Arc::new(AddressDevice::new(Bytes::gib(64 << 10))), arena_bytes).map(Self)
    }
}

fn pool_over(device: Arc<dyn Device>, arena_bytes: u64) -> Result<Pool, Failed> {
    let arena = Bytes::new(arena_bytes);
    let config = PoolConfig::builder().initial_size(arena).max_size(arena).build()?;
    Ok(Pool::new(device, config)?)
}

impl Candidate for OurPool {
    type Block = DeviceAddress;

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<DeviceAddress> {
        self.0.allocate_raw(Bytes::new(bytes.into()), Alignment::ONE).ok().map(|block| block.address)
    }

    #[inline]
    fn free(&mut self, block: DeviceAddress) -> bool {
        self.0.free(block).is_ok()
    }
}

/// The pool with streams that take turns, on a device whose work is done a number of operations later.
#[derive(Debug)]
pub(crate) struct OurStreams {
    pool: Pool,
    device: Arc<LateDevice>,
    streams: Vec<StreamId>,
    /// Which stream is next.
    turn: usize,
}

impl OurStreams {
    pub(crate) fn new(arena_bytes: u64, streams: u64, lag: u64) -> Result<Self, Failed> {
        let device = Arc::new(LateDevice::new(lag));
        let pool = pool_over(Arc::clone(&device) as _, arena_bytes)?;
        let streams = (1..=streams).map(|stream| pool.add_stream(DeviceStream::new(stream)));
        let streams = streams.collect::<Result<_, _>>()?;
        Ok(Self { pool, device, streams, turn: 0 })
    }

    /// Waits that the pool put in so far, in a thousand operations.
    pub(crate) fn waits_per_thousand(&self) -> f64 {
        let counters = self.pool.status().counters;
        let operations = counters.allocations + counters.frees;
        #[expect(clippy::cast_precision_loss, reason = "counts of a short run")]
        let share = counters.waits as f64 / operations as f64;
        1000.0 * share
    }
}

impl Candidate for OurStreams {
    /// The block and the stream that has it.
    type Block = (DeviceAddress, StreamId);

    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<Self::Block> {
        self.turn += 1;
        if self.turn == self.streams.len() {
            self.turn = 0;
        }
        let stream = self.streams[self.turn];
        self.device.now.fetch_add(2, Ordering::Relaxed);
        let block = self.pool.allocate_raw_on(stream, Bytes::new(bytes.into()), Alignment::ONE).ok()?;
        Some((block.address, stream))
    }

    #[inline]
    fn free(&mut self, (block, stream): Self::Block) -> bool {
        self.pool.free_on(block, stream).is_ok()
    }
}

/// Addresses, and events that are complete some operations after they were recorded.
#[derive(Debug)]
struct LateDevice {
    memory: AddressDevice,
    lag: u64,
    /// Operations so far.
    now: AtomicU64,
    /// When each event is complete.
    events: Mutex<(u64, BTreeMap<u64, u64>)>,
}

impl LateDevice {
    fn new(lag: u64) -> Self {
        let memory = AddressDevice::new(Bytes::gib(64 << 10));
        Self { memory, lag, now: AtomicU64::new(0), events: Mutex::default() }
    }

    fn done_at(&self, event: DeviceEvent) -> u64 {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.1.get(&event.get()).copied().unwrap_or(0)
    }
}

impl Device for LateDevice {
    fn properties(&self) -> DeviceProperties {
        self.memory.properties()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        self.memory.memory_info()
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.memory.allocate_arena(size)
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.memory.free_arena(base, size)
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        Some(self)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        None
    }
}

impl StreamOrder for LateDevice {
    fn record_event(&self, _: DeviceStream) -> Result<DeviceEvent, DeviceError> {
        let done_at = self.now.load(Ordering::Relaxed) + self.lag;
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.0 += 1;
        let event = events.0;
        events.1.insert(event, done_at);
        Ok(DeviceEvent::new(event))
    }

    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
        Ok(self.done_at(event) <= self.now.load(Ordering::Relaxed))
    }

    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        self.now.fetch_max(self.done_at(event), Ordering::Relaxed);
        Ok(())
    }

    fn wait_event(&self, _: DeviceStream, _: DeviceEvent) -> Result<(), DeviceError> {
        Ok(())
    }

    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&event.get());
        Ok(())
    }
}

/// `offset-allocator` with its hash map behind the standard library's lock, as a thread-safe program would use it.
pub(crate) struct LockedOffset(Mutex<OffsetByAddress>);

impl LockedOffset {
    pub(crate) fn new(arena_bytes: u64, live: u32) -> Self {
        Self(Mutex::new(OffsetByAddress::new(arena_bytes, live)))
    }
}

impl Candidate for LockedOffset {
    type Block = u64;

    // By lock() and not by get_mut(): what is measured is the lock.
    #[inline]
    fn allocate(&mut self, bytes: u32) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).allocate(bytes)
    }

    #[inline]
    fn free(&mut self, block: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).free(block)
    }
}
