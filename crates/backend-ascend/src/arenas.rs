//! Arenas, by aclrtMalloc or by virtual memory.
//!
//! # How many bytes an arena takes
//!
//! aclrtMalloc adds 32 bytes where the chip wants padding, so that an arena of whole pages of 2 MiB would take one page more.
//! aclrtMallocAlign32 does not. A library without it is asked for 32 bytes less, which makes the sum right again: the bytes that
//! ACL adds are then the padding of the last block, which the pool counts but never hands out.
//!
//! # Invariants
//!
//! * A1: an arena is in the table exactly while it belongs to the caller.
//! * A2: an arena that could not be given back is as it was: of one by virtual memory, all of it is mapped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use acl::{
    AclError, Context, DeviceMemory, DeviceSlice, ErrorKind, MallocPolicy, Mapping, PageKind, PhysicalMemory,
    Refused,
};
use mempool_core::{Alignment, Bytes, DeviceAddress, DeviceError};
use parking_lot::Mutex;

use crate::addresses::Addresses;
use crate::error::{BackendError, device_error};
use crate::options::{AscendOptions, Pages};

/// What a backend knows when it takes an arena.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArenaFacts {
    pub(crate) options: AscendOptions,
    /// Sizes are multiples of this.
    pub(crate) granularity: Bytes,
    /// Bases are multiples of this.
    pub(crate) alignment: Alignment,
    /// What aclrtMalloc adds.
    pub(crate) padding: Bytes,
    /// Granule of virtual memory; `None` where arenas do not come from it.
    pub(crate) granule: Option<usize>,
}

/// An arena.
#[derive(Debug)]
pub(crate) enum Arena {
    Malloc(DeviceMemory),
    Virtual(VirtualArena),
}

/// Addresses that are mapped from end to end. The mappings go before the addresses.
#[derive(Debug)]
pub(crate) struct VirtualArena {
    /// In the order of their offsets.
    mappings: Vec<Mapping>,
    addresses: Addresses,
}

/// The arenas of a backend.
#[derive(Debug)]
pub(crate) struct Arenas {
    facts: ArenaFacts,
    /// By base.
    live: Mutex<BTreeMap<DeviceAddress, (Bytes, Arc<Arena>)>>,
    /// Whether the library turned out to have no aclrtMallocAlign32.
    padded_only: AtomicBool,
    on_normal_pages: AtomicU64,
}

impl Arenas {
    pub(crate) fn new(facts: ArenaFacts) -> Self {
        let (padded_only, on_normal_pages) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { facts, live: Mutex::default(), padded_only, on_normal_pages }
    }

    pub(crate) fn count(&self) -> usize {
        self.live.lock().len()
    }

    /// Arenas that fell back to pages of 4 KiB so far.
    pub(crate) fn on_normal_pages(&self) -> u64 {
        self.on_normal_pages.load(Ordering::Relaxed)
    }

    pub(crate) fn allocate(&self, context: &Context, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        let bytes = checked_size(size, self.facts.granularity)?;
        let arena = match self.facts.granule {
            Some(granule) => map_arena(context, bytes, granule, self.facts.options.virtual_pages.kind())
                .map(Arena::Virtual),
            None => self.malloc(context, bytes).map(Arena::Malloc),
        };
        let arena = arena.map_err(|error| device_error(error, size))?;
        let base = DeviceAddress::new(arena.address());
        if !base.is_aligned(self.facts.alignment) {
            // Dropped here: given back.
            return Err(BackendError::Misaligned { base, alignment: self.facts.alignment }.into());
        }
        self.live.lock().insert(base, (size, Arc::new(arena)));
        Ok(base)
    }

    /// Takes an arena out of the table and gives it back.
    pub(crate) fn free(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        let arena = {
            let mut live = self.live.lock();
            match live.remove(&base) {
                Some((known, arena)) if known == size => arena,
                other => {
                    live.extend(other.map(|arena| (base, arena)));
                    return Err(BackendError::UnknownArena { base, size }.into());
                }
            }
        };
        match Arc::try_unwrap(arena).map(Arena::release) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Refused { error, owner })) => {
                self.live.lock().insert(base, (size, Arc::new(owner)));
                Err(device_error(error, Bytes::ZERO))
            }
            Err(copied) => {
                self.live.lock().insert(base, (size, copied));
                Err(BackendError::Copying { address: base }.into())
            }
        }
    }

    /// The arena around an address, with the offset in it and what is left of it from there on.
    pub(crate) fn around(&self, address: DeviceAddress) -> Option<(Arc<Arena>, usize, usize)> {
        let live = self.live.lock();
        let (&base, (size, arena)) = live.range(..=address).next_back()?;
        let offset = address.checked_offset_from(base)?;
        let left = size.checked_sub(offset).filter(|left| !left.is_zero())?;
        let (offset, left) = (usize::try_from(offset.get()).ok()?, usize::try_from(left.get()).ok()?);
        Some((Arc::clone(arena), offset, left))
    }

    /// Whether such an arena is live.
    pub(crate) fn is_live(&self, base: DeviceAddress, size: Bytes) -> bool {
        self.live.lock().get(&base).is_some_and(|&(known, _)| known == size)
    }

    fn malloc(&self, context: &Context, bytes: usize) -> Result<DeviceMemory, AclError> {
        let AscendOptions { pages, fall_back_to_normal_pages, .. } = self.facts.options;
        let answer = self.malloc_in(context, bytes, pages.policy());
        match answer {
            Err(error)
                if error.kind() == ErrorKind::OutOfMemory
                    && pages == Pages::HugeOnly
                    && fall_back_to_normal_pages =>
            {
                let memory = self.malloc_in(context, bytes, Pages::Normal.policy())?;
                tracing::warn!(bytes, "no huge pages are left; this arena is on pages of 4 KiB");
                self.on_normal_pages.fetch_add(1, Ordering::Relaxed);
                Ok(memory)
            }
            answer => answer,
        }
    }

    fn malloc_in(
        &self,
        context: &Context,
        bytes: usize,
        policy: MallocPolicy,
    ) -> Result<DeviceMemory, AclError> {
        // Relaxed: whoever misses it asks once more.
        if !self.padded_only.load(Ordering::Relaxed) {
            match DeviceMemory::allocate_unpadded(context, bytes, policy) {
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    self.padded_only.store(true, Ordering::Relaxed);
                }
                answer => return answer,
            }
        }
        let padding = usize::try_from(self.facts.padding.get()).unwrap_or(0);
        DeviceMemory::allocate(context, bytes.saturating_sub(padding), policy)
    }
}

/// Reserves and fills. What a failure leaves behind is dropped here, which undoes it: mappings, memory, then addresses.
fn map_arena(
    context: &Context,
    bytes: usize,
    granule: usize,
    pages: PageKind,
) -> Result<VirtualArena, AclError> {
    let addresses = Addresses::reserve(context, bytes, granule)?;
    let mut mappings = Vec::with_capacity(bytes / granule);
    for offset in (0..bytes).step_by(granule) {
        let memory = PhysicalMemory::allocate(context, granule, pages)?;
        let address = DeviceAddress::new(addresses.base().get() + offset as u64);
        mappings.push(addresses.map(address, &memory)?);
    }
    Ok(VirtualArena { mappings, addresses })
}

impl Arena {
    fn address(&self) -> u64 {
        match self {
            Self::Malloc(memory) => memory.address(),
            Self::Virtual(arena) => arena.addresses.base().get(),
        }
    }

    /// The place of its bytes from `offset` on: all of them, or those of one granule.
    pub(crate) fn place_at(&self, offset: usize) -> Result<DeviceSlice<'_>, AclError> {
        let (all, offset) = match self {
            Self::Malloc(memory) => (memory.as_slice(), offset),
            Self::Virtual(arena) => {
                let granule = arena.mappings.first().map_or(1, Mapping::size);
                let last = arena.mappings.len().saturating_sub(1);
                let index = (offset / granule).min(last);
                (arena.mappings[index].as_slice(), offset - index * granule)
            }
        };
        all.slice(offset, all.size().saturating_sub(offset))
    }

    fn release(self) -> Result<(), Refused<Self>> {
        match self {
            Self::Malloc(memory) => memory
                .free()
                .map_err(|Refused { error, owner }| Refused { error, owner: Self::Malloc(owner) }),
            Self::Virtual(arena) => arena
                .release()
                .map_err(|Refused { error, owner }| Refused { error, owner: Self::Virtual(owner) }),
        }
    }
}

impl VirtualArena {
    /// Unmaps from the end. When a mapping stays, those that went before it come back, with their memory (A2).
    ///
    /// Where even that fails, the arena cannot be used any more and is given up, which is no error to the caller, who must
    /// not go on using it: what is left of it is counted by [`acl::Runtime::release_errors`].
    fn release(mut self) -> Result<(), Refused<Self>> {
        let mut unmapped: Vec<(DeviceAddress, PhysicalMemory)> = Vec::with_capacity(self.mappings.len());
        while let Some(mapping) = self.mappings.pop() {
            let (address, memory) = (DeviceAddress::new(mapping.address()), mapping.physical().clone());
            match mapping.unmap() {
                Ok(()) => unmapped.push((address, memory)),
                Err(Refused { error, owner }) => {
                    self.mappings.push(owner);
                    return match self.restore(unmapped) {
                        Ok(()) => Err(Refused { error, owner: self }),
                        Err(second) => {
                            tracing::error!(%error, %second, "an arena could be neither unmapped nor restored; it is given up");
                            Ok(())
                        }
                    };
                }
            }
        }
        // Nothing is mapped any more, so the arena is gone whatever comes. What is refused is tried once more by the destructor,
        // which counts a second refusal.
        for (_, memory) in unmapped {
            note_refusal(memory.release());
        }
        note_refusal(self.addresses.release());
        Ok(())
    }

    fn restore(&mut self, unmapped: Vec<(DeviceAddress, PhysicalMemory)>) -> Result<(), AclError> {
        for (address, memory) in unmapped.into_iter().rev() {
            self.mappings.push(self.addresses.map(address, &memory)?);
        }
        Ok(())
    }
}

fn note_refusal<T>(released: Result<(), Refused<T>>) {
    if let Err(Refused { error, .. }) = released {
        tracing::warn!(%error, "a part of an arena was refused and is tried once more");
    }
}

/// A size as ACL takes it.
pub(crate) fn checked_size(size: Bytes, granule: Bytes) -> Result<usize, BackendError> {
    let wrong = BackendError::InvalidSize { size, granule };
    if size.is_zero() || !size.get().is_multiple_of(granule.get()) {
        return Err(wrong);
    }
    usize::try_from(size.get()).map_err(|_| wrong)
}
