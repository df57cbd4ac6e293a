//! What users of other pools ran into on such cards. Each test names its row of the project's list of such reports, the thread, and
//! the symptom.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use backend_ascend::acl::{AclError, ErrorKind, Stream, forget_current_context};
use backend_ascend::{ArenaSource, AscendBackend, AscendOptions, BackendError, OpenError};
use mempool_core::{Bytes, Device, DeviceError, Pool, PoolConfig, StreamOrder};

use super::cards::{assert_holds_nothing, context_of, free_of, open};
use super::process::{LIBRARY, in_processes, on_simulator, on_simulators};

fn by_virtual_memory() -> AscendOptions {
    AscendOptions::default().arena_source(ArenaSource::VirtualMemory)
}

/// A plan by which the first `count` calls fail.
fn all_fail(call: &str, count: usize) -> String {
    (1..=count).map(|n| format!("{call}:{n}")).collect::<Vec<_>>().join(",")
}

// vllm-project/vllm-ascend#2546: hundreds of equal lines "acl Error 207001", and the run went on.
#[test]
fn c4_memory_that_cannot_be_had_is_one_typed_error_a_call_and_nothing_is_held() {
    let plan = all_fail("aclrtMallocPhysical", 100);
    let settings = [("ASCEND_SIM_FAIL", plan.as_str()), ("ASCEND_SIM_CAPACITY", "1GiB")];
    on_simulator(
        c4_memory_that_cannot_be_had_is_one_typed_error_a_call_and_nothing_is_held,
        &settings,
        || {
            let backend = Arc::new(open(by_virtual_memory()));
            let before = free_of(&backend);
            for _ in 0..20 {
                let error = backend.allocate_arena(Bytes::mib(16)).unwrap_err();
                assert!(
                    matches!(error, DeviceError::OutOfMemory { requested } if requested == Bytes::mib(16)),
                    "{error}"
                );
            }
            let pool = Pool::new(Arc::clone(&backend) as _, PoolConfig::default()).unwrap();
            for _ in 0..10 {
                pool.allocate(Bytes::mib(1)).unwrap_err();
            }
            assert_eq!((pool.status().total, free_of(&backend)), (Bytes::ZERO, before));
            drop(pool);
            assert_holds_nothing(&backend);
        },
    );
}

// vllm-project/vllm-ascend#2171: a query without a device or with a wrong property answered 100000, and nobody knew why.
#[test]
fn c5_a_device_that_does_not_exist_is_named_with_what_there_is() {
    let settings = [("ASCEND_SIM_DEVICES", "2")];
    on_simulator(c5_a_device_that_does_not_exist_is_named_with_what_there_is, &settings, || {
        for number in [2, 7, -1, i32::MIN, i32::MAX] {
            let error = AscendBackend::open(number, AscendOptions::default()).unwrap_err();
            let right = matches!(error, OpenError::NoSuchDevice { device, count: 2, .. } if device == number);
            assert!(right, "{error}");
            assert!(
                error.to_string().starts_with(&format!("device is {number}, but this process has 2")),
                "{error}"
            );
        }
        // And a card that exists is opened afterwards, on a thread where nothing is set.
        forget_current_context();
        let backend = thread::spawn(|| open(by_virtual_memory())).join().unwrap();
        let base = backend.allocate_arena(Bytes::mib(2)).unwrap();
        backend.free_arena(base, Bytes::mib(2)).unwrap();
        assert_holds_nothing(&backend);
    });
}

// The same thread.
#[test]
fn c5_a_granularity_that_is_refused_is_an_error_of_opening_that_names_the_call() {
    let settings = [("ASCEND_SIM_FAIL", "aclrtMemGetAllocationGranularity:1:100000")];
    on_simulator(
        c5_a_granularity_that_is_refused_is_an_error_of_opening_that_names_the_call,
        &settings,
        || {
            let context = context_of(0);
            let error = AscendBackend::over(context.clone(), by_virtual_memory()).unwrap_err();
            assert!(error.to_string().contains("aclrtMemGetAllocationGranularity"), "{error}");
            assert_holds_nothing(&AscendBackend::over(context, by_virtual_memory()).unwrap());
        },
    );
}

// vllm-project/vllm-ascend#3998, #556: "camem allocator is not available".
#[test]
fn c6_without_a_library_the_error_says_what_to_do_about_it() {
    let nowhere = vec![(LIBRARY, "/nowhere/libascendcl.so".to_owned())];
    in_processes(c6_without_a_library_the_error_says_what_to_do_about_it, [nowhere], || {
        let error = AscendBackend::open(0, AscendOptions::default()).unwrap_err();
        let OpenError::NoLibrary { source: AclError::NoLibrary(tried) } = &error else { panic!("{error}") };
        assert!(tried.contains("/nowhere/libascendcl.so"), "{tried}");
        for word in ["set_env.sh", LIBRARY, "cargo xtask sim"] {
            assert!(error.to_string().contains(word), "{word} is missing: {error}");
        }
    });
}

// ggml-org/llama.cpp#16628: asking for memory without a context ended the program.
#[test]
fn c24_memory_is_asked_about_on_any_thread_and_after_the_end_without_harm() {
    on_simulator(c24_memory_is_asked_about_on_any_thread_and_after_the_end_without_harm, &[], || {
        let backend = Arc::new(open(AscendOptions::default()));
        let here = backend.memory_info().unwrap();
        let there = thread::scope(|scope| scope.spawn(|| backend.memory_info()).join().unwrap()).unwrap();
        assert_eq!(here, there);
        let pool = Pool::new(Arc::clone(&backend) as _, PoolConfig::default()).unwrap();
        // Somebody else ends ACL.
        backend.context().device().runtime().abandon();
        let DeviceError::Other(source) = backend.memory_info().unwrap_err() else { panic!("no ACL error") };
        let source = source.downcast::<AclError>().expect("ACL's error");
        assert_eq!(source.kind(), ErrorKind::NotInitialised);
        assert_eq!(pool.status().total, Bytes::ZERO);
        pool.allocate(Bytes::mib(1)).unwrap_err();
    });
}

// pytorch/pytorch#196258: memory went back while another card was current, so that the wrong card was waited for.
#[test]
fn c29_an_arena_goes_back_after_the_work_of_its_own_card() {
    let settings = [("ASCEND_SIM_DEVICES", "2")];
    on_simulator(c29_an_arena_goes_back_after_the_work_of_its_own_card, &settings, || {
        for options in [AscendOptions::default(), by_virtual_memory()] {
            let [zero, one] = [0, 1].map(|number| AscendBackend::open(number, options).unwrap());
            let stream = Stream::new(zero.context()).unwrap();
            let base = zero.allocate_arena(Bytes::mib(4)).unwrap();
            let done = Arc::new(AtomicBool::new(false));
            let (release, released) = std::sync::mpsc::channel::<()>();
            let told = Arc::clone(&done);
            stream
                .launch_host_function(move || {
                    let _ = released.recv();
                    told.store(true, Ordering::SeqCst);
                })
                .unwrap();
            // The other card is current on the thread that frees.
            one.memory_info().unwrap();
            thread::scope(|scope| {
                let freeing = scope.spawn(|| {
                    one.memory_info().unwrap();
                    zero.free_arena(base, Bytes::mib(4)).unwrap();
                    done.load(Ordering::SeqCst)
                });
                release.send(()).unwrap();
                assert!(freeing.join().unwrap(), "the arena went back before the work of its card was done");
            });
            assert_holds_nothing(&zero);
        }
    });
}

// pytorch/pytorch#188008: a mapping failed halfway, and the end unmapped what was never mapped.
#[test]
fn c31_a_mapping_that_fails_halfway_leaves_nothing() {
    let settings = [("ASCEND_SIM_FAIL", "aclrtMapMem:5"), ("ASCEND_SIM_CAPACITY", "64MiB")];
    on_simulator(c31_a_mapping_that_fails_halfway_leaves_nothing, &settings, || {
        let backend = open(by_virtual_memory());
        let before = free_of(&backend);
        let error = backend.allocate_arena(Bytes::mib(16)).unwrap_err();
        assert!(matches!(error, DeviceError::Other(_)), "{error}");
        assert_eq!(free_of(&backend), before);
        assert_holds_nothing(&backend);
        // Eight granules once more, now to the end, and all of the card.
        let base = backend.allocate_arena(Bytes::mib(16)).unwrap();
        let rest = backend.allocate_arena(Bytes::mib(48)).unwrap();
        backend.free_arena(base, Bytes::mib(16)).unwrap();
        backend.free_arena(rest, Bytes::mib(48)).unwrap();
        assert_holds_nothing(&backend);
    });
}

// rapidsai/rmm#1306: a cache of events that knew nothing of devices.
#[test]
fn c51_events_and_streams_stay_with_their_card() {
    on_simulator(c51_events_and_streams_stay_with_their_card, &[("ASCEND_SIM_DEVICES", "2")], || {
        let cards = [0, 1].map(|number| AscendBackend::open(number, AscendOptions::default()).unwrap());
        let streams = [0, 1].map(|card| Arc::new(Stream::new(cards[card].context()).unwrap()));
        let error = cards[0].register_stream(&streams[1]).unwrap_err();
        assert_eq!(error, BackendError::OtherDevice { stream_device: 1, device: 0 });
        let names = [0, 1].map(|card| cards[card].register_stream(&streams[card]).unwrap());
        // One thread, from card to card; kept events are those of the card.
        for round in 0..20 {
            let card = round % 2;
            let event = cards[card].record_event(names[card]).unwrap();
            cards[card].synchronize_event(event).unwrap();
            assert!(cards[1 - card].is_complete(event).is_err(), "an event of the other card");
            assert!(cards[1 - card].record_event(names[card]).is_err(), "a stream of the other card");
            cards[card].release_event(event).unwrap();
        }
        for card in &cards {
            assert_eq!((card.holdings().events, card.holdings().kept_events), (0, 1));
        }
    });
}

// vllm-ascend's allocator in source: a step of a mapping that failed left the steps before it.
#[test]
fn c89_whichever_step_of_a_mapping_fails_the_others_are_undone() {
    let steps = ["aclrtReserveMemAddress", "aclrtMallocPhysical", "aclrtMapMem"];
    let settings = steps.map(|step| vec![("ASCEND_SIM_FAIL", format!("{step}:1"))]);
    on_simulators(c89_whichever_step_of_a_mapping_fails_the_others_are_undone, settings, || {
        let backend = open(by_virtual_memory());
        let before = free_of(&backend);
        backend.allocate_arena(Bytes::mib(8)).unwrap_err();
        assert_eq!(free_of(&backend), before);
        assert_holds_nothing(&backend);
        let base = backend.allocate_arena(Bytes::mib(8)).unwrap();
        backend.free_arena(base, Bytes::mib(8)).unwrap();
        assert_holds_nothing(&backend);
    });
}
