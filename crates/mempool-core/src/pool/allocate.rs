//! Allocation: from what is free, else by growing, else by giving empty arenas back and growing then.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use parking_lot::MutexGuard;

use super::state::{Arena, State};
use super::{Inner, MAX_ALIGNMENT, registry};
use crate::device::DeviceError;
use crate::error::{AllocError, OutOfMemory, Shortage};
use crate::event::EventKind;
use crate::handle::RawAllocation;
use crate::heap::{AddArenaError, Heap};
use crate::units::{Alignment, Bytes};

/// A request that was checked.
#[derive(Debug, Clone, Copy)]
struct Request {
    requested: Bytes,
    /// With the padding that the device wants.
    occupied: Bytes,
    /// With the alignment that the device wants.
    alignment: Alignment,
    /// Size of the smallest arena that can serve it.
    arena_bytes: Bytes,
}

/// How an attempt to grow ended.
enum Growth {
    /// The request is served, by the new arena or by memory that another thread freed meanwhile.
    Served(RawAllocation),
    /// The limit of the pool forbids it.
    OverLimit,
    /// The device has nothing left, or refused for another reason.
    Refused(DeviceError),
    /// The device gave an arena that the heap cannot use.
    Unusable(AddArenaError),
}

impl Inner {
    pub(super) fn allocate(
        &self,
        requested: Bytes,
        alignment: Alignment,
    ) -> Result<RawAllocation, AllocError> {
        let served = self.check(requested, alignment).and_then(|request| {
            let mut state = self.state.lock();
            if let Some(block) = take(&mut state, &request) {
                let sequence = state.next_sequence();
                drop(state);
                self.tell_allocated(sequence, block, alignment);
                return Ok(block);
            }
            self.allocate_by_growth(state, &request)
        });
        if served.is_err() {
            let mut state = self.state.lock();
            state.counters.failures += 1;
            let sequence = state.next_sequence();
            drop(state);
            self.tell(sequence, || EventKind::AllocationFailed { requested, alignment });
        }
        served
    }

    fn tell_allocated(&self, sequence: u64, block: RawAllocation, alignment: Alignment) {
        let RawAllocation { address, requested, bytes } = block;
        self.tell(sequence, || EventKind::Allocated { address, requested, bytes, alignment });
    }

    /// Checks a request before anything is touched.
    fn check(&self, requested: Bytes, alignment: Alignment) -> Result<Request, AllocError> {
        if requested.is_zero() {
            return Err(AllocError::ZeroSize);
        }
        if alignment > MAX_ALIGNMENT {
            return Err(AllocError::AlignmentTooLarge { alignment, largest: MAX_ALIGNMENT });
        }
        let alignment = alignment.max(self.properties.block_alignment);
        let limit = self.config.max_size().unwrap_or(Bytes::MAX);
        let sized = self.properties.tail_padding.padded(requested).and_then(|occupied| {
            let arena = Heap::arena_bytes_for(occupied, alignment, self.properties.arena_alignment)?;
            Some((occupied, arena.round_up_to(self.properties.arena_granularity)?))
        });
        match sized {
            // An existing arena may be better aligned than a new one must be, so the block alone decides here.
            Some((occupied, arena_bytes)) if occupied <= limit => {
                Ok(Request { requested, occupied, alignment, arena_bytes })
            }
            _ => Err(AllocError::TooLarge { pool: self.name.to_string(), requested, alignment, limit }),
        }
    }

    #[cold]
    fn allocate_by_growth(
        &self,
        state: MutexGuard<'_, State>,
        request: &Request,
    ) -> Result<RawAllocation, AllocError> {
        let span = tracing::debug_span!("allocate_by_growth", pool = %self.name, requested = request.requested.get());
        let _entered = span.enter();
        let first = self.grow(state, request, self.config.arena_size());
        let refusal = match first {
            Growth::Served(block) => return Ok(block),
            other => other,
        };
        // Empty arenas of the wrong size may stand in the way, in the limit or on the device.
        if self.release_idle_arenas().released.is_zero() {
            return Err(self.explain(request, refusal));
        }
        match self.grow(self.state.lock(), request, Bytes::ZERO) {
            Growth::Served(block) => Ok(block),
            other => Err(self.explain(request, other)),
        }
    }

    /// Takes an arena from the device, of `wished` bytes if the limit and the device allow, else of less, down to what the
    /// request needs, and serves the request from it.
    fn grow(&self, mut state: MutexGuard<'_, State>, request: &Request, wished: Bytes) -> Growth {
        while state.growing.is_some_and(|thread| thread != thread::current().id()) {
            self.growth_ended.wait(&mut state);
            if let Some(block) = take(&mut state, request) {
                return self.finish_served(state, block, request);
            }
        }
        let outer = state.growing.replace(thread::current().id());
        let mut size = wished.max(request.arena_bytes);
        size = size.round_up_to(self.properties.arena_granularity).unwrap_or(request.arena_bytes);
        let mut refusal = Growth::OverLimit;
        let result = loop {
            let fits = state
                .reserved
                .checked_add(size)
                .is_some_and(|sum| self.config.max_size().is_none_or(|max| sum <= max));
            if fits {
                state.reserved = state.reserved.saturating_add(size);
                state.arriving = state.arriving.saturating_add(size);
                let asked = || panic::catch_unwind(AssertUnwindSafe(|| self.device.allocate_arena(size)));
                let answer = MutexGuard::unlocked(&mut state, asked);
                state.arriving = state.arriving.saturating_sub(size);
                let answer = answer.unwrap_or_else(|panicked| {
                    // A device that panics must not leave others waiting for this growth.
                    state.reserved = state.reserved.saturating_sub(size);
                    state.growing = outer;
                    self.growth_ended.notify_all();
                    panic::resume_unwind(panicked)
                });
                match answer {
                    Ok(base) => break self.use_new_arena(&mut state, Arena { base, bytes: size }, request),
                    Err(error) => {
                        state.reserved = state.reserved.saturating_sub(size);
                        let out_of_memory = matches!(error, DeviceError::OutOfMemory { .. });
                        refusal = Growth::Refused(error);
                        if !out_of_memory {
                            break Err(refusal);
                        }
                    }
                }
            }
            if size <= request.arena_bytes {
                break Err(refusal);
            }
            size = self.next_smaller(size, request.arena_bytes);
        };
        state.growing = outer;
        self.growth_ended.notify_all();
        match result {
            Ok(block) => self.finish_served(state, block, request),
            Err(refusal) => match take(&mut state, request) {
                // Somebody freed memory while the device was asked.
                Some(block) => self.finish_served(state, block, request),
                None => refusal,
            },
        }
    }

    /// Half of a size, but not less than what is needed.
    fn next_smaller(&self, size: Bytes, needed: Bytes) -> Bytes {
        let half =
            Bytes::new(size.get() / 2).round_up_to(self.properties.arena_granularity).unwrap_or(needed);
        if half >= size { needed } else { half.max(needed) }
    }

    fn use_new_arena(
        &self,
        state: &mut MutexGuard<'_, State>,
        arena: Arena,
        request: &Request,
    ) -> Result<RawAllocation, Growth> {
        if let Err(error) = state.heap.add_arena(arena.base, arena.bytes) {
            MutexGuard::unlocked(state, || self.give_back_unusable(arena));
            state.reserved = state.reserved.saturating_sub(arena.bytes);
            return Err(Growth::Unusable(error));
        }
        state.insert_arena(arena);
        registry::add(arena.base, arena.bytes, self.id, &self.name);
        state.counters.growths += 1;
        let sequence = state.next_sequence();
        // Served before the lock is let go, so that no other thread can take the new memory first.
        let block = take(state, request);
        MutexGuard::unlocked(state, || {
            tracing::debug!(pool = %self.name, base = %arena.base, bytes = arena.bytes.get(), "took an arena");
            self.tell(sequence, || EventKind::Grown { base: arena.base, bytes: arena.bytes });
        });
        block.ok_or(Growth::OverLimit)
    }

    fn finish_served(
        &self,
        mut state: MutexGuard<'_, State>,
        block: RawAllocation,
        request: &Request,
    ) -> Growth {
        let sequence = state.next_sequence();
        drop(state);
        self.tell_allocated(sequence, block, request.alignment);
        Growth::Served(block)
    }

    fn explain(&self, request: &Request, refusal: Growth) -> AllocError {
        let pool = self.name.to_string();
        let out_of_device = match refusal {
            Growth::Refused(DeviceError::OutOfMemory { .. }) => true,
            Growth::Served(_) | Growth::OverLimit => false,
            Growth::Refused(source) => {
                return AllocError::Device { pool, requested: request.requested, source };
            }
            Growth::Unusable(source) => return AllocError::UnusableArena { pool, source },
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

    /// Takes the arena that the pool starts with; nobody else knows the pool yet.
    pub(super) fn take_initial_arena(&self, bytes: Bytes) -> Result<(), AllocError> {
        let granularity = self.properties.arena_granularity;
        let limit = self.config.max_size().unwrap_or(Bytes::MAX);
        let pool = || self.name.to_string();
        let rounded_up = bytes.round_up_to(granularity).filter(|size| *size <= limit);
        let rounded = rounded_up.unwrap_or(Bytes::new(bytes.get() / granularity.get() * granularity.get()));
        let base = self.device.allocate_arena(rounded).map_err(|source| AllocError::Device {
            pool: pool(),
            requested: bytes,
            source,
        })?;
        let mut state = self.state.lock();
        state.reserved = rounded;
        if let Err(source) = state.heap.add_arena(base, rounded) {
            state.reserved = Bytes::ZERO;
            drop(state);
            self.give_back_unusable(Arena { base, bytes: rounded });
            return Err(AllocError::UnusableArena { pool: pool(), source });
        }
        state.insert_arena(Arena { base, bytes: rounded });
        registry::add(base, rounded, self.id, &self.name);
        state.counters.growths += 1;
        let sequence = state.next_sequence();
        drop(state);
        self.tell(sequence, || EventKind::Grown { base, bytes: rounded });
        Ok(())
    }

    fn give_back_unusable(&self, arena: Arena) {
        if let Err(error) = self.device.free_arena(arena.base, arena.bytes) {
            tracing::error!(pool = %self.name, base = %arena.base, %error, "an unusable arena could not be given back");
        }
    }
}

/// Serves a request from what is free.
#[inline]
fn take(state: &mut State, request: &Request) -> Option<RawAllocation> {
    let block = state.heap.allocate_padded(request.requested, request.occupied, request.alignment)?;
    state.note_allocation();
    Some(RawAllocation { address: block.address, requested: request.requested, bytes: block.bytes })
}
