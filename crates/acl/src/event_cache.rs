//! Events that are kept to be used again.

use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{AclError, Context, Event, EventFlags, Stream};

/// Events of one context that are recorded, dropped, and recorded again: for a pool, which needs one for each batch of
/// freed memory, and asks it later.
///
/// One per context: an event of one device cannot be recorded on a stream of another, and a cache says so instead of
/// mixing them up. Of a library without [reusable](Event::is_reusable) events nothing is kept. Any thread; one lock, not held
/// through a call of ACL.
///
/// ```
/// use acl::{AclError, Context, EventCache, EventFlags, EventStatus, Stream};
///
/// fn passed(context: &Context, stream: &Stream) -> Result<bool, AclError> {
///     let events = EventCache::new(context, EventFlags::PROGRESS);
///     let event = events.record(stream)?;
///     Ok(event.query()? == EventStatus::Complete)
/// }
/// ```
#[derive(Debug)]
pub struct EventCache {
    context: Context,
    flags: EventFlags,
    home: Arc<Mutex<Home>>,
}

#[derive(Debug, Default)]
struct Home {
    /// Has room for all that were made, so that coming back needs no memory.
    free: Vec<Event>,
    made: usize,
}

/// An event of an [`EventCache`] that has been recorded; goes back when dropped.
#[derive(Debug)]
pub struct CachedEvent {
    /// `None` in the drop only.
    event: Option<Event>,
    home: Arc<Mutex<Home>>,
}

impl EventCache {
    /// An empty cache; events are made as they are needed.
    pub fn new(context: &Context, flags: EventFlags) -> Self {
        Self { context: context.clone(), flags, home: Arc::default() }
    }

    /// Records an event at the end of `stream`.
    ///
    /// # Errors
    ///
    /// [`AclError::OtherDevice`] if the stream is of another device than the cache; ACL's own, of kind
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory) if the device has no event left.
    ///
    /// # Complexity
    ///
    /// O(1): two short locks and one call, and another one for each event that is made. Allocates nothing on the host once as
    /// many events are there as are in use at a time.
    pub fn record(&self, stream: &Stream) -> Result<CachedEvent, AclError> {
        let kept = self.home.lock().free.pop();
        let event = match kept {
            Some(event) => event,
            None => self.make()?,
        };
        let event = CachedEvent { event: Some(event), home: Arc::clone(&self.home) };
        event.record(stream)?;
        Ok(event)
    }

    fn make(&self) -> Result<Event, AclError> {
        let event = Event::new(&self.context, self.flags)?;
        if event.is_reusable() {
            let mut home = self.home.lock();
            home.made += 1;
            let room = home.made - home.free.len();
            home.free.reserve(room);
        }
        Ok(event)
    }

    /// Events that are kept and in nobody's hands.
    pub fn idle(&self) -> usize {
        self.home.lock().free.len()
    }

    /// Destroys those.
    pub fn clear(&self) {
        let events: Vec<_> = {
            let mut home = self.home.lock();
            home.made -= home.free.len();
            // The room stays, for those that come back.
            home.free.drain(..).collect()
        };
        drop(events);
    }
}

impl Deref for CachedEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        self.event.as_ref().expect("taken in the drop only")
    }
}

impl Drop for CachedEvent {
    fn drop(&mut self) {
        if let Some(event) = self.event.take()
            && event.is_reusable()
        {
            self.home.lock().free.push(event);
        }
    }
}
