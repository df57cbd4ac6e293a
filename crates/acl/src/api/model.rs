//! Models, their descriptions, and the datasets that they run on.

use std::ffi::CStr;

use super::{Handle, Release, StreamKind, device_pointer};
use crate::context::Bound;
use crate::{AclError, Refused};

/// A description of a model; see [`Handle`].
#[derive(Debug)]
pub(crate) enum DescriptionKind {}
/// A dataset; see [`Handle`].
#[derive(Debug)]
pub(crate) enum DatasetKind {}
/// A buffer of a dataset; see [`Handle`].
#[derive(Debug)]
pub(crate) enum BufferKind {}

/// A loaded model, unloaded once: no `Clone`, made only here (as A2).
#[derive(Debug)]
pub(crate) struct ModelId(u32);

impl ModelId {
    pub(crate) fn number(&self) -> u32 {
        self.0
    }
}

impl Bound<'_> {
    /// Bytes of work memory and of weights.
    pub(crate) fn model_sizes(&self, path: &CStr) -> Result<(usize, usize), AclError> {
        let (mut work, mut weights) = (0, 0);
        let api = self.api();
        let function = api.table().aclmdlQuerySize();
        // SAFETY: a C string and two locals (A1, A4, A5).
        api.call("aclmdlQuerySize", function, |query| unsafe {
            query(path.as_ptr(), &raw mut work, &raw mut weights)
        })?;
        Ok((work, weights))
    }

    /// The same of a model in memory.
    pub(crate) fn model_sizes_in(&self, model: &[u8]) -> Result<(usize, usize), AclError> {
        let (mut work, mut weights) = (0, 0);
        let api = self.api();
        let function = api.table().aclmdlQuerySizeFromMem();
        // SAFETY: a slice that lives through the call, and two locals (A1, A4, A5).
        api.call("aclmdlQuerySizeFromMem", function, |query| unsafe {
            query(model.as_ptr().cast(), model.len(), &raw mut work, &raw mut weights)
        })?;
        Ok((work, weights))
    }

    /// Loads from memory.
    ///
    /// # Safety
    ///
    /// - `model` stays as it is until the model is unloaded.
    pub(crate) unsafe fn load_model_in(&self, model: &[u8]) -> Result<ModelId, AclError> {
        let mut id = 0;
        let api = self.api();
        let function = api.table().aclmdlLoadFromMem();
        // SAFETY: a slice that stays, by the caller, and a local (A1, A4, A5).
        api.call("aclmdlLoadFromMem", function, |load| unsafe {
            load(model.as_ptr().cast(), model.len(), &raw mut id)
        })?;
        Ok(ModelId(id))
    }

    /// Loads from memory into memory of the caller.
    ///
    /// # Safety
    ///
    /// - As for `load_model_in` and `load_model_into`.
    pub(crate) unsafe fn load_model_in_into(
        &self,
        model: &[u8],
        work: (u64, usize),
        weights: (u64, usize),
    ) -> Result<ModelId, AclError> {
        let mut id = 0;
        let (work_address, weights_address) = (device_pointer(work.0)?, device_pointer(weights.0)?);
        let api = self.api();
        let function = api.table().aclmdlLoadFromMemWithMem();
        // SAFETY: a slice that stays and the memory by the caller, and a local (A1, A4, A5).
        api.call("aclmdlLoadFromMemWithMem", function, |load| unsafe {
            load(
                model.as_ptr().cast(),
                model.len(),
                &raw mut id,
                work_address,
                work.1,
                weights_address,
                weights.1,
            )
        })?;
        Ok(ModelId(id))
    }

    pub(crate) fn load_model(&self, path: &CStr) -> Result<ModelId, AclError> {
        let mut id = 0;
        let api = self.api();
        let function = api.table().aclmdlLoadFromFile();
        // SAFETY: a C string and a local (A1, A4, A5).
        api.call("aclmdlLoadFromFile", function, |load| unsafe { load(path.as_ptr(), &raw mut id) })?;
        Ok(ModelId(id))
    }

    /// Loads into memory of the caller; an address of 0 leaves that part to ACL.
    ///
    /// # Safety
    ///
    /// - Both are device memory of those many bytes, or 0, until the model is unloaded.
    /// - Only one model at a time runs with the same work memory.
    pub(crate) unsafe fn load_model_into(
        &self,
        path: &CStr,
        work: (u64, usize),
        weights: (u64, usize),
    ) -> Result<ModelId, AclError> {
        let mut id = 0;
        let (work_address, weights_address) = (device_pointer(work.0)?, device_pointer(weights.0)?);
        let api = self.api();
        let function = api.table().aclmdlLoadFromFileWithMem();
        // SAFETY: a C string and a local; the memory by the caller (A1, A4, A5).
        api.call("aclmdlLoadFromFileWithMem", function, |load| unsafe {
            load(path.as_ptr(), &raw mut id, work_address, work.1, weights_address, weights.1)
        })?;
        Ok(ModelId(id))
    }

    pub(crate) fn create_description(&self) -> Result<Handle<DescriptionKind>, AclError> {
        let function = self.api().table().aclmdlCreateDesc()?;
        // SAFETY: no preconditions (A1, A4).
        let description = unsafe { function() };
        Handle::new(description.cast(), "aclmdlCreateDesc")
    }

    pub(crate) fn describe(
        &self,
        description: &Handle<DescriptionKind>,
        model: &ModelId,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclmdlGetDesc();
        // SAFETY: description and model live (A1, A2, A4).
        api.call("aclmdlGetDesc", function, |get| unsafe { get(description.raw().cast(), model.0) })
    }

    /// Bytes of each input.
    pub(crate) fn input_sizes(&self, description: &Handle<DescriptionKind>) -> Result<Vec<usize>, AclError> {
        let count = self.api().table().aclmdlGetNumInputs()?;
        let size = self.api().table().aclmdlGetInputSizeByIndex()?;
        // SAFETY: the description lives (A1, A2).
        let count = unsafe { count(description.raw().cast()) };
        // SAFETY: the same; the index is below the count.
        Ok((0..count).map(|index| unsafe { size(description.raw().cast(), index) }).collect())
    }

    /// Bytes of each output.
    pub(crate) fn output_sizes(&self, description: &Handle<DescriptionKind>) -> Result<Vec<usize>, AclError> {
        let count = self.api().table().aclmdlGetNumOutputs()?;
        let size = self.api().table().aclmdlGetOutputSizeByIndex()?;
        // SAFETY: the description lives (A1, A2).
        let count = unsafe { count(description.raw().cast()) };
        // SAFETY: the same; the index is below the count.
        Ok((0..count).map(|index| unsafe { size(description.raw().cast(), index) }).collect())
    }

    pub(crate) fn create_dataset(&self) -> Result<Handle<DatasetKind>, AclError> {
        let function = self.api().table().aclmdlCreateDataset()?;
        // SAFETY: no preconditions (A1, A4).
        let dataset = unsafe { function() };
        Handle::new(dataset.cast(), "aclmdlCreateDataset")
    }

    /// A pair of address and size, of which ACL reads nothing yet.
    pub(crate) fn create_buffer(&self, address: u64, size: usize) -> Result<Handle<BufferKind>, AclError> {
        let address = device_pointer(address)?;
        let function = self.api().table().aclCreateDataBuffer()?;
        // SAFETY: ACL keeps the pair and follows the address only when a model runs (A1, A4).
        let buffer = unsafe { function(address, size) };
        Handle::new(buffer.cast(), "aclCreateDataBuffer")
    }

    pub(crate) fn add_buffer(
        &self,
        dataset: &Handle<DatasetKind>,
        buffer: &Handle<BufferKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclmdlAddDatasetBuffer();
        // SAFETY: both live, and the owner of the dataset destroys it before the buffers (A1, A2, A3).
        api.call("aclmdlAddDatasetBuffer", function, |add| unsafe {
            add(dataset.raw().cast(), buffer.raw().cast())
        })
    }

    /// Runs and waits.
    ///
    /// # Safety
    ///
    /// - The buffers of both datasets name device memory that the model may read and write.
    /// - Neither the model nor its work memory is in use meanwhile.
    pub(crate) unsafe fn execute(
        &self,
        model: &ModelId,
        input: &Handle<DatasetKind>,
        output: &Handle<DatasetKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclmdlExecute();
        // SAFETY: all three live; the memory by the caller (A1, A2, A4).
        api.call("aclmdlExecute", function, |execute| unsafe {
            execute(model.0, input.raw().cast(), output.raw().cast())
        })
    }

    /// Runs in the order of a stream.
    ///
    /// # Safety
    ///
    /// - As for `execute`, until the stream has passed this; also the datasets and the model live so long.
    pub(crate) unsafe fn execute_async(
        &self,
        model: &ModelId,
        input: &Handle<DatasetKind>,
        output: &Handle<DatasetKind>,
        stream: &Handle<StreamKind>,
    ) -> Result<(), AclError> {
        let api = self.api();
        let function = api.table().aclmdlExecuteAsync();
        // SAFETY: all live; the memory and the time by the caller (A1, A2, A4).
        api.call("aclmdlExecuteAsync", function, |execute| unsafe {
            execute(model.0, input.raw().cast(), output.raw().cast(), stream.raw())
        })
    }
}

impl Release for ModelId {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let api = bound.api();
        let function = api.table().aclmdlUnload();
        // SAFETY: loaded and not unloaded yet (A1, A2, A4).
        api.call("aclmdlUnload", function, |unload| unsafe { unload(self.0) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for Handle<DescriptionKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw().cast();
        let api = bound.api();
        let function = api.table().aclmdlDestroyDesc();
        // SAFETY: not destroyed yet (A1, A2).
        api.call("aclmdlDestroyDesc", function, |destroy| unsafe { destroy(raw) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for Handle<DatasetKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw().cast_const();
        let api = bound.api();
        let function = api.table().aclmdlDestroyDataset();
        // SAFETY: not destroyed yet (A1, A2).
        api.call("aclmdlDestroyDataset", function, |destroy| unsafe { destroy(raw.cast()) })
            .map_err(|error| Refused { error, owner: self })
    }
}

impl Release for Handle<BufferKind> {
    fn release(self, bound: &Bound<'_>) -> Result<(), Refused<Self>> {
        let raw = self.raw().cast_const();
        let api = bound.api();
        let function = api.table().aclDestroyDataBuffer();
        // SAFETY: not destroyed yet, and the dataset that named it is gone (A1, A2, A3).
        api.call("aclDestroyDataBuffer", function, |destroy| unsafe { destroy(raw.cast()) })
            .map_err(|error| Refused { error, owner: self })
    }
}
