//! What a program enqueues: numbered, watched where it uses memory of a pool, and failing as planned.
//!
//! A task that fails has no effect. Its stream remembers the code: with failure mode 0 until somebody waits for it and is
//! told, with 1 for good, and nothing runs on the stream any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use acl_sys::{ACL_STOP_ON_FAILURE, aclError};
use host_device::engine::Operation;

use crate::context::{Current, STREAMS, Stream};
use crate::exports::{self, FailedTask};
use crate::failure::Failure;
use crate::thread_state;

/// Enqueues a task of the current call.
pub(crate) fn enqueue(current: &Current, stream: &Arc<Stream>, operation: Operation) -> Result<(), Failure> {
    let number = number(stream);
    let planned = current.runtime.planned_task_failure(thread_state::call().0);
    let operation = match planned {
        Some(code) => failing(current, stream, number, code).labelled(operation.label().to_owned()),
        None => operation,
    };
    put(current, stream, [operation])
}

/// Enqueues a task of the current call that is several operations, and never fails.
pub(crate) fn enqueue_all<const N: usize>(
    current: &Current,
    stream: &Arc<Stream>,
    operations: [Operation; N],
) -> Result<(), Failure> {
    number(stream);
    put(current, stream, operations)
}

/// Under the lock of the fault, so that nothing slips in behind a task that stops the stream.
fn put<const N: usize>(
    current: &Current,
    stream: &Stream,
    operations: [Operation; N],
) -> Result<(), Failure> {
    let fault = stream.fault.lock();
    if fault.is_some() && stops(stream) {
        // As on a card, the launch succeeds and nothing comes of it; who waits for the stream is told.
        return Ok(());
    }
    operations.into_iter().try_for_each(|operation| current.device.enqueue(stream.id, operation))
}

fn number(stream: &Stream) -> u32 {
    let number = stream.tasks.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    thread_state::set_last_task(number);
    number
}

/// What a wait for the stream answers, when all is done that will be.
pub(crate) fn outcome(stream: &Stream) -> Result<(), Failure> {
    let stops = stops(stream);
    let mut fault = stream.fault.lock();
    let code = if stops { *fault } else { fault.take() };
    code.map_or(Ok(()), |code| Err(Failure::new(code, "a task of the stream failed when it ran")))
}

/// What a wait for all streams of a device answers: the fault of the oldest stream that has one.
pub(crate) fn outcome_of_device(index: usize) -> Result<(), Failure> {
    let mut streams = STREAMS.all();
    streams.retain(|stream| stream.device == index);
    streams.sort_unstable_by_key(|stream| stream.handle);
    streams.iter().try_for_each(|stream| outcome(stream))
}

fn stops(stream: &Stream) -> bool {
    stream.settings.lock().failure_mode == ACL_STOP_ON_FAILURE
}

fn failing(current: &Current, stream: &Arc<Stream>, task: u32, code: aclError) -> Operation {
    let (stream, device) = (Arc::clone(stream), Arc::downgrade(&current.device));
    let failed = FailedTask {
        task,
        stream: stream.number,
        thread: thread_state::system_thread(),
        device: stream.device,
        code,
    };
    Operation::callback(move || {
        let mut fault = stream.fault.lock();
        fault.get_or_insert(code);
        if stops(&stream)
            && let Some(device) = device.upgrade()
        {
            let _gone_with_its_context = device.engine.abort_stream(stream.id);
        }
        drop(fault);
        exports::tell_of_failure(failed);
    })
}
