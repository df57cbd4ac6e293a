//! Events: marks in a stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acl_sys::{
    ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE, aclrtEventRecordedStatus,
};

use crate::api::{EventKind, Handle};
use crate::context::Bound;
use crate::owned::Owned;
use crate::{AclError, Context, Stream, stream::millis};

/// What an event is for; to be combined with [`EventFlags::and`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventFlags(pub u32);

impl EventFlags {
    /// Streams wait for it.
    pub const ORDER: Self = Self(ACL_EVENT_SYNC);
    /// The host asks or waits. Takes no event of the hardware.
    pub const PROGRESS: Self = Self(ACL_EVENT_CAPTURE_STREAM_PROGRESS);
    /// The time between two of them is asked.
    pub const TIME: Self = Self(ACL_EVENT_TIME_LINE);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Where an event stands.
///
/// ACL itself answers "complete" or "not ready" for an event that was never recorded, by its sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventStatus {
    /// Never recorded, or reset since.
    NotRecorded,
    /// The stream has not reached it.
    Pending,
    /// The stream has passed it.
    Complete,
}

/// An event, destroyed on drop; that does not wait, also where it is pending. It outlives the streams on which it was
/// recorded: asking it touches no stream.
///
/// To record, to ask and to wait allocates nothing on the host, unless it fails. Any thread.
#[derive(Debug)]
pub struct Event {
    pub(crate) owned: Owned<Handle<EventKind>>,
    recorded: AtomicBool,
    reusable: bool,
}

impl Event {
    /// Creates an event of the newer sort, which can be recorded any number of times; the last record counts. With a
    /// library that lacks it, of the older sort.
    ///
    /// # Errors
    ///
    /// ACL's own; of kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if the device has none left.
    pub fn new(context: &Context, flags: EventFlags) -> Result<Self, AclError> {
        match Owned::make(context, |bound| bound.create_event_ex(flags.0)) {
            Ok(owned) => Ok(Self::of(owned, true)),
            Err(AclError::Unsupported(_)) => {
                let owned = Owned::make(context, |bound| bound.create_event_with_flag(flags.0))?;
                Ok(Self::of(owned, false))
            }
            Err(error) => Err(error),
        }
    }

    /// Creates an event of the oldest sort, which is to be [reset](Self::reset) before it is recorded again.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn legacy(context: &Context) -> Result<Self, AclError> {
        Ok(Self::of(Owned::make(context, Bound::create_event)?, false))
    }

    fn of(owned: Owned<Handle<EventKind>>, reusable: bool) -> Self {
        Self { owned, recorded: AtomicBool::new(false), reusable }
    }

    /// Its context.
    pub fn context(&self) -> Context {
        Context { inner: Arc::clone(self.owned.context()) }
    }

    /// Whether it can be recorded again and again without more ado, the last record counting. Otherwise it is to be
    /// [reset](Self::reset) between two records by the stream that waited, or thrown away.
    pub fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// Puts the event at the end of `stream`. May wait for an event of the hardware.
    ///
    /// # Errors
    ///
    /// [`AclError::OtherDevice`] if the stream is of another device, or ACL's own.
    pub fn record(&self, stream: &Stream) -> Result<(), AclError> {
        self.owned.context().require_device_of(stream.owned.context())?;
        stream.owned.bind()?.record_event(self.owned.get(), stream.owned.get())?;
        // Pairs with the load in `is_recorded`.
        self.recorded.store(true, Ordering::Release);
        Ok(())
    }

    /// Makes it unrecorded again once `stream` comes here. Only for the older sorts.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn reset(&self, stream: &Stream) -> Result<(), AclError> {
        stream.owned.bind()?.reset_event(self.owned.get(), stream.owned.get())?;
        self.recorded.store(false, Ordering::Release);
        Ok(())
    }

    /// Where it stands; does not wait.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn query(&self) -> Result<EventStatus, AclError> {
        if !self.is_recorded() {
            return Ok(EventStatus::NotRecorded);
        }
        let status = self.owned.bind()?.query_event(self.owned.get())?;
        let complete = status == aclrtEventRecordedStatus::ACL_EVENT_RECORDED_STATUS_COMPLETE;
        Ok(if complete { EventStatus::Complete } else { EventStatus::Pending })
    }

    /// Waits until the stream has passed it.
    ///
    /// # Errors
    ///
    /// [`AclError::NotRecorded`], or ACL's own.
    pub fn synchronize(&self) -> Result<(), AclError> {
        self.require_record("aclrtSynchronizeEvent")?;
        self.owned.bind()?.synchronize_event(self.owned.get())
    }

    /// The same, but not for longer than `limit`, which is rounded up to milliseconds.
    ///
    /// # Errors
    ///
    /// [`AclError::NotRecorded`], or ACL's own, of kind [`Busy`](crate::ErrorKind::Busy) when the time ran out.
    pub fn synchronize_for(&self, limit: Duration) -> Result<(), AclError> {
        self.require_record("aclrtSynchronizeEventWithTimeout")?;
        self.owned.bind()?.synchronize_event_for(self.owned.get(), millis(limit))
    }

    /// Milliseconds on the device from `start` to this event; both must have been passed.
    ///
    /// # Errors
    ///
    /// [`AclError::NotRecorded`], or ACL's own.
    pub fn millis_since(&self, start: &Self) -> Result<f32, AclError> {
        self.require_record("aclrtEventElapsedTime")?;
        start.require_record("aclrtEventElapsedTime")?;
        self.owned.bind()?.elapsed(start.owned.get(), self.owned.get())
    }

    fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Acquire)
    }

    pub(crate) fn require_record(&self, call: &'static str) -> Result<(), AclError> {
        if self.is_recorded() { Ok(()) } else { Err(AclError::NotRecorded { call }) }
    }
}
