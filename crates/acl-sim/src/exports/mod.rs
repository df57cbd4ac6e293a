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
mod exception;
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

pub(crate) use exception::{FailedTask, tell_of_failure};

/// Forgets what was made on a device that is gone.
pub(crate) fn forget_device(index: usize) {
    virtual_memory::forget_device(index);
    model::forget_device(index);
    notify::forget_device(index);
}

/// Forgets the allocator of a stream that is gone.
pub(crate) fn forget_allocator(stream: u64) {
    allocator::forget_stream(stream);
}

/// Forgets the threads of a stream that is gone, and done.
pub(crate) fn forget_threads(stream: u64) {
    callback::forget_stream(stream);
}

/// Words about what is left on a device, of the kinds that only these files know.
pub(crate) fn describe_left_on_device(index: usize) -> Vec<String> {
    [virtual_memory::describe_left(index), model::describe_left(index), notify::describe_left(index)].concat()
}

/// Words about what is left of no device.
pub(crate) fn describe_left_in_process() -> Vec<String> {
    [
        allocator::describe_left(),
        data::describe_left(),
        model_facts::describe_left(),
        stream_settings::describe_left(),
        tensor::describe_left(),
    ]
    .concat()
}
