//! The bytes of a host device, for the pattern of [`testkit::contents`].

use std::sync::Arc;

use backend_host::{HostBackend, HostDevice, HostDeviceConfig};
use mempool_core::DeviceAddress;
use testkit::contents::DeviceBytes;

/// Real bytes.
#[derive(Debug, Clone)]
pub(crate) struct HostBytes(pub(crate) Arc<HostDevice>);

impl DeviceBytes for HostBytes {
    fn write(&self, address: DeviceAddress, bytes: &[u8]) -> Result<(), String> {
        self.0.write(address.get(), bytes).map_err(|error| error.to_string())
    }

    fn read(&self, address: DeviceAddress, bytes: &mut [u8]) -> Result<(), String> {
        self.0.read(address.get(), bytes).map_err(|error| error.to_string())
    }
}

/// A backend and its bytes.
pub(crate) fn open(config: HostDeviceConfig) -> (HostBackend, HostBytes) {
    let backend = HostBackend::open(config).expect("the configuration is one that a device can have");
    let bytes = HostBytes(Arc::clone(backend.host_device()));
    (backend, bytes)
}
