//! Contexts, made, destroyed and bound to threads.

use acl_sys::{ACL_ERROR_RT_CONTEXT_NULL, aclrtContext, aclrtStream};

use crate::context::{self, CONTEXTS, current};
use crate::device::Slot;
use crate::failure::Failure;
use crate::handles::pointer;
use crate::{runtime, thread_state};

export! {
    /// Makes a context with its own default stream, and binds it to this thread.
    fn aclrtCreateContext(out context: *mut aclrtContext, val device: i32) {
        context.check("the context")?;
        let runtime = runtime::get()?;
        let (index, slot) = runtime.slot(device)?;
        let device = slot.activate(index, &runtime.settings)?;
        let handle = context::create(&device, false);
        thread_state::set_context(handle);
        context::tell_of_start(handle);
        context.set(pointer(handle));
        Ok(())
    }

    /// The default context of a device is refused. Work that its streams have left is dropped.
    fn aclrtDestroyContext(num context: aclrtContext) {
        let runtime = runtime::get()?;
        let known = look_up(context)?;
        if known.primary {
            return Err(Failure::refused("the default context of a device cannot be destroyed: reset the device"));
        }
        if let Some(device) = runtime.devices.get(known.device).and_then(Slot::device) {
            context::destroy(&device, context)?;
        }
        if thread_state::context() == context {
            thread_state::set_context(0);
        }
        Ok(())
    }

    fn aclrtSetCurrentContext(num context: aclrtContext) {
        runtime::get()?;
        look_up(context)?;
        thread_state::set_context(context);
        Ok(())
    }

    fn aclrtGetCurrentContext(out context: *mut aclrtContext) {
        context.check("the context")?;
        context.set(pointer(current()?.context_handle));
        Ok(())
    }

    fn aclrtCtxGetCurrentDefaultStream(out stream: *mut aclrtStream) {
        stream.check("the stream")?;
        stream.set(pointer(current()?.context.default_stream));
        Ok(())
    }

    fn aclrtGetPrimaryCtxState(val device: i32, out flags: *mut u32, out active: *mut i32) {
        let runtime = runtime::get()?;
        let (_, slot) = runtime.slot(device)?;
        flags.set(0);
        active.set(i32::from(slot.is_set()));
        Ok(())
    }
}

/// Null is 100000, an unknown one 107002, as for no context at all.
fn look_up(handle: u64) -> Result<std::sync::Arc<context::Context>, Failure> {
    if handle == 0 {
        return Err(Failure::invalid("the context is null"));
    }
    CONTEXTS.get(handle).map_err(|failure| failure.with_code(ACL_ERROR_RT_CONTEXT_NULL))
}
