//! Virtual arenas: addresses are reserved once, and memory is mapped where a request wants it.
//!
//! Invariants
//! * V1: memory of the device counts towards the limit from before it is created until after it is released, wherever it is: under
//!   blocks, under free runs, in the hands of a thread, or spare.
//! * V2: only the thread that has the turn changes the backing. What it has claimed in the heap nobody else sees as free, and what it
//!   has in hand is in a guard: whatever fails or panics, pages become free memory or a hole again and memory becomes spare.
//! * V3: memory is taken from under free runs only when all streams have passed them.

use super::allocate::{Refusal, Request, Served, note};
use super::state::Arena;
use super::trim::Released;
use super::{Inner, MAX_POOL_SIZE};
use crate::device::{DeviceError, PhysicalMemory, VirtualMemory};
use crate::event::EventKind;
use crate::heap::Place;
use crate::units::{Bytes, DeviceAddress};

/// So many times the memory that a pool may have, it reserves addresses: blocks that stay cut the addresses up, and what is cut up
/// beyond use costs a further reservation.
const ADDRESSES_FOR_MEMORY: u64 = 4;
/// Most addresses reserved at once, unless a request needs more: their books take 4 bytes a page of host memory, once used.
const LARGEST_RESERVATION: Bytes = Bytes::gib(1024);

/// Changes which memory is behind the addresses of a pool. Whoever has one has the turn, or is alone with the pool.
pub(super) struct Mapper<'a> {
    inner: &'a Inner,
    device: &'a dyn VirtualMemory,
    granule: Bytes,
}

impl Inner {
    /// `None` for pools of plain arenas. The caller has the turn.
    pub(super) fn mapper(&self) -> Option<Mapper<'_>> {
        Some(Mapper { inner: self, granule: self.granule?, device: self.device.virtual_memory()? })
    }
}

impl Mapper<'_> {
    /// Brings memory to where a request needs it, and serves it.
    pub(super) fn serve(&self, request: &Request) -> Result<Served, Refusal> {
        let mut claimed = self.claim(request)?;
        self.fill(&mut claimed)?;
        claimed.serve(request).ok_or(Refusal::OverLimit)
    }

    /// Maps `wished` bytes as free memory.
    pub(super) fn back_free(&self, wished: Bytes) -> Result<(), Refusal> {
        let request = Request::for_free_memory(wished);
        let mut claimed = self.claim(&request)?;
        self.fill(&mut claimed)
    }

    fn fill(&self, claimed: &mut Claimed<'_>) -> Result<(), Refusal> {
        let missing = claimed.missing();
        let mut hand = self.empty_hand();
        self.gather(&mut hand, missing.len())?;
        for address in missing {
            let Some(&memory) = hand.memory.last() else { return Err(Refusal::OverLimit) };
            self.device.map(address, memory).map_err(Refusal::Device)?;
            let sequence = {
                let mut state = self.inner.state.lock();
                hand.memory.pop();
                claimed.backed += 1;
                state.note_mapped(address, memory);
                state.next_sequence()
            };
            self.inner.tell(sequence, || EventKind::Mapped { address, bytes: self.granule });
        }
        Ok(())
    }

    /// Claims a place for the request, in new addresses if no hole that there is will do.
    fn claim(&self, request: &Request) -> Result<Claimed<'_>, Refusal> {
        if let Some(claimed) = self.claim_in_hole(request) {
            return Ok(claimed);
        }
        self.reserve_addresses(request)?;
        self.claim_in_hole(request).ok_or(Refusal::OverLimit)
    }

    fn claim_in_hole(&self, request: &Request) -> Option<Claimed<'_>> {
        let mut state = self.inner.state.lock();
        let stream = match request.stream {
            Some(stream) => Some(state.heap.streams.slot_of(stream)?),
            None => None,
        };
        let place =
            state.heap.claim_place(request.occupied, request.block_alignment, self.granule, stream)?;
        Some(Claimed { inner: self.inner, granule: self.granule, place: Some(place), backed: 0 })
    }

    /// Reserves addresses, less and less down to what the request needs.
    fn reserve_addresses(&self, request: &Request) -> Result<(), Refusal> {
        let round = |bytes: Bytes| bytes.round_up_to(self.granule).unwrap_or(bytes);
        let needed = round(request.occupied.saturating_add(request.block_alignment.bytes()));
        let memory = self.inner.device.memory_info().map_or(MAX_POOL_SIZE, |info| info.total);
        let memory = memory.min(self.inner.limit());
        let wished = Bytes::new(memory.get().saturating_mul(ADDRESSES_FOR_MEMORY)).min(LARGEST_RESERVATION);
        let mut size = round(wished.max(needed));
        loop {
            let refusal = match self.device.reserve(size) {
                Ok(base) => match self.hold_addresses(Arena { base, bytes: size }) {
                    Ok(()) => return Ok(()),
                    Err(refusal @ Refusal::Unusable(_)) => refusal,
                    Err(refusal) => return Err(refusal),
                },
                Err(error @ DeviceError::OutOfMemory { .. }) => Refusal::Device(error),
                Err(error) => return Err(Refusal::Device(error)),
            };
            if size <= needed {
                return Err(refusal);
            }
            size = round(Bytes::new(size.get() / 2)).max(needed);
        }
    }

    /// Makes addresses an arena of the pool, or gives them back if the pool cannot use them.
    fn hold_addresses(&self, arena: Arena) -> Result<(), Refusal> {
        let Arena { base, bytes } = arena;
        let held = if base.get().is_multiple_of(self.granule.get()) {
            let mut state = self.inner.state.lock();
            let held = self.inner.hold(&mut state, arena).map_err(Refusal::Unusable);
            held.map(|()| {
                state.counters.growths += 1;
                state.next_sequence()
            })
        } else {
            let text =
                format!("the reservation at {base} is at no multiple of the granule, {}", self.granule);
            Err(Refusal::Device(DeviceError::Other(text.into())))
        };
        match held {
            Ok(sequence) => {
                tracing::debug!(pool = %self.inner.name, %base, bytes = bytes.get(), "reserved addresses");
                self.inner.tell(sequence, || EventKind::Grown { base, bytes });
                Ok(())
            }
            Err(refusal) => {
                if let Err(error) = self.device.free_reservation(base, bytes) {
                    tracing::error!(pool = %self.inner.name, %base, %error, "unusable addresses could not be given back");
                }
                Err(refusal)
            }
        }
    }

    /// Gets memory for `wanted` granules: what is spare, then new memory, then, at the limit or when the device has no more, memory from
    /// under free runs.
    fn gather(&self, hand: &mut Hand<'_>, wanted: usize) -> Result<(), Refusal> {
        {
            let mut state = self.inner.state.lock();
            state.heap.join_passed();
            let room = self.inner.limit().saturating_sub(state.reserved).get() / self.granule.get();
            let at_hand = state.spares.len().saturating_add(usize::try_from(room).unwrap_or(usize::MAX));
            if at_hand < wanted && state.heap.free_granules(self.granule) < wanted - at_hand {
                return Err(Refusal::OverLimit);
            }
            let left = state.spares.len().saturating_sub(wanted);
            hand.memory.extend(state.spares.drain(left..));
        }
        let mut refusal = Refusal::OverLimit;
        while hand.memory.len() < wanted {
            let Some(reserved) = self.inner.reserve(self.granule) else { break };
            match self.device.create_physical(self.granule) {
                Ok(memory) => {
                    reserved.keep();
                    hand.memory.push(memory);
                }
                Err(error @ DeviceError::OutOfMemory { .. }) => {
                    refusal = Refusal::Device(error);
                    break;
                }
                Err(error) => return Err(Refusal::Device(error)),
            }
        }
        let missing = wanted.saturating_sub(hand.memory.len());
        if missing == 0 {
            return Ok(());
        }
        let Some(mut taking) = self.claim_granules(Some(missing)) else { return Err(refusal) };
        while let Some(address) = taking.latest() {
            self.unmap(&mut taking, hand, address).map_err(Refusal::Device)?;
            self.inner.state.lock().counters.stolen_granules += 1;
        }
        Ok(())
    }

    /// Claims so many free granules, or all.
    fn claim_granules(&self, count: Option<usize>) -> Option<Taking<'_>> {
        let mut state = self.inner.state.lock();
        let heap = &mut state.heap;
        heap.join_passed();
        let count = count.unwrap_or_else(|| heap.free_granules(self.granule));
        let mut granules = heap.claim_granules(self.granule, count)?;
        // Taken from the end.
        granules.reverse();
        Some(Taking { inner: self.inner, granule: self.granule, granules })
    }

    /// Takes the memory of the granule that comes next into the hand, which leaves a hole.
    fn unmap(
        &self,
        taking: &mut Taking<'_>,
        hand: &mut Hand<'_>,
        address: DeviceAddress,
    ) -> Result<(), DeviceError> {
        self.device.unmap(address)?;
        let sequence = {
            let mut state = self.inner.state.lock();
            taking.granules.pop();
            hand.memory.extend(state.note_unmapped(address));
            state.heap.end_granule_claim(address, self.granule, false);
            state.next_sequence()
        };
        self.inner.tell(sequence, || EventKind::Unmapped { address, bytes: self.granule });
        Ok(())
    }

    /// Takes the memory from under all free granules and gives it back to the device.
    pub(super) fn release_granules(&self, done: &mut Released) {
        let Some(mut taking) = self.claim_granules(None) else { return };
        let (mut hand, mut refused) = (self.empty_hand(), self.empty_hand());
        while let Some(address) = taking.latest() {
            match self.unmap(&mut taking, &mut hand, address) {
                Ok(()) => self.release_memory(&mut hand, &mut refused, address, done),
                Err(error) => {
                    taking.give_back_latest();
                    done.kept.push((Arena { base: address, bytes: self.granule }, error));
                }
            }
        }
    }

    /// Gives memory back that is mapped nowhere.
    pub(super) fn release_spares(&self, done: &mut Released) {
        let (mut hand, mut refused) = (self.empty_hand(), self.empty_hand());
        hand.memory.append(&mut self.inner.state.lock().spares);
        self.release_memory(&mut hand, &mut refused, DeviceAddress::new(0), done);
    }

    /// Gives back the memory in hand, which was last at `address`.
    fn release_memory(
        &self,
        hand: &mut Hand<'_>,
        refused: &mut Hand<'_>,
        address: DeviceAddress,
        done: &mut Released,
    ) {
        while let Some(&memory) = hand.memory.last() {
            let released = self.device.release_physical(memory);
            hand.memory.pop();
            match released {
                Ok(()) => {
                    let mut state = self.inner.state.lock();
                    state.reserved = state.reserved.saturating_sub(self.granule);
                    done.released = done.released.saturating_add(self.granule);
                }
                Err(error) => {
                    refused.memory.push(memory);
                    done.kept.push((Arena { base: address, bytes: self.granule }, error));
                }
            }
        }
    }

    fn empty_hand(&self) -> Hand<'_> {
        Hand { inner: self.inner, memory: Vec::new() }
    }

    /// Takes all memory away and gives it back, for a pool that ends.
    pub(super) fn release_all(&self) {
        let mapped = std::mem::take(&mut self.inner.state.lock().mapped);
        let mut memory = std::mem::take(&mut self.inner.state.lock().spares);
        for (address, behind) in mapped {
            match self.device.unmap(address) {
                Ok(()) => memory.push(behind),
                Err(error) => {
                    tracing::error!(pool = %self.inner.name, %address, %error, "memory could not be unmapped");
                }
            }
        }
        for memory in memory {
            if let Err(error) = self.device.release_physical(memory) {
                tracing::error!(pool = %self.inner.name, %memory, %error, "memory could not be given back");
            }
        }
    }

    /// Gives addresses back.
    pub(super) fn free_reservation(&self, arena: Arena) -> Result<(), DeviceError> {
        self.device.free_reservation(arena.base, arena.bytes)
    }
}

/// A place that is claimed for a request. Its pages are free again, or a hole, when this is dropped, also when the device panics.
struct Claimed<'a> {
    inner: &'a Inner,
    granule: Bytes,
    place: Option<Place>,
    /// Granules of its hole that have memory by now.
    backed: usize,
}

impl Claimed<'_> {
    fn missing(&self) -> Vec<DeviceAddress> {
        let state = self.inner.state.lock();
        self.place.as_ref().map(|place| place.missing(&state.heap, self.granule)).unwrap_or_default()
    }

    /// Makes the block; all granules of the place have memory.
    fn serve(mut self, request: &Request) -> Option<Served> {
        let place = self.place.take()?;
        let mut state = self.inner.state.lock();
        let block = state.heap.use_place(place, request.requested, request.occupied);
        Some((note(&mut state, request, block), state.next_sequence()))
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.inner.state.lock().heap.give_place_back(place, self.granule, self.backed);
        }
    }
}

/// Memory that is mapped nowhere. Spare when this is dropped, also when the device panics.
struct Hand<'a> {
    inner: &'a Inner,
    memory: Vec<PhysicalMemory>,
}

impl Drop for Hand<'_> {
    fn drop(&mut self) {
        if !self.memory.is_empty() {
            self.inner.state.lock().spares.append(&mut self.memory);
        }
    }
}

/// Free granules that are claimed, to be unmapped. Those that are left are free again when this is dropped, also when the device panics.
struct Taking<'a> {
    inner: &'a Inner,
    granule: Bytes,
    granules: Vec<DeviceAddress>,
}

impl Taking<'_> {
    fn latest(&self) -> Option<DeviceAddress> {
        self.granules.last().copied()
    }

    fn give_back_latest(&mut self) {
        if let Some(address) = self.granules.pop() {
            self.inner.state.lock().heap.end_granule_claim(address, self.granule, true);
        }
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        while !self.granules.is_empty() {
            self.give_back_latest();
        }
    }
}
