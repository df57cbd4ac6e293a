//! What the tests of manual clocks share: short names, and a diary of what ran when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_device::engine::{Engine, Operation, StreamId, StreamOptions};
use host_device::{HostDevice, HostDeviceConfig};

pub(crate) const MIB: u64 = 1 << 20;

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn engine() -> Arc<Engine> {
    let device = Arc::new(HostDevice::new(HostDeviceConfig::new(64 * MIB)).unwrap());
    Arc::new(Engine::new(device).unwrap())
}

pub(crate) fn stream(engine: &Engine) -> StreamId {
    engine.create_stream(StreamOptions::default())
}

pub(crate) fn work(duration: Duration) -> Operation {
    Operation::kernel("work", duration)
}

/// Operations that write down their name and the time when they ran.
#[derive(Clone)]
pub(crate) struct Diary(Arc<Mutex<Vec<(&'static str, Duration)>>>);

impl Diary {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn work(&self, name: &'static str, duration: Duration) -> Operation {
        let diary = self.clone();
        Operation::kernel(name, duration)
            .with_effect(move |device| diary.0.lock().unwrap().push((name, device.now())))
    }

    pub(crate) fn entries(&self) -> Vec<(&'static str, Duration)> {
        self.0.lock().unwrap().clone()
    }
}
