//! Calls of the crate's `unsafe` functions, whose promises the tests keep: of the fake nothing is still busy when a call
//! returns, and its memory stays for good.
#![expect(unsafe_code, reason = "calls functions whose caller vouches for memory or handles")]

use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use acl::{
    AclError, Context, Dataset, Device, DeviceSlice, HostRegistration, HostUse, MemoryPool, Model,
    PinnedMemory, Runtime, Stream, ValueComparison,
};
use acl_sys::{Library, Table};

use super::fake_table::pointer;

/// Starts the runtime over a table, which must be the fake's, or less.
pub(crate) fn start(table: &Table) -> Result<Runtime, AclError> {
    start_on(Arc::new(Library::from_table(*table)), None)
}

/// The same over one library.
pub(crate) fn start_on(library: Arc<Library>, config: Option<&Path>) -> Result<Runtime, AclError> {
    // SAFETY: the functions are those of the fake, which keep ACL's contract.
    unsafe { Runtime::start_on(library, config) }
}

/// Resets a device for all; the tests have one thread then.
pub(crate) fn reset_force(device: &Device) -> Result<(), AclError> {
    // SAFETY: no call is under way, and nobody holds pinned memory's bytes.
    unsafe { device.reset_force() }
}

/// A context that is alive in the fake.
pub(crate) fn foreign_context(device: &Device, handle: usize) -> Result<Context, AclError> {
    // SAFETY: the callers destroy it last.
    unsafe { device.foreign_context(pointer(handle)) }
}

/// A stream that is alive in the fake.
pub(crate) fn foreign_stream(context: &Context, handle: usize) -> Result<Stream, AclError> {
    // SAFETY: the callers destroy it last.
    unsafe { context.foreign_stream(pointer(handle)) }
}

/// Loads a model into memory that the caller keeps until the model is gone.
pub(crate) fn load_into(context: &Context, work: DeviceSlice<'_>) -> Result<Model, AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { Model::load_into(context, Path::new("net.om"), Some(work), None) }
}

/// The same from memory.
pub(crate) fn load_bytes_into(
    context: &Context,
    model: Arc<[u8]>,
    weights: DeviceSlice<'_>,
) -> Result<Model, AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { Model::load_from_memory_into(context, model, None, Some(weights)) }
}

/// Runs a model.
pub(crate) fn execute(model: &Model, input: &Dataset, output: &mut Dataset) -> Result<(), AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { model.execute(input, output) }
}

/// Runs a model in a stream.
pub(crate) fn execute_in(
    model: &Model,
    stream: &Stream,
    input: &Dataset,
    output: &mut Dataset,
) -> Result<(), AclError> {
    // SAFETY: the fake does not touch the memory.
    unsafe { model.execute_in(stream, input, output) }
}

/// Copies to the device and back through streams.
pub(crate) fn copy_through(
    stream: &Stream,
    place: DeviceSlice<'_>,
    pinned: &PinnedMemory,
    back: usize,
) -> Result<(), AclError> {
    // SAFETY: the fake copies at once.
    unsafe { stream.copy_to_device(place, pinned, 0) }?;
    // SAFETY: the same.
    unsafe { stream.copy_to_host(pinned, back, place) }
}

/// Copies inside the device, then fills the source, through a stream.
pub(crate) fn move_in_device(
    stream: &Stream,
    to: DeviceSlice<'_>,
    from: DeviceSlice<'_>,
    left: u8,
) -> Result<(), AclError> {
    // SAFETY: the fake copies at once.
    unsafe { stream.copy_in_device(to, from) }?;
    // SAFETY: the same.
    unsafe { stream.fill(from, left) }
}

/// Writes a value through a stream.
pub(crate) fn write_value(stream: &Stream, place: DeviceSlice<'_>, value: u64) -> Result<(), AclError> {
    // SAFETY: the fake writes at once.
    unsafe { stream.write_value(place, value) }
}

/// Waits for a value in a stream.
pub(crate) fn wait_value(
    stream: &Stream,
    place: DeviceSlice<'_>,
    value: u64,
    comparison: ValueComparison,
) -> Result<(), AclError> {
    // SAFETY: the fake reads at once.
    unsafe { stream.wait_value(place, value, comparison) }
}

/// Frees a block of CANN's pool.
pub(crate) fn pool_free(pool: &MemoryPool, address: u64, stream: &Stream) -> Result<(), AclError> {
    // SAFETY: the callers have just taken it from the pool, and nothing uses it.
    unsafe { pool.free(address, stream) }
}

/// Registers memory that is nobody's: the fake does not touch it.
pub(crate) fn register(
    context: &Context,
    address: usize,
    size: usize,
    purpose: HostUse,
) -> Result<HostRegistration, AclError> {
    let address = NonNull::new(pointer(address).cast()).expect("tests do not register null");
    // SAFETY: nothing reads or writes there, nor does the address of a part leave the fake.
    unsafe { HostRegistration::register(context, address, size, purpose) }
}
