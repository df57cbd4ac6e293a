//! Descriptions of tensors: kept as far as ACL answers them. How they are stored, where they lie and what they are called is
//! checked and forgotten: only operators would ask, and none run here.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use acl_sys::{aclDataType, aclFormat, aclMemType, aclTensorDesc};

use crate::failure::Failure;
use crate::foreign::HostBytes;
use crate::handles::{Handles, pointer};

#[derive(Debug)]
struct Tensor {
    data_type: aclDataType,
    dims: Vec<i64>,
    format: aclFormat,
}

static TENSORS: Handles<Tensor> = Handles::new("tensor description");

export! {
    /// Null when the number of dimensions is below 0, or there are none behind the pointer.
    fn aclCreateTensorDesc(
        val data_type: aclDataType,
        val dim_count: i32,
        num dims: *const i64,
        val format: aclFormat,
    ) -> *mut aclTensorDesc, ptr::null_mut(), {
        let dims = read_dims(dim_count, dims, |bytes| host_bytes!(dims, bytes))?;
        Ok(pointer(TENSORS.insert(Tensor { data_type, dims, format })))
    }

    fn aclDestroyTensorDesc(num description: *const aclTensorDesc) -> (), (), {
        TENSORS.remove(description).map(drop)
    }

    fn aclGetTensorDescType(num description: *const aclTensorDesc) -> aclDataType, aclDataType::ACL_DT_UNDEFINED, {
        Ok(look_up(description)?.data_type)
    }

    fn aclGetTensorDescFormat(num description: *const aclTensorDesc) -> aclFormat, aclFormat::ACL_FORMAT_UNDEFINED, {
        Ok(look_up(description)?.format)
    }

    fn aclGetTensorDescNumDims(num description: *const aclTensorDesc) -> usize, 0, {
        Ok(look_up(description)?.dims.len())
    }

    fn aclGetTensorDescDimV2(num description: *const aclTensorDesc, val index: usize, out size: *mut i64) {
        size.check("the size")?;
        let found = look_up(description)?.dims.get(index).copied();
        size.set(found.ok_or_else(|| Failure::invalid(format!("the tensor has no dimension {index}")))?);
        Ok(())
    }

    fn aclSetTensorDescName(num description: *mut aclTensorDesc, text _name: *const c_char) -> (), (), {
        look_up(description).map(drop)
    }

    fn aclSetTensorFormat(num description: *mut aclTensorDesc, val _format: aclFormat) {
        look_up(description).map(drop)
    }

    fn aclSetTensorShape(num description: *mut aclTensorDesc, val dim_count: i32, num dims: *const i64) {
        read_dims(dim_count, dims, |bytes| host_bytes!(dims, bytes))?;
        look_up(description).map(drop)
    }

    fn aclSetTensorPlaceMent(num description: *mut aclTensorDesc, val memory: aclMemType) {
        if memory.0 > aclMemType::ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT.0 {
            return Err(Failure::invalid(format!("memory of kind {} does not exist: give 0 to 2", memory.0)));
        }
        look_up(description).map(drop)
    }
}

fn look_up(handle: u64) -> Result<Arc<Tensor>, Failure> {
    TENSORS.get(handle).map_err(|failure| failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM))
}

/// Numbers of 64 bits behind C's pointer, `at` being the memory there.
fn read_dims(count: i32, address: u64, at: impl FnOnce(usize) -> HostBytes) -> Result<Vec<i64>, Failure> {
    let count = usize::try_from(count).ok().filter(|&count| count <= acl_sys::ACL_MAX_DIM_CNT);
    let count = count.ok_or_else(|| Failure::invalid("the number of dimensions is below 0 or above 128"))?;
    if count > 0 && address == 0 {
        return Err(Failure::invalid("the dimensions are null"));
    }
    let bytes = at(count * 8).to_vec();
    Ok(bytes.as_chunks().0.iter().map(|&number| i64::from_le_bytes(number)).collect())
}

pub(super) fn describe_left() -> Vec<String> {
    TENSORS.describe_where(|_| true)
}
