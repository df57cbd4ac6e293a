//! Streams with threads of their own: real order, callbacks behind the caller, ending. No test waits for time to pass.

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Barrier, Mutex, mpsc};
    use std::thread;
    use std::time::Duration;

    use host_device::engine::{
        Engine, EngineError, EventStatus, Gate, HazardKind, Operation, PendingWork, StreamId, StreamOptions,
        StreamStatus, ValueCondition,
    };
    use host_device::{ClockMode, HostDevice, HostDeviceConfig};

    const MIB: u64 = 1 << 20;
    const HOUR: Duration = Duration::from_hours(1);

    fn engine(delays: bool) -> Arc<Engine> {
        let config = HostDeviceConfig::new(64 * MIB).with_clock(ClockMode::Threaded { delays });
        Arc::new(Engine::new(Arc::new(HostDevice::new(config).unwrap())).unwrap())
    }

    fn stream(engine: &Engine) -> StreamId {
        engine.create_stream(StreamOptions::default())
    }

    #[test]
    fn work_runs_behind_the_caller() {
        let engine = engine(false);
        let stream = stream(&engine);
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let held =
            Operation::kernel("held", HOUR).with_effect(move |_| released.lock().unwrap().recv().unwrap());
        engine.enqueue(stream, held).unwrap();
        assert_eq!(engine.stream_status(stream).unwrap(), StreamStatus::Pending);
        release.send(()).unwrap();
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(engine.stream_status(stream).unwrap(), StreamStatus::Complete);
    }

    #[test]
    fn operations_take_the_time_they_say_when_delays_are_on() {
        let engine = engine(true);
        let stream = stream(&engine);
        let [start, end] = [0; 2].map(|flags| engine.create_event(flags));
        engine.record_event(start, stream).unwrap();
        engine.enqueue(stream, Operation::kernel("slow", Duration::from_millis(3))).unwrap();
        engine.record_event(end, stream).unwrap();
        engine.synchronize_event(end).unwrap();
        assert!(engine.elapsed_ns(start, end).unwrap() >= 3_000_000);
    }

    #[test]
    fn a_wait_with_a_timeout_ends() {
        let engine = engine(true);
        let stream = stream(&engine);
        engine.enqueue(stream, Operation::kernel("an hour", HOUR)).unwrap();
        let timeout = Duration::from_micros(1);
        let error = engine.synchronize_stream_within(stream, timeout).unwrap_err();
        assert!(matches!(error, EngineError::TimedOut { .. }), "{error}");
        let event = engine.create_event(0);
        engine.record_event(event, stream).unwrap();
        assert!(engine.synchronize_event_within(event, timeout).is_err());
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Pending);
        assert!(engine.synchronize_device_within(timeout).is_err());
        assert_eq!(engine.abort_stream(stream).unwrap(), 2);
        engine.synchronize_device().unwrap();
    }

    #[test]
    fn time_cannot_be_set_by_hand() {
        let engine = engine(false);
        assert!(matches!(engine.advance(HOUR), Err(EngineError::ClockNotManual)));
        assert!(matches!(engine.advance_to_next(), Err(EngineError::ClockNotManual)));
    }

    #[test]
    fn events_order_streams() {
        let engine = engine(false);
        let [a, b] = [stream(&engine), stream(&engine)];
        let event = engine.create_event(0);
        let gate = Gate::new();
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str| {
            let order = Arc::clone(&order);
            Operation::callback(move || order.lock().unwrap().push(name))
        };
        engine.enqueue(a, Operation::wait_gate(&gate)).unwrap();
        engine.enqueue(a, note("a")).unwrap();
        engine.record_event(event, a).unwrap();
        engine.wait_event(b, event).unwrap();
        engine.enqueue(b, note("b")).unwrap();
        assert_eq!(engine.event_status(event).unwrap(), EventStatus::Pending);
        engine.open_gate(&gate);
        engine.synchronize_stream(b).unwrap();
        assert_eq!(*order.lock().unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_callback_may_enqueue_and_wait_for_other_streams_with_callbacks_of_their_own() {
        let engine = engine(false);
        let [a, b] = [stream(&engine), stream(&engine)];
        let order = Arc::new(Mutex::new(Vec::new()));
        let (inner, outer_order) = (Arc::downgrade(&engine), Arc::clone(&order));
        let callback = Operation::callback(move || {
            let engine = inner.upgrade().unwrap();
            let inner_order = Arc::clone(&outer_order);
            let nested = Operation::callback(move || inner_order.lock().unwrap().push("nested"));
            engine.enqueue(b, nested).unwrap();
            engine.synchronize_stream(b).unwrap();
            outer_order.lock().unwrap().push("outer");
        });
        engine.enqueue(a, callback).unwrap();
        engine.synchronize_stream(a).unwrap();
        assert_eq!(*order.lock().unwrap(), ["nested", "outer"]);
    }

    #[test]
    fn what_waits_for_itself_is_told_so() {
        let engine = engine(false);
        let stream = stream(&engine);
        for as_callback in [true, false] {
            let (inner, (send, result)) = (Arc::downgrade(&engine), mpsc::channel());
            let wait = move || send.send(inner.upgrade().unwrap().synchronize_stream(stream)).unwrap();
            let operation = if as_callback {
                Operation::callback(wait)
            } else {
                Operation::kernel("kernel", Duration::ZERO).with_effect(move |_| wait())
            };
            engine.enqueue(stream, operation).unwrap();
            assert!(matches!(result.recv().unwrap(), Err(EngineError::Deadlock { .. })));
        }
        engine.synchronize_stream(stream).unwrap();
    }

    #[test]
    fn a_kernel_that_waits_for_another_stream_is_told_that_the_device_is_busy_with_it() {
        let engine = engine(false);
        let [a, b] = [stream(&engine), stream(&engine)];
        let (inner, (send, result)) = (Arc::downgrade(&engine), mpsc::channel());
        let kernel = Operation::kernel("kernel", Duration::ZERO).with_effect(move |_| {
            let engine = inner.upgrade().unwrap();
            engine.enqueue(b, Operation::callback(|| ())).unwrap();
            send.send(engine.synchronize_stream(b)).unwrap();
        });
        engine.enqueue(a, kernel).unwrap();
        assert!(matches!(result.recv().unwrap(), Err(EngineError::Deadlock { .. })));
        engine.synchronize_device().unwrap();
    }

    #[test]
    fn a_value_that_foreign_code_writes_is_noticed() {
        let engine = engine(false);
        let [a, b] = [stream(&engine), stream(&engine)];
        let flags = engine.device().allocate(2 * MIB).unwrap();
        engine.enqueue(a, Operation::wait_value(flags, 123, ValueCondition::Equal)).unwrap();
        engine.enqueue(a, Operation::write_value(flags + 8, 5)).unwrap();
        engine.enqueue(b, Operation::wait_value(flags + 8, 5, ValueCondition::AtLeast)).unwrap();
        // When this has run, the device has looked at the value and found another.
        let looked = stream(&engine);
        engine.enqueue(looked, Operation::callback(|| ())).unwrap();
        engine.synchronize_stream(looked).unwrap();
        // Not through an operation, and without telling.
        engine.device().write(flags, &123_u64.to_le_bytes()).unwrap();
        engine.synchronize_stream(b).unwrap();
    }

    #[test]
    fn memory_freed_too_early_is_reported() {
        let engine = engine(false);
        let (stream, gate) = (stream(&engine), Gate::new());
        let memory = engine.device().allocate(2 * MIB).unwrap();
        engine.enqueue(stream, Operation::wait_gate(&gate)).unwrap();
        engine.enqueue(stream, Operation::fill(memory, 2 * MIB, 1)).unwrap();
        engine.device().free(memory, 2 * MIB).unwrap();
        engine.open_gate(&gate);
        engine.synchronize_stream(stream).unwrap();
        assert_eq!(engine.hazards()[0].kind, HazardKind::UseAfterFree);
    }

    #[test]
    fn a_stream_is_destroyed_after_or_without_its_work() {
        let engine = engine(true);
        let [finished, abandoned] = [stream(&engine), stream(&engine)];
        let count = Arc::new(AtomicU64::new(0));
        let one = || {
            let count = Arc::clone(&count);
            Operation::callback(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        };
        engine.enqueue(finished, one()).unwrap();
        engine.destroy_stream(finished, PendingWork::Finish).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        engine.enqueue(abandoned, Operation::kernel("an hour", HOUR)).unwrap();
        engine.enqueue(abandoned, one()).unwrap();
        engine.destroy_stream(abandoned, PendingWork::Abandon).unwrap();
        engine.synchronize_device().unwrap();
        assert_eq!((count.load(Ordering::SeqCst), engine.live_streams()), (1, 0));
    }

    #[test]
    fn a_callback_that_was_not_begun_is_dropped_by_an_abort() {
        let engine = engine(false);
        let [a, b] = [stream(&engine), stream(&engine)];
        let (begun, wait_begun) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let busy = Operation::callback(move || {
            begun.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
        });
        engine.enqueue(a, busy).unwrap();
        wait_begun.recv().unwrap();
        // The callback thread is busy, so this one waits for it.
        let never = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&never);
        engine.enqueue(b, Operation::callback(move || _ = count.fetch_add(1, Ordering::SeqCst))).unwrap();
        // When this has run, the device has handed the callback over.
        let later = stream(&engine);
        engine.enqueue(later, Operation::kernel("later", Duration::ZERO)).unwrap();
        engine.synchronize_stream(later).unwrap();
        assert_eq!(engine.abort_stream(b).unwrap(), 1);
        engine.synchronize_stream(b).unwrap();
        assert_eq!(Arc::strong_count(&never), 1);
        release.send(()).unwrap();
        engine.synchronize_device().unwrap();
        assert_eq!(never.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn dropping_the_engine_ends_its_threads_and_drops_what_is_pending() {
        let engine = engine(true);
        let [a, b] = [stream(&engine), stream(&engine)];
        let token = Arc::new(());
        for stream in [a, b] {
            engine.enqueue(stream, Operation::kernel("an hour", HOUR)).unwrap();
            let held = Arc::clone(&token);
            engine.enqueue(stream, Operation::callback(move || drop(held))).unwrap();
        }
        drop(engine);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn the_last_owner_of_an_engine_may_be_one_of_its_own_callbacks() {
        let engine = engine(false);
        let stream = stream(&engine);
        let device = Arc::downgrade(engine.device());
        let (go, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let (wait, owner) = (Mutex::new(wait), Arc::clone(&engine));
        let callback = Operation::callback(move || {
            wait.lock().unwrap().recv().unwrap();
            drop(owner);
            done.send(()).unwrap();
        });
        engine.enqueue(stream, callback).unwrap();
        drop(engine);
        assert!(device.upgrade().is_some());
        go.send(()).unwrap();
        finished.recv().unwrap();
    }

    /// Many threads, each with streams of its own and hand-overs to a neighbour's; every byte ends as program order
    /// says, every callback is called once and in order.
    #[test]
    fn threads_that_share_streams_keep_every_order() {
        const THREADS: usize = 4;
        const ROUNDS: u64 = 300;
        let engine = engine(false);
        let memory = engine.device().allocate(2 * MIB).unwrap();
        let streams: Vec<StreamId> = (0..THREADS).map(|_| stream(&engine)).collect();
        let seen: Vec<_> = (0..THREADS).map(|_| Arc::new(Mutex::new(Vec::new()))).collect();
        let barrier = Barrier::new(THREADS);
        thread::scope(|scope| {
            for index in 0..THREADS {
                let (engine, streams, seen, barrier) = (&engine, &streams, &seen, &barrier);
                scope.spawn(move || {
                    let (mine, next) = (streams[index], streams[(index + 1) % THREADS]);
                    let event = engine.create_event(0);
                    let [from, to] = [memory + index as u64 * 8192, memory + index as u64 * 8192 + 4096];
                    barrier.wait();
                    for round in 0..ROUNDS {
                        let byte = u8::try_from(round % 251).unwrap();
                        engine.enqueue(mine, Operation::fill(from, 4096, byte)).unwrap();
                        engine.record_event(event, mine).unwrap();
                        engine.wait_event(next, event).unwrap();
                        // The neighbour's stream copies what this one wrote, and this one waits for it.
                        engine.enqueue(next, Operation::copy(to, from, 4096)).unwrap();
                        engine.record_event(event, next).unwrap();
                        engine.wait_event(mine, event).unwrap();
                        let log = Arc::clone(&seen[index]);
                        let check = Operation::copy_to_host(to, 4096, move |bytes| {
                            log.lock()
                                .unwrap()
                                .push(bytes.iter().all(|&found| found == byte).then_some(round));
                        });
                        engine.enqueue(mine, check).unwrap();
                        if round % 50 == 49 {
                            engine.synchronize_stream(mine).unwrap();
                        }
                    }
                    engine.destroy_event(event).unwrap();
                });
            }
        });
        engine.synchronize_device().unwrap();
        for log in &seen {
            assert!(log.lock().unwrap().iter().copied().eq((0..ROUNDS).map(Some)));
        }
        assert_eq!((engine.hazards(), engine.live_events()), (vec![], 0));
    }

    #[test]
    fn streams_and_events_made_and_destroyed_by_many_threads_leave_nothing() {
        let engine = engine(false);
        let count = Arc::new(AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                let (engine, count) = (&engine, &count);
                scope.spawn(move || {
                    for round in 0..100 {
                        let [a, b] = [stream(engine), stream(engine)];
                        let event = engine.create_event(0);
                        let counted = Arc::clone(count);
                        let add = Operation::callback(move || _ = counted.fetch_add(1, Ordering::SeqCst));
                        engine.enqueue(a, add).unwrap();
                        engine.record_event(event, a).unwrap();
                        engine.wait_event(b, event).unwrap();
                        engine.destroy_event(event).unwrap();
                        let end = if round % 2 == 0 { PendingWork::Finish } else { PendingWork::Abandon };
                        engine.synchronize_stream(a).unwrap();
                        engine.destroy_stream(b, end).unwrap();
                        engine.destroy_stream(a, end).unwrap();
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 400);
        assert_eq!((engine.live_streams(), engine.live_events(), engine.hazard_count()), (0, 0, 0));
    }
}
