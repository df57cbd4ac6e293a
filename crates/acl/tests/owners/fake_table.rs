//! The functions of the fake, as ACL's table has them.
#![expect(unsafe_code, reason = "stands in for C: writes through the pointers that ACL's functions get")]

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use acl::{AclError, Context, Dataset, Model, PinnedMemory, Runtime, Stream};
use acl_sys::*;

use super::fake::{Fake, State, change, enter, primary};

/// Runs a body that answers `Result<(), aclError>` as a call of that name.
macro_rules! fakes {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:expr;)*) => {
        $(
            #[expect(non_snake_case, reason = "the name of the interface")]
            extern "C" fn $name($($argument: $type),*) -> aclError {
                let run = || -> Result<(), aclError> {
                    let body: fn(Fake, $($type),*) -> Result<(), aclError> = $body;
                    body(enter(stringify!($name))?, $($argument),*)
                };
                run().err().unwrap_or(ACL_SUCCESS)
            }
        )*

        /// All of them.
        pub(crate) fn table() -> Table {
            Table {
                $($name: Some($name),)*
                aclGetRecentErrMsg: Some(recent_text),
                aclmdlCreateDesc: Some(create_description),
                aclmdlGetNumInputs: Some(one),
                aclmdlGetNumOutputs: Some(one),
                aclmdlGetInputSizeByIndex: Some(input_size),
                aclmdlGetOutputSizeByIndex: Some(output_size),
                aclmdlCreateDataset: Some(create_dataset),
                aclCreateDataBuffer: Some(create_buffer),
                ..Table::EMPTY
            }
        }
    };
}

/// Starts the runtime over a table, which must be the fake's, or less.
pub(crate) fn start(table: &Table) -> Result<Runtime, AclError> {
    start_on(Arc::new(Library::from_table(*table)), None)
}

/// The same over one library.
pub(crate) fn start_on(library: Arc<Library>, config: Option<&Path>) -> Result<Runtime, AclError> {
    // SAFETY: the functions are those below, which keep ACL's contract.
    unsafe { Runtime::start_on(library, config) }
}

/// Loads a model into memory that the caller keeps until the model is gone.
pub(crate) fn load_into(context: &Context, work: acl::DeviceSlice<'_>) -> Result<Model, AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { Model::load_into(context, Path::new("net.om"), Some(work), None) }
}

/// Runs a model.
pub(crate) fn execute(model: &Model, input: &Dataset, output: &mut Dataset) -> Result<(), AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { model.execute(input, output) }
}

/// Copies to the device and back through streams, each of which is done when the call returns.
pub(crate) fn copy_through(
    stream: &Stream,
    place: acl::DeviceSlice<'_>,
    pinned: &PinnedMemory,
    back: usize,
) -> Result<(), AclError> {
    // SAFETY: the fake copies at once.
    unsafe { stream.copy_to_device(place, pinned, 0) }?;
    // SAFETY: the same.
    unsafe { stream.copy_to_host(pinned, back, place) }
}

/// Frees a block of CANN's pool.
pub(crate) fn pool_free(pool: &acl::MemoryPool, address: u64, stream: &Stream) -> Result<(), AclError> {
    // SAFETY: the callers have just taken it from the pool, and nothing uses it.
    unsafe { pool.free(address, stream) }
}

/// Writes an out-parameter.
fn give<T>(out: *mut T, value: T) {
    // SAFETY: the crate under test gives pointers to its locals.
    unsafe { out.write(value) };
}

fn pointer(handle: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(handle)
}

/// Real memory of the host, never freed, so that a mistake in a test is no undefined behaviour.
fn real_memory(size: usize) -> *mut c_void {
    let memory: &'static mut [u64] = Vec::leak(vec![0x5555_5555_5555_5555; size.div_ceil(8).max(1)]);
    memory.as_mut_ptr().cast()
}

extern "C" fn recent_text() -> *const c_char {
    thread_local! {
        static TEXT: RefCell<CString> = RefCell::default();
    }
    let Some(text) = change(State::take_text) else { return ptr::null() };
    let text = CString::new(text).expect("no zero byte");
    TEXT.with_borrow_mut(|kept| {
        *kept = text;
        kept.as_ptr()
    })
}

/// A new handle for what is made without a code.
fn make(call: &'static str, kind: &'static str) -> *mut c_void {
    let Ok(mut state) = enter(call) else { return ptr::null_mut() };
    let handle = state.handle();
    pointer(state.add(handle, kind, Vec::new(), 0))
}

extern "C" fn create_description() -> *mut aclmdlDesc {
    make("aclmdlCreateDesc", "description").cast()
}

extern "C" fn create_dataset() -> *mut aclmdlDataset {
    make("aclmdlCreateDataset", "dataset").cast()
}

extern "C" fn create_buffer(_: *mut c_void, _: usize) -> *mut aclDataBuffer {
    make("aclCreateDataBuffer", "buffer").cast()
}

extern "C" fn one(_: *mut aclmdlDesc) -> usize {
    1
}

extern "C" fn input_size(_: *mut aclmdlDesc, _: usize) -> usize {
    16
}

extern "C" fn output_size(_: *mut aclmdlDesc, _: usize) -> usize {
    8
}

/// A copy at once.
fn copy(destination: *mut c_void, room: usize, source: *const c_void, count: usize) -> Result<(), aclError> {
    if count > room {
        return Err(ACL_ERROR_RT_PARAM_INVALID);
    }
    // SAFETY: device memory of the fake is real memory, and the crate under test has checked the ranges.
    unsafe { ptr::copy(source.cast::<u8>(), destination.cast(), count) };
    Ok(())
}

/// A fill at once.
fn set(address: *mut c_void, value: i32, count: usize) {
    let value = u8::try_from(value).expect("a byte");
    // SAFETY: as for `copy`.
    unsafe { ptr::write_bytes(address.cast::<u8>(), value, count) };
}

/// Gives out memory of the device, if there is as much.
fn allocate(mut state: Fake, out: *mut *mut c_void, size: usize, kind: &'static str) -> Result<(), aclError> {
    let device = state.current_device()?;
    let used: usize = state.live.values().map(|live| live.size).sum();
    if size == 0 {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    if used + size > state.capacity {
        return Err(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    let memory = real_memory(size);
    state.add(memory.expose_provenance(), kind, vec![device], size);
    give(out, memory);
    Ok(())
}

/// Creates something of the current context.
fn create(mut state: Fake, out: *mut *mut c_void, kind: &'static str) -> Result<(), aclError> {
    let current = state.current()?;
    let handle = state.handle();
    give(out, pointer(state.add(handle, kind, vec![current], 0)));
    Ok(())
}

/// Releases something, with a context current.
fn release(mut state: Fake, handle: *const c_void, kind: &'static str) -> Result<(), aclError> {
    state.current()?;
    state.remove(handle.expose_provenance(), kind)
}

/// A call that only needs a handle.
fn uses(mut state: Fake, handle: *const c_void, kind: &'static str) -> Result<(), aclError> {
    state.require(handle.expose_provenance(), kind)
}

/// Ends ACL.
fn end(state: &mut Fake, call: &'static str) {
    state.initialised = 0;
    if state.left() > 0 {
        let left = format!("{call} with {:?} and {:?} left", state.live, state.sets);
        state.broken_rules.push(left);
    }
}

fakes! {
    fn aclInit(_config: *const c_char) |mut state, _| {
        state.initialised += 1;
        if state.initialised_elsewhere { Err(ACL_ERROR_REPEAT_INITIALIZE) } else { Ok(()) }
    };
    fn aclFinalize() |mut state| { end(&mut state, "aclFinalize"); Ok(()) };
    fn aclFinalizeReference(_left: *mut u64) |mut state, _| {
        end(&mut state, "aclFinalizeReference");
        Ok(())
    };
    fn aclrtGetDeviceCount(out: *mut u32) |_, out| { give(out, 2); Ok(()) };
    fn aclrtSetDevice(device: i32) |mut state, device| {
        if !(0..2).contains(&device) {
            return Err(ACL_ERROR_RT_INVALID_DEVICEID);
        }
        *state.sets.entry(device).or_default() += 1;
        state.set_current(Some(primary(device)));
        Ok(())
    };
    fn aclrtResetDevice(device: i32) |mut state, device| {
        let sets = state.sets.get_mut(&device).filter(|sets| **sets > 0).ok_or(ACL_ERROR_RT_INVALID_DEVICEID)?;
        *sets -= 1;
        if *sets == 0 {
            state.check_unneeded(primary(device), "aclrtResetDevice");
        }
        Ok(())
    };
    fn aclrtGetCurrentContext(out: *mut aclrtContext) |mut state, out| {
        let current = state.current()?;
        give(out, pointer(current));
        Ok(())
    };
    fn aclrtSetCurrentContext(context: aclrtContext) |mut state, context| {
        if !state.is_context(context.expose_provenance()) {
            state.broken_rules.push("a dead context was made current".to_owned());
        }
        state.set_current(Some(context.expose_provenance()));
        Ok(())
    };
    fn aclrtCreateContext(out: *mut aclrtContext, device: i32) |mut state, out, device| {
        let handle = state.handle();
        state.add(handle, "context", vec![primary(device)], 0);
        state.set_current(Some(handle));
        give(out, pointer(handle));
        Ok(())
    };
    fn aclrtDestroyContext(context: aclrtContext) |mut state, context| {
        state.remove(context.expose_provenance(), "context")
    };
    fn aclrtSynchronizeDevice() |mut state| state.current().map(drop);
    fn aclrtGetMemInfo(_kind: aclrtMemAttr, free: *mut usize, total: *mut usize) |mut state, _, free, total| {
        state.current()?;
        give(free, 10);
        give(total, 20);
        Ok(())
    };
    fn aclrtCreateStream(out: *mut aclrtStream) |state, out| create(state, out, "stream");
    fn aclrtDestroyStream(stream: aclrtStream) |mut state, stream| {
        state.require(stream.expose_provenance(), "stream")?;
        state.remove(stream.expose_provenance(), "stream")
    };
    fn aclrtSynchronizeStream(stream: aclrtStream) |state, stream| uses(state, stream, "stream");
    fn aclrtStreamQuery(stream: aclrtStream, out: *mut aclrtStreamStatus) |state, stream, out| {
        give(out, aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE);
        uses(state, stream, "stream")
    };
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) |mut state, stream, event| {
        state.require(event.expose_provenance(), "event")?;
        uses(state, stream, "stream")
    };
    fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, argument: *mut c_void)
        |state, stream, function, argument| {
            uses(state, stream, "stream")?;
            let function = function.expect("a function");
            // SAFETY: the crate under test gives its function and its argument.
            unsafe { function(argument) };
            Ok(())
        };
    fn aclrtCreateEvent(out: *mut aclrtEvent) |state, out| create(state, out, "event");
    fn aclrtCreateEventWithFlag(out: *mut aclrtEvent, _flag: u32) |state, out, _| create(state, out, "event");
    fn aclrtCreateEventExWithFlag(out: *mut aclrtEvent, _flag: u32) |state, out, _| create(state, out, "event");
    fn aclrtDestroyEvent(event: aclrtEvent) |state, event| release(state, event, "event");
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) |mut state, event, stream| {
        state.require(event.expose_provenance(), "event")?;
        uses(state, stream, "stream")
    };
    fn aclrtQueryEventStatus(event: aclrtEvent, out: *mut aclrtEventRecordedStatus) |state, event, out| {
        give(out, aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE);
        uses(state, event, "event")
    };
    fn aclrtSynchronizeEvent(event: aclrtEvent) |state, event| uses(state, event, "event");
    fn aclrtMalloc(out: *mut *mut c_void, size: usize, _policy: aclrtMemMallocPolicy) |state, out, size, _| {
        allocate(state, out, size, "device memory")
    };
    fn aclrtFree(address: *mut c_void) |state, address| release(state, address, "device memory");
    fn aclrtFreeWithDevSync(address: *mut c_void) |state, address| release(state, address, "device memory");
    fn aclrtMallocHost(out: *mut *mut c_void, size: usize) |state, out, size| {
        allocate(state, out, size, "host memory")
    };
    fn aclrtFreeHost(address: *mut c_void) |state, address| release(state, address, "host memory");
    fn aclrtMemcpy(to: *mut c_void, room: usize, from: *const c_void, count: usize, _kind: aclrtMemcpyKind)
        |mut state, to, room, from, count, _| {
            state.current()?;
            copy(to, room, from, count)
        };
    fn aclrtMemset(address: *mut c_void, room: usize, value: i32, count: usize)
        |mut state, address, room, value, count| {
            state.current()?;
            set(address, value, count.min(room));
            Ok(())
        };
    fn aclrtMemcpyAsync(to: *mut c_void, room: usize, from: *const c_void, count: usize, _kind: aclrtMemcpyKind, stream: aclrtStream)
        |state, to, room, from, count, _, stream| {
            uses(state, stream, "stream")?;
            copy(to, room, from, count)
        };
    fn aclrtReserveMemAddress(out: *mut *mut c_void, size: usize, _align: usize, _wish: *mut c_void, _flags: u64)
        |mut state, out, size, _, _, _| {
            let device = state.current_device()?;
            let memory = real_memory(size);
            state.add(memory.expose_provenance() | 1, "reservation", vec![device], size);
            give(out, memory);
            Ok(())
        };
    fn aclrtReleaseMemAddress(address: *mut c_void) |mut state, address| {
        state.current()?;
        state.remove(address.expose_provenance() | 1, "reservation")
    };
    fn aclrtMemGetAllocationGranularity(_properties: *mut aclrtPhysicalMemProp, _option: aclrtMemGranularityOptions, out: *mut usize)
        |mut state, _, _, out| {
            state.current()?;
            give(out, 2 << 20);
            Ok(())
        };
    fn aclrtMallocPhysical(out: *mut aclrtDrvMemHandle, size: usize, _properties: *const aclrtPhysicalMemProp, _flags: u64)
        |mut state, out, size, _, _| {
            let device = state.current_device()?;
            let handle = state.handle();
            give(out, pointer(state.add(handle, "physical memory", vec![device], size)));
            Ok(())
        };
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) |state, handle| release(state, handle, "physical memory");
    fn aclrtMapMem(address: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, _flags: u64)
        |mut state, address, size, offset, handle, _| {
            let (address, handle) = (address.expose_provenance(), handle.expose_provenance());
            state.require(handle, "physical memory")?;
            let base = state.live.range(..=(address | 1)).rev().find(|(_, live)| live.kind == "reservation");
            let base = *base.ok_or(ACL_ERROR_RT_PARAM_INVALID)?.0;
            if offset != 0 || state.live[&handle].size != size || address + size > (base & !1) + state.live[&base].size {
                return Err(ACL_ERROR_RT_PARAM_INVALID);
            }
            state.add(address | 2, "mapping", vec![base, handle], 0);
            Ok(())
        };
    fn aclrtUnmapMem(address: *mut c_void) |mut state, address| {
        state.current()?;
        state.remove(address.expose_provenance() | 2, "mapping")
    };
    fn aclrtMemPoolCreate(out: *mut aclrtMemPool, _properties: *const aclrtMemPoolProps) |mut state, out, _| {
        let device = state.current_device()?;
        let handle = state.handle();
        give(out, pointer(state.add(handle, "pool", vec![device], 0)));
        Ok(())
    };
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) |state, pool| release(state, pool, "pool");
    fn aclrtMemPoolMallocAsync(out: *mut *mut c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream)
        |mut state, out, size, pool, stream| {
            state.require(pool.expose_provenance(), "pool")?;
            state.require(stream.expose_provenance(), "stream")?;
            if size > state.capacity {
                return Err(ACL_ERROR_RT_INTERNAL_ERROR);
            }
            give(out, real_memory(size));
            Ok(())
        };
    fn aclrtMemPoolFreeAsync(_address: *mut c_void, stream: aclrtStream) |state, _, stream| {
        uses(state, stream, "stream")
    };
    fn aclmdlQuerySize(_path: *const c_char, work: *mut usize, weights: *mut usize) |_, _, work, weights| {
        give(work, 100);
        give(weights, 200);
        Ok(())
    };
    fn aclmdlLoadFromFileWithMem(_path: *const c_char, out: *mut u32, _work: *mut c_void, _work_size: usize, _weights: *mut c_void, _weights_size: usize)
        |mut state, _, out, _, _, _, _| {
            let current = state.current()?;
            state.add(7, "model", vec![current], 0);
            give(out, 7);
            Ok(())
        };
    fn aclmdlUnload(id: u32) |mut state, id| {
        state.current()?;
        state.remove(id as usize, "model")
    };
    fn aclmdlGetDesc(description: *mut aclmdlDesc, _id: u32) |state, description, _| {
        uses(state, description.cast(), "description")
    };
    fn aclmdlDestroyDesc(description: *mut aclmdlDesc) |state, description| {
        release(state, description.cast(), "description")
    };
    fn aclmdlDestroyDataset(dataset: *const aclmdlDataset) |state, dataset| {
        release(state, dataset.cast(), "dataset")
    };
    fn aclmdlAddDatasetBuffer(dataset: *mut aclmdlDataset, buffer: *mut aclDataBuffer) |mut state, dataset, buffer| {
        let (dataset, buffer) = (dataset.expose_provenance(), buffer.expose_provenance());
        state.require(buffer, "buffer")?;
        state.require(dataset, "dataset")?;
        state.live.get_mut(&dataset).ok_or(ACL_ERROR_INVALID_PARAM)?.needs.push(buffer);
        Ok(())
    };
    fn aclDestroyDataBuffer(buffer: *const aclDataBuffer) |state, buffer| release(state, buffer.cast(), "buffer");
    fn aclmdlExecute(id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset) |mut state, id, input, output| {
        state.require(id as usize, "model")?;
        state.require(input.expose_provenance(), "dataset")?;
        uses(state, output.cast(), "dataset")
    };
}
