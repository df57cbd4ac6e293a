//! Size classes of small blocks: which class serves a size, and how a slab of that class is laid out.
//!
//! Classes are multiples of 512 bytes: every multiple up to 4 KiB, then eight a doubling up to [`SMALL_MAX_BYTES`], so that
//! rounding wastes at most 511 bytes or an eighth. A slab is the smallest number of whole pages that the class fills
//! without a rest, repeated until it holds at least [`MIN_OBJECTS`] objects.

#![expect(
    clippy::cast_possible_truncation,
    reason = "sizes of small blocks are at most 32 KiB, slabs at most 256 KiB"
)]

use crate::heap::geometry::PAGE_BYTES;

/// Every class is a multiple of this many bytes; every block therefore starts at a multiple of it.
pub(crate) const UNIT_BYTES: u64 = 512;
const UNIT_SHIFT: u32 = 9;
/// Largest size that a slab serves; larger blocks are runs of whole pages.
pub(crate) const SMALL_MAX_BYTES: u64 = 32 << 10;
const SMALL_MAX_UNITS: usize = (SMALL_MAX_BYTES >> UNIT_SHIFT) as usize;
/// Classes below this many units (4 KiB) are spaced by one unit.
const LINEAR_UNITS: u64 = 8;
const CLASSES_PER_DOUBLING: u64 = 8;
/// Number of size classes.
pub(crate) const CLASS_COUNT: usize = {
    let doublings = (SMALL_MAX_BYTES / UNIT_BYTES / LINEAR_UNITS).ilog2() as usize;
    LINEAR_UNITS as usize + doublings * CLASSES_PER_DOUBLING as usize
};
/// A slab holds at least this many objects, so that its cost is shared.
const MIN_OBJECTS: u64 = 8;
/// A slab holds at most this many objects: one bit each in a `u32`.
pub(crate) const MAX_OBJECTS: usize = 32;
/// A slab spans at most this many pages (256 KiB), so that a partly used one holds little back.
const MAX_SLAB_PAGES: u64 = 16;

/// See [`SizeClass::reciprocal`].
pub(crate) const RECIPROCAL_SHIFT: u32 = 40;

/// One size class and the layout of its slabs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeClass {
    /// Size of an object in bytes, a multiple of [`UNIT_BYTES`].
    pub(crate) object_bytes: u32,
    /// `ceil(2^40 / object_bytes)`: an offset inside a slab times this, shifted right by [`RECIPROCAL_SHIFT`], is the offset
    /// divided by the size, rounded down. Exact for all offsets of a slab (tested).
    pub(crate) reciprocal: u32,
    /// Pages of a slab.
    pub(crate) slab_pages: u32,
    /// Objects in a slab, 4 to 32.
    pub(crate) objects: u32,
}

impl SizeClass {
    const fn of_units(units: u64) -> Self {
        let object_bytes = units * UNIT_BYTES;
        let mut pages = 1;
        while !(pages * PAGE_BYTES).is_multiple_of(object_bytes) {
            pages += 1;
        }
        let exact = pages;
        let mut objects = pages * PAGE_BYTES / object_bytes;
        while objects < MIN_OBJECTS && pages + exact <= MAX_SLAB_PAGES {
            pages += exact;
            objects = pages * PAGE_BYTES / object_bytes;
        }
        Self {
            object_bytes: object_bytes as u32,
            reciprocal: (1_u64 << RECIPROCAL_SHIFT).div_ceil(object_bytes) as u32,
            slab_pages: pages as u32,
            objects: objects as u32,
        }
    }
}

/// All classes, smallest first.
pub(crate) const CLASSES: [SizeClass; CLASS_COUNT] = {
    let mut classes = [SizeClass::of_units(1); CLASS_COUNT];
    let mut index = 0;
    let mut units = 1;
    while index < CLASS_COUNT {
        classes[index] = SizeClass::of_units(units);
        units += spacing_above(units);
        index += 1;
    }
    classes
};

/// Distance in units from the class of `units` to the next.
const fn spacing_above(units: u64) -> u64 {
    if units < LINEAR_UNITS { 1 } else { (1 << units.ilog2()) / CLASSES_PER_DOUBLING }
}

const CLASS_OF_UNITS: [u8; SMALL_MAX_UNITS + 1] = {
    let mut table = [0_u8; SMALL_MAX_UNITS + 1];
    let mut class = 0;
    let mut units = 0;
    while units <= SMALL_MAX_UNITS {
        if (units as u64) * UNIT_BYTES > CLASSES[class].object_bytes as u64 {
            class += 1;
        }
        table[units] = class as u8;
        units += 1;
    }
    table
};

/// Index of the smallest class that holds `bytes`, which must be 1 to [`SMALL_MAX_BYTES`].
#[inline]
pub(crate) fn class_of(bytes: u64) -> usize {
    debug_assert!((1..=SMALL_MAX_BYTES).contains(&bytes), "class_of is for small sizes");
    let units = bytes.div_ceil(UNIT_BYTES);
    usize::from(CLASS_OF_UNITS[usize::try_from(units).map_or(SMALL_MAX_UNITS, |u| u.min(SMALL_MAX_UNITS))])
}

/// Index of the smallest class that holds `bytes` and whose every object starts at a multiple of `alignment` bytes, or
/// `None` when no class does. `alignment` is a power of two up to [`PAGE_BYTES`].
#[inline]
pub(crate) fn aligned_class_of(bytes: u64, alignment: u64) -> Option<usize> {
    let first = class_of(bytes);
    if alignment <= UNIT_BYTES {
        return Some(first);
    }
    (first..CLASS_COUNT).find(|&class| u64::from(CLASSES[class].object_bytes) & (alignment - 1) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_size_gets_the_smallest_class_that_holds_it() {
        for bytes in 1..=SMALL_MAX_BYTES {
            let class = class_of(bytes);
            assert!(u64::from(CLASSES[class].object_bytes) >= bytes, "{bytes}");
            assert!(class == 0 || u64::from(CLASSES[class - 1].object_bytes) < bytes, "{bytes}");
        }
    }

    #[test]
    fn rounding_wastes_at_most_511_bytes_or_an_eighth() {
        for bytes in 1..=SMALL_MAX_BYTES {
            let waste = u64::from(CLASSES[class_of(bytes)].object_bytes) - bytes;
            assert!(waste < UNIT_BYTES || waste * 8 < bytes + UNIT_BYTES, "{bytes} wastes {waste}");
        }
    }

    #[test]
    fn classes_rise_and_end_at_the_limit() {
        assert!(CLASSES.windows(2).all(|pair| pair[0].object_bytes < pair[1].object_bytes));
        assert_eq!(u64::from(CLASSES[0].object_bytes), UNIT_BYTES);
        assert_eq!(u64::from(CLASSES[CLASS_COUNT - 1].object_bytes), SMALL_MAX_BYTES);
    }

    #[test]
    fn slabs_are_filled_without_a_rest_and_fit_one_mask() {
        for class in CLASSES {
            let bytes = u64::from(class.slab_pages) * PAGE_BYTES;
            assert_eq!(u64::from(class.objects) * u64::from(class.object_bytes), bytes, "{class:?}");
            assert!((4..=32).contains(&class.objects), "{class:?}");
            assert!(u64::from(class.slab_pages) <= MAX_SLAB_PAGES, "{class:?}");
        }
    }

    #[test]
    fn the_object_of_every_offset_is_exact() {
        for class in CLASSES {
            for offset in 0..u64::from(class.slab_pages) * PAGE_BYTES {
                let object = (offset * u64::from(class.reciprocal)) >> RECIPROCAL_SHIFT;
                assert_eq!(object, offset / u64::from(class.object_bytes), "{class:?} {offset}");
            }
        }
    }

    #[test]
    fn aligned_classes_are_multiples_of_the_alignment() {
        for shift in 0..=14 {
            let alignment = 1 << shift;
            for bytes in (1..=SMALL_MAX_BYTES).step_by(97) {
                if let Some(class) = aligned_class_of(bytes, alignment) {
                    let object = u64::from(CLASSES[class].object_bytes);
                    assert!(
                        object >= bytes && (alignment <= 512 || object % alignment == 0),
                        "{bytes} {alignment}"
                    );
                } else {
                    let multiple = bytes.next_multiple_of(alignment);
                    assert!(multiple > SMALL_MAX_BYTES, "{bytes} {alignment}");
                }
            }
        }
    }
}
