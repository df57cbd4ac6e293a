//! A pool over a device whose streams run on a clock that the test moves, watched by the device's race detector.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use backend_host::{FaultInjection, HostBackend, HostDevice, HostDeviceConfig, device_stream};
use host_device::engine::{BlockStreams, Engine, Hazard, Operation, PendingWork, StreamOptions};
use mempool_core::{Alignment, AllocError, Bytes, Pool, PoolConfigBuilder, RawAllocation, StreamId};

/// Everything that a test of streams needs. What it does on streams it tells the race detector, in the order in which a careful
/// program would do it.
pub(crate) struct Stage {
    pub(crate) engine: Arc<Engine>,
    pub(crate) faults: Arc<FaultInjection<HostBackend>>,
    pub(crate) pool: Pool,
    streams: HashMap<StreamId, host_device::engine::StreamId>,
}

impl Stage {
    pub(crate) fn new(capacity: Bytes, config: PoolConfigBuilder) -> Self {
        Self::over(HostDeviceConfig::new(capacity.get()), config)
    }

    pub(crate) fn over(device: HostDeviceConfig, config: PoolConfigBuilder) -> Self {
        let device = HostDevice::new(device).unwrap();
        let engine = Arc::new(Engine::new(Arc::new(device)).unwrap());
        let faults = Arc::new(FaultInjection::new(HostBackend::with_engine(Arc::clone(&engine))));
        let pool = Pool::new(Arc::clone(&faults) as _, config.build().unwrap()).unwrap();
        Self { engine, faults, pool, streams: HashMap::new() }
    }

    pub(crate) fn add_stream(&mut self) -> StreamId {
        let stream = self.engine.create_stream(StreamOptions::default());
        let id = self.pool.add_stream(device_stream(stream)).unwrap();
        self.streams.insert(id, stream);
        id
    }

    pub(crate) fn add_streams<const N: usize>(&mut self) -> [StreamId; N] {
        [(); N].map(|()| self.add_stream())
    }

    /// Ends a stream in the pool, then destroys it on the device, which waits for its work.
    pub(crate) fn end_stream(&mut self, stream: StreamId) {
        self.pool.end_stream(stream).unwrap();
        let on_device = self.streams.remove(&stream).unwrap();
        self.engine.destroy_stream(on_device, PendingWork::Finish).unwrap();
    }

    pub(crate) fn on_device(&self, stream: StreamId) -> host_device::engine::StreamId {
        self.streams[&stream]
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
        self.engine.declare_block(raw.address.get(), raw.bytes.get(), streams, "allocated").unwrap();
        Ok(raw)
    }

    /// Enqueues work of some microseconds that writes a block.
    pub(crate) fn work(&self, block: &RawAllocation, stream: StreamId, micros: u64) {
        let work = Operation::kernel("work", Duration::from_micros(micros));
        let work = work.writing(block.address.get(), block.requested.get());
        self.engine.enqueue(self.on_device(stream), work).unwrap();
    }

    /// Lets `later` come after all that `earlier` has been given, by an event that the pool knows nothing of.
    pub(crate) fn order(&self, earlier: StreamId, later: StreamId) {
        let event = self.engine.create_event(0);
        self.engine.record_event(event, self.on_device(earlier)).unwrap();
        self.engine.wait_event(self.on_device(later), event).unwrap();
        self.engine.destroy_event(event).unwrap();
    }

    /// Uses a block of `first` on `stream` too, as a careful program would.
    pub(crate) fn share(&self, block: &RawAllocation, first: Option<StreamId>, stream: StreamId) {
        if let Some(first) = first {
            self.order(first, stream);
            self.engine.allow_on_block(block.address.get(), self.on_device(stream)).unwrap();
        }
        self.pool.record_use(block.address, stream).unwrap();
    }

    pub(crate) fn free(&self, block: &RawAllocation, stream: Option<StreamId>) {
        self.engine.retire_block(block.address.get(), block.bytes.get(), "freed").unwrap();
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
