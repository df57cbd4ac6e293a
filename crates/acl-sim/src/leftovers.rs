//! What a program leaves behind when it resets a device or finalises ACL, for tests that look for leaks.
//!
//! What the runtime makes by itself (default contexts and their streams) does not count.

use crate::context::{CONTEXTS, EVENTS, STREAMS};
use crate::device::Device;
use crate::exports;
use crate::runtime::Runtime;
use crate::{call, reports};

/// Tells of all that is left on a device.
pub(crate) fn tell_of_device(runtime: &Runtime, device: &Device) {
    let Some(file) = &runtime.leftovers else { return };
    let index = device.index;
    let is_default = |handle: u64| CONTEXTS.all().iter().any(|context| context.default_stream == handle);
    let mut left = CONTEXTS.describe_where(|context| context.device == index && !context.primary);
    left.extend(STREAMS.describe_where(|stream| stream.device == index && !is_default(stream.handle)));
    left.extend(EVENTS.describe_where(|event| event.device == index));
    left.extend(device.describe_memory());
    left.extend(exports::describe_left_on_device(index));
    write(file, &format!("device {index}"), left);
}

/// Tells of all that is left of no device.
pub(crate) fn tell_of_process(runtime: &Runtime) {
    let Some(file) = &runtime.leftovers else { return };
    let mut left = runtime.describe_pinned();
    left.extend(exports::describe_left_in_process());
    write(file, "the process", left);
}

fn write(file: &reports::File, owner: &str, left: Vec<String>) {
    let place = call::site_words();
    for thing in left {
        file.append(&format!("{place}: left of {owner}: {thing}"));
    }
}
