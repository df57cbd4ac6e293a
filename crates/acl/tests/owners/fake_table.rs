//! How the functions of the fake are made, and all that they need which no safe code can do.
#![expect(unsafe_code, reason = "stands in for C: writes through the pointers that ACL's functions get")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use acl_sys::*;

use super::fake::{Described, Fake, State, change, enter, fake};
use super::{fake_memory, fake_models, fake_process, fake_streams, fake_virtual_memory};

/// Makes functions of ACL and `fill`, which puts them into a table. A body answers `Result<(), aclError>`.
macro_rules! fakes {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:expr;)*) => {
        $(
            #[expect(non_snake_case, reason = "the name of the interface")]
            extern "C" fn $name($($argument: $type),*) -> aclError {
                let run = || -> Result<(), aclError> {
                    let body: fn(Fake, $($type),*) -> Result<(), aclError> = $body;
                    body($crate::fake::enter(stringify!($name))?, $($argument),*)
                };
                run().err().unwrap_or(ACL_SUCCESS)
            }
        )*

        /// Puts them into a table.
        pub(crate) fn fill(table: &mut Table) {
            $(table.$name = Some($name);)*
        }
    };
}
pub(crate) use fakes;

/// All functions of the fake.
pub(crate) fn table() -> Table {
    let mut table = Table { aclGetRecentErrMsg: Some(recent_text), ..Table::EMPTY };
    fake_process::fill(&mut table);
    fake_streams::fill(&mut table);
    fake_memory::fill(&mut table);
    fake_virtual_memory::fill(&mut table);
    fake_models::fill(&mut table);
    fake_process::fill_without_code(&mut table);
    fake_streams::fill_without_code(&mut table);
    fake_models::fill_without_code(&mut table);
    table
}

/// Writes an out-parameter.
pub(crate) fn give<T>(out: *mut T, value: T) {
    // SAFETY: the crate under test gives pointers to its locals.
    unsafe { out.write(value) };
}

/// Writes to the n-th place of an array that was given, below its length.
pub(crate) fn give_at<T>(out: *mut T, index: usize, value: T) {
    give(out.wrapping_add(index), value);
}

/// Reads what a pointer of the crate under test names.
pub(crate) fn take<T: Copy>(from: *const T) -> T {
    // SAFETY: the crate under test gives pointers to its locals.
    unsafe { from.read() }
}

/// The module of a description of an allocation, the only attribute that the crate under test gives.
pub(crate) fn module_of(config: *const aclrtMallocConfig) -> Option<u16> {
    let config = take(config);
    if config.numAttrs == 0 {
        return None;
    }
    let attribute = take(config.attrs);
    assert_eq!(attribute.attr, aclrtMallocAttrType::ACL_RT_MEM_ATTR_MODULE_ID);
    // SAFETY: the member that this attribute has.
    Some(unsafe { attribute.value.moduleId })
}

pub(crate) fn pointer(handle: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(handle)
}

/// Real memory of the host from a multiple of 4096 on, never freed, so that a mistake in a test is no undefined behaviour.
pub(crate) fn real_memory(size: usize) -> *mut c_void {
    let memory: &'static mut [u64] = Vec::leak(vec![0x5555_5555_5555_5555; (size + 4096).div_ceil(8)]);
    let first = memory.as_mut_ptr();
    first.wrapping_byte_add(first.addr().next_multiple_of(4096) - first.addr()).cast()
}

extern "C" fn recent_text() -> *const c_char {
    thread_local! {
        static TEXT: RefCell<CString> = RefCell::default();
    }
    let Some(text) = change(State::take_text) else { return ptr::null() };
    let text = CString::new(text).expect("no zero byte");
    TEXT.with_borrow_mut(|kept| {
        *kept = text;
        kept.as_ptr()
    })
}

/// A copy at once.
pub(crate) fn copy(
    destination: *mut c_void,
    room: usize,
    source: *const c_void,
    count: usize,
) -> Result<(), aclError> {
    if count > room {
        return Err(ACL_ERROR_RT_PARAM_INVALID);
    }
    // SAFETY: device memory of the fake is real memory, and the crate under test has checked the ranges.
    unsafe { ptr::copy(source.cast::<u8>(), destination.cast(), count) };
    Ok(())
}

/// A fill at once.
pub(crate) fn set(address: *mut c_void, value: i32, count: usize) {
    let value = u8::try_from(value).expect("a byte");
    // SAFETY: as for `copy`.
    unsafe { ptr::write_bytes(address.cast::<u8>(), value, count) };
}

/// The function of a stream for the host, at once.
pub(crate) fn run_host_function(function: aclrtHostFunc, argument: *mut c_void) {
    let function = function.expect("a function");
    // SAFETY: the crate under test gives its function and its argument.
    unsafe { function(argument) };
}

/// The allocator of a stream as ACL calls it, without a lock.
pub(crate) fn call_allocate(allocator: &Described, size: usize, near: Option<usize>) -> usize {
    let object = pointer(allocator.object.expect("it was set"));
    let block = match near {
        // SAFETY: the function and the object of one registration.
        Some(near) => unsafe { allocator.advise.flatten().expect("it was set")(object, size, pointer(near)) },
        // SAFETY: the same.
        None => unsafe { allocator.allocate.flatten().expect("it was set")(object, size) },
    };
    block.expose_provenance()
}

/// The address of a block.
pub(crate) fn call_address(allocator: &Described, block: usize) -> usize {
    // SAFETY: the block is one of this allocator, not freed yet.
    unsafe { allocator.address.flatten().expect("it was set")(pointer(block)) }.addr()
}

/// Gives a block back.
pub(crate) fn call_free(allocator: &Described, block: usize) {
    let object = pointer(allocator.object.expect("it was set"));
    // SAFETY: the block is one of this allocator, and freed once.
    unsafe { allocator.free.flatten().expect("it was set")(object, pointer(block)) };
}

/// Reads a name.
pub(crate) fn text(name: *const c_char) -> String {
    // SAFETY: the crate under test gives C strings that live through the call.
    unsafe { CStr::from_ptr(name) }.to_str().expect("a plain name").to_owned()
}

/// Tells that a device goes, without a lock of the fake.
pub(crate) fn tell_device_resets(device: i32) {
    let callbacks = fake().device_callbacks;
    for (callback, argument) in callbacks.into_values() {
        for state in [
            aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_PRE,
            aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_POST,
        ] {
            // SAFETY: a callback of the crate under test with its argument.
            unsafe { callback.expect("a function")(device, state, pointer(argument)) };
        }
    }
}

/// Tells that a stream was made or goes, without a lock of the fake.
pub(crate) fn tell_stream(stream: usize, state: aclrtStreamState) {
    let callbacks = fake().stream_callbacks;
    for (callback, argument) in callbacks.into_values() {
        // SAFETY: a callback of the crate under test with its argument.
        unsafe { callback.expect("a function")(pointer(stream), state, pointer(argument)) };
    }
}

/// Tells that ACL ends, without a lock of the fake.
pub(crate) fn tell_end() {
    let callbacks = fake().finalize_callbacks;
    for (callback, argument) in callbacks {
        // SAFETY: a callback of the crate under test with its argument.
        let code = unsafe { callback.expect("a function")(pointer(argument)) };
        assert_eq!(code, ACL_SUCCESS, "ACL would not go on to end");
    }
}

/// A new handle for what is made without a code.
pub(crate) fn make(call: &'static str, kind: &'static str) -> *mut c_void {
    let Ok(mut state) = enter(call) else { return ptr::null_mut() };
    let handle = state.handle();
    pointer(state.add(handle, kind, Vec::new(), 0))
}

/// Gives out memory of the device, if there is as much.
pub(crate) fn allocate(
    mut state: Fake,
    out: *mut *mut c_void,
    size: usize,
    kind: &'static str,
) -> Result<(), aclError> {
    let device = state.current_device()?;
    let used: usize = state.live.values().map(|live| live.size).sum();
    if size == 0 {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    if used + size > state.capacity {
        return Err(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    let memory = real_memory(size);
    state.add(memory.expose_provenance(), kind, vec![device], size);
    give(out, memory);
    Ok(())
}

/// Creates something of the current context.
pub(crate) fn create(mut state: Fake, out: *mut *mut c_void, kind: &'static str) -> Result<(), aclError> {
    let current = state.current()?;
    let handle = state.handle();
    give(out, pointer(state.add(handle, kind, vec![current], 0)));
    Ok(())
}

/// Releases something, with a context current.
pub(crate) fn release(mut state: Fake, handle: *const c_void, kind: &'static str) -> Result<(), aclError> {
    state.current()?;
    state.remove(handle.expose_provenance(), kind)
}

/// A call that only needs a handle.
pub(crate) fn uses(mut state: Fake, handle: *const c_void, kind: &'static str) -> Result<(), aclError> {
    state.require(handle.expose_provenance(), kind)
}
