//! Streams, events, and the allocators of streams.

use std::ffi::c_void;

use acl_sys::*;

use super::fake::{Described, Fake, again};
use super::fake_table::{
    create, fakes, give, make, pointer, release, run_host_function, set, take, tell_stream, uses,
};

extern "C" fn create_description() -> aclrtAllocatorDesc {
    make("aclrtAllocatorCreateDesc", "description of an allocator")
}

/// Those that answer no code.
pub(crate) fn fill_without_code(table: &mut Table) {
    table.aclrtAllocatorCreateDesc = Some(create_description);
}

/// Destroys a stream, which no allocator must be registered for: one at the same address would inherit it.
fn destroy(mut state: Fake, stream: aclrtStream) -> Result<(), aclError> {
    let stream = stream.expose_provenance();
    state.require(stream, "stream")?;
    if state.allocators.contains_key(&stream) {
        state.broken("a stream goes that still has an allocator");
    }
    drop(state);
    tell_stream(stream, aclrtStreamState::ACL_RT_STREAM_STATE_DESTROY_PRE);
    again().remove(stream, "stream")
}

/// Changes a description.
fn describe(
    mut state: Fake,
    description: aclrtAllocatorDesc,
    change: impl FnOnce(&mut Described),
) -> Result<(), aclError> {
    let handle = description.expose_provenance();
    state.require(handle, "description of an allocator")?;
    change(state.descriptions.entry(handle).or_default());
    Ok(())
}

fakes! {
    fn aclrtCreateStream(out: *mut aclrtStream) |state, out| create(state, out, "stream");
    fn aclrtCreateStreamWithConfig(out: *mut aclrtStream, _priority: u32, _flag: u32) |state, out, _, _| {
        create(state, out, "stream")
    };
    fn aclrtDestroyStream(stream: aclrtStream) |state, stream| destroy(state, stream);
    fn aclrtDestroyStreamForce(stream: aclrtStream) |state, stream| destroy(state, stream);
    fn aclrtSynchronizeStream(stream: aclrtStream) |state, stream| uses(state, stream, "stream");
    fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, millis: i32) |state, stream, millis| {
        uses(state, stream, "stream")?;
        if millis == 1 { Err(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) } else { Ok(()) }
    };
    fn aclrtStreamQuery(stream: aclrtStream, out: *mut aclrtStreamStatus) |state, stream, out| {
        give(out, aclrtStreamStatus::ACL_STREAM_STATUS_COMPLETE);
        uses(state, stream, "stream")
    };
    fn aclrtStreamGetId(stream: aclrtStream, out: *mut i32) |state, stream, out| {
        give(out, 5);
        uses(state, stream, "stream")
    };
    fn aclrtStreamGetFlags(stream: aclrtStream, out: *mut u32) |state, stream, out| {
        give(out, ACL_STREAM_FAST_SYNC);
        uses(state, stream, "stream")
    };
    fn aclrtStreamGetPriority(stream: aclrtStream, out: *mut u32) |state, stream, out| {
        give(out, 3);
        uses(state, stream, "stream")
    };
    fn aclrtSetStreamFailureMode(stream: aclrtStream, _mode: u64) |state, stream, _| uses(state, stream, "stream");
    fn aclrtStreamAbort(stream: aclrtStream) |state, stream| uses(state, stream, "stream");
    fn aclrtStreamStop(stream: aclrtStream) |state, stream| uses(state, stream, "stream");
    fn aclrtCtxGetCurrentDefaultStream(out: *mut aclrtStream) |mut state, out| {
        let current = state.current()?;
        give(out, pointer(current));
        Ok(())
    };
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) |mut state, stream, event| {
        state.require(event.expose_provenance(), "event")?;
        uses(state, stream, "stream")
    };
    fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, argument: *mut c_void)
        |state, stream, function, argument| {
            uses(state, stream, "stream")?;
            run_host_function(function, argument);
            Ok(())
        };
    fn aclrtValueWrite(address: *mut c_void, value: u64, flag: u32, stream: aclrtStream)
        |mut state, address, value, flag, stream| {
            if flag != 0 || !address.addr().is_multiple_of(8) {
                state.broken("no flag, and a multiple of 8");
            }
            uses(state, stream, "stream")?;
            give(address.cast(), value);
            Ok(())
        };
    fn aclrtValueWait(address: *mut c_void, value: u64, flag: u32, stream: aclrtStream)
        |mut state, address, value, flag, stream| {
            let found: u64 = take(address.cast_const().cast());
            let passes = match flag {
                ACL_STREAM_WAIT_VALUE_GEQ => found.wrapping_sub(value).cast_signed() >= 0,
                ACL_STREAM_WAIT_VALUE_EQ => found == value,
                ACL_STREAM_WAIT_VALUE_AND => found & value != 0,
                ACL_STREAM_WAIT_VALUE_NOR => !(found | value) != 0,
                _ => false,
            };
            if !passes {
                state.broken(format!("a stream waits for ever: {found} {flag} {value}"));
            }
            uses(state, stream, "stream")
        };
    fn aclrtCreateEvent(out: *mut aclrtEvent) |state, out| create(state, out, "event");
    fn aclrtCreateEventWithFlag(out: *mut aclrtEvent, _flag: u32) |state, out, _| create(state, out, "event");
    fn aclrtCreateEventExWithFlag(out: *mut aclrtEvent, _flag: u32) |state, out, _| create(state, out, "event");
    fn aclrtDestroyEvent(event: aclrtEvent) |state, event| release(state, event, "event");
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) |mut state, event, stream| {
        state.require(event.expose_provenance(), "event")?;
        if state.device_of(event.addr()) != state.device_of(stream.addr()) {
            state.broken("an event of one device on a stream of another");
        }
        uses(state, stream, "stream")
    };
    fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) |mut state, event, stream| {
        state.require(event.expose_provenance(), "event")?;
        uses(state, stream, "stream")
    };
    fn aclrtQueryEventStatus(event: aclrtEvent, out: *mut aclrtEventRecordedStatus) |state, event, out| {
        give(out, aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE);
        uses(state, event, "event")
    };
    fn aclrtSynchronizeEvent(event: aclrtEvent) |state, event| uses(state, event, "event");
    fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, millis: i32) |state, event, millis| {
        uses(state, event, "event")?;
        if millis == 1 { Err(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT) } else { Ok(()) }
    };
    fn aclrtEventElapsedTime(out: *mut f32, start: aclrtEvent, end: aclrtEvent) |mut state, out, start, end| {
        state.require(start.expose_provenance(), "event")?;
        give(out, 2.5);
        uses(state, end, "event")
    };
    fn aclrtAllocatorDestroyDesc(description: aclrtAllocatorDesc) |mut state, description| {
        state.descriptions.remove(&description.addr());
        state.remove(description.expose_provenance(), "description of an allocator")
    };
    fn aclrtAllocatorSetObjToDesc(description: aclrtAllocatorDesc, object: aclrtAllocator)
        |state, description, object| {
            describe(state, description, |it| it.object = Some(object.expose_provenance()))
        };
    fn aclrtAllocatorSetAllocFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorAllocFunc)
        |state, description, function| describe(state, description, |it| it.allocate = Some(function));
    fn aclrtAllocatorSetFreeFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorFreeFunc)
        |state, description, function| describe(state, description, |it| it.free = Some(function));
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorAllocAdviseFunc)
        |state, description, function| describe(state, description, |it| it.advise = Some(function));
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorGetAddrFromBlockFunc)
        |state, description, function| describe(state, description, |it| it.address = Some(function));
    fn aclrtAllocatorRegister(stream: aclrtStream, description: aclrtAllocatorDesc) |mut state, stream, description| {
        state.require(stream.expose_provenance(), "stream")?;
        state.require(description.expose_provenance(), "description of an allocator")?;
        let described = state.descriptions.get(&description.addr()).copied().unwrap_or_default();
        let all = described.allocate.and(described.free).is_some() && described.address.is_some();
        if !all || described.object.is_none() || described.advise.is_none_or(|function| function.is_none()) {
            state.broken("a part of the description was never set, and is called all the same");
        }
        state.allocators.insert(stream.addr(), described);
        Ok(())
    };
    fn aclrtAllocatorUnregister(stream: aclrtStream) |mut state, stream| {
        state.require(stream.expose_provenance(), "stream")?;
        state.allocators.remove(&stream.addr());
        Ok(())
    };
    fn aclrtAllocatorGetByStream(stream: aclrtStream, _description: *mut aclrtAllocatorDesc, object: *mut aclrtAllocator, _allocate: *mut aclrtAllocatorAllocFunc, _free: *mut aclrtAllocatorFreeFunc, _advise: *mut aclrtAllocatorAllocAdviseFunc, _address: *mut aclrtAllocatorGetAddrFromBlockFunc)
        |mut state, stream, _, object, _, _, _, _| {
            state.require(stream.expose_provenance(), "stream")?;
            let allocator = state.allocators.get(&stream.addr()).ok_or(ACL_ERROR_INVALID_PARAM)?;
            give(object, pointer(allocator.object.expect("the crate sets it")));
            Ok(())
        };
    fn aclrtMemsetAsync(address: *mut c_void, room: usize, value: i32, count: usize, stream: aclrtStream)
        |state, address, room, value, count, stream| {
            uses(state, stream, "stream")?;
            set(address, value, count.min(room));
            Ok(())
        };
}
