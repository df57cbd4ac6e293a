//! Events: two families, whose answers before a record differ, and four enumerations of states.

use std::time::Duration;

use acl_sys::{
    ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, ACL_ERROR_RT_NO_EVENT_RESOURCE,
    ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL, ACL_EVENT_IPC,
    ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE, aclrtEvent, aclrtEventRecordedStatus, aclrtEventStatus,
    aclrtEventWaitStatus, aclrtStream,
};
use host_device::engine::EventStatus;

use super::device::patience;
use crate::context::{Current, EVENTS, Event, Family, current};
use crate::failure::{Failure, timed};
use crate::handles::pointer;

/// Events that a device has.
const LIMIT: usize = 65_536;

const KNOWN_FLAGS: u32 = ACL_EVENT_SYNC
    | ACL_EVENT_CAPTURE_STREAM_PROGRESS
    | ACL_EVENT_TIME_LINE
    | ACL_EVENT_DEVICE_USE_ONLY
    | ACL_EVENT_EXTERNAL;

export! {
    fn aclrtCreateEvent(out event: *mut aclrtEvent) {
        event.check("the event")?;
        event.set(pointer(create(Family::Legacy, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)?));
        Ok(())
    }

    fn aclrtCreateEventWithFlag(out event: *mut aclrtEvent, val flag: u32) {
        event.check("the event")?;
        event.set(pointer(create(Family::LegacyWithFlag, flag)?));
        Ok(())
    }

    fn aclrtCreateEventExWithFlag(out event: *mut aclrtEvent, val flag: u32) {
        event.check("the event")?;
        event.set(pointer(create(Family::Ex, flag)?));
        Ok(())
    }

    /// Pending records and waits go on.
    fn aclrtDestroyEvent(num event: aclrtEvent) {
        let (current, known) = look_up(event)?;
        current.device.engine.destroy_event(known.id)?;
        current.device.pools.lock().order.forget_event(event);
        EVENTS.remove(event).map(drop)
    }

    fn aclrtRecordEvent(num event: aclrtEvent, num stream: aclrtStream) {
        record(event, stream)
    }

    /// Flag 1, for graphs of other recordings, has no meaning here.
    fn aclrtRecordEventWithFlag(num event: aclrtEvent, num stream: aclrtStream, val flag: u32) {
        check_default_flag(flag)?;
        record(event, stream)
    }

    /// In the order of the stream: the event counts as never recorded from then on.
    fn aclrtResetEvent(num event: aclrtEvent, num stream: aclrtStream) {
        let (current, known) = look_up(event)?;
        not_ex(&known, "reset")?;
        if known.flags & ACL_EVENT_SYNC == 0 {
            return Err(needs_sync("reset"));
        }
        let stream = current.stream(stream)?;
        current.device.engine.reset_event(known.id, stream.id)?;
        Ok(())
    }

    /// The old question: 0 is complete here.
    fn aclrtQueryEvent(num event: aclrtEvent, out status: *mut aclrtEventStatus) {
        status.check("the status")?;
        let (current, known) = look_up(event)?;
        not_ex(&known, "asked with aclrtQueryEvent")?;
        status.set(match current.device.engine.event_status(known.id)? {
            EventStatus::Complete => aclrtEventStatus::ACL_EVENT_STATUS_COMPLETE,
            _ => aclrtEventStatus::ACL_EVENT_STATUS_NOT_READY,
        });
        Ok(())
    }

    /// The new question: 1 is complete here. Without a record an Ex event is complete, others are not.
    fn aclrtQueryEventStatus(num event: aclrtEvent, out status: *mut aclrtEventRecordedStatus) {
        status.check("the status")?;
        let (current, known) = look_up(event)?;
        let complete = match current.device.engine.event_status(known.id)? {
            EventStatus::Complete => true,
            EventStatus::Pending => false,
            EventStatus::NotRecorded => known.family == Family::Ex,
        };
        status.set(if complete {
            aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE
        } else {
            aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_NOT_READY
        });
        Ok(())
    }

    /// Whether all waits for the event are over: 0 is complete here.
    fn aclrtQueryEventWaitStatus(num event: aclrtEvent, out status: *mut aclrtEventWaitStatus) {
        status.check("the status")?;
        let (current, known) = look_up(event)?;
        not_ex(&known, "asked for its waits")?;
        status.set(if current.device.engine.pending_waits(known.id)? == 0 {
            aclrtEventWaitStatus::ACL_EVENT_WAIT_STATUS_COMPLETE
        } else {
            aclrtEventWaitStatus::ACL_EVENT_WAIT_STATUS_NOT_READY
        });
        Ok(())
    }

    fn aclrtSynchronizeEvent(num event: aclrtEvent) {
        let (current, known) = look_up(event)?;
        current.device.engine.synchronize_event(known.id)?;
        super::pool::trim(&current);
        Ok(())
    }

    fn aclrtSynchronizeEventWithTimeout(num event: aclrtEvent, val timeout_ms: i32) {
        let (current, known) = look_up(event)?;
        match patience(timeout_ms)? {
            None => current.device.engine.synchronize_event(known.id)?,
            Some(patience) => {
                let waited = current.device.engine.synchronize_event_within(known.id, patience);
                waited.map_err(|error| timed(error, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT))?;
            }
        }
        Ok(())
    }

    fn aclrtStreamWaitEvent(num stream: aclrtStream, num event: aclrtEvent) {
        wait(stream, event)
    }

    /// A wait that takes longer than it may would fail the stream on a card; here it goes on waiting.
    fn aclrtStreamWaitEventWithTimeout(num stream: aclrtStream, num event: aclrtEvent, val timeout_s: i32) {
        wait_within(timeout_s, stream, event)
    }

    /// As `aclrtStreamWaitEventWithTimeout`.
    fn aclrtStreamWaitEventWithFlag(
        num stream: aclrtStream, num event: aclrtEvent, val timeout_s: u32, val flag: u32
    ) {
        check_default_flag(flag)?;
        let forever_or_seconds = i32::try_from(timeout_s).unwrap_or(i32::MAX);
        wait_within(forever_or_seconds, stream, event)
    }

    fn aclrtEventElapsedTime(out elapsed_ms: *mut f32, num start: aclrtEvent, num end: aclrtEvent) {
        elapsed_ms.check("the time")?;
        let (current, start) = look_up(start)?;
        let (_, end) = look_up(end)?;
        let elapsed_ns = current.device.engine.elapsed_ns(start.id, end.id)?;
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "C wants a float")]
        elapsed_ms.set((elapsed_ns as f64 / 1e6) as f32);
        Ok(())
    }

    fn aclrtEventGetTimestamp(num event: aclrtEvent, out time_us: *mut u64) {
        time_us.check("the time")?;
        let (current, known) = look_up(event)?;
        let time: Duration = current.device.engine.event_time(known.id)?;
        time_us.set(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        Ok(())
    }

    fn aclrtGetEventId(num event: aclrtEvent, out id: *mut u32) {
        id.check("the number")?;
        id.set(look_up(event)?.1.number);
        Ok(())
    }

    fn aclrtGetEventAvailNum(out count: *mut u32) {
        count.check("the count")?;
        let device = current()?.device;
        let used = EVENTS.count_where(|event| event.device == device.index);
        count.set(u32::try_from(LIMIT.saturating_sub(used)).unwrap_or(0));
        Ok(())
    }
}

fn create(family: Family, flags: u32) -> Result<u64, Failure> {
    let current = current()?;
    if flags & ACL_EVENT_IPC != 0 {
        let text = "events for several processes are not simulated";
        return Err(Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, text));
    }
    if flags == 0 || flags & !KNOWN_FLAGS != 0 {
        return Err(Failure::refused(format!("flags {flags:#x} of an event: give at least one known flag")));
    }
    if current.device.engine.live_events() >= LIMIT {
        let text = format!("all {LIMIT} events of the device are in use");
        return Err(Failure::new(ACL_ERROR_RT_NO_EVENT_RESOURCE, text));
    }
    let id = current.device.engine.create_event(flags);
    let number = u32::try_from(id.get() % LIMIT as u64).unwrap_or(0);
    Ok(EVENTS.insert(Event { id, device: current.device.index, family, flags, number }))
}

fn look_up(handle: u64) -> Result<(Current, std::sync::Arc<Event>), Failure> {
    let current = current()?;
    if handle == 0 {
        return Err(Failure::invalid("the event is null"));
    }
    let event = EVENTS.get(handle)?;
    if event.device != current.device.index {
        return Err(Failure::refused(format!(
            "the event is of device {}, the current context of device {}: set that of the event",
            event.device, current.device.index
        )));
    }
    Ok((current, event))
}

fn record(event: u64, stream: u64) -> Result<(), Failure> {
    let (current, known) = look_up(event)?;
    let stream = current.stream(stream)?;
    current.device.engine.record_event(known.id, stream.id)?;
    super::pool::recorded(&current, event, stream.id);
    Ok(())
}

fn wait_within(timeout_s: i32, stream: u64, event: u64) -> Result<(), Failure> {
    if timeout_s < 0 {
        return Err(Failure::refused(format!("a timeout of {timeout_s} s: give 0 (for ever) or more")));
    }
    wait(stream, event)
}

fn wait(stream: u64, event: u64) -> Result<(), Failure> {
    let (current, known) = look_up(event)?;
    let stream = current.stream(stream)?;
    if known.flags & ACL_EVENT_SYNC == 0 {
        return Err(needs_sync("waited for on a stream"));
    }
    let recorded = current.device.engine.event_status(known.id)? != EventStatus::NotRecorded;
    if !recorded && known.family != Family::Ex {
        return Err(Failure::refused("the event was never recorded: record it before the wait"));
    }
    current.device.engine.wait_event(stream.id, known.id)?;
    super::pool::waited(&current, event, stream.id);
    Ok(())
}

fn not_ex(event: &Event, use_of_it: &str) -> Result<(), Failure> {
    if event.family == Family::Ex {
        return Err(Failure::refused(format!(
            "an event of aclrtCreateEventExWithFlag cannot be {use_of_it}"
        )));
    }
    Ok(())
}

fn needs_sync(use_of_it: &str) -> Failure {
    Failure::refused(format!("an event without the flag ACL_EVENT_SYNC (0x1) cannot be {use_of_it}"))
}

fn check_default_flag(flag: u32) -> Result<(), Failure> {
    if flag > 1 {
        return Err(Failure::refused(format!("flag {flag} does not exist: give 0 or 1")));
    }
    Ok(())
}
