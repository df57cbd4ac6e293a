//! [`FaultInjection`]: a device whose calls fail when a test says so.

use std::sync::Arc;

use mempool_core::{Bytes, DeviceError};
use parking_lot::Mutex;

use crate::call_kind::{CallKind, PerKind};
use crate::forward::forward_device;

/// The error with which an injected fault answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// [`DeviceError::OutOfMemory`] for the bytes of the call (0 where a call names none).
    OutOfMemory,
    /// [`DeviceError::Lost`]
    Lost,
    /// [`DeviceError::Other`] with an [`InjectedFault`] as its source.
    Other,
}

/// The source of the errors that [`Fault::Other`] makes: tells injected faults from real ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InjectedFault {
    /// The kind of call that failed.
    pub kind: CallKind,
    /// Which of its kind it was; the first is 1.
    pub call: u64,
}

impl std::fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "injected fault: call {} of {}", self.call, self.kind)
    }
}

impl std::error::Error for InjectedFault {}

/// A wrapper that fails chosen calls. A call that fails does not reach the device below; every other one does.
///
/// Faults may be set and cleared at any time and from any thread, by reference. Each call takes a short lock, which is
/// not held while the device below works.
///
/// ```
/// use backend_host::{CallKind, Fault, FaultInjection, HostBackend, HostDeviceConfig};
/// use mempool_core::Device;
///
/// let device = FaultInjection::new(HostBackend::open(HostDeviceConfig::new(1 << 30))?);
/// device.fail_from(CallKind::MemoryInfo, 2, Fault::Lost);
/// assert!(device.memory_info().is_ok());
/// assert!(device.memory_info().is_err());
/// assert!(device.memory_info().is_err());
/// device.clear();
/// assert!(device.memory_info().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FaultInjection<D: ?Sized> {
    state: Mutex<PerKind<Faults>>,
    inner: Arc<D>,
}

/// What is set, and what happened so far, for one kind of call.
#[derive(Debug, Default)]
struct Faults {
    calls: u64,
    injected: u64,
    /// Call numbers that fail, each with its fault.
    single: Vec<(u64, Fault)>,
    /// The call number from which on all fail.
    from: Option<(u64, Fault)>,
}

impl Faults {
    /// The number of the `n`-th call from now on.
    fn number_of(&self, n: u64) -> u64 {
        self.calls.saturating_add(n.max(1))
    }

    /// Counts a call and says whether it is to fail.
    fn next_call(&mut self) -> Option<Fault> {
        self.calls = self.calls.saturating_add(1);
        let call = self.calls;
        let single = self.single.iter().position(|&(number, _)| number == call);
        let fault = match single {
            Some(index) => Some(self.single.swap_remove(index).1),
            None => self.from.filter(|&(first, _)| call >= first).map(|(_, fault)| fault),
        };
        self.injected = self.injected.saturating_add(u64::from(fault.is_some()));
        fault
    }
}

impl<D> FaultInjection<D> {
    /// Wraps `inner`; nothing fails yet.
    pub fn new(inner: D) -> Self {
        Self::over(Arc::new(inner))
    }
}

impl<D: ?Sized> FaultInjection<D> {
    /// Wraps a device that others use too; nothing fails yet.
    pub fn over(inner: Arc<D>) -> Self {
        Self { state: Mutex::default(), inner }
    }

    /// The device below.
    pub fn inner(&self) -> &Arc<D> {
        &self.inner
    }

    /// Lets the `n`-th call of `kind` from now on fail once: 1 is the next call, and so is 0.
    ///
    /// Further calls add further faults; a second fault for the same call replaces the first.
    pub fn fail_nth(&self, kind: CallKind, n: u64, fault: Fault) {
        let mut state = self.state.lock();
        let faults = state.get_mut(kind);
        let call = faults.number_of(n);
        faults.single.retain(|&(number, _)| number != call);
        faults.single.push((call, fault));
    }

    /// Lets every call of `kind` fail from the `n`-th on, until [`Self::clear`]: 1 is the next call, and so is 0.
    ///
    /// Replaces what an earlier `fail_from` set for `kind`; a fault of [`Self::fail_nth`] goes before.
    pub fn fail_from(&self, kind: CallKind, n: u64, fault: Fault) {
        let mut state = self.state.lock();
        let faults = state.get_mut(kind);
        faults.from = Some((faults.number_of(n), fault));
    }

    /// Takes back all faults that have not happened yet. The counters stay.
    pub fn clear(&self) {
        let mut state = self.state.lock();
        for kind in CallKind::ALL {
            let faults = state.get_mut(kind);
            faults.single.clear();
            faults.from = None;
        }
    }

    /// Calls of `kind` so far, the failed ones among them.
    pub fn calls(&self, kind: CallKind) -> u64 {
        self.state.lock().get(kind).calls
    }

    /// Calls of `kind` that failed by an injected fault.
    pub fn injected(&self, kind: CallKind) -> u64 {
        self.state.lock().get(kind).injected
    }

    /// Counts a call of `kind` about `bytes`, and fails it instead of making it if it is to fail.
    fn around<T>(
        &self,
        kind: CallKind,
        bytes: Bytes,
        make: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let (fault, call) = {
            let mut state = self.state.lock();
            let faults = state.get_mut(kind);
            (faults.next_call(), faults.calls)
        };
        let injected = InjectedFault { kind, call };
        match fault {
            None => make(),
            Some(Fault::OutOfMemory) => Err(DeviceError::OutOfMemory { requested: bytes }),
            Some(Fault::Lost) => Err(DeviceError::Lost { detail: injected.to_string() }),
            Some(Fault::Other) => Err(DeviceError::Other(Box::new(injected))),
        }
    }
}

forward_device!(FaultInjection);

#[cfg(test)]
mod tests {
    use std::thread;

    use host_device::HostDeviceConfig;
    use mempool_core::Device;

    use super::*;
    use crate::host_backend::HostBackend;

    const SIZE: Bytes = Bytes::mib(2);

    fn device() -> FaultInjection<HostBackend> {
        FaultInjection::new(HostBackend::open(HostDeviceConfig::new(1 << 30)).unwrap())
    }

    /// Which of `count` allocations fail, counted from 1.
    fn failing(device: &FaultInjection<HostBackend>, count: u64) -> Vec<u64> {
        (1..=count).filter(|_| device.allocate_arena(SIZE).is_err()).collect()
    }

    #[test]
    fn without_faults_every_call_passes() {
        let device = device();
        let base = device.allocate_arena(SIZE).unwrap();
        assert_eq!(device.memory_info().unwrap().free, Bytes::mib(1022));
        device.free_arena(base, SIZE).unwrap();
        for kind in [CallKind::AllocateArena, CallKind::FreeArena, CallKind::MemoryInfo] {
            assert_eq!((device.calls(kind), device.injected(kind)), (1, 0), "{kind}");
        }
        assert_eq!(device.properties(), device.inner().properties());
    }

    #[test]
    fn for_every_n_the_nth_allocation_alone_fails_and_leaves_the_inner_device_untouched() {
        for n in 1..=5 {
            let device = device();
            device.fail_nth(CallKind::AllocateArena, n, Fault::OutOfMemory);
            assert_eq!(failing(&device, 5), [n]);
            assert_eq!(device.inner().host_device().live_ranges(), 4);
            assert_eq!(
                (device.calls(CallKind::AllocateArena), device.injected(CallKind::AllocateArena)),
                (5, 1)
            );
        }
    }

    #[test]
    fn a_failed_free_leaves_the_arena_with_its_owner() {
        let device = device();
        let base = device.allocate_arena(SIZE).unwrap();
        device.fail_nth(CallKind::FreeArena, 1, Fault::Other);
        assert!(device.free_arena(base, SIZE).is_err());
        assert_eq!(device.inner().host_device().live_ranges(), 1);
        device.free_arena(base, SIZE).unwrap();
        assert_eq!(device.inner().host_device().live_ranges(), 0);
    }

    #[test]
    fn n_counts_from_the_moment_of_setting() {
        let device = device();
        assert_eq!(failing(&device, 3), []);
        device.fail_nth(CallKind::AllocateArena, 2, Fault::Lost);
        assert_eq!(failing(&device, 3), [2]);
    }

    #[test]
    fn n_of_0_means_the_next_call_and_the_largest_n_never_comes() {
        let device = device();
        device.fail_nth(CallKind::AllocateArena, 0, Fault::Lost);
        device.fail_nth(CallKind::AllocateArena, u64::MAX, Fault::Lost);
        device.fail_from(CallKind::AllocateArena, u64::MAX, Fault::Lost);
        assert_eq!(failing(&device, 3), [1]);
    }

    #[test]
    fn several_faults_may_be_waiting_and_the_last_word_on_a_call_counts() {
        let device = device();
        for n in [2, 4] {
            device.fail_nth(CallKind::AllocateArena, n, Fault::Lost);
        }
        device.fail_nth(CallKind::AllocateArena, 2, Fault::OutOfMemory);
        assert!(device.allocate_arena(SIZE).is_ok());
        assert!(matches!(device.allocate_arena(SIZE), Err(DeviceError::OutOfMemory { .. })));
        assert_eq!(failing(&device, 3), [2]);
    }

    #[test]
    fn from_the_nth_on_all_fail_until_cleared() {
        let device = device();
        device.fail_from(CallKind::AllocateArena, 3, Fault::OutOfMemory);
        device.fail_nth(CallKind::FreeArena, 1, Fault::Lost);
        assert_eq!(failing(&device, 5), [3, 4, 5]);
        device.clear();
        assert_eq!(failing(&device, 2), []);
        assert_eq!(device.injected(CallKind::AllocateArena), 3);
        let base = device.allocate_arena(SIZE).unwrap();
        assert!(device.free_arena(base, SIZE).is_ok());
    }

    #[test]
    fn kinds_do_not_disturb_each_other() {
        let device = device();
        device.fail_from(CallKind::MemoryInfo, 1, Fault::Lost);
        assert_eq!(failing(&device, 2), []);
        assert!(matches!(device.memory_info(), Err(DeviceError::Lost { .. })));
    }

    #[test]
    fn errors_are_of_the_kind_asked_for_and_say_that_they_are_injected() {
        let device = device();
        let fail = |fault| {
            device.fail_nth(CallKind::AllocateArena, 1, fault);
            device.allocate_arena(SIZE).unwrap_err()
        };
        assert!(matches!(fail(Fault::OutOfMemory), DeviceError::OutOfMemory { requested: SIZE }));
        let DeviceError::Lost { detail } = fail(Fault::Lost) else { panic!("not lost") };
        assert_eq!(detail, "injected fault: call 2 of allocate_arena");
        let DeviceError::Other(source) = fail(Fault::Other) else { panic!("not other") };
        let expected = InjectedFault { kind: CallKind::AllocateArena, call: 3 };
        assert_eq!(source.downcast_ref::<InjectedFault>(), Some(&expected));
    }

    #[test]
    fn a_shared_device_without_a_known_type_can_be_wrapped() {
        let shared: Arc<dyn Device> = Arc::new(HostBackend::open(HostDeviceConfig::new(1 << 30)).unwrap());
        let device = FaultInjection::over(Arc::clone(&shared));
        device.fail_nth(CallKind::AllocateArena, 1, Fault::Lost);
        assert!(device.allocate_arena(SIZE).is_err());
        assert!(shared.allocate_arena(SIZE).is_ok());
    }

    #[test]
    fn of_calls_from_many_threads_exactly_the_chosen_number_fails() {
        let device = device();
        for n in [3, 50, 151] {
            device.fail_nth(CallKind::MemoryInfo, n, Fault::Other);
        }
        let failed: usize = thread::scope(|scope| {
            let workers =
                [(); 4].map(|()| scope.spawn(|| (0..50).filter(|_| device.memory_info().is_err()).count()));
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(failed, 3);
        assert_eq!((device.calls(CallKind::MemoryInfo), device.injected(CallKind::MemoryInfo)), (200, 3));
    }
}
