//! Contexts, streams and events: what their handles stand for, and the rules of the thread-current context.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use acl_sys::{ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_STREAM_CONTEXT, aclError, aclrtStreamState};
use host_device::engine::{EventId, PendingWork, StreamId, StreamOptions};
use parking_lot::Mutex;

use crate::device::{Device, Slot};
use crate::failure::Failure;
use crate::handles::Handles;
use crate::options::SystemOptions;
use crate::runtime::{self, Runtime};
use crate::{exports, thread_state, watchers};

/// What a thread works in.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) device: usize,
    /// Whether it is the one that setting the device makes, which nobody can destroy.
    pub(crate) primary: bool,
    pub(crate) default_stream: u64,
    pub(crate) options: Mutex<SystemOptions>,
}

/// A queue of work.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) handle: u64,
    pub(crate) id: StreamId,
    pub(crate) context: u64,
    pub(crate) device: usize,
    /// Small and used again, as on a device.
    pub(crate) number: i32,
    pub(crate) options: StreamOptions,
    pub(crate) settings: Mutex<StreamSettings>,
    /// How many tasks were enqueued.
    pub(crate) tasks: AtomicU32,
    /// The code of a task that failed.
    pub(crate) fault: Mutex<Option<aclError>>,
}

/// What can be set on a living stream. Only the failure mode means anything here.
#[derive(Debug, Default)]
pub(crate) struct StreamSettings {
    pub(crate) failure_mode: u64,
    pub(crate) overflow_switch: u32,
    pub(crate) tag: u32,
    pub(crate) keeps_operators: u32,
    pub(crate) priority: u32,
}

/// How an event was made, which decides what it can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Legacy,
    LegacyWithFlag,
    Ex,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: EventId,
    pub(crate) device: usize,
    pub(crate) family: Family,
    pub(crate) flags: u32,
    pub(crate) number: u32,
}

pub(crate) static CONTEXTS: Handles<Context> = Handles::new("context");
pub(crate) static STREAMS: Handles<Stream> = Handles::new("stream");
pub(crate) static EVENTS: Handles<Event> = Handles::new("event");

/// The current context with its device.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) context: Arc<Context>,
    pub(crate) context_handle: u64,
    pub(crate) device: Arc<Device>,
}

impl Current {
    /// A stream by its handle, null being the default one of the context.
    pub(crate) fn stream(&self, handle: u64) -> Result<Arc<Stream>, Failure> {
        let handle = if handle == 0 { self.context.default_stream } else { handle };
        let stream = STREAMS.get(handle)?;
        if stream.context != self.context_handle {
            let text = "the stream belongs to another context than the current one: set that first";
            return Err(Failure::new(ACL_ERROR_RT_STREAM_CONTEXT, text));
        }
        Ok(stream)
    }
}

/// The context of this thread; 100001 before initialisation, 107002 when none was set or it is gone.
pub(crate) fn current() -> Result<Current, Failure> {
    in_runtime(runtime::get()?)
}

/// As [`current`], but 107002 before initialisation too.
pub(crate) fn current_if_any() -> Result<Current, Failure> {
    in_runtime(runtime::peek().ok_or_else(no_context)?)
}

fn in_runtime(runtime: Arc<Runtime>) -> Result<Current, Failure> {
    let context_handle = thread_state::context();
    let context = CONTEXTS.get(context_handle).map_err(|_| no_context())?;
    let device = runtime.devices.get(context.device).and_then(Slot::device).ok_or_else(no_context)?;
    Ok(Current { runtime, context, context_handle, device })
}

fn no_context() -> Failure {
    let text = "no device or context is set on this thread: call aclrtSetDevice or aclrtSetCurrentContext";
    Failure::new(ACL_ERROR_RT_CONTEXT_NULL, text)
}

/// Makes a context with its default stream, of which the caller tells.
pub(crate) fn create(device: &Device, primary: bool) -> u64 {
    CONTEXTS.insert_with(|handle| {
        let default_stream = create_stream(device, handle, StreamOptions::default());
        Context { device: device.index, primary, default_stream, options: Mutex::default() }
    })
}

/// Makes a stream, of which the caller tells, with the lowest number that is free on the device.
pub(crate) fn create_stream(device: &Device, context: u64, options: StreamOptions) -> u64 {
    device.sweep();
    let mut taken: Vec<i32> =
        STREAMS.all().iter().filter(|s| s.device == device.index).map(|s| s.number).collect();
    taken.sort_unstable();
    let number = (0..)
        .zip(&taken)
        .find(|&(free, &taken)| free != taken)
        .map_or_else(|| i32::try_from(taken.len()).unwrap_or(i32::MAX), |(free, _)| free);
    let id = device.engine.create_stream(options);
    let settings = StreamSettings { priority: options.priority, ..StreamSettings::default() };
    STREAMS.insert_with(|handle| Stream {
        handle,
        id,
        context,
        device: device.index,
        number,
        options,
        settings: Mutex::new(settings),
        tasks: AtomicU32::new(0),
        fault: Mutex::default(),
    })
}

/// Tells that a context has its default stream.
pub(crate) fn tell_of_start(context: u64) {
    if let Ok(context) = CONTEXTS.get(context) {
        watchers::tell_of_stream(context.default_stream, aclrtStreamState::ACL_RT_STREAM_STATE_CREATE_POST);
    }
}

/// Tells that these streams are about to go.
pub(crate) fn tell_of_end(chosen: impl Fn(&Stream) -> bool) {
    for stream in STREAMS.numbers_where(chosen) {
        watchers::tell_of_stream(stream, aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE);
    }
}

/// Destroys a context with its streams; what they have left is dropped.
pub(crate) fn destroy(device: &Device, handle: u64) -> Result<(), Failure> {
    tell_of_end(|stream| stream.context == handle);
    CONTEXTS.remove(handle)?;
    for stream in STREAMS.remove_where(|stream| stream.context == handle) {
        device.engine.destroy_stream(stream.id, PendingWork::Abandon)?;
        forget_stream(device, &stream);
        exports::forget_threads(stream.handle);
    }
    Ok(())
}

/// Forgets what was registered for, or known of, a stream that is gone; not its threads, which its work may need.
pub(crate) fn forget_stream(device: &Device, stream: &Stream) {
    exports::forget_allocator(stream.handle);
    device.pools.lock().order.forget_stream(stream.id);
}

/// Forgets all that belongs to a device that is gone.
pub(crate) fn forget_device(index: usize) {
    CONTEXTS.remove_where(|context| context.device == index);
    for stream in STREAMS.remove_where(|stream| stream.device == index) {
        exports::forget_allocator(stream.handle);
        exports::forget_threads(stream.handle);
    }
    EVENTS.remove_where(|event| event.device == index);
    exports::forget_device(index);
}
