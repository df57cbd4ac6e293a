//! What can be enqueued on a stream: a label, a duration, the memory it touches, and what it does.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::device::HostDevice;
use crate::engine::EventId;
use crate::engine::event::Recording;

/// Whether memory is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its bytes are looked at.
    Read,
    /// Its bytes may change.
    Write,
}

/// A range of memory that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// Address of the first byte.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// What is done with them.
    pub access: Access,
}

/// When a wait for a value ends. Values are 64-bit, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueCondition {
    /// When the device's value is at least the given one; the difference is taken modulo 2^64, so counters may wrap.
    AtLeast,
    /// When they are equal.
    Equal,
    /// When they have a bit in common.
    AnyBit,
    /// When a bit is set in neither.
    NorBit,
}

impl ValueCondition {
    pub(super) fn holds(self, found: u64, wanted: u64) -> bool {
        match self {
            Self::AtLeast => found.wrapping_sub(wanted) < 1 << 63,
            Self::Equal => found == wanted,
            Self::AnyBit => found & wanted != 0,
            Self::NorBit => !(found | wanted) != 0,
        }
    }
}

/// Something outside the engine that streams can wait for: closed until [`Engine::open_gate`] opens it for good.
///
/// Clones are the same gate. With it a callback can be handed to another thread while its stream waits.
///
/// [`Engine::open_gate`]: crate::engine::Engine::open_gate
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it was opened.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    pub(super) fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) type Effect = Box<dyn FnOnce(&HostDevice) + Send>;
pub(super) type Source = Box<dyn FnMut(u64, &mut [u8]) + Send>;
pub(super) type Sink = Box<dyn FnMut(u64, &[u8]) + Send>;

/// What an operation does when it completes.
pub(super) enum Action {
    Work(Option<Effect>),
    ToDevice {
        to: u64,
        length: u64,
        source: Source,
    },
    ToHost {
        from: u64,
        length: u64,
        sink: Sink,
    },
    Copy {
        to: u64,
        from: u64,
        length: u64,
    },
    Fill {
        to: u64,
        length: u64,
        byte: u8,
    },
    Callback(Option<Box<dyn FnOnce() + Send>>),
    WriteValue {
        to: u64,
        value: u64,
    },
    WaitValue {
        at: u64,
        value: u64,
        condition: ValueCondition,
    },
    WaitGate(Gate),
    Record(Arc<Recording>),
    Wait {
        recording: Arc<Recording>,
        /// Counts the waits of an event that are not over.
        _pending: Arc<()>,
    },
    /// Of the event, as long as this is its last record.
    Reset(EventId, Arc<Recording>),
}

impl Action {
    fn name(&self) -> &'static str {
        match self {
            Self::Work(_) => "work",
            Self::ToDevice { .. } => "copy to device",
            Self::ToHost { .. } => "copy to host",
            Self::Copy { .. } => "copy",
            Self::Fill { .. } => "fill",
            Self::Callback(_) => "callback",
            Self::WriteValue { .. } => "write value",
            Self::WaitValue { .. } => "wait for value",
            Self::WaitGate(_) => "wait for gate",
            Self::Record(_) => "record",
            Self::Wait { .. } => "wait",
            Self::Reset(..) => "reset",
        }
    }
}

/// An operation for [`Engine::enqueue`](crate::engine::Engine::enqueue).
///
/// It starts when everything before it on its stream is complete, takes its duration, and has its effect when that is
/// over. So whoever waits for it sees the effect, and a closure given here runs with no lock of the engine held.
///
/// ```
/// use std::time::Duration;
/// use host_device::engine::Operation;
/// let multiply = Operation::kernel("matmul", Duration::from_micros(80))
///     .reading(0x1000, 64)
///     .writing(0x2000, 64)
///     .with_effect(|device| {
///         // A kernel that fails tells its caller by the memory it leaves.
///         let _outcome = device.fill(0x2000, 64, 1);
///     });
/// assert_eq!(multiply.label(), "matmul");
/// ```
pub struct Operation {
    pub(super) label: Cow<'static, str>,
    pub(super) duration: Duration,
    pub(super) touches: Vec<Touch>,
    pub(super) action: Action,
}

impl Operation {
    pub(super) fn of(action: Action) -> Self {
        Self { label: Cow::Borrowed(action.name()), duration: Duration::ZERO, touches: Vec::new(), action }
    }

    /// A kernel, or any work of the device, that takes `duration`.
    pub fn kernel(label: impl Into<Cow<'static, str>>, duration: Duration) -> Self {
        Self::of(Action::Work(None)).labelled(label).lasting(duration)
    }

    /// A copy of `bytes`, taken now, to the device.
    pub fn copy_to_device(to: u64, bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Self::copy_to_device_in_parts(to, length, move |offset, part| {
            // The engine asks for parts of `length` bytes only.
            let rest =
                usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
            let count = part.len().min(rest.len());
            part[..count].copy_from_slice(&rest[..count]);
        })
    }

    /// A copy of `length` bytes to the device that are asked for when it runs: `source` fills the slices that it gets,
    /// which lie so many bytes behind the start.
    pub fn copy_to_device_in_parts(
        to: u64,
        length: u64,
        source: impl FnMut(u64, &mut [u8]) + Send + 'static,
    ) -> Self {
        Self::of(Action::ToDevice { to, length, source: Box::new(source) }).writing(to, length)
    }

    /// A copy of `length` bytes from the device, all of which `sink` gets at once.
    pub fn copy_to_host(from: u64, length: u64, sink: impl FnOnce(Vec<u8>) + Send + 'static) -> Self {
        let (mut bytes, mut sink) = (Vec::new(), Some(sink));
        Self::copy_to_host_in_parts(from, length, move |_, part| {
            bytes.extend_from_slice(part);
            if bytes.len() as u64 == length
                && let Some(sink) = sink.take()
            {
                sink(std::mem::take(&mut bytes));
            }
        })
    }

    /// A copy of `length` bytes from the device, which `sink` gets in order, each part with its distance from the start.
    /// A copy of no bytes hands over one empty part.
    pub fn copy_to_host_in_parts(
        from: u64,
        length: u64,
        sink: impl FnMut(u64, &[u8]) + Send + 'static,
    ) -> Self {
        Self::of(Action::ToHost { from, length, sink: Box::new(sink) }).reading(from, length)
    }

    /// A copy of `length` bytes inside the device.
    pub fn copy(to: u64, from: u64, length: u64) -> Self {
        Self::of(Action::Copy { to, from, length }).reading(from, length).writing(to, length)
    }

    /// Sets `length` bytes to `byte`.
    pub fn fill(to: u64, length: u64, byte: u8) -> Self {
        Self::of(Action::Fill { to, length, byte }).writing(to, length)
    }

    /// A function of the host. What follows on the stream waits until it returns.
    ///
    /// It may call the engine. With a threaded clock it runs on the engine's callback thread.
    pub fn callback(function: impl FnOnce() + Send + 'static) -> Self {
        Self::of(Action::Callback(Some(Box::new(function))))
    }

    /// Stores a value of 8 bytes on the device.
    pub fn write_value(to: u64, value: u64) -> Self {
        Self::of(Action::WriteValue { to, value }).writing(to, 8)
    }

    /// Holds its stream up until the 8 bytes at an address meet `condition` with `value`.
    ///
    /// It is no order in the eyes of the block ledger: use events where blocks change hands.
    pub fn wait_value(at: u64, value: u64, condition: ValueCondition) -> Self {
        Self::of(Action::WaitValue { at, value, condition }).reading(at, 8)
    }

    /// Holds its stream up until `gate` is open. No order in the eyes of the block ledger either.
    pub fn wait_gate(gate: &Gate) -> Self {
        Self::of(Action::WaitGate(gate.clone()))
    }

    /// Sets the label that reports show.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets how long it takes.
    #[must_use]
    pub fn lasting(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    /// Adds memory that it reads.
    #[must_use]
    pub fn reading(mut self, address: u64, length: u64) -> Self {
        self.touches.push(Touch { address, length, access: Access::Read });
        self
    }

    /// Adds memory that it writes.
    #[must_use]
    pub fn writing(mut self, address: u64, length: u64) -> Self {
        self.touches.push(Touch { address, length, access: Access::Write });
        self
    }

    /// Sets what a kernel does. Other operations have their effect already and ignore this.
    #[must_use]
    pub fn with_effect(mut self, effect: impl FnOnce(&HostDevice) + Send + 'static) -> Self {
        if let Action::Work(slot) = &mut self.action {
            *slot = Some(Box::new(effect));
        }
        self
    }

    /// The label that reports show.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The memory that it touches.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("action", &self.action.name())
            .field("label", &self.label)
            .field("duration", &self.duration)
            .field("touches", &self.touches)
            .finish()
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare_as_their_names_say() {
        use ValueCondition::{AnyBit, AtLeast, Equal, NorBit};
        for (condition, found, wanted, expected) in [
            (AtLeast, 5, 5, true),
            (AtLeast, 4, 5, false),
            (AtLeast, 1, u64::MAX, true),
            (Equal, 5, 5, true),
            (Equal, 6, 5, false),
            (AnyBit, 0b110, 0b011, true),
            (AnyBit, 0b100, 0b011, false),
            (NorBit, 1, 2, true),
            (NorBit, u64::MAX, 0, false),
        ] {
            assert_eq!(condition.holds(found, wanted), expected, "{condition:?} {found} {wanted}");
        }
    }

    #[test]
    fn every_operation_names_the_memory_it_touches() {
        let touch = |address, length, access| Touch { address, length, access };
        assert_eq!(Operation::copy_to_device(8, vec![0; 3]).touches(), [touch(8, 3, Access::Write)]);
        assert_eq!(Operation::copy_to_host(8, 3, drop).touches(), [touch(8, 3, Access::Read)]);
        assert_eq!(
            Operation::copy(8, 16, 3).touches(),
            [touch(16, 3, Access::Read), touch(8, 3, Access::Write)]
        );
        assert_eq!(Operation::fill(8, 3, 1).touches(), [touch(8, 3, Access::Write)]);
        assert_eq!(Operation::write_value(8, 1).touches(), [touch(8, 8, Access::Write)]);
        let wait = Operation::wait_value(8, 1, ValueCondition::Equal);
        assert_eq!(wait.touches(), [touch(8, 8, Access::Read)]);
        assert_eq!(Operation::callback(|| ()).touches(), []);
    }
}
