//! The threads of an engine with a threaded clock: one is the device, one calls the host's callbacks.
//!
//! ```text
//! callers --enqueue--> queues --(due, in order)--> device thread --callbacks--> callback thread
//! ```

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::engine::operation::Action;
use crate::engine::queue::Threads;
use crate::engine::{EngineError, Shared};

/// How often a word of memory that a stream waits for is looked at. Foreign code may write it without telling.
const WATCH: Duration = Duration::from_millis(1);

/// Starts the threads. On an error none is left.
pub(super) fn start(shared: &Arc<Shared>, delays: bool) -> Result<Vec<JoinHandle<()>>, EngineError> {
    let spawn = |name: &str, run: Box<dyn FnOnce(&Shared) + Send>| {
        let shared = Arc::clone(shared);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&shared))
            .map_err(|source| EngineError::Thread { source })
    };
    let device = spawn("device", Box::new(move |shared| device_loop(shared, delays)))?;
    match spawn("device-callbacks", Box::new(callback_loop)) {
        Ok(callback) => {
            let threads =
                Threads { device: Some(device.thread().id()), callback: Some(callback.thread().id()) };
            shared.core.lock().threads = threads;
            Ok(vec![device, callback])
        }
        Err(error) => {
            stop(shared, vec![device]);
            Err(error)
        }
    }
}

/// Tells the threads to end when what runs is over, and waits for that, except for the thread that calls.
pub(super) fn stop(shared: &Shared, threads: Vec<JoinHandle<()>>) {
    shared.core.lock().stopping = true;
    shared.work.notify_all();
    shared.callback_ready.notify_all();
    for thread in threads {
        if thread.thread().id() != thread::current().id() {
            // Closures are caught when they panic, so the thread has not; and a destructor has no one to tell.
            let _panic = thread.join();
        }
    }
}

fn device_loop(shared: &Shared, delays: bool) {
    let mut core = shared.core.lock();
    while !core.stopping {
        let next = core.next(&shared.device, delays);
        let now = shared.device.now();
        match next.due {
            Some((end, stream)) if end <= now => {
                let Some(job) = core.take(stream) else { continue };
                if matches!(job.action, Action::Callback(_)) {
                    core.callbacks.push_back(job);
                    shared.callback_ready.notify_one();
                    // The callback thread may be waiting for something inside a callback.
                    shared.progress.notify_all();
                } else {
                    shared.run(&mut core, job);
                }
            }
            due => {
                let end = due.and_then(|(end, _)| shared.device.clock.instant_of(end));
                let watch = next.watching.then(|| shared.device.clock.instant_of(now + WATCH)).flatten();
                match end.into_iter().chain(watch).min() {
                    Some(wake) => {
                        shared.work.wait_until(&mut core, wake);
                    }
                    None => shared.work.wait(&mut core),
                }
            }
        }
    }
}

fn callback_loop(shared: &Shared) {
    let mut core = shared.core.lock();
    while !core.stopping {
        match core.callbacks.pop_front() {
            Some(job) => shared.run(&mut core, job),
            None => shared.callback_ready.wait(&mut core),
        }
    }
}
