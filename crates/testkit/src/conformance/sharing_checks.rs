//! Checks of a pool that several threads use, of a device that several pools use, and of the end of a pool.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use mempool_core::{Alignment, Bytes, Pool, PoolConfigBuilder};

use super::{CheckResult, MakeDevice, Subject, served, times};
use crate::violation::{Violation, ensure};

const THREADS: u64 = 4;
const STEPS: u64 = 300;

/// Allocates and frees; every block holds at most an eighth of `most`, so that all threads together fit.
fn churn(pool: &Pool, seed: u64, most: Bytes) -> CheckResult {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut blocks = Vec::new();
    for _ in 0..STEPS {
        if blocks.len() < 4 && random.bool() {
            let bytes = Bytes::new(random.u64(1..=most.get() / 8));
            blocks.push(served("allocate", pool.allocate(bytes))?);
        } else if !blocks.is_empty() {
            drop(blocks.swap_remove(random.usize(..blocks.len())));
        }
    }
    Ok(())
}

/// Runs `work` on all threads and gives the first violation.
fn on_threads(work: impl Fn(u64) -> CheckResult + Sync) -> CheckResult {
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => Err(Violation::new("threads", "a thread panicked")),
        })
    })
}

pub(super) fn threads_share_a_pool(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    on_threads(|number| churn(&subject.pool, number, subject.unit))?;
    let status = subject.pool.status();
    ensure!(status.used.is_zero() && status.blocks == 0, "threads", "something is live: {status:?}");
    served("trim", subject.pool.trim())?;
    subject.end()
}

pub(super) fn a_thread_may_free_what_another_allocated(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, |config, _| config)?;
    let (sender, receiver) = mpsc::sync_channel(8);
    let pool = &subject.pool;
    thread::scope(|scope| {
        let freeing = scope.spawn(move || {
            receiver.into_iter().try_for_each(|address| served("free", pool.free(address)).map(drop))
        });
        for number in 0..STEPS {
            let bytes = Bytes::new(1 + number * 997 % 100_000);
            let raw = served("allocate", pool.allocate_raw(bytes, Alignment::ONE))?;
            if sender.send(raw.address).is_err() {
                break;
            }
        }
        drop(sender);
        freeing.join().unwrap_or_else(|_| Err(Violation::new("threads", "a thread panicked")))
    })?;
    ensure!(pool.status().blocks == 0, "threads", "something is live: {:?}", pool.status());
    subject.end()
}

pub(super) fn pools_share_a_device(make: MakeDevice<'_>) -> CheckResult {
    let device = make();
    let before = served("memory_info", device.memory_info())?;
    on_threads(|number| {
        let subject = Subject::new(&|| Arc::clone(&device), |config, unit| config.max_size(times(unit, 8)))?;
        churn(&subject.pool, number, subject.unit)?;
        subject.end()
    })?;
    let after = served("memory_info", device.memory_info())?;
    ensure!(before == after, "memory_info", "{before:?} became {after:?} though nothing is held");
    Ok(())
}

pub(super) fn the_last_handle_gives_everything_back(make: MakeDevice<'_>) -> CheckResult {
    let subject = Subject::new(make, PoolConfigBuilder::initial_size)?;
    let other = subject.pool.clone();
    for bytes in [Bytes::new(1), subject.unit, times(subject.unit, 9)] {
        let _lives_on = served("allocate", subject.pool.allocate_raw(bytes, Alignment::ONE))?;
    }
    let Subject { device, pool, .. } = subject;
    drop(pool);
    ensure!(device.live_arenas() > 1, "drop", "a clone holds the pool, but arenas went");
    drop(other);
    device.check_all_returned()
}

pub(super) fn a_block_keeps_its_pool_alive(make: MakeDevice<'_>) -> CheckResult {
    let Subject { device, pool, unit } = Subject::new(make, |config, _| config)?;
    let block = served("allocate", pool.allocate(unit))?;
    drop(pool);
    ensure!(device.live_arenas() == 1, "drop", "{} arenas are live under a live block", device.live_arenas());
    drop(block);
    device.check_all_returned()
}
