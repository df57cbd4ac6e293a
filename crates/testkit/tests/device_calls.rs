//! When and how the pool calls its device, and what happens when a device calls back, is slow, or panics.

#[cfg(test)]
mod hooked_device;

#[cfg(test)]
mod device_calls {
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use mempool_core::{
        AddressDevice, Alignment, AllocError, Bytes, Device, DeviceAddress, DeviceError, DeviceProperties,
        Event, EventKind, MemoryInfo, Pool, PoolConfig, PoolConfigBuilder, Recorder, StreamOrder,
        VirtualMemory,
    };
    use parking_lot::Mutex;
    use testkit::event_log::EventLog;
    use testkit::watched_device::{Call, WatchedDevice};

    use super::hooked_device::{HookedDevice, Moment, PoolSlot, run_beside};

    const GIB: Bytes = Bytes::gib(1);

    fn config(change: impl FnOnce(PoolConfigBuilder) -> PoolConfigBuilder) -> PoolConfig {
        change(PoolConfig::builder().arena_size(Bytes::mib(2))).build().unwrap()
    }

    fn watched(limit: Bytes) -> (Arc<WatchedDevice>, Pool) {
        let device = Arc::new(WatchedDevice::new(Arc::new(AddressDevice::new(GIB))).with_limit(limit));
        let pool = Pool::new(Arc::clone(&device) as _, config(|config| config.max_size(limit))).unwrap();
        (device, pool)
    }

    fn asked(size: Bytes, call: &Call) -> DeviceAddress {
        let Call::AllocateArena { size: found, base: Some(base) } = *call else { panic!("{call:?}") };
        assert_eq!(found, size);
        base
    }

    #[test]
    fn every_arena_goes_back_once_with_its_base_and_size_in_order() {
        let (device, pool) = watched(GIB);
        drop(pool.allocate(Bytes::mib(5)).unwrap());
        drop(pool.allocate(Bytes::mib(9)).unwrap());
        assert_eq!(pool.trim().unwrap(), Bytes::mib(16));
        pool.trim().unwrap();
        drop(pool);
        let calls = device.calls();
        let [first, second, gone @ ..] = &calls[..] else { panic!("{calls:?}") };
        let expected =
            [(asked(Bytes::mib(6), first), Bytes::mib(6)), (asked(Bytes::mib(10), second), Bytes::mib(10))];
        assert_eq!(gone, expected.map(|(base, size)| Call::FreeArena { base, size, taken: true }));
    }

    #[test]
    fn a_request_that_fits_asks_the_device_nothing_and_nor_does_a_free() {
        let (device, pool) = watched(GIB);
        drop(pool.allocate(Bytes::mib(32)).unwrap());
        device.forget_calls();
        for step in 0..1000 {
            drop(pool.allocate(Bytes::new(1 + step * 2000)).unwrap());
            pool.status();
        }
        pool.report();
        pool.validate().unwrap();
        assert_eq!(device.calls(), []);
    }

    #[test]
    fn empty_arenas_go_back_before_the_larger_one_is_asked_for() {
        let (device, pool) = watched(Bytes::mib(8));
        drop((0..4).map(|_| pool.allocate(Bytes::mib(2)).unwrap()).collect::<Vec<_>>());
        device.forget_calls();
        let _block = pool.allocate(Bytes::mib(7)).unwrap();
        let calls = device.calls();
        let (last, before) = calls.split_last().unwrap();
        asked(Bytes::mib(8), last);
        assert!(
            before.len() == 4
                && before.iter().all(|call| matches!(call, Call::FreeArena { taken: true, .. }))
        );
    }

    #[test]
    fn memory_info_is_asked_only_to_explain_a_failure() {
        let (device, pool) = watched(Bytes::mib(8));
        let _block = pool.allocate(Bytes::mib(6)).unwrap();
        device.forget_calls();
        assert!(pool.allocate(Bytes::mib(4)).is_err());
        assert_eq!(device.calls(), [Call::MemoryInfo]);
        device.forget_calls();
        assert!(pool.allocate(Bytes::mib(9)).is_err(), "never fits: nothing is asked");
        assert_eq!(device.calls(), []);
    }

    /// A hook that runs `work` with the pool at one moment, once the slot holds a pool.
    fn pool_whose_device(
        config: PoolConfig,
        moment: Moment,
        work: impl Fn(&Pool) + Send + Sync + 'static,
    ) -> (Pool, PoolSlot, Arc<HookedDevice>) {
        let slot = PoolSlot::default();
        let slot_of_hook = Arc::clone(&slot);
        let device = Arc::new(HookedDevice::new(GIB, move |now| {
            let pool = if now == moment { slot_of_hook.lock().clone() } else { None };
            if let Some(pool) = pool {
                work(&pool);
            }
        }));
        let pool = Pool::new(Arc::clone(&device) as _, config).unwrap();
        *slot.lock() = Some(pool.clone());
        (pool, slot, device)
    }

    #[test]
    fn no_lock_is_held_while_the_device_is_called() {
        for moment in
            [Moment::BeforeAllocate, Moment::BeforeFree, Moment::AfterFree, Moment::BeforeMemoryInfo]
        {
            let looks = Arc::new(AtomicUsize::new(0));
            let looks_of_hook = Arc::clone(&looks);
            let config = config(|config| config.max_size(Bytes::mib(8)));
            let (pool, slot, _) = pool_whose_device(config, moment, move |pool| {
                // Joined here: a lock that is held would stop this for ever.
                let pool = pool.clone();
                let look = move || {
                    (
                        pool.status().blocks,
                        pool.report().arenas.len(),
                        pool.free(DeviceAddress::new(0)).is_err(),
                    )
                };
                let (_, _, refused) = thread::spawn(look).join().unwrap();
                assert!(refused);
                looks_of_hook.fetch_add(1, Ordering::Relaxed);
            });
            let block = pool.allocate(Bytes::mib(3)).unwrap();
            assert!(pool.allocate(Bytes::mib(7)).is_err());
            drop(block);
            pool.trim().unwrap();
            assert!(looks.load(Ordering::Relaxed) > 0, "{moment:?} never came");
            slot.lock().take();
        }
    }

    #[test]
    fn a_device_may_use_the_pool_on_the_same_thread() {
        for moment in [Moment::BeforeAllocate, Moment::BeforeFree, Moment::AfterFree] {
            let depth = Arc::new(AtomicUsize::new(0));
            let depth_of_hook = Arc::clone(&depth);
            let config = config(|config| config.max_size(Bytes::mib(64)));
            let (pool, slot, device) = pool_whose_device(config, moment, move |pool| {
                if depth_of_hook.fetch_add(1, Ordering::Relaxed) == 0 {
                    // Needs growth of its own.
                    drop(pool.allocate(Bytes::mib(1)).unwrap());
                    pool.trim().unwrap();
                }
            });
            let block = pool.allocate(Bytes::mib(3)).unwrap();
            pool.validate().unwrap();
            drop(block);
            pool.trim().unwrap();
            pool.validate().unwrap();
            assert!(depth.load(Ordering::Relaxed) > 0, "{moment:?} never came");
            assert!(pool.status().total.is_zero() && device.inner.live().is_zero());
            slot.lock().take();
        }
    }

    /// Sees to it that `work` runs beside the first call of the kind, and gives the thread.
    fn pool_with_work_beside(
        config: PoolConfig,
        moment: Moment,
        recorder: Arc<dyn Recorder>,
        work: impl FnOnce(&Pool) + Send + 'static,
    ) -> (Pool, Arc<Mutex<Option<JoinHandle<()>>>>) {
        let slot = PoolSlot::default();
        let running = Arc::new(Mutex::new(None));
        let (slot_of_hook, running_of_hook) = (Arc::clone(&slot), Arc::clone(&running));
        let work = Mutex::new(Some(work));
        let device = HookedDevice::new(GIB, move |now| {
            let pool = if now == moment { slot_of_hook.lock().take() } else { None };
            if let Some(pool) = pool {
                let work = work.lock().take().expect("the slot was filled once");
                *running_of_hook.lock() = Some(run_beside(move || work(&pool)));
            }
        });
        let pool = Pool::with_recorder(Arc::new(device), config, recorder).unwrap();
        *slot.lock() = Some(pool.clone());
        (pool, running)
    }

    #[track_caller]
    fn join(running: &Mutex<Option<JoinHandle<()>>>) {
        let running = running.lock().take().expect("the moment came");
        assert!(running.join().is_ok(), "the other thread failed");
    }

    /// Four arenas of 2 MiB, all that the pool may hold, with nothing live in them.
    fn fill_with_empty_arenas(pool: &Pool) {
        drop((0..4).map(|_| pool.allocate(Bytes::mib(2)).unwrap()).collect::<Vec<_>>());
        assert_eq!((pool.status().total, pool.status().arenas), (Bytes::mib(8), 4));
    }

    /// While one thread gives empty arenas back to make room, there is enough for another's request, too, in either order.
    #[test]
    fn a_request_does_not_fail_because_another_thread_gives_arenas_back_to_grow() {
        let config = config(|config| config.max_size(Bytes::mib(8)));
        let (pool, running) =
            pool_with_work_beside(config, Moment::BeforeFree, Arc::<EventLog>::default(), |pool| {
                let block = pool.allocate_raw(Bytes::mib(4), Alignment::ONE);
                assert!(block.is_ok(), "4 of 8 MiB are free: {block:?}");
            });
        fill_with_empty_arenas(&pool);
        let block = pool.allocate(Bytes::mib(4)).unwrap();
        join(&running);
        drop(block);
        pool.validate().unwrap();
    }

    /// The same with a trim that somebody asked for.
    #[test]
    fn a_request_does_not_fail_because_another_thread_trims() {
        let config = config(|config| config.max_size(Bytes::mib(8)));
        let (pool, running) =
            pool_with_work_beside(config, Moment::BeforeFree, Arc::<EventLog>::default(), |pool| {
                let block = pool.allocate_raw(Bytes::mib(5), Alignment::ONE);
                assert!(block.is_ok(), "all of 8 MiB are free: {block:?}");
            });
        fill_with_empty_arenas(&pool);
        pool.trim().unwrap();
        join(&running);
        pool.validate().unwrap();
    }

    /// As soon as the device has an arena back it may hand the same addresses out again; the events' numbers must not say that they
    /// were there twice.
    #[test]
    fn an_arena_goes_before_its_addresses_come_again() {
        let log = Arc::new(EventLog::default());
        let config = config(|config| config);
        let (pool, running) =
            pool_with_work_beside(config, Moment::AfterFree, Arc::clone(&log) as _, |pool| {
                drop(pool.allocate(Bytes::mib(2)).unwrap());
            });
        drop(pool.allocate(Bytes::mib(2)).unwrap());
        pool.trim().unwrap();
        join(&running);
        log.replay().unwrap_or_else(|violation| panic!("{violation}: {:#?}", log.events()));
    }

    /// Fails the test instead of hanging when `work` does not end.
    #[track_caller]
    fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// Runs what must panic, quietly enough.
    #[track_caller]
    fn panics<T>(work: impl FnOnce() -> T) {
        assert!(panic::catch_unwind(AssertUnwindSafe(work)).is_err(), "nothing panicked");
    }

    /// A hook that panics at the first such moment, after `beside` was started on another thread.
    fn pool_whose_device_panics(
        moment: Moment,
        beside: impl FnOnce(&Pool) + Send + 'static,
    ) -> (Pool, Arc<Mutex<Option<JoinHandle<()>>>>) {
        let slot = PoolSlot::default();
        let running = Arc::new(Mutex::new(None));
        let (slot_of_hook, running_of_hook) = (Arc::clone(&slot), Arc::clone(&running));
        let beside = Mutex::new(Some(beside));
        let device = HookedDevice::new(GIB, move |now| {
            let pool = if now == moment { slot_of_hook.lock().take() } else { None };
            if let Some(pool) = pool {
                let beside = beside.lock().take().expect("the slot was filled once");
                *running_of_hook.lock() = Some(run_beside(move || beside(&pool)));
                panic!("the device breaks down at {moment:?}");
            }
        });
        let pool = Pool::new(Arc::new(device), config(|config| config.max_size(Bytes::mib(8)))).unwrap();
        *slot.lock() = Some(pool.clone());
        (pool, running)
    }

    #[test]
    fn a_panic_in_allocate_arena_leaves_nobody_waiting() {
        let (pool, running) = pool_whose_device_panics(Moment::BeforeAllocate, |pool| {
            drop(pool.allocate(Bytes::mib(1)).unwrap());
        });
        panics(|| pool.allocate(Bytes::mib(1)));
        ends("a thread that waited for the growth", move || join(&running));
        let other = pool.clone();
        ends("a later growth", move || drop(other.allocate(Bytes::mib(8)).unwrap()));
        pool.validate().unwrap();
        pool.trim().unwrap();
        assert!(pool.status().total.is_zero());
    }

    #[test]
    fn a_panic_in_free_arena_leaves_nobody_waiting_and_the_other_arenas_in_the_pool() {
        let (pool, running) =
            pool_whose_device_panics(Moment::BeforeFree, |pool| assert!(pool.status().used.is_zero()));
        fill_with_empty_arenas(&pool);
        panics(|| pool.trim());
        ends("a look at the pool", move || join(&running));
        pool.validate().unwrap();
        let total = pool.status().total;
        assert!(
            total >= Bytes::mib(6),
            "one arena may be lost with the device, not all: {total} of 8 MiB are left"
        );
        let other = pool.clone();
        ends("a later request", move || drop(other.allocate(Bytes::mib(2)).unwrap()));
    }

    #[test]
    fn a_panic_in_memory_info_leaves_nobody_waiting() {
        let (pool, running) =
            pool_whose_device_panics(Moment::BeforeMemoryInfo, |pool| pool.validate().unwrap());
        let block = pool.allocate(Bytes::mib(6)).unwrap();
        panics(|| pool.allocate(Bytes::mib(4)));
        ends("a look at the pool", move || join(&running));
        drop(block);
        let other = pool.clone();
        ends("a later request", move || drop(other.allocate(Bytes::mib(8)).unwrap()));
        pool.validate().unwrap();
    }

    /// Panics when it is told of the first growth.
    #[derive(Debug, Default)]
    struct BrokenRecorder {
        told: AtomicUsize,
    }

    impl Recorder for BrokenRecorder {
        fn record(&self, event: &Event) {
            let grown = matches!(event.kind, EventKind::Grown { .. });
            assert!(!grown || self.told.fetch_add(1, Ordering::Relaxed) > 0, "the recorder breaks down");
        }
    }

    #[test]
    fn a_panic_in_a_recorder_leaves_nobody_waiting() {
        let device = Arc::new(AddressDevice::new(GIB));
        let pool = Pool::with_recorder(device, config(|config| config), Arc::new(BrokenRecorder::default()))
            .unwrap();
        panics(|| pool.allocate(Bytes::mib(1)));
        let other = pool.clone();
        ends("a later growth on another thread", move || drop(other.allocate(Bytes::mib(4)).unwrap()));
        pool.validate().unwrap();
    }

    /// Gives a range that no heap can use, and breaks down when it gets it back.
    #[derive(Debug, Default)]
    struct AbsurdDevice {
        sound: AtomicUsize,
    }

    impl Device for AbsurdDevice {
        fn properties(&self) -> DeviceProperties {
            DeviceProperties::new("absurd")
        }

        fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
            Ok(MemoryInfo { total: GIB, free: GIB })
        }

        fn allocate_arena(&self, _: Bytes) -> Result<DeviceAddress, DeviceError> {
            let calls = self.sound.fetch_add(1, Ordering::Relaxed);
            Ok(DeviceAddress::new(if calls == 0 { 1 << 60 } else { 1 << 30 }))
        }

        fn free_arena(&self, base: DeviceAddress, _: Bytes) -> Result<(), DeviceError> {
            assert!(base.get() < 1 << 48, "the device breaks down over its own address");
            Ok(())
        }

        fn stream_order(&self) -> Option<&dyn StreamOrder> {
            None
        }

        fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
            None
        }
    }

    #[test]
    fn a_panic_while_an_unusable_arena_goes_back_leaves_nobody_waiting() {
        let pool = Pool::new(Arc::new(AbsurdDevice::default()), config(|config| config)).unwrap();
        panics(|| pool.allocate(Bytes::mib(1)));
        let other = pool.clone();
        ends("a later growth on another thread", move || drop(other.allocate(Bytes::mib(1)).unwrap()));
        pool.validate().unwrap();
    }

    #[test]
    fn an_arena_past_48_bits_is_an_error_and_goes_back() {
        /// As above, without the break-down.
        #[derive(Debug, Default)]
        struct HighDevice(Mutex<Vec<(DeviceAddress, Bytes)>>);

        impl Device for HighDevice {
            fn properties(&self) -> DeviceProperties {
                DeviceProperties::new("high")
            }

            fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
                Ok(MemoryInfo { total: GIB, free: GIB })
            }

            fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
                self.0.lock().push((DeviceAddress::new(1 << 60), size));
                Ok(DeviceAddress::new(1 << 60))
            }

            fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
                assert_eq!(self.0.lock().pop(), Some((base, size)));
                Ok(())
            }

            fn stream_order(&self) -> Option<&dyn StreamOrder> {
                None
            }

            fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
                None
            }
        }

        let device = Arc::new(HighDevice::default());
        let pool = Pool::new(Arc::clone(&device) as _, config(|config| config)).unwrap();
        let error = pool.allocate(Bytes::mib(1)).unwrap_err();
        assert!(matches!(error, AllocError::UnusableArena { .. }), "{error}");
        assert!(device.0.lock().is_empty(), "it went back");
        pool.validate().unwrap();
        assert!(
            Pool::new(Arc::clone(&device) as _, config(|config| config.initial_size(Bytes::mib(2)))).is_err()
        );
        assert!(device.0.lock().is_empty(), "the initial one went back, too");
    }
}
