//! Models as texts: what a program asks of a model, without a network in it.
//!
//! The first line is `ascend-sim-model`. Each other line has a word and its value; empty lines and those that start
//! with `#` say nothing. `input` and `output` may come several times, in the order of their indexes:
//!
//! ```text
//! ascend-sim-model
//! work   4MiB
//! weight 8MiB
//! time   2ms
//! input  data float   1x3x224x224
//! output prob float16 1x1000
//! ```

use std::ffi::CString;
use std::time::Duration;

use acl_sys::{ACL_ERROR_PARSE_MODEL, aclDataType};

use crate::failure::Failure;
use crate::settings::{duration, size};

/// What a model needs and takes.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Model {
    /// Bytes of scratch memory for a run.
    pub(crate) work: u64,
    /// Bytes of constants.
    pub(crate) weight: u64,
    pub(crate) time: Duration,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) outputs: Vec<Tensor>,
}

/// An input or output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) name: CString,
    pub(crate) data_type: aclDataType,
    pub(crate) dims: Vec<i64>,
    /// Bytes.
    pub(crate) size: usize,
}

impl Model {
    /// Reads a text; 100013 with the number of the line that is wrong.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Failure> {
        let text = str::from_utf8(text).map_err(|_| fail(1, "a model of the simulator is a text"))?;
        let mut lines = text.lines().map(str::trim).zip(1..);
        if lines.next().map(|(line, _)| line) != Some("ascend-sim-model") {
            return Err(fail(1, "a model of the simulator starts with the line ascend-sim-model"));
        }
        let mut model = Self::default();
        for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let told = match *words.as_slice() {
                ["work", bytes] => size(bytes).map(|bytes| model.work = bytes),
                ["weight", bytes] => size(bytes).map(|bytes| model.weight = bytes),
                ["time", time] => duration(time).map(|time| model.time = time),
                ["input", name, kind, dims] => {
                    tensor(name, kind, dims).map(|tensor| model.inputs.push(tensor))
                }
                ["output", name, kind, dims] => {
                    tensor(name, kind, dims).map(|tensor| model.outputs.push(tensor))
                }
                _ => Err("it is none of work, weight, time, input and output with its values".to_owned()),
            };
            told.map_err(|reason| fail(number, &reason))?;
        }
        Ok(model)
    }
}

fn fail(line: u32, reason: &str) -> Failure {
    Failure::new(ACL_ERROR_PARSE_MODEL, format!("line {line} of the model: {reason}"))
}

fn tensor(name: &str, kind: &str, dims: &str) -> Result<Tensor, String> {
    let (data_type, bytes) = match kind {
        "float" => (aclDataType::ACL_FLOAT, 4),
        "float16" => (aclDataType::ACL_FLOAT16, 2),
        "int8" => (aclDataType::ACL_INT8, 1),
        "uint8" => (aclDataType::ACL_UINT8, 1),
        "int32" => (aclDataType::ACL_INT32, 4),
        "int64" => (aclDataType::ACL_INT64, 8),
        _ => return Err(format!("{kind:?} is none of float, float16, int8, uint8, int32 and int64")),
    };
    let dims: Result<Vec<i64>, _> = dims.split('x').map(str::parse).collect();
    let dims = dims.map_err(|_| "the shape is not numbers with x between them".to_owned())?;
    let mut size: usize = bytes;
    for &dim in &dims {
        let dim = usize::try_from(dim).ok().filter(|&dim| dim > 0);
        let dim = dim.ok_or_else(|| "a dimension is less than 1".to_owned())?;
        size = size.checked_mul(dim).ok_or_else(|| "the shape passes the address space".to_owned())?;
    }
    if dims.len() > acl_sys::ACL_MAX_DIM_CNT {
        return Err("the shape has more than 128 dimensions".to_owned());
    }
    let name = CString::new(name).map_err(|_| "the name has a zero byte".to_owned())?;
    Ok(Tensor { name, data_type, dims, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_read_as_documented() -> Result<(), Failure> {
        let text = b"ascend-sim-model\n# small\nwork 4MiB\nweight 8MiB\ntime 2ms\ninput data float 1x3\noutput p float16 5\n";
        let model = Model::parse(text)?;
        assert_eq!((model.work, model.weight, model.time), (4 << 20, 8 << 20, Duration::from_millis(2)));
        assert_eq!(model.inputs[0].size, 12);
        assert_eq!(model.outputs[0].size, 10);
        Ok(())
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, line) in [
            ("", 1),
            ("ascend-sim-model\nwork", 2),
            ("ascend-sim-model\n\ninput data float 1x-3", 3),
            ("ascend-sim-model\ninput data float8 1", 2),
        ] {
            let error = Model::parse(text.as_bytes()).expect_err(text);
            assert!(error.text.starts_with(&format!("line {line} ")), "{error}");
        }
    }
}
