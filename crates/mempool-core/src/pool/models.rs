//! Races of a pool under a scheduler that tries interleavings of a few threads, each model named after its race. Built and run by
//! `cargo xtask ci models` only; `MEMPOOL_MODEL_ITERATIONS` says how many schedules each model is run under.
//!
//! The device of the models runs no work. It keeps, from the events and waits that the pool asks for, which work comes after which, and
//! checks every block that is handed out against that; and it checks the limit at every call.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{
    Alignment, AllocError, Bytes, Device, DeviceAddress, DeviceError, DeviceEvent, DeviceProperties,
    DeviceStream, FreeError, MemoryInfo, Pool, PoolConfig, PoolConfigBuilder, RawAllocation, StreamError,
    StreamId, StreamOrder, VirtualMemory,
};

/// Schedules that each model is run under.
fn iterations() -> usize {
    let asked = std::env::var("MEMPOOL_MODEL_ITERATIONS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

fn explore(model: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(model, iterations());
}

const ARENA: Bytes = Bytes::mib(2);
const STREAMS: usize = 3;

/// Pieces of work of each stream that come before a point.
type After = [u64; STREAMS];

#[derive(Debug)]
struct ModelDevice {
    limit: Bytes,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    arenas: BTreeMap<u64, u64>,
    next_base: u64,
    streams: [Stream; STREAMS],
    events: BTreeMap<u64, (usize, u64, After)>,
    last_event: u64,
    /// By first byte of memory that was freed: its end, the stream, and the stream's work by then.
    formers: Vec<(u64, u64, usize, u64)>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Stream {
    given: u64,
    /// All of it up to here is done.
    done: u64,
    after: After,
}

impl ModelDevice {
    fn new(limit: Bytes) -> Arc<Self> {
        let books = Books { next_base: 1 << 32, ..Books::default() };
        Arc::new(Self { limit, books: Mutex::new(books) })
    }

    /// A block was handed out to a stream, which is given work on it.
    fn handed_out(&self, block: &RawAllocation, stream: usize) {
        let mut books = self.books.lock();
        let (start, end) = (block.address.get(), block.address.get() + block.bytes.get());
        let Stream { after, .. } = books.streams[stream];
        for &(first, last, other, given) in &books.formers {
            let overlaps = first < end && start < last;
            let ordered = other == stream || given <= after[other] || given <= books.streams[other].done;
            assert!(
                !overlaps || ordered,
                "{block:?} was handed to stream {stream} before stream {other} was done"
            );
        }
        books.formers.retain(|&(first, last, ..)| first >= end || start >= last);
        books.streams[stream].given += 1;
    }

    /// A block is about to be freed on a stream.
    fn freed(&self, block: &RawAllocation, stream: usize) {
        let mut books = self.books.lock();
        books.streams[stream].given += 1;
        let given = books.streams[stream].given;
        let (start, end) = (block.address.get(), block.address.get() + block.bytes.get());
        books.formers.push((start, end, stream, given));
    }

    /// The work of a stream so far is done.
    fn run(&self, stream: usize) {
        let mut books = self.books.lock();
        books.streams[stream].done = books.streams[stream].given;
    }

    fn live_events(&self) -> usize {
        self.books.lock().events.len()
    }
}

impl Books {
    fn index(&self, stream: DeviceStream) -> Result<usize, DeviceError> {
        let index = usize::try_from(stream.get()).ok().filter(|&index| index < STREAMS);
        index.ok_or_else(|| DeviceError::Other("no such stream".into()))
    }

    fn event(&self, event: DeviceEvent) -> Result<(usize, u64, After), DeviceError> {
        self.events.get(&event.get()).copied().ok_or_else(|| DeviceError::Other("no such event".into()))
    }
}

impl Device for ModelDevice {
    fn properties(&self) -> DeviceProperties {
        DeviceProperties::new("model")
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        Ok(MemoryInfo { total: self.limit, free: Bytes::ZERO })
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        shuttle::thread::yield_now();
        let mut books = self.books.lock();
        let held: u64 = books.arenas.values().sum();
        assert!(held + size.get() <= self.limit.get(), "the limit is passed: {held} and {size}");
        let base = books.next_base;
        books.next_base += size.get();
        books.arenas.insert(base, size.get());
        Ok(DeviceAddress::new(base))
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        shuttle::thread::yield_now();
        let mut books = self.books.lock();
        assert_eq!(books.arenas.remove(&base.get()), Some(size.get()));
        let (start, end) = (base.get(), base.get() + size.get());
        for &(first, last, other, given) in &books.formers {
            let pending = given > books.streams[other].done;
            assert!(
                !(first < end && start < last && pending),
                "an arena went back under work of stream {other}"
            );
        }
        books.formers.retain(|&(first, last, ..)| first >= end || start >= last);
        Ok(())
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        Some(self)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        None
    }
}

impl StreamOrder for ModelDevice {
    fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
        shuttle::thread::yield_now();
        let mut books = self.books.lock();
        let index = books.index(stream)?;
        let Stream { given, after, .. } = books.streams[index];
        books.last_event += 1;
        let event = books.last_event;
        books.events.insert(event, (index, given, after));
        Ok(DeviceEvent::new(event))
    }

    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
        shuttle::thread::yield_now();
        let books = self.books.lock();
        let (stream, given, _) = books.event(event)?;
        Ok(given <= books.streams[stream].done)
    }

    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        shuttle::thread::yield_now();
        let mut books = self.books.lock();
        let (stream, given, after) = books.event(event)?;
        for (stream, given) in after.into_iter().enumerate().chain([(stream, given)]) {
            books.streams[stream].done = books.streams[stream].done.max(given);
        }
        Ok(())
    }

    fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError> {
        shuttle::thread::yield_now();
        let mut books = self.books.lock();
        let index = books.index(stream)?;
        let (other, given, inherited) = books.event(event)?;
        let after = &mut books.streams[index].after;
        for (own, theirs) in after.iter_mut().zip(inherited) {
            *own = (*own).max(theirs);
        }
        after[other] = after[other].max(given);
        Ok(())
    }

    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        let mut books = self.books.lock();
        let released = books.events.remove(&event.get());
        assert!(released.is_some(), "{event} is released twice");
        Ok(())
    }
}

/// A pool over the model's device, with its streams.
struct Stage {
    device: Arc<ModelDevice>,
    pool: Pool,
    streams: [StreamId; STREAMS],
}

impl Stage {
    /// `arenas` of 2 MiB at most.
    fn new(arenas: u64, configure: impl FnOnce(PoolConfigBuilder) -> PoolConfigBuilder) -> Arc<Self> {
        let limit = Bytes::new(ARENA.get() * arenas);
        let device = ModelDevice::new(limit);
        let config = configure(PoolConfig::builder().max_size(limit).arena_size(ARENA)).build().unwrap();
        let pool = Pool::new(Arc::clone(&device) as _, config).unwrap();
        let streams = [0, 1, 2].map(|stream| pool.add_stream(DeviceStream::new(stream)).unwrap());
        Arc::new(Self { device, pool, streams })
    }

    fn allocate(&self, stream: usize, bytes: Bytes) -> Result<RawAllocation, AllocError> {
        let block = self.pool.allocate_raw_on(self.streams[stream], bytes, Alignment::ONE)?;
        self.device.handed_out(&block, stream);
        Ok(block)
    }

    fn free(&self, block: &RawAllocation, stream: usize) {
        self.device.freed(block, stream);
        self.pool.free_on(block.address, self.streams[stream]).unwrap();
    }

    fn beside(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) + Send + 'static,
    ) -> shuttle::thread::JoinHandle<()> {
        let stage = Arc::clone(self);
        shuttle::thread::spawn(move || work(&stage))
    }

    /// Everything goes back, and no event is left.
    fn end(self: Arc<Self>) {
        self.pool.validate().unwrap();
        self.pool.trim().unwrap();
        assert_eq!(self.pool.status().total, Bytes::ZERO);
        let device = Arc::clone(&self.device);
        drop(self);
        assert_eq!(device.live_events(), 0);
    }
}

#[test]
fn two_threads_grow_at_once() {
    explore(|| {
        let stage = Stage::new(2, |config| config);
        let other = stage.beside(|stage| {
            let block = stage.allocate(1, ARENA).unwrap();
            stage.free(&block, 1);
        });
        let block = stage.allocate(0, ARENA).unwrap();
        stage.free(&block, 0);
        other.join().unwrap();
        stage.end();
    });
}

#[test]
fn a_trim_meets_an_allocation() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let block = stage.allocate(0, Bytes::kib(64)).unwrap();
        stage.free(&block, 0);
        let other = stage.beside(|stage| {
            stage.pool.trim().unwrap();
        });
        let block = stage.allocate(1, ARENA).unwrap();
        stage.free(&block, 1);
        other.join().unwrap();
        stage.end();
    });
}

#[test]
fn a_block_is_freed_twice_at_once() {
    for bytes in [Bytes::new(512), Bytes::kib(64)] {
        explore(move || {
            let stage = Stage::new(1, |config| config);
            let kept = stage.allocate(0, bytes).unwrap();
            let block = stage.allocate(0, bytes).unwrap();
            stage.device.freed(&block, 0);
            let address = block.address;
            let won = Arc::new(Mutex::new(0));
            let (count, other) = (Arc::clone(&won), Arc::clone(&stage));
            let other = shuttle::thread::spawn(move || {
                if other.pool.free_on(address, other.streams[0]).is_ok() {
                    *count.lock() += 1;
                }
            });
            match stage.pool.free_on(address, stage.streams[0]) {
                Ok(_) => *won.lock() += 1,
                Err(error) => assert!(matches!(error, FreeError::DoubleFree { .. }), "{error}"),
            }
            other.join().unwrap();
            assert_eq!(*won.lock(), 1);
            stage.free(&kept, 0);
            stage.end();
        });
    }
}

#[test]
fn a_free_meets_the_reuse_of_its_memory_by_two_streams() {
    for bytes in [Bytes::new(700), Bytes::mib(1)] {
        explore(move || {
            let stage = Stage::new(1, |config| config);
            let blocks = [(); 2].map(|()| stage.allocate(0, bytes).unwrap());
            let others = [1, 2].map(|stream| {
                stage.beside(move |stage| {
                    // Two, so that what the first one has waited for decides about the second.
                    let blocks = [(); 2].map(|()| stage.allocate(stream, bytes));
                    for block in blocks.iter().flatten() {
                        stage.free(block, stream);
                    }
                })
            });
            for block in &blocks {
                stage.free(block, 0);
            }
            for other in others {
                other.join().unwrap();
            }
            stage.end();
        });
    }
}

#[test]
fn an_epoch_is_closed_while_another_thread_polls() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let other = stage.beside(|stage| {
            stage.device.run(0);
            stage.pool.reap();
            if let Ok(block) = stage.allocate(1, Bytes::mib(1)) {
                stage.free(&block, 1);
            }
        });
        // Enough for events behind the frees.
        for _ in 0..6 {
            let block = stage.allocate(0, Bytes::mib(1)).unwrap();
            stage.free(&block, 0);
        }
        stage.pool.reap();
        other.join().unwrap();
        stage.end();
    });
}

#[test]
fn a_stream_ends_while_its_blocks_are_freed() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let blocks = [(); 2].map(|()| stage.allocate(0, Bytes::mib(1)).unwrap());
        let other = stage.beside(|stage| stage.pool.end_stream(stage.streams[0]).unwrap());
        for block in &blocks {
            // Its work was given before the end.
            stage.pool.free_on(block.address, stage.streams[0]).unwrap();
        }
        other.join().unwrap();
        assert!(matches!(stage.pool.mark(stage.streams[0]), Err(StreamError::Ended { .. })));
        let block = stage.allocate(1, ARENA).unwrap();
        stage.free(&block, 1);
        stage.end();
    });
}

#[test]
fn a_wait_is_put_in_while_the_other_stream_ends() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let block = stage.allocate(0, ARENA).unwrap();
        stage.free(&block, 0);
        let other = stage.beside(|stage| stage.pool.end_stream(stage.streams[0]).unwrap());
        let block = stage.allocate(1, ARENA).unwrap();
        stage.free(&block, 1);
        other.join().unwrap();
        stage.end();
    });
}

#[test]
fn all_are_waited_for_while_another_thread_polls_and_a_third_trims() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let block = stage.allocate(0, ARENA).unwrap();
        stage.free(&block, 0);
        let polls = stage.beside(|stage| {
            stage.pool.reap();
        });
        let trims = stage.beside(|stage| {
            stage.pool.trim().unwrap();
        });
        // For the host: only when all is done.
        let block = stage.pool.allocate_raw(ARENA, Alignment::ONE).unwrap();
        stage.pool.free(block.address).unwrap();
        polls.join().unwrap();
        trims.join().unwrap();
        stage.end();
    });
}

#[test]
fn two_streams_wait_for_each_other_s_memory() {
    explore(|| {
        let stage = Stage::new(1, |config| config);
        let halves = [0, 1].map(|stream| (stream, stage.allocate(stream, Bytes::mib(1)).unwrap()));
        for (stream, half) in &halves {
            stage.free(half, *stream);
        }
        let other = stage.beside(|stage| {
            if let Ok(block) = stage.allocate(1, ARENA) {
                stage.free(&block, 1);
            }
        });
        if let Ok(block) = stage.allocate(0, ARENA) {
            stage.free(&block, 0);
        }
        other.join().unwrap();
        stage.end();
    });
}
