//! One of each owner, and a run through all that they do.

use std::any::Any;
use std::path::Path;

use acl::{
    AclError, Dataset, DeviceMemory, Event, EventFlags, EventStatus, MallocPolicy, MemoryPool, Model,
    PageKind, PhysicalMemory, PinnedMemory, Reservation, Runtime, Stream, granularity,
};

use super::fake_table::{copy_through, execute, load_into, pool_free};

/// One of each, in the order in which they are made.
pub(crate) fn one_of_each(runtime: Runtime) -> Result<Vec<Box<dyn Any>>, AclError> {
    let device = runtime.device(0)?;
    let context = device.create_context()?;
    let primary = device.primary_context();
    let stream = Stream::new(&context)?;
    let event = Event::new(&context, EventFlags::ORDER.and(EventFlags::PROGRESS))?;
    let memory = DeviceMemory::allocate(&primary, 64, MallocPolicy::HUGE_FIRST)?;
    let pinned = PinnedMemory::allocate(&context, 64)?;
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
        Box::new(device),
        Box::new(context),
        Box::new(primary),
        Box::new(stream),
        Box::new(event),
        Box::new(memory),
        Box::new(pinned),
        Box::new(reservation),
        Box::new(physical),
        Box::new(mapping),
        Box::new(pool),
        Box::new(model),
        Box::new(dataset),
    ])
}

/// Makes one of each and uses it, between two contexts.
pub(crate) fn use_everything(runtime: &Runtime) -> Result<(), AclError> {
    let device = runtime.device(0)?;
    let first = device.primary_context();
    let second = device.create_context()?;
    let (one, two) = (Stream::new(&first)?, Stream::new(&second)?);
    let memory = DeviceMemory::allocate(&first, 64, MallocPolicy::HUGE_FIRST)?;
    let mut pinned = PinnedMemory::allocate(&second, 64)?;
    let event = Event::new(&first, EventFlags::ORDER)?;

    pinned.write(0, b"to and fro")?;
    let place = memory.as_slice().slice(4, 10)?;
    copy_through(&two, place, &pinned, 32)?;
    let mut back = [0; 10];
    pinned.read(32, &mut back)?;
    assert_eq!(&back, b"to and fro");
    event.record(&one)?;
    two.wait(&event)?;
    assert_eq!(event.query()?, EventStatus::Complete);
    event.synchronize()?;
    one.launch_host_function(|| ())?;
    assert!(two.is_idle()?);
    two.synchronize()?;

    let size = granularity(&second, PageKind::HUGE)?;
    let reservation = Reservation::new(&second, size)?;
    let physical = PhysicalMemory::allocate(&first, size, PageKind::HUGE)?;
    let mapping = reservation.map(0, &physical)?;
    mapping.as_slice().slice(0, 8)?.fill(9)?;
    mapping.unmap().map_err(|refused| refused.error)?;
    drop(reservation.map(0, &physical)?);

    let pool = MemoryPool::create(&first, 1 << 20)?;
    let address = pool.allocate(32, &two)?;
    pool_free(&pool, address, &two)?;

    assert_eq!(Model::sizes(&first, Path::new("net.om"))?.work, 100);
    let model = load_into(&first, memory.as_slice())?;
    assert_eq!((model.buffers()?.inputs, model.buffers()?.outputs), (vec![16], vec![8]));
    let (mut input, mut output) = (Dataset::new(&first)?, Dataset::new(&first)?);
    input.add(memory.as_slice().slice(0, 16)?)?;
    output.add(memory.as_slice().slice(16, 8)?)?;
    execute(&model, &input, &mut output)?;
    second.synchronize_device()
}
