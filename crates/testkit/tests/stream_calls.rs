//! What comes in between the device calls that stream order needs: other threads, the end of a stream, failures and panics. The pool
//! holds no lock while it calls, so all of it can.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_calls {
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::Arc;
    use std::thread;

    use backend_host::{CallKind, Fault, HostDeviceConfig};
    use host_device::engine::PendingWork;
    use mempool_core::{
        AllocError, Bytes, Pool, PoolConfig, RawAllocation, StreamError, StreamId, StreamReuse,
    };
    use parking_lot::Mutex;
    use testkit::event_log::EventLog;

    use super::stream_stage::Stage;

    const HALF: Bytes = Bytes::mib(1);

    /// A pool that may hold two halves and no more.
    fn tight() -> mempool_core::PoolConfigBuilder {
        PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2))
    }

    /// Ends a stream with work of 10 µs pending on both halves and two events: one before that work, and the last.
    fn end_with_two_events(stage: &Stage) {
        let [s, other] = stage.add_streams();
        for _ in 0..64 {
            let block = stage.allocate(HALF, Some(s)).unwrap();
            stage.free(&block, Some(s));
        }
        assert_eq!(stage.pool.status().counters.events, 1, "64 frees are followed by an event");
        let halves = [(); 2].map(|()| stage.allocate(HALF, Some(s)).unwrap());
        for half in &halves {
            stage.work(half, s, 10);
            stage.free(half, Some(s));
        }
        stage.pool.end_stream(s).unwrap();
        stage.pool.end_synchronized_stream(other).unwrap();
    }

    #[test]
    fn who_waits_for_an_ended_stream_waits_for_its_last_event_also_while_another_thread_has_that_in_hand() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [t, u] = stage.add_streams();
        end_with_two_events(&stage);
        let taken_beside: Arc<Mutex<Option<Result<RawAllocation, AllocError>>>> = Arc::default();
        {
            let (beside, taken_beside) = (stage.clone(), Arc::clone(&taken_beside));
            stage.before_next(CallKind::WaitEvent, move || {
                let taken = thread::spawn(move || {
                    let taken = beside.allocate(HALF, Some(u));
                    if let Ok(block) = &taken {
                        beside.work(block, u, 1);
                    }
                    taken
                });
                *taken_beside.lock() = Some(taken.join().unwrap());
            });
        }
        let block = stage.allocate(HALF, Some(t)).unwrap();
        stage.work(&block, t, 1);
        assert!(taken_beside.lock().take().is_some(), "the other thread came in between");
        stage.assert_clean();
    }

    #[test]
    fn a_stream_that_ends_while_it_is_made_to_wait_gets_no_block_and_leaves_its_successor_nothing() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t] = stage.add_streams();
        let whole = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&whole, s, 10);
        stage.free(&whole, Some(s));
        let successor: Arc<Mutex<Option<StreamId>>> = Arc::default();
        {
            let (beside, successor) = (stage.clone(), Arc::clone(&successor));
            stage.before_next(CallKind::WaitEvent, move || {
                beside.pool.end_synchronized_stream(t).unwrap();
                *successor.lock() = Some(beside.add_stream());
            });
        }
        let refused = stage.allocate(Bytes::mib(2), Some(t));
        assert!(
            matches!(refused, Err(AllocError::Stream(StreamError::Ended { stream })) if stream == t),
            "{refused:?}"
        );
        let u = successor.lock().take().unwrap();
        let block = stage.allocate(Bytes::mib(2), Some(u)).unwrap();
        stage.work(&block, u, 1);
        stage.assert_clean();
    }

    #[test]
    fn a_device_that_panics_in_a_wait_costs_no_memory() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let t = stage.add_stream();
        end_with_two_events(&stage);
        stage.before_next(CallKind::WaitEvent, || panic!("the driver"));
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| stage.allocate(HALF, Some(t))));
        assert!(panicked.is_err());
        stage.pool.validate().unwrap();
        assert_eq!(stage.pool.status().used, Bytes::ZERO);
        assert_eq!(
            stage.pool.trim().unwrap(),
            Bytes::mib(2),
            "its event tells when the memory is everybody's"
        );
        stage.assert_clean();
    }

    #[test]
    fn who_waits_for_all_streams_waits_for_the_event_that_another_thread_is_asking_about() {
        let stage = Stage::new(Bytes::gib(1), tight());
        end_with_two_events(&stage);
        // The second event is asked about when the first one has passed; meanwhile none is left to see.
        stage.before_next(CallKind::IsComplete, || ());
        let trimmed: Arc<Mutex<Option<thread::JoinHandle<Bytes>>>> = Arc::default();
        {
            let (beside, trimmed) = (stage.clone(), Arc::clone(&trimmed));
            stage.before_next(CallKind::IsComplete, move || {
                let (begun, has_begun) = std::sync::mpsc::channel();
                let thread = thread::spawn(move || {
                    begun.send(()).unwrap();
                    beside.pool.trim().unwrap()
                });
                has_begun.recv().unwrap();
                // Long enough for it to come back, if it does not wait.
                for _ in 0..20_000 {
                    if thread.is_finished() {
                        break;
                    }
                    thread::yield_now();
                }
                *trimmed.lock() = Some(thread);
            });
        }
        stage.advance(0);
        stage.pool.reap();
        let thread = trimmed.lock().take().unwrap();
        assert_eq!(thread.join().unwrap(), Bytes::mib(2));
        stage.assert_clean();
    }

    #[test]
    fn events_are_numbered_without_a_gap_also_where_a_wait_fails() {
        let log = Arc::new(EventLog::default());
        let stage = Stage::over(HostDeviceConfig::new(1 << 30), |device| {
            Pool::with_recorder(device, tight().build().unwrap(), Arc::clone(&log) as _).unwrap()
        });
        let [s, t] = stage.add_streams();
        for _ in 0..3 {
            let block = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
            stage.work(&block, s, 10);
            stage.free(&block, Some(s));
            stage.faults.fail_nth(CallKind::WaitEvent, 1, Fault::Other);
            let block = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
            stage.work(&block, t, 10);
            stage.free(&block, Some(t));
        }
        let replayed = log.replay().unwrap();
        assert_eq!((replayed.counts.allocated, replayed.counts.freed), (6, 6));
        assert!(stage.faults.injected(CallKind::WaitEvent) > 0);
        stage.assert_clean();
    }

    #[test]
    fn a_stream_whose_last_event_cannot_be_recorded_has_not_ended_and_a_second_try_ends_it() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t] = stage.add_streams();
        let first = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&first, s, 10);
        stage.faults.fail_nth(CallKind::RecordEvent, 1, Fault::Other);
        assert!(matches!(stage.try_end_stream(s), Err(StreamError::Device { stream, .. }) if stream == s));
        assert_eq!(stage.pool.status().counters.events, 0, "none was recorded");
        stage.free(&first, Some(s));
        let second = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&second, s, 10);
        stage.free(&second, Some(s));
        stage.try_end_stream(s).unwrap();
        let third = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
        stage.work(&third, t, 1);
        stage.assert_clean();
    }

    #[test]
    fn an_event_that_cannot_be_recorded_for_a_wait_is_not_counted() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&a, s, 10);
        stage.free(&a, Some(s));
        stage.faults.fail_from(CallKind::RecordEvent, 1, Fault::Other);
        assert!(stage.allocate(Bytes::mib(2), Some(t)).is_err());
        assert_eq!(stage.pool.status().counters.events, 0);
        stage.assert_clean();
    }
    #[test]
    fn an_event_that_cannot_be_asked_about_has_not_passed() {
        let no_waits = StreamReuse { internal_dependencies: false, ..StreamReuse::default() };
        let stage = Stage::new(Bytes::gib(1), tight().stream_reuse(no_waits));
        let [s, t] = stage.add_streams();
        let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&a, s, 10);
        stage.free(&a, Some(s));
        stage.pool.end_stream(s).unwrap();
        stage.faults.fail_nth(CallKind::IsComplete, 1, Fault::Other);
        assert!(!stage.pool.reap(), "nothing is known about the event");
        assert!(stage.allocate(Bytes::mib(2), Some(t)).is_err());
        stage.advance(10);
        assert!(stage.pool.reap(), "it is asked about again");
        assert_eq!(stage.allocate(Bytes::mib(2), Some(t)).unwrap().address, a.address);
        stage.assert_clean();
    }
    #[test]
    fn a_stream_that_ends_while_all_are_waited_for_is_in_nobodys_way() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let s = stage.add_stream();
        let whole = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
        stage.work(&whole, s, 10);
        stage.free(&whole, Some(s));
        let beside = stage.clone();
        stage.before_next(CallKind::RecordEvent, move || beside.end_stream(s));
        let again = stage.allocate(HALF, None).unwrap();
        assert_eq!(again.address, whole.address);
        let t = stage.add_stream();
        let beside = stage.clone();
        stage.before_next(CallKind::RecordEvent, move || beside.end_stream(t));
        let refused = stage.allocate(Bytes::mib(2), None);
        assert!(matches!(refused, Err(AllocError::OutOfMemory(_))), "no device is to blame: {refused:?}");
        stage.assert_clean();
    }

    #[test]
    fn a_stream_that_is_gone_without_a_word_is_not_in_the_way_of_others_memory() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [gone, s] = stage.add_streams();
        let quarter = stage.allocate(Bytes::kib(512), Some(gone)).unwrap();
        // Free runs that touch would be joined, and their streams with them.
        let _between = stage.allocate(Bytes::kib(512), Some(s)).unwrap();
        let half = stage.allocate(HALF, Some(s)).unwrap();
        for (block, stream) in [(&quarter, gone), (&half, s)] {
            stage.work(block, stream, 10);
            stage.free(block, Some(stream));
        }
        stage.engine.destroy_stream(stage.on_device(gone), PendingWork::Finish).unwrap();
        let again = stage.allocate(HALF, None).unwrap();
        assert_eq!(again.address, half.address);
        let refused = stage.allocate(quarter.requested, None);
        assert!(
            matches!(refused, Err(AllocError::Device { .. })),
            "nothing tells when it is free: {refused:?}"
        );
        stage.pool.end_synchronized_stream(gone).unwrap();
        assert_eq!(stage.allocate(quarter.requested, None).unwrap().address, quarter.address);
        stage.assert_clean();
    }
    #[test]
    fn a_pool_that_ends_gives_its_events_back_also_when_it_cannot_wait_for_them() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t] = stage.add_streams();
        for stream in [s, t] {
            let half = stage.allocate(HALF, Some(stream)).unwrap();
            stage.work(&half, stream, 10);
            stage.free(&half, Some(stream));
        }
        stage.pool.end_stream(s).unwrap();
        stage.faults.fail_from(CallKind::SynchronizeEvent, 1, Fault::Other);
        let Stage { engine, pool, .. } = stage;
        drop(pool);
        assert_eq!(engine.live_events(), 0);
    }
}
