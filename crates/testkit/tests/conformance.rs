//! The conformance suite over every device of this repository, with properties that differ.

#[cfg(test)]
mod host_bytes;

#[cfg(test)]
mod conformance {
    use std::sync::Arc;

    use backend_host::{
        CallCounting, FaultInjection, HostBackend, HostDevice, HostDeviceConfig, Latency, device_stream,
    };
    use host_device::ClockMode;
    use host_device::engine::{Engine, Gate, Operation, StreamId, StreamOptions};
    use mempool_core::{
        AddressDevice, Alignment, Bytes, Device, DeviceAddress, DeviceError, DeviceEvent, DeviceProperties,
        DeviceStream, MemoryInfo, PhysicalMemory, StreamOrder, TailPadding, VirtualMemory,
    };
    use testkit::conformance::{
        HeldWork, StreamRig, run_byte_conformance, run_conformance, run_event_conformance,
    };

    use super::host_bytes;

    const CAPACITY: u64 = 3 << 30;

    #[track_caller]
    fn conforms(make_device: impl Fn() -> Arc<dyn Device>) {
        run_conformance(make_device).unwrap_or_else(|error| panic!("{error}"));
    }

    #[track_caller]
    fn host_conforms(config: &HostDeviceConfig) {
        conforms(|| Arc::new(HostBackend::open(config.clone()).unwrap()));
    }

    #[test]
    fn host_memory() {
        host_conforms(&HostDeviceConfig::new(CAPACITY));
    }

    #[test]
    fn host_memory_in_64_kib_granules() {
        host_conforms(
            &HostDeviceConfig::new(CAPACITY).with_granularity(64 << 10).with_base_alignment(64 << 10),
        );
    }

    #[test]
    fn host_memory_in_64_kib_granules_at_pages_of_4_kib() {
        host_conforms(
            &HostDeviceConfig::new(CAPACITY).with_granularity(64 << 10).with_base_alignment(4 << 10),
        );
    }

    #[test]
    fn host_memory_at_multiples_of_16_mib() {
        host_conforms(&HostDeviceConfig::new(CAPACITY).with_base_alignment(16 << 20));
    }

    #[test]
    fn host_memory_with_the_rules_of_ascend() {
        host_conforms(&HostDeviceConfig::new(CAPACITY).with_block_alignment(64).with_padding(32, 32));
    }

    #[test]
    fn host_memory_with_granules_that_are_no_power_of_two() {
        host_conforms(&HostDeviceConfig::new(CAPACITY).with_granularity(3 << 20));
    }

    #[test]
    fn a_small_host_device() {
        host_conforms(&HostDeviceConfig::new((131 << 20) + 5));
    }

    #[test]
    fn addresses() {
        conforms(|| Arc::new(AddressDevice::new(Bytes::gib(64))));
    }

    #[test]
    fn addresses_with_every_wish_at_once() {
        let properties = DeviceProperties::new("wishes")
            .with_arena_granularity(Bytes::kib(20))
            .with_arena_alignment(Alignment::B_512)
            .with_block_alignment(Alignment::new(64).unwrap())
            .with_tail_padding(TailPadding::ASCEND);
        conforms(|| Arc::new(AddressDevice::with_properties(Bytes::mib(200), properties.clone())));
    }

    #[test]
    fn all_wrappers_of_the_host_backend() {
        conforms(|| {
            let host = HostBackend::open(HostDeviceConfig::new(CAPACITY)).unwrap();
            Arc::new(FaultInjection::new(CallCounting::new(Latency::new(host, |_| ()))))
        });
    }

    fn engine(clock: ClockMode) -> Arc<Engine> {
        let config = HostDeviceConfig::new(CAPACITY).with_clock(clock);
        Arc::new(Engine::new(Arc::new(HostDevice::new(config).unwrap())).unwrap())
    }

    /// A device over an engine, in a wrapping of the test's.
    #[derive(Debug)]
    struct EngineRig {
        engine: Arc<Engine>,
        device: Arc<dyn Device>,
    }

    #[derive(Debug)]
    struct HeldByGate {
        engine: Arc<Engine>,
        gate: Gate,
    }

    impl HeldWork for HeldByGate {
        fn let_go(self: Box<Self>) {
            self.engine.open_gate(&self.gate);
        }
    }

    impl StreamRig for EngineRig {
        fn device(&self) -> Arc<dyn Device> {
            Arc::clone(&self.device)
        }

        fn stream(&self) -> DeviceStream {
            device_stream(self.engine.create_stream(StreamOptions::default()))
        }

        fn hold(&self, stream: DeviceStream) -> Box<dyn HeldWork> {
            let gate = Gate::new();
            self.engine.enqueue(StreamId::new(stream.get()), Operation::wait_gate(&gate)).unwrap();
            Box::new(HeldByGate { engine: Arc::clone(&self.engine), gate })
        }
    }

    #[test]
    fn events_of_an_engine_on_either_clock() {
        for clock in [ClockMode::Manual, ClockMode::Threaded { delays: false }] {
            run_event_conformance(|| {
                let engine = engine(clock);
                let device = Arc::new(HostBackend::with_engine(Arc::clone(&engine)));
                Box::new(EngineRig { engine, device })
            })
            .unwrap_or_else(|error| panic!("{clock:?}: {error}"));
        }
    }

    #[test]
    fn events_through_all_wrappers() {
        run_event_conformance(|| {
            let engine = engine(ClockMode::Manual);
            let host = HostBackend::with_engine(Arc::clone(&engine));
            let device = Arc::new(FaultInjection::new(CallCounting::new(Latency::new(host, |_| ()))));
            Box::new(EngineRig { engine, device })
        })
        .unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn host_memory_with_an_engine() {
        conforms(|| Arc::new(HostBackend::with_engine(engine(ClockMode::Manual))));
    }

    #[test]
    fn bytes_of_host_memory() {
        for config in [
            HostDeviceConfig::new(CAPACITY),
            HostDeviceConfig::new(CAPACITY).with_granularity(64 << 10).with_base_alignment(4 << 10),
        ] {
            run_byte_conformance(|| {
                let (backend, bytes) = host_bytes::open(config.clone());
                (Arc::new(backend), Arc::new(bytes))
            })
            .unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// A promise that is not kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Lie {
        /// Takes from its capacity twice what it should.
        Greedy,
        /// Forgets that a stream waits.
        ForgetsWaits,
        /// Answers to every mapping and unmapping that all went well.
        AgreesToMappings,
    }

    /// A host device that breaks one promise.
    #[derive(Debug)]
    struct Liar(HostBackend, Lie);

    impl Device for Liar {
        fn properties(&self) -> DeviceProperties {
            self.0.properties()
        }

        fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
            let info = self.0.memory_info()?;
            let taken =
                if self.1 == Lie::Greedy { info.total.saturating_sub(info.free) } else { Bytes::ZERO };
            Ok(MemoryInfo { free: info.free.saturating_sub(taken), ..info })
        }

        fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
            self.0.allocate_arena(size)
        }

        fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
            self.0.free_arena(base, size)
        }

        fn stream_order(&self) -> Option<&dyn StreamOrder> {
            (self.1 == Lie::ForgetsWaits).then_some(self)
        }

        fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
            (self.1 == Lie::AgreesToMappings).then_some(self)
        }
    }

    impl StreamOrder for Liar {
        fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
            self.0.record_event(stream)
        }

        fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
            self.0.is_complete(event)
        }

        fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
            self.0.synchronize_event(event)
        }

        fn wait_event(&self, _: DeviceStream, _: DeviceEvent) -> Result<(), DeviceError> {
            Ok(())
        }

        fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
            self.0.release_event(event)
        }
    }

    impl VirtualMemory for Liar {
        fn granule(&self) -> Bytes {
            self.0.granule()
        }

        fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
            self.0.reserve(size)
        }

        fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
            self.0.free_reservation(base, size)
        }

        fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
            self.0.create_physical(size)
        }

        fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
            self.0.release_physical(memory)
        }

        fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
            self.0.map(address, memory).or(Ok(()))
        }

        fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
            self.0.unmap(address).or(Ok(()))
        }
    }

    /// Names of the checks that fail on a device with this lie.
    fn found_out(lie: Lie) -> Vec<&'static str> {
        let error = run_conformance(|| {
            Arc::new(Liar(HostBackend::open(HostDeviceConfig::new(CAPACITY)).unwrap(), lie))
        });
        error.unwrap_err().failed.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn a_device_that_breaks_a_promise_fails_the_check_of_that_name() {
        let failed = found_out(Lie::Greedy);
        assert!(failed.contains(&"memory_info_moves_by_what_is_taken"), "{failed:?}");
        assert!(!failed.contains(&"zero_bytes_are_refused"), "{failed:?}");
    }

    #[test]
    fn a_device_that_agrees_to_every_mapping_fails_the_checks_of_mappings_and_no_others() {
        let failed = found_out(Lie::AgreesToMappings);
        assert_eq!(failed, ["a_refused_mapping_changes_nothing", "what_is_mapped_stays"]);
    }

    #[test]
    fn a_device_that_forgets_waits_fails_the_checks_of_waits_and_no_others() {
        let error = run_event_conformance(|| {
            let engine = engine(ClockMode::Manual);
            let device = Arc::new(Liar(HostBackend::with_engine(Arc::clone(&engine)), Lie::ForgetsWaits));
            Box::new(EngineRig { engine, device })
        })
        .unwrap_err();
        let failed: Vec<_> = error.failed.iter().map(|(name, _)| *name).collect();
        for check in ["a_stream_waits_for_the_event_of_another", "a_wait_stays_when_its_event_is_released"] {
            assert!(failed.contains(&check), "{error}");
        }
        assert!(!failed.contains(&"an_event_stays_complete"), "{error}");
    }
}
