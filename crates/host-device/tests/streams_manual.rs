//! Streams under a manual clock: order, time, copies, ending.

#[cfg(test)]
mod manual;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use host_device::engine::{
        EngineError, EventStatus, Gate, Operation, PendingWork, StreamId, StreamOptions, StreamStatus,
    };

    use crate::manual::{Diary, MIB, engine, ms, stream, work};

    #[test]
    fn nothing_runs_before_time_passes() {
        let engine = engine();
        let (stream, diary) = (stream(&engine), Diary::new());
        engine.enqueue(stream, diary.work("instant", ms(0))).unwrap();
        assert_eq!(engine.stream_status(stream).unwrap(), StreamStatus::Pending);
        assert!(diary.entries().is_empty());
        engine.advance(ms(0)).unwrap();
        assert_eq!(diary.entries(), [("instant", ms(0))]);
        assert_eq!(engine.stream_status(stream).unwrap(), StreamStatus::Complete);
    }

    #[test]
    fn streams_run_beside_each_other_and_each_in_its_order() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let diary = Diary::new();
        for (stream, name, duration) in [(a, "a1", 5), (a, "a2", 5), (b, "b1", 3), (b, "b2", 3), (b, "b3", 4)]
        {
            engine.enqueue(stream, diary.work(name, ms(duration))).unwrap();
        }
        engine.advance(ms(9)).unwrap();
        let expected = [("b1", ms(3)), ("a1", ms(5)), ("b2", ms(6)), ("a2", ms(10)), ("b3", ms(10))];
        assert_eq!(diary.entries(), expected[..3]);
        assert_eq!(engine.now(), ms(9));
        engine.advance(ms(1)).unwrap();
        // Of those that end at one time, the oldest stream's comes first.
        assert_eq!(diary.entries(), expected);
    }

    #[test]
    fn work_starts_when_it_is_enqueued_on_an_idle_stream_not_earlier() {
        let engine = engine();
        let (stream, diary) = (stream(&engine), Diary::new());
        engine.advance(ms(7)).unwrap();
        engine.enqueue(stream, diary.work("late", ms(2))).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!((diary.entries(), engine.now()), (vec![("late", ms(9))], ms(9)));
    }

    #[test]
    fn synchronising_moves_the_clock_no_further_than_needed() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        engine.enqueue(a, work(ms(2))).unwrap();
        engine.enqueue(b, work(ms(8))).unwrap();
        engine.synchronize_stream(a).unwrap();
        assert_eq!(engine.now(), ms(2));
        assert_eq!(engine.stream_status(b).unwrap(), StreamStatus::Pending);
        engine.synchronize_device().unwrap();
        assert_eq!(engine.now(), ms(8));
        engine.synchronize_device().unwrap();
        assert_eq!(engine.now(), ms(8));
    }

    #[test]
    fn advancing_step_by_step_stops_at_every_end() {
        let engine = engine();
        let stream = stream(&engine);
        engine.enqueue(stream, work(ms(2))).unwrap();
        engine.enqueue(stream, work(ms(3))).unwrap();
        assert_eq!(engine.advance_to_next().unwrap(), Some(ms(2)));
        assert_eq!(engine.advance_to_next().unwrap(), Some(ms(5)));
        assert_eq!(engine.advance_to_next().unwrap(), None);
    }

    #[test]
    fn a_timeout_ends_a_wait_and_moves_the_clock_by_just_that() {
        let engine = engine();
        let stream = stream(&engine);
        engine.enqueue(stream, work(ms(5))).unwrap();
        let error = engine.synchronize_stream_within(stream, ms(4)).unwrap_err();
        assert!(matches!(error, EngineError::TimedOut { timeout, .. } if timeout == ms(4)), "{error}");
        assert_eq!(engine.now(), ms(4));
        engine.synchronize_stream_within(stream, ms(1)).unwrap();
        engine.wait_event(stream, engine.create_event(0)).unwrap();
        engine.enqueue(stream, Operation::wait_gate(&Gate::new())).unwrap();
        assert!(matches!(engine.synchronize_device_within(ms(10)), Err(EngineError::TimedOut { .. })));
        assert_eq!(engine.now(), ms(15));
    }

    #[test]
    fn copies_and_sets_happen_in_order_when_their_time_is_up() {
        let engine = engine();
        let (stream, device) = (stream(&engine), engine.device());
        let memory = device.allocate(2 * MIB).unwrap();
        let back = Arc::new(Mutex::new(Vec::new()));
        engine.enqueue(stream, Operation::fill(memory, 2 * MIB, 1).lasting(ms(1))).unwrap();
        let bytes: Vec<u8> = (0..600_000_u32).map(|index| (index % 253) as u8).collect();
        engine.enqueue(stream, Operation::copy_to_device(memory + 10, bytes.clone()).lasting(ms(1))).unwrap();
        engine.enqueue(stream, Operation::copy(memory + MIB, memory, 600_010).lasting(ms(1))).unwrap();
        let sink = Arc::clone(&back);
        let read =
            Operation::copy_to_host(memory + MIB + 10, 600_000, move |bytes| *sink.lock().unwrap() = bytes);
        engine.enqueue(stream, read).unwrap();
        device.check_fill(memory, 2 * MIB, 0).unwrap();
        engine.advance(ms(1)).unwrap();
        device.check_fill(memory, 2 * MIB, 1).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert!(*back.lock().unwrap() == bytes);
        device.check_fill(memory + MIB, 10, 1).unwrap();
        assert_eq!(engine.hazard_count(), 0);
    }

    #[test]
    fn copies_of_no_bytes_succeed_and_hand_over_nothing() {
        let engine = engine();
        let stream = stream(&engine);
        let memory = engine.device().allocate(2 * MIB).unwrap();
        let got = Arc::new(Mutex::new(None));
        engine.enqueue(stream, Operation::copy_to_device(memory, Vec::new())).unwrap();
        let sink = Arc::clone(&got);
        let read = Operation::copy_to_host(memory, 0, move |bytes| *sink.lock().unwrap() = Some(bytes));
        engine.enqueue(stream, read).unwrap();
        engine.enqueue(stream, Operation::fill(memory, 0, 1)).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(*got.lock().unwrap(), Some(Vec::new()));
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn a_source_is_asked_for_its_bytes_when_the_copy_runs() {
        let engine = engine();
        let stream = stream(&engine);
        let memory = engine.device().allocate(2 * MIB).unwrap();
        let value = Arc::new(Mutex::new(1_u8));
        let source = Arc::clone(&value);
        let copy = Operation::copy_to_device_in_parts(memory, MIB, move |_, part| {
            part.fill(*source.lock().unwrap());
        });
        engine.enqueue(stream, copy).unwrap();
        *value.lock().unwrap() = 2;
        engine.synchronize_stream(stream).unwrap();
        engine.device().check_fill(memory, MIB, 2).unwrap();
    }

    #[test]
    fn destroying_finishes_or_abandons_what_is_pending() {
        let engine = engine();
        let diary = Diary::new();
        let finished = stream(&engine);
        engine.enqueue(finished, diary.work("finished", ms(4))).unwrap();
        engine.destroy_stream(finished, PendingWork::Finish).unwrap();
        assert_eq!((diary.entries().len(), engine.now()), (1, ms(4)));

        let [abandoned, waiter] = [stream(&engine), stream(&engine)];
        let event = engine.create_event(0);
        engine.enqueue(abandoned, diary.work("abandoned", ms(4))).unwrap();
        engine.record_event(event, abandoned).unwrap();
        engine.wait_event(waiter, event).unwrap();
        engine.destroy_stream(abandoned, PendingWork::Abandon).unwrap();
        assert_eq!((diary.entries().len(), engine.now()), (1, ms(4)));
        // Nobody waits for ever for a record that was dropped.
        engine.synchronize_stream(waiter).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Complete);

        assert_eq!(engine.live_streams(), 1);
        for gone in [finished, abandoned] {
            assert!(matches!(engine.enqueue(gone, work(ms(0))), Err(EngineError::UnknownStream { .. })));
            assert!(matches!(engine.synchronize_stream(gone), Err(EngineError::UnknownStream { .. })));
            for pending in [PendingWork::Finish, PendingWork::Abandon] {
                let again = engine.destroy_stream(gone, pending);
                assert!(matches!(again, Err(EngineError::UnknownStream { .. })));
            }
        }
        assert_ne!(stream(&engine), finished);
    }

    #[test]
    fn a_stream_that_cannot_finish_is_not_destroyed() {
        let engine = engine();
        let (stream, gate) = (stream(&engine), Gate::new());
        engine.enqueue(stream, Operation::wait_gate(&gate)).unwrap();
        let refused = engine.destroy_stream(stream, PendingWork::Finish);
        assert!(matches!(refused, Err(EngineError::Deadlock { .. })));
        engine.enqueue(stream, work(ms(0))).unwrap();
        engine.open_gate(&gate);
        engine.destroy_stream(stream, PendingWork::Finish).unwrap();
    }

    #[test]
    fn closures_that_never_ran_are_dropped_with_their_stream_or_engine() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let token = Arc::new(());
        for stream in [a, b] {
            let held = Arc::clone(&token);
            engine.enqueue(stream, work(ms(1)).with_effect(move |_| drop(held))).unwrap();
        }
        engine.destroy_stream(a, PendingWork::Abandon).unwrap();
        assert_eq!(Arc::strong_count(&token), 2);
        drop(engine);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn options_are_kept_and_unknown_streams_refused() {
        let engine = engine();
        let options = StreamOptions::default().with_flags(3).with_priority(7);
        let stream = engine.create_stream(options);
        assert_eq!(engine.stream_options(stream).unwrap(), options);
        let unknown = StreamId::new(99);
        assert!(matches!(engine.stream_status(unknown), Err(EngineError::UnknownStream { .. })));
        assert!(matches!(engine.abort_stream(unknown), Err(EngineError::UnknownStream { .. })));
        let event = engine.create_event(0);
        assert!(matches!(engine.record_event(event, unknown), Err(EngineError::UnknownStream { .. })));
        assert!(matches!(engine.wait_event(unknown, event), Err(EngineError::UnknownStream { .. })));
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::NotRecorded);
    }
}
