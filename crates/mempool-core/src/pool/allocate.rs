//! Allocation: the ladder from what is free at once to failure.

use super::state::{Arena, State};
use super::trim::Released;
use super::{Inner, MAX_ALIGNMENT, MAX_POOL_SIZE};
use crate::device::DeviceError;
use crate::error::{AllocError, OutOfMemory, Shortage};
use crate::event::EventKind;
use crate::handle::RawAllocation;
use crate::heap::{AddArenaError, Block, Heap, Order, OrderedBlock, Reach};
use crate::order::{Stamps, StreamId};
use crate::units::{Alignment, Bytes, DeviceAddress};

/// A request that was checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The stream that uses the block first; `None` for the host.
    pub(super) stream: Option<StreamId>,
    /// Whether that may be made to wait.
    may_wait: bool,
    pub(super) requested: Bytes,
    /// With the padding that the device wants.
    pub(super) occupied: Bytes,
    alignment: Alignment,
    /// The larger one of the alignment and of what the device wants.
    pub(super) block_alignment: Alignment,
    /// Size of the smallest arena that can serve it.
    arena_bytes: Bytes,
}

impl Request {
    /// Memory for nobody yet.
    pub(super) fn for_free_memory(bytes: Bytes) -> Self {
        Self {
            stream: None,
            may_wait: false,
            requested: bytes,
            occupied: bytes,
            alignment: Alignment::ONE,
            block_alignment: Alignment::ONE,
            arena_bytes: bytes,
        }
    }
}

/// A block, and the number of the event that tells of it.
pub(super) type Served = (RawAllocation, u64);

/// Why an attempt to grow did not serve the request.
pub(super) enum Refusal {
    /// The limit of the pool forbids it.
    OverLimit,
    /// The device has nothing left, or refused for another reason.
    Device(DeviceError),
    /// The device gave an arena that the heap cannot use.
    Unusable(AddArenaError),
}

impl Inner {
    pub(super) fn allocate(
        &self,
        requested: Bytes,
        alignment: Alignment,
        stream: Option<StreamId>,
    ) -> Result<RawAllocation, AllocError> {
        let served = self.check(requested, alignment, stream).and_then(|request| {
            // In a statement of its own, so that the lock is free before anything else happens.
            let served = take(&mut self.state.lock(), &request, Reach::Near);
            match served {
                Some(served) => Ok(served),
                None => self.climb(&request),
            }
        });
        match served {
            Ok((block, sequence)) => {
                let RawAllocation { address, requested, bytes } = block;
                self.tell(sequence, || EventKind::Allocated { address, requested, bytes, alignment });
                Ok(block)
            }
            Err(error) => {
                let sequence = {
                    let mut state = self.state.lock();
                    state.counters.failures += 1;
                    state.next_sequence()
                };
                self.tell(sequence, || EventKind::AllocationFailed { requested, alignment });
                Err(error)
            }
        }
    }

    /// Checks a request before anything is touched.
    fn check(
        &self,
        requested: Bytes,
        alignment: Alignment,
        stream: Option<StreamId>,
    ) -> Result<Request, AllocError> {
        if requested.is_zero() {
            return Err(AllocError::ZeroSize);
        }
        if alignment > MAX_ALIGNMENT {
            return Err(AllocError::AlignmentTooLarge { alignment, largest: MAX_ALIGNMENT });
        }
        let block_alignment = alignment.max(self.properties.block_alignment);
        let may_wait = stream.is_some() && self.config.stream_reuse().internal_dependencies;
        let limit = self.limit();
        let sized = self.properties.tail_padding.padded(requested).and_then(|occupied| {
            let arena = Heap::arena_bytes_for(occupied, block_alignment, self.properties.arena_alignment)?;
            Some((occupied, arena.round_up_to(self.properties.arena_granularity)?))
        });
        match sized {
            // An existing arena may be better aligned than a new one must be, so the block alone decides here.
            Some((occupied, arena_bytes)) if occupied <= limit => {
                Ok(Request { stream, may_wait, requested, occupied, alignment, block_alignment, arena_bytes })
            }
            _ => Err(AllocError::TooLarge { pool: self.name.to_string(), requested, alignment, limit }),
        }
    }

    /// Most bytes that the pool may ever hold.
    pub(super) fn limit(&self) -> Bytes {
        self.config.max_size().unwrap_or(MAX_POOL_SIZE).min(MAX_POOL_SIZE)
    }

    /// The ladder when nothing serves at once, one rung after the other: what other streams have passed meanwhile; what they have not,
    /// with a wait; growth, or mapping; empty arenas given back, and growth again; the same after waiting, on this thread, for all streams;
    /// failure.
    #[cold]
    fn climb(&self, request: &Request) -> Result<Served, AllocError> {
        let span = tracing::debug_span!("climb", pool = %self.name, requested = request.requested.get());
        let _entered = span.enter();
        self.check_stream(request)?;
        let has_streams = self.note_host_request(request);
        if has_streams && let Some(served) = self.reuse_across_streams(request) {
            return Ok(served);
        }
        let _turn = match self.take_turn(|state| take(state, request, Reach::Far)) {
            Ok(turn) => turn,
            Err(served) => return Ok(served),
        };
        let mut refusal = match self.extend(request) {
            Ok(served) => return Ok(served),
            Err(refusal) => refusal,
        };
        // Who wants no stream to wait wants even less to wait here.
        if has_streams && (request.stream.is_none() || request.may_wait) {
            let synchronized = self.synchronize_all();
            if let Some(served) = take(&mut self.state.lock(), request, Reach::Far) {
                return Ok(served);
            }
            if let Err(error) = synchronized {
                return Err(self.explain(request, Refusal::Device(error)));
            }
            match self.extend_now(request) {
                Some(Ok(served)) => return Ok(served),
                Some(Err(again)) => refusal = again,
                None => {}
            }
        }
        if let Some(mapper) = self.mapper() {
            // Memory that came to hand and was not enough: others may need it more.
            mapper.release_spares(&mut Released::default());
        }
        // It may have ended meanwhile.
        self.check_stream(request)?;
        Err(self.explain(request, refusal))
    }

    /// More memory from the device, or memory that is free elsewhere in the pool: by mapping, or by an arena, for which empty ones go back
    /// if need be.
    fn extend(&self, request: &Request) -> Result<Served, Refusal> {
        if let Some(mapper) = self.mapper() {
            let refused = match mapper.serve(request) {
                Ok(served) => return Ok(served),
                Err(refusal) => refusal,
            };
            // Somebody may have freed memory while the device was asked.
            return take(&mut self.state.lock(), request, Reach::Far).ok_or(refused);
        }
        let refusal = match self.grow(request, self.config.arena_size()) {
            Ok(served) => return Ok(served),
            Err(refusal) => refusal,
        };
        self.extend_now(request).unwrap_or(Err(refusal))
    }

    /// The same without growing first, when nothing but what has just become free can help; `None` when nothing has.
    fn extend_now(&self, request: &Request) -> Option<Result<Served, Refusal>> {
        if let Some(mapper) = self.mapper() {
            return Some(mapper.serve(request));
        }
        // Empty arenas of the wrong size may stand in the way, in the limit or on the device.
        let released = self.release_idle_arenas().released;
        (!released.is_zero()).then(|| self.grow(request, Bytes::ZERO))
    }

    /// Takes note of a request without a stream; answers whether there are streams.
    fn note_host_request(&self, request: &Request) -> bool {
        let mut state = self.state.lock();
        let has_streams = state.heap.streams.any();
        state.has_host_requests |= has_streams && request.stream.is_none();
        has_streams
    }

    /// The rungs between streams.
    fn reuse_across_streams(&self, request: &Request) -> Option<Served> {
        let reuse = self.config.stream_reuse();
        if reuse.opportunistic && self.reap() {
            let mut state = self.state.lock();
            state.heap.join_passed();
            if let Some(served) = take(&mut state, request, Reach::Near) {
                return Some(served);
            }
        }
        let (stream, taken) = {
            let mut state = self.state.lock();
            state.heap.gather();
            if let Some(served) = take(&mut state, request, Reach::Near) {
                return Some(served);
            }
            let stream = request.stream.filter(|_| request.may_wait)?;
            let waiter = state.heap.streams.slot_of(stream)?;
            let order = Order { stream: Some(waiter), reach: Reach::Wait };
            let (block, pending) = take_ordered(&mut state, request, order)?;
            (stream, Taken { inner: self, block: Some(block), pending })
        };
        match self.insert_waits(stream, &taken.pending) {
            Ok(()) => taken.keep(),
            Err(error) => {
                tracing::debug!(pool = %self.name, %error, "could not make a stream wait");
                None
            }
        }
    }

    /// Takes an arena from the device, of `wished` bytes if the limit and the device allow, else of less, down to what the
    /// request needs, and serves the request from it. The caller has the turn.
    fn grow(&self, request: &Request, wished: Bytes) -> Result<Served, Refusal> {
        let wished = wished.max(request.arena_bytes);
        let mut size = wished.round_up_to(self.properties.arena_granularity).unwrap_or(request.arena_bytes);
        let mut refusal = Refusal::OverLimit;
        loop {
            if let Some(reserved) = self.reserve(size) {
                match self.device.allocate_arena(size) {
                    Ok(base) => return self.use_new_arena(reserved, base, request),
                    Err(error) => {
                        let out_of_memory = matches!(error, DeviceError::OutOfMemory { .. });
                        refusal = Refusal::Device(error);
                        if !out_of_memory {
                            break;
                        }
                    }
                }
            }
            if size <= request.arena_bytes {
                break;
            }
            size = self.next_smaller(size, request.arena_bytes);
        }
        // Somebody may have freed memory while the device was asked.
        take(&mut self.state.lock(), request, Reach::Far).ok_or(refusal)
    }

    /// Half of a size, but not less than what is needed.
    fn next_smaller(&self, size: Bytes, needed: Bytes) -> Bytes {
        let half =
            Bytes::new(size.get() / 2).round_up_to(self.properties.arena_granularity).unwrap_or(needed);
        if half >= size { needed } else { half.max(needed) }
    }

    /// Counts an arena that is about to be asked for, if the limit allows it.
    pub(super) fn reserve(&self, bytes: Bytes) -> Option<Reserved<'_>> {
        let mut state = self.state.lock();
        let sum = state.reserved.checked_add(bytes).filter(|sum| *sum <= self.limit())?;
        state.reserved = sum;
        Some(Reserved { inner: self, bytes })
    }

    /// Adds a new arena and serves the request from it, before any other thread can take the new memory.
    fn use_new_arena(
        &self,
        reserved: Reserved<'_>,
        base: DeviceAddress,
        request: &Request,
    ) -> Result<Served, Refusal> {
        match self.add_arena(reserved, base, |state| take(state, request, Reach::Far)) {
            Ok(Some(served)) => Ok(served),
            // Only when the device does not keep the alignment that it states.
            Ok(None) => Err(Refusal::OverLimit),
            Err(error) => Err(Refusal::Unusable(error)),
        }
    }

    /// Adds a new arena to the heap, lets `then` use it under the same lock, and tells. An arena that the heap cannot use goes back to
    /// the device.
    fn add_arena<T>(
        &self,
        reserved: Reserved<'_>,
        base: DeviceAddress,
        then: impl FnOnce(&mut State) -> T,
    ) -> Result<T, AddArenaError> {
        let bytes = reserved.bytes;
        let mut state = self.state.lock();
        if let Err(error) = self.hold(&mut state, Arena { base, bytes }) {
            drop(state);
            if let Err(error) = self.device.free_arena(base, bytes) {
                tracing::error!(pool = %self.name, %base, %error, "an unusable arena could not be given back");
            }
            return Err(error);
        }
        reserved.keep();
        state.counters.growths += 1;
        let sequence = state.next_sequence();
        let result = then(&mut state);
        drop(state);
        tracing::debug!(pool = %self.name, %base, bytes = bytes.get(), "took an arena");
        self.tell(sequence, || EventKind::Grown { base, bytes });
        Ok(result)
    }

    /// Takes the arena that the pool starts with; nobody else knows the pool yet.
    pub(super) fn take_initial_arena(&self, wished: Bytes) -> Result<(), AllocError> {
        let granularity = self.granule.unwrap_or(self.properties.arena_granularity);
        let whole_granules = Bytes::new(wished.get() / granularity.get() * granularity.get());
        // Rounded up if the limit allows it; the limit itself need not be a multiple.
        let rounded_up = wished.round_up_to(granularity).filter(|size| *size <= self.limit());
        let size = rounded_up.unwrap_or(whole_granules);
        let pool = || self.name.to_string();
        let over_limit = || AllocError::TooLarge {
            pool: pool(),
            requested: wished,
            alignment: Alignment::ONE,
            limit: self.limit(),
        };
        if let Some(mapper) = self.mapper() {
            return mapper.back_free(size).map_err(|refusal| match refusal {
                Refusal::OverLimit => over_limit(),
                Refusal::Device(source) => AllocError::Device { pool: pool(), requested: wished, source },
                Refusal::Unusable(source) => AllocError::UnusableArena { pool: pool(), source },
            });
        }
        let Some(reserved) = self.reserve(size) else { return Err(over_limit()) };
        match self.device.allocate_arena(size) {
            Ok(base) => {
                let added = self.add_arena(reserved, base, |_| ());
                added.map_err(|source| AllocError::UnusableArena { pool: pool(), source })
            }
            Err(source) => Err(AllocError::Device { pool: pool(), requested: wished, source }),
        }
    }

    fn explain(&self, request: &Request, refusal: Refusal) -> AllocError {
        let pool = self.name.to_string();
        let out_of_device = match refusal {
            Refusal::Device(DeviceError::OutOfMemory { .. }) => true,
            Refusal::OverLimit => false,
            Refusal::Device(source) => {
                return AllocError::Device { pool, requested: request.requested, source };
            }
            Refusal::Unusable(source) => return AllocError::UnusableArena { pool, source },
        };
        let device_free = self.device.memory_info().ok().map(|info| info.free);
        let status = self.state.lock().status(self.config.max_size());
        let shortage = if status.free >= request.occupied {
            Shortage::Fragmentation
        } else if out_of_device {
            Shortage::Device
        } else {
            Shortage::Limit
        };
        AllocError::OutOfMemory(Box::new(OutOfMemory {
            pool,
            requested: request.requested,
            occupied: request.occupied,
            alignment: request.alignment,
            total: status.total,
            used: status.used,
            free: status.free,
            largest_free: status.largest_free,
            cached: status.cached,
            limit: status.limit,
            device_free,
            shortage,
        }))
    }
}

/// Bytes that count as the pool's while the device is asked for them. Given up when this is dropped, also when the device panics.
pub(super) struct Reserved<'a> {
    inner: &'a Inner,
    bytes: Bytes,
}

impl Reserved<'_> {
    /// The bytes are there: they count until their arena goes back.
    pub(super) fn keep(mut self) {
        self.bytes = Bytes::ZERO;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.bytes.is_zero() {
            let mut state = self.inner.state.lock();
            state.reserved = state.reserved.saturating_sub(self.bytes);
        }
    }
}

/// A block that was taken and is not handed out yet. Becomes free again when this is dropped, also when the device panics, unless it is
/// kept.
struct Taken<'a> {
    inner: &'a Inner,
    block: Option<RawAllocation>,
    /// What may still touch it.
    pending: Stamps,
}

impl Taken<'_> {
    /// Hands it out. Only now is there anything to tell of it.
    fn keep(mut self) -> Option<Served> {
        let block = self.block.take()?;
        Some((block, self.inner.state.lock().next_sequence()))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            let mut state = self.inner.state.lock();
            let undone = state.heap.free_ordered(block.address, std::mem::take(&mut self.pending));
            debug_assert!(undone.is_ok(), "the block was live");
            state.counters.allocations -= 1;
        }
    }
}

/// Serves a request from what is free for it at once. Near: no long run is cut up where a wait would do.
#[inline]
fn take(state: &mut State, request: &Request, reach: Reach) -> Option<Served> {
    if state.heap.streams.any() {
        let stream = match request.stream {
            Some(stream) => Some(state.heap.streams.slot_of(stream)?),
            None => None,
        };
        let near = request.may_wait && state.heap.is_tight() && reach == Reach::Near;
        let order = Order { stream, reach: if near { Reach::Near } else { Reach::Far } };
        let (block, _) = take_ordered(state, request, order)?;
        return Some((block, state.next_sequence()));
    }
    let block = state.heap.allocate_padded(request.requested, request.occupied, request.block_alignment)?;
    Some((note(state, request, block), state.next_sequence()))
}

/// Serves a request from what is free, and says what the stream must come after first, if it may wait.
fn take_ordered(state: &mut State, request: &Request, order: Order) -> Option<(RawAllocation, Stamps)> {
    let Request { requested, occupied, block_alignment, .. } = *request;
    let OrderedBlock { block, pending } =
        state.heap.allocate_ordered(requested, occupied, block_alignment, order)?;
    Some((note(state, request, block), pending))
}

#[inline]
pub(super) fn note(state: &mut State, request: &Request, block: Block) -> RawAllocation {
    state.note_allocation();
    let Block { address, bytes } = block;
    RawAllocation { address, requested: request.requested, bytes }
}
