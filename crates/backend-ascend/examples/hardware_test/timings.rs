//! How long the calls take that a pool makes, through the backend and with everything that it adds.

use std::sync::Arc;
use std::time::Instant;

use backend_ascend::acl::{Event, EventFlags, Stream};
use backend_ascend::{ArenaSource, AscendBackend, AscendOptions};
use mempool_core::{Bytes, Device, DeviceError, StreamOrder, VirtualMemory};

use crate::checks::Open;
use crate::output::say;
use crate::samples::{Timing, summary, time};

/// Samples of what is quick.
const MANY: usize = 500;
/// Samples of what takes memory.
const SOME: usize = 100;
/// Samples of what takes much.
const FEW: usize = 20;

/// Gathers samples of several operations by name.
#[derive(Debug, Default)]
struct Clock {
    operations: Vec<(String, Vec<u64>)>,
}

impl Clock {
    /// Runs `call` and notes its time, unless it fails.
    fn time<T>(
        &mut self,
        name: &str,
        call: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let start = Instant::now();
        let answer = call()?;
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match self.operations.iter_mut().find(|(known, _)| known == name) {
            Some((_, samples)) => samples.push(took),
            None => self.operations.push((name.to_owned(), vec![took])),
        }
        Ok(answer)
    }
}

/// Measures and prints. What cannot be done is left out, with a line that says so.
pub(crate) fn run(backend: &AscendBackend, open: Open<'_>) -> Vec<Timing> {
    say(format_args!("\n{:<48} {:>5} {:>12} {:>12}", "timings", "n", "median", "p99"));
    let mut clock = Clock::default();
    let free = backend.memory_info().map_or(Bytes::ZERO, |info| info.free);
    let mut measure = |what: String, run: &dyn Fn(&mut Clock) -> Result<(), DeviceError>| {
        let known = clock.operations.len();
        let answer = run(&mut clock);
        for (name, samples) in &clock.operations[known..] {
            let timing = summary(name, samples.clone());
            say(format_args!(
                "  {name:<46} {:>5} {:>12} {:>12}",
                timing.samples,
                time(timing.median_ns),
                time(timing.p99_ns)
            ));
        }
        if let Err(error) = answer {
            say(format_args!("  {what}: left out: {error}"));
        }
    };
    measure("memory info".to_owned(), &|clock| memory_info(backend, clock));
    for (mib, samples) in [(2, SOME), (64, FEW), (1024, FEW)] {
        let size = Bytes::mib(mib);
        if size.get() <= free.get() / 2 {
            measure(format!("arenas of {size}"), &|clock| arenas(backend, "", size, samples, clock));
        }
    }
    let size = Bytes::mib(64);
    if backend.virtual_memory().is_some() && size.get() <= free.get() / 2 {
        match open(AscendOptions::default().arena_source(ArenaSource::VirtualMemory)) {
            Ok(mapped) => measure("arenas by virtual memory".to_owned(), &|clock| {
                arenas(&mapped, " by virtual memory", size, FEW, clock)
            }),
            Err(error) => say(format_args!("  arenas by virtual memory: left out: {error}")),
        }
    }
    measure("events".to_owned(), &|clock| events(backend, clock));
    if let Some(memory) = backend.virtual_memory() {
        for (granules, samples) in [(1, SOME), (8, FEW), (64, FEW), (256, FEW)] {
            let size = Bytes::new(memory.granule().get() * granules);
            if size.get() <= free.get() / 2 {
                measure(format!("virtual memory of {size}"), &|clock| {
                    virtual_memory(memory, size, samples, clock)
                });
            }
        }
    }
    clock.operations.into_iter().map(|(name, samples)| summary(&name, samples)).collect()
}

fn memory_info(backend: &AscendBackend, clock: &mut Clock) -> Result<(), DeviceError> {
    (0..MANY).try_for_each(|_| clock.time("memory info", || backend.memory_info()).map(drop))
}

fn arenas(
    backend: &AscendBackend,
    source: &str,
    size: Bytes,
    samples: usize,
    clock: &mut Clock,
) -> Result<(), DeviceError> {
    for _ in 0..samples {
        let base =
            clock.time(&format!("take an arena of {size}{source}"), || backend.allocate_arena(size))?;
        clock.time(&format!("give back an arena of {size}{source}"), || backend.free_arena(base, size))?;
    }
    Ok(())
}

fn events(backend: &AscendBackend, clock: &mut Clock) -> Result<(), DeviceError> {
    let other = |error| DeviceError::Other(Box::new(error));
    let streams =
        [Stream::new(backend.context()).map_err(other)?, Stream::new(backend.context()).map_err(other)?];
    let [first, second] = streams.map(Arc::new);
    let name = |stream| backend.register_stream(stream).map_err(|error| DeviceError::Other(Box::new(error)));
    let [one, two] = [name(&first)?, name(&second)?];
    for sample in 0..MANY {
        let event = clock.time("record an event", || backend.record_event(one))?;
        clock.time("let a stream wait for an event", || backend.wait_event(two, event))?;
        // What is known to be complete costs no call, so of each event only one is asked.
        if sample % 2 == 0 {
            clock.time("ask whether an event is complete", || backend.is_complete(event))?;
        } else {
            clock.time("synchronize an event", || backend.synchronize_event(event))?;
        }
        backend.synchronize_event(event)?;
        clock.time("release an event", || backend.release_event(event))?;
    }
    // What keeping events saves.
    for _ in 0..MANY {
        let flags = EventFlags::ORDER.and(EventFlags::PROGRESS);
        let event =
            clock.time("create an event of ACL", || Event::new(backend.context(), flags).map_err(other))?;
        clock.time("destroy an event of ACL", || {
            drop(event);
            Ok(())
        })?;
    }
    backend.release_stream(one)?;
    backend.release_stream(two)?;
    Ok(())
}

fn virtual_memory(
    memory: &dyn VirtualMemory,
    size: Bytes,
    samples: usize,
    clock: &mut Clock,
) -> Result<(), DeviceError> {
    for _ in 0..samples {
        let base = clock.time(&format!("reserve {size} of addresses"), || memory.reserve(size))?;
        let piece = clock.time(&format!("create {size} of physical memory"), || memory.create_physical(size));
        let mapped = piece.and_then(|piece| {
            let mapped = clock.time(&format!("map {size}"), || memory.map(base, piece));
            let unmapped = mapped.and_then(|()| clock.time(&format!("unmap {size}"), || memory.unmap(base)));
            clock.time(&format!("release {size} of physical memory"), || memory.release_physical(piece))?;
            unmapped
        });
        clock.time(&format!("free {size} of addresses"), || memory.free_reservation(base, size))?;
        mapped?;
    }
    Ok(())
}
