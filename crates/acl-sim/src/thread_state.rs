//! What ACL keeps for each thread: the current context, the last error and its text, and the call it is in.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, OsStr, c_char};
use std::path::Path;
use std::ptr;

use acl_sys::{ACL_SUCCESS, aclError};

thread_local! {
    static CONTEXT: Cell<u64> = const { Cell::new(0) };
    static LAST_ERROR: Cell<aclError> = const { Cell::new(ACL_SUCCESS) };
    static TEXT: RefCell<Option<CString>> = const { RefCell::new(None) };
    /// What was handed out last, which C may read until it asks again.
    static HANDED_OUT: RefCell<Option<CString>> = const { RefCell::new(None) };
    static LAST_TASK: Cell<u32> = const { Cell::new(0) };
    static CALL: Cell<(&'static str, u64)> = const { Cell::new(("", 0)) };
}

/// Handle of the current context, 0 when none was set. It may be stale.
pub(crate) fn context() -> u64 {
    CONTEXT.get()
}

pub(crate) fn set_context(number: u64) {
    CONTEXT.set(number);
}

pub(crate) fn set_error(code: aclError) {
    LAST_ERROR.set(code);
}

pub(crate) fn peek_error() -> aclError {
    LAST_ERROR.get()
}

pub(crate) fn take_error() -> aclError {
    LAST_ERROR.replace(ACL_SUCCESS)
}

/// Keeps a text until it is asked for; a newer one replaces it.
pub(crate) fn set_text(text: &str) {
    let text: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    TEXT.replace(CString::new(text).ok());
}

/// The kept text as C reads it, valid until this thread asks again; null when there is none.
pub(crate) fn hand_out_text() -> *const c_char {
    let text = TEXT.take();
    HANDED_OUT.with_borrow_mut(|handed_out| {
        *handed_out = text;
        handed_out.as_ref().map_or(ptr::null(), |text| text.as_ptr())
    })
}

/// Number of the last task that the thread enqueued, 0 before the first.
pub(crate) fn last_task() -> u32 {
    LAST_TASK.get()
}

pub(crate) fn set_last_task(number: u32) {
    LAST_TASK.set(number);
}

/// The number by which the kernel of the system knows this thread; 0 where it does not tell.
pub(crate) fn system_thread() -> u32 {
    let place = std::fs::read_link("/proc/thread-self").ok();
    let name = place.as_deref().and_then(Path::file_name).and_then(OsStr::to_str);
    name.and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(crate) fn call() -> (&'static str, u64) {
    CALL.get()
}

/// Whether the thread is inside an exported function.
pub(crate) fn is_in_call() -> bool {
    !CALL.get().0.is_empty()
}

/// Enters a call and answers that in which the thread was.
pub(crate) fn enter_call(name: &'static str, number: u64) -> (&'static str, u64) {
    CALL.replace((name, number))
}

pub(crate) fn leave_call(before: (&'static str, u64)) {
    CALL.set(before);
}
