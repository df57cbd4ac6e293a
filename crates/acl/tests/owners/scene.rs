//! One of each owner, and a run through all that they do.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use acl::{
    AclError, AllocatorOfStream, Context, Dataset, Device, DeviceMemory, Event, EventCache, EventFlags,
    EventStatus, HostUse, MallocPolicy, MemoryKind, MemoryPlace, MemoryPool, Model, PageKind, PhysicalMemory,
    PinnedMemory, PoolCounter, Reservation, Runtime, Stream, StreamFlags, ValueComparison, Watcher,
    granularity,
};

use super::allocators::Counting;
use super::fake::{ForeignStream, primary};
use super::promises::{
    copy_through, execute, execute_in, foreign_context, foreign_stream, load_bytes_into, load_into,
    move_in_device, pool_free, register, reset_force, wait_value, write_value,
};

/// Is told of all and does nothing.
struct Idle;

impl Watcher for Idle {}

/// One of each, in the order in which they are made.
pub(crate) fn one_of_each(runtime: Runtime) -> Result<Vec<Box<dyn Any>>, AclError> {
    let watch = runtime.watch(Arc::new(Idle))?;
    let device = runtime.device(0)?;
    let context = device.create_context()?;
    let primary = device.primary_context();
    let stream = Stream::new(&context)?;
    stream.register_allocator(Arc::new(Counting::default()))?;
    let event = Event::new(&context, EventFlags::ORDER.and(EventFlags::PROGRESS))?;
    let events = EventCache::new(&context, EventFlags::PROGRESS);
    let cached = events.record(&stream)?;
    let memory = DeviceMemory::allocate(&primary, 64, MallocPolicy::HUGE_FIRST)?;
    let pinned = PinnedMemory::allocate(&context, 64)?;
    let registered = register(&context, 1 << 30, 4096, HostUse::Pinned)?;
    let size = granularity(&context, PageKind::HUGE)?;
    let reservation = Reservation::new(&context, 2 * size)?;
    let physical = PhysicalMemory::allocate(&context, size, PageKind::HUGE)?;
    let mapping = reservation.map(size, &physical)?;
    let pool = MemoryPool::create(&primary, 0)?;
    let model = load_into(&context, memory.as_slice())?;
    let mut dataset = Dataset::new(&context)?;
    dataset.add(memory.as_slice())?;
    dataset.add(memory.as_slice().slice(16, 16)?)?;
    Ok(vec![
        Box::new(runtime),
        Box::new(watch),
        Box::new(device),
        Box::new(context),
        Box::new(primary),
        Box::new(stream),
        Box::new(event),
        Box::new(events),
        Box::new(cached),
        Box::new(memory),
        Box::new(pinned),
        Box::new(registered),
        Box::new(reservation),
        Box::new(physical),
        Box::new(mapping),
        Box::new(pool),
        Box::new(model),
        Box::new(dataset),
    ])
}

/// Calls every function of ACL that the crate wraps, but for those that only serve where another is missing.
pub(crate) fn use_everything(runtime: &Runtime) -> Result<(), AclError> {
    assert_eq!((runtime.device_count()?, runtime.version()?), (2, (1, 17, 3)));
    assert!(!runtime.runs_on_device()?);
    let _watch = runtime.watch(Arc::new(Idle))?;
    let device = runtime.device(0)?;
    use_streams(&device)?;
    use_memory(&device)?;
    use_virtual_memory(&device)?;
    use_models(&device)?;
    // And the other device goes by force, with all that is on it.
    let other = runtime.device(1)?;
    let lost = DeviceMemory::allocate(&other.primary_context(), 64, MallocPolicy::NORMAL_ONLY)?;
    reset_force(&other)?;
    let gone = lost.as_slice().fill(0);
    assert!(matches!(gone, Err(AclError::DeviceReset { number: 1, .. })));
    Ok(())
}

fn use_streams(device: &Device) -> Result<(), AclError> {
    let first = device.primary_context();
    let second = device.create_context()?;
    assert_eq!(first.soc_name()?, "Ascend910B3");
    let one = Stream::new(&first)?;
    let two = Stream::with_options(&second, 3, StreamFlags::FAST_LAUNCH.and(StreamFlags::FAST_SYNC))?;
    assert_eq!((two.id()?, two.priority()?, two.flags()?), (5, 3, StreamFlags::FAST_SYNC));
    two.stop_on_failure(true)?;

    let event = Event::new(&first, EventFlags::ORDER)?;
    event.record(&one)?;
    two.wait(&event)?;
    assert_eq!(event.query()?, EventStatus::Complete);
    event.synchronize()?;
    event.synchronize_for(Duration::from_secs(1))?;
    let later = Event::legacy(&second)?;
    later.record(&two)?;
    assert!((later.millis_since(&event)? - 2.5).abs() < f32::EPSILON);
    later.reset(&two)?;
    assert_eq!(later.query()?, EventStatus::NotRecorded);

    one.launch_host_function(|| ())?;
    assert!(two.is_idle()?);
    two.synchronize()?;
    two.synchronize_for(Duration::from_secs(1))?;
    second.default_stream()?.synchronize()?;

    let memory = DeviceMemory::allocate(&first, 16, MallocPolicy::HUGE_FIRST)?;
    write_value(&two, memory.as_slice(), 7)?;
    wait_value(&two, memory.as_slice(), 7, ValueComparison::Equal)?;

    let foreign = ForeignStream::new(primary(0));
    // Foreign code's name for the primary context, as a C interface gets it.
    let context = foreign_context(device, primary(0))?;
    foreign_stream(&context, foreign.0)?.synchronize()?;

    two.register_allocator(Arc::new(Counting::default()))?;
    assert_eq!(two.allocator()?, AllocatorOfStream::Ours);
    two.unregister_allocator()?;
    assert_eq!(two.allocator()?, AllocatorOfStream::None);

    two.stop()?;
    two.abort()?;
    two.destroy_now().map_err(|refused| refused.error)
}

fn use_memory(device: &Device) -> Result<(), AclError> {
    let first = device.primary_context();
    let second: Context = device.create_context()?;
    let stream = Stream::new(&second)?;
    let memory = DeviceMemory::allocate(&first, 64, MallocPolicy::HUGE_FIRST)?;
    let mut pinned = PinnedMemory::allocate(&second, 64)?;
    pinned.write(0, b"to and fro")?;
    let place = memory.as_slice().slice(4, 10)?;
    copy_through(&stream, place, &pinned, 32)?;
    let mut back = [0; 10];
    pinned.read(32, &mut back)?;
    assert_eq!(&back, b"to and fro");
    let other = DeviceMemory::allocate_unpadded(&first, 64, MallocPolicy::NORMAL_ONLY)?;
    move_in_device(&stream, other.as_slice(), place, b'x')?;
    other.as_slice().slice(0, 10)?.read(&mut back)?;
    assert_eq!(&back, b"to and fro");
    place.read(&mut back)?;
    assert_eq!(&back, b"xxxxxxxxxx");
    other.as_slice().fill(1)?;

    let policy = MallocPolicy::HUGE_FIRST.and(MallocPolicy::HIGH_BANDWIDTH);
    let counted = DeviceMemory::allocate_for_module(&second, 64, policy, Some(33))?;
    assert_eq!(second.address_info(counted.address() + 63)?.place, MemoryPlace::Device(0));
    assert_eq!(second.address_range(counted.address() + 63)?.base, counted.address());
    counted.free_after_device().map_err(|refused| refused.error)?;
    assert_eq!(device.memory_by_module()?.len(), 2);
    assert!(device.damaged_memory()?.len() >= 2, "and what could not be freed, where a call fails");
    assert_eq!(first.memory_info(MemoryKind::HBM)?.free, 10);

    let mapped = register(&second, 1 << 30, 4096, HostUse::Mapped)?;
    drop(register(&second, 1 << 31, 4096, HostUse::Pinned)?);
    assert_eq!(mapped.parts().count(), 1);
    second.synchronize_device_for(Duration::from_secs(1))?;
    second.synchronize_device()
}

fn use_virtual_memory(device: &Device) -> Result<(), AclError> {
    let (first, second) = (device.primary_context(), device.create_context()?);
    let size = granularity(&second, PageKind::HUGE)?;
    let reservation = Reservation::new(&second, size)?;
    let physical = PhysicalMemory::allocate(&first, size, PageKind::HUGE)?;
    let mapping = reservation.map(0, &physical)?;
    mapping.as_slice().slice(0, 8)?.fill(9)?;
    mapping.allow_access(1)?;
    mapping.unmap().map_err(|refused| refused.error)?;
    drop(reservation.map(0, &physical)?);

    let stream = Stream::new(&second)?;
    let pool = MemoryPool::create(&first, 1 << 20)?;
    let address = pool.allocate(32, &stream)?;
    pool_free(&pool, address, &stream)?;
    pool.set_release_threshold(4096)?;
    assert_eq!(pool.counter(PoolCounter::UsedHigh)?, 8);
    pool.trim_to(0)
}

fn use_models(device: &Device) -> Result<(), AclError> {
    let context = device.primary_context();
    let stream = Stream::new(&context)?;
    let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::HUGE_FIRST)?;
    let bytes: Arc<[u8]> = Arc::from([1, 2, 3]);
    assert_eq!(Model::sizes(&context, Path::new("net.om"))?.work, 100);
    assert_eq!(Model::sizes_in(&context, &bytes)?.weights, 6);
    let models = [
        Model::load(&context, Path::new("net.om"))?,
        load_into(&context, memory.as_slice())?,
        Model::load_from_memory(&context, Arc::clone(&bytes))?,
        load_bytes_into(&context, bytes, memory.as_slice())?,
    ];
    let (mut input, mut output) = (Dataset::new(&context)?, Dataset::new(&context)?);
    input.add(memory.as_slice().slice(0, 16)?)?;
    output.add(memory.as_slice().slice(16, 8)?)?;
    for model in &models {
        assert_eq!((model.buffers()?.inputs, model.buffers()?.outputs), (vec![16], vec![8]));
        execute(model, &input, &mut output)?;
    }
    execute_in(&models[0], &stream, &input, &mut output)?;
    stream.synchronize()
}
