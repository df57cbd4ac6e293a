//! Functions of the host in the order of a stream: on a thread of the runtime's, or on one that the program lends.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use acl_sys::{
    ACL_ERROR_RT_REPORT_TIMEOUT, ACL_ERROR_RT_STREAM_NO_CB_REG, ACL_ERROR_RT_STREAM_SUBSCRIBE,
    ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtCallback, aclrtCallbackBlockType, aclrtHostFunc, aclrtStream,
};
use host_device::engine::{Gate, Operation};
use parking_lot::{Condvar, Mutex};

use crate::call;
use crate::context::{Current, current};
use crate::device::Device;
use crate::failure::Failure;
use crate::foreign::{UserFunction, thread_number};
use crate::runtime;
use crate::tasks;

/// A function whose turn has come, for a thread of the program.
#[derive(Debug)]
struct Report {
    function: UserFunction,
    /// Where its stream waits for it to return.
    gate: Option<(std::sync::Weak<Device>, Gate)>,
}

/// Streams whose functions run on threads of the program, which ask for them.
#[derive(Debug)]
struct Board {
    state: Mutex<Option<BoardState>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BoardState {
    /// Thread by stream.
    streams: HashMap<u64, u64>,
    reports: HashMap<u64, VecDeque<Report>>,
}

impl Board {
    const fn new() -> Self {
        Self { state: Mutex::new(None), changed: Condvar::new() }
    }

    fn subscribe(&self, thread: u64, stream: u64) -> Result<(), Failure> {
        let mut state = self.state.lock();
        let state = state.get_or_insert_default();
        if state.streams.contains_key(&stream) {
            let text = "the stream has a thread for its callbacks already: unsubscribe that first";
            return Err(Failure::new(ACL_ERROR_RT_STREAM_SUBSCRIBE, text));
        }
        state.streams.insert(stream, thread);
        state.reports.entry(thread).or_default();
        Ok(())
    }

    fn unsubscribe(&self, thread: u64, stream: u64) -> Result<(), Failure> {
        let mut guard = self.state.lock();
        let state = guard.get_or_insert_default();
        match state.streams.get(&stream) {
            Some(&subscribed) if subscribed == thread => {}
            Some(_) => {
                let text = "another thread is subscribed to the stream";
                return Err(Failure::new(ACL_ERROR_RT_THREAD_SUBSCRIBE, text));
            }
            None => {
                let text = "no thread is subscribed to the stream";
                return Err(Failure::new(ACL_ERROR_RT_STREAM_SUBSCRIBE, text));
            }
        }
        drop(guard);
        self.forget(stream);
        Ok(())
    }

    /// Takes a stream off; a thread without streams need not ask any more.
    fn forget(&self, stream: u64) {
        let mut guard = self.state.lock();
        let state = guard.get_or_insert_default();
        let Some(thread) = state.streams.remove(&stream) else { return };
        let is_last = !state.streams.values().any(|&other| other == thread);
        let unwanted = if is_last { state.reports.remove(&thread) } else { None };
        drop(guard);
        // Nobody will ever run these: at least their streams go on.
        unwanted.into_iter().flatten().for_each(Report::done);
        self.changed.notify_all();
    }

    fn thread_of(&self, stream: u64) -> Option<u64> {
        self.state.lock().as_ref().and_then(|state| state.streams.get(&stream).copied())
    }

    /// Hands a function over, or answers it when its thread no longer asks.
    fn post(&self, thread: u64, report: Report) -> Option<Report> {
        let mut state = self.state.lock();
        let Some(queue) = state.as_mut().and_then(|state| state.reports.get_mut(&thread)) else {
            return Some(report);
        };
        queue.push_back(report);
        self.changed.notify_all();
        None
    }

    /// Runs the next function for this thread.
    fn process(&self, timeout_ms: i32) -> Result<(), Failure> {
        let deadline = match timeout_ms {
            -1 => None,
            1.. => Instant::now().checked_add(Duration::from_millis(timeout_ms.unsigned_abs().into())),
            _ => {
                return Err(Failure::invalid(format!(
                    "a timeout of {timeout_ms} ms: give -1 or more than 0"
                )));
            }
        };
        let thread = thread_number();
        let mut guard = self.state.lock();
        let report = loop {
            let queue = guard.as_mut().and_then(|state| state.reports.get_mut(&thread));
            let Some(queue) = queue else {
                let text = "this thread is not subscribed to any stream";
                return Err(Failure::new(ACL_ERROR_RT_THREAD_SUBSCRIBE, text));
            };
            if let Some(report) = queue.pop_front() {
                break report;
            }
            match deadline {
                None => self.changed.wait(&mut guard),
                Some(deadline) => {
                    if self.changed.wait_until(&mut guard, deadline).timed_out() {
                        let text = format!("no function came within {timeout_ms} ms");
                        return Err(Failure::new(ACL_ERROR_RT_REPORT_TIMEOUT, text));
                    }
                }
            }
        };
        drop(guard);
        report.run();
        Ok(())
    }
}

impl Report {
    fn run(self) {
        self.function.call();
        self.done();
    }

    fn done(self) {
        if let Some((device, gate)) = self.gate
            && let Some(device) = device.upgrade()
        {
            device.engine.open_gate(&gate);
        }
    }
}

static CALLBACKS: Board = Board::new();
static HOST_FUNCTIONS: Board = Board::new();

export! {
    fn aclrtSubscribeReport(val thread: u64, num stream: aclrtStream) {
        let (_, handle) = resolve(stream)?;
        CALLBACKS.subscribe(thread, handle)
    }

    fn aclrtUnSubscribeReport(val thread: u64, num stream: aclrtStream) {
        let (_, handle) = resolve(stream)?;
        CALLBACKS.unsubscribe(thread, handle)
    }

    /// Runs one callback of the streams for which this thread is subscribed, when there is one.
    fn aclrtProcessReport(val timeout_ms: i32) {
        runtime::get()?;
        CALLBACKS.process(timeout_ms)
    }

    fn aclrtLaunchCallback(
        val callback: aclrtCallback,
        val user_data: *mut c_void,
        val block: aclrtCallbackBlockType,
        num stream: aclrtStream,
    ) {
        let function = user_function!(callback, user_data)?;
        let blocks = match block {
            aclrtCallbackBlockType::ACL_CALLBACK_NO_BLOCK => false,
            aclrtCallbackBlockType::ACL_CALLBACK_BLOCK => true,
            _ => return Err(Failure::invalid(format!("block type {} does not exist: give 0 or 1", block.0))),
        };
        let (current, handle) = resolve(stream)?;
        let thread = CALLBACKS.thread_of(handle).ok_or_else(|| {
            let text = "no thread is subscribed to the stream: call aclrtSubscribeReport first";
            Failure::new(ACL_ERROR_RT_STREAM_NO_CB_REG, text)
        })?;
        hand_over(&CALLBACKS, thread, function, blocks, &current, handle)
    }

    /// On a thread of the runtime's, or on that which `aclrtSubscribeHostFunc` named.
    fn aclrtLaunchHostFunc(num stream: aclrtStream, val function: aclrtHostFunc, val arguments: *mut c_void) {
        let function = user_function!(function, arguments)?;
        let (current, handle) = resolve(stream)?;
        if let Some(thread) = HOST_FUNCTIONS.thread_of(handle) {
            return hand_over(&HOST_FUNCTIONS, thread, function, true, &current, handle);
        }
        let operation = Operation::callback(move || function.call()).labelled(call::site_words());
        tasks::enqueue(&current, &current.stream(handle)?, operation)
    }

    fn aclrtSubscribeHostFunc(val thread: u64, num stream: aclrtStream) {
        let (_, handle) = resolve(stream)?;
        HOST_FUNCTIONS.subscribe(thread, handle)
    }

    /// As `aclrtProcessReport`, for host functions.
    fn aclrtProcessHostFunc(val timeout_ms: i32) {
        runtime::get()?;
        HOST_FUNCTIONS.process(timeout_ms)
    }

    fn aclrtUnSubscribeHostFunc(val thread: u64, num stream: aclrtStream) {
        let (_, handle) = resolve(stream)?;
        HOST_FUNCTIONS.unsubscribe(thread, handle)
    }
}

/// The handle by which a stream is known, null being the default one.
fn resolve(stream: u64) -> Result<(Current, u64), Failure> {
    let current = current()?;
    let handle = if stream == 0 { current.context.default_stream } else { stream };
    current.stream(handle)?;
    Ok((current, handle))
}

/// Enqueues that a function is handed to a thread of the program, and that the stream waits for it.
fn hand_over(
    board: &'static Board,
    thread: u64,
    function: UserFunction,
    blocks: bool,
    current: &Current,
    stream: u64,
) -> Result<(), Failure> {
    let stream = current.stream(stream)?;
    let gate = Gate::new();
    let returns = blocks.then(|| (Arc::downgrade(&current.device), gate.clone()));
    let report = Report { function, gate: returns };
    let post = move || {
        if let Some(unwanted) = board.post(thread, report) {
            // Nobody will ever run it: at least the stream goes on.
            unwanted.done();
        }
    };
    let post = Operation::callback(post).labelled(call::site_words());
    if blocks {
        let wait = Operation::wait_gate(&gate).labelled(call::site_words());
        tasks::enqueue_all(current, &stream, [post, wait])
    } else {
        tasks::enqueue_all(current, &stream, [post])
    }
}

pub(super) fn forget_stream(stream: u64) {
    for board in [&CALLBACKS, &HOST_FUNCTIONS] {
        board.forget(stream);
    }
}
