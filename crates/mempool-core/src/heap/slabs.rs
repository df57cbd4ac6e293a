//! Slabs: a few pages cut into equal objects.
//!
//! An object is live, or free in its slab (a bit of [`Slab::free`]), or in the [`Magazine`] of its class, which has those that were
//! freed last, or *held* by a stream (see [`super::held`]).
//!
//! The slabs of a class that have room form a ring through [`Slab::previous`] and [`Slab::next`]; slab number c, below the
//! number of classes, has no memory and only closes the ring of class c, which spares every "first or last?" branch.
//!
//! Invariants
//! * S1: a slab is in the ring of its class if and only if it has a free object, magazines apart.
//! * S2: every slab has a live or held object: one without goes back to the page heap at once. (Keeping the last one of a class ready spared
//!   some work and cost 1.2 % of the memory of recorded inference: an idle slab stands in the way of larger blocks.)
//! * S3: the slack of an object, [`NOT_LIVE`] unless it is live, is the authority on what may be freed.
//! * S4: an object that is not live is free in its slab, in the magazine of its class, or held, once.

#![expect(
    clippy::cast_possible_truncation,
    reason = "classes are below 256, slab numbers below 2^27, objects below 32"
)]

use super::magazine::Magazine;
use crate::size_class::{CLASS_COUNT, CLASSES, MAX_OBJECTS, RECIPROCAL_SHIFT, SizeClass, UNIT_BYTES};

/// Slabs below this number only close rings.
const FIRST_SLAB: u32 = CLASS_COUNT as u32;

/// A slab, with all that a free needs: what it would read of the class stands here again, and the slack of the objects in the same
/// pair of cache lines, for up to 16 objects in the first.
#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
pub(crate) struct Slab {
    /// Address of object 0.
    base: u64,
    /// Bit i is set while object i is free and not in the magazine.
    free: u32,
    previous: u32,
    next: u32,
    /// As [`SizeClass::reciprocal`].
    reciprocal: u32,
    /// Size of an object in [`UNIT_BYTES`].
    object_units: u16,
    class: u8,
    objects: u8,
    /// Number of objects that are live or held.
    out: u8,
    /// Bytes of each live object that nobody asked for, and [`NOT_LIVE`] for the others.
    slack: [u16; MAX_OBJECTS],
}

/// In place of the slack of an object that is not live; a slack is below 32 KiB.
const NOT_LIVE: u16 = u16::MAX;

/// Which object of which slab: slab number and object in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ObjectId(u32);

impl ObjectId {
    const OBJECT_BITS: u32 = MAX_OBJECTS.ilog2();
    const MAX_SLABS: u32 = 1 << (u32::BITS - Self::OBJECT_BITS);

    #[inline]
    pub(super) const fn new(slab: u32, object: u32) -> Self {
        Self(slab << Self::OBJECT_BITS | object)
    }

    #[inline]
    pub(super) const fn slab(self) -> u32 {
        self.0 >> Self::OBJECT_BITS
    }

    #[inline]
    const fn object(self) -> u32 {
        self.0 & (MAX_OBJECTS as u32 - 1)
    }
}

impl Slab {
    /// A slab of `class` at `base` with all objects free.
    fn new(class: usize, base: u64) -> Self {
        let layout = &CLASSES[class];
        Self {
            base,
            free: u32::MAX >> (MAX_OBJECTS as u32 - layout.objects),
            previous: class as u32,
            next: class as u32,
            reciprocal: layout.reciprocal,
            object_units: (u64::from(layout.object_bytes) / UNIT_BYTES) as u16,
            class: class as u8,
            objects: layout.objects as u8,
            out: 0,
            slack: [NOT_LIVE; MAX_OBJECTS],
        }
    }

    fn class(&self) -> &'static SizeClass {
        &CLASSES[usize::from(self.class)]
    }

    /// Size of an object in bytes.
    #[inline]
    pub(crate) fn object_bytes(&self) -> u64 {
        u64::from(self.object_units) * UNIT_BYTES
    }

    /// Pages of the slab.
    pub(crate) fn pages(&self) -> u32 {
        self.class().slab_pages
    }

    /// Address and whether it is live, object by object.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (u64, bool)> + use<> {
        let (slack, base, bytes) = (self.slack, self.base, self.object_bytes());
        let live = move |object: u8| slack[usize::from(object) % MAX_OBJECTS] != NOT_LIVE;
        (0..self.objects).map(move |object| (base + u64::from(object) * bytes, live(object)))
    }
}

/// What a free did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreedObject {
    pub(crate) object_bytes: u64,
    /// Bytes of the object that nobody had asked for.
    pub(crate) slack: u16,
    /// The slab, if this was its last live object; it is no longer known.
    pub(crate) released: Option<ReleasedSlab>,
}

/// An object that was live and is held now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldObject {
    pub(super) object: ObjectId,
    pub(crate) class: usize,
    pub(crate) object_bytes: u64,
    /// Bytes of the object that nobody had asked for.
    pub(crate) slack: u16,
}

/// The pages of a slab that is no longer known; they go back to the page heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReleasedSlab {
    pub(crate) base: u64,
    pub(crate) pages: u32,
}

/// Why an address is no live object of a slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotLive {
    /// It lies inside the object that starts at `start`.
    Interior { start: u64, object_bytes: u64, live: bool },
    /// The object is free.
    Free,
}

#[derive(Debug)]
pub(crate) struct Slabs {
    all: Vec<Slab>,
    /// Slab numbers that may be used again.
    spare: Vec<u32>,
    magazines: Box<[Magazine; CLASS_COUNT]>,
}

impl Slabs {
    pub(crate) fn new() -> Self {
        let closing = |class: usize| Slab { free: 0, ..Slab::new(class, 0) };
        Self {
            all: (0..CLASS_COUNT).map(closing).collect(),
            spare: Vec::new(),
            magazines: Box::new([Magazine::default(); CLASS_COUNT]),
        }
    }

    pub(crate) fn get(&self, number: u32) -> &Slab {
        &self.all[number as usize]
    }

    /// Slabs in use.
    pub(crate) fn len(&self) -> usize {
        self.all.len() - CLASS_COUNT - self.spare.len()
    }

    /// Takes an object of `class`, from its magazine or else from a slab that has one. `slack` is the part of it that nobody asked
    /// for.
    #[inline]
    pub(crate) fn take(&mut self, class: usize, slack: u16) -> Option<u64> {
        debug_assert!(slack < NOT_LIVE, "a slack is smaller than its object");
        let id = match self.magazines[class].pop() {
            Some(id) => id,
            None => self.take_from_ring(class)?,
        };
        let slab = &mut self.all[id.slab() as usize];
        slab.slack[id.object() as usize] = slack;
        slab.out += 1;
        Some(slab.base + u64::from(id.object()) * u64::from(CLASSES[class].object_bytes))
    }

    #[inline]
    fn take_from_ring(&mut self, class: usize) -> Option<ObjectId> {
        let number = self.all[class].next;
        let slab = &mut self.all[number as usize];
        if slab.free == 0 {
            // Only the closing slab has no room: the ring is empty.
            return None;
        }
        let object = slab.free.trailing_zeros();
        slab.free &= slab.free - 1;
        if slab.free == 0 {
            self.unlink(number);
        }
        Some(ObjectId::new(number, object))
    }

    /// The number that [`Slabs::add`] will use next; `None` when all are in use, with at least 2 TiB in slabs.
    pub(crate) fn next_number(&self) -> Option<u32> {
        let fresh = || u32::try_from(self.all.len()).ok().filter(|&number| number < ObjectId::MAX_SLABS);
        self.spare.last().copied().or_else(fresh)
    }

    /// Makes a slab of `class` out of pages that start at `base`.
    pub(crate) fn add(&mut self, class: usize, base: u64) {
        let slab = Slab::new(class, base);
        let number = if let Some(number) = self.spare.pop() {
            self.all[number as usize] = slab;
            number
        } else {
            self.all.push(slab);
            self.all.len() as u32 - 1
        };
        self.link(number);
    }

    /// Which live object of a slab `address` is.
    #[inline]
    pub(crate) fn live_object(&self, number: u32, address: u64) -> Result<u32, NotLive> {
        let slab = &self.all[number as usize];
        let offset = address - slab.base;
        let object = ((offset * u64::from(slab.reciprocal)) >> RECIPROCAL_SHIFT) as u32;
        let start = u64::from(object) * slab.object_bytes();
        let live = slab.slack[object as usize % MAX_OBJECTS] != NOT_LIVE;
        if start != offset {
            return Err(NotLive::Interior {
                start: slab.base + start,
                object_bytes: slab.object_bytes(),
                live,
            });
        }
        if live { Ok(object) } else { Err(NotLive::Free) }
    }

    /// Bytes of a live object that nobody asked for.
    pub(crate) fn slack(&self, number: u32, object: u32) -> u16 {
        self.all[number as usize].slack[object as usize % MAX_OBJECTS]
    }

    /// Frees an object that [`Slabs::live_object`] found.
    #[inline]
    pub(crate) fn give_back(&mut self, number: u32, object: u32) -> FreedObject {
        let HeldObject { object, object_bytes, slack, .. } = self.hold(number, object);
        FreedObject { object_bytes, slack, released: self.settle(object) }
    }

    /// Makes a live object held: it is no longer live and nobody's to take, until it is settled or taken again.
    #[inline]
    pub(crate) fn hold(&mut self, number: u32, object: u32) -> HeldObject {
        let slab = &mut self.all[number as usize];
        let place = &mut slab.slack[object as usize % MAX_OBJECTS];
        let slack = std::mem::replace(place, NOT_LIVE);
        let object = ObjectId::new(number, object);
        HeldObject { object, class: usize::from(slab.class), object_bytes: slab.object_bytes(), slack }
    }

    /// Makes a held object live.
    #[inline]
    pub(crate) fn take_held(&mut self, id: ObjectId, slack: u16) -> u64 {
        let slab = &mut self.all[id.slab() as usize];
        slab.slack[id.object() as usize] = slack;
        slab.base + u64::from(id.object()) * slab.object_bytes()
    }

    /// Takes all objects that are free in a slab out, to be held.
    pub(crate) fn take_rest_of_slab(&mut self, number: u32) -> Vec<ObjectId> {
        let slab = &mut self.all[number as usize];
        let free = std::mem::take(&mut slab.free);
        let rest: Vec<ObjectId> = (0..MAX_OBJECTS as u32)
            .filter(|object| free >> object & 1 != 0)
            .map(|object| ObjectId::new(number, object))
            .collect();
        slab.out += rest.len() as u8;
        if !rest.is_empty() {
            self.unlink(number);
        }
        rest
    }

    /// Frees a held object for everybody; answers its slab, if nothing of it is out any more.
    #[inline]
    pub(crate) fn settle(&mut self, id: ObjectId) -> Option<ReleasedSlab> {
        let slab = &mut self.all[id.slab() as usize];
        slab.out -= 1;
        if slab.out == 0 {
            return Some(self.release(id.slab()));
        }
        let class = usize::from(slab.class);
        if !self.magazines[class].push(id) {
            self.give_back_to_ring(id);
        }
        None
    }

    /// Makes an object that is not live free in its slab.
    #[inline]
    fn give_back_to_ring(&mut self, id: ObjectId) {
        let slab = &mut self.all[id.slab() as usize];
        let was_full = slab.free == 0;
        slab.free |= 1 << id.object();
        if was_full {
            self.link(id.slab());
        }
    }

    /// Forgets a slab of which nothing is out, also the objects that its class's magazine holds, and says which pages it had.
    #[inline(never)]
    fn release(&mut self, number: u32) -> ReleasedSlab {
        let slab = self.all[number as usize];
        self.magazines[usize::from(slab.class)].remove_of_slab(number);
        if slab.free != 0 {
            self.unlink(number);
        }
        self.spare.push(number);
        ReleasedSlab { base: slab.base, pages: slab.pages() }
    }

    /// Puts a slab at the front of its class's ring: the slab that got room last serves next, which keeps the others still
    /// and, measured against address order, is a third faster and packs no worse.
    #[inline]
    fn link(&mut self, number: u32) {
        let class = u32::from(self.all[number as usize].class);
        let next = self.all[class as usize].next;
        self.all[class as usize].next = number;
        self.all[next as usize].previous = number;
        let slab = &mut self.all[number as usize];
        slab.previous = class;
        slab.next = next;
    }

    #[inline]
    fn unlink(&mut self, number: u32) {
        let Slab { previous, next, .. } = self.all[number as usize];
        self.all[next as usize].previous = previous;
        self.all[previous as usize].next = next;
    }

    /// Bytes of host memory behind the slabs.
    pub(crate) fn metadata_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.magazines)
            + self.all.capacity() * size_of::<Slab>()
            + self.spare.capacity() * size_of::<u32>()
    }

    /// Checks S1 to S4 over the slabs in use, whose numbers are given, with the objects that are held.
    pub(crate) fn validate(&self, in_use: &[u32], held: Vec<ObjectId>) -> Result<(), String> {
        self.validate_objects(in_use, held)?;
        self.validate_rings(in_use)
    }

    fn validate_objects(&self, in_use: &[u32], mut held: Vec<ObjectId>) -> Result<(), String> {
        let mut elsewhere = held.clone();
        held.sort_unstable();
        for (class, magazine) in self.magazines.iter().enumerate() {
            if let Some(id) =
                magazine.objects().iter().find(|id| usize::from(self.get(id.slab()).class) != class)
            {
                return Err(format!("S4: the magazine of class {class} holds {id:?}"));
            }
            elsewhere.extend_from_slice(magazine.objects());
        }
        elsewhere.sort_unstable();
        let mut expected = Vec::new();
        for &number in in_use {
            let slab = self.get(number);
            let live = slab.slack.iter().filter(|&&slack| slack != NOT_LIVE).count();
            let first = held.partition_point(|id| id.slab() < number);
            let held = held[first..].iter().take_while(|id| id.slab() == number).count();
            if live + held != usize::from(slab.out) || slab.out == 0 {
                return Err(format!(
                    "S2: slab {number} counts {} out, {live} are live, {held} held",
                    slab.out
                ));
            }
            for object in 0..u32::from(slab.objects) {
                let live = slab.slack[object as usize] != NOT_LIVE;
                let free = slab.free >> object & 1 != 0;
                if live && free {
                    return Err(format!("S3: object {object} of slab {number} is live and free"));
                }
                if !live && !free {
                    expected.push(ObjectId::new(number, object));
                }
            }
        }
        expected.sort_unstable();
        if expected == elsewhere {
            Ok(())
        } else {
            Err(format!(
                "S4: magazines and streams have {elsewhere:?}, {expected:?} are neither live nor free"
            ))
        }
    }

    fn validate_rings(&self, in_use: &[u32]) -> Result<(), String> {
        if in_use.len() != self.len() {
            return Err(format!("P3: tags name {} slabs, {} are in use", in_use.len(), self.len()));
        }
        let mut listed = Vec::new();
        for (class, closing) in self.all[..CLASS_COUNT].iter().enumerate() {
            let (mut number, mut previous) = (closing.next, class as u32);
            while number >= FIRST_SLAB {
                let slab = self.get(number);
                if slab.previous != previous || usize::from(slab.class) != class {
                    return Err(format!("S1: slab {number} is wrongly linked in class {class}"));
                }
                listed.push(number);
                (previous, number) = (number, slab.next);
            }
            if number != class as u32 {
                return Err(format!("S1: the ring of class {class} is closed by {number}"));
            }
        }
        let mut partial: Vec<u32> = in_use.iter().copied().filter(|&slab| self.get(slab).free != 0).collect();
        partial.sort_unstable();
        listed.sort_unstable();
        if partial != listed {
            return Err(format!("S1: slabs {partial:?} have room, lists hold {listed:?}"));
        }
        Ok(())
    }
}
