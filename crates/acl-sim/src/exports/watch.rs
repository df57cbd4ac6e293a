//! Functions that are told when streams and devices come and go.

use std::ffi::{c_char, c_void};

use acl_sys::{aclrtDeviceStateCallback, aclrtStreamStateCallback};

use crate::watchers::{DEVICES, STREAMS};

export! {
    /// Default streams count too. A null function takes away what has the name.
    fn aclrtRegStreamStateCallback(
        text name: *const c_char,
        val callback: aclrtStreamStateCallback,
        val arguments: *mut c_void,
    ) {
        STREAMS.register(name.get(), watcher!(callback, arguments))
    }

    /// A null function takes away what has the name.
    fn aclrtRegDeviceStateCallback(
        text name: *const c_char,
        val callback: aclrtDeviceStateCallback,
        val arguments: *mut c_void,
    ) {
        DEVICES.register(name.get(), watcher!(callback, arguments))
    }
}
