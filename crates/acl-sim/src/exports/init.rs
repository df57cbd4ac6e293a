//! Initialisation and finalisation, counted.

use std::ffi::c_char;

use crate::failure::Failure;
use crate::runtime;

export! {
    /// The file is checked for being readable; nothing in it means anything here.
    fn aclInit(text config_path: *const c_char) {
        if let Some(path) = config_path.get()
            && let Err(error) = std::fs::read(&path)
        {
            let text = format!("the configuration {path:?} cannot be read: {error}");
            return Err(Failure::new(acl_sys::ACL_ERROR_INVALID_FILE, text));
        }
        runtime::initialize()
    }

    fn aclFinalize() {
        runtime::finalize()
    }

    fn aclFinalizeReference(out reference_count: *mut u64) {
        let count = runtime::finalize_reference()?;
        reference_count.set(count);
        Ok(())
    }
}
