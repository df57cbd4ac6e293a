//! What a pool's lock protects.

use std::collections::{HashMap, VecDeque};

use smallvec::SmallVec;

use crate::heap::Heap;
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
    /// In address order.
    pub(super) arenas: Vec<Arena>,
    /// Bytes that the device holds for this pool: arenas, and those on the way to or from the device.
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
    pub(super) fn new(heap: Heap) -> Self {
        Self {
            heap,
            arenas: Vec::new(),
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

    /// Takes the first arena behind `after` in which nothing is live out of the heap. It stays reserved until the device has it
    /// back.
    pub(super) fn take_idle_arena(&mut self, after: Option<DeviceAddress>) -> Option<Arena> {
        let first = self.arenas.partition_point(|arena| Some(arena.base) <= after);
        let heap = &mut self.heap;
        if heap.streams.any() {
            heap.gather();
        }
        let index = self.arenas[first..].iter().position(|arena| heap.remove_arena_if_empty(arena.base))?;
        Some(self.arenas.remove(first + index))
    }

    /// Takes note that the device has an arena back.
    pub(super) fn forget_arena(&mut self, arena: Arena) {
        self.reserved = self.reserved.saturating_sub(arena.bytes);
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

    /// Sum of the arenas that the heap has.
    pub(super) fn arena_bytes(&self) -> Bytes {
        self.arenas.iter().map(|arena| arena.bytes).sum()
    }

    pub(super) fn status(&self, limit: Option<Bytes>) -> PoolStatus {
        let mut status = PoolStatus {
            total: self.arena_bytes(),
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
