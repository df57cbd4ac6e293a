//! A pool over a device whose streams run on a clock that the test moves, watched by the device's race detector.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use backend_host::{
    CallKind, FaultInjection, HostBackend, HostDevice, HostDeviceConfig, Latency, device_stream,
};
use host_device::engine::{BlockStreams, Engine, EngineError, Hazard, Operation, PendingWork, StreamOptions};
use mempool_core::{
    Alignment, AllocError, Bytes, Device, Pool, PoolConfigBuilder, RawAllocation, StreamError, StreamId,
};
use parking_lot::{Mutex, RwLock};

/// Everything that a test of streams needs. What it does on streams it tells the race detector, in the order in which a careful
/// program would do it. A clone is another handle to the same.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) engine: Arc<Engine>,
    pub(crate) faults: Arc<FaultInjection<HostBackend>>,
    pub(crate) pool: Pool,
    streams: Arc<RwLock<HashMap<StreamId, host_device::engine::StreamId>>>,
    interruptions: Interruptions,
    /// Who does it, in reports of races.
    who: &'static str,
}

/// What happens just before the next call of some kind, on the thread that makes it.
type Interruptions = Arc<Mutex<Vec<(CallKind, Box<dyn FnOnce() + Send>)>>>;

impl Stage {
    pub(crate) fn new(capacity: Bytes, config: PoolConfigBuilder) -> Self {
        Self::with_device(HostDeviceConfig::new(capacity.get()), config)
    }

    /// The same on a device of some sort.
    pub(crate) fn with_device(device: HostDeviceConfig, config: PoolConfigBuilder) -> Self {
        Self::over(device, |device| Pool::new(device, config.build().unwrap()).unwrap())
    }

    /// The same, with a pool that the caller makes.
    pub(crate) fn over(device: HostDeviceConfig, pool: impl FnOnce(Arc<dyn Device>) -> Pool) -> Self {
        let device = HostDevice::new(device).unwrap();
        let engine = Arc::new(Engine::new(Arc::new(device)).unwrap());
        let faults = Arc::new(FaultInjection::new(HostBackend::with_engine(Arc::clone(&engine))));
        let interruptions = Interruptions::default();
        let interrupt = {
            let interruptions = Arc::clone(&interruptions);
            move |kind| {
                let next = {
                    let mut all = interruptions.lock();
                    all.iter().position(|&(of, _)| of == kind).map(|index| all.remove(index))
                };
                if let Some((_, happens)) = next {
                    happens();
                }
            }
        };
        let pool = pool(Arc::new(Latency::over(Arc::clone(&faults), interrupt)));
        Self { engine, faults, pool, streams: Arc::default(), interruptions, who: "test" }
    }

    /// Another handle, whose deeds have a name of their own in reports of races.
    pub(crate) fn of(&self, who: &'static str) -> Self {
        Self { who, ..self.clone() }
    }

    /// Lets something happen just before the next call of that kind.
    pub(crate) fn before_next(&self, kind: CallKind, happens: impl FnOnce() + Send + 'static) {
        self.interruptions.lock().push((kind, Box::new(happens)));
    }

    pub(crate) fn add_stream(&self) -> StreamId {
        let stream = self.engine.create_stream(StreamOptions::default());
        let id = self.pool.add_stream(device_stream(stream)).unwrap();
        self.streams.write().insert(id, stream);
        id
    }

    pub(crate) fn add_streams<const N: usize>(&self) -> [StreamId; N] {
        [(); N].map(|()| self.add_stream())
    }

    /// Ends a stream in the pool, then destroys it on the device, which waits for its work.
    pub(crate) fn end_stream(&self, stream: StreamId) {
        self.try_end_stream(stream).unwrap();
    }

    /// The same; when the pool refuses, nothing has happened.
    pub(crate) fn try_end_stream(&self, stream: StreamId) -> Result<(), StreamError> {
        self.pool.end_stream(stream)?;
        self.destroy(stream);
        Ok(())
    }

    /// Waits for the work of a stream, tells the pool that it is done, and destroys the stream.
    pub(crate) fn end_idle_stream(&self, stream: StreamId) {
        self.engine.synchronize_stream(self.on_device(stream)).unwrap();
        self.pool.end_synchronized_stream(stream).unwrap();
        self.destroy(stream);
    }

    fn destroy(&self, stream: StreamId) {
        let on_device = self.streams.write().remove(&stream).unwrap();
        self.engine.destroy_stream(on_device, PendingWork::Finish).unwrap();
    }

    pub(crate) fn on_device(&self, stream: StreamId) -> host_device::engine::StreamId {
        self.streams.read()[&stream]
    }

    /// Allocates on a stream, or for the host.
    pub(crate) fn allocate(
        &self,
        bytes: Bytes,
        stream: Option<StreamId>,
    ) -> Result<RawAllocation, AllocError> {
        self.allocate_aligned(bytes, Alignment::ONE, stream)
    }

    pub(crate) fn allocate_aligned(
        &self,
        bytes: Bytes,
        alignment: Alignment,
        stream: Option<StreamId>,
    ) -> Result<RawAllocation, AllocError> {
        let (raw, streams) = match stream {
            Some(stream) => {
                let raw = self.pool.allocate_raw_on(stream, bytes, alignment)?;
                (raw, BlockStreams::from(self.on_device(stream)))
            }
            None => (self.pool.allocate_raw(bytes, alignment)?, BlockStreams::Any),
        };
        self.engine.declare_block(raw.address.get(), raw.bytes.get(), streams, self.who).unwrap();
        Ok(raw)
    }

    /// Enqueues work of some microseconds that writes a block.
    pub(crate) fn work(&self, block: &RawAllocation, stream: StreamId, micros: u64) {
        let work = Operation::kernel(self.who, Duration::from_micros(micros));
        let work = work.writing(block.address.get(), block.requested.get());
        self.engine.enqueue(self.on_device(stream), work).unwrap();
    }

    /// Lets `later` come after all that `earlier` has been given, by an event that the pool knows nothing of.
    pub(crate) fn order(&self, earlier: StreamId, later: StreamId) {
        let on_device = self.on_device(earlier);
        self.try_order(on_device, later).unwrap();
    }

    /// The same; fails when the first one has ended, or is about to.
    pub(crate) fn try_order(
        &self,
        earlier: host_device::engine::StreamId,
        later: StreamId,
    ) -> Result<(), EngineError> {
        let event = self.engine.create_event(0);
        let ordered = self
            .engine
            .record_event(event, earlier)
            .and_then(|()| self.engine.wait_event(self.on_device(later), event));
        self.engine.destroy_event(event).unwrap();
        ordered
    }

    /// Uses a block of `first` on `stream` too, as a careful program would.
    pub(crate) fn share(&self, block: &RawAllocation, first: Option<StreamId>, stream: StreamId) {
        if let Some(first) = first {
            self.order(first, stream);
        }
        self.allow(block, stream);
    }

    /// Tells that a block is used on `stream` too.
    pub(crate) fn allow(&self, block: &RawAllocation, stream: StreamId) {
        self.engine.allow_on_block(block.address.get(), self.on_device(stream)).unwrap();
        self.pool.record_use(block.address, stream).unwrap();
    }

    pub(crate) fn free(&self, block: &RawAllocation, stream: Option<StreamId>) {
        self.engine.retire_block(block.address.get(), block.bytes.get(), self.who).unwrap();
        match stream {
            Some(stream) => self.pool.free_on(block.address, stream).unwrap(),
            None => self.pool.free(block.address).unwrap(),
        };
    }

    pub(crate) fn advance(&self, micros: u64) {
        self.engine.advance(Duration::from_micros(micros)).unwrap();
    }

    /// What the race detector has found.
    pub(crate) fn hazards(&self) -> Vec<Hazard> {
        self.engine.hazards()
    }

    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        let hazards = self.hazards();
        assert!(hazards.is_empty(), "{} hazards, the first: {}", hazards.len(), hazards[0]);
        self.pool.validate().unwrap();
    }
}
