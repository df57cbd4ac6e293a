//! One simulated device: its memory, its engine, and what was allocated on it. Made by the first use, dropped by a
//! reset.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceState};
use host_device::engine::{Engine, Operation, PendingWork, StreamId};
use host_device::{ClockMode, HostDevice, HostDeviceConfig};
use parking_lot::Mutex;

use crate::failure::Failure;
use crate::options::CoreLimits;
use crate::settings::Settings;
use crate::stream_pool::StreamPools;
use crate::watchers::tell_of_device;
use crate::{call, exports};

/// How long a teardown waits for work that may never end.
const TEARDOWN_PATIENCE: Duration = Duration::from_secs(2);

/// The memory and streams of a device between its first use and its reset.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) index: usize,
    pub(crate) memory: Arc<HostDevice>,
    pub(crate) engine: Engine,
    /// Bytes taken, by address, of what `aclrtMalloc` and its like gave.
    allocations: Mutex<BTreeMap<u64, u64>>,
    pub(crate) pools: Mutex<StreamPools>,
    /// Streams whose handles are gone but whose work goes on.
    orphans: Mutex<Vec<(u64, StreamId)>>,
    pub(crate) limits: Mutex<CoreLimits>,
}

/// The granule of mapped memory.
pub(crate) const GRANULE: u64 = 2 << 20;

impl Device {
    fn new(index: usize, settings: &Settings) -> Result<Self, Failure> {
        let config = HostDeviceConfig::new(settings.capacity)
            .with_name(format!("npu:{index}"))
            .with_granularity(32)
            .with_base_alignment(512)
            .with_block_alignment(64)
            .with_padding(32, 32)
            .with_virtual_granule(GRANULE)
            .with_clock(ClockMode::Threaded { delays: true });
        let memory = Arc::new(HostDevice::new(config)?);
        memory.set_foreign_use(settings.foreign_use);
        let engine = Engine::new(Arc::clone(&memory))?;
        Ok(Self {
            index,
            memory,
            engine,
            allocations: Mutex::default(),
            pools: Mutex::default(),
            orphans: Mutex::default(),
            limits: Mutex::default(),
        })
    }

    /// Takes `size` bytes, a positive multiple of 32.
    pub(crate) fn allocate(&self, size: u64) -> Result<u64, Failure> {
        let address = self.memory.allocate_from(size, call::site())?;
        self.allocations.lock().insert(address, size);
        Ok(address)
    }

    /// Gives back what `allocate` gave at `address`, at once, whatever uses it.
    pub(crate) fn free(&self, address: u64) -> Result<(), Failure> {
        let size = self.allocations.lock().remove(&address);
        let size = size.ok_or_else(|| {
            Failure::refused(format!(
                "{address:#x} is no allocation of device {}: free what was allocated, by its first address, once",
                self.index
            ))
        })?;
        Ok(self.memory.free_from(address, size, call::site())?)
    }

    /// Words about memory, addresses and pools that are not given back.
    pub(crate) fn describe_memory(&self) -> Vec<String> {
        let addresses: Vec<u64> = self.allocations.lock().keys().copied().collect();
        let lives = addresses.into_iter().filter_map(|address| Some(self.memory.describe(address)?.life));
        let mut left: Vec<_> = lives.map(|life| format!("memory, {life}")).collect();
        let (pools, pages) = self.pools.lock().counts();
        let counts = self.memory.virtual_counts();
        for (kind, count) in [
            ("pools", pools),
            ("reservations", counts.reservations.saturating_sub(pools)),
            ("mappings", counts.mappings.saturating_sub(pages)),
        ] {
            if count > 0 {
                left.push(format!("{kind}: {count}"));
            }
        }
        left
    }

    /// Whether the address lies in live memory of this device.
    pub(crate) fn owns(&self, address: u64) -> bool {
        self.memory.describe(address).is_some()
    }

    /// Enqueues an operation. Memory of a pool that it touches is in use on this stream then, which the engine watches: a
    /// pool may hand it out again only behind that.
    pub(crate) fn enqueue(&self, stream: StreamId, operation: Operation) -> Result<(), Failure> {
        let blocks: Vec<u64> = {
            let pools = self.pools.lock();
            operation.touches().iter().filter_map(|touch| pools.busy_block(touch.address)).collect()
        };
        for block in blocks {
            // Freed on another thread meanwhile, which the engine reports when it comes to the operation.
            let _unknown = self.engine.allow_on_block(block, stream);
        }
        self.engine.enqueue(stream, operation)?;
        Ok(())
    }

    /// Forgets a stream; what is enqueued on it still runs.
    pub(crate) fn orphan(&self, handle: u64, stream: StreamId) {
        self.orphans.lock().push((handle, stream));
        self.sweep();
    }

    /// Destroys the streams without a handle that are done.
    pub(crate) fn sweep(&self) {
        let is_done = |stream| match self.engine.pending_operations(stream) {
            Ok(0) => self.engine.destroy_stream(stream, PendingWork::Abandon).is_ok(),
            Ok(_) => false,
            Err(_) => true,
        };
        let done: Vec<_> = self.orphans.lock().extract_if(.., |&mut (_, stream)| is_done(stream)).collect();
        for (handle, _) in done {
            exports::forget_threads(handle);
        }
    }

    /// Lets what is enqueued end, for a while: what is left then is dropped with the device.
    pub(crate) fn settle(&self) {
        let _left = self.engine.synchronize_device_within(TEARDOWN_PATIENCE);
    }
}

/// The place of a device in the process, used or not.
#[derive(Debug, Default)]
pub(crate) struct Slot(Mutex<SlotState>);

#[derive(Debug, Default)]
struct SlotState {
    device: Option<Arc<Device>>,
    /// How often it was set and not reset.
    set: u64,
    /// Handle of the default context, 0 before it is first set.
    primary: u64,
}

impl Slot {
    /// The device, made if need be, of which it tells.
    pub(crate) fn activate(&self, index: usize, settings: &Settings) -> Result<Arc<Device>, Failure> {
        if let Some(device) = self.device() {
            return Ok(device);
        }
        tell_of_device(index, aclrtDeviceState::ACL_RT_DEVICE_STATE_SET_PRE);
        let mut state = self.0.lock();
        if let Some(device) = &state.device {
            return Ok(Arc::clone(device));
        }
        let device = Arc::new(Device::new(index, settings)?);
        state.device = Some(Arc::clone(&device));
        Ok(device)
    }

    pub(crate) fn device(&self) -> Option<Arc<Device>> {
        self.0.lock().device.clone()
    }

    /// Counts a set and answers the default context, which `make` makes the first time, and whether that was now.
    pub(crate) fn set(&self, make: impl FnOnce() -> u64) -> (u64, bool) {
        let mut state = self.0.lock();
        let is_first = state.primary == 0;
        if is_first {
            state.primary = make();
        }
        state.set += 1;
        (state.primary, is_first)
    }

    /// Whether the next reset, or one of all, takes the device down.
    pub(crate) fn is_last_reset(&self, all: bool) -> bool {
        let state = self.0.lock();
        state.device.is_some() && (state.set == 1 || (all && state.set > 0))
    }

    /// Whether it is set, so that its default context exists.
    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().set > 0
    }

    /// Counts a reset, or all of them, and answers the device if that was the last.
    pub(crate) fn reset(&self, index: usize, all: bool) -> Result<Option<Arc<Device>>, Failure> {
        let mut state = self.0.lock();
        if state.set == 0 {
            let text = format!("device {index} is not set, or was reset already");
            return Err(Failure::new(ACL_ERROR_RT_CONTEXT_NULL, text));
        }
        state.set = if all { 0 } else { state.set - 1 };
        if state.set > 0 {
            return Ok(None);
        }
        state.primary = 0;
        Ok(state.device.take())
    }

    /// Takes the device, whatever the count.
    pub(crate) fn clear(&self) -> Option<Arc<Device>> {
        std::mem::take(&mut *self.0.lock()).device
    }
}
