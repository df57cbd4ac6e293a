//! The table of streams against a naive model that keeps, for each stream, the set of all work that its next work comes after.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::device::{DeviceEvent, DeviceStream};
use crate::event::PoolId;

/// The n-th work of a stream; streams are numbered over the whole run.
type Work = (usize, u64);

const POOL: PoolId = PoolId(7);

/// A stream of the run.
struct Known {
    id: StreamId,
    slot: Slot,
    is_open: bool,
    /// How much work it was given.
    given: u64,
    /// Work of others that comes before what it is given next.
    before: BTreeSet<Work>,
}

/// Memory that was freed, and the work that must be over, or come before, to use it again.
struct Freed {
    stamps: Stamps,
    work: BTreeSet<Work>,
    /// Whether the table must say so as soon as it is true; else it may say so later.
    is_exact: bool,
}

/// Which calls a run makes.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    /// Only those that the pool makes by itself: for them the table knows all that there is to know.
    OfThePool,
    /// What the caller tells, too. Of that the table takes note of less than follows from it.
    OfTheCallerToo,
}

struct Run {
    table: Streams,
    random: fastrand::Rng,
    streams: Vec<Known>,
    freed: Vec<Freed>,
    /// All work that is over.
    done: BTreeSet<Work>,
    /// By event: what is over when it has passed.
    covers: BTreeMap<u64, BTreeSet<Work>>,
    /// Recorded, or taken out, and not in the table.
    in_hand: Vec<Batch>,
    marks: Vec<(StreamMark, BTreeSet<Work>)>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut run = Self {
            table: Streams::default(),
            random: fastrand::Rng::with_seed(seed),
            streams: Vec::new(),
            freed: Vec::new(),
            done: BTreeSet::new(),
            covers: BTreeMap::new(),
            in_hand: Vec::new(),
            marks: Vec::new(),
        };
        run.add();
        run.add();
        run
    }

    fn add(&mut self) {
        let number = self.streams.len();
        let id = self.table.add(POOL, DeviceStream::new(number as u64)).expect("there is room");
        let slot = self.table.slot_of(id).expect("it takes work");
        let is_free = self.streams.iter().all(|known| !known.is_open || known.slot != slot);
        assert!(is_free, "{id} got the slot of a stream that takes work");
        self.streams.push(Known { id, slot, is_open: true, given: 0, before: BTreeSet::new() });
    }

    fn any_open(&mut self) -> Option<usize> {
        let open: Vec<usize> =
            (0..self.streams.len()).filter(|&stream| self.streams[stream].is_open).collect();
        (!open.is_empty()).then(|| open[self.random.usize(..open.len())])
    }

    /// What is over when all that a stream was given is.
    fn covered(&self, stream: usize) -> BTreeSet<Work> {
        let known = &self.streams[stream];
        (1..=known.given).map(|work| (stream, work)).chain(known.before.iter().copied()).collect()
    }

    fn last_work(&self, stream: usize) -> Option<Work> {
        let given = self.streams[stream].given;
        (given > 0).then_some((stream, given))
    }

    /// Frees memory on a stream, with work of its own if it takes any.
    fn free(&mut self, stream: usize) {
        let known = &mut self.streams[stream];
        known.given += u64::from(known.is_open);
        let (id, is_exact) = (known.id, known.is_open);
        let work: BTreeSet<Work> = self.last_work(stream).into_iter().collect();
        match self.table.stamp(id) {
            Some(stamp) => self.freed.push(Freed { stamps: stamp.into(), work, is_exact }),
            None => assert!(work.is_subset(&self.done), "{id} has no stamp, but work that is not over"),
        }
    }

    /// Frees memory that any stream may have used.
    fn free_for_all(&mut self) {
        let work = (0..self.streams.len()).filter_map(|stream| self.last_work(stream)).collect();
        self.freed.push(Freed { stamps: self.table.stamps_of_all(), work, is_exact: false });
    }

    fn event(&mut self, stream: usize, epoch: u64) -> Batch {
        let slot = self.streams[stream].slot;
        let event = self.covers.len() as u64;
        self.covers.insert(event, self.covered(stream));
        Batch { slot, epoch, event: DeviceEvent::new(event), waited: self.table.waited_by(slot) }
    }

    fn record(&mut self, stream: usize) -> Batch {
        let epoch = self.table.close_epoch(self.streams[stream].slot);
        self.event(stream, epoch)
    }

    /// Puts an event into the table, now or later.
    fn put(&mut self, batch: Batch) {
        if self.random.u8(..3) == 0 {
            self.in_hand.push(batch);
        } else {
            self.table.put_batch(batch);
        }
    }

    fn end(&mut self, stream: usize) {
        let epoch = self.table.end(self.streams[stream].slot);
        self.streams[stream].is_open = false;
        let batch = self.event(stream, epoch);
        self.put(batch);
    }

    fn end_synchronized(&mut self, stream: usize) {
        let covered = self.covered(stream);
        self.done.extend(covered);
        let slot = self.streams[stream].slot;
        let last = self.table.end(slot);
        self.table.set_done(slot, last);
        self.streams[stream].is_open = false;
    }

    /// Makes a stream wait for all that is pending on some memory, as the pool does.
    fn wait(&mut self, waiter: usize) {
        if self.freed.is_empty() {
            return;
        }
        let stamps = self.freed[self.random.usize(..self.freed.len())].stamps.clone();
        let slot = self.streams[waiter].slot;
        for stamp in stamps.iter() {
            if self.table.is_ordered(stamp, Some(slot)) {
                continue;
            }
            let batch = if self.table.is_open(stamp.slot()) {
                let other = self.streams.iter().rposition(|known| known.slot == stamp.slot());
                self.record(other.expect("the slot is a stream's"))
            } else {
                // Another one may have it in hand.
                let Some(batch) = self.table.take_batch_covering(stamp) else { return };
                batch
            };
            self.streams[waiter].before.extend(&self.covers[&batch.event.get()]);
            self.table.note_wait(slot, batch.slot, batch.epoch, &batch.waited);
            self.put(batch);
        }
        assert!(self.table.are_ordered(&stamps, Some(slot)), "waited for all of {stamps:?}");
    }

    /// Lets an event pass.
    fn pass(&mut self, batch: &Batch) {
        self.done.extend(&self.covers[&batch.event.get()]);
        self.table.complete(batch);
    }

    fn ask(&mut self) {
        let slot = self.random.u16(..self.table.slots());
        let Some(batch) = self.table.pop_batch(slot) else { return };
        if self.random.bool() {
            self.pass(&batch);
        } else {
            self.put(batch);
        }
    }

    fn step(&mut self, calls: Calls) {
        if let Some(stream) = self.any_open() {
            match self.random.u8(..100) {
                0..30 => self.free(stream),
                30..34 => self.free_for_all(),
                34..46 => {
                    let batch = self.record(stream);
                    self.put(batch);
                }
                46..60 => self.wait(stream),
                60..64 => self.end(stream),
                64..67 if calls == Calls::OfTheCallerToo => self.end_synchronized(stream),
                67..71 if calls == Calls::OfTheCallerToo => {
                    let covered = self.covered(stream);
                    let mark = self.table.mark(self.streams[stream].id).expect("it takes work");
                    self.marks.push((mark, covered));
                }
                71..77 if calls == Calls::OfTheCallerToo && !self.marks.is_empty() => {
                    let (mark, covered) = self.marks[self.random.usize(..self.marks.len())].clone();
                    if self.random.bool() {
                        self.done.extend(covered);
                        self.table.mark_done(mark);
                    } else {
                        self.streams[stream].before.extend(covered);
                        self.table.mark_waited(self.streams[stream].slot, mark);
                    }
                }
                77..80 => {
                    let any = self.random.usize(..self.streams.len());
                    self.free(any);
                }
                80..90 => self.ask(),
                90..95 if !self.in_hand.is_empty() => {
                    let batch = self.in_hand.swap_remove(self.random.usize(..self.in_hand.len()));
                    self.table.put_batch(batch);
                }
                _ => {}
            }
        }
        if self.table.open_count() < 6 && self.random.u8(..12) == 0 {
            self.add();
        }
    }

    /// Everything the table says is true, and of what is exact it says everything.
    fn check(&self, calls: Calls) {
        for known in &self.streams {
            assert_eq!(
                self.table.slot_of(known.id),
                Some(known.slot).filter(|_| known.is_open),
                "{}",
                known.id
            );
            assert!(self.table.knows(known.id));
        }
        for Freed { stamps, work, is_exact } in self.freed.iter().rev().take(40) {
            let is_over = work.is_subset(&self.done);
            let said = self.table.are_ordered(stamps, None);
            assert!(is_over || !said, "the host may use {stamps:?} before {work:?} is over");
            let is_exact = *is_exact && calls == Calls::OfThePool;
            assert!(said || !(is_over && is_exact), "the host may not use {stamps:?}, but {work:?} is over");
            for (stream, known) in self.streams.iter().enumerate().filter(|(_, known)| known.is_open) {
                let is_before =
                    |work: &Work| work.0 == stream || self.done.contains(work) || known.before.contains(work);
                let is_ordered = work.iter().all(is_before);
                let said = self.table.are_ordered(stamps, Some(known.slot));
                assert!(
                    is_ordered || !said,
                    "{} may use {stamps:?}, but does not come after {work:?}",
                    known.id
                );
                assert!(said || !(is_ordered && is_exact), "{} comes after {work:?} of {stamps:?}", known.id);
            }
        }
    }

    /// Ends all streams and lets all events pass: nothing is pending, and every slot may be used again.
    fn finish(mut self) {
        while let Some(stream) = self.any_open() {
            self.end(stream);
        }
        for batch in std::mem::take(&mut self.in_hand) {
            self.table.put_batch(batch);
        }
        let slots = self.table.slots();
        for slot in 0..slots {
            while let Some(batch) = self.table.pop_batch(slot) {
                self.pass(&batch);
            }
        }
        assert!(!self.table.has_batches());
        assert!(self.freed.iter().all(|freed| self.table.are_ordered(&freed.stamps, None)));
        (0..slots).for_each(|_| self.add());
        assert_eq!(self.table.slots(), slots, "every slot was vacant");
    }
}

#[test]
fn what_the_table_says_of_order_follows_from_the_events_and_waits_there_were() {
    for calls in [Calls::OfThePool, Calls::OfTheCallerToo] {
        for seed in 0..150 {
            let mut run = Run::new(seed);
            for _ in 0..150 {
                run.step(calls);
                run.check(calls);
            }
            run.finish();
        }
    }
}

#[test]
fn a_slot_is_not_given_on_while_the_last_event_of_its_stream_is_on_its_way() {
    let mut table = Streams::default();
    let id = table.add(POOL, DeviceStream::new(1)).unwrap();
    let slot = table.slot_of(id).unwrap();
    let mark = table.mark(id).unwrap();
    let last = table.end(slot);
    table.mark_done(mark);
    let next = table.add(POOL, DeviceStream::new(2)).unwrap();
    assert_ne!(table.slot_of(next), Some(slot), "its last work is pending");
    table.set_done(slot, last);
    let third = table.add(POOL, DeviceStream::new(3)).unwrap();
    assert_eq!(table.slot_of(third), Some(slot));
    assert_eq!(table.slot_of(id), None, "a name is never used again");
}

#[test]
fn names_of_other_pools_are_unknown() {
    let (mut table, mut other) = (Streams::default(), Streams::default());
    let own = table.add(POOL, DeviceStream::new(0)).unwrap();
    let foreign = other.add(PoolId(8), DeviceStream::new(0)).unwrap();
    assert!(!table.knows(foreign) && table.slot_of(foreign).is_none() && table.stamp(foreign).is_none());
    assert!(table.knows(own) && table.slot_of(own).is_some());
}
