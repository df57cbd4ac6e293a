//! The calls of a device that reach its driver.

use std::fmt;

/// A kind of call on a [`mempool_core::Device`]. `properties` is none: it reaches no driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// [`mempool_core::Device::allocate_arena`]
    AllocateArena,
    /// [`mempool_core::Device::free_arena`]
    FreeArena,
    /// [`mempool_core::Device::memory_info`]
    MemoryInfo,
}

impl CallKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::AllocateArena, Self::FreeArena, Self::MemoryInfo];

    /// Name of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllocateArena => "allocate_arena",
            Self::FreeArena => "free_arena",
            Self::MemoryInfo => "memory_info",
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One value for each kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PerKind<T>([T; CallKind::ALL.len()]);

impl<T> PerKind<T> {
    pub(crate) fn get(&self, kind: CallKind) -> &T {
        &self.0[kind as usize]
    }

    pub(crate) fn get_mut(&mut self, kind: CallKind) -> &mut T {
        &mut self.0[kind as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_place() {
        let mut values = PerKind::<usize>::default();
        for (index, kind) in CallKind::ALL.into_iter().enumerate() {
            *values.get_mut(kind) = index + 1;
        }
        assert_eq!(values, PerKind([1, 2, 3]));
        assert_eq!(CallKind::ALL.map(|kind| *values.get(kind)), [1, 2, 3]);
    }
}
