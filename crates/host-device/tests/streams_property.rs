//! Random programs under a manual clock against oracles: when everything runs, which bytes it leaves, and which blocks
//! were handed on too early.

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use host_device::engine::{Engine, EventId, HazardKind, Operation, PendingWork, StreamId, StreamOptions};
    use host_device::{HostDevice, HostDeviceConfig};
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;
    const STREAMS: usize = 3;
    const SLOTS: usize = 4;
    const SLOT_BYTES: u64 = 4096;

    fn engine() -> Engine {
        Engine::new(Arc::new(HostDevice::new(HostDeviceConfig::new(64 * MIB)).unwrap())).unwrap()
    }

    fn streams(engine: &Engine) -> [StreamId; STREAMS] {
        [(); STREAMS].map(|()| engine.create_stream(StreamOptions::default()))
    }

    #[derive(Debug, Clone)]
    enum Step {
        Fill { stream: usize, slot: usize, byte: u8, lasting: u64 },
        Copy { stream: usize, from: usize, to: usize, lasting: u64 },
        Read { stream: usize, slot: usize, lasting: u64 },
        Advance { by: u64 },
        Synchronize { stream: usize },
        Next,
    }

    fn step() -> impl Strategy<Value = Step> {
        let (stream, slot, lasting) = (0..STREAMS, 0..SLOTS, 0..20_u64);
        prop_oneof![
            4 => (stream.clone(), slot.clone(), any::<u8>(), lasting.clone())
                .prop_map(|(stream, slot, byte, lasting)| Step::Fill { stream, slot, byte, lasting }),
            4 => (stream.clone(), slot.clone(), slot.clone(), lasting.clone())
                .prop_map(|(stream, from, to, lasting)| Step::Copy { stream, from, to, lasting }),
            3 => (stream.clone(), slot, lasting.clone())
                .prop_map(|(stream, slot, lasting)| Step::Read { stream, slot, lasting }),
            2 => lasting.prop_map(|by| Step::Advance { by }),
            1 => stream.prop_map(|stream| Step::Synchronize { stream }),
            1 => Just(Step::Next),
        ]
    }

    /// An operation of the program, with what it must run after.
    struct Done {
        event: EventId,
        enqueued_at: Duration,
        lasting: Duration,
        after: Vec<usize>,
    }

    /// What every read should find and found.
    type Reads = Arc<Mutex<Vec<(u8, Vec<u8>)>>>;

    /// A program that is free of races, because it waits for whoever touched a slot before.
    struct Program {
        engine: Engine,
        streams: [StreamId; STREAMS],
        memory: u64,
        done: Vec<Done>,
        last_on: [Option<usize>; STREAMS],
        writer: [Option<usize>; SLOTS],
        readers: [Vec<usize>; SLOTS],
        bytes: [u8; SLOTS],
        reads: Reads,
        read_count: usize,
    }

    impl Program {
        fn new() -> Self {
            let engine = engine();
            let streams = streams(&engine);
            let memory = engine.device().allocate(2 * MIB).unwrap();
            Self {
                engine,
                streams,
                memory,
                done: Vec::new(),
                last_on: [None; STREAMS],
                writer: [None; SLOTS],
                readers: [const { Vec::new() }; SLOTS],
                bytes: [0; SLOTS],
                reads: Arc::default(),
                read_count: 0,
            }
        }

        fn slot(&self, slot: usize) -> u64 {
            self.memory + slot as u64 * SLOT_BYTES
        }

        fn enqueue(
            &mut self,
            on: usize,
            operation: Operation,
            lasting: u64,
            read: &[usize],
            written: &[usize],
        ) {
            let stream = self.streams[on];
            let mut after: Vec<usize> =
                read.iter().chain(written).filter_map(|&slot| self.writer[slot]).collect();
            after.extend(written.iter().flat_map(|&slot| self.readers[slot].iter().copied()));
            for &before in &after {
                self.engine.wait_event(stream, self.done[before].event).unwrap();
            }
            after.extend(self.last_on[on]);
            let lasting = Duration::from_micros(lasting);
            self.engine.enqueue(stream, operation.lasting(lasting)).unwrap();
            let event = self.engine.create_event(0);
            self.engine.record_event(event, stream).unwrap();
            let this = self.done.len();
            self.done.push(Done { event, enqueued_at: self.engine.now(), lasting, after });
            self.last_on[on] = Some(this);
            for &slot in written {
                self.writer[slot] = Some(this);
                self.readers[slot].clear();
            }
            for &slot in read {
                self.readers[slot].push(this);
            }
        }

        fn run(&mut self, step: &Step) {
            match *step {
                Step::Fill { stream, slot, byte, lasting } => {
                    let fill = Operation::fill(self.slot(slot), SLOT_BYTES, byte);
                    self.enqueue(stream, fill, lasting, &[], &[slot]);
                    self.bytes[slot] = byte;
                }
                Step::Copy { stream, from, to, lasting } => {
                    let copy = Operation::copy(self.slot(to), self.slot(from), SLOT_BYTES);
                    self.enqueue(stream, copy, lasting, &[from], &[to]);
                    self.bytes[to] = self.bytes[from];
                }
                Step::Read { stream, slot, lasting } => {
                    let (reads, expected) = (Arc::clone(&self.reads), self.bytes[slot]);
                    let read = Operation::copy_to_host(self.slot(slot), SLOT_BYTES, move |bytes| {
                        reads.lock().unwrap().push((expected, bytes));
                    });
                    self.enqueue(stream, read, lasting, &[slot], &[]);
                    self.read_count += 1;
                }
                Step::Advance { by } => self.engine.advance(Duration::from_micros(by)).unwrap(),
                Step::Synchronize { stream } => self.engine.synchronize_stream(self.streams[stream]).unwrap(),
                Step::Next => drop(self.engine.advance_to_next().unwrap()),
            }
        }

        fn check(&self) {
            for done in &self.done {
                let ended = |&before: &usize| self.engine.event_time(self.done[before].event).unwrap();
                let start = done.after.iter().map(ended).max().unwrap_or_default().max(done.enqueued_at);
                assert_eq!(self.engine.event_time(done.event).unwrap(), start + done.lasting);
            }
            let reads = self.reads.lock().unwrap();
            assert_eq!(reads.len(), self.read_count);
            assert!(reads.iter().all(|(expected, found)| found.iter().all(|byte| byte == expected)));
            for (slot, &byte) in self.bytes.iter().enumerate() {
                self.engine.device().check_fill(self.slot(slot), SLOT_BYTES, byte).unwrap();
            }
            assert_eq!(self.engine.hazards(), []);
        }
    }

    #[derive(Debug, Clone)]
    enum Move {
        HandOut { stream: usize },
        Touch { stream: usize },
        Record { stream: usize, event: usize },
        Wait { stream: usize, event: usize },
    }

    fn a_move() -> impl Strategy<Value = Move> {
        let (stream, event) = (0..STREAMS, 0..2_usize);
        prop_oneof![
            2 => stream.clone().prop_map(|stream| Move::HandOut { stream }),
            3 => stream.clone().prop_map(|stream| Move::Touch { stream }),
            3 => (stream.clone(), event.clone()).prop_map(|(stream, event)| Move::Record { stream, event }),
            3 => (stream, event).prop_map(|(stream, event)| Move::Wait { stream, event }),
        ]
    }

    /// Which operation runs before which, by walking the edges back.
    #[derive(Default)]
    struct Graph {
        before: Vec<Vec<usize>>,
        last_on: [Option<usize>; STREAMS],
    }

    impl Graph {
        fn add(&mut self, stream: usize, also_after: Option<usize>) -> usize {
            let node = self.before.len();
            self.before.push(self.last_on[stream].into_iter().chain(also_after).collect());
            self.last_on[stream] = Some(node);
            node
        }

        fn next_on_runs_after(&self, stream: usize, node: usize) -> bool {
            let mut to_see: Vec<usize> = self.last_on[stream].into_iter().collect();
            let mut seen = vec![false; self.before.len()];
            while let Some(here) = to_see.pop() {
                if here == node {
                    return true;
                }
                if !std::mem::replace(&mut seen[here], true) {
                    to_see.extend(&self.before[here]);
                }
            }
            false
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn everything_runs_when_it_can_and_leaves_the_bytes_of_program_order(
            steps in prop::collection::vec(step(), 1..80)
        ) {
            let mut program = Program::new();
            let mut now = program.engine.now();
            for step in &steps {
                program.run(step);
                let later = program.engine.now();
                prop_assert!(later >= now, "the clock went back");
                now = later;
            }
            program.engine.synchronize_device().unwrap();
            program.check();
            for stream in program.streams {
                program.engine.destroy_stream(stream, PendingWork::Finish).unwrap();
            }
        }

        #[test]
        fn the_same_program_has_the_same_history(steps in prop::collection::vec(step(), 1..40)) {
            let history = || {
                let mut program = Program::new();
                for step in &steps {
                    program.run(step);
                }
                program.engine.synchronize_device().unwrap();
                let times = program.done.iter().map(|done| program.engine.event_time(done.event).unwrap());
                times.collect::<Vec<_>>()
            };
            prop_assert_eq!(history(), history());
        }

        /// Nothing completes, so that only the order that was enqueued counts.
        #[test]
        fn a_block_is_reported_just_when_no_chain_of_waits_orders_its_owners(
            moves in prop::collection::vec(a_move(), 1..60)
        ) {
            let engine = engine();
            let streams = streams(&engine);
            let events = [0; 2].map(|flags| engine.create_event(flags));
            let block = engine.device().allocate(2 * MIB).unwrap();
            let mut graph = Graph::default();
            let mut recorded: [Option<usize>; 2] = [None; 2];
            let mut owner: Option<usize> = None;
            // The last operation of each stream on the block, by owner: those of the owner now, and of all before.
            let mut uses: [Option<usize>; STREAMS] = [None; STREAMS];
            let mut former: Vec<usize> = Vec::new();
            for one in moves {
                match one {
                    Move::HandOut { stream } => {
                        if owner.is_some() {
                            engine.retire_block(block, 512, "").unwrap();
                        }
                        former.extend(std::mem::take(&mut uses).into_iter().flatten());
                        engine.declare_block(block, 512, streams[stream], "").unwrap();
                        let count = former.len();
                        former.retain(|&node| graph.next_on_runs_after(stream, node));
                        let found = engine.take_hazards();
                        prop_assert!(found.iter().all(|hazard| hazard.kind == HazardKind::HandedOutEarly));
                        prop_assert_eq!(!found.is_empty(), former.len() < count, "{:#?}", found);
                        owner = Some(stream);
                    }
                    Move::Touch { stream } => {
                        // Only the owner's stream: others would be reported for that.
                        if owner == Some(stream) {
                            let touch = Operation::kernel("touch", Duration::from_secs(1)).writing(block, 512);
                            engine.enqueue(streams[stream], touch).unwrap();
                            uses[stream] = Some(graph.add(stream, None));
                        }
                    }
                    Move::Record { stream, event } => {
                        engine.record_event(events[event], streams[stream]).unwrap();
                        recorded[event] = Some(graph.add(stream, None));
                    }
                    Move::Wait { stream, event } => {
                        engine.wait_event(streams[stream], events[event]).unwrap();
                        if let Some(record) = recorded[event] {
                            graph.add(stream, Some(record));
                        }
                    }
                }
            }
            prop_assert!(engine.take_hazards().is_empty());
        }
    }
}
