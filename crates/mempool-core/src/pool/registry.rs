//! Which arena of this process belongs to which pool: asked only when a free is refused, to name the right owner.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::event::PoolId;
use crate::units::{Bytes, DeviceAddress};

struct Entry {
    bytes: Bytes,
    pool: PoolId,
    name: Arc<str>,
}

/// All arenas of all pools, by base. Devices of one process share one address space; where two simulated ones do not, the
/// later entry of two with the same base wins, which can only blur the text of an error.
static ARENAS: Mutex<BTreeMap<u64, Entry>> = Mutex::new(BTreeMap::new());

pub(super) fn add(base: DeviceAddress, bytes: Bytes, pool: PoolId, name: &Arc<str>) {
    ARENAS.lock().insert(base.get(), Entry { bytes, pool, name: Arc::clone(name) });
}

pub(super) fn remove(base: DeviceAddress, pool: PoolId) {
    let mut arenas = ARENAS.lock();
    if arenas.get(&base.get()).is_some_and(|entry| entry.pool == pool) {
        arenas.remove(&base.get());
    }
}

/// Name of the pool other than `asking` that has `address` in an arena.
pub(super) fn owner_of(address: DeviceAddress, asking: PoolId) -> Option<String> {
    let arenas = ARENAS.lock();
    let (base, entry) = arenas.range(..=address.get()).next_back()?;
    (address.get() - base < entry.bytes.get() && entry.pool != asking).then(|| entry.name.to_string())
}
