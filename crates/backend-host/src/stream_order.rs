//! Events of the engine as the pool sees them.

use host_device::engine::{Engine, EngineError, EventId, EventStatus, StreamId};
use mempool_core::{DeviceError, DeviceEvent, DeviceStream, StreamOrder};

use crate::host_backend::HostBackend;

/// The stream of an engine under the name by which a pool knows it.
///
/// ```
/// use std::sync::Arc;
/// use backend_host::{HostBackend, HostDevice, HostDeviceConfig, device_stream};
/// use host_device::engine::{Engine, StreamOptions};
/// use mempool_core::Device;
///
/// let engine = Engine::new(Arc::new(HostDevice::new(HostDeviceConfig::new(1 << 30))?))?;
/// let stream = engine.create_stream(StreamOptions::default());
/// let backend = HostBackend::with_engine(Arc::new(engine));
/// let events = backend.stream_order().expect("there is an engine");
/// let event = events.record_event(device_stream(stream))?;
/// events.synchronize_event(event)?;
/// events.release_event(event)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn device_stream(stream: StreamId) -> DeviceStream {
    DeviceStream::new(stream.get())
}

impl HostBackend {
    fn engine_or_error(&self) -> Result<&Engine, DeviceError> {
        self.engine().map(|engine| &**engine).ok_or(DeviceError::Unsupported { operation: "events" })
    }
}

impl StreamOrder for HostBackend {
    fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
        let engine = self.engine_or_error()?;
        let event = engine.create_event(0);
        match engine.record_event(event, StreamId::new(stream.get())) {
            Ok(()) => Ok(DeviceEvent::new(event.get())),
            Err(error) => {
                engine.destroy_event(event).map_err(engine_error)?;
                Err(engine_error(error))
            }
        }
    }

    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
        let status = self.engine_or_error()?.event_status(engine_event(event)).map_err(engine_error)?;
        Ok(status == EventStatus::Complete)
    }

    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        self.engine_or_error()?.synchronize_event(engine_event(event)).map_err(engine_error)
    }

    fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError> {
        let stream = StreamId::new(stream.get());
        self.engine_or_error()?.wait_event(stream, engine_event(event)).map_err(engine_error)
    }

    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        self.engine_or_error()?.destroy_event(engine_event(event)).map_err(engine_error)
    }
}

fn engine_event(event: DeviceEvent) -> EventId {
    EventId::new(event.get())
}

fn engine_error(error: EngineError) -> DeviceError {
    DeviceError::Other(Box::new(error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use host_device::engine::{Operation, StreamOptions};
    use host_device::{HostDevice, HostDeviceConfig};
    use mempool_core::Device;

    use super::*;

    fn backend() -> (HostBackend, Arc<Engine>) {
        let device = HostDevice::new(HostDeviceConfig::new(1 << 30)).unwrap();
        let engine = Arc::new(Engine::new(Arc::new(device)).unwrap());
        (HostBackend::with_engine(Arc::clone(&engine)), engine)
    }

    #[test]
    fn without_an_engine_there_are_no_events() {
        let backend = HostBackend::open(HostDeviceConfig::new(1 << 30)).unwrap();
        assert!(backend.stream_order().is_none());
        let error = backend.record_event(DeviceStream::new(1)).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    }

    #[test]
    fn an_event_is_complete_when_the_stream_has_passed_it() {
        let (backend, engine) = backend();
        let stream = engine.create_stream(StreamOptions::default());
        engine.enqueue(stream, Operation::kernel("work", Duration::from_micros(5))).unwrap();
        let event = backend.record_event(device_stream(stream)).unwrap();
        engine.enqueue(stream, Operation::kernel("later", Duration::from_micros(5))).unwrap();
        assert!(!backend.is_complete(event).unwrap());
        engine.advance(Duration::from_micros(5)).unwrap();
        assert!(backend.is_complete(event).unwrap());
        backend.release_event(event).unwrap();
        assert_eq!(engine.live_events(), 0);
        assert!(backend.is_complete(event).is_err(), "a released event is no event");
    }

    #[test]
    fn a_wait_stays_when_its_event_is_released() {
        let (backend, engine) = backend();
        let [first, second] = [(); 2].map(|()| engine.create_stream(StreamOptions::default()));
        engine.enqueue(first, Operation::kernel("work", Duration::from_micros(5))).unwrap();
        let event = backend.record_event(device_stream(first)).unwrap();
        backend.wait_event(device_stream(second), event).unwrap();
        backend.release_event(event).unwrap();
        let after = backend.record_event(device_stream(second)).unwrap();
        assert!(!backend.is_complete(after).unwrap());
        backend.synchronize_event(after).unwrap();
        assert_eq!(engine.now(), Duration::from_micros(5));
    }

    #[test]
    fn an_unknown_stream_is_an_error_and_leaves_no_event() {
        let (backend, engine) = backend();
        assert!(backend.record_event(DeviceStream::new(77)).is_err());
        assert_eq!(engine.live_events(), 0);
    }
}
