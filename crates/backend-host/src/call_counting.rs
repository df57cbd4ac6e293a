//! [`CallCounting`]: a device that knows what was asked of it.

use std::sync::Arc;

use mempool_core::{Bytes, DeviceError};
use parking_lot::Mutex;

use crate::call_kind::{CallKind, PerKind};
use crate::forward::forward_device;

/// A wrapper that counts calls, their failures and their bytes, and passes everything on.
///
/// Counts may be read at any time from any thread. A call is counted when it returns, under a short lock, so the
/// numbers of one [`CallCounts`] belong together.
///
/// ```
/// use backend_host::{CallCounting, CallKind, HostBackend, HostDeviceConfig};
/// use mempool_core::{Bytes, Device};
///
/// let device = CallCounting::new(HostBackend::open(HostDeviceConfig::new(1 << 30))?);
/// device.allocate_arena(Bytes::mib(4))?;
/// let before = device.counts();
/// device.allocate_arena(Bytes::mib(2))?;
///
/// let since = device.counts().since(before);
/// assert_eq!(since.calls(CallKind::AllocateArena), 1);
/// assert_eq!(since.allocated(), Bytes::mib(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CallCounting<D: ?Sized> {
    counts: Mutex<CallCounts>,
    inner: Arc<D>,
}

/// What was asked of a device, from its start or between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallCounts {
    kinds: PerKind<KindCounts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct KindCounts {
    calls: u64,
    failures: u64,
    /// Bytes named in all calls.
    asked: Bytes,
    /// Bytes named in the calls that succeeded.
    done: Bytes,
}

impl CallCounts {
    /// Calls of `kind`, the failed ones among them.
    pub fn calls(&self, kind: CallKind) -> u64 {
        self.kinds.get(kind).calls
    }

    /// Calls of `kind` that failed.
    pub fn failures(&self, kind: CallKind) -> u64 {
        self.kinds.get(kind).failures
    }

    /// Calls of every kind.
    pub fn total_calls(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, counts| sum.saturating_add(counts.calls))
    }

    /// Bytes named in all calls of `kind`, the failed ones among them: at most [`Bytes::MAX`], and 0 for
    /// kinds that name none.
    pub fn asked(&self, kind: CallKind) -> Bytes {
        self.kinds.get(kind).asked
    }

    /// Bytes of the arenas that were obtained.
    pub fn allocated(&self) -> Bytes {
        self.kinds.get(CallKind::AllocateArena).done
    }

    /// Bytes of the arenas that were given back.
    pub fn freed(&self) -> Bytes {
        self.kinds.get(CallKind::FreeArena).done
    }

    /// What came after `earlier`, counts of the same device. A number that was larger then is 0.
    #[must_use]
    pub fn since(mut self, earlier: Self) -> Self {
        for kind in CallKind::ALL {
            let then = earlier.kinds.get(kind);
            let now = self.kinds.get_mut(kind);
            now.calls = now.calls.saturating_sub(then.calls);
            now.failures = now.failures.saturating_sub(then.failures);
            now.asked = now.asked.saturating_sub(then.asked);
            now.done = now.done.saturating_sub(then.done);
        }
        self
    }
}

impl<D> CallCounting<D> {
    /// Wraps `inner` and starts from 0.
    pub fn new(inner: D) -> Self {
        Self::over(Arc::new(inner))
    }
}

impl<D: ?Sized> CallCounting<D> {
    /// Wraps a device that others use too and starts from 0. Only calls through this wrapper are counted.
    pub fn over(inner: Arc<D>) -> Self {
        Self { counts: Mutex::default(), inner }
    }

    /// The device below.
    pub fn inner(&self) -> &Arc<D> {
        &self.inner
    }

    /// What was asked since the wrapper was made.
    pub fn counts(&self) -> CallCounts {
        *self.counts.lock()
    }

    fn around<T>(
        &self,
        kind: CallKind,
        bytes: Bytes,
        call: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let result = call();
        let mut counts = self.counts.lock();
        let counts = counts.kinds.get_mut(kind);
        counts.calls = counts.calls.saturating_add(1);
        counts.asked = counts.asked.saturating_add(bytes);
        match result {
            Ok(_) => counts.done = counts.done.saturating_add(bytes),
            Err(_) => counts.failures = counts.failures.saturating_add(1),
        }
        result
    }
}

forward_device!(CallCounting);

#[cfg(test)]
mod tests {
    use std::thread;

    use host_device::HostDeviceConfig;
    use mempool_core::{Device, DeviceAddress};

    use super::*;
    use crate::host_backend::HostBackend;

    const ARENA_CALLS: [CallKind; 3] = [CallKind::AllocateArena, CallKind::FreeArena, CallKind::MemoryInfo];

    fn device() -> CallCounting<HostBackend> {
        CallCounting::new(HostBackend::open(HostDeviceConfig::new(64 << 20)).unwrap())
    }

    #[test]
    fn each_kind_is_counted_by_itself_and_properties_not_at_all() {
        let device = device();
        let base = device.allocate_arena(Bytes::mib(4)).unwrap();
        device.allocate_arena(Bytes::mib(2)).unwrap();
        device.free_arena(base, Bytes::mib(4)).unwrap();
        device.properties();
        assert_eq!(device.memory_info().unwrap().free, Bytes::mib(62));
        let counts = device.counts();
        assert_eq!(ARENA_CALLS.map(|kind| counts.calls(kind)), [2, 1, 1]);
        assert_eq!(counts.total_calls(), 4);
        assert_eq!((counts.allocated(), counts.freed()), (Bytes::mib(6), Bytes::mib(4)));
    }

    #[test]
    fn calls_of_the_facets_are_counted_too() {
        let device = device();
        assert!(device.stream_order().is_none(), "there is no engine below");
        let virtual_memory = device.virtual_memory().unwrap();
        let granule = virtual_memory.granule();
        let memory = virtual_memory.create_physical(granule).unwrap();
        virtual_memory.release_physical(memory).unwrap();
        assert!(virtual_memory.release_physical(memory).is_err());
        let counts = device.counts();
        assert_eq!(counts.calls(CallKind::CreatePhysical), 1);
        assert_eq!(counts.asked(CallKind::CreatePhysical), granule);
        let released = CallKind::ReleasePhysical;
        assert_eq!((counts.calls(released), counts.failures(released)), (2, 1));
        assert_eq!(counts.total_calls(), 3);
    }

    #[test]
    fn failed_calls_count_as_asked_and_not_as_done() {
        let device = device();
        assert!(device.allocate_arena(Bytes::mib(128)).is_err());
        assert!(device.free_arena(DeviceAddress::new(0), Bytes::mib(2)).is_err());
        let counts = device.counts();
        assert_eq!(ARENA_CALLS.map(|kind| counts.calls(kind)), [1, 1, 0]);
        assert_eq!(ARENA_CALLS.map(|kind| counts.failures(kind)), [1, 1, 0]);
        assert_eq!(counts.asked(CallKind::AllocateArena), Bytes::mib(128));
        assert_eq!((counts.allocated(), counts.freed()), (Bytes::ZERO, Bytes::ZERO));
    }

    #[test]
    fn bytes_asked_for_do_not_wrap() {
        let device = device();
        for _ in 0..2 {
            assert!(device.allocate_arena(Bytes::MAX).is_err());
        }
        assert_eq!(device.counts().asked(CallKind::AllocateArena), Bytes::MAX);
    }

    #[test]
    fn the_difference_of_two_moments_is_what_lies_between() {
        let device = device();
        device.allocate_arena(Bytes::mib(4)).unwrap();
        let before = device.counts();
        assert_eq!(device.counts().since(before), CallCounts::default());
        device.allocate_arena(Bytes::mib(2)).unwrap();
        assert!(device.allocate_arena(Bytes::ZERO).is_err());
        let since = device.counts().since(before);
        assert_eq!((since.calls(CallKind::AllocateArena), since.failures(CallKind::AllocateArena)), (2, 1));
        assert_eq!(since.allocated(), Bytes::mib(2));
        assert_eq!(before.since(device.counts()), CallCounts::default());
    }

    #[test]
    fn no_call_of_many_threads_is_lost() {
        let device = device();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let base = device.allocate_arena(Bytes::mib(2)).unwrap();
                        device.free_arena(base, Bytes::mib(2)).unwrap();
                    }
                });
            }
        });
        let counts = device.counts();
        assert_eq!(ARENA_CALLS.map(|kind| counts.calls(kind)), [400, 400, 0]);
        assert_eq!((counts.allocated(), counts.freed()), (Bytes::mib(800), Bytes::mib(800)));
    }

    #[test]
    fn a_shared_device_is_counted_only_through_the_wrapper() {
        let shared: Arc<dyn Device> = Arc::new(HostBackend::open(HostDeviceConfig::new(64 << 20)).unwrap());
        let device = CallCounting::over(Arc::clone(&shared));
        shared.memory_info().unwrap();
        device.memory_info().unwrap();
        assert_eq!(device.counts().total_calls(), 1);
    }
}
