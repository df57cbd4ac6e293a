//! Models: asked for their sizes, loaded, run and unloaded.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use acl_sys::{
    ACL_ERROR_INVALID_FILE, ACL_ERROR_INVALID_MODEL_ID, ACL_ERROR_MODEL_INPUT_NOT_MATCH,
    ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, ACL_ERROR_RT_MODEL_CONTEXT, aclError, aclmdlDataset,
    aclrtMemMallocPolicy, aclrtStream,
};
use host_device::HostDevice;
use host_device::engine::Operation;
use parking_lot::Mutex;

use super::data::{Buffer, buffers};
use super::memory;
use crate::call;
use crate::context::{Current, current};
use crate::device::{Device, Slot};
use crate::failure::Failure;
use crate::foreign::{HostBytes, Out, Text};
use crate::model_text::{Model, Tensor};
use crate::runtime;
use crate::tasks;

/// Memory of a loaded model.
#[derive(Debug, Clone, Copy)]
struct Part {
    address: u64,
    size: u64,
    /// Whether unloading frees it.
    own: bool,
}

#[derive(Debug)]
struct Loaded {
    model: Arc<Model>,
    device: usize,
    context: u64,
    work: Part,
    weight: Part,
}

static LOADED: Mutex<BTreeMap<u32, Arc<Loaded>>> = Mutex::new(BTreeMap::new());
static LAST_ID: AtomicU32 = AtomicU32::new(0);

export! {
    fn aclmdlQuerySize(text path: *const c_char, out work_size: *mut usize, out weight_size: *mut usize) {
        sizes(&read(path)?, work_size, weight_size)
    }

    fn aclmdlQuerySizeFromMem(
        num model: *const c_void,
        val model_size: usize,
        out work_size: *mut usize,
        out weight_size: *mut usize,
    ) {
        sizes(&parse(model, host_bytes!(model, model_size))?, work_size, weight_size)
    }

    fn aclmdlLoadFromFile(text path: *const c_char, out model_id: *mut u32) {
        load(model_id, || read(path), [None, None])
    }

    fn aclmdlLoadFromMem(num model: *const c_void, val model_size: usize, out model_id: *mut u32) {
        load(model_id, || parse(model, host_bytes!(model, model_size)), [None, None])
    }

    /// Null for a part has the runtime allocate it.
    fn aclmdlLoadFromFileWithMem(
        text path: *const c_char,
        out model_id: *mut u32,
        num work: *mut c_void,
        val work_size: usize,
        num weight: *mut c_void,
        val weight_size: usize,
    ) {
        load(model_id, || read(path), [given(work, work_size), given(weight, weight_size)])
    }

    /// As `aclmdlLoadFromFileWithMem`.
    fn aclmdlLoadFromMemWithMem(
        num model: *const c_void,
        val model_size: usize,
        out model_id: *mut u32,
        num work: *mut c_void,
        val work_size: usize,
        num weight: *mut c_void,
        val weight_size: usize,
    ) {
        let parts = [given(work, work_size), given(weight, weight_size)];
        load(model_id, || parse(model, host_bytes!(model, model_size)), parts)
    }

    /// Frees what the runtime allocated for it, at once.
    fn aclmdlUnload(val model_id: u32) {
        let runtime = runtime::get()?;
        let loaded = LOADED.lock().remove(&model_id).ok_or_else(|| unknown(model_id))?;
        let device = runtime.devices.get(loaded.device).and_then(Slot::device);
        let Some(device) = device else { return Ok(()) };
        for part in [loaded.work, loaded.weight] {
            release(&device, part)?;
        }
        Ok(())
    }

    /// Runs on the default stream of the context and waits.
    fn aclmdlExecute(val model_id: u32, num input: *const aclmdlDataset, num output: *mut aclmdlDataset) {
        let current = current()?;
        execute(&current, model_id, input, output, 0, true)?;
        let stream = current.stream(0)?;
        current.device.engine.synchronize_stream(stream.id)?;
        tasks::outcome(&stream)
    }

    fn aclmdlExecuteAsync(
        val model_id: u32,
        num input: *const aclmdlDataset,
        num output: *mut aclmdlDataset,
        num stream: aclrtStream,
    ) {
        execute(&current()?, model_id, input, output, stream, false)
    }
}

/// Forgets the models of a device that is gone, and their memory with it.
pub(crate) fn forget_device(index: usize) {
    LOADED.lock().retain(|_, loaded| loaded.device != index);
}

pub(super) fn describe_left(index: usize) -> Vec<String> {
    let loaded = LOADED.lock();
    let left = loaded.iter().filter(|(_, loaded)| loaded.device == index);
    left.map(|(id, _)| format!("model {id}")).collect()
}

/// A model from a file.
pub(super) fn read(path: Text) -> Result<Model, Failure> {
    let path = path.get().ok_or_else(|| Failure::invalid("the path is null"))?;
    let text = std::fs::read(&path).map_err(|error| {
        Failure::new(ACL_ERROR_INVALID_FILE, format!("the model {path:?} cannot be read: {error}"))
    })?;
    Model::parse(&text)
}

/// A model from memory.
pub(super) fn parse(address: u64, bytes: HostBytes) -> Result<Model, Failure> {
    if address == 0 {
        return Err(Failure::invalid("the model is null"));
    }
    Model::parse(&bytes.to_vec())
}

/// The model of an id.
pub(super) fn look_up(model_id: u32) -> Result<Arc<Model>, Failure> {
    LOADED.lock().get(&model_id).map(|loaded| Arc::clone(&loaded.model)).ok_or_else(|| unknown(model_id))
}

fn unknown(model_id: u32) -> Failure {
    Failure::new(ACL_ERROR_INVALID_MODEL_ID, format!("no model {model_id} is loaded"))
}

fn sizes(model: &Model, work_size: Out<usize>, weight_size: Out<usize>) -> Result<(), Failure> {
    work_size.check("the size of the work memory")?;
    weight_size.check("the size of the weights")?;
    work_size.set(usize::try_from(model.work).unwrap_or(usize::MAX));
    weight_size.set(usize::try_from(model.weight).unwrap_or(usize::MAX));
    Ok(())
}

fn given(address: u64, size: usize) -> Option<(u64, u64)> {
    (address != 0).then_some((address, size as u64))
}

fn load(
    model_id: Out<u32>,
    model: impl FnOnce() -> Result<Model, Failure>,
    [work, weight]: [Option<(u64, u64)>; 2],
) -> Result<(), Failure> {
    model_id.check("the model id")?;
    let current = current()?;
    let model = model()?;
    let work = part(&current, model.work, work, "work memory")?;
    let weight = match part(&current, model.weight, weight, "weights") {
        Ok(weight) => weight,
        Err(failure) => {
            release(&current.device, work)?;
            return Err(failure);
        }
    };
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
    let (device, context) = (current.device.index, current.context_handle);
    let loaded = Loaded { model: Arc::new(model), device, context, work, weight };
    LOADED.lock().insert(id, Arc::new(loaded));
    model_id.set(id);
    Ok(())
}

/// Checks memory that was given for a part, or takes some.
fn part(current: &Current, needed: u64, given: Option<(u64, u64)>, name: &str) -> Result<Part, Failure> {
    match given {
        Some((address, size)) if size < needed => Err(Failure::invalid(format!(
            "{size} bytes at {address:#x} are less than {needed} for the {name}"
        ))),
        Some((address, _)) if !current.device.owns(address) => {
            Err(Failure::invalid(format!("{address:#x} for the {name} is no live memory of the device")))
        }
        Some((address, _)) => Ok(Part { address, size: needed, own: false }),
        None if needed == 0 => Ok(Part { address: 0, size: 0, own: false }),
        None => {
            let address = current.device.allocate(memory::round_up(needed, 32)?)?;
            Ok(Part { address, size: needed, own: true })
        }
    }
}

fn release(device: &Device, part: Part) -> Result<(), Failure> {
    if part.own { device.free(part.address) } else { Ok(()) }
}

fn execute(
    current: &Current,
    model_id: u32,
    input: u64,
    output: u64,
    stream: u64,
    allocates: bool,
) -> Result<(), Failure> {
    let loaded = LOADED.lock().get(&model_id).cloned().ok_or_else(|| unknown(model_id))?;
    if loaded.context != current.context_handle {
        let text = format!("model {model_id} was loaded in another context than the current one");
        return Err(Failure::new(ACL_ERROR_RT_MODEL_CONTEXT, text));
    }
    let stream = current.stream(stream)?;
    let inputs = matching(current, input, &loaded.model.inputs, "input", ACL_ERROR_MODEL_INPUT_NOT_MATCH)?;
    let tensors = &loaded.model.outputs;
    let match_outputs = || matching(current, output, tensors, "output", ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
    let outputs =
        if allocates { with_outputs(current, output, tensors, match_outputs)? } else { match_outputs()? };
    let time = loaded.model.time.max(call::stream_latency(&current.runtime));
    let mut operation = Operation::kernel(format!("model {model_id}, {}", call::site_words()), time)
        .reading(loaded.weight.address, loaded.weight.size)
        .writing(loaded.work.address, loaded.work.size);
    for &(address, size) in &inputs {
        operation = operation.reading(address, size);
    }
    for &(address, size) in &outputs {
        operation = operation.writing(address, size);
    }
    // Memory that is gone by then is reported because the operation says that it touches it.
    let operation = operation.with_effect(move |memory| {
        let sum =
            inputs.iter().fold(0_u8, |sum, &(address, size)| sum.wrapping_add(sum_of(memory, address, size)));
        for (&(address, size), index) in outputs.iter().zip(0_u8..) {
            let _reported = memory.fill(address, size, sum.wrapping_add(index));
        }
    });
    tasks::enqueue(current, &stream, operation)
}

/// The wrapping sum of bytes of the device; 0 where they cannot be read.
fn sum_of(memory: &HostDevice, address: u64, size: u64) -> u8 {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    match memory.read(address, &mut bytes) {
        Ok(()) => bytes.into_iter().fold(0, u8::wrapping_add),
        Err(_) => 0,
    }
}

/// Gives outputs without memory some, which the program frees, and does `work`; takes it back when either fails.
fn with_outputs<T>(
    current: &Current,
    dataset: u64,
    tensors: &[Tensor],
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut given = Vec::new();
    let outcome = allocate_outputs(current, dataset, tensors, &mut given).and_then(|()| work());
    if outcome.is_err() {
        for buffer in given {
            let none = Buffer { data: 0, size: 0 };
            let Buffer { data, .. } = std::mem::replace(&mut *buffer.lock(), none);
            current.device.free(data)?;
        }
    }
    outcome
}

fn allocate_outputs(
    current: &Current,
    dataset: u64,
    tensors: &[Tensor],
    given: &mut Vec<Arc<Mutex<Buffer>>>,
) -> Result<(), Failure> {
    for (handle, tensor) in buffers(dataset)?.into_iter().zip(tensors) {
        let mut buffer = handle.lock();
        if *buffer == (Buffer { data: 0, size: 0 }) {
            let policy = aclrtMemMallocPolicy::ACL_MEM_TYPE_HIGH_BAND_WIDTH;
            buffer.data = memory::take(current, tensor.size, policy, 32)?;
            buffer.size = tensor.size;
            drop(buffer);
            given.push(handle);
        }
    }
    Ok(())
}

/// The buffers of a dataset as addresses and bytes, one for each tensor, large enough and on the device.
fn matching(
    current: &Current,
    dataset: u64,
    tensors: &[Tensor],
    name: &str,
    code: aclError,
) -> Result<Vec<(u64, u64)>, Failure> {
    let buffers = buffers(dataset)?;
    let fail = |text| Err(Failure::new(code, text));
    if buffers.len() != tensors.len() {
        return fail(format!("{} buffers for {} {name}s", buffers.len(), tensors.len()));
    }
    let mut found = Vec::with_capacity(tensors.len());
    for (index, (buffer, tensor)) in buffers.iter().zip(tensors).enumerate() {
        let Buffer { data, size } = *buffer.lock();
        if size < tensor.size {
            return fail(format!("{name} {index} has {size} bytes, not {}", tensor.size));
        }
        if !current.device.owns(data) {
            return fail(format!("{name} {index} at {data:#x} is no live memory of the device"));
        }
        found.push((data, tensor.size as u64));
    }
    Ok(found)
}
