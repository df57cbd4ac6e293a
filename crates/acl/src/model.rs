//! Models.
#![expect(unsafe_code, reason = "declares functions whose caller must keep memory while a model uses it")]

use std::path::Path;
use std::sync::Arc;

use crate::api::ModelId;
use crate::context::Bound;
use crate::owned::Owned;
use crate::runtime::c_path;
use crate::{AclError, Context, Dataset, DeviceSlice, Stream};

/// Memory that a model needs, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSizes {
    /// Work memory, used only while it runs. Models that never run at the same time may share one of the largest size.
    pub work: usize,
    /// Weights.
    pub weights: usize,
}

/// Bytes of each input and output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelBuffers {
    /// Inputs, in order.
    pub inputs: Vec<usize>,
    /// Outputs, in order.
    pub outputs: Vec<usize>,
}

/// A loaded model, unloaded on drop. Loaded, run and unloaded in one context. Any thread, one run at a time.
#[derive(Debug)]
pub struct Model {
    owned: Owned<ModelId>,
    /// What it was loaded from. CANN does not say when it has read all of it, so it goes after the model.
    _bytes: Option<Arc<[u8]>>,
}

/// A part of a model's memory as ACL takes it; no address leaves it to ACL.
fn raw(place: Option<DeviceSlice<'_>>) -> (u64, usize) {
    place.map_or((0, 0), |place| (place.address(), place.size()))
}

impl Model {
    /// Asks what the model in a file needs. Not for models with dynamic shapes.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn sizes(context: &Context, path: &Path) -> Result<ModelSizes, AclError> {
        let path = c_path(path)?;
        let (work, weights) = context.inner.bind()?.model_sizes(&path)?;
        Ok(ModelSizes { work, weights })
    }

    /// Asks what a model in the host's memory needs. Not for models with dynamic shapes.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn sizes_in(context: &Context, model: &[u8]) -> Result<ModelSizes, AclError> {
        let (work, weights) = context.inner.bind()?.model_sizes_in(model)?;
        Ok(ModelSizes { work, weights })
    }

    /// Loads a file into memory that ACL allocates.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn load(context: &Context, path: &Path) -> Result<Self, AclError> {
        let path = c_path(path)?;
        let owned = Owned::make(context, |bound| bound.load_model(&path))?;
        Ok(Self { owned, _bytes: None })
    }

    /// Loads a model that is in the host's memory, which the model keeps, into memory that ACL allocates. Not for a program
    /// that [runs on the card](crate::Runtime::runs_on_device), which ACL gives models in device memory.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn load_from_memory(context: &Context, model: Arc<[u8]>) -> Result<Self, AclError> {
        // SAFETY: `model` is kept beside what is loaded, and dropped after it.
        let owned = Owned::make(context, |bound| unsafe { bound.load_model_in(&model) })?;
        Ok(Self { owned, _bytes: Some(model) })
    }

    /// Loads a model that is in the host's memory, which the model keeps, into the caller's device memory; `None` leaves
    /// that part to ACL.
    ///
    /// # Errors
    ///
    /// ACL's own.
    ///
    /// # Safety
    ///
    /// - As for [`Self::load_into`].
    pub unsafe fn load_from_memory_into(
        context: &Context,
        model: Arc<[u8]>,
        work: Option<DeviceSlice<'_>>,
        weights: Option<DeviceSlice<'_>>,
    ) -> Result<Self, AclError> {
        let (work, weights) = (raw(work), raw(weights));
        // SAFETY: slices are device memory; that they stay so is the caller's promise. `model` is kept as above.
        let owned = Owned::make(context, |bound| unsafe { bound.load_model_in_into(&model, work, weights) })?;
        Ok(Self { owned, _bytes: Some(model) })
    }

    /// Loads a file into the caller's memory; `None` leaves that part to ACL.
    ///
    /// # Errors
    ///
    /// ACL's own.
    ///
    /// # Safety
    ///
    /// - Both memories stay until the model is dropped, longer than the borrow of the slices, and nobody writes the weights.
    /// - Nothing else uses the work memory while the model runs, no other model either.
    pub unsafe fn load_into(
        context: &Context,
        path: &Path,
        work: Option<DeviceSlice<'_>>,
        weights: Option<DeviceSlice<'_>>,
    ) -> Result<Self, AclError> {
        let path = c_path(path)?;
        let (work, weights) = (raw(work), raw(weights));
        // SAFETY: slices are device memory; that they stay so is the caller's promise.
        let owned = Owned::make(context, |bound| unsafe { bound.load_model_into(&path, work, weights) })?;
        Ok(Self { owned, _bytes: None })
    }

    /// Its number, which ACL's messages name.
    pub fn id(&self) -> u32 {
        self.owned.get().number()
    }

    /// Asks for the sizes of inputs and outputs.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn buffers(&self) -> Result<ModelBuffers, AclError> {
        let context = Context { inner: self.owned.context().clone() };
        let description = Owned::make(&context, Bound::create_description)?;
        let bound = self.owned.bind()?;
        bound.describe(description.get(), self.owned.get())?;
        Ok(ModelBuffers {
            inputs: bound.input_sizes(description.get())?,
            outputs: bound.output_sizes(description.get())?,
        })
    }

    /// Runs the model, and waits.
    ///
    /// # Errors
    ///
    /// ACL's own.
    ///
    /// # Safety
    ///
    /// - The memory that was added to both datasets still exists, and nothing else uses it.
    /// - The model runs nowhere else, nor does one with the same work memory.
    pub unsafe fn execute(&self, input: &Dataset, output: &mut Dataset) -> Result<(), AclError> {
        let bound = self.owned.bind()?;
        // SAFETY: the caller's promise.
        unsafe { bound.execute(self.owned.get(), input.handle(), output.handle()) }
    }

    /// Runs the model in the order of a stream.
    ///
    /// # Errors
    ///
    /// ACL's own.
    ///
    /// # Safety
    ///
    /// - As for [`Self::execute`], until the stream has passed this.
    /// - Model and datasets are not dropped before that.
    pub unsafe fn execute_in(
        &self,
        stream: &Stream,
        input: &Dataset,
        output: &mut Dataset,
    ) -> Result<(), AclError> {
        let bound = self.owned.bind()?;
        let stream = stream.owned.get();
        // SAFETY: the caller's promise.
        unsafe { bound.execute_async(self.owned.get(), input.handle(), output.handle(), stream) }
    }
}
