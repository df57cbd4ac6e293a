//! A device that runs hooks before and after its calls, to bring a second thread or a panic to an exact point.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use mempool_core::{
    AddressDevice, Bytes, Device, DeviceAddress, DeviceError, DeviceProperties, MemoryInfo, Pool,
    StreamOrder, VirtualMemory,
};
use parking_lot::Mutex;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    BeforeAllocate,
    BeforeFree,
    AfterFree,
    BeforeMemoryInfo,
}

type Hook = Box<dyn Fn(Moment) + Send + Sync>;

/// Addresses with a hook.
pub(crate) struct HookedDevice {
    pub(crate) inner: AddressDevice,
    hook: Hook,
}

impl HookedDevice {
    pub(crate) fn new(capacity: Bytes, hook: impl Fn(Moment) + Send + Sync + 'static) -> Self {
        Self { inner: AddressDevice::new(capacity), hook: Box::new(hook) }
    }
}

impl fmt::Debug for HookedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedDevice").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Device for HookedDevice {
    fn properties(&self) -> DeviceProperties {
        self.inner.properties()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        (self.hook)(Moment::BeforeMemoryInfo);
        self.inner.memory_info()
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        (self.hook)(Moment::BeforeAllocate);
        self.inner.allocate_arena(size)
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        (self.hook)(Moment::BeforeFree);
        let answer = self.inner.free_arena(base, size);
        (self.hook)(Moment::AfterFree);
        answer
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        None
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        None
    }
}

/// A place for the pool that a hook uses; the hook must exist before the pool.
pub(crate) type PoolSlot = Arc<Mutex<Option<Pool>>>;

/// Runs `work` on another thread, and waits until it is done or surely waits for the caller: a pool may make the other thread wait
/// for a call in whose middle this is called.
pub(crate) fn run_beside(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let done = Arc::new(AtomicBool::new(false));
    let done_of_thread = Arc::clone(&done);
    let running = thread::spawn(move || {
        work();
        done_of_thread.store(true, Ordering::Release);
    });
    for _ in 0..20_000 {
        if done.load(Ordering::Acquire) || running.is_finished() {
            break;
        }
        thread::yield_now();
    }
    running
}
