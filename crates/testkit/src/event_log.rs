//! A recorder whose events are replayed in the pool's own order: what the pool says must fit together.
//!
//! Rules
//! * E1: sequence numbers are 0, 1, 2, ... without a gap or a repetition.
//! * E2: replayed in that order, arenas never overlap and are trimmed only while nothing is live in them.
//! * E4: memory is mapped inside of arenas, nowhere twice, and unmapped only while nothing is live on it.
//! * E3: replayed in that order, no block is allocated where another one is live, each lies in one arena, and only live
//!   blocks are freed, with their sizes.

use std::collections::BTreeMap;

use mempool_core::{Bytes, Event, EventKind, Recorder};
use parking_lot::Mutex;

use crate::violation::{Violation, ensure};

/// Keeps all events.
#[derive(Debug, Default)]
pub struct EventLog {
    events: Mutex<Vec<Event>>,
}

/// What is there at the end of a replay.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Sizes of arenas by base.
    pub arenas: BTreeMap<u64, Bytes>,
    /// Sizes of granules of virtual arenas that have memory, by address.
    pub mapped: BTreeMap<u64, Bytes>,
    /// Blocks by address: bytes asked for and occupied.
    pub blocks: BTreeMap<u64, (Bytes, Bytes)>,
    /// Events of each kind.
    pub counts: EventCounts,
}

/// How often something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// [`EventKind::Allocated`]
    pub allocated: u64,
    /// [`EventKind::Freed`]
    pub freed: u64,
    /// [`EventKind::AllocationFailed`]
    pub failed: u64,
    /// [`EventKind::FreeRefused`]
    pub refused: u64,
    /// [`EventKind::Grown`]
    pub grown: u64,
    /// [`EventKind::Trimmed`]
    pub trimmed: u64,
    /// [`EventKind::Mapped`]
    pub mapped: u64,
    /// [`EventKind::Unmapped`]
    pub unmapped: u64,
}

impl Recorder for EventLog {
    fn record(&self, event: &Event) {
        self.events.lock().push(event.clone());
    }
}

impl EventLog {
    /// The events so far, in the pool's order.
    pub fn events(&self) -> Vec<Event> {
        let mut events = self.events.lock().clone();
        events.sort_by_key(|event| event.sequence);
        events
    }

    /// Replays all events.
    ///
    /// # Errors
    ///
    /// The first rule that does not hold, with the event.
    pub fn replay(&self) -> Result<Replayed, Violation> {
        let mut replayed = Replayed::default();
        for (expected, event) in (0..).zip(self.events()) {
            ensure!(event.sequence == expected, "E1", "event {} instead of {expected}", event.sequence);
            replayed.apply(&event.kind).map_err(|violation| violation.at(format_args!("{event:?}")))?;
        }
        Ok(replayed)
    }
}

impl Replayed {
    fn apply(&mut self, kind: &EventKind) -> Result<(), Violation> {
        match kind {
            EventKind::Grown { base, bytes } => {
                let around = around(&self.arenas, base.get(), base.get() + bytes.get(), |bytes| bytes.get());
                ensure!(around.is_none(), "E2", "overlaps {around:x?}");
                self.arenas.insert(base.get(), *bytes);
                self.counts.grown += 1;
            }
            EventKind::Trimmed { base, bytes } => {
                let known = self.arenas.remove(&base.get());
                ensure!(known == Some(*bytes), "E2", "known as {known:?}");
                let live =
                    around(&self.blocks, base.get(), base.get() + bytes.get(), |(_, bytes)| bytes.get());
                ensure!(live.is_none(), "E2", "live in it: {live:x?}");
                let mapped = around(&self.mapped, base.get(), base.get() + bytes.get(), |bytes| bytes.get());
                ensure!(mapped.is_none(), "E4", "mapped in it: {mapped:x?}");
                self.counts.trimmed += 1;
            }
            EventKind::Allocated { address, requested, bytes, .. } => {
                let (start, end) = (address.get(), address.get() + bytes.get());
                let other = around(&self.blocks, start, end, |(_, bytes)| bytes.get());
                ensure!(other.is_none(), "E3", "live there: {other:x?}");
                let arena = self.arenas.range(..=start).next_back();
                let inside = arena.is_some_and(|(base, bytes)| end <= base + bytes.get());
                ensure!(inside, "E3", "lies in no arena of {:x?}", self.arenas);
                self.blocks.insert(start, (*requested, *bytes));
                self.counts.allocated += 1;
            }
            EventKind::Freed { address, requested, bytes } => {
                let known = self.blocks.remove(&address.get());
                ensure!(known == Some((*requested, *bytes)), "E3", "known as {known:?}");
                self.counts.freed += 1;
            }
            EventKind::Mapped { address, bytes } => {
                let (start, end) = (address.get(), address.get() + bytes.get());
                let mapped = around(&self.mapped, start, end, |bytes| bytes.get());
                ensure!(mapped.is_none(), "E4", "mapped there: {mapped:x?}");
                let arena = self.arenas.range(..=start).next_back();
                let inside = arena.is_some_and(|(base, bytes)| end <= base + bytes.get());
                ensure!(inside, "E4", "lies in no arena of {:x?}", self.arenas);
                self.mapped.insert(start, *bytes);
                self.counts.mapped += 1;
            }
            EventKind::Unmapped { address, bytes } => {
                let (start, end) = (address.get(), address.get() + bytes.get());
                let known = self.mapped.remove(&start);
                ensure!(known == Some(*bytes), "E4", "known as {known:?}");
                let live = around(&self.blocks, start, end, |(_, bytes)| bytes.get());
                ensure!(live.is_none(), "E4", "live on it: {live:x?}");
                self.counts.unmapped += 1;
            }
            EventKind::AllocationFailed { .. } => self.counts.failed += 1,
            EventKind::FreeRefused { .. } => self.counts.refused += 1,
            EventKind::EndedWithLiveBlocks { blocks, bytes } => {
                let live: Bytes = self.blocks.values().map(|&(_, bytes)| bytes).sum();
                let fits = self.blocks.len() as u64 == *blocks && live == *bytes;
                ensure!(fits, "E3", "{} blocks of {live} are live", self.blocks.len());
            }
            other => {
                return Err(Violation::new(
                    "E1",
                    format!("{other:?} is of a kind that this log does not know"),
                ));
            }
        }
        Ok(())
    }
}

/// Something in `ranges` that shares an address with `[start, end)`.
fn around<T: Copy>(
    ranges: &BTreeMap<u64, T>,
    start: u64,
    end: u64,
    size: impl Fn(&T) -> u64,
) -> Option<(u64, T)> {
    let (&base, value) = ranges.range(..end).next_back()?;
    (base + size(value) > start).then_some((base, *value))
}
