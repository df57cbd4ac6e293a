//! CANN's own stream-ordered pools of one device: segments of a reservation, in granules of 2 MiB, and who may use
//! them again.
//!
//! # Invariants
//!
//! * Segments of a pool lie side by side and cover it; free ones have no memory behind them, all others have.
//! * `reserved` is the bytes of the segments that are not free, `busy` of those that were not given back.

use std::collections::{BTreeMap, HashMap};

use host_device::engine::{Engine, StreamId};
use host_device::{HostDevice, PhysicalHandle};

use crate::device::GRANULE;
use crate::failure::Failure;

/// What a segment is to its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    /// Given back on a stream that had passed so many records.
    Cached(StreamId, u64),
    Busy(StreamId),
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    size: u64,
    used: Use,
}

/// Which work a reuse is ordered behind, beyond what the program did itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    /// The requesting stream has to wait for this one.
    Stream(StreamId),
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Switches {
    pub(crate) events: bool,
    pub(crate) opportunistic: bool,
    pub(crate) internal: bool,
    pub(crate) threshold: u64,
}

/// One pool.
#[derive(Debug)]
pub(crate) struct StreamPool {
    pub(crate) base: u64,
    pub(crate) size: u64,
    segments: BTreeMap<u64, Segment>,
    pages: HashMap<u64, PhysicalHandle>,
    pub(crate) switches: Switches,
    pub(crate) reserved: u64,
    pub(crate) reserved_high: u64,
    pub(crate) busy: u64,
    pub(crate) busy_high: u64,
}

/// The pools of a device, and what its events ordered.
#[derive(Debug, Default)]
pub(crate) struct StreamPools {
    pub(crate) pools: BTreeMap<u64, StreamPool>,
    pub(crate) order: EventOrder,
}

/// Which records a stream has waited for.
#[derive(Debug, Default)]
pub(crate) struct EventOrder {
    passed: HashMap<StreamId, u64>,
    recorded: HashMap<u64, (StreamId, u64)>,
    waited: HashMap<(StreamId, StreamId), u64>,
}

impl EventOrder {
    pub(crate) fn record(&mut self, event: u64, stream: StreamId) {
        let passed = self.passed.entry(stream).or_default();
        self.recorded.insert(event, (stream, *passed));
        *passed += 1;
    }

    pub(crate) fn wait(&mut self, event: u64, waiter: StreamId) {
        let Some(&(recorder, sequence)) = self.recorded.get(&event) else { return };
        let newest = self.waited.entry((waiter, recorder)).or_insert(sequence);
        *newest = (*newest).max(sequence);
    }

    /// As in CANN, what a stream or an event meant is forgotten with it.
    pub(crate) fn forget_stream(&mut self, stream: StreamId) {
        self.passed.remove(&stream);
        self.recorded.retain(|_, &mut (recorder, _)| recorder != stream);
        self.waited.retain(|&(waiter, recorder), _| waiter != stream && recorder != stream);
    }

    pub(crate) fn forget_event(&mut self, event: u64) {
        self.recorded.remove(&event);
    }

    fn passed(&self, stream: StreamId) -> u64 {
        self.passed.get(&stream).copied().unwrap_or(0)
    }

    fn is_behind(&self, waiter: StreamId, owner: StreamId, sequence: u64) -> bool {
        self.waited.get(&(waiter, owner)).is_some_and(|&waited| waited >= sequence)
    }
}

impl StreamPools {
    /// Pools, and pages of memory in them.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.pools.len(), self.pools.values().map(|pool| pool.pages.len()).sum())
    }

    /// The first address of the busy segment in which an address lies.
    pub(crate) fn busy_block(&self, address: u64) -> Option<u64> {
        let (_, pool) = self.pools.range(..=address).next_back()?;
        let (&base, segment) = pool.segments.range(..=address).next_back()?;
        let is_inside = address - base < segment.size;
        (is_inside && matches!(segment.used, Use::Busy(_))).then_some(base)
    }

    /// The pool in which an address lies.
    pub(crate) fn around(&mut self, address: u64) -> Option<(&mut StreamPool, &EventOrder)> {
        let (_, pool) = self.pools.range_mut(..=address).next_back()?;
        (address - pool.base < pool.size).then_some((pool, &self.order))
    }
}

fn is_idle(engine: &Engine, stream: StreamId) -> bool {
    engine.pending_operations(stream).unwrap_or(0) == 0
}

impl StreamPool {
    pub(crate) fn new(base: u64, size: u64) -> Self {
        Self {
            base,
            size,
            segments: BTreeMap::from([(base, Segment { size, used: Use::Free })]),
            pages: HashMap::new(),
            switches: Switches::default(),
            reserved: 0,
            reserved_high: 0,
            busy: 0,
            busy_high: 0,
        }
    }

    /// Takes a segment of `size` bytes, a multiple of the granule, by best fit. `None` when no room is left.
    pub(crate) fn take(
        &mut self,
        size: u64,
        stream: StreamId,
        engine: &Engine,
        order: &EventOrder,
        reuses: bool,
    ) -> Result<Option<(u64, Behind)>, Failure> {
        let cached = if reuses { self.cached_for(size, stream, engine, order) } else { None };
        let (base, behind) = if let Some(found) = cached {
            found
        } else {
            let free = self.segments.iter().filter(|(_, s)| s.used == Use::Free && s.size >= size);
            let Some((&base, _)) = free.min_by_key(|&(&base, s)| (s.size, base)) else { return Ok(None) };
            self.commit(base, size, engine.device())?;
            self.reserved += size;
            (base, Behind::Nothing)
        };
        self.split(base, size);
        self.set(base, Use::Busy(stream));
        self.busy += size;
        self.busy_high = self.busy_high.max(self.busy);
        self.reserved_high = self.reserved_high.max(self.reserved);
        Ok(Some((base, behind)))
    }

    /// A cached segment that the stream may have: its own, one it has waited for, or as the switches allow.
    fn cached_for(
        &self,
        size: u64,
        stream: StreamId,
        engine: &Engine,
        order: &EventOrder,
    ) -> Option<(u64, Behind)> {
        let best = |fits: &dyn Fn(StreamId, u64) -> bool| {
            let cached = self.segments.iter().filter_map(|(&base, segment)| match segment.used {
                Use::Cached(owner, sequence) if segment.size >= size && fits(owner, sequence) => {
                    Some((segment.size, base, owner))
                }
                _ => None,
            });
            cached.min()
        };
        let Switches { events, opportunistic, internal, .. } = self.switches;
        let plain = best(&|owner, _| owner == stream)
            .or_else(|| best(&|owner, sequence| events && order.is_behind(stream, owner, sequence)))
            .or_else(|| best(&|owner, _| opportunistic && is_idle(engine, owner)));
        if let Some((_, base, _)) = plain {
            return Some((base, Behind::Nothing));
        }
        best(&|_, _| internal).map(|(_, base, owner)| (base, Behind::Stream(owner)))
    }

    /// Gives the segment that starts at `base` back to the cache and answers its size; `None` when none starts there.
    ///
    /// As in CANN, it stays that of the stream it was allocated on, whatever stream it is freed on.
    pub(crate) fn cache(&mut self, base: u64, order: &EventOrder) -> Option<u64> {
        let Some(Segment { size, used: Use::Busy(owner) }) = self.segments.get(&base).copied() else {
            return None;
        };
        self.set(base, Use::Cached(owner, order.passed(owner)));
        self.busy -= size;
        self.merge(base);
        Some(size)
    }

    /// Frees the busy segment that starts at `base` at once.
    pub(crate) fn release_busy(&mut self, base: u64, device: &HostDevice) -> Result<bool, Failure> {
        let Some(Segment { size, used: Use::Busy(_) }) = self.segments.get(&base).copied() else {
            return Ok(false);
        };
        self.busy -= size;
        self.release(base, device)?;
        Ok(true)
    }

    /// Gives cached memory back to the device, smallest first, until `keep` bytes are reserved. What unfinished work
    /// may still use stays.
    pub(crate) fn trim(&mut self, keep: u64, engine: &Engine) -> Result<(), Failure> {
        while self.reserved > keep {
            let idle = self.segments.iter().filter_map(|(&base, segment)| match segment.used {
                Use::Cached(owner, _) if is_idle(engine, owner) => Some((segment.size, base)),
                _ => None,
            });
            let Some((size, base)) = idle.min() else { return Ok(()) };
            let wanted = (self.reserved - keep).div_ceil(GRANULE) * GRANULE;
            self.split(base, size.min(wanted));
            self.release(base, engine.device())?;
        }
        Ok(())
    }

    /// Gives everything back, whatever uses it.
    pub(crate) fn destroy(&mut self, device: &HostDevice) -> Result<(), Failure> {
        self.decommit(self.base, self.size, device)?;
        Ok(device.free_reservation(self.base)?)
    }

    fn set(&mut self, base: u64, used: Use) {
        if let Some(segment) = self.segments.get_mut(&base) {
            segment.used = used;
        }
    }

    /// Cuts the segment at `base` to `size`; the rest becomes one of its own.
    fn split(&mut self, base: u64, size: u64) {
        let Some(segment) = self.segments.get_mut(&base) else { return };
        let rest = Segment { size: segment.size - size, used: segment.used };
        segment.size = size;
        if rest.size > 0 {
            self.segments.insert(base + size, rest);
        }
    }

    /// Joins a segment with neighbours of the same use.
    fn merge(&mut self, base: u64) {
        let Some(segment) = self.segments.get(&base).copied() else { return };
        let mut whole = (base, segment.size);
        if let Some((&next, &after)) = self.segments.range(base + 1..).next()
            && after.used == segment.used
        {
            self.segments.remove(&next);
            whole.1 += after.size;
        }
        if let Some((&previous, &before)) = self.segments.range(..base).next_back()
            && before.used == segment.used
        {
            self.segments.remove(&base);
            whole = (previous, whole.1 + before.size);
        }
        self.segments.insert(whole.0, Segment { size: whole.1, used: segment.used });
    }

    fn release(&mut self, base: u64, device: &HostDevice) -> Result<(), Failure> {
        let size = self.segments.get(&base).map_or(0, |segment| segment.size);
        self.decommit(base, size, device)?;
        self.reserved -= size;
        self.set(base, Use::Free);
        self.merge(base);
        Ok(())
    }

    /// Puts memory behind a range, all of it or none.
    fn commit(&mut self, base: u64, size: u64, device: &HostDevice) -> Result<(), Failure> {
        for address in (0..size / GRANULE).map(|index| base + index * GRANULE) {
            let page = device.create_physical(GRANULE);
            let mapped = page.and_then(|page| device.map(address, page).map(|()| page));
            match mapped {
                Ok(page) => {
                    self.pages.insert(address, page);
                }
                Err(error) => {
                    self.decommit(base, size, device)?;
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    fn decommit(&mut self, base: u64, size: u64, device: &HostDevice) -> Result<(), Failure> {
        let pages = self.pages.extract_if(|&address, _| address >= base && address - base < size);
        for (address, page) in pages.collect::<Vec<_>>() {
            device.unmap(address)?;
            device.release_physical(page)?;
        }
        Ok(())
    }
}
