//! ACL in this process: started by the first owner, ended by the last.
//!
//! # Invariants
//!
//! 1. Of one library, ACL is initialised exactly while the count of its entry in [`PROCESSES`] is above 0. Counting and the
//!    calls happen under one lock, so that a last end and a new start cannot pass each other.
//! 2. Everything that belongs to ACL holds a [`RuntimeInner`], so ACL is ended after all of it.

#![expect(unsafe_code, reason = "declares the unsafe constructor over a foreign table")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acl_sys::{Library, aclrtRunMode};
use parking_lot::{Mutex, MutexGuard};

use crate::api::Api;
use crate::watch::Watchers;
use crate::{AclCode, AclError, Device};

/// ACL where it runs, by library.
static PROCESSES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Entry {
    process: Arc<Process>,
    config: Option<CString>,
    users: usize,
    /// False where somebody else had initialised ACL before.
    first: bool,
}

/// What all owners of one library share.
#[derive(Debug)]
pub(crate) struct Process {
    api: Api,
    abandoned: AtomicBool,
    errors: Mutex<ReleaseErrors>,
    /// Held while a device is set or reset; see [`crate::device`].
    device_gate: Mutex<()>,
    /// By number, the mark that a forced reset sets. Never held through a call of ACL, which may tell of a reset.
    resets: Mutex<BTreeMap<i32, Arc<AtomicBool>>>,
    watchers: Watchers,
}

impl Process {
    pub(crate) fn watchers(&self) -> &Watchers {
        &self.watchers
    }

    /// Says that ACL is ended by somebody else.
    pub(crate) fn abandon(&self) {
        // Pairs with the loads in `live`, `start_api` and `drop`.
        self.abandoned.store(true, Ordering::Release);
    }

    /// Says that a device goes, with all that was made on it.
    pub(crate) fn mark_reset(&self, device: i32) {
        if let Some(mark) = self.resets.lock().remove(&device) {
            // Pairs with the load in `DeviceInner::is_reset`.
            mark.store(true, Ordering::Release);
        }
    }
}

/// Keeps ACL initialised; the end is its drop.
#[derive(Debug)]
pub(crate) struct RuntimeInner {
    process: Arc<Process>,
}

/// What was not released, since it could not be reported where it happened: in a destructor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleaseErrors {
    /// Releases that ACL refused; what they were for is lost until the device is reset.
    pub failed: u64,
    /// Releases that were left out on purpose, because the runtime was abandoned or something inside could not be released.
    pub leaked: u64,
    /// The last refusal.
    pub last: Option<AclError>,
}

/// ACL, initialised. Clones and further starts share it; the last to go ends it.
///
/// Any thread. All that is made from it keeps it alive.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<RuntimeInner>,
}

impl Runtime {
    /// Loads the library of this process and initialises ACL, or shares it if that was done before. If another part of the
    /// process has initialised ACL itself, it stays up when this crate's last owner goes.
    ///
    /// Holds a lock of the process through aclInit; not to be called from a callback of ACL.
    ///
    /// # Errors
    ///
    /// [`AclError::NoLibrary`] with every place that was tried, or ACL's own error.
    pub fn start() -> Result<Self, AclError> {
        Self::start_api(Api::of_process()?, None)
    }

    /// The same with a configuration file of ACL.
    ///
    /// # Errors
    ///
    /// As for [`Self::start`]; [`AclError::OtherConfiguration`] if it runs with another file.
    pub fn start_with_config(config: &Path) -> Result<Self, AclError> {
        Self::start_api(Api::of_process()?, Some(config))
    }

    /// The same over a library that the caller brings, such as a table of a test.
    ///
    /// # Errors
    ///
    /// As for [`Self::start_with_config`].
    ///
    /// # Safety
    ///
    /// - Every function of the library's table does what ACL's function of that name does: same arguments, same duties, and
    ///   handles that may be used from any thread.
    pub unsafe fn start_on(library: Arc<Library>, config: Option<&Path>) -> Result<Self, AclError> {
        // SAFETY: the caller's promise is the same.
        let api = unsafe { Api::of_library(library) };
        Self::start_api(api, config)
    }

    fn start_api(api: Api, config: Option<&Path>) -> Result<Self, AclError> {
        let config = config.map(c_path).transpose()?;
        let mut processes = PROCESSES.lock();
        let running = processes.iter_mut().find(|entry| {
            entry.process.api.identity() == api.identity() && !entry.process.abandoned.load(Ordering::Acquire)
        });
        if let Some(entry) = running {
            if entry.config != config {
                return Err(AclError::OtherConfiguration);
            }
            entry.users += 1;
            return Ok(Self { inner: Arc::new(RuntimeInner { process: Arc::clone(&entry.process) }) });
        }
        let first = match api.init(config.as_deref()) {
            Ok(()) => true,
            Err(error) if error.code() == Some(AclCode::REPEAT_INITIALIZE) => false,
            Err(error) => return Err(error),
        };
        tracing::debug!(first, "ACL is initialised");
        let process = Arc::new(Process {
            api,
            abandoned: AtomicBool::new(false),
            errors: Mutex::default(),
            device_gate: Mutex::default(),
            resets: Mutex::default(),
            watchers: Watchers::default(),
        });
        processes.push(Entry { process: Arc::clone(&process), config, users: 1, first });
        Ok(Self { inner: Arc::new(RuntimeInner { process }) })
    }

    /// Opens a device; see [`Device`].
    ///
    /// Holds a lock of the runtime through aclrtSetDevice; not to be called from a callback of ACL.
    ///
    /// # Errors
    ///
    /// [`AclError::NoSuchDevice`] with the number there are, or ACL's own.
    pub fn device(&self, number: i32) -> Result<Device, AclError> {
        Device::open(&self.inner, number)
    }

    /// Number of devices that this process may use.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn device_count(&self) -> Result<u32, AclError> {
        self.inner.live("aclrtGetDeviceCount")?.device_count()
    }

    /// Version of the runtime's interface: major, minor, patch.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn version(&self) -> Result<(i32, i32, i32), AclError> {
        self.inner.live("aclrtGetVersion")?.version()
    }

    /// Whether this program runs on the card itself, and not on a host with cards.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn runs_on_device(&self) -> Result<bool, AclError> {
        Ok(self.inner.live("aclrtGetRunMode")?.run_mode()? == aclrtRunMode::ACL_DEVICE)
    }

    /// The library below.
    pub fn library(&self) -> &Library {
        self.inner.api().library()
    }

    /// Whether the library has a function of ACL. What needs a missing one answers [`AclError::Unsupported`].
    pub fn is_supported(&self, symbol: &str) -> bool {
        self.library().is_supported(symbol)
    }

    /// Says that ACL has been ended, or is about to be, by another part of the process: from now on nothing is called, all
    /// calls fail with [`AclError::Abandoned`], and nothing is released but counted as leaked. Cannot be taken back; a new
    /// [`Runtime::start`] makes a new runtime. The caller sees to it that no call of another thread is under way.
    pub fn abandon(&self) {
        self.inner.process.abandon();
    }

    /// Whether [`Self::abandon`] was called.
    pub fn is_abandoned(&self) -> bool {
        self.inner.is_abandoned()
    }

    /// What was not released so far. O(1), one lock.
    pub fn release_errors(&self) -> ReleaseErrors {
        self.inner.process.errors.lock().clone()
    }

    /// The same, and counts anew.
    pub fn take_release_errors(&self) -> ReleaseErrors {
        std::mem::take(&mut *self.inner.process.errors.lock())
    }
}

impl RuntimeInner {
    pub(crate) fn api(&self) -> &Api {
        &self.process.api
    }

    pub(crate) fn process(&self) -> &Arc<Process> {
        &self.process
    }

    /// Keeps others from setting and resetting devices.
    pub(crate) fn device_gate(&self) -> MutexGuard<'_, ()> {
        self.process.device_gate.lock()
    }

    /// The mark of the next forced reset of a device.
    pub(crate) fn reset_mark(&self, device: i32) -> Arc<AtomicBool> {
        Arc::clone(self.process.resets.lock().entry(device).or_default())
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.process.abandoned.load(Ordering::Acquire)
    }

    /// ACL's functions, unless the runtime was abandoned.
    pub(crate) fn live(&self, call: &'static str) -> Result<&Api, AclError> {
        if self.is_abandoned() { Err(AclError::Abandoned { call }) } else { Ok(self.api()) }
    }

    /// Notes a release that failed in a destructor.
    pub(crate) fn record_failure(&self, error: AclError) {
        let mut errors = self.process.errors.lock();
        errors.failed += 1;
        let failed = errors.failed;
        // A device that is gone makes every destructor fail: the first time is told, then every doubling.
        let told = failed.is_power_of_two().then(|| error.to_string());
        errors.last = Some(error);
        drop(errors);
        if let Some(error) = told {
            tracing::error!(error, failed, "could not release");
        }
    }

    /// Notes a release that was left out on purpose.
    pub(crate) fn record_leak(&self, what: &'static str) {
        let leaked = {
            let mut errors = self.process.errors.lock();
            errors.leaked += 1;
            errors.leaked
        };
        if leaked.is_power_of_two() {
            tracing::warn!(what, leaked, "left unreleased");
        }
    }
}

impl Drop for RuntimeInner {
    fn drop(&mut self) {
        let mut processes = PROCESSES.lock();
        let Some(index) = processes.iter().position(|entry| Arc::ptr_eq(&entry.process, &self.process))
        else {
            unreachable!("invariant 1: a runtime that lives is counted");
        };
        let entry = &mut processes[index];
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let entry = processes.swap_remove(index);
        let api = self.api();
        if self.is_abandoned() {
            self.record_leak("ACL");
        } else if api.library().is_supported("aclFinalizeReference") {
            if let Err(error) = api.finalize_reference() {
                self.record_failure(error);
            }
        } else if entry.first {
            // Without a count of ACL's own, only who was first may end it for everybody.
            if let Err(error) = api.finalize() {
                self.record_failure(error);
            }
        }
    }
}

/// A path as C takes it.
pub(crate) fn c_path(path: &Path) -> Result<CString, AclError> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| AclError::ZeroByte(path.to_string_lossy().into_owned().into()))
}
