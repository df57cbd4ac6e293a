//! What the pool costs above its device: the same pairs of allocation and free over this backend and over host memory, by turns.
//!
//! The device is off the fast path, so both should take the same; a ratio far from 1 says that the pool asks this device for something
//! in steady state.

use std::sync::Arc;
use std::time::Instant;

use backend_ascend::AscendBackend;
use backend_host::{HostBackend, HostDeviceConfig};
use mempool_core::{Alignment, Bytes, Device, Pool, PoolConfig};
use serde_json::{Value, json};

use crate::output::say;

/// Pairs in one sample, so that reading the clock weighs little.
const PAIRS: u32 = 256;
const SAMPLES: usize = 201;

/// The pool over two devices, for one size.
#[derive(Debug)]
pub(crate) struct Overhead {
    size: Bytes,
    here_ns: f64,
    host_ns: f64,
}

impl Overhead {
    fn ratio(&self) -> f64 {
        self.here_ns / self.host_ns
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "size_bytes": self.size.get(),
            "pair_ns": self.here_ns,
            "pair_over_host_memory_ns": self.host_ns,
            "ratio": self.ratio(),
        })
    }
}

/// Measures and prints.
pub(crate) fn run(backend: &Arc<AscendBackend>) -> Result<Vec<Overhead>, String> {
    let host = HostBackend::open(HostDeviceConfig::new(1 << 30)).map_err(|error| error.to_string())?;
    let pool =
        |device: Arc<dyn Device>| Pool::new(device, PoolConfig::default()).map_err(|error| error.to_string());
    let (here, there) = (pool(Arc::clone(backend) as _)?, pool(Arc::new(host))?);
    say(format_args!(
        "\n{:<48} {:>12} {:>12} {:>8}",
        "the pool, a pair of allocation and free", "here", "host", "ratio"
    ));
    let mut all = Vec::new();
    for size in [Bytes::new(512), Bytes::kib(64), Bytes::mib(1), Bytes::mib(16)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            ours.push(pair_ns(&here, size)?);
            theirs.push(pair_ns(&there, size)?);
        }
        let overhead = Overhead { size, here_ns: median(ours), host_ns: median(theirs) };
        let (size, ratio) = (size.to_string(), overhead.ratio());
        say(format_args!(
            "  {size:<46} {:>9.1} ns {:>9.1} ns {ratio:>8.2}",
            overhead.here_ns, overhead.host_ns
        ));
        all.push(overhead);
    }
    Ok(all)
}

/// Nanoseconds of one pair, over [`PAIRS`] of them.
fn pair_ns(pool: &Pool, size: Bytes) -> Result<f64, String> {
    let start = Instant::now();
    for _ in 0..PAIRS {
        let block = pool.allocate_raw(size, Alignment::ONE).map_err(|error| error.to_string())?;
        pool.free(block.address).map_err(|error| error.to_string())?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(PAIRS))
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
