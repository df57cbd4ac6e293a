//! The exported functions, by family. Bodies are safe code; see `export.rs` for the C side.

mod absent;
mod allocator;
mod callback;
mod context;
mod copy;
mod data;
mod device;
mod device_facts;
mod event;
mod init;
mod memory;
mod model;
mod model_facts;
mod notify;
mod options;
mod peer;
mod pool;
mod stream;
mod stream_settings;
mod system;
mod tensor;
mod virtual_memory;
mod watch;

/// Forgets what was made on a device that is gone.
pub(crate) fn forget_device(index: usize) {
    virtual_memory::forget_device(index);
    model::forget_device(index);
    notify::forget_device(index);
}
