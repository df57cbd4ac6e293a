//! Streams: made, asked, waited for, stopped; values as marks between them.

use std::ffi::c_void;

use acl_sys::{
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT, ACL_ERROR_RT_NO_STREAM_RESOURCE, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
    ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY, ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC,
    ACL_STREAM_HUGE, ACL_STREAM_PERSISTENT, aclrtStream, aclrtStreamState, aclrtStreamStatus,
};
use host_device::engine::{Operation, PendingWork, StreamOptions, StreamStatus, ValueCondition};

use super::device::patience;
use crate::call;
use crate::context::{self, STREAMS, current};
use crate::failure::{Failure, timed};
use crate::handles::pointer;
use crate::tasks;
use crate::watchers::tell_of_stream;

/// Streams that a device of the 910B kind has.
const LIMIT: usize = 1984;

const KNOWN_FLAGS: u32 = ACL_STREAM_FAST_LAUNCH
    | ACL_STREAM_FAST_SYNC
    | ACL_STREAM_PERSISTENT
    | ACL_STREAM_HUGE
    | ACL_STREAM_CPU_SCHEDULE
    | ACL_STREAM_DEVICE_USE_ONLY;

export! {
    fn aclrtCreateStream(out stream: *mut aclrtStream) {
        stream.check("the stream")?;
        stream.set(pointer(create(0, 0)?));
        Ok(())
    }

    /// Priorities go from 0, the highest, to 7.
    fn aclrtCreateStreamWithConfig(out stream: *mut aclrtStream, val priority: u32, val flag: u32) {
        stream.check("the stream")?;
        stream.set(pointer(create(priority, flag)?));
        Ok(())
    }

    /// Waits for what the stream has left.
    fn aclrtDestroyStream(num stream: aclrtStream) {
        let (current, known) = of_its_own(stream)?;
        tell_of_stream(stream, aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE);
        current.device.engine.destroy_stream(known.id, PendingWork::Finish)?;
        STREAMS.remove(stream)?;
        context::forget_stream(&current.device, &known);
        super::forget_threads(stream);
        Ok(())
    }

    /// Does not wait; what is enqueued already still runs.
    fn aclrtDestroyStreamForce(num stream: aclrtStream) {
        let (current, known) = of_its_own(stream)?;
        tell_of_stream(stream, aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE);
        STREAMS.remove(stream)?;
        context::forget_stream(&current.device, &known);
        current.device.orphan(stream, known.id);
        Ok(())
    }

    fn aclrtSynchronizeStream(num stream: aclrtStream) {
        let current = current()?;
        let known = current.stream(stream)?;
        current.device.engine.synchronize_stream(known.id)?;
        super::pool::trim(&current);
        tasks::outcome(&known)
    }

    fn aclrtSynchronizeStreamWithTimeout(num stream: aclrtStream, val timeout_ms: i32) {
        let current = current()?;
        let known = current.stream(stream)?;
        match patience(timeout_ms)? {
            None => current.device.engine.synchronize_stream(known.id)?,
            Some(patience) => {
                let waited = current.device.engine.synchronize_stream_within(known.id, patience);
                waited.map_err(|error| timed(error, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT))?;
            }
        }
        tasks::outcome(&known)
    }

    fn aclrtStreamQuery(num stream: aclrtStream, out status: *mut aclrtStreamStatus) {
        status.check("the status")?;
        let current = current()?;
        let known = current.stream(stream)?;
        status.set(match current.device.engine.stream_status(known.id)? {
            StreamStatus::Complete => aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE,
            StreamStatus::Pending => aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY,
        });
        Ok(())
    }

    fn aclrtStreamGetId(num stream: aclrtStream, out id: *mut i32) {
        id.check("the number")?;
        id.set(current()?.stream(stream)?.number);
        Ok(())
    }

    fn aclrtStreamGetPriority(num stream: aclrtStream, out priority: *mut u32) {
        priority.check("the priority")?;
        priority.set(current()?.stream(stream)?.settings.lock().priority);
        Ok(())
    }

    fn aclrtStreamGetFlags(num stream: aclrtStream, out flags: *mut u32) {
        flags.check("the flags")?;
        flags.set(current()?.stream(stream)?.options.flags);
        Ok(())
    }

    /// What a task that fails as planned does to those behind it.
    fn aclrtSetStreamFailureMode(num stream: aclrtStream, val mode: u64) {
        if mode > acl_sys::ACL_STOP_ON_FAILURE {
            return Err(Failure::refused(format!("failure mode {mode} does not exist: give 0 or 1")));
        }
        if stream == 0 {
            return Err(Failure::invalid("the default stream has no failure mode of its own"));
        }
        current()?.stream(stream)?.settings.lock().failure_mode = mode;
        Ok(())
    }

    /// Drops what has not begun. Dropped records count as run.
    fn aclrtStreamAbort(num stream: aclrtStream) {
        let (current, known) = of_its_own(stream)?;
        current.device.engine.abort_stream(known.id)?;
        Ok(())
    }

    /// As `aclrtStreamAbort`: what runs on a simulated device cannot be interrupted.
    fn aclrtStreamStop(num stream: aclrtStream) {
        let (current, known) = of_its_own(stream)?;
        current.device.engine.abort_stream(known.id)?;
        Ok(())
    }

    fn aclrtGetStreamAvailableNum(out count: *mut u32) {
        count.check("the count")?;
        let device = current()?.device;
        let used = STREAMS.count_where(|stream| stream.device == device.index);
        count.set(u32::try_from(LIMIT.saturating_sub(used)).unwrap_or(0));
        Ok(())
    }

    fn aclrtValueWrite(num address: *mut c_void, val value: u64, val flag: u32, num stream: aclrtStream) {
        if flag != 0 {
            return Err(Failure::refused(format!("flag {flag} does not exist: give 0")));
        }
        enqueue_value(stream, address, Operation::write_value(address, value))
    }

    fn aclrtValueWait(num address: *mut c_void, val value: u64, val flag: u32, num stream: aclrtStream) {
        let condition = match flag {
            acl_sys::ACL_STREAM_WAIT_VALUE_GEQ => ValueCondition::AtLeast,
            acl_sys::ACL_STREAM_WAIT_VALUE_EQ => ValueCondition::Equal,
            acl_sys::ACL_STREAM_WAIT_VALUE_AND => ValueCondition::AnyBit,
            acl_sys::ACL_STREAM_WAIT_VALUE_NOR => ValueCondition::NorBit,
            _ => return Err(Failure::refused(format!("flag {flag} does not exist: give 0 to 3"))),
        };
        enqueue_value(stream, address, Operation::wait_value(address, value, condition))
    }
}

pub(super) fn create(priority: u32, flags: u32) -> Result<u64, Failure> {
    let current = current()?;
    if priority > 7 {
        return Err(Failure::refused(format!("priority {priority} does not exist: give 0 to 7")));
    }
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Failure::refused(format!("flags {flags:#x} of a stream are unknown")));
    }
    if STREAMS.count_where(|stream| stream.device == current.device.index) >= LIMIT {
        let text = format!("all {LIMIT} streams of the device are in use");
        return Err(Failure::new(ACL_ERROR_RT_NO_STREAM_RESOURCE, text));
    }
    let options = StreamOptions::default().with_priority(priority).with_flags(flags);
    let stream = context::create_stream(&current.device, current.context_handle, options);
    tell_of_stream(stream, aclrtStreamState::ACL_RT_STREAM_STATE_CREATE_POST);
    Ok(stream)
}

/// A stream that was made by name: not the default one.
fn of_its_own(handle: u64) -> Result<(context::Current, std::sync::Arc<context::Stream>), Failure> {
    let current = current()?;
    if handle == 0 {
        return Err(Failure::invalid("the stream is null: the default stream stays as long as its context"));
    }
    if handle == current.context.default_stream {
        return Err(Failure::refused("the default stream stays as long as its context"));
    }
    let stream = current.stream(handle)?;
    Ok((current, stream))
}

fn enqueue_value(stream: u64, address: u64, operation: Operation) -> Result<(), Failure> {
    let current = current()?;
    let known = current.stream(stream)?;
    if !address.is_multiple_of(8) {
        let text = format!("{address:#x} is no multiple of 8");
        return Err(Failure::new(acl_sys::ACL_ERROR_RT_ADDR_UNALIGNED, text));
    }
    if !current.device.owns(address) {
        let text = format!("{address:#x} is no live memory of device {}", current.device.index);
        return Err(if current.runtime.owner_of(address).is_some() {
            Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, text)
        } else {
            Failure::refused(text)
        });
    }
    tasks::enqueue(&current, &known, operation.labelled(call::site_words()))
}
