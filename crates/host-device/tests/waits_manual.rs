//! Values, gates, callbacks, deadlocks and several driving threads under a manual clock.

#[cfg(test)]
mod manual;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use host_device::engine::{
        EngineError, Gate, HazardKind, Operation, PendingWork, StallReason, StreamId, StreamOptions,
        ValueCondition,
    };

    use crate::manual::{Diary, MIB, engine, ms, stream, work};

    #[test]
    fn values_order_streams_without_events() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let (flag, diary) = (engine.device().allocate(2 * MIB).unwrap(), Diary::new());
        engine.enqueue(b, Operation::wait_value(flag, 123, ValueCondition::Equal)).unwrap();
        engine.enqueue(b, diary.work("b", ms(1))).unwrap();
        engine.enqueue(a, diary.work("a", ms(5))).unwrap();
        engine.enqueue(a, Operation::write_value(flag, 123)).unwrap();
        engine.synchronize_stream(b).unwrap();
        assert_eq!(diary.entries(), [("a", ms(5)), ("b", ms(6))]);
    }

    #[test]
    fn a_value_written_by_the_host_is_seen() {
        let engine = engine();
        let stream = stream(&engine);
        let flag = engine.device().allocate(2 * MIB).unwrap();
        engine.enqueue(stream, Operation::wait_value(flag, 5, ValueCondition::AtLeast)).unwrap();
        let error = engine.synchronize_stream(stream).unwrap_err();
        let EngineError::Deadlock { stalled, .. } = &error else { panic!("{error}") };
        assert_eq!(stalled[0].reason, StallReason::Value(flag));
        engine.device().write(flag, &9_u64.to_le_bytes()).unwrap();
        engine.synchronize_stream(stream).unwrap();
    }

    #[test]
    fn a_wait_for_a_value_in_freed_memory_ends_and_is_reported() {
        let engine = engine();
        let stream = stream(&engine);
        let flag = engine.device().allocate(2 * MIB).unwrap();
        engine.enqueue(stream, Operation::wait_value(flag, 5, ValueCondition::Equal)).unwrap();
        engine.device().free(flag, 2 * MIB).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(engine.hazards()[0].kind, HazardKind::UseAfterFree);
    }

    #[test]
    fn streams_that_wait_for_each_other_are_a_deadlock_that_names_both() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let flags = engine.device().allocate(2 * MIB).unwrap();
        for (stream, mine, theirs) in [(a, flags, flags + 8), (b, flags + 8, flags)] {
            engine.enqueue(stream, Operation::wait_value(theirs, 1, ValueCondition::Equal)).unwrap();
            engine.enqueue(stream, Operation::write_value(mine, 1)).unwrap();
        }
        let error = engine.synchronize_device().unwrap_err();
        let EngineError::Deadlock { stalled, .. } = &error else { panic!("{error}") };
        assert_eq!(stalled.iter().map(|stalled| stalled.stream).collect::<Vec<_>>(), [a, b]);
        assert_eq!(engine.now(), ms(0));
        // Aborting one ends it.
        assert_eq!(engine.abort_stream(a).unwrap(), 2);
        engine.synchronize_stream(a).unwrap();
        assert!(engine.synchronize_stream(b).is_err());
    }

    #[test]
    fn a_gate_holds_a_stream_until_it_is_opened() {
        let engine = engine();
        let (stream, gate) = (stream(&engine), Gate::new());
        engine.enqueue(stream, Operation::wait_gate(&gate)).unwrap();
        assert!(matches!(engine.synchronize_stream(stream), Err(EngineError::Deadlock { .. })));
        engine.open_gate(&gate);
        engine.synchronize_stream(stream).unwrap();
        assert!(gate.is_open());
    }

    #[test]
    fn callbacks_run_at_their_place_and_may_use_the_engine() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let (event, diary) = (engine.create_event(0), Diary::new());
        engine.enqueue(a, diary.work("before", ms(2))).unwrap();
        let (inner, inner_diary) = (Arc::downgrade(&engine), diary.clone());
        let callback = Operation::callback(move || {
            let engine = inner.upgrade().unwrap();
            engine.enqueue(b, inner_diary.work("inside", ms(3))).unwrap();
            engine.record_event(event, b).unwrap();
            engine.synchronize_stream(b).unwrap();
            let extra = engine.create_stream(StreamOptions::default());
            engine.destroy_stream(extra, PendingWork::Finish).unwrap();
        });
        engine.enqueue(a, callback).unwrap();
        engine.enqueue(a, diary.work("after", ms(1))).unwrap();
        engine.synchronize_stream(a).unwrap();
        assert_eq!(diary.entries(), [("before", ms(2)), ("inside", ms(5)), ("after", ms(6))]);
        assert_eq!(engine.hazards(), []);
    }

    #[test]
    fn a_callback_that_waits_for_its_own_stream_is_a_deadlock() {
        let engine = engine();
        let stream = stream(&engine);
        let (inner, result) = (Arc::downgrade(&engine), Arc::new(Mutex::new(None)));
        let slot = Arc::clone(&result);
        let callback = Operation::callback(move || {
            *slot.lock().unwrap() = Some(inner.upgrade().unwrap().synchronize_stream(stream));
        });
        engine.enqueue(stream, callback).unwrap();
        engine.synchronize_stream(stream).unwrap();
        let result = result.lock().unwrap().take().unwrap();
        let Err(EngineError::Deadlock { stalled, .. }) = result else { panic!("{result:?}") };
        assert_eq!(stalled[0].reason, StallReason::Executing);
    }

    #[test]
    fn a_panic_in_an_operation_is_reported_and_the_stream_goes_on() {
        let engine = engine();
        let (stream, diary) = (stream(&engine), Diary::new());
        engine.enqueue(stream, Operation::callback(|| panic!("on purpose"))).unwrap();
        engine.enqueue(stream, diary.work("after", ms(1))).unwrap();
        engine.synchronize_stream(stream).unwrap();
        let hazards = engine.take_hazards();
        assert_eq!((hazards[0].kind, hazards[0].detail.as_ref()), (HazardKind::Panicked, "on purpose"));
        assert_eq!(diary.entries().len(), 1);
    }

    #[test]
    fn a_stream_takes_no_work_while_it_finishes() {
        let engine = engine();
        let stream = stream(&engine);
        let (inner, result) = (Arc::downgrade(&engine), Arc::new(Mutex::new(None)));
        let slot = Arc::clone(&result);
        let callback = Operation::callback(move || {
            *slot.lock().unwrap() = Some(inner.upgrade().unwrap().enqueue(stream, work(ms(0))));
        });
        engine.enqueue(stream, callback).unwrap();
        engine.destroy_stream(stream, PendingWork::Finish).unwrap();
        let result = result.lock().unwrap().take().unwrap();
        assert!(matches!(result, Err(EngineError::StreamClosing { .. })));
    }

    #[test]
    fn aborting_from_a_callback_drops_the_rest_but_not_the_callback_itself() {
        let engine = engine();
        let (stream, diary) = (stream(&engine), Diary::new());
        let (inner, dropped) = (Arc::downgrade(&engine), Arc::new(Mutex::new(0)));
        let slot = Arc::clone(&dropped);
        let callback = Operation::callback(move || {
            *slot.lock().unwrap() = inner.upgrade().unwrap().abort_stream(stream).unwrap();
        });
        engine.enqueue(stream, callback).unwrap();
        engine.enqueue(stream, diary.work("dropped", ms(1))).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!((*dropped.lock().unwrap(), diary.entries().len()), (1, 0));
        engine.enqueue(stream, diary.work("new", ms(1))).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(diary.entries().len(), 1);
    }

    #[test]
    fn several_threads_may_let_time_pass_and_order_still_holds() {
        let engine = engine();
        let streams: Vec<StreamId> = (0..4).map(|_| stream(&engine)).collect();
        let order = Arc::new(Mutex::new(vec![Vec::new(); 4]));
        for step in 0..200_u64 {
            for (index, &stream) in streams.iter().enumerate() {
                let order = Arc::clone(&order);
                let effect = Operation::callback(move || order.lock().unwrap()[index].push(step));
                engine.enqueue(stream, effect.lasting(ms(step % 3))).unwrap();
            }
        }
        thread::scope(|scope| {
            for &stream in &streams {
                let engine = &engine;
                scope.spawn(move || engine.synchronize_stream(stream).unwrap());
            }
        });
        for steps in order.lock().unwrap().iter() {
            assert!(steps.iter().copied().eq(0..200));
        }
    }

    #[test]
    fn two_callbacks_that_wait_for_each_other_both_learn_of_it() {
        let engine = engine();
        let [a, b] = [stream(&engine), stream(&engine)];
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let deadlocks = Arc::new(Mutex::new(0));
        for (own, other) in [(a, b), (b, a)] {
            let (inner, barrier, deadlocks) =
                (Arc::downgrade(&engine), Arc::clone(&barrier), Arc::clone(&deadlocks));
            let callback = Operation::callback(move || {
                barrier.wait();
                if inner.upgrade().unwrap().synchronize_stream(other).is_err() {
                    *deadlocks.lock().unwrap() += 1;
                }
            });
            engine.enqueue(own, callback).unwrap();
        }
        thread::scope(|scope| {
            for stream in [a, b] {
                let engine = &engine;
                // Whichever learns first lets the other go on, so these end in any case.
                scope.spawn(move || engine.synchronize_stream(stream));
            }
        });
        assert!(*deadlocks.lock().unwrap() >= 1);
    }
}
