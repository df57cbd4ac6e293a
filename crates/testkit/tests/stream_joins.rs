//! Free memory that streams have passed is joined again with what it touches, in whatever order they pass it.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_joins {
    use std::sync::Arc;

    use backend_host::CallKind;
    use mempool_core::{Alignment, Bytes, PoolConfig, StreamReuse};
    use parking_lot::Mutex;

    use super::stream_stage::Stage;

    const NO_WAITS: StreamReuse =
        StreamReuse { internal_dependencies: false, opportunistic: true, event_dependencies: true };

    fn tight() -> mempool_core::PoolConfigBuilder {
        PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2)).stream_reuse(NO_WAITS)
    }

    #[test]
    fn what_an_aligned_block_leaves_of_memory_that_was_passed_is_joined_with_its_neighbour() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [s, t, u] = stage.add_streams();
        let _wall = stage.allocate(Bytes::kib(512), Some(u)).unwrap();
        let passed_last = stage.allocate(Bytes::mib(1), Some(s)).unwrap();
        let neutral = stage.allocate(Bytes::kib(512), Some(t)).unwrap();
        stage.work(&passed_last, s, 10);
        stage.free(&passed_last, Some(s));
        stage.end_idle_stream(t);
        stage.free(&neutral, Some(t));
        stage.pool.end_stream(s).unwrap();
        stage.advance(10);
        // Between the moment when the pool knows that the event has passed and that when it joins what that allows.
        let (beside, taken) = (stage.clone(), Arc::new(Mutex::new(None)));
        let keeps = Arc::clone(&taken);
        stage.before_next(CallKind::ReleaseEvent, move || {
            let alignment = Alignment::new(1 << 20).unwrap();
            *keeps.lock() = beside.allocate_aligned(Bytes::kib(256), alignment, Some(u)).ok();
        });
        assert!(stage.pool.reap());
        let aligned = taken.lock().take().unwrap();
        stage.pool.validate().unwrap();
        let rest = stage.allocate(Bytes::kib(256 + 512), Some(u)).unwrap();
        assert_eq!(rest.address.get(), aligned.address.get() + aligned.bytes.get());
        stage.assert_clean();
    }

    #[test]
    fn small_objects_of_a_stream_that_ended_with_all_work_done_are_everybodys_at_once() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let s = stage.add_stream();
        let small: Vec<_> = (0..).map_while(|_| stage.allocate(Bytes::new(700), Some(s)).ok()).collect();
        for block in &small {
            stage.work(block, s, 1);
            stage.free(block, Some(s));
        }
        stage.end_idle_stream(s);
        assert_eq!(stage.pool.trim().unwrap(), Bytes::mib(2));
        stage.assert_clean();
    }

    /// A limit of which little is in use, so that streams keep what they free apart.
    fn plentiful(limit: Bytes) -> mempool_core::PoolConfigBuilder {
        PoolConfig::builder().max_size(limit).arena_size(limit)
    }

    #[test]
    fn a_request_for_more_than_any_stream_has_freed_is_served_from_what_all_have_freed_side_by_side() {
        let stage = Stage::new(Bytes::gib(1), plentiful(Bytes::mib(8)));
        let [s, t, u] = stage.add_streams();
        let blocks: Vec<_> = (0..8)
            .map(|index| {
                let stream = if index % 2 == 0 { s } else { t };
                (stage.allocate(Bytes::mib(1), Some(stream)).unwrap(), stream)
            })
            .collect();
        for (block, stream) in &blocks {
            stage.work(block, *stream, 10);
            stage.free(block, Some(*stream));
        }
        assert!(stage.pool.status().free_blocks > 1, "the last ones were freed when little was in use");
        let all = stage.allocate(Bytes::mib(8), Some(u)).unwrap();
        stage.work(&all, u, 1);
        assert_eq!(stage.engine.now().as_micros(), 0, "u waits on the device, not the host");
        stage.assert_clean();
    }

    #[test]
    fn with_little_in_use_again_a_free_does_not_make_others_wait_for_the_memory_beside_it() {
        let stage = Stage::new(Bytes::gib(1), plentiful(Bytes::mib(64)));
        let [s, t] = stage.add_streams();
        let most = stage.allocate(Bytes::mib(40), Some(s)).unwrap();
        let more = stage.allocate(Bytes::mib(1), Some(s)).unwrap();
        for block in [&most, &more] {
            stage.free(block, Some(s));
        }
        let mark = stage.pool.mark(s).unwrap();
        stage.pool.synchronized(mark).unwrap();
        let small = stage.allocate(Bytes::mib(1), Some(s)).unwrap();
        stage.work(&small, s, 10);
        stage.free(&small, Some(s));
        let beside = stage.allocate(Bytes::mib(60), Some(t)).unwrap();
        stage.work(&beside, t, 1);
        assert_eq!(stage.pool.status().counters.waits, 0);
        stage.assert_clean();
    }
}
