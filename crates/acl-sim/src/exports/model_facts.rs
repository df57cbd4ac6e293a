//! Descriptions of models: what they take and give.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

use acl_sys::{aclDataType, aclFormat, aclmdlDesc, aclmdlIODims};
use parking_lot::Mutex;

use super::model::{look_up, parse, read};
use crate::failure::Failure;
use crate::foreign::{Out, Text, put_text};
use crate::handles::{Handles, pointer};
use crate::model_text::{Model, Tensor};

static DESCRIPTIONS: Handles<Mutex<Arc<Model>>> = Handles::new("model description");

#[derive(Debug, Clone, Copy)]
enum End {
    Input,
    Output,
}

export! {
    fn aclmdlCreateDesc() -> *mut aclmdlDesc, ptr::null_mut(), {
        Ok(pointer(DESCRIPTIONS.insert(Mutex::default())))
    }

    fn aclmdlDestroyDesc(num description: *mut aclmdlDesc) {
        DESCRIPTIONS.remove(description).map(drop).map_err(as_parameter)
    }

    fn aclmdlGetDesc(num description: *mut aclmdlDesc, val model_id: u32) {
        fill(description, look_up(model_id)?)
    }

    fn aclmdlGetDescFromFile(num description: *mut aclmdlDesc, text path: *const c_char) {
        fill(description, Arc::new(read(path)?))
    }

    fn aclmdlGetDescFromMem(num description: *mut aclmdlDesc, num model: *const c_void, val model_size: usize) {
        fill(description, Arc::new(parse(model, host_bytes!(model, model_size))?))
    }

    fn aclmdlGetNumInputs(num description: *mut aclmdlDesc) -> usize, 0, {
        Ok(model(description)?.inputs.len())
    }

    fn aclmdlGetNumOutputs(num description: *mut aclmdlDesc) -> usize, 0, {
        Ok(model(description)?.outputs.len())
    }

    /// Bytes.
    fn aclmdlGetInputSizeByIndex(num description: *mut aclmdlDesc, val index: usize) -> usize, 0, {
        tensor(description, End::Input, index, |tensor| tensor.size)
    }

    /// Bytes.
    fn aclmdlGetOutputSizeByIndex(num description: *mut aclmdlDesc, val index: usize) -> usize, 0, {
        tensor(description, End::Output, index, |tensor| tensor.size)
    }

    /// Valid as long as the description stays as it is.
    fn aclmdlGetInputNameByIndex(num description: *const aclmdlDesc, val index: usize)
        -> *const c_char, c"".as_ptr(), {
        tensor(description, End::Input, index, |tensor| tensor.name.as_ptr())
    }

    /// Valid as long as the description stays as it is.
    fn aclmdlGetOutputNameByIndex(num description: *const aclmdlDesc, val index: usize)
        -> *const c_char, c"".as_ptr(), {
        tensor(description, End::Output, index, |tensor| tensor.name.as_ptr())
    }

    fn aclmdlGetInputIndexByName(
        num description: *const aclmdlDesc, text name: *const c_char, out index: *mut usize
    ) {
        index_of(description, End::Input, name, index)
    }

    fn aclmdlGetOutputIndexByName(
        num description: *const aclmdlDesc, text name: *const c_char, out index: *mut usize
    ) {
        index_of(description, End::Output, name, index)
    }

    fn aclmdlGetInputDataType(num description: *const aclmdlDesc, val index: usize)
        -> aclDataType, aclDataType::ACL_DT_UNDEFINED, {
        tensor(description, End::Input, index, |tensor| tensor.data_type)
    }

    fn aclmdlGetOutputDataType(num description: *const aclmdlDesc, val index: usize)
        -> aclDataType, aclDataType::ACL_DT_UNDEFINED, {
        tensor(description, End::Output, index, |tensor| tensor.data_type)
    }

    fn aclmdlGetInputFormat(num description: *const aclmdlDesc, val index: usize)
        -> aclFormat, aclFormat::ACL_FORMAT_UNDEFINED, {
        tensor(description, End::Input, index, |_| aclFormat::ACL_FORMAT_ND)
    }

    fn aclmdlGetOutputFormat(num description: *const aclmdlDesc, val index: usize)
        -> aclFormat, aclFormat::ACL_FORMAT_UNDEFINED, {
        tensor(description, End::Output, index, |_| aclFormat::ACL_FORMAT_ND)
    }

    fn aclmdlGetInputDims(num description: *const aclmdlDesc, val index: usize, out shape: *mut aclmdlIODims) {
        shape.check("the shape")?;
        shape.set(tensor(description, End::Input, index, dims)?);
        Ok(())
    }

    fn aclmdlGetOutputDims(num description: *const aclmdlDesc, val index: usize, out shape: *mut aclmdlIODims) {
        shape.check("the shape")?;
        shape.set(tensor(description, End::Output, index, dims)?);
        Ok(())
    }

    /// Shapes never change here.
    fn aclmdlGetCurOutputDims(num description: *const aclmdlDesc, val index: usize, out shape: *mut aclmdlIODims) {
        shape.check("the shape")?;
        shape.set(tensor(description, End::Output, index, dims)?);
        Ok(())
    }
}

fn as_parameter(failure: Failure) -> Failure {
    failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM)
}

fn fill(description: u64, model: Arc<Model>) -> Result<(), Failure> {
    *DESCRIPTIONS.get(description).map_err(as_parameter)?.lock() = model;
    Ok(())
}

fn model(description: u64) -> Result<Arc<Model>, Failure> {
    Ok(Arc::clone(&DESCRIPTIONS.get(description).map_err(as_parameter)?.lock()))
}

fn tensors(model: &Model, end: End) -> &[Tensor] {
    match end {
        End::Input => &model.inputs,
        End::Output => &model.outputs,
    }
}

fn tensor<T>(
    description: u64,
    end: End,
    index: usize,
    answer: impl FnOnce(&Tensor) -> T,
) -> Result<T, Failure> {
    let model = model(description)?;
    let tensor = tensors(&model, end).get(index);
    Ok(answer(tensor.ok_or_else(|| Failure::invalid(format!("the model has no {end:?} {index}")))?))
}

fn index_of(description: u64, end: End, name: Text, index: Out<usize>) -> Result<(), Failure> {
    index.check("the index")?;
    let name = name.get().ok_or_else(|| Failure::invalid("the name is null"))?;
    let model = model(description)?;
    let found = tensors(&model, end).iter().position(|tensor| tensor.name.to_bytes() == name.as_bytes());
    index.set(found.ok_or_else(|| Failure::invalid(format!("the model has no {end:?} named {name:?}")))?);
    Ok(())
}

fn dims(tensor: &Tensor) -> aclmdlIODims {
    let mut shape = aclmdlIODims { dimCount: tensor.dims.len(), ..aclmdlIODims::default() };
    for (place, &dim) in shape.dims.iter_mut().zip(&tensor.dims) {
        *place = dim;
    }
    put_text(&mut shape.name, tensor.name.to_bytes());
    shape
}

pub(super) fn describe_left() -> Vec<String> {
    DESCRIPTIONS.describe_where(|_| true)
}
