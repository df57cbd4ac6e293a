//! What a device with streams offers: marks in them, and waiting for marks.

use std::fmt;

use super::DeviceError;

/// A stream as the device names it. How one is obtained is up to the device.
///
/// A device never gives a name to a second stream, even where its driver uses handles again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceStream(u64);

impl DeviceStream {
    /// The stream with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DeviceStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device stream {}", self.0)
    }
}

/// A mark in a stream: obtained by [`StreamOrder::record_event`] and given back by [`StreamOrder::release_event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceEvent(u64);

impl DeviceEvent {
    /// The event with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DeviceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device event {}", self.0)
    }
}

/// Events of a [`Device`](super::Device) whose work runs in streams, behind the caller.
///
/// An event is a mark at the end of what a stream has been given so far. It is recorded once, may be asked about and
/// waited for any number of times, and is released once. Implementations keep released events to use them again, so that
/// recording is cheap.
///
/// Called from any thread, several at a time. These calls must not ask the pool for memory: the pool may be waiting for them. Names that
/// were never given out, or were released, are
/// [`DeviceError::Other`] and change nothing.
pub trait StreamOrder: Send + Sync + fmt::Debug {
    /// Marks the end of what `stream` has been given so far.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`] (of 0 bytes) when the device has no event left, [`DeviceError::Other`] for a stream that
    /// the device does not know (any more).
    fn record_event(&self, stream: DeviceStream) -> Result<DeviceEvent, DeviceError>;

    /// Whether the stream has passed the mark. Does not wait. Once true, it stays true.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports; nothing is known about the mark then.
    fn is_complete(&self, event: DeviceEvent) -> Result<bool, DeviceError>;

    /// Blocks the calling thread until the stream has passed the mark.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports, errors of the work before the mark among it.
    fn synchronize_event(&self, event: DeviceEvent) -> Result<(), DeviceError>;

    /// Lets what `stream` is given from now on wait for the mark, on the device. Does not block the caller.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports; the stream then does not wait.
    fn wait_event(&self, stream: DeviceStream, event: DeviceEvent) -> Result<(), DeviceError>;

    /// Gives an event back, passed or not. Streams that were told to wait for it still do.
    ///
    /// # Errors
    ///
    /// Whatever the driver reports; the event is gone all the same.
    fn release_event(&self, event: DeviceEvent) -> Result<(), DeviceError>;
}
