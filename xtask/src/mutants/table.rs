//! The mutants: each breaks one line on which the safety of memory between streams, or the books of the pool, rests.
//!
//! A row is the danger in words, the file, a text that occurs in it once, and what stands there instead. When you change such a line,
//! change the row with it; when you write a line that would be as dangerous if it were wrong, give it a row. A mutant that nobody can
//! tell from the sound code is no mutant: find out why, and remove the line or the row.

use super::suite::Suite::{
    self, Core, StreamActions, StreamBugLog, StreamCalls, StreamJoins, StreamOrder, StreamWaits,
};

/// One broken line.
#[derive(Debug)]
pub(super) struct Mutant {
    /// What would go wrong.
    pub(super) danger: &'static str,
    /// From the root of the workspace.
    pub(super) file: &'static str,
    /// Occurs in the file once.
    pub(super) text: &'static str,
    /// Stands there instead.
    pub(super) replacement: &'static str,
    /// The suite that must fail.
    pub(super) suite: Suite,
}

const STREAMS: &str = "crates/mempool-core/src/order/streams.rs";
const STAMP: &str = "crates/mempool-core/src/order/stamp.rs";
const HELD: &str = "crates/mempool-core/src/heap/held.rs";
const ORDERED: &str = "crates/mempool-core/src/heap/ordered.rs";
const PAGE_HEAP: &str = "crates/mempool-core/src/heap/page_heap.rs";
const SLABS: &str = "crates/mempool-core/src/heap/slabs.rs";
const ALLOCATE: &str = "crates/mempool-core/src/pool/allocate.rs";
const FREE: &str = "crates/mempool-core/src/pool/free.rs";
const POOL: &str = "crates/mempool-core/src/pool/mod.rs";
const STATE: &str = "crates/mempool-core/src/pool/state.rs";
const POOL_STREAMS: &str = "crates/mempool-core/src/pool/streams.rs";
const TRIM: &str = "crates/mempool-core/src/pool/trim.rs";
const WAITS: &str = "crates/mempool-core/src/pool/waits.rs";

const fn mutant(
    danger: &'static str,
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
    suite: Suite,
) -> Mutant {
    Mutant { danger, file, text, replacement, suite }
}

/// All of them.
pub(super) static MUTANTS: &[Mutant] = &[
    // Who may use what.
    mutant(
        "another stream may use memory that is pending",
        STREAMS,
        "let Some(slot) = stream else { return false };",
        "let Some(slot) = stream else { return false };\n        if slot != stamp.slot() { return true; }",
        StreamOrder,
    ),
    mutant(
        "the host gets memory that is pending",
        STREAMS,
        "let Some(slot) = stream else { return false };",
        "let Some(slot) = stream else { return true };",
        StreamOrder,
    ),
    mutant(
        "a free is stamped with the epoch that was closed last",
        STREAMS,
        "Some(Stamp::new(id.slot, entry.epoch))",
        "Some(Stamp::new(id.slot, entry.epoch - 1))",
        StreamOrder,
    ),
    mutant(
        "further uses of a block are forgotten",
        STATE,
        "Some(_) => stream.iter().chain(uses).filter_map",
        "Some(_) => stream.iter().chain(&uses[..0]).filter_map",
        StreamOrder,
    ),
    mutant(
        "a free without a stream comes after nothing",
        STATE,
        "None => streams.stamps_of_all(),",
        "None => Stamps::default(),",
        StreamOrder,
    ),
    mutant(
        "a stream of another pool is taken for one that is done",
        FREE,
        "&& stream.pool() != self.id",
        "&& stream.pool() != self.id && false",
        StreamOrder,
    ),
    // Epochs and events.
    mutant(
        "a wait covers the open epoch, too",
        STREAMS,
        "*direct = (*direct).max(epoch);",
        "*direct = (*direct).max(epoch + 1);",
        StreamActions,
    ),
    mutant(
        "an event covers the epoch after it, too",
        STREAMS,
        "self.set_done(batch.slot, batch.epoch);",
        "self.set_done(batch.slot, batch.epoch + 1);",
        StreamActions,
    ),
    mutant(
        "an event covers more of what its stream had waited for",
        STREAMS,
        "self.set_done(slot, epoch);",
        "self.set_done(slot, epoch + 1);",
        StreamActions,
    ),
    mutant(
        "a mark covers frees after it",
        STREAMS,
        "Some(StreamMark { stream: id, epoch: self.close_epoch(slot) })",
        "Some(StreamMark { stream: id, epoch: self.close_epoch(slot) + 1 })",
        StreamOrder,
    ),
    mutant(
        "an event that could not be asked about counts as passed",
        WAITS,
        "\"an event could not be asked about\");\n                        false",
        "\"an event could not be asked about\");\n                        true",
        StreamCalls,
    ),
    mutant(
        "an event that is not done is lost",
        WAITS,
        "self.inner.state.lock().heap.streams.put_batch(batch);",
        "drop(batch);",
        StreamActions,
    ),
    mutant(
        "events that have passed are never given back",
        WAITS,
        "order.release_event(batch.event)",
        "Ok::<(), DeviceError>(())",
        StreamOrder,
    ),
    mutant(
        "one stream alone records events that nobody needs",
        WAITS,
        "let wanted = streams.open_count() > 1 || state.has_host_requests;",
        "let wanted = streams.open_count() > 0;",
        StreamBugLog,
    ),
    mutant(
        "waiting for all streams stops at one that has just ended",
        WAITS,
        "if streams.is_open(slot) && streams.device_stream(slot) == device {",
        "if streams.device_stream(slot) == device {",
        StreamCalls,
    ),
    mutant(
        "one stream's failure keeps a request from memory of the others",
        ALLOCATE,
        "let synchronized = self.synchronize_all();\n            if let Some(served)",
        "let synchronized = self.synchronize_all();\n            if synchronized.is_ok()\n                && let Some(served)",
        StreamCalls,
    ),
    // Waits.
    mutant(
        "a wait is noted and not made",
        WAITS,
        "order.wait_event(device, batch.event)?;",
        "let _ = device;",
        StreamOrder,
    ),
    mutant(
        "a wait that failed is taken for one that was made",
        WAITS,
        "order.wait_event(device, batch.event)?;",
        "drop(order.wait_event(device, batch.event));",
        StreamOrder,
    ),
    mutant(
        "who waits for a stream that has ended waits for any of its events",
        STREAMS,
        "batches.partition_point(|batch| batch.epoch < stamp.epoch())",
        "batches.partition_point(|batch| batch.epoch < stamp.epoch().min(1))",
        StreamCalls,
    ),
    mutant(
        "who waits for all does not wait for the event that is being asked about",
        WAITS,
        "None if !state.heap.streams.has_batches() => return None,",
        "_ if !state.heap.streams.has_batches() => return None,",
        StreamCalls,
    ),
    mutant(
        "the wrong stream is made to wait",
        WAITS,
        "let device = state.heap.streams.device_stream(waiter);",
        "let device = state.heap.streams.device_stream(slot);",
        StreamOrder,
    ),
    mutant(
        "only the first of several streams is waited for",
        WAITS,
        "for stamp in in_order {",
        "for stamp in in_order.into_iter().take(1) {",
        StreamActions,
    ),
    mutant(
        "a wait is made again though an earlier one covers it",
        WAITS,
        "if state.heap.streams.is_ordered(stamp, Some(waiter)) {",
        "if state.heap.streams.is_done(stamp) {",
        StreamWaits,
    ),
    mutant(
        "no wait is made for what is pending",
        ALLOCATE,
        "match self.insert_waits(stream, &taken.pending) {",
        "match self.insert_waits(stream, &Stamps::default()) {",
        StreamOrder,
    ),
    mutant(
        "a block whose wait failed forgets what is pending on it",
        ALLOCATE,
        "std::mem::take(&mut self.pending)",
        "Stamps::default()",
        StreamOrder,
    ),
    mutant(
        "a block whose wait failed stays taken",
        ALLOCATE,
        "if let Some(block) = self.block.take() {",
        "if let Some(block) = self.block.take().filter(|_| false) {",
        StreamOrder,
    ),
    mutant(
        "a block whose wait failed leaves a gap in the events",
        ALLOCATE,
        "let OrderedBlock { block, pending } =",
        "state.next_sequence();\n    let OrderedBlock { block, pending } =",
        StreamCalls,
    ),
    mutant(
        "what the other stream had waited for is not inherited",
        STREAMS,
        "*own = (*own).max(theirs);",
        "let _ = (own, theirs);",
        StreamWaits,
    ),
    // Ends of streams, and their slots.
    mutant(
        "a stream whose last event could not be recorded stays half ended",
        POOL_STREAMS,
        "state.heap.streams.reopen(self.slot);",
        "",
        StreamCalls,
    ),
    mutant(
        "a stream that ends counts as done",
        POOL_STREAMS,
        "(slot, streams.device_stream(slot), streams.end(slot), streams.waited_by(slot))",
        "{\n                let last = streams.end(slot);\n                streams.set_done(slot, last);\n                (slot, streams.device_stream(slot), last, streams.waited_by(slot))\n            }",
        StreamOrder,
    ),
    mutant(
        "a free on a stream that has ended misses its last epoch",
        STREAMS,
        "Life::Ended => Some(Stamp::new(id.slot, entry.epoch - 1)),",
        "Life::Ended => Some(Stamp::new(id.slot, entry.epoch - 2)),",
        Core,
    ),
    mutant(
        "a free without a stream forgets streams that have ended",
        STREAMS,
        "Life::Ended => Some(Stamp::new(slot, entry.epoch - 1)),",
        "Life::Ended => None,",
        Core,
    ),
    mutant(
        "a slot begins anew with the first epoch",
        STREAMS,
        "(entry.id, entry.device, entry.state) = (id, device, Life::Open);",
        "(entry.id, entry.device, entry.state, entry.epoch) = (id, device, Life::Open, 1);",
        StreamActions,
    ),
    mutant(
        "the name of a stream that has ended works for the next in its slot",
        STREAMS,
        "(entry.id == id && entry.state == Life::Open).then_some(id.slot)",
        "(entry.state == Life::Open).then_some(id.slot)",
        StreamCalls,
    ),
    mutant(
        "a slot is given on while work of its stream is pending",
        STREAMS,
        "entry.state == Life::Ended && entry.done + 1 >= entry.epoch && entry.batches.is_empty()",
        "entry.state == Life::Ended && entry.batches.is_empty()",
        Core,
    ),
    mutant(
        "what is done becomes pending again",
        STREAMS,
        "entry.done = entry.done.max(epoch);",
        "entry.done = epoch;",
        Core,
    ),
    mutant(
        "of two stamps of a stream the later one is lost",
        STAMP,
        "Some(own) => *own = (*own).max(stamp),",
        "Some(own) => *own = (*own).min(stamp),",
        Core,
    ),
    // Memory that waits.
    mutant(
        "an object with an old stamp hides those below it on its stack",
        HELD,
        "if stack.back().is_none_or(|&(_, epoch)| epoch <= stamp.epoch()) {",
        "if stack.back().is_none_or(|&(_, epoch)| epoch <= epoch.max(stamp.epoch())) {",
        Core,
    ),
    mutant(
        "a stream is made to wait for itself",
        HELD,
        ".filter(|&(other, _)| other != slot);",
        ".filter(|&(other, _)| other != slot || other == slot);",
        Core,
    ),
    mutant(
        "of another stream the object with the latest stamp is taken, not that with the oldest",
        HELD,
        "stacks[class].pop_front()?",
        "stacks[class].pop_back()?",
        Core,
    ),
    mutant(
        "the rest of a slab of pending pages is everybody's",
        ORDERED,
        "if !pending.is_empty() {",
        "if pending.iter().count() > 4096 {",
        StreamActions,
    ),
    mutant(
        "held objects are everybody's at once",
        HELD,
        "&& streams.is_done(Stamp::new(slot, epoch))",
        "&& (streams.is_done(Stamp::new(slot, epoch)) || true)",
        StreamActions,
    ),
    mutant(
        "objects of several streams are everybody's at once",
        HELD,
        "let done = passed.len() < most && streams.are_ordered(stamps, None);",
        "let done = passed.len() < most;",
        StreamActions,
    ),
    mutant(
        "an object of another stream comes without what is pending on it",
        HELD,
        "Some((object, Stamp::new(other, epoch)))",
        "Some((object, Stamp::new(other, epoch * 0)))",
        StreamOrder,
    ),
    mutant(
        "an object that is held can be freed again",
        SLABS,
        "let slack = std::mem::replace(place, NOT_LIVE);",
        "let slack = *place;",
        StreamOrder,
    ),
    mutant(
        "a slab goes while objects of it are held",
        SLABS,
        "slab.out += rest.len() as u8;",
        "slab.out += 0;",
        StreamActions,
    ),
    mutant(
        "a run that is joined loses its stamps",
        PAGE_HEAP,
        "self.free_runs.move_stamps(absorbed, number);",
        "",
        StreamActions,
    ),
    mutant(
        "a run that is split by an aligned block loses its stamps",
        PAGE_HEAP,
        "self.free_runs.stamps_mut(rest).join(&stamps);",
        "",
        StreamActions,
    ),
    mutant(
        "joining anew drops stamps that are not done",
        PAGE_HEAP,
        "stamps.retain(|stamp| !streams.is_done(stamp));",
        "stamps.retain(|_| false);",
        StreamOrder,
    ),
    mutant(
        "near the limit memory is lost between streams",
        ALLOCATE,
        "state.heap.gather();",
        "",
        StreamJoins,
    ),
    mutant(
        "streams do not keep their memory apart again when there is plenty",
        ORDERED,
        "self.joining = Joining::SameStreams;",
        "",
        StreamJoins,
    ),
    mutant(
        "one stream's free makes everybody wait for the neutral memory beside it",
        PAGE_HEAP,
        "let fits = joining == Joining::All || {",
        "let fits = joining == Joining::All || joining == Joining::SameStreams || {",
        StreamOrder,
    ),
    mutant(
        "objects of a stream that ended with its work done stay held",
        POOL_STREAMS,
        "streams.set_done(slot, last);\n        settle(&mut state);",
        "streams.set_done(slot, last);",
        StreamJoins,
    ),
    // Arenas and the end.
    mutant(
        "the quota is passed while several threads grow the pool",
        ALLOCATE,
        "state.reserved.checked_add(bytes).filter(|sum| *sum <= self.limit())?;",
        "state.reserved.checked_add(bytes)?;",
        StreamBugLog,
    ),
    mutant(
        "trim does not wait for streams",
        TRIM,
        "let synchronized = self.inner.synchronize_all();",
        "let synchronized: Result<(), DeviceError> = Ok(());",
        StreamOrder,
    ),
    mutant(
        "an arena goes back while work may touch it",
        PAGE_HEAP,
        "run.pages == pages && self.free_runs.stamps(number).is_none_or(passed)",
        "run.pages == pages && (self.free_runs.stamps(number).is_none_or(passed) || true)",
        StreamOrder,
    ),
    mutant(
        "a pool that ends does not wait for streams",
        POOL,
        "if self.state.get_mut().heap.streams.any()\n",
        "if self.state.get_mut().heap.streams.any() && false\n",
        StreamOrder,
    ),
];
