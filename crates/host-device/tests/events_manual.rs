//! Events under a manual clock: what they say, what waits for them, and time between them.

#[cfg(test)]
mod manual;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use host_device::engine::{EngineError, EventStatus};

    use crate::manual::{Diary, engine, ms, stream, work};

    #[test]
    fn a_wait_for_a_record_holds_the_stream_up_until_it_has_run() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let (event, diary) = (engine.create_event(0), Diary::new());
        engine.enqueue(a, diary.work("a", ms(6))).unwrap();
        engine.record_event(event, a).unwrap();
        engine.enqueue(a, diary.work("a, later", ms(9))).unwrap();
        engine.wait_event(b, event).unwrap();
        engine.enqueue(b, diary.work("b", ms(1))).unwrap();
        assert_eq!(engine.pending_waits(event).unwrap(), 1);
        engine.synchronize_stream(b).unwrap();
        assert_eq!(diary.entries(), [("a", ms(6)), ("b", ms(7))]);
        assert_eq!(engine.pending_waits(event).unwrap(), 0);
    }

    #[test]
    fn an_event_tells_whether_its_last_record_was_made_and_has_run() {
        let engine = engine();
        let (stream, event) = (stream(&engine), engine.create_event(7));
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::NotRecorded);
        assert!(matches!(engine.event_time(event), Err(EngineError::EventNotComplete { .. })));
        engine.synchronize_event(event).unwrap();
        engine.enqueue(stream, work(ms(1))).unwrap();
        engine.record_event(event, stream).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Pending);
        engine.synchronize_event(event).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Complete);
        // A new record replaces the old one at once.
        engine.enqueue(stream, work(ms(1))).unwrap();
        engine.record_event(event, stream).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Pending);
        engine.synchronize_event(event).unwrap();
        assert_eq!(engine.event_time(event).unwrap(), ms(2));
        engine.reset_event(event, stream).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Complete);
        engine.advance(ms(0)).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::NotRecorded);
        assert_eq!(engine.event_flags(event).unwrap(), 7);
    }

    #[test]
    fn a_reset_does_not_undo_a_record_that_was_enqueued_after_it() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let event = engine.create_event(0);
        engine.record_event(event, a).unwrap();
        engine.enqueue(b, work(ms(5))).unwrap();
        engine.reset_event(event, b).unwrap();
        engine.record_event(event, a).unwrap();
        engine.synchronize_device().unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Complete);
    }

    #[test]
    fn a_wait_keeps_to_the_record_that_was_the_last_when_it_was_enqueued() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let event = engine.create_event(0);
        engine.enqueue(a, work(ms(2))).unwrap();
        engine.record_event(event, a).unwrap();
        engine.wait_event(b, event).unwrap();
        engine.enqueue(a, work(ms(10))).unwrap();
        engine.record_event(event, a).unwrap();
        engine.synchronize_stream(b).unwrap();
        assert_eq!(engine.now(), ms(2));
        engine.synchronize_event(event).unwrap();
        assert_eq!(engine.now(), ms(12));
    }

    #[test]
    fn waiting_for_an_event_that_was_never_recorded_does_nothing() {
        let engine = engine();
        let (stream, event) = (stream(&engine), engine.create_event(0));
        engine.wait_event(stream, event).unwrap();
        assert_eq!(engine.pending_operations(stream).unwrap(), 0);
        engine.reset_event(event, stream).unwrap();
        assert_eq!(engine.pending_operations(stream).unwrap(), 0);
    }

    #[test]
    fn an_event_destroyed_while_pending_still_orders_what_waits_for_it() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let (event, diary) = (engine.create_event(0), Diary::new());
        engine.enqueue(a, diary.work("a", ms(4))).unwrap();
        engine.record_event(event, a).unwrap();
        engine.wait_event(b, event).unwrap();
        engine.enqueue(b, diary.work("b", ms(0))).unwrap();
        engine.destroy_event(event).unwrap();
        assert_eq!(engine.live_events(), 0);
        assert!(matches!(engine.event_status(event), Err(EngineError::UnknownEvent { .. })));
        assert!(matches!(engine.record_event(event, a), Err(EngineError::UnknownEvent { .. })));
        assert!(matches!(engine.wait_event(a, event), Err(EngineError::UnknownEvent { .. })));
        assert!(matches!(engine.destroy_event(event), Err(EngineError::UnknownEvent { .. })));
        engine.synchronize_device().unwrap();
        assert_eq!(diary.entries(), [("a", ms(4)), ("b", ms(4))]);
    }

    #[test]
    fn elapsed_time_is_signed() {
        let engine = engine();
        let stream = stream(&engine);
        let [start, end, pending] = [0; 3].map(|flags| engine.create_event(flags));
        engine.record_event(start, stream).unwrap();
        engine.enqueue(stream, work(Duration::from_nanos(1_234_567))).unwrap();
        engine.record_event(end, stream).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(engine.elapsed_ns(start, end).unwrap(), 1_234_567);
        assert_eq!(engine.elapsed_ns(end, start).unwrap(), -1_234_567);
        assert!(matches!(engine.elapsed_ns(start, pending), Err(EngineError::EventNotComplete { .. })));
    }
}
