//! Passing the calls of a device on through a wrapper: written once for all wrappers.

use mempool_core::DeviceError;

/// The error of a facet that the device below does not have. Nobody can reach it without breaking the promise that
/// `stream_order` and `virtual_memory` always give the same answer.
pub(crate) fn missing(operation: &'static str) -> DeviceError {
    DeviceError::Unsupported { operation }
}

/// Makes a wrapper with a field `inner` and a method
/// `around(&self, kind: CallKind, bytes: Bytes, call: impl FnOnce() -> Result<T, DeviceError>) -> Result<T, DeviceError>`
/// a device whose every call goes through `around`.
macro_rules! forward_device {
    ($wrapper:ident) => {
        const _: () = {
            use mempool_core::{
                Bytes, Device, DeviceAddress, DeviceError, DeviceEvent, DeviceProperties, DeviceStream,
                MemoryInfo, PhysicalMemory, StreamOrder, VirtualMemory,
            };

            use $crate::call_kind::CallKind;
            use $crate::forward::missing;

            impl<D: Device + ?Sized> Device for $wrapper<D> {
                fn properties(&self) -> DeviceProperties {
                    self.inner.properties()
                }

                fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
                    self.around(CallKind::MemoryInfo, Bytes::ZERO, || self.inner.memory_info())
                }

                fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
                    self.around(CallKind::AllocateArena, size, || self.inner.allocate_arena(size))
                }

                fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
                    self.around(CallKind::FreeArena, size, || self.inner.free_arena(base, size))
                }

                fn stream_order(&self) -> Option<&dyn StreamOrder> {
                    self.inner.stream_order().map(|_| self as &dyn StreamOrder)
                }

                fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
                    self.inner.virtual_memory().map(|_| self as &dyn VirtualMemory)
                }
            }

            impl<D: Device + ?Sized> $wrapper<D> {
                fn events<T>(
                    &self,
                    kind: CallKind,
                    call: impl FnOnce(&dyn StreamOrder) -> Result<T, DeviceError>,
                ) -> Result<T, DeviceError> {
                    let below = self.inner.stream_order().ok_or_else(|| missing("events"))?;
                    self.around(kind, Bytes::ZERO, || call(below))
                }

                fn mappings<T>(
                    &self,
                    kind: CallKind,
                    bytes: Bytes,
                    call: impl FnOnce(&dyn VirtualMemory) -> Result<T, DeviceError>,
                ) -> Result<T, DeviceError> {
                    let below = self.inner.virtual_memory().ok_or_else(|| missing("virtual memory"))?;
                    self.around(kind, bytes, || call(below))
                }
            }

            impl<D: Device + ?Sized> StreamOrder for $wrapper<D> {
                fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
                    self.events(CallKind::RecordEvent, |below| below.record_event(stream))
                }

                fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
                    self.events(CallKind::IsComplete, |below| below.is_complete(event))
                }

                fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
                    self.events(CallKind::SynchronizeEvent, |below| below.synchronize_event(event))
                }

                fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError> {
                    self.events(CallKind::WaitEvent, |below| below.wait_event(stream, event))
                }

                fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
                    self.events(CallKind::ReleaseEvent, |below| below.release_event(event))
                }
            }

            impl<D: Device + ?Sized> VirtualMemory for $wrapper<D> {
                fn granule(&self) -> Bytes {
                    self.inner.virtual_memory().map_or(Bytes::ZERO, VirtualMemory::granule)
                }

                fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
                    self.mappings(CallKind::Reserve, size, |below| below.reserve(size))
                }

                fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
                    self.mappings(CallKind::FreeReservation, size, |below| below.free_reservation(base, size))
                }

                fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
                    self.mappings(CallKind::CreatePhysical, size, |below| below.create_physical(size))
                }

                fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
                    self.mappings(CallKind::ReleasePhysical, Bytes::ZERO, |below| {
                        below.release_physical(memory)
                    })
                }

                fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
                    self.mappings(CallKind::Map, Bytes::ZERO, |below| below.map(address, memory))
                }

                fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
                    self.mappings(CallKind::Unmap, Bytes::ZERO, |below| below.unmap(address))
                }
            }
        };
    };
}

pub(crate) use forward_device;
