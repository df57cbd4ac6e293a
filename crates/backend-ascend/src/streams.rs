//! The streams that a pool may name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use acl::{Context, Stream};
use mempool_core::DeviceStream;
use parking_lot::Mutex;

use crate::error::BackendError;
use crate::progress::Progress;

/// A stream with its name.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) name: DeviceStream,
    pub(crate) stream: Arc<Stream>,
    pub(crate) progress: Arc<Progress>,
}

/// The registered streams of a backend.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    by_name: Mutex<BTreeMap<DeviceStream, Registered>>,
}

/// A number that nothing else in the process has.
pub(crate) fn fresh_name() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only uniqueness matters.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Streams {
    /// Names a stream; one that has a name keeps it.
    pub(crate) fn register(&self, stream: &Arc<Stream>) -> DeviceStream {
        let mut by_name = self.by_name.lock();
        let known = by_name.iter().find(|(_, known)| Arc::ptr_eq(&known.stream, stream));
        if let Some((&name, _)) = known {
            return name;
        }
        let name = DeviceStream::new(fresh_name());
        by_name.insert(name, Registered { name, stream: Arc::clone(stream), progress: Arc::default() });
        name
    }

    pub(crate) fn get(&self, stream: DeviceStream) -> Result<Registered, BackendError> {
        self.by_name.lock().get(&stream).cloned().ok_or(BackendError::UnknownStream { stream })
    }

    /// Takes a stream out, so that nothing new is put into it by this name.
    pub(crate) fn take(&self, stream: DeviceStream) -> Result<Registered, BackendError> {
        self.by_name.lock().remove(&stream).ok_or(BackendError::UnknownStream { stream })
    }

    /// Puts one back that was taken.
    pub(crate) fn put_back(&self, registered: Registered) {
        self.by_name.lock().insert(registered.name, registered);
    }

    /// The stream whose progress this is.
    pub(crate) fn of_progress(&self, progress: &Arc<Progress>) -> Option<Registered> {
        let by_name = self.by_name.lock();
        by_name.values().find(|known| Arc::ptr_eq(&known.progress, progress)).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        self.by_name.lock().len()
    }

    /// The contexts in which there are streams, each once.
    pub(crate) fn contexts(&self) -> Vec<Context> {
        let mut contexts = Vec::new();
        for known in self.by_name.lock().values() {
            let context = known.stream.context();
            if !contexts.contains(&context) {
                contexts.push(context);
            }
        }
        contexts
    }
}
