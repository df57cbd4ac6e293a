//! The owners over the simulated card: a real library, loaded as a program loads it, whose streams run beside the program and
//! whose device has as much memory as it says. Each test is a process of its own, with the card that it wants.
#![cfg(test)]
#![expect(unsafe_code, reason = "calls functions whose caller keeps memory until a stream has passed it")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use acl::{
    AclError, Context, Dataset, DeviceMemory, ErrorKind, Event, EventCache, EventFlags, EventStatus,
    MallocPolicy, MemoryKind, MemoryPlace, MemoryPool, Model, PageKind, PhysicalMemory, PinnedMemory,
    ReleaseErrors, Reservation, Runtime, Stream, ValueComparison, as_guest, granularity,
};

/// Runs one of the tests below with variables for the simulator, and says what uses of freed memory it saw.
fn run(test: &str, variables: &[(&str, &str)]) {
    let program = std::env::current_exe().unwrap();
    // Cargo puts the library where it puts this test.
    let library = program.with_file_name("libascendcl.so");
    assert!(library.exists(), "{}", library.display());
    let folder = tempfile::tempdir().unwrap();
    let hazards: PathBuf = folder.path().join("hazards");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--ignored"]).env(acl_sys::LIBRARY_VARIABLE, library);
    command.env("ASCEND_SIM_HAZARDS", &hazards).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(
        std::fs::read_to_string(hazards).unwrap_or_default(),
        "",
        "uses of memory that was freed or not there"
    );
}

fn free(context: &Context) -> usize {
    context.memory_info(MemoryKind::HBM).unwrap().free
}

fn no_release_failed(runtime: &Runtime) {
    assert_eq!(runtime.release_errors(), ReleaseErrors::default());
}

#[test]
fn events_order_streams_that_run_beside_the_program() {
    run("child_with_streams", &[]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_with_streams() {
    let runtime = Runtime::start().unwrap();
    let device = runtime.device(0).unwrap();
    let contexts = [device.primary_context(), device.create_context().unwrap()];
    let [one, two] = [0, 1].map(|index: usize| Stream::new(&contexts[index]).unwrap());
    let memory = DeviceMemory::allocate(&contexts[0], 64, MallocPolicy::HUGE_FIRST).unwrap();
    let mut pinned = PinnedMemory::allocate(&contexts[1], 64).unwrap();
    pinned.write(0, b"after").unwrap();
    memory.as_slice().write(b"first").unwrap();

    // The first stream stands still until it is told to go on.
    let (go, wait) = mpsc::channel::<()>();
    one.launch_host_function(move || wait.recv().unwrap()).unwrap();
    let events = EventCache::new(&contexts[0], EventFlags::ORDER.and(EventFlags::PROGRESS));
    let passed = events.record(&one).unwrap();
    two.wait(&passed).unwrap();
    // SAFETY: both memories live until the stream was waited for, below.
    unsafe { two.copy_to_device(memory.as_slice().slice(0, 5).unwrap(), &pinned, 0) }.unwrap();
    let copied = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&copied);
    two.launch_host_function(move || seen.store(true, Ordering::Release)).unwrap();
    assert_eq!(passed.query().unwrap(), EventStatus::Pending);
    assert!(!copied.load(Ordering::Acquire) && !one.is_idle().unwrap() && !two.is_idle().unwrap());
    go.send(()).unwrap();
    two.synchronize().unwrap();
    assert_eq!(passed.query().unwrap(), EventStatus::Complete);
    let mut bytes = [0; 5];
    memory.as_slice().read(&mut bytes).unwrap();
    assert_eq!((&bytes, copied.load(Ordering::Acquire)), (b"after", true));

    // A stream waits for what another one writes.
    // SAFETY: the memory lives until both streams were waited for.
    unsafe { two.wait_value(memory.as_slice(), 7, ValueComparison::Equal) }.unwrap();
    let later = Event::new(&contexts[1], EventFlags::PROGRESS).unwrap();
    later.record(&two).unwrap();
    assert_eq!(later.query().unwrap(), EventStatus::Pending);
    // SAFETY: the same.
    unsafe { one.write_value(memory.as_slice(), 7) }.unwrap();
    later.synchronize().unwrap();
    assert_eq!((later.query().unwrap(), passed.is_reusable()), (EventStatus::Complete, true));

    let default = contexts[1].default_stream().unwrap();
    default.launch_host_function(|| ()).unwrap();
    default.synchronize().unwrap();
    drop(passed);
    no_release_failed(&runtime);
}

#[test]
fn a_full_card_is_out_of_memory_and_all_of_it_comes_back() {
    run("child_on_a_small_card", &[("ASCEND_SIM_CAPACITY", "64MiB")]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_on_a_small_card() {
    let runtime = Runtime::start().unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let before = free(&context);
    let memory = DeviceMemory::allocate(&context, 32 << 20, MallocPolicy::HUGE_FIRST).unwrap();
    let error = DeviceMemory::allocate(&context, 48 << 20, MallocPolicy::HUGE_FIRST).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    let error = PhysicalMemory::allocate(&context, 48 << 20, PageKind::HUGE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(context.address_info(memory.address() + 5).unwrap().place, MemoryPlace::Device(0));
    let pool = MemoryPool::create(&context, 0).unwrap();
    let stream = Stream::new(&context).unwrap();
    assert_eq!(pool.allocate(48 << 20, &stream).unwrap_err().kind(), ErrorKind::OutOfMemory);
    drop((pool, stream));
    memory.free_after_device().unwrap();
    assert_eq!(free(&context), before);
    assert!(DeviceMemory::allocate(&context, 48 << 20, MallocPolicy::HUGE_FIRST).is_ok());
    no_release_failed(&runtime);
}

#[test]
fn a_map_that_fails_halfway_gives_all_memory_back() {
    run("child_whose_fifth_map_fails", &[("ASCEND_SIM_FAIL", "aclrtMapMem:5")]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_whose_fifth_map_fails() {
    let runtime = Runtime::start().unwrap();
    let context = runtime.device(0).unwrap().create_context().unwrap();
    let before = free(&context);
    let size = granularity(&context, PageKind::HUGE).unwrap();
    let reservation = Reservation::new(&context, 8 * size).unwrap();
    let grow = || -> Result<Vec<_>, AclError> {
        let map =
            |index| reservation.map(index * size, &PhysicalMemory::allocate(&context, size, PageKind::HUGE)?);
        (0..8).map(map).collect()
    };
    assert_eq!(grow().unwrap_err().failed_call().map(|failed| failed.call), Some("aclrtMapMem"));
    assert_eq!(free(&context), before);
    let mappings = grow().unwrap();
    assert_eq!(free(&context), before - 8 * size);
    mappings[7].as_slice().fill(7).unwrap();
    drop(mappings);
    assert_eq!(free(&context), before);
    no_release_failed(&runtime);
}

#[test]
fn models_that_run_one_after_another_share_one_work_memory() {
    run("child_with_models", &[]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_with_models() {
    let runtime = Runtime::start().unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let before = free(&context);
    let text =
        "ascend-sim-model\nwork 4MiB\nweight 2MiB\ntime 1us\ninput data float 1x4\noutput prob float 1x2\n";
    let bytes: Arc<[u8]> = Arc::from(text.as_bytes());
    let sizes = Model::sizes_in(&context, &bytes).unwrap();
    assert_eq!((sizes.work, sizes.weights), (4 << 20, 2 << 20));
    let work = DeviceMemory::allocate(&context, sizes.work, MallocPolicy::HUGE_FIRST).unwrap();
    let load = |_| {
        // SAFETY: the memory lives longer than the models, which run one after another in one stream.
        unsafe { Model::load_from_memory_into(&context, Arc::clone(&bytes), Some(work.as_slice()), None) }
            .unwrap()
    };
    let models: Vec<_> = (0..3).map(load).collect();
    let own = Model::load_from_memory(&context, Arc::clone(&bytes)).unwrap();
    let taken = before - free(&context);
    assert!((16 << 20..20 << 20).contains(&taken), "work twice and weights four times: {taken}");
    let buffers = models[0].buffers().unwrap();
    assert_eq!((buffers.inputs, buffers.outputs), (vec![16], vec![8]));
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::HUGE_FIRST).unwrap();
    let (mut input, mut output) = (Dataset::new(&context).unwrap(), Dataset::new(&context).unwrap());
    input.add(memory.as_slice().slice(0, 16).unwrap()).unwrap();
    output.add(memory.as_slice().slice(16, 8).unwrap()).unwrap();
    let stream = Stream::new(&context).unwrap();
    for model in models.iter().chain([&own]) {
        // SAFETY: one stream, which is waited for before anything goes.
        unsafe { model.execute_in(&stream, &input, &mut output) }.unwrap();
    }
    stream.synchronize().unwrap();
    drop((models, own, work, memory, input, output));
    assert_eq!(free(&context), before);
    no_release_failed(&runtime);
}

#[test]
fn what_came_with_a_newer_cann_is_unsupported_on_an_older_one() {
    run("child_of_an_older_cann", &[("ASCEND_SIM_VERSION", "8.5")]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_of_an_older_cann() {
    let runtime = Runtime::start().unwrap();
    let context = runtime.device(0).unwrap().primary_context();
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::HUGE_FIRST).unwrap();
    for error in [
        MemoryPool::create(&context, 0).map(drop).unwrap_err(),
        context.address_range(memory.address()).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
    no_release_failed(&runtime);
}

#[test]
fn a_forced_reset_gives_all_memory_back_and_the_device_opens_anew() {
    run("child_that_resets_by_force", &[]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_that_resets_by_force() {
    let runtime = Runtime::start().unwrap();
    let device = runtime.device(0).unwrap();
    let context = device.create_context().unwrap();
    let before = free(&context);
    let memory = DeviceMemory::allocate(&context, 1 << 20, MallocPolicy::HUGE_FIRST).unwrap();
    let stream = Stream::new(&context).unwrap();
    assert!(free(&context) < before);
    // SAFETY: this thread is the only one.
    unsafe { device.reset_force() }.unwrap();
    assert!(matches!(stream.synchronize(), Err(AclError::DeviceReset { .. })));
    drop((memory, stream, context, device));
    assert_eq!(free(&runtime.device(0).unwrap().primary_context()), before);
    no_release_failed(&runtime);
}

#[test]
fn threads_with_contexts_of_their_own_do_not_disturb_one_another() {
    run("child_with_threads", &[("ASCEND_SIM_DEVICES", "2")]);
}

#[test]
#[ignore = "started by another test in a process of its own, with variables set"]
fn child_with_threads() {
    let runtime = Runtime::start().unwrap();
    let devices = [0, 1].map(|number| runtime.device(number).unwrap());
    let before = devices.each_ref().map(|device| free(&device.primary_context()));
    let caches =
        devices.each_ref().map(|device| EventCache::new(&device.primary_context(), EventFlags::PROGRESS));
    thread::scope(|scope| {
        for number in 0..4_u8 {
            // Two threads of one device share its cache, and its events.
            let events = &caches[usize::from(number) % 2];
            let device = &devices[usize::from(number) % 2];
            let guest_of = &devices[usize::from(number + 1) % 2];
            scope.spawn(move || {
                let context = device.create_context().unwrap();
                let stream = Stream::new(&context).unwrap();
                let other = guest_of.primary_context();
                for round in 0..50 {
                    let memory = DeviceMemory::allocate(&context, 4096, MallocPolicy::HUGE_FIRST).unwrap();
                    memory.as_slice().fill(number).unwrap();
                    let event = events.record(&stream).unwrap();
                    // A guest on this thread works on the other device meanwhile.
                    as_guest(|| {
                        DeviceMemory::allocate(&other, 64 + round, MallocPolicy::HUGE_FIRST).map(drop)
                    })
                    .unwrap();
                    event.synchronize().unwrap();
                    let mut byte = [0];
                    memory.as_slice().slice(4095, 1).unwrap().read(&mut byte).unwrap();
                    assert_eq!(byte, [number]);
                }
            });
        }
    });
    assert!(caches.iter().all(|cache| (1..=2).contains(&cache.idle())));
    assert_eq!(devices.each_ref().map(|device| free(&device.primary_context())), before);
    no_release_failed(&runtime);
}
