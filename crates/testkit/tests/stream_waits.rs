//! How streams are made to wait for one another, on the device: only when nothing else serves, and no more often than they must.

#[cfg(test)]
mod stream_stage;

#[cfg(test)]
mod stream_waits {
    use mempool_core::{Bytes, FitPolicy, PoolConfig, RawAllocation, StreamId};

    use super::stream_stage::Stage;

    const LARGE: Bytes = Bytes::mib(1);

    /// A pool that may hold two large blocks and no more.
    fn tight() -> mempool_core::PoolConfigBuilder {
        PoolConfig::builder().max_size(Bytes::mib(2)).arena_size(Bytes::mib(2))
    }

    /// Fills the pool with two blocks on `first`, frees both behind work there, and does so again with one of them on `second`. Answers which.
    fn free_on_one_and_reuse_on_another(stage: &Stage, first: StreamId, second: StreamId) -> RawAllocation {
        for half in [(); 2].map(|()| stage.allocate(LARGE, Some(first)).unwrap()) {
            stage.work(&half, first, 10);
            stage.free(&half, Some(first));
        }
        let reused = stage.allocate(LARGE, Some(second)).unwrap();
        stage.work(&reused, second, 10);
        stage.free(&reused, Some(second));
        reused
    }

    #[test]
    fn when_nothing_else_serves_the_stream_is_made_to_wait_instead_of_failing() {
        for policy in FitPolicy::ALL {
            let stage = Stage::new(Bytes::gib(1), tight().policy(policy));
            let [s, t] = stage.add_streams();
            let a = stage.allocate(Bytes::mib(2), Some(s)).unwrap();
            stage.work(&a, s, 10);
            stage.free(&a, Some(s));
            let b = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
            stage.work(&b, t, 1);
            assert_eq!(stage.pool.status().counters.waits, 1);
            assert_eq!(stage.engine.now().as_micros(), 0, "the host did not wait");
            stage.assert_clean();
        }
    }

    #[test]
    fn one_wait_covers_all_that_was_freed_before_and_what_the_other_stream_had_waited_for() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [r, s, t] = stage.add_streams();
        let quarters = [(); 4].map(|()| stage.allocate(Bytes::kib(512), Some(r)).unwrap());
        for quarter in &quarters {
            stage.work(quarter, r, 10);
            stage.free(quarter, Some(r));
        }
        let on_s = [(); 4].map(|()| stage.allocate(Bytes::kib(512), Some(s)).unwrap());
        assert_eq!(stage.pool.status().counters.waits, 1, "s waits for r once");
        for block in &on_s[..2] {
            stage.work(block, s, 10);
            stage.free(block, Some(s));
        }
        let on_t = [(); 2].map(|()| stage.allocate(Bytes::kib(512), Some(t)).unwrap());
        for block in &on_t {
            stage.work(block, t, 1);
        }
        assert_eq!(stage.pool.status().counters.waits, 2, "t waits for s, and so for r");
        stage.assert_clean();
    }

    #[test]
    fn a_stream_that_waited_need_not_wait_for_what_the_other_one_had_waited_for() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [r, s, t] = stage.add_streams();
        let on_s = free_on_one_and_reuse_on_another(&stage, r, s);
        let waits = |stage: &Stage| stage.pool.status().counters.waits;
        assert_eq!(waits(&stage), 1, "s waits for r");
        let first = stage.allocate(LARGE, Some(t)).unwrap();
        assert_eq!((first.address, waits(&stage)), (on_s.address, 2), "t waits for s");
        let second = stage.allocate(LARGE, Some(t)).unwrap();
        assert_eq!(waits(&stage), 2, "what r freed is pending, but s had waited for it");
        for block in [&first, &second] {
            stage.work(block, t, 1);
        }
        stage.assert_clean();
    }

    #[test]
    fn one_wait_serves_for_all_that_is_pending_on_a_block_where_it_can() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [r, s, t] = stage.add_streams();
        let _ = free_on_one_and_reuse_on_another(&stage, r, s);
        let both = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
        stage.work(&both, t, 1);
        assert_eq!(stage.pool.status().counters.waits, 2, "s for r, and t for s, which had waited for r");
        stage.assert_clean();
    }

    #[test]
    fn near_the_limit_what_two_streams_freed_serves_one_block_without_the_host_waiting() {
        let stage = Stage::new(Bytes::gib(1), tight());
        let [r, s, t] = stage.add_streams();
        let halves = [r, s].map(|stream| (stage.allocate(LARGE, Some(stream)).unwrap(), stream));
        for (half, stream) in &halves {
            stage.work(half, *stream, 10);
            stage.free(half, Some(*stream));
        }
        let whole = stage.allocate(Bytes::mib(2), Some(t)).unwrap();
        stage.work(&whole, t, 1);
        assert_eq!(stage.engine.now().as_micros(), 0);
        stage.assert_clean();
    }
}
