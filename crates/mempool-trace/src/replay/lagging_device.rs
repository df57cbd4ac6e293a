//! A device of addresses whose streams run behind the replay by a number of operations, with a race detector of its own.
//!
//! Time is counted in operations of the trace. What a stream is given at operation t is done at t plus the lag, and not before
//! what it was given earlier, nor before what it was made to wait for.
//!
//! The detector knows nothing of the pool's books. Each operation on a stream is a piece of work; *who is ordered after whom* follows
//! from the events and waits that the pool really asked for. A block that is handed out must be free of work by others that is neither
//! done nor ordered before the stream that gets it.

use std::collections::BTreeMap;

use mempool_core::{
    AddressDevice, Bytes, Device, DeviceAddress, DeviceError, DeviceEvent, DeviceProperties, DeviceStream,
    MemoryInfo, PhysicalMemory, StreamOrder, VirtualMemory,
};
use parking_lot::Mutex;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct LaggingDevice {
    memory: AddressDevice,
    lag: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Operations of the trace so far.
    now: u64,
    streams: Vec<Stream>,
    events: BTreeMap<u64, Event>,
    last_event: u64,
    /// Who used memory last and freed it, by first byte.
    formers: BTreeMap<u64, Former>,
    races: u64,
    first_race: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    /// Pieces of work given so far.
    given: u64,
    /// When the last of them is done.
    done_at: u64,
    /// By stream: pieces of its work that come before what this one is given from now on.
    after: Vec<u64>,
}

#[derive(Debug)]
struct Event {
    done_at: u64,
    stream: usize,
    given: u64,
    after: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Former {
    end: u64,
    stream: usize,
    /// The last piece of work of that stream that may touch the memory, and when it is done.
    given: u64,
    done_at: u64,
}

impl LaggingDevice {
    pub(super) fn new(capacity: Bytes, streams: usize, lag: u64) -> Self {
        let state = State { streams: vec![Stream::default(); streams], ..State::default() };
        Self { memory: AddressDevice::new(capacity), lag, state: Mutex::new(state) }
    }

    /// How often memory was handed out too early, and the first time in words.
    pub(super) fn races(&self) -> (u64, Option<String>) {
        let state = self.state.lock();
        (state.races, state.first_race.clone())
    }

    /// The name of stream `index` for the pool.
    pub(super) fn stream(index: u32) -> DeviceStream {
        DeviceStream::new(u64::from(index))
    }

    /// No memory is there any more.
    fn took_memory_away(&self, base: DeviceAddress, size: Bytes, what: &str) {
        let mut state = self.state.lock();
        let now = state.now;
        let pending = state.take_formers(base.get(), base.get() + size.get());
        if let Some((first, former)) = pending.into_iter().find(|(_, former)| former.done_at > now) {
            state.races += 1;
            state.first_race.get_or_insert_with(|| {
                format!(
                    "{what} at {base} went back while work of stream {} on {first:#x} runs",
                    former.stream
                )
            });
        }
    }

    /// A block was handed out for `stream`, which is given work that uses it.
    pub(super) fn handed_out(&self, address: DeviceAddress, bytes: Bytes, stream: u32) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let (start, stream) = (address.get(), stream as usize);
        let end = start + bytes.get();
        for (first, former) in state.take_formers(start, end) {
            let after = state.streams[stream].after.get(former.stream).copied().unwrap_or(0);
            let ordered = former.stream == stream || former.given <= after || former.done_at <= state.now;
            if !ordered {
                state.races += 1;
                state.first_race.get_or_insert_with(|| {
                    format!(
                        "{bytes} at {address} were handed to stream {stream} at operation {}, while work {} of stream {} on {:#x} \
                         runs until operation {}",
                        state.now, former.given, former.stream, first, former.done_at
                    )
                });
            }
        }
        state.give_work(stream, self.lag);
    }

    /// A block is freed on `stream`, whose last work on it was given before. It was allocated on `allocated_on`, after which the program
    /// made the stream come.
    pub(super) fn freed(&self, address: DeviceAddress, bytes: Bytes, allocated_on: u32, stream: u32) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let (start, stream, allocated_on) = (address.get(), stream as usize, allocated_on as usize);
        if stream != allocated_on {
            let first = state.streams[allocated_on].clone();
            state.come_after(stream, allocated_on, first.given, first.done_at, &first.after);
        }
        state.give_work(stream, self.lag);
        let Stream { given, done_at, .. } = state.streams[stream];
        state.formers.insert(start, Former { end: start + bytes.get(), stream, given, done_at });
    }
}

impl State {
    fn give_work(&mut self, stream: usize, lag: u64) {
        self.now += 1;
        let done_at = self.now + lag;
        let stream = &mut self.streams[stream];
        stream.given += 1;
        stream.done_at = stream.done_at.max(done_at);
    }

    fn come_after(&mut self, stream: usize, other: usize, given: u64, done_at: u64, inherited: &[u64]) {
        let count = self.streams.len();
        let own = &mut self.streams[stream];
        own.after.resize(count, 0);
        for (own, &theirs) in own.after.iter_mut().zip(inherited) {
            *own = (*own).max(theirs);
        }
        own.after[other] = own.after[other].max(given);
        own.done_at = own.done_at.max(done_at);
    }

    /// Takes out what is known of former owners between two addresses; what lies beyond stays.
    fn take_formers(&mut self, start: u64, end: u64) -> Vec<(u64, Former)> {
        let before = self.formers.range(..start).next_back().filter(|(_, former)| former.end > start);
        let firsts: Vec<u64> =
            before.into_iter().chain(self.formers.range(start..end)).map(|(&first, _)| first).collect();
        let mut taken = Vec::with_capacity(firsts.len());
        for first in firsts {
            let Some(former) = self.formers.remove(&first) else { continue };
            if first < start {
                self.formers.insert(first, Former { end: start, ..former.clone() });
            }
            if former.end > end {
                self.formers.insert(end, former.clone());
            }
            taken.push((first, former));
        }
        taken
    }

    fn event(&self, event: DeviceEvent) -> Result<&Event, DeviceError> {
        let unknown = || DeviceError::Other(format!("{event} is not recorded").into());
        self.events.get(&event.get()).ok_or_else(unknown)
    }
}

impl Device for LaggingDevice {
    fn properties(&self) -> DeviceProperties {
        self.memory.properties()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        self.memory.memory_info()
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.memory.allocate_arena(size)
    }

    /// Like a driver, without waiting for work: memory that goes back early is counted as handed out too early.
    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.memory.free_arena(base, size)?;
        self.took_memory_away(base, size, "the arena");
        Ok(())
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        Some(self)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        Some(self)
    }
}

impl VirtualMemory for LaggingDevice {
    fn granule(&self) -> Bytes {
        self.memory.granule()
    }

    fn reserve(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.memory.reserve(size)
    }

    fn free_reservation(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        self.memory.free_reservation(base, size)
    }

    fn create_physical(&self, size: Bytes) -> Result<PhysicalMemory, DeviceError> {
        self.memory.create_physical(size)
    }

    fn release_physical(&self, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.memory.release_physical(memory)
    }

    fn map(&self, address: DeviceAddress, memory: PhysicalMemory) -> Result<(), DeviceError> {
        self.memory.map(address, memory)
    }

    /// Like a driver, without waiting for work.
    fn unmap(&self, address: DeviceAddress) -> Result<(), DeviceError> {
        self.memory.unmap(address)?;
        self.took_memory_away(address, self.memory.granule(), "memory");
        Ok(())
    }
}

impl StreamOrder for LaggingDevice {
    fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let unknown = || DeviceError::Other(format!("{stream} is not of this trace").into());
        let index = usize::try_from(stream.get()).map_err(|_| unknown())?;
        let Stream { given, done_at, after } = state.streams.get(index).cloned().ok_or_else(unknown)?;
        state.last_event += 1;
        state.events.insert(state.last_event, Event { done_at, stream: index, given, after });
        Ok(DeviceEvent::new(state.last_event))
    }

    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError> {
        let state = self.state.lock();
        Ok(state.event(event)?.done_at <= state.now)
    }

    /// Waiting lets operations' time pass.
    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        let mut state = self.state.lock();
        state.now = state.now.max(state.event(event)?.done_at);
        Ok(())
    }

    fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Event { done_at, stream: other, given, ref after } = *state.event(event)?;
        let after = after.clone();
        let index = usize::try_from(stream.get()).ok().filter(|&index| index < state.streams.len());
        let unknown = || DeviceError::Other(format!("{stream} is not of this trace").into());
        state.come_after(index.ok_or_else(unknown)?, other, given, done_at, &after);
        Ok(())
    }

    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError> {
        let mut state = self.state.lock();
        state.event(event)?;
        state.events.remove(&event.get());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Bytes = Bytes::kib(16);
    const AT: DeviceAddress = DeviceAddress::new(0x10_0000);

    fn device() -> LaggingDevice {
        LaggingDevice::new(Bytes::gib(1), 3, 10)
    }

    #[test]
    fn memory_handed_to_another_stream_before_the_work_is_done_is_a_race() {
        let device = device();
        device.handed_out(AT, BLOCK, 0);
        device.freed(AT, BLOCK, 0, 0);
        device.handed_out(AT, BLOCK, 0);
        assert_eq!(device.races().0, 0, "its own stream is in order");
        device.freed(AT, BLOCK, 0, 0);
        device.handed_out(AT, Bytes::new(512), 1);
        let (races, first) = device.races();
        assert_eq!(races, 1);
        assert!(first.unwrap().contains("stream 0"));
    }

    #[test]
    fn it_is_none_after_a_wait_also_by_way_of_a_third_stream_or_after_the_lag() {
        for by_way_of_third in [false, true] {
            let device = device();
            device.handed_out(AT, BLOCK, 0);
            device.freed(AT, BLOCK, 0, 0);
            let mut event = device.record_event(LaggingDevice::stream(0)).unwrap();
            if by_way_of_third {
                device.wait_event(LaggingDevice::stream(2), event).unwrap();
                event = device.record_event(LaggingDevice::stream(2)).unwrap();
            }
            assert!(!device.is_complete(event).unwrap());
            device.wait_event(LaggingDevice::stream(1), event).unwrap();
            device.handed_out(AT, BLOCK, 1);
            assert_eq!(device.races().0, 0);
        }
        let device = device();
        device.handed_out(AT, BLOCK, 0);
        device.freed(AT, BLOCK, 0, 0);
        let event = device.record_event(LaggingDevice::stream(0)).unwrap();
        device.synchronize_event(event).unwrap();
        assert!(device.is_complete(event).unwrap());
        device.handed_out(AT, BLOCK, 1);
        assert_eq!(device.races().0, 0);
    }

    #[test]
    fn an_event_recorded_before_the_free_does_not_cover_it() {
        let device = device();
        device.handed_out(AT, BLOCK, 0);
        let event = device.record_event(LaggingDevice::stream(0)).unwrap();
        device.freed(AT, BLOCK, 0, 0);
        device.wait_event(LaggingDevice::stream(1), event).unwrap();
        device.handed_out(AT, BLOCK, 1);
        assert_eq!(device.races().0, 1);
    }

    #[test]
    fn an_arena_that_goes_back_under_running_work_is_a_race() {
        let device = device();
        let base = device.allocate_arena(Bytes::mib(2)).unwrap();
        device.handed_out(base, BLOCK, 0);
        device.freed(base, BLOCK, 0, 0);
        device.free_arena(base, Bytes::mib(2)).unwrap();
        assert_eq!(device.races().0, 1);
    }

    #[test]
    fn released_events_are_unknown() {
        let device = device();
        let event = device.record_event(LaggingDevice::stream(0)).unwrap();
        device.release_event(event).unwrap();
        assert!(device.is_complete(event).is_err() && device.release_event(event).is_err());
        assert!(device.record_event(LaggingDevice::stream(3)).is_err());
    }
}
