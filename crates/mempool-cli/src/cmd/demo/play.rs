//! The scene played on the pool, every block stamped when it is allocated and checked before it is freed.

use std::collections::HashMap;

use anyhow::Context;
use mempool_core::{Alignment, Bytes, Pool, PoolStatus, RawAllocation};
use mempool_trace::{Action, TraceRow};

use super::scene::Scene;
use super::stamps::Stamps;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// The pool when the most was live.
    pub(super) at_peak: PoolStatus,
    /// Bytes of all blocks, as requested.
    pub(super) bytes: Bytes,
    pub(super) failures: u64,
    /// Number of the event, and what the pool said.
    pub(super) first_failure: Option<(usize, String)>,
}

/// Plays all events. An allocation that fails is left out, with its free.
pub(super) fn play(scene: &Scene, pool: &Pool, stamps: &mut Stamps<'_>) -> anyhow::Result<Played> {
    let mut played = Played::default();
    let mut live: HashMap<u64, RawAllocation> = HashMap::new();
    for (event, row) in (1..).zip(&scene.rows) {
        match row.action {
            Action::Allocate if row.size > 0 => match pool.allocate_raw(Bytes::new(row.size), Alignment::ONE)
            {
                Ok(block) => {
                    stamps.write(block).context("cannot write a block")?;
                    played.bytes = played.bytes.saturating_add(block.requested);
                    live.insert(row.pointer, block);
                }
                Err(error) => {
                    played.failures += 1;
                    played.first_failure.get_or_insert_with(|| (event, error.to_string()));
                }
            },
            Action::Free => free(row, &mut live, pool, stamps)?,
            Action::Allocate | Action::AllocateFailure => {}
        }
        if event == scene.peak_event {
            played.at_peak = pool.status();
        }
    }
    Ok(played)
}

fn free(
    row: &TraceRow,
    live: &mut HashMap<u64, RawAllocation>,
    pool: &Pool,
    stamps: &mut Stamps<'_>,
) -> anyhow::Result<()> {
    // Nothing is known of a block whose allocation failed.
    if let Some(block) = live.remove(&row.pointer) {
        stamps.check(block).context("cannot read a block")?;
        pool.free(block.address).context("the pool refused a free, which is a fault of the pool")?;
    }
    Ok(())
}
