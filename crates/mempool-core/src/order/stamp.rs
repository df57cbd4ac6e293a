//! Stamps on free memory: work of which streams, up to which epochs, may still touch it.

use smallvec::SmallVec;

/// Place of a stream in the table of streams.
pub(crate) type Slot = u16;

/// Work of one stream, up to and with one of its epochs. Slot and epoch in one word: 2^48 epochs outlast any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

const EPOCH_BITS: u32 = 48;

impl Stamp {
    #[inline]
    pub(crate) fn new(slot: Slot, epoch: u64) -> Self {
        debug_assert!(epoch < 1 << EPOCH_BITS, "epochs do not wrap");
        Self(u64::from(slot) << EPOCH_BITS | epoch)
    }

    #[inline]
    pub(crate) fn slot(self) -> Slot {
        (self.0 >> EPOCH_BITS) as Slot
    }

    #[inline]
    pub(crate) fn epoch(self) -> u64 {
        self.0 & ((1 << EPOCH_BITS) - 1)
    }
}

/// Stamps of several streams, at most one of each. Up to four take no memory of their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stamps(SmallVec<[Stamp; 4]>);

impl Stamps {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Stamp> + '_ {
        self.0.iter().copied()
    }

    /// Adds a stamp; of two of one stream the later epoch stays.
    #[inline]
    pub(crate) fn add(&mut self, stamp: Stamp) {
        match self.0.iter_mut().find(|own| own.slot() == stamp.slot()) {
            // The slots are equal, so this compares epochs.
            Some(own) => *own = (*own).max(stamp),
            None => self.0.push(stamp),
        }
    }

    /// Adds all stamps of another.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        other.iter().for_each(|stamp| self.add(stamp));
    }

    /// Keeps the stamps for which `still` holds.
    #[inline]
    pub(crate) fn retain(&mut self, mut still: impl FnMut(Stamp) -> bool) {
        self.0.retain(|stamp| still(*stamp));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl From<Stamp> for Stamps {
    fn from(stamp: Stamp) -> Self {
        Self(SmallVec::from_slice(&[stamp]))
    }
}

impl FromIterator<Stamp> for Stamps {
    fn from_iter<I: IntoIterator<Item = Stamp>>(stamps: I) -> Self {
        let mut all = Self::default();
        stamps.into_iter().for_each(|stamp| all.add(stamp));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_keeps_both_parts_to_their_largest_values() {
        for (slot, epoch) in [(0, 0), (1, 7), (Slot::MAX, (1 << 48) - 1), (Slot::MAX, 0), (0, (1 << 48) - 1)]
        {
            let stamp = Stamp::new(slot, epoch);
            assert_eq!((stamp.slot(), stamp.epoch()), (slot, epoch));
        }
    }

    #[test]
    fn of_each_stream_the_latest_epoch_stays_for_any_number_of_streams() {
        let mut stamps = Stamps::default();
        for slot in 0..9 {
            for epoch in [3, 9, 5] {
                stamps.add(Stamp::new(slot, epoch));
            }
        }
        assert_eq!(stamps.iter().count(), 9);
        assert!(stamps.iter().all(|stamp| stamp.epoch() == 9));
        let mut joined = Stamps::from(Stamp::new(4, 20));
        joined.join(&stamps);
        assert_eq!(joined.iter().count(), 9);
        assert!(joined.iter().any(|stamp| stamp == Stamp::new(4, 20)));
    }
}
