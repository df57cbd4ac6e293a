//! CANN's own stream-ordered pools (SOMA), as CANN 9.1 has them; in 9.2 they never use memory again before it is
//! trimmed.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{
    ACL_ERROR_RT_INTERNAL_ERROR, CannVersion, aclrtMemLocationType, aclrtMemPool, aclrtMemPoolAttr,
    aclrtMemPoolProps, aclrtStream,
};
use host_device::engine::{Engine, Operation, StreamId};

use super::memory::round_up;
use crate::call;
use crate::context::{Current, current};
use crate::device::{Device, GRANULE};
use crate::failure::Failure;
use crate::handles::address as pointer_to;
use crate::stream_pool::{Behind, StreamPool};

export! {
    /// A size of 0 is all memory of the device.
    fn aclrtMemPoolCreate(out pool: *mut aclrtMemPool, input properties: *const aclrtMemPoolProps) {
        pool.check("the pool")?;
        let properties = properties.get("the properties")?;
        let current = current()?;
        if properties.allocType.0 != 0
            || properties.location.type_ != aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE
            || properties.reserved != [0; 32]
        {
            return Err(Failure::invalid("only pools of pinned memory of a device, with all of `reserved` 0"));
        }
        if usize::try_from(properties.location.id).ok() != Some(current.device.index) {
            return Err(Failure::refused("the pool is to lie on another device than the current one"));
        }
        let total = current.runtime.settings.capacity;
        let size = match properties.maxSize as u64 {
            0 => total - total % GRANULE,
            size => round_up(size, GRANULE)?,
        };
        if size > total || size == 0 {
            return Err(Failure::refused(format!("a pool of {size} bytes on a device of {total}")));
        }
        let base = current.device.memory.reserve(size, 0)?;
        current.device.pools.lock().pools.insert(base, StreamPool::new(base, size));
        pool.set(pointer_to(base));
        Ok(())
    }

    /// Whatever is allocated from it.
    fn aclrtMemPoolDestroy(num pool: aclrtMemPool) {
        let current = current()?;
        let removed = current.device.pools.lock().pools.remove(&pool);
        removed.ok_or_else(|| unknown(pool))?.destroy(&current.device.memory)
    }

    fn aclrtMemPoolSetAttr(num pool: aclrtMemPool, val attribute: aclrtMemPoolAttr, num value: *mut c_void) {
        use aclrtMemPoolAttr as A;
        let length = attribute_bytes(attribute, value)?;
        let mut given = [0; 8];
        host_bytes!(value, length).read(0, given.get_mut(..length).unwrap_or_default());
        let given = u64::from_le_bytes(given);
        with_pool(pool, |pool| {
            let refused = |why: &str| Err(Failure::refused(format!("attribute {}: {why}", attribute.0)));
            match attribute {
                A::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => pool.switches.events = given != 0,
                A::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => pool.switches.opportunistic = given != 0,
                A::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => pool.switches.internal = given != 0,
                A::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD if given <= pool.size => pool.switches.threshold = given,
                A::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => return refused("it passes the size of the pool"),
                A::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH if given == 0 => pool.reserved_high = pool.reserved,
                A::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH if given == 0 => pool.busy_high = pool.busy,
                _ => return refused("it can only be read, or set to 0"),
            }
            Ok(())
        })
    }

    fn aclrtMemPoolGetAttr(num pool: aclrtMemPool, val attribute: aclrtMemPoolAttr, num value: *mut c_void) {
        use aclrtMemPoolAttr as A;
        let length = attribute_bytes(attribute, value)?;
        let answer = with_pool(pool, |pool| {
            Ok(match attribute {
                A::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => u64::from(pool.switches.events),
                A::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => u64::from(pool.switches.opportunistic),
                A::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => u64::from(pool.switches.internal),
                A::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => pool.switches.threshold,
                A::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT => pool.reserved,
                A::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH => pool.reserved_high,
                A::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT => pool.busy,
                _ => pool.busy_high,
            })
        })?;
        host_bytes!(value, length).write(0, answer.to_le_bytes().get(..length).unwrap_or_default());
        Ok(())
    }

    /// In granules of 2 MiB. A size of 0 succeeds and answers nothing; a full pool is 507000, as in CANN.
    fn aclrtMemPoolMallocAsync(
        out address: *mut *mut c_void,
        val size: usize,
        num pool: aclrtMemPool,
        num stream: aclrtStream,
    ) {
        address.check("the address")?;
        if stream == 0 {
            return Err(Failure::invalid("the stream is null: pools do not take the default stream so"));
        }
        let current = current()?;
        let stream = current.stream(stream)?;
        if size == 0 {
            return Ok(());
        }
        let size = round_up(size as u64, GRANULE).map_err(|e| e.with_code(acl_sys::ACL_ERROR_RT_PARAM_INVALID))?;
        let reuses = current.runtime.settings.version < CannVersion::V9_2;
        let engine = &current.device.engine;
        let taken = {
            let mut pools = current.device.pools.lock();
            let pools = &mut *pools;
            let pool = pools.pools.get_mut(&pool).ok_or_else(|| unknown(pool))?;
            pool.take(size, stream.id, engine, &pools.order, reuses)
        };
        let full = || Failure::new(ACL_ERROR_RT_INTERNAL_ERROR, format!("the pool has no room for {size} bytes"));
        let (base, behind) = taken.map_err(|e| e.with_code(ACL_ERROR_RT_INTERNAL_ERROR))?.ok_or_else(full)?;
        if let Behind::Stream(owner) = behind
            && let Err(failure) = order_behind(engine, stream.id, owner)
        {
            if let Some((pool, order)) = current.device.pools.lock().around(base) {
                pool.cache(base, order);
            }
            return Err(failure);
        }
        // Whether the pool was right to hand it out is for the engine to tell.
        engine.declare_block(base, size, stream.id, call::site())?;
        address.set(pointer_to(base));
        Ok(())
    }

    /// Memory of no pool is freed when the stream comes to it.
    fn aclrtMemPoolFreeAsync(num address: *mut c_void, num stream: aclrtStream) {
        if address == 0 || stream == 0 {
            return Err(Failure::invalid("the address or the stream is null"));
        }
        let current = current()?;
        let stream = current.stream(stream)?;
        if let Some((pool, order)) = current.device.pools.lock().around(address) {
            let size = pool.cache(address, order).ok_or_else(|| {
                Failure::refused(format!("{address:#x} is the start of no live allocation of its pool"))
            })?;
            return Ok(current.device.engine.retire_block(address, size, call::site().on(stream.id))?);
        }
        if !current.device.owns(address) {
            return Err(Failure::refused(format!("{address:#x} is no live memory of the device")));
        }
        let device = Arc::downgrade(&current.device);
        let runtime = Arc::downgrade(&current.runtime);
        let free = move || {
            if let (Some(device), Some(runtime)) = (device.upgrade(), runtime.upgrade())
                && let Err(failure) = device.free(address)
            {
                runtime.reports.add(format!("freeing on a stream failed: {failure}"));
            }
        };
        current.device.engine.enqueue(stream.id, Operation::callback(free).labelled(call::site_words()))?;
        Ok(())
    }

    fn aclrtMemPoolTrimTo(num pool: aclrtMemPool, val bytes_to_keep: usize) {
        let current = current()?;
        let keep = bytes_to_keep as u64;
        with_pool(pool, |pool| {
            if keep > pool.size || keep < pool.busy {
                return Err(Failure::refused(format!(
                    "{keep} bytes cannot be kept: {} are in use, the pool has {}",
                    pool.busy, pool.size
                )));
            }
            pool.trim(keep, &current.device.engine)
        })
    }
}

/// After a synchronisation: CANN 9.1 trims pools to their thresholds, CANN 9.2 does not.
pub(crate) fn trim(current: &Current) {
    if current.runtime.settings.version != CannVersion::V9_1 {
        return;
    }
    for pool in current.device.pools.lock().pools.values_mut() {
        // As in CANN, a trim that fails is no failure of the synchronisation.
        let _kept = pool.trim(pool.switches.threshold, &current.device.engine);
    }
}

/// When the device is full: CANN 9.1 takes from its pools all that nobody uses, CANN 9.2 nothing. Answers whether that was
/// anything.
pub(crate) fn trim_all(current: &Current) -> bool {
    if current.runtime.settings.version != CannVersion::V9_1 {
        return false;
    }
    let mut pools = current.device.pools.lock();
    pools.pools.values_mut().fold(false, |trimmed, pool| {
        let before = pool.reserved;
        // As in CANN, a trim that fails is no failure of the allocation.
        let _kept = pool.trim(pool.busy, &current.device.engine);
        trimmed || pool.reserved < before
    })
}

/// Frees memory of a pool at once; false when it belongs to none.
pub(crate) fn free_at_once(device: &Device, address: u64) -> Result<bool, Failure> {
    let mut pools = device.pools.lock();
    let Some((pool, _)) = pools.around(address) else { return Ok(false) };
    if pool.release_busy(address, &device.memory)? {
        return Ok(true);
    }
    Err(Failure::refused(format!("{address:#x} is the start of no live allocation of its pool")))
}

pub(crate) fn recorded(current: &Current, event: u64, stream: StreamId) {
    current.device.pools.lock().order.record(event, stream);
}

pub(crate) fn waited(current: &Current, event: u64, stream: StreamId) {
    current.device.pools.lock().order.wait(event, stream);
}

fn order_behind(engine: &Engine, stream: StreamId, owner: StreamId) -> Result<(), Failure> {
    let event = engine.create_event(0);
    let ordered = engine.record_event(event, owner).and_then(|()| engine.wait_event(stream, event));
    engine.destroy_event(event)?;
    // A stream that is gone has nothing left to wait for.
    match ordered {
        Err(error) if engine.pending_operations(owner).is_ok() => Err(error.into()),
        _ => Ok(()),
    }
}

fn with_pool<T>(handle: u64, work: impl FnOnce(&mut StreamPool) -> Result<T, Failure>) -> Result<T, Failure> {
    let current = current()?;
    let mut pools = current.device.pools.lock();
    work(pools.pools.get_mut(&handle).ok_or_else(|| unknown(handle))?)
}

fn unknown(pool: u64) -> Failure {
    Failure::refused(format!("no pool of the current device has the handle {pool:#x}"))
}

/// Bytes of an attribute behind C's pointer.
fn attribute_bytes(attribute: aclrtMemPoolAttr, value: u64) -> Result<usize, Failure> {
    if value == 0 {
        return Err(Failure::invalid("the value is null"));
    }
    match attribute.0 {
        1..=3 => Ok(4),
        4..=8 => Ok(8),
        _ => Err(Failure::refused(format!("attribute {} of a pool does not exist", attribute.0))),
    }
}
