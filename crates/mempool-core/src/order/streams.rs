//! The table of streams: what each has been given, what of it is done, and who was made to wait for whom.
//!
//! Invariants
//! * O1: work of a stream before a free that is stamped with epoch e is over once `done >= e`.
//! * O2: work that a stream is given from now on comes after work of another before a free that is stamped with e, if
//!   `waited[other] >= e`.
//! * O3: an event of epoch e was recorded after epoch e was closed, so that it covers every free of e and of those before.
//! * O4: epochs of a slot only rise, also over the streams that have it one after the other. So what was stamped, or waited for, of
//!   an earlier stream stays right for the later one.

use std::collections::VecDeque;
use std::fmt;

use super::stamp::{Slot, Stamp, Stamps};
use crate::device::{DeviceEvent, DeviceStream};
use crate::event::PoolId;

/// A stream of a pool. Never used again for another stream, whatever the driver does with its handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    pool: PoolId,
    /// Rises by 1 with every stream of the pool.
    number: u64,
    slot: Slot,
}

impl StreamId {
    /// The pool that knows the stream.
    pub const fn pool(self) -> PoolId {
        self.pool
    }

    /// Counts the streams of the pool from 1.
    pub const fn number(self) -> u64 {
        self.number
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {}", self.number)
    }
}

/// All that a stream had been given when the mark was made: to tell the pool later that it is done, or that another stream waits
/// for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a mark does nothing until it is given back to the pool"]
pub struct StreamMark {
    pub(super) stream: StreamId,
    pub(super) epoch: u64,
}

impl StreamMark {
    /// The stream that was marked.
    pub const fn stream(self) -> StreamId {
        self.stream
    }
}

/// An event that covers all epochs of a stream up to one.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) slot: Slot,
    pub(crate) epoch: u64,
    pub(crate) event: DeviceEvent,
    /// What the stream had waited for when the event was recorded; done when the event is.
    pub(crate) waited: Vec<u64>,
}

#[derive(Debug)]
struct Entry {
    id: StreamId,
    device: DeviceStream,
    state: Life,
    /// The open epoch, with which frees are stamped.
    epoch: u64,
    /// Frees in the open epoch.
    frees: u32,
    /// All epochs up to this one are done.
    done: u64,
    /// By slot: the epoch of that stream for which this one waits.
    waited: Vec<u64>,
    /// Recorded and not known to be done, in the order of their epochs.
    batches: VecDeque<Batch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Open,
    /// Takes no more work.
    Ended,
    /// Belongs to no stream.
    Vacant,
}

/// The streams of a pool.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    entries: Vec<Entry>,
    last_number: u64,
    open: usize,
}

impl Streams {
    /// Most streams at one time.
    pub(crate) const MAX: usize = Slot::MAX as usize;

    /// Whether there ever was one.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Streams that take work.
    pub(crate) fn open_count(&self) -> usize {
        self.open
    }

    /// Takes a stream in; `None` when there are too many.
    pub(crate) fn add(&mut self, pool: PoolId, device: DeviceStream) -> Option<StreamId> {
        let vacant = self.entries.iter().position(|entry| entry.state == Life::Vacant);
        let slot =
            Slot::try_from(vacant.unwrap_or(self.entries.len())).ok().filter(|&slot| slot < Slot::MAX)?;
        self.last_number += 1;
        let id = StreamId { pool, number: self.last_number, slot };
        self.open += 1;
        if let Some(entry) = self.entries.get_mut(usize::from(slot)) {
            // What the former stream had waited for is over with its own work, so O2 holds for this one too.
            (entry.id, entry.device, entry.state) = (id, device, Life::Open);
        } else {
            self.entries.push(Entry {
                id,
                device,
                state: Life::Open,
                epoch: 1,
                frees: 0,
                done: 0,
                waited: Vec::new(),
                batches: VecDeque::new(),
            });
        }
        Some(id)
    }

    fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[usize::from(slot)]
    }

    fn entry_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.entries[usize::from(slot)]
    }

    /// The slot of a stream that takes work.
    #[inline]
    pub(crate) fn slot_of(&self, id: StreamId) -> Option<Slot> {
        let entry = self.entries.get(usize::from(id.slot))?;
        (entry.id == id && entry.state == Life::Open).then_some(id.slot)
    }

    /// Whether this table gave the name out, to a stream that may have ended.
    pub(crate) fn knows(&self, id: StreamId) -> bool {
        self.entries.first().is_some_and(|entry| entry.id.pool == id.pool) && id.number <= self.last_number
    }

    pub(crate) fn device_stream(&self, slot: Slot) -> DeviceStream {
        self.entry(slot).device
    }

    /// All streams that take work.
    pub(crate) fn open_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.state == Life::Open).map(|(slot, _)| slot)
    }

    /// The stamp of a free on a stream now; `None` when the stream has ended and all its work is known to be done.
    #[inline]
    pub(crate) fn stamp(&mut self, id: StreamId) -> Option<Stamp> {
        let entry = self.entries.get_mut(usize::from(id.slot)).filter(|entry| entry.id == id)?;
        match entry.state {
            Life::Open => {
                entry.frees += 1;
                Some(Stamp::new(id.slot, entry.epoch))
            }
            // The last epoch was closed with the stream; what it was given before is all there is.
            Life::Ended => Some(Stamp::new(id.slot, entry.epoch - 1)),
            Life::Vacant => None,
        }
    }

    /// The stamps of a free that may come after work of any stream.
    pub(crate) fn stamps_of_all(&self) -> Stamps {
        let of = |(slot, entry): (Slot, &Entry)| match entry.state {
            Life::Open => Some(Stamp::new(slot, entry.epoch)),
            Life::Ended => Some(Stamp::new(slot, entry.epoch - 1)),
            Life::Vacant => None,
        };
        (0..).zip(&self.entries).filter_map(of).collect()
    }

    /// The stamp that covers all that a stream has been given so far.
    pub(crate) fn stamp_of_slot(&self, slot: Slot) -> Stamp {
        Stamp::new(slot, self.entry(slot).epoch)
    }

    /// Frees in the open epoch.
    #[inline]
    pub(crate) fn frees_in_epoch(&self, slot: Slot) -> u32 {
        self.entry(slot).frees
    }

    /// Whether everybody may use memory with this stamp.
    #[inline]
    pub(crate) fn is_done(&self, stamp: Stamp) -> bool {
        stamp.epoch() <= self.entry(stamp.slot()).done
    }

    /// Whether work that is given to `stream` from now on comes after what the stamp stands for; `None` is the host.
    #[inline]
    pub(crate) fn is_ordered(&self, stamp: Stamp, stream: Option<Slot>) -> bool {
        if self.is_done(stamp) {
            return true;
        }
        let Some(slot) = stream else { return false };
        let waited = |entry: &Entry| entry.waited.get(usize::from(stamp.slot())).copied().unwrap_or(0);
        slot == stamp.slot() || stamp.epoch() <= waited(self.entry(slot))
    }

    /// Whether that holds for all of them.
    #[inline]
    pub(crate) fn are_ordered(&self, stamps: &Stamps, stream: Option<Slot>) -> bool {
        stamps.iter().all(|stamp| self.is_ordered(stamp, stream))
    }

    /// The stamps in the order in which to wait for them: first those whose streams have waited for most of the others, which need no wait
    /// of their own then.
    pub(crate) fn in_order_of_waits(&self, stamps: &Stamps) -> Vec<Stamp> {
        let mut all: Vec<Stamp> = stamps.iter().collect();
        let brings = |stamp: &Stamp| {
            let others = stamps.iter().filter(|other| other.slot() != stamp.slot());
            others.filter(|&other| self.is_ordered(other, Some(stamp.slot()))).count()
        };
        all.sort_by_cached_key(|stamp| std::cmp::Reverse(brings(stamp)));
        all
    }

    /// Closes the open epoch of a stream and says which it was.
    pub(crate) fn close_epoch(&mut self, slot: Slot) -> u64 {
        let entry = self.entry_mut(slot);
        let closed = entry.epoch;
        entry.epoch += 1;
        entry.frees = 0;
        closed
    }

    /// Marks all that a stream has been given so far.
    pub(crate) fn mark(&mut self, id: StreamId) -> Option<StreamMark> {
        let slot = self.slot_of(id)?;
        Some(StreamMark { stream: id, epoch: self.close_epoch(slot) })
    }

    /// What a stream has waited for, by slot: to be taken before an event is recorded.
    pub(crate) fn waited_by(&self, slot: Slot) -> Vec<u64> {
        self.entry(slot).waited.clone()
    }

    /// Takes note of a recorded event, or puts one back that was taken out and is not done.
    pub(crate) fn put_batch(&mut self, batch: Batch) {
        let batches = &mut self.entry_mut(batch.slot).batches;
        // Threads may come back from the device in another order than that in which they closed their epochs.
        let place = batches.partition_point(|other| other.epoch < batch.epoch);
        batches.insert(place, batch);
    }

    /// Takes the oldest batch of a stream out, to ask the device about it.
    pub(crate) fn pop_batch(&mut self, slot: Slot) -> Option<Batch> {
        self.entries.get_mut(usize::from(slot))?.batches.pop_front()
    }

    /// Takes the first event that covers a stamp out, to make others wait for it. `None` also while another thread has it in hand.
    pub(crate) fn take_batch_covering(&mut self, stamp: Stamp) -> Option<Batch> {
        let batches = &mut self.entry_mut(stamp.slot()).batches;
        let place = batches.partition_point(|batch| batch.epoch < stamp.epoch());
        batches.remove(place)
    }

    /// Whether the slot's stream takes work.
    pub(crate) fn is_open(&self, slot: Slot) -> bool {
        self.entry(slot).state == Life::Open
    }

    /// Number of slots, those of no stream included.
    pub(crate) fn slots(&self) -> Slot {
        Slot::try_from(self.entries.len()).unwrap_or(Slot::MAX)
    }

    /// Whether any event is recorded and not known to be done.
    pub(crate) fn has_batches(&self) -> bool {
        self.entries.iter().any(|entry| !entry.batches.is_empty())
    }

    /// Takes note that the work of a stream up to an epoch is over.
    pub(crate) fn set_done(&mut self, slot: Slot, epoch: u64) {
        let entry = self.entry_mut(slot);
        entry.done = entry.done.max(epoch);
        if entry.state == Life::Ended && entry.done + 1 >= entry.epoch && entry.batches.is_empty() {
            entry.state = Life::Vacant;
        }
    }

    /// Takes note that the event of a batch has passed, and with it all that its stream had waited for.
    pub(crate) fn complete(&mut self, batch: &Batch) {
        for (slot, &epoch) in (0..).zip(&batch.waited) {
            if epoch > 0 {
                self.set_done(slot, epoch);
            }
        }
        self.set_done(batch.slot, batch.epoch);
    }

    /// Takes note that `waiter` waits for all of `slot` up to `epoch`, and so for what that one had waited for, which is `inherited`.
    pub(crate) fn note_wait(&mut self, waiter: Slot, slot: Slot, epoch: u64, inherited: &[u64]) {
        let own = &mut self.entry_mut(waiter).waited;
        let length = inherited.len().max(usize::from(slot) + 1);
        if own.len() < length {
            own.resize(length, 0);
        }
        for (own, &theirs) in own.iter_mut().zip(inherited) {
            *own = (*own).max(theirs);
        }
        let direct = &mut own[usize::from(slot)];
        *direct = (*direct).max(epoch);
    }

    /// Takes note that all up to a mark is over.
    pub(crate) fn mark_done(&mut self, mark: StreamMark) {
        // The slot may belong to a later stream by now, whose epochs are higher (O4).
        if self.knows(mark.stream) {
            self.set_done(mark.stream.slot, mark.epoch);
        }
    }

    /// Takes note that `waiter` was made to wait for a mark.
    pub(crate) fn mark_waited(&mut self, waiter: Slot, mark: StreamMark) {
        if self.knows(mark.stream) {
            self.note_wait(waiter, mark.stream.slot, mark.epoch, &[]);
        }
    }

    /// Ends a stream: it takes no more work. Answers its last epoch.
    pub(crate) fn end(&mut self, slot: Slot) -> u64 {
        self.open -= 1;
        self.entry_mut(slot).state = Life::Ended;
        self.close_epoch(slot)
    }

    /// Undoes [`Streams::end`]: no event could be recorded.
    pub(crate) fn reopen(&mut self, slot: Slot) {
        self.open += 1;
        self.entry_mut(slot).state = Life::Open;
    }
}
