//! Virtual memory of the host device as the pool sees it.

use host_device::PhysicalHandle;
use mempool_core::{Bytes, DeviceAddress, DeviceError, PhysicalMemory, VirtualMemory};

use crate::host_backend::{HostBackend, device_error};

impl VirtualMemory for HostBackend {
    fn granule(&self) -> Bytes {
        Bytes::new(self.host_device().config().virtual_granule)
    }

    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.host_device().reserve(size.get(), 0).map(DeviceAddress::new).map_err(device_error)
    }

    fn free_reservation(&self, base: DeviceAddress, _: Bytes) -> Result<(), DeviceError> {
        self.host_device().free_reservation(base.get()).map_err(device_error)
    }

    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        let handle = self.host_device().create_physical(size.get()).map_err(device_error)?;
        Ok(PhysicalMemory::new(handle.get()))
    }

    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.host_device().release_physical(PhysicalHandle::new(memory.get())).map_err(device_error)
    }

    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.host_device().map(address.get(), PhysicalHandle::new(memory.get())).map_err(device_error)
    }

    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        self.host_device().unmap(address.get()).map_err(device_error)
    }
}

#[cfg(test)]
mod tests {
    use host_device::{HostDeviceConfig, VirtualCounts};
    use mempool_core::Device;

    use super::*;

    #[test]
    fn memory_moves_to_another_address_with_its_bytes() {
        let backend = HostBackend::open(HostDeviceConfig::new(8 << 20)).unwrap();
        let virtual_memory = backend.virtual_memory().unwrap();
        let granule = virtual_memory.granule();
        let base = virtual_memory.reserve(Bytes::gib(1)).unwrap();
        let memory = virtual_memory.create_physical(granule).unwrap();
        assert_eq!(backend.memory_info().unwrap().free, Bytes::mib(6));

        virtual_memory.map(base, memory).unwrap();
        backend.host_device().fill(base.get(), 100, 7).unwrap();
        assert!(virtual_memory.release_physical(memory).is_err(), "it is mapped");
        assert!(virtual_memory.free_reservation(base, Bytes::gib(1)).is_err(), "something is mapped there");
        virtual_memory.unmap(base).unwrap();
        let elsewhere = DeviceAddress::new(base.get() + 5 * granule.get());
        virtual_memory.map(elsewhere, memory).unwrap();
        backend.host_device().check_fill(elsewhere.get(), 100, 7).unwrap();

        virtual_memory.unmap(elsewhere).unwrap();
        virtual_memory.release_physical(memory).unwrap();
        virtual_memory.free_reservation(base, Bytes::gib(1)).unwrap();
        assert_eq!(backend.host_device().virtual_counts(), VirtualCounts::default());
    }

    #[test]
    fn a_shortage_is_out_of_memory_and_a_wrong_name_is_not() {
        let backend = HostBackend::open(HostDeviceConfig::new(4 << 20)).unwrap();
        let error = backend.create_physical(Bytes::mib(6)).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
        let error = backend.map(DeviceAddress::new(0), PhysicalMemory::new(9)).unwrap_err();
        assert!(matches!(error, DeviceError::Other(_)), "{error}");
    }
}
