//! Inputs and outputs of a model: a list of places in device memory.

use crate::api::{BufferKind, DatasetKind, Handle};
use crate::context::Bound;
use crate::owned::Owned;
use crate::{AclError, Context, DeviceSlice};

/// A list of places in device memory. It owns the list, not the memory: that lives so long is promised where a model runs.
///
/// Any thread.
#[derive(Debug)]
pub struct Dataset {
    list: Owned<Handle<DatasetKind>>,
    // Named by `list`, so destroyed after it.
    buffers: Vec<DataBuffer>,
    context: Context,
}

/// One place of a [`Dataset`].
#[derive(Debug)]
struct DataBuffer {
    owned: Owned<Handle<BufferKind>>,
}

impl Dataset {
    /// Creates an empty list.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn new(context: &Context) -> Result<Self, AclError> {
        let list = Owned::make(context, Bound::create_dataset)?;
        Ok(Self { list, buffers: Vec::new(), context: context.clone() })
    }

    /// Adds a place at the end.
    ///
    /// # Errors
    ///
    /// ACL's own; the list is unchanged then.
    pub fn add(&mut self, place: DeviceSlice<'_>) -> Result<(), AclError> {
        let owned = Owned::make(&self.context, |bound| bound.create_buffer(place.address(), place.size()))?;
        self.list.bind()?.add_buffer(self.list.get(), owned.get())?;
        self.buffers.push(DataBuffer { owned });
        Ok(())
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub(crate) fn handle(&self) -> &Handle<DatasetKind> {
        self.list.get()
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        if !self.list.release_in_drop() {
            // The dataset still names them.
            self.buffers.iter_mut().for_each(|buffer| buffer.owned.leak());
        }
    }
}
