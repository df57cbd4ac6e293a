//! The calls of a device that reach its driver.

use std::fmt;

/// A kind of call on a [`mempool_core::Device`]. `properties` and `granule` are none: they reach no driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// [`mempool_core::Device::allocate_arena`]
    AllocateArena,
    /// [`mempool_core::Device::free_arena`]
    FreeArena,
    /// [`mempool_core::Device::memory_info`]
    MemoryInfo,
    /// [`mempool_core::StreamOrder::record_event`]
    RecordEvent,
    /// [`mempool_core::StreamOrder::is_complete`]
    IsComplete,
    /// [`mempool_core::StreamOrder::synchronize_event`]
    SynchronizeEvent,
    /// [`mempool_core::StreamOrder::wait_event`]
    WaitEvent,
    /// [`mempool_core::StreamOrder::release_event`]
    ReleaseEvent,
    /// [`mempool_core::VirtualMemory::reserve`]
    Reserve,
    /// [`mempool_core::VirtualMemory::free_reservation`]
    FreeReservation,
    /// [`mempool_core::VirtualMemory::create_physical`]
    CreatePhysical,
    /// [`mempool_core::VirtualMemory::release_physical`]
    ReleasePhysical,
    /// [`mempool_core::VirtualMemory::map`]
    Map,
    /// [`mempool_core::VirtualMemory::unmap`]
    Unmap,
}

impl CallKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 14] = [
        Self::AllocateArena,
        Self::FreeArena,
        Self::MemoryInfo,
        Self::RecordEvent,
        Self::IsComplete,
        Self::SynchronizeEvent,
        Self::WaitEvent,
        Self::ReleaseEvent,
        Self::Reserve,
        Self::FreeReservation,
        Self::CreatePhysical,
        Self::ReleasePhysical,
        Self::Map,
        Self::Unmap,
    ];

    /// Name of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllocateArena => "allocate_arena",
            Self::FreeArena => "free_arena",
            Self::MemoryInfo => "memory_info",
            Self::RecordEvent => "record_event",
            Self::IsComplete => "is_complete",
            Self::SynchronizeEvent => "synchronize_event",
            Self::WaitEvent => "wait_event",
            Self::ReleaseEvent => "release_event",
            Self::Reserve => "reserve",
            Self::FreeReservation => "free_reservation",
            Self::CreatePhysical => "create_physical",
            Self::ReleasePhysical => "release_physical",
            Self::Map => "map",
            Self::Unmap => "unmap",
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
        let expected: [usize; CallKind::ALL.len()] = std::array::from_fn(|index| index + 1);
        assert_eq!(values, PerKind(expected));
        assert_eq!(CallKind::ALL.map(|kind| *values.get(kind)), expected);
    }
}
