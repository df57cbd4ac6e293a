//! Whether two contexts are the same one.

use super::Context;

/// Two values are equal that stand for one context: clones of each other, or of the primary context of one opened device.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.inner.id == other.inner.id
    }
}

impl Eq for Context {}
