//! What a pool's lock protects.

use std::collections::{BTreeMap, HashMap, VecDeque};

use smallvec::SmallVec;

use crate::device::PhysicalMemory;
use crate::heap::{Heap, InvariantError};
use crate::order::{Stamps, StreamId};
use crate::status::{Counters, PoolStatus};
use crate::sync::thread::ThreadId;
use crate::units::{Bytes, DeviceAddress};

/// An arena as it was obtained from the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arena {
    pub(super) base: DeviceAddress,
    pub(super) bytes: Bytes,
}

/// How many arenas that went back to the device are remembered, to tell a stale address from a foreign one.
const REMEMBERED_ARENAS: usize = 256;

#[derive(Debug)]
pub(super) struct State {
    pub(super) heap: Heap,
    /// In address order. Virtual ones are addresses only.
    pub(super) arenas: Vec<Arena>,
    /// Granule of the virtual arenas, if they are.
    granule: Option<Bytes>,
    /// Memory behind virtual arenas, by the address of its granule.
    pub(super) mapped: BTreeMap<DeviceAddress, PhysicalMemory>,
    /// Memory that is mapped nowhere.
    pub(super) spares: Vec<PhysicalMemory>,
    /// Bytes that the device holds for this pool: arenas, or memory mapped or spare, and those on the way to or from the device.
    pub(super) reserved: Bytes,
    /// The thread that adds or removes arenas right now.
    pub(super) turn: Option<ThreadId>,
    /// The thread that asks the device about events right now.
    pub(super) reaping: Option<ThreadId>,
    /// The threads that record the last event of a stream right now: the stream has ended, and its event is not known yet.
    pub(super) ending: SmallVec<[ThreadId; 2]>,
    /// Further streams on which live blocks are used.
    pub(super) uses: HashMap<DeviceAddress, SmallVec<[StreamId; 2]>>,
    /// Whether memory was asked for without a stream since there are streams.
    pub(super) has_host_requests: bool,
    pub(super) counters: Counters,
    /// Number of the next event.
    pub(super) sequence: u64,
    high_water: HighWater,
    released: VecDeque<Arena>,
}

#[derive(Debug, Clone, Copy, Default)]
struct HighWater {
    total: Bytes,
    used: Bytes,
    requested: Bytes,
}

impl State {
    pub(super) fn new(heap: Heap, granule: Option<Bytes>) -> Self {
        Self {
            heap,
            arenas: Vec::new(),
            granule,
            mapped: BTreeMap::new(),
            spares: Vec::new(),
            reserved: Bytes::ZERO,
            turn: None,
            reaping: None,
            ending: SmallVec::new(),
            uses: HashMap::new(),
            has_host_requests: false,
            counters: Counters::default(),
            sequence: 0,
            high_water: HighWater::default(),
            released: VecDeque::new(),
        }
    }

    /// Counts an allocation that the heap has just made.
    #[inline]
    pub(super) fn note_allocation(&mut self) {
        self.counters.allocations += 1;
        let (used, requested) = self.heap.live_and_requested();
        self.high_water.used = self.high_water.used.max(used);
        self.high_water.requested = self.high_water.requested.max(requested);
    }

    /// What may still touch a block that is freed now on `stream`, after further `uses`. Nobody has said which streams a block that is
    /// freed without one was used on, so it may have been any.
    pub(super) fn stamps_of_free(&mut self, stream: Option<StreamId>, uses: &[StreamId]) -> Stamps {
        let streams = &mut self.heap.streams;
        match stream {
            Some(_) => stream.iter().chain(uses).filter_map(|&stream| streams.stamp(stream)).collect(),
            None => streams.stamps_of_all(),
        }
    }

    pub(super) fn next_sequence(&mut self) -> u64 {
        let sequence = self.sequence;
        self.sequence += 1;
        sequence
    }

    /// Takes note of an arena that the heap has.
    pub(super) fn insert_arena(&mut self, arena: Arena) {
        let place = self.arenas.partition_point(|other| other.base < arena.base);
        self.arenas.insert(place, arena);
        self.high_water.total = self.high_water.total.max(self.arena_bytes());
    }

    /// Takes note that memory is behind a granule now.
    pub(super) fn note_mapped(&mut self, address: DeviceAddress, memory: PhysicalMemory) {
        self.mapped.insert(address, memory);
        self.counters.maps += 1;
        self.high_water.total = self.high_water.total.max(self.arena_bytes());
    }

    /// Takes note that no memory is behind a granule any more, and says which was.
    pub(super) fn note_unmapped(&mut self, address: DeviceAddress) -> Option<PhysicalMemory> {
        self.counters.unmaps += 1;
        self.mapped.remove(&address)
    }

    /// Takes the first arena behind `after` in which nothing is live out of the heap. It stays reserved until the device has it
    /// back.
    pub(super) fn take_idle_arena(&mut self, after: Option<DeviceAddress>) -> Option<Arena> {
        let first = self.arenas.partition_point(|arena| Some(arena.base) <= after);
        let heap = &mut self.heap;
        let is_virtual = self.granule.is_some();
        if heap.streams.any() && !is_virtual {
            heap.gather();
        }
        let index = self.arenas[first..].iter().position(|arena| {
            if is_virtual {
                heap.remove_reservation_if_unbacked(arena.base)
            } else {
                heap.remove_arena_if_empty(arena.base)
            }
        })?;
        Some(self.arenas.remove(first + index))
    }

    /// Takes note that the device has an arena back.
    pub(super) fn forget_arena(&mut self, arena: Arena) {
        if self.granule.is_none() {
            self.reserved = self.reserved.saturating_sub(arena.bytes);
        }
        if self.released.len() == REMEMBERED_ARENAS {
            self.released.pop_front();
        }
        self.released.push_back(arena);
    }

    /// Whether the address lies in an arena that went back to the device.
    pub(super) fn was_released(&self, address: DeviceAddress) -> bool {
        let inside = |arena: &Arena| {
            address.checked_offset_from(arena.base).is_some_and(|offset| offset < arena.bytes)
        };
        self.released.iter().any(inside)
    }

    /// Memory in the arenas that the heap has.
    pub(super) fn arena_bytes(&self) -> Bytes {
        match self.granule {
            Some(granule) => granules(granule, self.mapped.len()),
            None => self.address_bytes(),
        }
    }

    /// Addresses of the arenas that the heap has.
    pub(super) fn address_bytes(&self) -> Bytes {
        self.arenas.iter().map(|arena| arena.bytes).sum()
    }

    /// Memory that is mapped nowhere.
    pub(super) fn spare_bytes(&self) -> Bytes {
        granules(self.granule.unwrap_or(Bytes::ZERO), self.spares.len())
    }

    /// Memory in an arena.
    pub(super) fn bytes_in(&self, arena: Arena) -> Bytes {
        let Arena { base, bytes } = arena;
        match (self.granule, base.checked_add(bytes)) {
            (Some(granule), Some(end)) => granules(granule, self.mapped.range(base..end).count()),
            _ => bytes,
        }
    }

    /// Checks that memory is behind every page that is not in a hole, and behind no page that is.
    pub(super) fn validate_backing(&self) -> Result<(), InvariantError> {
        let fail = |what: String| Err(InvariantError { what });
        let Some(granule) = self.granule else { return Ok(()) };
        let mut addresses_without = Bytes::ZERO;
        for (first, bytes) in self.heap.holes() {
            addresses_without = addresses_without.saturating_add(bytes);
            let end = first.checked_add(bytes).unwrap_or(first);
            if let Some((address, memory)) = self.mapped.range(first..end).next() {
                return fail(format!("V1: {memory} is behind {address}, in a hole"));
            }
            if !first.get().is_multiple_of(granule.get()) || !bytes.get().is_multiple_of(granule.get()) {
                return fail(format!("U1: the hole of {bytes} at {first} is not made of granules"));
            }
        }
        let with_memory = self.arena_bytes().saturating_add(addresses_without);
        if self.turn.is_none() && with_memory != self.address_bytes() {
            return fail(format!(
                "V1: {with_memory} are mapped or in holes, {} are reserved",
                self.address_bytes()
            ));
        }
        let mut behind: Vec<_> = self.mapped.values().chain(&self.spares).collect();
        behind.sort_unstable();
        if let Some((twice, _)) = behind.iter().zip(behind.iter().skip(1)).find(|(one, next)| one == next) {
            return fail(format!("V1: {twice} is in two places"));
        }
        Ok(())
    }

    pub(super) fn status(&self, limit: Option<Bytes>) -> PoolStatus {
        let mut status = PoolStatus {
            total: self.arena_bytes(),
            addresses: self.address_bytes(),
            limit,
            total_high_water: self.high_water.total,
            used_high_water: self.high_water.used,
            requested_high_water: self.high_water.requested,
            arenas: self.arenas.len() as u64,
            counters: self.counters,
            ..PoolStatus::default()
        };
        status.set_heap_totals(&self.heap.totals());
        status
    }
}

fn granules(granule: Bytes, count: usize) -> Bytes {
    Bytes::new(granule.get().saturating_mul(count as u64))
}
