//! The exported functions, by family. Bodies are safe code; see `export.rs` for the C side.

mod allocator;
mod callback;
mod context;
mod copy;
mod data;
mod device;
mod event;
mod init;
mod memory;
mod model;
mod model_facts;
mod pool;
mod stream;
mod system;
mod virtual_memory;

/// Forgets what was made on a device that is gone.
pub(crate) fn forget_device(index: usize) {
    virtual_memory::forget_device(index);
    model::forget_device(index);
}
