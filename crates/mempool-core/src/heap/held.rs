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
