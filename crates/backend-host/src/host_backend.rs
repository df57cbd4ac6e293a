//! [`HostBackend`]: the pool's view of a [`HostDevice`].

use std::sync::Arc;

use host_device::engine::Engine;
use host_device::{HostDevice, HostDeviceConfig, HostDeviceError};
use mempool_core::{
    Alignment, Bytes, Device, DeviceAddress, DeviceError, DeviceProperties, MemoryInfo, StreamOrder,
    TailPadding, VirtualMemory,
};

/// A [`Device`] whose arenas are ranges of a [`HostDevice`], with its virtual memory and, where it is made with an engine,
/// the engine's events.
///
/// Cloning shares the device. All methods may be called from any thread.
#[derive(Debug, Clone)]
pub struct HostBackend {
    device: Arc<HostDevice>,
    engine: Option<Arc<Engine>>,
    properties: DeviceProperties,
}

impl HostBackend {
    /// The pool's view of `device`, which others may use beside the pool.
    pub fn new(device: Arc<HostDevice>) -> Self {
        let properties = properties_of(device.config());
        Self { device, engine: None, properties }
    }

    /// The pool's view of the device of `engine`, with the events of its streams.
    pub fn with_engine(engine: Arc<Engine>) -> Self {
        let device = Arc::clone(engine.device());
        Self { engine: Some(engine), ..Self::new(device) }
    }

    /// Makes a device and the pool's view of it.
    ///
    /// # Errors
    ///
    /// As [`HostDevice::new`].
    pub fn open(config: HostDeviceConfig) -> Result<Self, HostDeviceError> {
        HostDevice::new(config).map(|device| Self::new(Arc::new(device)))
    }

    /// The device below, to set its foreign use or to reach its bytes.
    pub fn host_device(&self) -> &Arc<HostDevice> {
        &self.device
    }

    /// The engine, if it was made with one.
    pub fn engine(&self) -> Option<&Arc<Engine>> {
        self.engine.as_ref()
    }
}

impl Device for HostBackend {
    fn properties(&self) -> DeviceProperties {
        self.properties.clone()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        let (total, free) = self.device.memory_info();
        Ok(MemoryInfo { total: Bytes::new(total), free: Bytes::new(free) })
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.device.allocate(size.get()).map(DeviceAddress::new).map_err(device_error)
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.device.free(base.get(), size.get()).map_err(device_error)
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        self.engine.is_some().then_some(self)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        Some(self)
    }
}

fn properties_of(config: &HostDeviceConfig) -> DeviceProperties {
    DeviceProperties::new(config.name.as_str())
        .with_arena_granularity(Bytes::new(config.granularity))
        .with_arena_alignment(alignment(config.base_alignment))
        .with_block_alignment(alignment(config.block_alignment))
        .with_tail_padding(TailPadding {
            round_to: alignment(config.padding_round_to),
            extra: Bytes::new(config.padding_extra),
        })
}

fn alignment(bytes: u64) -> Alignment {
    Alignment::new(bytes).expect("HostDevice::new refuses alignments that are no power of two")
}

/// Only a shortage has a name among the core's errors; the core does not make the mistakes that the others are about.
pub(crate) fn device_error(error: HostDeviceError) -> DeviceError {
    match error {
        HostDeviceError::OutOfMemory { requested, .. } => {
            DeviceError::OutOfMemory { requested: Bytes::new(requested) }
        }
        other => DeviceError::Other(Box::new(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(capacity: Bytes) -> HostBackend {
        HostBackend::open(HostDeviceConfig::new(capacity.get())).unwrap()
    }

    #[track_caller]
    fn host_error(error: DeviceError) -> HostDeviceError {
        match error {
            DeviceError::Other(inner) => *inner.downcast().unwrap(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn properties_repeat_the_configuration() {
        let config = HostDeviceConfig::new(1 << 30)
            .with_name("card")
            .with_granularity(64 << 10)
            .with_base_alignment(1 << 16)
            .with_block_alignment(64)
            .with_padding(32, 32);
        let properties = HostBackend::open(config).unwrap().properties();
        assert_eq!(properties.name, "card");
        assert_eq!(properties.arena_granularity, Bytes::kib(64));
        assert_eq!(properties.arena_alignment.get(), 1 << 16);
        assert_eq!(properties.block_alignment.get(), 64);
        assert_eq!(properties.tail_padding, TailPadding::ASCEND);
    }

    #[test]
    fn a_default_configuration_asks_for_nothing_special() {
        assert_eq!(backend(Bytes::gib(1)).properties(), DeviceProperties::new("host"));
    }

    #[test]
    fn a_configuration_no_device_can_have_is_refused() {
        assert!(HostBackend::open(HostDeviceConfig::new(1).with_block_alignment(3)).is_err());
    }

    #[test]
    fn arenas_are_ranges_of_the_host_device() {
        let backend = backend(Bytes::gib(1));
        let base = backend.allocate_arena(Bytes::mib(4)).unwrap();
        assert!(base.is_aligned(backend.properties().arena_alignment));
        assert_eq!(backend.host_device().live_ranges(), 1);
        backend.host_device().fill(base.get(), 4 << 20, 7).unwrap();
        backend.free_arena(base, Bytes::mib(4)).unwrap();
        assert_eq!(backend.host_device().live_ranges(), 0);
    }

    #[test]
    fn memory_info_follows_arenas_and_foreign_use() {
        let backend = backend(Bytes::mib(16));
        backend.allocate_arena(Bytes::mib(4)).unwrap();
        backend.host_device().set_foreign_use(2 << 20);
        let info = backend.memory_info().unwrap();
        assert_eq!(info, MemoryInfo { total: Bytes::mib(16), free: Bytes::mib(10) });
    }

    #[test]
    fn a_shortage_is_out_of_memory_with_the_bytes_asked_for() {
        let backend = backend(Bytes::mib(4));
        let error = backend.allocate_arena(Bytes::mib(6)).unwrap_err();
        assert!(
            matches!(error, DeviceError::OutOfMemory { requested } if requested == Bytes::mib(6)),
            "{error}"
        );
    }

    #[test]
    fn other_errors_keep_the_host_device_s_own_as_source() {
        let backend = backend(Bytes::gib(1));
        for size in [Bytes::ZERO, Bytes::new(1), Bytes::MAX] {
            let error = host_error(backend.allocate_arena(size).unwrap_err());
            assert!(matches!(error, HostDeviceError::InvalidSize { .. }), "{error}");
        }
        let base = backend.allocate_arena(Bytes::mib(2)).unwrap();
        let error = host_error(backend.free_arena(base, Bytes::mib(4)).unwrap_err());
        assert!(matches!(error, HostDeviceError::SizeMismatch { .. }), "{error}");
        let error = host_error(backend.free_arena(DeviceAddress::new(1), Bytes::mib(2)).unwrap_err());
        assert!(matches!(error, HostDeviceError::UnknownRange { .. }), "{error}");
    }

    #[test]
    fn clones_share_one_device() {
        let first = backend(Bytes::gib(1));
        let base = first.clone().allocate_arena(Bytes::mib(2)).unwrap();
        first.free_arena(base, Bytes::mib(2)).unwrap();
    }
}
