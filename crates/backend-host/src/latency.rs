//! [`Latency`]: a device whose calls take as long as a hook makes them take.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mempool_core::{Bytes, DeviceError};

use crate::call_kind::{CallKind, PerKind};
use crate::forward::forward_device;

type Hook = Box<dyn Fn(CallKind) + Send + Sync>;

/// A wrapper that runs a hook on the calling thread before it passes a call on.
///
/// In tests the hook is a closure that advances a clock of the test's own, or meets another thread at a chosen point;
/// in demonstrations [`Delays`] makes hooks that really wait. The hook may run on several threads at a time and no
/// lock is held meanwhile, so it may call the device itself.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use backend_host::{CallKind, HostBackend, HostDeviceConfig, Latency};
/// use mempool_core::{Bytes, Device};
///
/// let clock_us = Arc::new(AtomicU64::new(0));
/// let clock = Arc::clone(&clock_us);
/// let device = Latency::new(HostBackend::open(HostDeviceConfig::new(1 << 30))?, move |kind| {
///     let us = if kind == CallKind::AllocateArena { 300 } else { 10 };
///     clock.fetch_add(us, Ordering::Relaxed);
/// });
/// device.allocate_arena(Bytes::mib(2))?;
/// assert_eq!(clock_us.load(Ordering::Relaxed), 300);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Latency<D: ?Sized> {
    hook: Hook,
    inner: Arc<D>,
}

impl<D> Latency<D> {
    /// Wraps `inner`, with `hook` before each call.
    pub fn new(inner: D, hook: impl Fn(CallKind) + Send + Sync + 'static) -> Self {
        Self::over(Arc::new(inner), hook)
    }
}

impl<D: ?Sized> Latency<D> {
    /// Wraps a device that others use too, with `hook` before each call through the wrapper.
    pub fn over(inner: Arc<D>, hook: impl Fn(CallKind) + Send + Sync + 'static) -> Self {
        Self { hook: Box::new(hook), inner }
    }

    /// The device below.
    pub fn inner(&self) -> &Arc<D> {
        &self.inner
    }

    fn around<T>(
        &self,
        kind: CallKind,
        _: Bytes,
        call: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        (self.hook)(kind);
        call()
    }
}

impl<D: fmt::Debug + ?Sized> fmt::Debug for Latency<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latency").field("inner", &&self.inner).finish_non_exhaustive()
    }
}

forward_device!(Latency);

/// How long each kind of call takes, and hooks that wait that long, for demonstrations.
///
/// ```
/// use std::time::Duration;
/// use backend_host::{CallKind, Delays, HostBackend, HostDeviceConfig, Latency};
///
/// let delays = Delays::none().with(CallKind::AllocateArena, Duration::from_micros(300));
/// let device = Latency::new(HostBackend::open(HostDeviceConfig::new(1 << 30))?, delays.spinning());
/// # Ok::<(), backend_host::HostDeviceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delays {
    kinds: PerKind<Duration>,
}

impl Delays {
    /// No call takes any time.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets how long calls of `kind` take.
    #[must_use]
    pub fn with(mut self, kind: CallKind, delay: Duration) -> Self {
        *self.kinds.get_mut(kind) = delay;
        self
    }

    /// How long calls of `kind` take.
    pub fn of(&self, kind: CallKind) -> Duration {
        *self.kinds.get(kind)
    }

    /// A hook that puts the thread to sleep. It leaves the processor to others, and wakes some tens of microseconds
    /// late, as the operating system pleases.
    pub fn sleeping(self) -> impl Fn(CallKind) + Send + Sync + 'static {
        move |kind| {
            let delay = self.of(kind);
            if !delay.is_zero() {
                thread::sleep(delay);
            }
        }
    }

    /// A hook that keeps the processor busy. It keeps delays of a microsecond and costs a core meanwhile.
    pub fn spinning(self) -> impl Fn(CallKind) + Send + Sync + 'static {
        move |kind| {
            let start = Instant::now();
            spin_until(self.of(kind), || start.elapsed());
        }
    }
}

/// Spins until `elapsed` answers `delay` or more.
fn spin_until(delay: Duration, mut elapsed: impl FnMut() -> Duration) {
    while elapsed() < delay {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use host_device::HostDeviceConfig;
    use mempool_core::Device;
    use parking_lot::Mutex;

    use super::*;
    use crate::host_backend::HostBackend;

    fn host() -> HostBackend {
        HostBackend::open(HostDeviceConfig::new(1 << 30)).unwrap()
    }

    #[test]
    fn the_hook_runs_once_before_each_call_and_never_for_properties() {
        let host = host();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, below) = (Arc::clone(&seen), host.clone());
        let device =
            Latency::new(host, move |kind| log.lock().push((kind, below.host_device().live_ranges())));
        let base = device.allocate_arena(Bytes::mib(2)).unwrap();
        device.memory_info().unwrap();
        device.properties();
        device.free_arena(base, Bytes::mib(2)).unwrap();
        let expected = [(CallKind::AllocateArena, 0), (CallKind::MemoryInfo, 1), (CallKind::FreeArena, 1)];
        assert_eq!(*seen.lock(), expected);
        assert_eq!(device.inner().host_device().live_ranges(), 0);
    }

    #[test]
    fn errors_of_the_device_below_pass_through() {
        let device = Latency::new(host(), |_| ());
        assert!(matches!(device.allocate_arena(Bytes::gib(2)), Err(DeviceError::OutOfMemory { .. })));
    }

    #[test]
    fn delays_are_kept_per_kind() {
        let delays = Delays::none()
            .with(CallKind::AllocateArena, Duration::from_micros(300))
            .with(CallKind::FreeArena, Duration::MAX)
            .with(CallKind::AllocateArena, Duration::from_micros(20));
        assert_eq!(delays.of(CallKind::AllocateArena), Duration::from_micros(20));
        assert_eq!(delays.of(CallKind::FreeArena), Duration::MAX);
        assert_eq!(delays.of(CallKind::MemoryInfo), Duration::ZERO);
    }

    #[test]
    fn spinning_ends_at_the_first_moment_that_is_late_enough() {
        for (delay_us, looks) in [(0, 1), (1, 2), (10, 2), (11, 3)] {
            let mut looked = 0;
            spin_until(Duration::from_micros(delay_us), || {
                looked += 1;
                Duration::from_micros((looked - 1) * 10)
            });
            assert_eq!(looked, looks, "{delay_us}");
        }
    }

    #[test]
    fn the_ready_made_hooks_fit_any_device() {
        let shared: Arc<dyn Device> = Arc::new(host());
        for device in [
            Latency::over(Arc::clone(&shared), Delays::none().sleeping()),
            Latency::over(Arc::clone(&shared), Delays::none().spinning()),
        ] {
            let base = device.allocate_arena(Bytes::mib(2)).unwrap();
            device.free_arena(base, Bytes::mib(2)).unwrap();
        }
    }
}
