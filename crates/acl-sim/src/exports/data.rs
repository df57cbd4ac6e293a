//! Descriptions of buffers, and sets of them. The memory that they describe belongs to the program.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use acl_sys::{aclDataBuffer, aclmdlDataset};
use parking_lot::Mutex;

use crate::failure::Failure;
use crate::handles::{Handles, address, pointer};

/// Address and bytes of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    pub(crate) data: u64,
    pub(crate) size: usize,
}

static BUFFERS: Handles<Mutex<Buffer>> = Handles::new("data buffer");
static DATASETS: Handles<Mutex<Vec<u64>>> = Handles::new("dataset");

export! {
    fn aclCreateDataBuffer(num data: *mut c_void, val size: usize) -> *mut aclDataBuffer, ptr::null_mut(), {
        Ok(pointer(BUFFERS.insert(Mutex::new(Buffer { data, size }))))
    }

    /// Leaves the memory that it describes alone.
    fn aclDestroyDataBuffer(num buffer: *const aclDataBuffer) {
        BUFFERS.remove(buffer).map(drop).map_err(as_parameter)
    }

    fn aclUpdateDataBuffer(num buffer: *mut aclDataBuffer, num data: *mut c_void, val size: usize) {
        *BUFFERS.get(buffer).map_err(as_parameter)?.lock() = Buffer { data, size };
        Ok(())
    }

    fn aclGetDataBufferAddr(num buffer: *const aclDataBuffer) -> *mut c_void, ptr::null_mut(), {
        Ok(address(BUFFERS.get(buffer)?.lock().data))
    }

    fn aclGetDataBufferSizeV2(num buffer: *const aclDataBuffer) -> usize, 0, {
        Ok(BUFFERS.get(buffer)?.lock().size)
    }

    /// The old question, whose answer has 32 bits.
    fn aclGetDataBufferSize(num buffer: *const aclDataBuffer) -> u32, 0, {
        let size = BUFFERS.get(buffer)?.lock().size;
        u32::try_from(size).map_err(|_| Failure::invalid("the size has more than 32 bits: ask the V2 function"))
    }

    fn aclmdlCreateDataset() -> *mut aclmdlDataset, ptr::null_mut(), {
        Ok(pointer(DATASETS.insert(Mutex::default())))
    }

    /// Leaves its buffers alone.
    fn aclmdlDestroyDataset(num dataset: *const aclmdlDataset) {
        DATASETS.remove(dataset).map(drop).map_err(as_parameter)
    }

    fn aclmdlAddDatasetBuffer(num dataset: *mut aclmdlDataset, num buffer: *mut aclDataBuffer) {
        let dataset = DATASETS.get(dataset).map_err(as_parameter)?;
        BUFFERS.get(buffer).map_err(as_parameter)?;
        dataset.lock().push(buffer);
        Ok(())
    }

    fn aclmdlGetDatasetNumBuffers(num dataset: *const aclmdlDataset) -> usize, 0, {
        Ok(DATASETS.get(dataset)?.lock().len())
    }

    fn aclmdlGetDatasetBuffer(num dataset: *const aclmdlDataset, val index: usize)
        -> *mut aclDataBuffer, ptr::null_mut(), {
        let buffer = DATASETS.get(dataset)?.lock().get(index).copied();
        let none = || Failure::invalid(format!("the dataset has no buffer {index}"));
        Ok(pointer(buffer.ok_or_else(none)?))
    }
}

fn as_parameter(failure: Failure) -> Failure {
    failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM)
}

/// The buffers of a dataset, in order.
pub(crate) fn buffers(dataset: u64) -> Result<Vec<Arc<Mutex<Buffer>>>, Failure> {
    let handles = DATASETS.get(dataset).map_err(as_parameter)?.lock().clone();
    handles.into_iter().map(|handle| BUFFERS.get(handle).map_err(as_parameter)).collect()
}

pub(super) fn describe_left() -> Vec<String> {
    [BUFFERS.describe_where(|_| true), DATASETS.describe_where(|_| true)].concat()
}
