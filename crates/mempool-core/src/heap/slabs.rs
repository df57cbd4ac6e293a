//! Slabs: a few pages cut into equal objects, with one bit an object that says whether it is free.
//!
//! The slabs of a class that have room form a ring through [`Slab::previous`] and [`Slab::next`]; slab number c, below the
//! number of classes, has no memory and only closes the ring of class c, which spares every "first or last?" branch.
//!
//! Invariants
//! * S1: a slab is in the ring of its class if and only if it has a free object.
//! * S2: a wholly free slab goes back to the page heap unless it is the only one in its class's ring.
//! * S3: the free bit is the authority on what may be freed.

#![expect(
    clippy::cast_possible_truncation,
    reason = "classes are below 256, slab numbers below 2^28 (a slab has a page), objects below 32"
)]

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
    /// Bit i is set while object i is free.
    free: u32,
    previous: u32,
    next: u32,
    /// As [`SizeClass::reciprocal`].
    reciprocal: u32,
    /// Size of an object in [`UNIT_BYTES`].
    object_units: u16,
    class: u8,
    objects: u8,
    /// Bytes of each live object that nobody asked for.
    slack: [u16; MAX_OBJECTS],
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
            slack: [0; MAX_OBJECTS],
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

    #[inline]
    pub(crate) fn is_wholly_free(&self) -> bool {
        self.free == u32::MAX >> (MAX_OBJECTS as u32 - u32::from(self.objects))
    }

    /// Address and whether it is live, object by object.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (u64, bool)> + use<> {
        let (free, base, bytes) = (self.free, self.base, self.object_bytes());
        (0..self.objects).map(move |object| (base + u64::from(object) * bytes, free >> object & 1 == 0))
    }
}

/// What a free did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreedObject {
    pub(crate) object_bytes: u64,
    /// Bytes of the object that nobody had asked for.
    pub(crate) slack: u16,
    /// A slab that is wholly free and no longer known.
    pub(crate) released: Option<ReleasedSlab>,
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
}

impl Slabs {
    pub(crate) fn new() -> Self {
        let closing = |class: usize| Slab { free: 0, ..Slab::new(class, 0) };
        Self { all: (0..CLASS_COUNT).map(closing).collect(), spare: Vec::new() }
    }

    pub(crate) fn get(&self, number: u32) -> &Slab {
        &self.all[number as usize]
    }

    /// Slabs in use.
    pub(crate) fn len(&self) -> usize {
        self.all.len() - CLASS_COUNT - self.spare.len()
    }

    /// Takes an object from a slab of `class` that has one. `slack` is the part of it that nobody asked for.
    #[inline]
    pub(crate) fn take(&mut self, class: usize, slack: u16) -> Option<u64> {
        let number = self.all[class].next;
        let slab = &mut self.all[number as usize];
        if slab.free == 0 {
            // Only the closing slab has no room: the ring is empty.
            return None;
        }
        let object = slab.free.trailing_zeros();
        slab.free &= slab.free - 1;
        slab.slack[object as usize % MAX_OBJECTS] = slack;
        let address = slab.base + u64::from(object) * u64::from(CLASSES[class].object_bytes);
        if slab.free == 0 {
            self.unlink(number);
        }
        Some(address)
    }

    /// The number that [`Slabs::add`] will use next.
    pub(crate) fn next_number(&self) -> u32 {
        self.spare.last().copied().unwrap_or(self.all.len() as u32)
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
        let live = slab.free >> object & 1 == 0;
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
        let slack = self.slack(number, object);
        let slab = &mut self.all[number as usize];
        let object_bytes = slab.object_bytes();
        let was_full = slab.free == 0;
        slab.free |= 1 << object;
        let mut released = None;
        if was_full {
            released = self.link_and_release_idle(number);
        } else if slab.is_wholly_free() && slab.previous != slab.next {
            // Not alone: only a slab that is alone has the closing one on both sides.
            released = Some(self.release(number));
        }
        FreedObject { object_bytes, slack, released }
    }

    /// Links a slab that was full; a wholly free one that was alone in the ring, as S2 allows, is no longer needed.
    #[inline]
    fn link_and_release_idle(&mut self, number: u32) -> Option<ReleasedSlab> {
        let class = self.all[number as usize].class;
        let front = self.all[usize::from(class)].next;
        self.link(number);
        (front >= FIRST_SLAB && self.all[front as usize].is_wholly_free()).then(|| self.release(front))
    }

    /// Forgets a wholly free slab and says which pages it had.
    #[inline(never)]
    fn release(&mut self, number: u32) -> ReleasedSlab {
        let slab = self.all[number as usize];
        self.unlink(number);
        self.spare.push(number);
        ReleasedSlab { base: slab.base, pages: slab.pages() }
    }

    /// Forgets all wholly free slabs (at most one a class, by S2) and says which pages they had.
    pub(crate) fn release_wholly_free(&mut self) -> Vec<ReleasedSlab> {
        let fronts: Vec<u32> = self.all[..CLASS_COUNT].iter().map(|closing| closing.next).collect();
        let idle = |&front: &u32| front >= FIRST_SLAB && self.all[front as usize].is_wholly_free();
        let idle: Vec<u32> = fronts.into_iter().filter(idle).collect();
        idle.into_iter().map(|number| self.release(number)).collect()
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
        size_of::<Self>() + self.all.capacity() * size_of::<Slab>() + self.spare.capacity() * size_of::<u32>()
    }

    /// Checks S1 and S2 over the slabs in use, whose numbers are given.
    pub(crate) fn validate(&self, in_use: &[u32]) -> Result<(), String> {
        if in_use.len() != self.len() {
            return Err(format!("P3: tags name {} slabs, {} are in use", in_use.len(), self.len()));
        }
        let mut listed = Vec::new();
        for (class, closing) in self.all[..CLASS_COUNT].iter().enumerate() {
            let (mut number, mut previous, mut idle, start) = (closing.next, class as u32, 0, listed.len());
            while number >= FIRST_SLAB {
                let slab = self.get(number);
                if slab.previous != previous || usize::from(slab.class) != class {
                    return Err(format!("S1: slab {number} is wrongly linked in class {class}"));
                }
                listed.push(number);
                idle += usize::from(slab.is_wholly_free());
                (previous, number) = (number, slab.next);
            }
            if number != class as u32 {
                return Err(format!("S1: the ring of class {class} is closed by {number}"));
            }
            if idle > 0 && listed.len() - start > 1 {
                return Err(format!("S2: class {class} keeps a wholly free slab beside others"));
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
