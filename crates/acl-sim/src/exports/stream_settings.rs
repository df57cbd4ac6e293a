//! Settings of streams: before they are made, by a configuration, and after, by attributes.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use acl_sys::{
    aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue, aclrtStreamConfigAttr, aclrtStreamConfigHandle,
};
use parking_lot::Mutex;

use crate::context::{StreamSettings, current};
use crate::failure::Failure;
use crate::foreign::HostBytes;
use crate::handles::{Handles, pointer};

#[derive(Debug, Default)]
struct Configuration {
    flags: u32,
    priority: u32,
}

static CONFIGURATIONS: Handles<Mutex<Configuration>> = Handles::new("stream configuration");

export! {
    fn aclrtCreateStreamConfigHandle() -> *mut aclrtStreamConfigHandle, ptr::null_mut(), {
        Ok(pointer(CONFIGURATIONS.insert(Mutex::default())))
    }

    fn aclrtDestroyStreamConfigHandle(num handle: *mut aclrtStreamConfigHandle) {
        CONFIGURATIONS.remove(handle).map(drop).map_err(as_parameter)
    }

    /// Values of 4 or 8 bytes. Work memory is taken, but no stream needs any.
    fn aclrtSetStreamConfigOpt(
        num handle: *mut aclrtStreamConfigHandle,
        val attribute: aclrtStreamConfigAttr,
        num value: *const c_void,
        val size: usize,
    ) {
        use aclrtStreamConfigAttr as A;
        let configuration = look_up(handle)?;
        let given = number(value, size, || host_bytes!(value, size))?;
        let narrow = || u32::try_from(given).map_err(|_| Failure::invalid("the value has more than 32 bits"));
        let mut configuration = configuration.lock();
        match attribute {
            A::ACL_RT_STREAM_FLAG => configuration.flags = narrow()?,
            A::ACL_RT_STREAM_PRIORITY => configuration.priority = narrow()?,
            A::ACL_RT_STREAM_WORK_ADDR_PTR | A::ACL_RT_STREAM_WORK_SIZE => {}
            _ => return Err(Failure::invalid(format!("option {} does not exist: give 0 to 3", attribute.0))),
        }
        Ok(())
    }

    fn aclrtCreateStreamV2(out stream: *mut aclrtStream, num handle: *const aclrtStreamConfigHandle) {
        stream.check("the stream")?;
        let (priority, flags) = {
            let configuration = look_up(handle)?;
            let configuration = configuration.lock();
            (configuration.priority, configuration.flags)
        };
        stream.set(pointer(super::stream::create(priority, flags)?));
        Ok(())
    }

    /// Failure mode and overflow switch are those of their own functions; the others are only kept.
    fn aclrtSetStreamAttribute(
        num stream: aclrtStream,
        val attribute: aclrtStreamAttr,
        num value: *mut aclrtStreamAttrValue,
    ) {
        let stream = current()?.stream(stream)?;
        let wide = number(value, 8, || host_bytes!(value, 8))?;
        // Only the failure mode has 8 bytes; of the others the last 4 mean nothing.
        let [a, b, c, d, ..] = wide.to_le_bytes();
        let narrow = u32::from_le_bytes([a, b, c, d]);
        stream.settings.lock().set(attribute, wide, narrow)
    }

    fn aclrtGetStreamAttribute(
        num stream: aclrtStream,
        val attribute: aclrtStreamAttr,
        num value: *mut aclrtStreamAttrValue,
    ) {
        if value == 0 {
            return Err(Failure::invalid("the value is null"));
        }
        let answer = current()?.stream(stream)?.settings.lock().get(attribute)?;
        let length = size_of::<aclrtStreamAttrValue>();
        let mut bytes = vec![0; length];
        bytes.iter_mut().zip(answer.to_le_bytes()).for_each(|(to, from)| *to = from);
        host_bytes!(value, length).write(0, &bytes);
        Ok(())
    }
}

impl StreamSettings {
    fn set(&mut self, attribute: aclrtStreamAttr, wide: u64, narrow: u32) -> Result<(), Failure> {
        use aclrtStreamAttr as A;
        let refused = |allowed: &str| {
            Err(Failure::refused(format!("{narrow} for attribute {}: give {allowed}", attribute.0)))
        };
        match attribute {
            A::ACL_STREAM_ATTR_FAILURE_MODE if wide > 1 => return refused("0 or 1"),
            A::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK | A::ACL_STREAM_ATTR_CACHE_OP_INFO if narrow > 1 => {
                return refused("0 or 1");
            }
            A::ACL_STREAM_ATTR_PRIORITY if narrow > 7 => return refused("0 to 7"),
            A::ACL_STREAM_ATTR_FAILURE_MODE => self.failure_mode = wide,
            A::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => self.overflow_switch = narrow,
            A::ACL_STREAM_ATTR_USER_CUSTOM_TAG => self.tag = narrow,
            A::ACL_STREAM_ATTR_CACHE_OP_INFO => self.keeps_operators = narrow,
            A::ACL_STREAM_ATTR_PRIORITY => self.priority = narrow,
            _ => return Err(no_such(attribute)),
        }
        Ok(())
    }

    fn get(&self, attribute: aclrtStreamAttr) -> Result<u64, Failure> {
        use aclrtStreamAttr as A;
        Ok(match attribute {
            A::ACL_STREAM_ATTR_FAILURE_MODE => self.failure_mode,
            A::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => self.overflow_switch.into(),
            A::ACL_STREAM_ATTR_USER_CUSTOM_TAG => self.tag.into(),
            A::ACL_STREAM_ATTR_CACHE_OP_INFO => self.keeps_operators.into(),
            A::ACL_STREAM_ATTR_PRIORITY => self.priority.into(),
            _ => return Err(no_such(attribute)),
        })
    }
}

fn no_such(attribute: aclrtStreamAttr) -> Failure {
    Failure::refused(format!("attribute {} of a stream does not exist: give 1 to 5", attribute.0))
}

fn look_up(handle: u64) -> Result<Arc<Mutex<Configuration>>, Failure> {
    CONFIGURATIONS.get(handle).map_err(as_parameter)
}

fn as_parameter(failure: Failure) -> Failure {
    failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM)
}

/// A number of 4 or 8 bytes behind C's pointer, `at` being the memory there.
fn number(address: u64, size: usize, at: impl FnOnce() -> HostBytes) -> Result<u64, Failure> {
    if address == 0 {
        return Err(Failure::invalid("the value is null"));
    }
    if size != 4 && size != 8 {
        return Err(Failure::invalid(format!("a value of {size} bytes: give one of 4 or 8")));
    }
    let mut bytes = [0; 8];
    at().read(0, bytes.get_mut(..size).unwrap_or_default());
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn describe_left() -> Vec<String> {
    CONFIGURATIONS.describe_where(|_| true)
}
