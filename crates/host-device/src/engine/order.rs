//! What a stream is known to come after: for every other stream, up to which operation.
//!
//! # Invariants
//!
//! * I1: if `covers(s, n)`, then whatever holds this order runs after operation `n` of stream `s` is complete.

use std::collections::BTreeMap;

use crate::engine::StreamId;

#[derive(Debug, Clone, Default)]
pub(super) struct Order(BTreeMap<StreamId, u64>);

impl Order {
    /// Also comes after operation `sequence` of `stream`.
    pub(super) fn add(&mut self, stream: StreamId, sequence: u64) {
        let known = self.0.entry(stream).or_default();
        *known = sequence.max(*known);
    }

    /// Also comes after all that `other` comes after.
    pub(super) fn merge(&mut self, other: &Self) {
        for (&stream, &sequence) in &other.0 {
            self.add(stream, sequence);
        }
    }

    pub(super) fn covers(&self, stream: StreamId, sequence: u64) -> bool {
        self.0.get(&stream).is_some_and(|&known| known >= sequence)
    }

    /// Forgets what need not be known.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(StreamId, u64) -> bool) {
        self.0.retain(|&stream, &mut sequence| keep(stream, sequence));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_the_later_of_two_operations() {
        let [a, b] = [1, 2].map(StreamId::new);
        let (mut left, mut right) = (Order::default(), Order::default());
        left.add(a, 5);
        left.add(a, 3);
        right.add(a, 4);
        right.add(b, 1);
        left.merge(&right);
        assert!(left.covers(a, 5) && !left.covers(a, 6));
        assert!(left.covers(b, 1) && !left.covers(b, 2));
        left.retain(|stream, _| stream == b);
        assert!(!left.covers(a, 1) && left.covers(b, 1));
    }
}
