//! What users of other device-memory pools ran into, tried on this one. Each test names its row of the project's list of such
//! reports, the thread, and the symptom.

#[cfg(test)]
mod bug_log {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use mempool_core::{
        AddressDevice, Alignment, AllocError, Allocation, Bytes, FitPolicy, FreeError, Pool, PoolConfig,
        PoolConfigBuilder,
    };
    use mempool_trace::{Action, Compression, Recording, RmmWriter, TraceReader, TraceRow};
    use testkit::actions::{Actions, Mix};
    use testkit::drive::Driver;
    use testkit::seed::{self, Seed};
    use testkit::watched_device::{Call, WatchedDevice};

    fn stage(
        capacity: Bytes,
        config: impl FnOnce(PoolConfigBuilder) -> PoolConfigBuilder,
    ) -> (Arc<WatchedDevice>, Pool) {
        let device = Arc::new(WatchedDevice::new(Arc::new(AddressDevice::new(capacity))));
        let config = config(PoolConfig::builder()).build().unwrap();
        let pool = Pool::new(Arc::clone(&device) as _, config).unwrap();
        (device, pool)
    }

    // candle-org/MindAct#1761: a batch went past the limit, the error was not handled, the process died.
    #[test]
    fn c27b_a_batch_that_goes_past_the_limit_is_an_error_and_leaves_nothing_behind() {
        let limit = Bytes::new(29_460_000_000);
        let (device, pool) = stage(Bytes::gib(32), |config| config.max_size(limit));
        let weights = pool.allocate(Bytes::new(29_160_000_000)).unwrap();
        let before = pool.status();
        let batch = |sizes: &[u64]| -> Result<Vec<Allocation>, AllocError> {
            sizes.iter().map(|&bytes| pool.allocate(Bytes::new(bytes))).collect()
        };
        let error = batch(&[100_000_000, 50_000, 301_990_400, 1000]).unwrap_err();
        let AllocError::OutOfMemory(details) = &error else { panic!("{error}") };
        assert_eq!((details.requested, details.limit), (Bytes::new(301_990_400), Some(limit)));
        let after = pool.status();
        assert_eq!((after.used, after.requested, after.blocks), (before.used, before.requested, 1));
        pool.validate().unwrap();
        assert_eq!(batch(&[100_000_000, 50_000, 1000]).unwrap().len(), 3, "a batch that fits is served");
        drop((weights, pool));
        device.check_all_returned().unwrap();
    }

    // pytorch/pytorch#146431: the pool was dropped before its tensor, which was then freed with the wrong function.
    #[test]
    fn c34_a_block_outlives_the_last_handle_to_its_pool_and_goes_back_to_its_device() {
        let (device, pool) = stage(Bytes::gib(1), |config| config);
        let block = pool.allocate(Bytes::mib(3)).unwrap();
        drop(pool);
        assert_eq!(device.live_arenas(), 1, "the memory under a live block stays");
        drop(block);
        device.check_all_returned().unwrap();
    }

    // pytorch/pytorch#145168: emptying the cache skipped private pools, whose memory never went back.
    #[test]
    fn c35_a_trim_gives_a_private_pools_memory_back_with_the_base_and_size_it_had() {
        let (device, shared) = stage(Bytes::gib(1), |config| config.name("shared"));
        let private = Pool::new(Arc::clone(&device) as _, PoolConfig::default()).unwrap();
        let _other = shared.allocate(Bytes::mib(1)).unwrap();
        device.forget_calls();
        drop(private.allocate(Bytes::mib(50)).unwrap());
        assert_eq!(private.trim().unwrap(), Bytes::mib(50));
        let calls = device.calls();
        let [Call::AllocateArena { size, base: Some(base) }, freed] = calls[..] else { panic!("{calls:?}") };
        assert_eq!(freed, Call::FreeArena { base, size, taken: true });
        assert_eq!(shared.status().arenas, 1);
    }

    // rapidsai/rmm#1957, #1664: a pool of 256 that may grow to 1024 cannot serve 1024, because its first 256 stand in the way.
    #[test]
    fn c45_pool_releases_its_empty_initial_arena_to_serve_a_larger_request() {
        for policy in FitPolicy::ALL {
            let (_, pool) = stage(Bytes::gib(2), |config| {
                config.policy(policy).initial_size(Bytes::mib(256)).max_size(Bytes::mib(1024))
            });
            let block = pool.allocate(Bytes::mib(1024)).unwrap();
            assert_eq!((block.bytes(), pool.status().total), (Bytes::mib(1024), Bytes::mib(1024)));
        }
    }

    // rapidsai/rmm#496: the second 8 GB of 32 failed, because growth asked for twice as much as before.
    #[test]
    fn c52_growth_falls_back_to_smaller_steps_down_to_the_exact_need() {
        for arena in [1, 8, 16, 20, 24, 32, 64].map(Bytes::gib) {
            let (_, pool) = stage(Bytes::gib(32), |config| config.arena_size(arena));
            let blocks: Vec<_> = (0..2).map(|_| pool.allocate(Bytes::gib(8)).unwrap()).collect();
            assert_eq!(blocks.len(), 2);
        }
        let (device, pool) = stage(Bytes::gib(32), |config| config.arena_size(Bytes::gib(24)));
        let blocks: Vec<_> = (0..4).map(|_| pool.allocate(Bytes::gib(8)).unwrap()).collect();
        assert_eq!((blocks.len(), pool.status().total), (4, Bytes::gib(32)));
        let asked = |call: &Call| {
            if let Call::AllocateArena { size, base } = call { Some((*size, base.is_some())) } else { None }
        };
        let asked: Vec<_> = device.calls().iter().filter_map(asked).collect();
        assert_eq!(
            asked,
            [(24, true), (24, false), (12, false), (8, true)].map(|(gib, had)| (Bytes::gib(gib), had))
        );
    }

    // cupy/cupy#1256: out of memory though freeable chunks exist; a retry inside the allocator kept them alive.
    #[test]
    fn c56b_freed_chunks_are_given_up_at_the_first_try() {
        for policy in FitPolicy::ALL {
            let (_, pool) = stage(Bytes::gib(1), |config| {
                config.policy(policy).max_size(Bytes::mib(100)).arena_size(Bytes::mib(2))
            });
            let first = pool.allocate(Bytes::mib(30)).unwrap();
            let _second = pool.allocate(Bytes::mib(30)).unwrap();
            drop(first);
            let _third = pool.allocate(Bytes::mib(60)).unwrap();
            assert_eq!(pool.status().counters.failures, 0);
        }
    }

    /// Replays a recording; `false` when a request failed.
    fn replay(pool: &Pool, rows: &[TraceRow]) -> bool {
        let mut live: BTreeMap<u64, Allocation> = BTreeMap::new();
        rows.iter().all(|row| match row.action {
            Action::Allocate => {
                pool.allocate(Bytes::new(row.size)).map(|block| live.insert(row.pointer, block)).is_ok()
            }
            _ => live.remove(&row.pointer).is_some(),
        })
    }

    // tensorflow/tensorflow#6111: a pool that grows needs more memory than one of fixed size, because its regions double.
    #[test]
    fn c58_a_pool_that_grows_reserves_at_most_one_step_more_than_a_fixed_one() {
        const STEP: Bytes = Bytes::mib(64);
        for recording in Recording::ALL {
            let rows: Vec<_> = recording.reader().collect::<Result<_, _>>().unwrap();
            for policy in FitPolicy::ALL {
                // The smallest fixed pool that serves it all.
                let serves = |mib: u64| {
                    let size = Bytes::mib(mib);
                    let (_, pool) =
                        stage(size, |config| config.policy(policy).initial_size(size).max_size(size));
                    replay(&pool, &rows)
                };
                let fixed = (1..1024).step_by(2).map(|mib| mib + 1).collect::<Vec<_>>();
                let fixed = Bytes::mib(fixed[fixed.partition_point(|&mib| !serves(mib))]);
                let (_, pool) = stage(Bytes::gib(4), |config| config.policy(policy).arena_size(STEP));
                assert!(replay(&pool, &rows));
                let grown = pool.status().total_high_water;
                assert!(
                    grown <= fixed.saturating_add(STEP),
                    "{}, {policy}: grew to {grown}, a fixed pool of {fixed} serves it, a step is {STEP}",
                    recording.name()
                );
            }
        }
    }

    // GPUOpen-LibrariesAndSDKs/VulkanMemoryAllocator#295: recording and replay were removed, their upkeep had become too dear.
    #[test]
    fn c66_logs_of_older_writers_are_still_read_and_mean_the_same() {
        let today = "Thread,Time,Action,Pointer,Size,Stream\n\
            7,10:00:00.000010,allocate,0x7f0000000000,4096,0\n\
            7,10:00:00.000020,free,0x7f0000000000,4096,0\n";
        // No header; a colon before the microseconds; bare hexadecimal; columns added and moved.
        let older = [
            "7,10:00:00.000010,allocate,0x7f0000000000,4096,0\n7,10:00:00.000020,free,0x7f0000000000,4096,0\n",
            "Thread,Time,Action,Pointer,Size,Stream\n\
             7,10:00:00:000010,allocate,7f0000000000,4096,0\n7,10:00:00:000020,free,7F0000000000,4096,0x0\n",
            "Action,Device,Size,Pointer,Thread,Stream,Time\n\
             allocate,3,4096,0x7f0000000000,7,0,10:00:00.000010\nfree,3,4096,0x7f0000000000,7,0,10:00:00.000020\n",
        ];
        let read = |text: &str| {
            let rows: Vec<_> =
                TraceReader::named("log", text.as_bytes()).unwrap().collect::<Result<_, _>>().unwrap();
            rows.iter()
                .map(|row: &TraceRow| (row.thread, row.time, row.action, row.pointer, row.size, row.stream))
                .collect::<Vec<_>>()
        };
        for text in older {
            assert_eq!(read(text), read(today), "{text}");
        }
        let mut written = Vec::new();
        let mut writer = RmmWriter::new(&mut written, Compression::None).unwrap();
        for row in TraceReader::named("log", older[2].as_bytes()).unwrap() {
            writer.write(&row.unwrap()).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), today, "what is written today has today's form");
    }

    // Traverse-Research/gpu-allocator#127: a loop leaked, because the buffer was destroyed and its memory was not freed.
    #[test]
    fn c68_a_dropped_handle_frees_its_block_and_a_forgotten_one_shows_in_the_report() {
        let (device, pool) = stage(Bytes::gib(1), |config| config);
        for _ in 0..10_000 {
            let _buffer = pool.allocate(Bytes::kib(300)).unwrap();
        }
        assert_eq!((pool.status().blocks, pool.status().total), (0, Bytes::mib(32)));
        let forgotten = pool.allocate(Bytes::kib(300)).unwrap();
        let bytes = forgotten.bytes();
        #[expect(clippy::mem_forget, reason = "this is the mistake")]
        std::mem::forget(forgotten);
        let report = pool.report();
        assert_eq!((report.status.blocks, report.arenas[0].used), (1, bytes));
        assert!(report.buckets.iter().any(|bucket| bucket.live_blocks == 1 && bucket.live == bytes));
        assert_eq!(device.live_arenas(), 1);
    }

    // zakarumych/gpu-alloc#44, #45; gfx-rs/wgpu#989, #1043: needless driver calls, sums that went below 0, regions lost to alignment.
    #[test]
    fn c69_sizes_times_alignments_keep_sums_and_blocks_right() {
        for policy in FitPolicy::ALL {
            let seed = Seed::for_test(format_args!("c69, {policy}"));
            let (device, pool) =
                stage(Bytes::gib(1), |config| config.policy(policy).max_size(Bytes::mib(256)));
            let requests = Actions::new(seed.value(), Mix::up_to(Bytes::mib(2)).with_phase(500))
                .take(seed::steps(20_000));
            let mut shifts = fastrand::Rng::with_seed(seed.value());
            // Every request with an alignment from 64 bytes to 2 MiB.
            let aligned = requests.map(|action| match action {
                testkit::actions::Action::Allocate { bytes, .. } => {
                    let alignment = Alignment::new(1 << shifts.u32(6..=21)).unwrap();
                    testkit::actions::Action::Allocate { bytes, alignment }
                }
                other => other,
            });
            let walk_every = if seed::is_long() { 8_192 } else { 64 };
            Driver::new(pool)
                .walking_every(walk_every)
                .run(aligned)
                .unwrap_or_else(|error| panic!("{error}"));
            device.check_all_returned().unwrap();
        }
    }

    // oneapi-src/unified-memory-framework#481, #63: the provider's free was called with size 0; memory leaked, the log overflowed.
    #[test]
    fn c70_the_device_gets_the_exact_size_every_time() {
        let (device, pool) =
            stage(Bytes::mib(301), |config| config.initial_size(Bytes::mib(7)).arena_size(Bytes::mib(100)));
        for round in 0..50 {
            let sizes = [1, 90, 33, 150, 2, 120].map(|mib| Bytes::mib((mib * (round + 3)) % 151 + 1));
            let blocks: Vec<_> = sizes.iter().filter_map(|&bytes| pool.allocate(bytes).ok()).collect();
            assert!(!blocks.is_empty());
            drop(blocks);
            if round % 3 == 0 {
                pool.trim().unwrap();
            }
        }
        drop(pool);
        let mut live = BTreeMap::new();
        for call in device.calls() {
            match call {
                Call::AllocateArena { size, base: Some(base) } => assert_eq!(live.insert(base, size), None),
                Call::FreeArena { base, size, taken } => {
                    assert_eq!((live.remove(&base), taken), (Some(size), true));
                }
                Call::AllocateArena { .. } | Call::MemoryInfo => {}
            }
        }
        assert!(live.is_empty());
        device.check_all_returned().unwrap();
    }

    // oneapi-src/unified-memory-framework#1161, #1157: a pointer was freed to another pool and nobody noticed.
    #[test]
    fn c73_a_block_freed_in_another_pool_is_refused_with_the_owners_name() {
        let (device, owner) = stage(Bytes::gib(1), |config| config.name("owner"));
        let config = PoolConfig::builder().name("other").build().unwrap();
        let other = Pool::new(Arc::clone(&device) as _, config).unwrap();
        let _own = other.allocate(Bytes::mib(1)).unwrap();
        for bytes in [Bytes::new(100), Bytes::mib(5)] {
            let raw = owner.allocate_raw(bytes, Alignment::ONE).unwrap();
            let refused = Err(FreeError::WrongPool { address: raw.address, owner: "owner".to_owned() });
            assert_eq!(other.free(raw.address), refused);
            assert_eq!(other.free_sized(raw.address, bytes), refused);
            assert_eq!(owner.block_at(raw.address), Ok(raw), "it is still live in its own pool");
            assert_eq!(owner.free(raw.address), Ok(raw.bytes));
        }
        assert_eq!(other.status().counters.refused_frees, 4);
        other.validate().unwrap();
    }

    // zhongkaifu/TensorSharp#104: a block was freed with the size that the caller had asked for, the rest of it leaked.
    #[test]
    fn c80_a_free_uses_the_size_of_the_block_and_a_wrong_size_is_reported() {
        let (_, pool) = stage(Bytes::gib(1), |config| config);
        for requested in [Bytes::new(100), Bytes::new(20_000), Bytes::new(100_001)] {
            let raw = pool.allocate_raw(requested, Alignment::ONE).unwrap();
            assert!(raw.bytes > requested, "served by a larger block");
            let given = raw.bytes;
            let mismatch = Err(FreeError::SizeMismatch { address: raw.address, given, requested });
            assert_eq!(pool.free_sized(raw.address, given), mismatch);
            assert_eq!(pool.status().used, raw.bytes);
            assert_eq!(pool.free_sized(raw.address, requested), Ok(raw.bytes));
            assert!(pool.status().used.is_zero());
            pool.validate().unwrap();
        }
    }

    // SOMA (0.3, in its sources): a loop of allocate and free died with nothing in use, because reuse was a stub.
    #[test]
    fn c87_a_loop_of_allocate_and_free_reuses_one_address() {
        for policy in FitPolicy::ALL {
            let (_, pool) = stage(Bytes::gib(1), |config| config.policy(policy).max_size(Bytes::mib(16)));
            let addresses: std::collections::BTreeSet<_> =
                (0..20).map(|_| pool.allocate(Bytes::mib(2)).unwrap().address()).collect();
            assert_eq!(addresses.len(), 1);
            assert_eq!(pool.status().counters.growths, 1);
        }
    }
}
