//! Work on a thread whose current context belongs to foreign code.
//!
//! # Invariants
//!
//! 1. What was current when a guest began is asked for before the guest makes anything else current, once, and made current
//!    again when it ends, also by a panic.
//! 2. A guest trusts nothing that was noted about the thread before it, and leaves nothing noted.

use std::cell::RefCell;
use std::sync::Arc;

use crate::api::{ContextKind, Handle};
use crate::context::forget_current_context;
use crate::runtime::RuntimeInner;
use crate::{AclError, ErrorKind};

thread_local! {
    /// The guest of this thread, if there is one.
    static GUEST: RefCell<Option<Guest>> = const { RefCell::new(None) };
}

/// What a guest has to put back.
#[derive(Debug, Default)]
struct Guest {
    /// Whether it has been asked for.
    asked: bool,
    before: Option<(Arc<RuntimeInner>, Handle<ContextKind>)>,
}

/// Runs `work` without leaving a trace in the current context of this thread: for functions that foreign code calls, such as
/// those of a C interface.
///
/// Nothing that this crate noted about the thread is trusted, so that a device which foreign code has set meanwhile is not
/// taken for ours; and when `work` ends, or panics, what was current is current again. Where nothing was, what `work` used last
/// stays, for ACL cannot take a context away. Costs nothing where `work` calls no function that needs a context, else
/// three calls: one to ask, one to set, one to put back. May be nested. A failure to put back is counted in
/// [`Runtime::release_errors`](crate::Runtime::release_errors).
///
/// ```
/// // The body of a C function that a framework calls on a thread of its own.
/// fn allocate_for_framework(context: &acl::Context) -> Result<acl::DeviceMemory, acl::AclError> {
///     acl::as_guest(|| acl::DeviceMemory::allocate(context, 1024, acl::MallocPolicy::HUGE_FIRST))
/// }
/// ```
pub fn as_guest<T>(work: impl FnOnce() -> T) -> T {
    forget_current_context();
    // A thread that is about to end has no cell any more, and nobody whose context would have to be put back.
    let Ok(outer) = GUEST.try_with(|guest| guest.replace(Some(Guest::default()))) else { return work() };
    let _end = End { outer };
    work()
}

/// Asks for what is current, if a guest is about to change it for the first time.
///
/// # Errors
///
/// ACL's own; what could not be put back must not be changed.
pub(crate) fn before_change(runtime: &Arc<RuntimeInner>) -> Result<(), AclError> {
    let to_ask = GUEST.try_with(|guest| guest.borrow().as_ref().is_some_and(|guest| !guest.asked));
    if !to_ask.unwrap_or(false) {
        return Ok(());
    }
    let before = match runtime.live("aclrtGetCurrentContext")?.current_context() {
        Ok(context) => Some((Arc::clone(runtime), context)),
        Err(error) if error.kind() == ErrorKind::NotInitialised => None,
        Err(AclError::NoResult { .. }) => None,
        Err(error) => return Err(error),
    };
    GUEST.set(Some(Guest { asked: true, before }));
    Ok(())
}

/// Ends a guest.
struct End {
    outer: Option<Guest>,
}

impl Drop for End {
    fn drop(&mut self) {
        // Out of the cell first: what follows may end ACL, which runs our code.
        let guest = GUEST.replace(self.outer.take());
        forget_current_context();
        let Some((runtime, context)) = guest.and_then(|guest| guest.before) else { return };
        if let Ok(api) = runtime.live("aclrtSetCurrentContext")
            && let Err(error) = api.set_current_context(&context)
        {
            runtime.record_failure(error);
        }
    }
}
