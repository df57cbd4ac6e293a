//! The pool: a [`Heap`](crate::heap::Heap) with a [`Device`] behind it and a lock around it.
//!
//! Invariants
//! * No lock of the pool is held across a call of the device or of the recorder.
//! * `reserved` never passes the limit, not even while an arena is on its way.
//! * A failed call changes no block. It may have returned arenas that were empty to the device, which is counted as a trim.

mod allocate;
mod backing;
mod free;
mod registry;
mod state;
mod streams;
mod trim;
mod turn;
mod waits;

#[cfg(all(test, shuttle))]
mod models;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::{ArenaKind, PoolConfig};
use crate::device::{Device, DeviceProperties};
use crate::error::CreateError;
use crate::event::{Event, EventKind, PoolId, Recorder};
use crate::handle::{Allocation, RawAllocation};
use crate::heap::geometry::PAGE_BYTES;
use crate::heap::{AddArenaError, Apart, Heap, InvariantError};
use crate::status::{ArenaReport, BucketReport, PoolReport, PoolStatus};
use crate::sync::{Condvar, Mutex};
use crate::units::{Alignment, Bytes};
use state::{Arena, State};

/// A pool of device memory. Cloning gives another handle to the same pool; any thread may use it.
///
/// The pool takes *arenas* from its [`Device`] as it needs them, cuts *blocks* out of them, and gives arenas back on
/// [`Pool::trim`], before it fails for want of memory, and when the last handle and the last [`Allocation`] are gone. Its
/// arenas are ranges of the device, or addresses behind which it maps memory, see [`ArenaKind`].
///
/// ```
/// # use std::sync::Arc;
/// use mempool_core::{AddressDevice, Alignment, Bytes, Pool, PoolConfig};
/// let device = Arc::new(AddressDevice::new(Bytes::gib(64)));
/// let pool = Pool::new(device, PoolConfig::builder().max_size(Bytes::gib(1)).build()?)?;
///
/// let weights = pool.allocate(Bytes::mib(25))?;
/// let raw = pool.allocate_raw(Bytes::new(100_000), Alignment::ONE)?;
/// println!("{}", pool.status());
///
/// pool.free(raw.address)?;
/// assert!(pool.free(raw.address).is_err(), "a double free is an error, never harm");
/// drop(weights);
/// assert_eq!(pool.trim()?, pool.status().total_high_water);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    id: PoolId,
    name: Arc<str>,
    config: PoolConfig,
    device: Arc<dyn Device>,
    properties: DeviceProperties,
    /// Granule of virtual arenas; `None` where they are plain.
    granule: Option<Bytes>,
    recorder: Option<Arc<dyn Recorder>>,
    state: Mutex<State>,
    /// Signalled when a turn, a reaping or the end of a stream is over, well or not.
    turn_ended: Condvar,
}

/// Most bytes that any pool can hold, whatever its [`PoolConfig::max_size`]: 4 TiB.
pub const MAX_POOL_SIZE: Bytes = Bytes::gib(4096);

/// Most bytes of padding behind a block that a device may ask for.
const MAX_TAIL_PADDING: Bytes = Bytes::mib(1);

/// Largest granule of virtual memory that a pool can use.
const MAX_GRANULE: Bytes = Bytes::gib(1);

/// Largest alignment that a pool serves.
pub const MAX_ALIGNMENT: Alignment = Alignment::GIB_1;

impl Pool {
    /// A pool over `device`.
    ///
    /// # Errors
    ///
    /// [`CreateError`] when the device states impossible properties or the initial arena cannot be had.
    pub fn new(device: Arc<dyn Device>, config: PoolConfig) -> Result<Self, CreateError> {
        Self::build(device, config, None)
    }

    /// A pool over `device` whose events `recorder` is told.
    ///
    /// # Errors
    ///
    /// As [`Pool::new`].
    pub fn with_recorder(
        device: Arc<dyn Device>,
        config: PoolConfig,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Self, CreateError> {
        Self::build(device, config, Some(recorder))
    }

    fn build(
        device: Arc<dyn Device>,
        config: PoolConfig,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Self, CreateError> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let properties = device.properties();
        if properties.arena_granularity.is_zero() {
            return Err(CreateError::Granularity { device: properties.name });
        }
        let padding = properties.tail_padding.padded(Bytes::new(1));
        if padding.is_none_or(|padding| padding > MAX_TAIL_PADDING) {
            return Err(CreateError::TailPadding {
                device: properties.name,
                padding: properties.tail_padding,
            });
        }
        let granule = Self::granule(&*device, &properties, &config)?;
        let granularity = granule.unwrap_or(properties.arena_granularity);
        if let Some(max_size) = config.max_size()
            && max_size < granularity
        {
            return Err(CreateError::MaxBelowGranularity { max_size, granularity });
        }
        let mut heap = Heap::new(config.policy());
        heap.keep_apart(match config.max_size() {
            _ if !config.stream_reuse().internal_dependencies => Apart::Always,
            Some(limit) => Apart::Below(limit.get()),
            None => Apart::Never,
        });
        let inner = Inner {
            // Relaxed: only uniqueness matters.
            id: PoolId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            name: config.name().into(),
            state: Mutex::new(State::new(heap, granule)),
            turn_ended: Condvar::new(),
            config,
            device,
            properties,
            granule,
            recorder,
        };
        let pool = Self { inner: Arc::new(inner) };
        let initial_size = pool.inner.config.initial_size();
        if !initial_size.is_zero() {
            pool.inner.take_initial_arena(initial_size).map_err(|source| CreateError::Initial {
                pool: pool.inner.name.to_string(),
                initial_size,
                source: Box::new(source),
            })?;
        }
        Ok(pool)
    }

    /// The granule of virtual arenas, if the pool is to have such and can.
    fn granule(
        device: &dyn Device,
        properties: &DeviceProperties,
        config: &PoolConfig,
    ) -> Result<Option<Bytes>, CreateError> {
        if config.arena_kind() == ArenaKind::Plain {
            return Ok(None);
        }
        let Some(virtual_memory) = device.virtual_memory() else {
            tracing::warn!(
                pool = config.name(),
                device = properties.name,
                "the device has no virtual memory; the pool takes plain arenas"
            );
            return Ok(None);
        };
        let granule = virtual_memory.granule();
        if !granule.get().is_power_of_two() || granule > MAX_GRANULE {
            return Err(CreateError::VirtualGranule { device: properties.name.clone(), granule });
        }
        // Smaller ones are of no use to a heap that cuts memory into pages.
        Ok(Some(granule.max(Bytes::new(PAGE_BYTES))))
    }

    /// Identifies the pool in events.
    pub fn id(&self) -> PoolId {
        self.inner.id
    }

    /// What the pool was told.
    pub fn config(&self) -> &PoolConfig {
        &self.inner.config
    }

    /// The device behind the pool.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.inner.device
    }

    /// Allocates a block of at least `bytes` bytes that frees itself. It starts at a multiple of 512 bytes and of what the device
    /// asks for.
    ///
    /// # Errors
    ///
    /// As [`Pool::allocate_raw`].
    ///
    /// # Complexity
    ///
    /// O(1) when a free block serves it; a call of the device when the pool has to grow.
    pub fn allocate(&self, bytes: Bytes) -> Result<Allocation, crate::AllocError> {
        self.allocate_aligned(bytes, Alignment::ONE)
    }

    /// Allocates a block that frees itself and starts at a multiple of `alignment`, up to [`MAX_ALIGNMENT`].
    ///
    /// # Errors
    ///
    /// As [`Pool::allocate_raw`].
    pub fn allocate_aligned(
        &self,
        bytes: Bytes,
        alignment: Alignment,
    ) -> Result<Allocation, crate::AllocError> {
        Ok(Allocation::new(self.clone(), self.allocate_raw(bytes, alignment)?))
    }

    /// Allocates a block that stays live until its address is given to [`Pool::free`].
    ///
    /// # Errors
    ///
    /// [`AllocError`](crate::AllocError): 0 bytes, an alignment over [`MAX_ALIGNMENT`], a size that can never fit, or no memory left
    /// after growing and giving empty arenas back. No block has changed then.
    pub fn allocate_raw(
        &self,
        bytes: Bytes,
        alignment: Alignment,
    ) -> Result<RawAllocation, crate::AllocError> {
        self.inner.allocate(bytes, alignment, None)
    }

    /// Sums over the pool. O(arenas), for the sum of their sizes.
    pub fn status(&self) -> PoolStatus {
        self.inner.state.lock().status(self.inner.config.max_size())
    }

    /// Walks the whole pool. O(blocks), under the lock: for diagnosis, not for every step.
    pub fn report(&self) -> PoolReport {
        let state = self.inner.state.lock();
        let mut report = PoolReport {
            name: self.inner.name.to_string(),
            status: state.status(self.inner.config.max_size()),
            ..PoolReport::default()
        };
        for arena in &state.arenas {
            let blocks = || state.heap.blocks_of_arena(arena.base);
            report.arenas.push(ArenaReport::of(arena.base, state.bytes_in(*arena), arena.bytes, blocks()));
            blocks().for_each(|block| BucketReport::add_to(&mut report.buckets, &block));
        }
        report
    }

    /// Walks everything and checks every invariant. For tests and for the suspicious; O(pages), under the lock.
    ///
    /// # Errors
    ///
    /// [`InvariantError`] naming the first invariant that does not hold: a fault of this crate, never of its caller.
    pub fn validate(&self) -> Result<(), InvariantError> {
        let state = self.inner.state.lock();
        state.heap.validate()?;
        let fail = |what: String| Err(InvariantError { what });
        let sum = state.arena_bytes().saturating_add(state.spare_bytes());
        if sum > state.reserved || (state.turn.is_none() && sum != state.reserved) {
            return fail(format!("I2: arenas sum up to {sum}, {} are reserved", state.reserved));
        }
        state.validate_backing()?;
        if let Some(limit) = self.inner.config.max_size()
            && state.reserved > limit
        {
            return fail(format!("I2: {} are reserved, the limit is {limit}", state.reserved));
        }
        let status = state.status(None);
        let parts = [status.used, status.free, status.cached, status.unusable].into_iter().sum::<Bytes>();
        if parts != status.total {
            return fail(format!("I2: the parts sum up to {parts}, the total is {}", status.total));
        }
        if status.counters.allocations - status.counters.frees != status.blocks {
            return fail(format!(
                "I6: {} blocks are live, the counters are {:?}",
                status.blocks, status.counters
            ));
        }
        Ok(())
    }

    /// Bytes of host memory that the pool needs for its own books.
    pub fn metadata_bytes(&self) -> Bytes {
        self.inner.state.lock().heap.metadata_bytes()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { id, name, device, .. } = &*self.inner;
        f.debug_struct("Pool")
            .field("id", id)
            .field("name", name)
            .field("device", device)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Makes an arena part of the pool: its heap, its list and the registry of owners. Changes nothing when the heap refuses it.
    fn hold(&self, state: &mut State, arena: Arena) -> Result<(), AddArenaError> {
        if self.granule.is_some() {
            state.heap.add_reservation(arena.base, arena.bytes)?;
        } else {
            state.heap.add_arena(arena.base, arena.bytes)?;
        }
        state.insert_arena(arena);
        registry::add(arena.base, arena.bytes, self.id, &self.name);
        Ok(())
    }

    /// Tells the recorder, if there is one. Called without the lock.
    #[inline]
    fn tell(&self, sequence: u64, kind: impl FnOnce() -> EventKind) {
        if let Some(recorder) = &self.recorder {
            recorder.record(&Event { pool: self.id, sequence, kind: kind() });
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.state.get_mut().heap.streams.any()
            && let Err(error) = self.synchronize_all()
        {
            // The arenas go back all the same: the device frees what it must, and nobody can wait any longer.
            tracing::error!(pool = %self.name, %error, "could not wait for the streams of a pool that ends");
            self.release_events();
        }
        let state = self.state.get_mut();
        let totals = state.heap.totals();
        if totals.live_blocks > 0 {
            tracing::warn!(pool = %self.name, blocks = totals.live_blocks, bytes = totals.live.get(), "pool ended with live blocks");
            let sequence = state.next_sequence();
            self.tell(sequence, || EventKind::EndedWithLiveBlocks {
                blocks: totals.live_blocks,
                bytes: totals.live,
            });
        }
        let arenas = std::mem::take(&mut self.state.get_mut().arenas);
        let mapper = self.mapper();
        if let Some(mapper) = &mapper {
            mapper.release_all();
        }
        for arena in arenas {
            registry::remove(arena.base, self.id);
            let returned = match &mapper {
                Some(mapper) => mapper.free_reservation(arena),
                None => self.device.free_arena(arena.base, arena.bytes),
            };
            if let Err(error) = returned {
                tracing::error!(pool = %self.name, base = %arena.base, %error, "an arena could not be given back");
            }
        }
    }
}
