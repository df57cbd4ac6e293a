//! Small objects that were freed in the order of a stream and that not everybody may use yet.
//!
//! Each stream has a stack of them for each size class: it takes its own back at once, last in first out. When the work before their
//! free is over, they go back to their slabs, oldest first. Unlike runs, objects have no stamps of their own beside the memory,
//! which would cost more than the smallest of them are worth.
//!
//! Invariants
//! * H1: an object here is neither live, nor free in its slab, nor in a magazine; its slab counts it as out.
//! * H2: epochs on a stack do not fall from the oldest to the latest.

use std::collections::VecDeque;

use super::slabs::ObjectId;
use crate::order::{Slot, Stamp, Stamps, Streams};
use crate::size_class::CLASS_COUNT;

/// Objects of one class and stream with the epochs of their frees, oldest first.
type Stack = VecDeque<(ObjectId, u64)>;

#[derive(Debug, Default)]
pub(super) struct HeldObjects {
    /// By slot, then by class.
    stacks: Vec<[Stack; CLASS_COUNT]>,
    /// Objects that several streams may touch.
    shared: Vec<(ObjectId, Stamps)>,
    count: usize,
}

impl HeldObjects {
    /// Holds an object of `class` that was freed in the order of one stream.
    pub(super) fn push(&mut self, class: usize, object: ObjectId, stamp: Stamp) {
        let slot = usize::from(stamp.slot());
        if self.stacks.len() <= slot {
            self.stacks.resize_with(slot + 1, || std::array::from_fn(|_| Stack::new()));
        }
        let stack = &mut self.stacks[slot][class];
        if stack.back().is_none_or(|&(_, epoch)| epoch <= stamp.epoch()) {
            stack.push_back((object, stamp.epoch()));
            self.count += 1;
        } else {
            // One that was taken and comes back unused, with its former stamp.
            self.push_shared(object, stamp.into());
        }
    }

    /// Holds an object that several streams may touch.
    pub(super) fn push_shared(&mut self, object: ObjectId, stamps: Stamps) {
        self.shared.push((object, stamps));
        self.count += 1;
    }

    /// Takes the object that the stream freed last.
    #[inline]
    pub(super) fn pop_latest(&mut self, slot: Slot, class: usize) -> Option<ObjectId> {
        let (object, _) = self.stacks.get_mut(usize::from(slot))?[class].pop_back()?;
        self.count -= 1;
        Some(object)
    }

    /// Takes the oldest object of another stream, and says after which work it may be used.
    pub(super) fn pop_oldest_of_others(&mut self, slot: Slot, class: usize) -> Option<(ObjectId, Stamp)> {
        let mut others = (0..).zip(&mut self.stacks).filter(|&(other, _)| other != slot);
        let (other, (object, epoch)) =
            others.find_map(|(other, stacks)| Some((other, stacks[class].pop_front()?)))?;
        self.count -= 1;
        Some((object, Stamp::new(other, epoch)))
    }

    /// Takes up to `most` objects out that everybody may use now.
    pub(super) fn take_passed(&mut self, streams: &Streams, most: usize) -> Vec<ObjectId> {
        let mut passed = Vec::new();
        if self.count == 0 {
            return passed;
        }
        for (slot, stacks) in (0..).zip(&mut self.stacks) {
            for stack in stacks.iter_mut() {
                while passed.len() < most
                    && let Some(&(object, epoch)) = stack.front()
                    && streams.is_done(Stamp::new(slot, epoch))
                {
                    stack.pop_front();
                    passed.push(object);
                }
            }
        }
        self.shared.retain(|(object, stamps)| {
            let done = passed.len() < most && streams.are_ordered(stamps, None);
            if done {
                passed.push(*object);
            }
            !done
        });
        self.count -= passed.len();
        passed
    }

    /// All objects, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let stacked =
            self.stacks.iter().flat_map(|stacks| stacks.iter().flatten()).map(|&(object, _)| object);
        stacked.chain(self.shared.iter().map(|&(object, _)| object))
    }

    /// Bytes of host memory behind it.
    pub(super) fn metadata_bytes(&self) -> usize {
        let stacks = self.stacks.iter().flat_map(|stacks| stacks.iter()).map(Stack::capacity).sum::<usize>();
        self.stacks.len() * size_of::<[Stack; CLASS_COUNT]>()
            + stacks * size_of::<(ObjectId, u64)>()
            + self.shared.capacity() * size_of::<(ObjectId, Stamps)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceStream;
    use crate::event::PoolId;
    use crate::order::StreamId;

    /// What was pushed, in that order.
    #[derive(Debug, Clone)]
    struct Pushed {
        object: ObjectId,
        class: usize,
        stamps: Stamps,
        /// Whether it went onto the stack of its stream.
        is_stacked: bool,
    }

    impl Pushed {
        /// The stamp, if it is on the stack of `class` for `slot`.
        fn on_stack(&self, slot: Slot, class: usize) -> Option<Stamp> {
            let stamp = self.stamps.iter().next().filter(|stamp| stamp.slot() == slot)?;
            (self.is_stacked && self.class == class).then_some(stamp)
        }
    }

    fn stamp(streams: &mut Streams, id: StreamId) -> Stamp {
        streams.stamp(id).expect("the stream is open")
    }

    fn play(seed: u64, steps: usize) {
        const CLASSES_USED: usize = 3;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut streams = Streams::default();
        let ids = [1, 2, 3].map(|number| streams.add(PoolId(7), DeviceStream::new(number)).unwrap());
        let mut held = HeldObjects::default();
        let mut pushed: Vec<Pushed> = Vec::new();
        let mut old_stamps = Vec::new();
        for step in 0..u32::try_from(steps).unwrap() {
            let (slot, class) = (random.u16(..3), random.usize(..CLASSES_USED));
            let object = ObjectId::new(step, 0);
            match random.u8(..100) {
                0..40 => {
                    let stamp = stamp(&mut streams, ids[usize::from(slot)]);
                    old_stamps.push(stamp);
                    held.push(class, object, stamp);
                    pushed.push(Pushed { object, class, stamps: stamp.into(), is_stacked: true });
                }
                // One that was taken for another stream and comes back unused.
                40..46 if !old_stamps.is_empty() => {
                    let stamp = old_stamps[random.usize(..old_stamps.len())];
                    let latest = pushed.iter().rev().find_map(|pushed| pushed.on_stack(stamp.slot(), class));
                    let is_stacked = latest.is_none_or(|latest| latest <= stamp);
                    held.push(class, object, stamp);
                    pushed.push(Pushed { object, class, stamps: stamp.into(), is_stacked });
                }
                46..52 => {
                    let stamps: Stamps = ids.iter().take(2).map(|&id| stamp(&mut streams, id)).collect();
                    held.push_shared(object, stamps.clone());
                    pushed.push(Pushed { object, class, stamps, is_stacked: false });
                }
                52..66 => {
                    let latest = pushed.iter().rposition(|pushed| pushed.on_stack(slot, class).is_some());
                    let expected = latest.map(|index| pushed.remove(index).object);
                    assert_eq!(held.pop_latest(slot, class), expected, "the latest of the stream's own");
                }
                66..74 => {
                    let others = (0..3).filter(|&other| other != slot);
                    let oldest_of = |other| {
                        let on_stack =
                            |pushed: &Pushed| Some((pushed.object, pushed.on_stack(other, class)?));
                        pushed.iter().find_map(on_stack)
                    };
                    let oldest: Vec<_> = others.filter_map(oldest_of).collect();
                    match held.pop_oldest_of_others(slot, class) {
                        Some(taken) => {
                            assert!(oldest.contains(&taken), "{taken:?} is none of {oldest:?}");
                            pushed.retain(|pushed| pushed.object != taken.0);
                        }
                        None => assert_eq!(oldest, [], "others have objects"),
                    }
                }
                74..86 => {
                    let closed = streams.close_epoch(slot);
                    streams.set_done(slot, closed.saturating_sub(random.u64(..4)));
                }
                _ => {
                    let most = random.usize(..8);
                    let passed = |pushed: &Pushed| pushed.stamps.iter().all(|stamp| streams.is_done(stamp));
                    let all_passed: Vec<_> =
                        pushed.iter().filter(|pushed| passed(pushed)).map(|pushed| pushed.object).collect();
                    let taken = held.take_passed(&streams, most);
                    assert_eq!(taken.len(), most.min(all_passed.len()), "all that have passed, up to {most}");
                    assert!(taken.iter().all(|object| all_passed.contains(object)), "{taken:?}");
                    pushed.retain(|pushed| !taken.contains(&pushed.object));
                }
            }
            let mut there: Vec<_> = held.iter().collect();
            let mut expected: Vec<_> = pushed.iter().map(|pushed| pushed.object).collect();
            there.sort_unstable();
            expected.sort_unstable();
            assert_eq!(there, expected, "each once, in step {step} of seed {seed}");
        }
    }

    #[test]
    fn every_object_is_held_once_until_its_own_stream_takes_it_another_one_waits_or_all_have_passed_it() {
        for seed in 0..40 {
            play(seed, 400);
        }
    }
}
