//! Functions of the program that are told when streams and devices come and go.
//!
//! They are called without any lock held, so they may call ACL. They belong to the process: finalisation leaves them.

use std::collections::BTreeMap;

use acl_sys::{aclrtDeviceState, aclrtStreamState};
use parking_lot::Mutex;

use crate::failure::Failure;
use crate::foreign::{DeviceWatcher, StreamWatcher};

/// By name.
#[derive(Debug)]
pub(crate) struct Watchers<W>(Mutex<BTreeMap<String, W>>);

pub(crate) static STREAMS: Watchers<StreamWatcher> = Watchers(Mutex::new(BTreeMap::new()));
pub(crate) static DEVICES: Watchers<DeviceWatcher> = Watchers(Mutex::new(BTreeMap::new()));

impl<W: Copy> Watchers<W> {
    /// Keeps a watcher, or without one takes away that of the name, if there is one. 107000 for a name that is taken.
    pub(crate) fn register(&self, name: Option<String>, watcher: Option<W>) -> Result<(), Failure> {
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Failure::invalid("the name is null or empty"))?;
        let mut watchers = self.0.lock();
        match watcher {
            Some(_) if watchers.contains_key(&name) => {
                return Err(Failure::refused(format!(
                    "{name:?} is taken: take it away with a null function first"
                )));
            }
            Some(watcher) => drop(watchers.insert(name, watcher)),
            None => drop(watchers.remove(&name)),
        }
        Ok(())
    }

    fn all(&self) -> Vec<W> {
        self.0.lock().values().copied().collect()
    }
}

pub(crate) fn tell_of_stream(stream: u64, state: aclrtStreamState) {
    for watcher in STREAMS.all() {
        watcher.call(stream, state);
    }
}

pub(crate) fn tell_of_device(index: usize, state: aclrtDeviceState) {
    let device = i32::try_from(index).unwrap_or(i32::MAX);
    for watcher in DEVICES.all() {
        watcher.call(device, state);
    }
}
