//! Being told of streams, devices and the end of ACL, whoever brings it about.
//!
//! # Invariants
//!
//! 1. ACL has callbacks of a process exactly while it has a [`Watch`], as far as ACL takes them back. A callback gets a number,
//!    not an address: one that comes late finds nothing and does nothing.
//! 2. No lock that a callback takes is held through a call of ACL, which calls back under locks of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::api::CALLBACKS;
use crate::runtime::{Process, RuntimeInner};
use crate::{AclError, Runtime, Stream};

/// The processes that ACL may call back for, by the number that it has.
static REGISTERED: Mutex<BTreeMap<usize, Arc<Process>>> = Mutex::new(BTreeMap::new());

/// Numbers of registrations and of watchers.
static NEXT: AtomicUsize = AtomicUsize::new(1);

fn next() -> usize {
    // Relaxed: only the number matters.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Which stream: unlike any other that lives, and used again after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamKey(pub usize);

/// Told of what happens in the process, by us or by foreign code.
///
/// Called on the thread that brings it about, in the middle of its call: it must not call ACL, nor wait for a thread that
/// does. Owners of ACL's things have no place in a watcher, since it may be dropped there. A panic is traced and ends there.
pub trait Watcher: Send + Sync + 'static {
    /// A stream is about to be destroyed. Its key may soon be that of another: what is kept by it must go.
    fn stream_ends(&self, stream: StreamKey) {
        let _ = stream;
    }

    /// A device is about to be reset for the last time or by force, with all memory that the process has on it. What was made
    /// on it answers [`AclError::DeviceReset`] already.
    fn device_resets(&self, device: i32) {
        let _ = device;
    }

    /// ACL is being ended by foreign code. The runtime is [abandoned](Runtime::abandon) already.
    fn acl_ends(&self) {}
}

/// What ACL tells.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happened {
    StreamEnds(usize),
    DeviceResets(i32),
    AclEnds,
}

/// Who is told, in one process.
#[derive(Default)]
pub(crate) struct Watchers {
    registration: Mutex<Registration>,
    told: Mutex<BTreeMap<usize, Arc<dyn Watcher>>>,
}

/// What ACL has of us. Its lock is held through calls of ACL, so no callback takes it.
#[derive(Debug, Default)]
struct Registration {
    watches: usize,
    number: usize,
}

impl fmt::Debug for Watchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.told.lock().keys()).finish()
    }
}

/// Keeps a [`Watcher`] told, and holds the runtime. As long as there is one,
///
/// * a device that foreign code resets by force takes its owners along: they answer [`AclError::DeviceReset`] and are dropped
///   without a call,
/// * ACL that foreign code ends abandons the runtime, so that a late destructor calls nothing.
///
/// Any thread.
#[derive(Debug)]
pub struct Watch {
    key: usize,
    runtime: Arc<RuntimeInner>,
}

impl Runtime {
    /// Has `watcher` told of what happens from now on. Calls ACL for the first watch only.
    ///
    /// ```
    /// use acl::{AclError, Runtime, StreamKey, Watch, Watcher};
    ///
    /// /// Forgets what is kept by stream.
    /// struct Caches;
    ///
    /// impl Watcher for Caches {
    ///     fn stream_ends(&self, stream: StreamKey) {
    ///         println!("{stream:?}");
    ///     }
    /// }
    ///
    /// fn watched(runtime: &Runtime) -> Result<Watch, AclError> {
    ///     runtime.watch(std::sync::Arc::new(Caches))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AclError::Unsupported`], or ACL's own; nobody is told then.
    pub fn watch(&self, watcher: Arc<dyn Watcher>) -> Result<Watch, AclError> {
        let runtime = Arc::clone(&self.inner);
        let api = runtime.live("aclrtRegDeviceStateCallback")?;
        let process = runtime.process();
        let key = next();
        let mut registration = process.watchers().registration.lock();
        if registration.watches == 0 {
            let number = next();
            REGISTERED.lock().insert(number, Arc::clone(process));
            if let Err(error) = api.register_callbacks(number, |error| runtime.record_failure(error)) {
                REGISTERED.lock().remove(&number);
                return Err(error);
            }
            registration.number = number;
        }
        registration.watches += 1;
        process.watchers().told.lock().insert(key, watcher);
        drop(registration);
        Ok(Watch { key, runtime })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let process = self.runtime.process();
        let watcher = process.watchers().told.lock().remove(&self.key);
        let mut registration = process.watchers().registration.lock();
        registration.watches -= 1;
        if registration.watches == 0 {
            match self.runtime.live("aclrtRegDeviceStateCallback") {
                Ok(api) => {
                    api.unregister_callbacks(registration.number, |error| self.runtime.record_failure(error));
                }
                Err(_) => (0..CALLBACKS).for_each(|_| self.runtime.record_leak("callback")),
            }
            REGISTERED.lock().remove(&registration.number);
        }
        drop(registration);
        // Not under a lock: it is somebody else's code.
        drop(watcher);
    }
}

/// Notes what happened, and tells all who watch. Does nothing for a number that is not registered any more.
pub(crate) fn tell(number: usize, happened: Happened) {
    let Some(process) = REGISTERED.lock().get(&number).cloned() else { return };
    match happened {
        Happened::StreamEnds(_) => {}
        Happened::DeviceResets(device) => process.mark_reset(device),
        Happened::AclEnds => process.abandon(),
    }
    let watchers: Vec<_> = process.watchers().told.lock().values().cloned().collect();
    for watcher in watchers {
        let told = catch_unwind(AssertUnwindSafe(|| match happened {
            Happened::StreamEnds(stream) => watcher.stream_ends(StreamKey(stream)),
            Happened::DeviceResets(device) => watcher.device_resets(device),
            Happened::AclEnds => watcher.acl_ends(),
        }));
        if told.is_err() {
            tracing::error!(?happened, "a watcher panicked");
        }
    }
}

impl Stream {
    /// Its key, by which a [`Watcher`] is told of its end.
    pub fn key(&self) -> StreamKey {
        StreamKey(self.owned.get().address())
    }
}
