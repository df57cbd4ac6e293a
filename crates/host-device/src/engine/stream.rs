//! Streams: made, given work, asked, waited for, emptied and destroyed.

use std::time::Duration;

use crate::engine::execute::capture;
use crate::engine::ledger::Deed;
use crate::engine::operation::Operation;
use crate::engine::queue::Stream;
use crate::engine::wait::Goal;
use crate::engine::{Engine, EngineError, StreamId};
use crate::identity::{Place, Site};

/// What a stream is made with. The engine only keeps these; the caller gives them a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Flags of the caller's.
    pub flags: u32,
    /// Priority of the caller's.
    pub priority: u32,
}

impl StreamOptions {
    /// Sets [`Self::flags`].
    #[must_use]
    pub fn with_flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }

    /// Sets [`Self::priority`].
    #[must_use]
    pub fn with_priority(mut self, priority: u32) -> Self {
        self.priority = priority;
        self
    }
}

/// Whether a stream has work left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamStatus {
    /// All that was enqueued is complete.
    Complete,
    /// Something is not.
    Pending,
}

/// What becomes of the work that a stream has left when it is destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingWork {
    /// It is waited for.
    Finish,
    /// It is dropped, as by [`Engine::abort_stream`].
    Abandon,
}

impl Engine {
    /// Makes a stream.
    pub fn create_stream(&self, options: StreamOptions) -> StreamId {
        let mut core = self.shared().core.lock();
        core.last_stream += 1;
        let stream = StreamId::new(core.last_stream);
        core.streams.insert(stream, Stream::new(options));
        stream
    }

    /// Appends `operation` to what `stream` has to do and answers its number on the stream, from 1 on.
    ///
    /// Returns at once: with a manual clock nothing runs before time passes or somebody waits, with a threaded one it
    /// runs behind the caller. The memory that the operation touches is recognised now: if it is freed, or belongs to
    /// somebody else, when the operation runs, a [`Hazard`](crate::engine::Hazard) is reported.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`], [`EngineError::StreamClosing`]; the operation is dropped then.
    ///
    /// # Complexity
    ///
    /// O(touched ranges · log live ranges).
    pub fn enqueue(&self, stream: StreamId, operation: Operation) -> Result<u64, EngineError> {
        let shared = self.shared();
        let captured = capture(&shared.device, &operation.touches);
        let mut guard = shared.core.lock();
        let core = &mut *guard;
        let sequence = core.next_sequence(stream)?;
        let site = Site { label: operation.label.clone(), stream: Some(stream) };
        let place = Place { site, at: shared.device.now() };
        let mut hazards = Vec::new();
        for touch in operation.touches.iter().filter(|touch| touch.length != 0) {
            let deed = Deed { base: touch.address, size: touch.length, user: place.clone() };
            hazards.extend(core.ledger.touch(&deed, stream, sequence, &core.streams));
        }
        let pushed = shared.push(&mut guard, stream, operation, captured);
        drop(guard);
        shared.hazards.add(hazards);
        pushed
    }

    /// Whether `stream` has work left. Does not let time pass.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`].
    pub fn stream_status(&self, stream: StreamId) -> Result<StreamStatus, EngineError> {
        let pending = self.with_stream(stream, Stream::pending)?;
        Ok(if pending == 0 { StreamStatus::Complete } else { StreamStatus::Pending })
    }

    /// How many operations `stream` has left, that which runs included.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`].
    pub fn pending_operations(&self, stream: StreamId) -> Result<usize, EngineError> {
        self.with_stream(stream, Stream::pending)
    }

    /// What `stream` was made with.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`].
    pub fn stream_options(&self, stream: StreamId) -> Result<StreamOptions, EngineError> {
        self.with_stream(stream, |known| known.options)
    }

    /// Waits until all that is enqueued on `stream` now is complete. A manual clock moves on as far as that takes.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`]; [`EngineError::Deadlock`] when it can never be: with a manual clock whenever
    /// nothing that is left can run, with a threaded one when the work itself or a callback behind which it is
    /// enqueued waits for it.
    pub fn synchronize_stream(&self, stream: StreamId) -> Result<(), EngineError> {
        self.synchronize_stream_until(stream, None)
    }

    /// As [`Engine::synchronize_stream`], for at most `timeout` by the engine's clock.
    ///
    /// # Errors
    ///
    /// As [`Engine::synchronize_stream`], and [`EngineError::TimedOut`]; a manual clock has then moved on by `timeout`.
    pub fn synchronize_stream_within(&self, stream: StreamId, timeout: Duration) -> Result<(), EngineError> {
        self.synchronize_stream_until(stream, Some(timeout))
    }

    fn synchronize_stream_until(
        &self,
        stream: StreamId,
        timeout: Option<Duration>,
    ) -> Result<(), EngineError> {
        let issued = self.with_stream(stream, |known| known.issued)?;
        self.shared().wait_for(&Goal::Operations(vec![(stream, issued)]), timeout)
    }

    /// Waits until all that is enqueued on any stream now is complete.
    ///
    /// # Errors
    ///
    /// [`EngineError::Deadlock`], as [`Engine::synchronize_stream`].
    pub fn synchronize_device(&self) -> Result<(), EngineError> {
        self.shared().wait_for(&self.all_enqueued(), None)
    }

    /// As [`Engine::synchronize_device`], for at most `timeout` by the engine's clock.
    ///
    /// # Errors
    ///
    /// [`EngineError::Deadlock`], [`EngineError::TimedOut`].
    pub fn synchronize_device_within(&self, timeout: Duration) -> Result<(), EngineError> {
        self.shared().wait_for(&self.all_enqueued(), Some(timeout))
    }

    fn all_enqueued(&self) -> Goal {
        let core = self.shared().core.lock();
        Goal::Operations(core.streams.iter().map(|(&stream, known)| (stream, known.issued)).collect())
    }

    /// Drops all of `stream` that has not begun and answers how many operations that was. What runs goes on.
    ///
    /// Dropped callbacks are never called. Dropped records count as run now, so that nobody waits for them for ever.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`].
    pub fn abort_stream(&self, stream: StreamId) -> Result<usize, EngineError> {
        let shared = self.shared();
        let mut core = shared.core.lock();
        if !core.streams.contains_key(&stream) {
            return Err(EngineError::UnknownStream { stream });
        }
        let abandoned = core.abandon(stream, shared.device.now());
        drop(core);
        shared.changed();
        Ok(abandoned.count())
    }

    /// Destroys `stream`. With [`PendingWork::Finish`] it takes no more work meanwhile.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownStream`], [`EngineError::StreamClosing`] when it is being destroyed already. With
    /// [`PendingWork::Finish`] also [`EngineError::Deadlock`]; the stream then stays.
    pub fn destroy_stream(&self, stream: StreamId, pending: PendingWork) -> Result<(), EngineError> {
        let shared = self.shared();
        if pending == PendingWork::Finish {
            let issued = {
                let mut core = shared.core.lock();
                core.next_sequence(stream)?;
                let Some(known) = core.streams.get_mut(&stream) else {
                    return Err(EngineError::UnknownStream { stream });
                };
                known.closing = true;
                known.issued
            };
            let finished = shared.wait_for(&Goal::Operations(vec![(stream, issued)]), None);
            let mut core = shared.core.lock();
            if finished.is_err()
                && let Some(known) = core.streams.get_mut(&stream)
            {
                known.closing = false;
                return finished;
            }
            core.streams.remove(&stream);
            return Ok(());
        }
        let mut core = shared.core.lock();
        let abandoned = core.abandon(stream, shared.device.now());
        let removed = core.streams.remove(&stream);
        drop(core);
        drop(abandoned);
        shared.changed();
        removed.map(drop).ok_or(EngineError::UnknownStream { stream })
    }

    /// Number of streams that were made and not destroyed.
    pub fn live_streams(&self) -> usize {
        self.shared().core.lock().streams.len()
    }

    fn with_stream<T>(&self, stream: StreamId, answer: impl FnOnce(&Stream) -> T) -> Result<T, EngineError> {
        let core = self.shared().core.lock();
        core.streams.get(&stream).map(answer).ok_or(EngineError::UnknownStream { stream })
    }
}
