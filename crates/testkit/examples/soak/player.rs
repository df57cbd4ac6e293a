//! What one thread of a soak does: a careful program with a few streams of its own that hands blocks on to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend_host::{CallKind, Fault};
use mempool_core::{Alignment, AllocError, Bytes, RawAllocation, StreamId};
use parking_lot::{Mutex, RwLock};

use crate::stream_stage::Stage;

/// Most blocks that a thread keeps.
const MOST_LIVE: usize = 300;
/// Most blocks on their way between threads.
const MOST_HANDED_ON: usize = 64;
/// Steps between two looks at the race detector.
const LOOK_EVERY: u64 = 256;

/// A stream as the pool knows it and as the device does, which outlives the former.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stream {
    id: StreamId,
    on_device: host_device::engine::StreamId,
}

/// A live block, and the stream after whose work it may be used and freed; none for one of the host, which any may use.
#[derive(Clone, Copy)]
struct Held {
    block: RawAllocation,
    stream: Option<Stream>,
}

/// What the threads of a round share.
pub(crate) struct Common {
    with_faults: bool,
    handed_on: Mutex<Vec<Held>>,
    open: RwLock<Vec<Stream>>,
    /// Tells all to stop.
    is_over: AtomicBool,
    noticed: Mutex<Option<String>>,
}

impl Common {
    pub(crate) fn new(with_faults: bool) -> Self {
        Self {
            with_faults,
            handed_on: Mutex::default(),
            open: RwLock::default(),
            is_over: AtomicBool::new(false),
            noticed: Mutex::default(),
        }
    }

    /// Who noticed a race first, and when.
    pub(crate) fn noticed(&self) -> Option<String> {
        self.noticed.lock().clone()
    }

    /// Frees what nobody took.
    pub(crate) fn free_handed_on(&self, stage: &Stage) {
        for held in self.handed_on.lock().drain(..) {
            stage.free(&held.block, held.stream.map(|stream| stream.id));
        }
    }
}

pub(crate) struct Player {
    stage: Stage,
    common: Arc<Common>,
    seed: u64,
    random: fastrand::Rng,
    streams: Vec<Stream>,
    live: Vec<Held>,
}

impl Player {
    pub(crate) fn new(stage: Stage, common: Arc<Common>, seed: u64, streams: usize) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let mut player = Self { stage, common, seed, random, streams: Vec::new(), live: Vec::new() };
        for _ in 0..streams {
            player.add_stream();
        }
        player
    }

    pub(crate) fn play(&mut self, steps: u64) {
        for step in 0..steps {
            // Anew for each step, so that what other threads do does not change what this one tries next.
            self.random = fastrand::Rng::with_seed(self.seed ^ step.wrapping_mul(0xD6E8_FEB8_6659_FD93));
            if step.is_multiple_of(LOOK_EVERY) && self.is_over(step) {
                break;
            }
            self.step();
        }
        for held in std::mem::take(&mut self.live) {
            self.stage.free(&held.block, held.stream.map(|stream| stream.id));
        }
    }

    fn is_over(&self, step: u64) -> bool {
        if self.stage.engine.hazard_count() > 0 {
            let who = std::thread::current().name().unwrap_or_default().to_owned();
            self.common.noticed.lock().get_or_insert(format!("{who} in step {step}"));
            self.common.is_over.store(true, Ordering::Relaxed);
        }
        self.common.is_over.load(Ordering::Relaxed)
    }

    fn step(&mut self) {
        if self.common.with_faults && self.random.u8(..64) == 0 {
            self.plan_failure();
        }
        match self.random.u16(..1000) {
            0..420 if self.live.len() < MOST_LIVE => self.allocate(),
            0..800 => self.free_one(),
            800..850 => self.hand_on(),
            850..900 => self.take_over(),
            900..915 => self.wait_for_another(),
            915..925 => self.synchronize(),
            925..930 => self.replace_stream(),
            930..940 => drop(self.stage.pool.reap()),
            940 if self.random.u8(..4) == 0 => drop(self.stage.pool.trim()),
            941 if self.random.u8(..8) == 0 => self.stage.pool.validate().expect("the books are right"),
            942 => assert!(self.stage.pool.report().status.total >= self.stage.pool.report().status.used),
            _ => self.stage.advance(self.random.u64(..60)),
        }
    }

    fn plan_failure(&mut self) {
        const KINDS: [CallKind; 6] = [
            CallKind::RecordEvent,
            CallKind::WaitEvent,
            CallKind::IsComplete,
            CallKind::SynchronizeEvent,
            CallKind::AllocateArena,
            CallKind::FreeArena,
        ];
        let kind = KINDS[self.random.usize(..KINDS.len())];
        let fault = if self.random.bool() { Fault::OutOfMemory } else { Fault::Other };
        self.stage.faults.fail_nth(kind, self.random.u64(1..4), fault);
    }

    fn any_stream(&mut self) -> Stream {
        self.streams[self.random.usize(..self.streams.len())]
    }

    fn allocate(&mut self) {
        let stream = self.any_stream();
        let for_host = self.random.u8(..20) == 0;
        let most = 1_u64 << self.random.u32(5..21);
        let bytes = Bytes::new(self.random.u64(1..=most));
        let shift = if self.random.u8(..4) == 0 { self.random.u32(..18) } else { 0 };
        let alignment = Alignment::new(1 << shift).expect("a power of two");
        let micros = self.random.u64(..40);
        match self.stage.allocate_aligned(bytes, alignment, Some(stream.id).filter(|_| !for_host)) {
            Ok(block) => {
                if self.random.u8(..8) != 0 {
                    self.stage.work(&block, stream.id, micros);
                }
                self.live.push(Held { block, stream: Some(stream).filter(|_| !for_host) });
            }
            Err(AllocError::OutOfMemory(_)) => (0..4).for_each(|_| self.free_one()),
            Err(AllocError::Device { .. }) if self.common.with_faults => self.free_one(),
            Err(error) => panic!("{error}"),
        }
    }

    fn take_live(&mut self) -> Option<Held> {
        (!self.live.is_empty()).then(|| self.live.swap_remove(self.random.usize(..self.live.len())))
    }

    fn free_one(&mut self) {
        let Some(held) = self.take_live() else { return };
        match held.stream {
            None => self.stage.free(&held.block, None),
            Some(_) if self.random.u8(..24) == 0 => self.stage.free(&held.block, None),
            Some(_) if self.random.u8(..6) == 0 => {
                let stream = self.any_stream();
                if let Some(held) = self.move_to(held, stream) {
                    self.stage.free(&held.block, Some(stream.id));
                }
            }
            Some(stream) => self.stage.free(&held.block, Some(stream.id)),
        }
    }

    /// Makes a block one of `stream`, and uses it there. Frees it for the host where its own stream has ended, for then nothing can be
    /// ordered after that one any more.
    fn move_to(&mut self, held: Held, stream: Stream) -> Option<Held> {
        let micros = self.random.u64(..40);
        if let Some(first) = held.stream.filter(|&first| first != stream) {
            if self.stage.try_order(first.on_device, stream.id).is_err() {
                self.stage.free(&held.block, None);
                return None;
            }
            self.stage.allow(&held.block, stream.id);
        }
        self.stage.work(&held.block, stream.id, micros);
        Some(Held { stream: held.stream.map(|_| stream), ..held })
    }

    fn hand_on(&mut self) {
        if self.common.handed_on.lock().len() < MOST_HANDED_ON
            && let Some(held) = self.take_live()
        {
            self.common.handed_on.lock().push(held);
        }
    }

    fn take_over(&mut self) {
        let taken = self.common.handed_on.lock().pop();
        let stream = self.any_stream();
        let Some(held) = taken.and_then(|held| self.move_to(held, stream)) else { return };
        if self.random.bool() {
            self.live.push(held);
        } else {
            self.stage.free(&held.block, held.stream.map(|stream| stream.id));
        }
    }

    /// Lets a stream wait for one of any thread, and tells the pool.
    fn wait_for_another(&mut self) {
        let waiter = self.any_stream();
        let other = {
            let open = self.common.open.read();
            open[self.random.usize(..open.len())]
        };
        // Its thread may end it at any moment.
        if let Ok(mark) = self.stage.pool.mark(other.id)
            && self.stage.try_order(other.on_device, waiter.id).is_ok()
        {
            self.stage.pool.note_wait(waiter.id, mark).expect("the waiter is open");
        }
    }

    fn synchronize(&mut self) {
        let stream = self.any_stream();
        let mark = self.stage.pool.mark(stream.id).expect("the stream is open");
        self.stage.engine.synchronize_stream(stream.on_device).expect("its work can run");
        self.stage.pool.synchronized(mark).expect("the mark is of this pool");
    }

    fn add_stream(&mut self) {
        let id = self.stage.add_stream();
        let stream = Stream { id, on_device: self.stage.on_device(id) };
        self.streams.push(stream);
        self.common.open.write().push(stream);
    }

    /// Ends a stream, in one of two ways, and adds another.
    fn replace_stream(&mut self) {
        let stream = self.any_stream();
        if self.random.u8(..3) == 0 {
            self.stage.end_idle_stream(stream.id);
        } else if let Err(error) = self.stage.try_end_stream(stream.id) {
            assert!(self.common.with_faults, "{error}");
            return;
        }
        self.streams.retain(|&other| other != stream);
        self.common.open.write().retain(|&other| other != stream);
        self.add_stream();
    }
}
