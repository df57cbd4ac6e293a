//! Models, their descriptions, and datasets.

use std::ffi::{c_char, c_void};

use acl_sys::*;

use super::fake::{Fake, change};
use super::fake_table::{fakes, give, make, release, uses};

extern "C" fn create_description() -> *mut aclmdlDesc {
    make("aclmdlCreateDesc", "description").cast()
}

extern "C" fn create_dataset() -> *mut aclmdlDataset {
    make("aclmdlCreateDataset", "dataset").cast()
}

extern "C" fn create_buffer(_: *mut c_void, _: usize) -> *mut aclDataBuffer {
    make("aclCreateDataBuffer", "buffer").cast()
}

/// A number of a description; such calls have no way to fail.
fn number(call: &'static str, number: usize) -> usize {
    change(|state| state.log.push(call));
    number
}

extern "C" fn inputs(_: *mut aclmdlDesc) -> usize {
    number("aclmdlGetNumInputs", 1)
}

extern "C" fn outputs(_: *mut aclmdlDesc) -> usize {
    number("aclmdlGetNumOutputs", 1)
}

extern "C" fn input_size(_: *mut aclmdlDesc, _: usize) -> usize {
    number("aclmdlGetInputSizeByIndex", 16)
}

extern "C" fn output_size(_: *mut aclmdlDesc, _: usize) -> usize {
    number("aclmdlGetOutputSizeByIndex", 8)
}

/// Those that answer no code.
pub(crate) fn fill_without_code(table: &mut Table) {
    table.aclmdlCreateDesc = Some(create_description);
    table.aclmdlGetNumInputs = Some(inputs);
    table.aclmdlGetNumOutputs = Some(outputs);
    table.aclmdlGetInputSizeByIndex = Some(input_size);
    table.aclmdlGetOutputSizeByIndex = Some(output_size);
    table.aclmdlCreateDataset = Some(create_dataset);
    table.aclCreateDataBuffer = Some(create_buffer);
}

/// Loads a model into the current context.
fn load(mut state: Fake, out: *mut u32) -> Result<(), aclError> {
    let current = state.current()?;
    let handle = state.handle();
    state.add(handle, "model", vec![current], 0);
    give(out, u32::try_from(handle).expect("handles are small"));
    Ok(())
}

/// A run, for which the context is the one in which the model was loaded.
fn run(
    mut state: Fake,
    id: u32,
    input: *const aclmdlDataset,
    output: *mut aclmdlDataset,
) -> Result<(), aclError> {
    let current = state.current()?;
    state.require(id as usize, "model")?;
    if state.live[&(id as usize)].needs != [current] {
        state.broken("a model of another context");
        return Err(ACL_ERROR_RT_MODEL_CONTEXT);
    }
    state.require(input.expose_provenance(), "dataset")?;
    uses(state, output.cast(), "dataset")
}

fakes! {
    fn aclmdlQuerySize(_path: *const c_char, work: *mut usize, weights: *mut usize) |_, _, work, weights| {
        give(work, 100);
        give(weights, 200);
        Ok(())
    };
    fn aclmdlQuerySizeFromMem(_model: *const c_void, size: usize, work: *mut usize, weights: *mut usize)
        |_, _, size, work, weights| {
            give(work, size);
            give(weights, 2 * size);
            Ok(())
        };
    fn aclmdlLoadFromFile(_path: *const c_char, out: *mut u32) |state, _, out| load(state, out);
    fn aclmdlLoadFromFileWithMem(_path: *const c_char, out: *mut u32, _work: *mut c_void, _work_size: usize, _weights: *mut c_void, _weights_size: usize)
        |state, _, out, _, _, _, _| load(state, out);
    fn aclmdlLoadFromMem(_model: *const c_void, _size: usize, out: *mut u32) |state, _, _, out| load(state, out);
    fn aclmdlLoadFromMemWithMem(_model: *const c_void, _size: usize, out: *mut u32, work: *mut c_void, _work_size: usize, weights: *mut c_void, _weights_size: usize)
        |mut state, _, _, out, work, _, weights, _| {
            if !work.is_null() || weights.is_null() {
                state.broken("the tests leave the work memory to ACL");
            }
            load(state, out)
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
    fn aclmdlExecute(id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset) |state, id, input, output| {
        run(state, id, input, output)
    };
    fn aclmdlExecuteAsync(id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset, stream: aclrtStream)
        |mut state, id, input, output, stream| {
            state.require(stream.expose_provenance(), "stream")?;
            run(state, id, input, output)
        };
}
