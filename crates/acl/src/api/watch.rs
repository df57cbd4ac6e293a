//! Callbacks by which ACL tells of streams, devices and its own end.

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use acl_sys::{
    ACL_SUCCESS, aclError, aclRegisterCallbackType, aclrtDeviceState, aclrtDeviceStateCallback, aclrtStream,
    aclrtStreamState, aclrtStreamStateCallback,
};

use super::Api;
use crate::AclError;
use crate::watch::{Happened, tell};

/// Number of callbacks of a registration.
pub(crate) const CALLBACKS: usize = 3;

impl Api {
    /// Registers all under a number, which goes to [`tell`]. On failure those that stand are taken back.
    pub(crate) fn register_callbacks(
        &self,
        number: usize,
        mut not_taken_back: impl FnMut(AclError),
    ) -> Result<(), AclError> {
        let name = name(number);
        self.set_device_callback(&name, Some(device_state), number)?;
        let registered = self.set_stream_callback(&name, Some(stream_state), number).and_then(|()| {
            let registered = self.add_end_callback(number);
            if registered.is_err() {
                self.set_stream_callback(&name, None, 0).unwrap_or_else(&mut not_taken_back);
            }
            registered
        });
        if registered.is_err() {
            self.set_device_callback(&name, None, 0).unwrap_or_else(&mut not_taken_back);
        }
        registered
    }

    /// Takes them back.
    pub(crate) fn unregister_callbacks(&self, number: usize, mut not_taken_back: impl FnMut(AclError)) {
        let name = name(number);
        self.take_end_callback().unwrap_or_else(&mut not_taken_back);
        self.set_stream_callback(&name, None, 0).unwrap_or_else(&mut not_taken_back);
        self.set_device_callback(&name, None, 0).unwrap_or_else(&mut not_taken_back);
    }

    /// None takes it away.
    fn set_device_callback(
        &self,
        name: &CStr,
        callback: aclrtDeviceStateCallback,
        number: usize,
    ) -> Result<(), AclError> {
        let argument = ptr::without_provenance_mut(number);
        let function = self.table().aclrtRegDeviceStateCallback();
        // SAFETY: a C string, and a function of this file, which takes any number (A1).
        self.call("aclrtRegDeviceStateCallback", function, |register| unsafe {
            register(name.as_ptr(), callback, argument)
        })
    }

    /// None takes it away.
    fn set_stream_callback(
        &self,
        name: &CStr,
        callback: aclrtStreamStateCallback,
        number: usize,
    ) -> Result<(), AclError> {
        let argument = ptr::without_provenance_mut(number);
        let function = self.table().aclrtRegStreamStateCallback();
        // SAFETY: as for devices.
        self.call("aclrtRegStreamStateCallback", function, |register| unsafe {
            register(name.as_ptr(), callback, argument)
        })
    }

    fn add_end_callback(&self, number: usize) -> Result<(), AclError> {
        let argument = ptr::without_provenance_mut(number);
        let function = self.table().aclFinalizeCallbackRegister();
        // SAFETY: a function of this file, which takes any number (A1).
        self.call("aclFinalizeCallbackRegister", function, |register| unsafe {
            register(aclRegisterCallbackType::ACL_REG_TYPE_OTHER, Some(finalize), argument)
        })
    }

    fn take_end_callback(&self) -> Result<(), AclError> {
        let function = self.table().aclFinalizeCallbackUnRegister();
        // SAFETY: ACL only compares the function (A1).
        self.call("aclFinalizeCallbackUnRegister", function, |unregister| unsafe {
            unregister(aclRegisterCallbackType::ACL_REG_TYPE_OTHER, Some(finalize))
        })
    }
}

/// The name under which ACL keeps a registration.
fn name(number: usize) -> CString {
    CString::new(format!("ascend-acl {number}")).expect("there is no zero byte in it")
}

extern "C" fn device_state(device: i32, state: aclrtDeviceState, number: *mut c_void) {
    if state == aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_PRE {
        tell(number.addr(), Happened::DeviceResets(device));
    }
}

extern "C" fn stream_state(stream: aclrtStream, state: aclrtStreamState, number: *mut c_void) {
    if state == aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE {
        tell(number.addr(), Happened::StreamEnds(stream.addr()));
    }
}

extern "C" fn finalize(number: *mut c_void) -> aclError {
    tell(number.addr(), Happened::AclEnds);
    ACL_SUCCESS
}
