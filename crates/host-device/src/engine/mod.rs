//! Streams, events and time on a [`HostDevice`], and reports of memory that is used when it should not be.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use host_device::engine::{Engine, HazardKind, Operation, StreamOptions};
//! use host_device::{HostDevice, HostDeviceConfig};
//!
//! let device = Arc::new(HostDevice::new(HostDeviceConfig::new(64 << 20))?);
//! let engine = Engine::new(Arc::clone(&device))?;
//! let stream = engine.create_stream(StreamOptions::default());
//! let buffer = device.allocate_from(2 << 20, "buffer")?;
//!
//! // Nothing runs before time passes.
//! let kernel = Operation::kernel("scale", Duration::from_micros(50)).writing(buffer, 1024);
//! engine.enqueue(stream, kernel)?;
//! device.free_from(buffer, 2 << 20, "too early")?;
//! engine.advance(Duration::from_micros(50))?;
//!
//! let hazard = &engine.take_hazards()[0];
//! assert_eq!(hazard.kind, HazardKind::UseAfterFree);
//! assert!(hazard.to_string().contains("too early"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Contract
//!
//! * What is enqueued on a stream runs in that order; streams run beside each other unless events, values or callbacks
//!   order them. An operation has its effect when its duration is over.
//! * A device has at most one engine, which moves its clock.
//! * Closures and callbacks run without any lock of the engine: they may call it. One that panics is reported as a
//!   hazard, and its stream goes on.
//! * With a manual clock everything runs on the threads that let time pass: [`Engine::advance`] and all that wait. With
//!   one such thread at a time, the same calls give the same history; of several operations that end at one time, the one
//!   on the oldest stream runs first. With several such threads order and waits still hold.
//! * Nothing is checked that a driver would leave to its caller: the number of streams, what flags mean, or whether an
//!   event was recorded before it is waited for.
//!
//! # Limits
//!
//! A closure that owns the engine keeps it alive for ever if it never runs: give it a weak reference. Time is kept in
//! nanoseconds, and a manual clock stops after 584 years.

mod blocks;
mod error;
mod event;
mod execute;
mod hazard;
mod ids;
mod ledger;
mod operation;
mod order;
mod queue;
mod stream;
mod threads;
mod wait;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

pub use error::{EngineError, StallReason, Stalled};
pub use event::EventStatus;
pub use hazard::{Hazard, HazardKind};
pub use ids::{EventId, StreamId};
pub use ledger::BlockStreams;
pub use operation::{Access, Gate, Operation, Touch, ValueCondition};
pub use stream::{PendingWork, StreamOptions, StreamStatus};

use crate::clock::ClockMode;
use crate::device::HostDevice;
use execute::Captured;
use hazard::HazardLog;
use queue::Core;

/// The streams and events of a device.
///
/// All methods may be called from any thread. Dropping it abandons what has not begun, without a report: synchronise
/// first.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    /// None with a manual clock.
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of an engine share.
#[derive(Debug)]
struct Shared {
    device: Arc<HostDevice>,
    core: Mutex<Core>,
    /// Something completed, or a callback became ready.
    progress: Condvar,
    /// The device thread may have something to do.
    work: Condvar,
    /// The callback thread has something to do.
    callback_ready: Condvar,
    hazards: HazardLog,
}

impl Shared {
    /// Appends an operation under the lock and tells whoever may run it.
    fn push(
        &self,
        core: &mut MutexGuard<'_, Core>,
        stream: StreamId,
        operation: Operation,
        captured: Vec<Captured>,
    ) -> Result<u64, EngineError> {
        let sequence = core.push(stream, operation, captured, self.device.now())?;
        self.changed();
        Ok(sequence)
    }

    /// Tells all who wait that something may be possible now.
    fn changed(&self) {
        self.work.notify_one();
        self.progress.notify_all();
    }
}

impl Engine {
    /// Makes the engine of `device`, with the clock that the device's configuration names.
    ///
    /// # Errors
    ///
    /// [`EngineError::Thread`] when the clock is threaded and no thread can be started.
    pub fn new(device: Arc<HostDevice>) -> Result<Self, EngineError> {
        let mode = device.clock.mode();
        let shared = Arc::new(Shared {
            device,
            core: Mutex::new(Core::default()),
            progress: Condvar::new(),
            work: Condvar::new(),
            callback_ready: Condvar::new(),
            hazards: HazardLog::default(),
        });
        let threads = match mode {
            ClockMode::Manual => Vec::new(),
            ClockMode::Threaded { delays } => threads::start(&shared, delays)?,
        };
        Ok(Self { shared, threads })
    }

    /// The device.
    pub fn device(&self) -> &Arc<HostDevice> {
        &self.shared.device
    }

    /// Time since the device was made.
    pub fn now(&self) -> Duration {
        self.shared.device.now()
    }

    /// Lets time pass on a manual clock and runs what ends meanwhile, earliest first. 0 runs what is due now.
    ///
    /// # Errors
    ///
    /// [`EngineError::ClockNotManual`].
    pub fn advance(&self, duration: Duration) -> Result<(), EngineError> {
        self.advance_to(self.now().saturating_add(duration))
    }

    /// As [`Engine::advance`], up to a time since the device was made. The clock never goes back.
    ///
    /// # Errors
    ///
    /// [`EngineError::ClockNotManual`].
    pub fn advance_to(&self, time: Duration) -> Result<(), EngineError> {
        self.check_manual()?;
        let mut core = self.shared.core.lock();
        while self.shared.step(&mut core, Some(time)) {}
        drop(core);
        self.shared.device.clock.advance_to(time);
        Ok(())
    }

    /// Moves a manual clock on to the end of the next operation and runs just that. Answers the time, or `None` when
    /// nothing that is enqueued can run.
    ///
    /// # Errors
    ///
    /// [`EngineError::ClockNotManual`].
    pub fn advance_to_next(&self) -> Result<Option<Duration>, EngineError> {
        self.check_manual()?;
        let mut core = self.shared.core.lock();
        let stepped = self.shared.step(&mut core, None);
        drop(core);
        Ok(stepped.then(|| self.now()))
    }

    fn check_manual(&self) -> Result<(), EngineError> {
        match self.shared.device.clock.mode() {
            ClockMode::Manual => Ok(()),
            ClockMode::Threaded { .. } => Err(EngineError::ClockNotManual),
        }
    }

    /// Opens a gate and lets the streams that wait for it go on.
    pub fn open_gate(&self, gate: &Gate) {
        gate.open();
        // Under the lock, so that a thread that has just seen the gate closed is asleep already and wakes.
        let _core = self.shared.core.lock();
        self.shared.changed();
    }

    /// Tells that memory was written by other means than operations, so that streams that wait for a value look again.
    /// Without it a threaded engine looks every millisecond, and a manual one whenever it is made to run.
    pub fn memory_changed(&self) {
        let _core = self.shared.core.lock();
        self.shared.changed();
    }

    /// The last reports of misused memory, oldest first; at most 4096 are kept.
    pub fn hazards(&self) -> Vec<Hazard> {
        self.shared.hazards.kept()
    }

    /// As [`Engine::hazards`], and forgets them.
    pub fn take_hazards(&self) -> Vec<Hazard> {
        self.shared.hazards.take()
    }

    /// How many reports there ever were, those taken or no longer kept included.
    pub fn hazard_count(&self) -> u64 {
        self.shared.hazards.count()
    }

    fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        threads::stop(&self.shared, std::mem::take(&mut self.threads));
        let now = self.now();
        let abandoned = {
            let mut core = self.shared.core.lock();
            let streams: Vec<StreamId> = core.streams.keys().copied().collect();
            streams.into_iter().map(|stream| core.abandon(stream, now)).collect::<Vec<_>>()
        };
        // Closures may own anything, so they are dropped without the lock.
        drop(abandoned);
    }
}
