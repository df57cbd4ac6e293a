//! Virtual memory as the pool sees it: names and addresses over the owners of `ascend-acl`.
//!
//! # Invariants
//!
//! * V1: what stands in the books is live, and what is live stands there, but for the time of a call of ACL about it.
//! * V2: the owners never leave the books while a mapping needs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use acl::{AclError, Context, Mapping, PhysicalMemory as AclMemory, Refused};
use mempool_core::{Bytes, DeviceAddress, DeviceError, PhysicalMemory, VirtualMemory};
use parking_lot::Mutex;

use crate::addresses::Addresses;
use crate::arenas::checked_size;
use crate::backend::AscendBackend;
use crate::error::{BackendError, device_error};
use crate::options::VirtualPages;
use crate::streams::fresh_name;

/// The virtual memory of a backend.
#[derive(Debug)]
pub(crate) struct VirtualSpace {
    granule: Bytes,
    pages: VirtualPages,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    /// By base.
    reservations: BTreeMap<DeviceAddress, Addresses>,
    memories: BTreeMap<PhysicalMemory, Memory>,
    /// By address.
    mappings: BTreeMap<DeviceAddress, (PhysicalMemory, Arc<Mapping>)>,
}

#[derive(Debug)]
struct Memory {
    owner: AclMemory,
    /// Where it is mapped, or being mapped.
    mapped_at: Option<DeviceAddress>,
}

impl VirtualSpace {
    pub(crate) fn new(granule: Bytes, pages: VirtualPages) -> Self {
        Self { granule, pages, books: Mutex::default() }
    }

    pub(crate) fn granule(&self) -> Bytes {
        self.granule
    }

    /// Reservations, memories and mappings.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let books = self.books.lock();
        [books.reservations.len(), books.memories.len(), books.mappings.len()]
    }

    fn reserve(&self, context: &Context, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        let bytes = checked_size(size, self.granule)?;
        let granule = checked_size(self.granule, self.granule)?;
        let addresses =
            Addresses::reserve(context, bytes, granule).map_err(|error| device_error(error, size))?;
        let base = addresses.base();
        self.books.lock().reservations.insert(base, addresses);
        Ok(base)
    }

    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        let reservation = {
            let mut books = self.books.lock();
            let known = books.reservations.get(&base).is_some_and(|it| it.size() == size);
            if !known {
                return Err(BackendError::UnknownReservation { base, size }.into());
            }
            let end = DeviceAddress::new(base.get().saturating_add(size.get()));
            let mappings = books.memories.values().filter_map(|memory| memory.mapped_at);
            let mappings = mappings.filter(|at| (base..end).contains(at)).count();
            if mappings > 0 {
                return Err(BackendError::ReservationInUse { base, mappings }.into());
            }
            books.reservations.remove(&base)
        };
        let Some(reservation) = reservation else { return Ok(()) };
        reservation.release().map_err(|Refused { error, owner }| {
            self.books.lock().reservations.insert(base, owner);
            device_error(error, Bytes::ZERO)
        })
    }

    fn create_physical(&self, context: &Context, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        let bytes = checked_size(size, self.granule)?;
        let owner = AclMemory::allocate(context, bytes, self.pages.kind());
        let owner = owner.map_err(|error| device_error(error, size))?;
        let name = PhysicalMemory::new(fresh_name());
        self.books.lock().memories.insert(name, Memory { owner, mapped_at: None });
        Ok(name)
    }

    fn release_physical(&self, name: PhysicalMemory) -> Result<(), DeviceError> {
        let memory = {
            let mut books = self.books.lock();
            let memory = books.memories.remove(&name).ok_or(BackendError::UnknownMemory { memory: name })?;
            if let Some(address) = memory.mapped_at {
                books.memories.insert(name, memory);
                return Err(BackendError::MemoryMapped { memory: name, address }.into());
            }
            memory
        };
        memory.owner.release().map_err(|Refused { error, owner }| {
            self.books.lock().memories.insert(name, Memory { owner, mapped_at: None });
            device_error(error, Bytes::ZERO)
        })
    }

    fn map(&self, address: DeviceAddress, name: PhysicalMemory) -> Result<(), DeviceError> {
        let (addresses, memory) = self.books.lock().claim(address, name, self.granule)?;
        let mapped = addresses.map(address, &memory);
        // These clones would make the owners look used.
        drop((addresses, memory));
        let mut books = self.books.lock();
        match mapped {
            Ok(mapping) => {
                books.mappings.insert(address, (name, Arc::new(mapping)));
                Ok(())
            }
            Err(error) => {
                books.set_place(name, None);
                drop(books);
                Err(match error {
                    AclError::Argument { .. } => already_mapped(address, &self.books, name),
                    error => device_error(error, Bytes::ZERO),
                })
            }
        }
    }

    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        let taken = self.books.lock().mappings.remove(&address);
        let (name, mapping) = taken.ok_or(BackendError::NotMapped { address })?;
        match Arc::try_unwrap(mapping).map(Mapping::unmap) {
            Ok(Ok(())) => {
                self.books.lock().set_place(name, None);
                Ok(())
            }
            Ok(Err(Refused { error, owner })) => {
                self.books.lock().mappings.insert(address, (name, Arc::new(owner)));
                Err(device_error(error, Bytes::ZERO))
            }
            Err(copied) => {
                self.books.lock().mappings.insert(address, (name, copied));
                Err(BackendError::Copying { address }.into())
            }
        }
    }

    /// The mapping around an address, with the offset in it and what is left of it from there on.
    pub(crate) fn around(&self, address: DeviceAddress) -> Option<(Arc<Mapping>, usize, usize)> {
        let books = self.books.lock();
        let (&base, (_, mapping)) = books.mappings.range(..=address).next_back()?;
        let offset = usize::try_from(address.get() - base.get()).ok()?;
        let left = mapping.size().checked_sub(offset).filter(|&left| left > 0)?;
        Some((Arc::clone(mapping), offset, left))
    }
}

/// `ascend-acl` found the range taken.
fn already_mapped(address: DeviceAddress, books: &Mutex<Books>, name: PhysicalMemory) -> DeviceError {
    let size = books.lock().memories.get(&name).map_or(0, |memory| memory.owner.size());
    BackendError::AlreadyMapped { address, size: Bytes::new(size as u64) }.into()
}

impl Books {
    /// Checks a mapping, notes where the memory goes, and answers the parts.
    fn claim(
        &mut self,
        address: DeviceAddress,
        name: PhysicalMemory,
        granule: Bytes,
    ) -> Result<(Addresses, AclMemory), BackendError> {
        let memory = self.memories.get_mut(&name).ok_or(BackendError::UnknownMemory { memory: name })?;
        if let Some(address) = memory.mapped_at {
            return Err(BackendError::MemoryMapped { memory: name, address });
        }
        if !address.get().is_multiple_of(granule.get()) {
            return Err(BackendError::MisalignedMapping { address, granule });
        }
        let size = Bytes::new(memory.owner.size() as u64);
        let around = self.reservations.range(..=address).next_back().map(|(_, addresses)| addresses);
        let addresses = around.filter(|addresses| addresses.contains(address, size));
        let addresses = addresses.ok_or(BackendError::NotReserved { address, size })?.clone();
        memory.mapped_at = Some(address);
        Ok((addresses, memory.owner.clone()))
    }

    fn set_place(&mut self, name: PhysicalMemory, place: Option<DeviceAddress>) {
        if let Some(memory) = self.memories.get_mut(&name) {
            memory.mapped_at = place;
        }
    }
}

impl AscendBackend {
    fn virtual_space_or_error(&self) -> Result<&VirtualSpace, DeviceError> {
        self.virtual_space().ok_or(DeviceError::Unsupported { operation: "virtual memory" })
    }
}

impl VirtualMemory for AscendBackend {
    fn granule(&self) -> Bytes {
        self.virtual_space().map_or(Bytes::mib(2), VirtualSpace::granule)
    }

    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.virtual_space_or_error()?.reserve(self.context(), size)
    }

    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.virtual_space_or_error()?.free_reservation(base, size)
    }

    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        self.virtual_space_or_error()?.create_physical(self.context(), size)
    }

    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.virtual_space_or_error()?.release_physical(memory)
    }

    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.virtual_space_or_error()?.map(address, memory)
    }

    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        self.virtual_space_or_error()?.unmap(address)
    }
}
