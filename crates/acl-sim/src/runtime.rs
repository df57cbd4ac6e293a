//! The one runtime of the process: counted initialisation, devices, contexts, and teardown.

use std::collections::{HashMap, HashSet};
use std::panic;
use std::path::Path;
use std::sync::{Arc, Once};

use acl_sys::{
    ACL_ERROR_REPEAT_FINALIZE, ACL_ERROR_REPEAT_INITIALIZE, ACL_ERROR_RT_INVALID_DEVICEID,
    ACL_ERROR_UNINITIALIZE, Table, aclError, aclrtDeviceState, first_version,
};
use host_device::{HostDevice, HostDeviceConfig};
use parking_lot::{Mutex, RwLock};

use crate::device::{Device, Slot};
use crate::failure::Failure;
use crate::options::ProcessOptions;
use crate::reports::Reports;
use crate::settings::{PlannedFailure, Settings};
use crate::thread_state;
use crate::watchers::tell_of_device;
use crate::{call, context, leftovers, reports};

static STATE: RwLock<State> = RwLock::new(State { runtime: None, references: 0, ever_finalized: false });

struct State {
    runtime: Option<Arc<Runtime>>,
    references: u64,
    ever_finalized: bool,
}

/// Everything between a first `aclInit` and the finalisation.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) settings: Settings,
    pub(crate) devices: Vec<Slot>,
    /// Memory of the host that devices reach.
    pub(crate) pinned: Arc<HostDevice>,
    pinned_sizes: Mutex<HashMap<u64, u64>>,
    pub(crate) reports: Reports,
    /// Where is told what a program leaves behind.
    pub(crate) leftovers: Option<reports::File>,
    /// Calls that the chosen version does not have.
    absent: HashSet<&'static str>,
    calls: Mutex<HashMap<&'static str, u64>>,
    tasks: Mutex<HashMap<&'static str, u64>>,
    pub(crate) options: Mutex<ProcessOptions>,
    /// Pairs of devices, of which the first may reach the memory of the second.
    pub(crate) peers: Mutex<HashSet<(usize, usize)>>,
}

impl Runtime {
    fn new() -> Result<Self, Failure> {
        let settings = Settings::from_environment().map_err(|error| Failure::invalid(error.to_string()))?;
        let reports = Reports::new(open("ASCEND_SIM_HAZARDS", settings.hazards.as_deref())?);
        let leftovers = open("ASCEND_SIM_LEFTOVERS", settings.leftovers.as_deref())?;
        let absent = Table::SYMBOLS.iter().copied();
        let absent =
            absent.filter(|name| first_version(name).is_some_and(|first| first > settings.version)).collect();
        let pinned =
            HostDevice::new(HostDeviceConfig::new(u64::MAX).with_granularity(32).with_base_alignment(512))?;
        Ok(Self {
            devices: (0..settings.devices).map(|_| Slot::default()).collect(),
            pinned: Arc::new(pinned),
            pinned_sizes: Mutex::default(),
            reports,
            leftovers,
            absent,
            calls: Mutex::default(),
            tasks: Mutex::default(),
            options: Mutex::default(),
            peers: Mutex::default(),
            settings,
        })
    }

    /// The code with which this call of `name` is to fail, if it is.
    pub(crate) fn planned_failure(&self, name: &'static str) -> Option<(u64, aclError)> {
        next_planned(&self.settings.failures, &self.calls, name)
    }

    /// The code with which what this call of `name` enqueues is to fail, if it is.
    pub(crate) fn planned_task_failure(&self, name: &'static str) -> Option<aclError> {
        next_planned(&self.settings.task_failures, &self.tasks, name).map(|(_, code)| code)
    }

    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.absent.contains(name)
    }

    /// The place of a device.
    pub(crate) fn slot(&self, device: i32) -> Result<(usize, &Slot), Failure> {
        let found = usize::try_from(device).ok().and_then(|index| Some((index, self.devices.get(index)?)));
        found.ok_or_else(|| {
            let count = self.devices.len();
            let text = format!("device {device} does not exist: there are {count}, numbered from 0");
            Failure::new(ACL_ERROR_RT_INVALID_DEVICEID, text)
        })
    }

    /// The device in whose live memory the address lies.
    pub(crate) fn owner_of(&self, address: u64) -> Option<Arc<Device>> {
        self.devices.iter().filter_map(Slot::device).find(|device| device.owns(address))
    }

    pub(crate) fn active_devices(&self) -> impl Iterator<Item = Arc<Device>> + '_ {
        self.devices.iter().filter_map(Slot::device)
    }

    /// Takes `size` bytes of pinned host memory.
    pub(crate) fn allocate_pinned(&self, size: u64) -> Result<u64, Failure> {
        let address = self.pinned.allocate_from(size, call::site())?;
        self.pinned_sizes.lock().insert(address, size);
        Ok(address)
    }

    pub(crate) fn free_pinned(&self, address: u64) -> Result<(), Failure> {
        let size = self.pinned_sizes.lock().remove(&address);
        let size = size.ok_or_else(|| {
            Failure::refused(format!(
                "{address:#x} is no allocation of pinned memory: free what was allocated, by its first address, once"
            ))
        })?;
        Ok(self.pinned.free(address, size)?)
    }

    /// Words about pinned memory that lives.
    pub(crate) fn describe_pinned(&self) -> Vec<String> {
        let addresses: Vec<u64> = self.pinned_sizes.lock().keys().copied().collect();
        let mut lives: Vec<_> =
            addresses.into_iter().filter_map(|address| Some(self.pinned.describe(address)?.life)).collect();
        lives.sort_unstable_by_key(|life| life.generation);
        lives.into_iter().map(|life| format!("pinned memory, {life}")).collect()
    }

    fn tear_down(&self) {
        leftovers::tell_of_process(self);
        for slot in &self.devices {
            if let Some(device) = slot.clear() {
                leftovers::tell_of_device(self, &device);
                context::tell_of_end(|stream| stream.device == device.index);
                tell_of_device(device.index, aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_PRE);
                device.settle();
                context::forget_device(device.index);
                tell_of_device(device.index, aclrtDeviceState::ACL_RT_DEVICE_STATE_RESET_POST);
            }
        }
    }
}

/// Counts a call of `name`, and answers its number and code if it is to fail.
fn next_planned(
    plan: &HashMap<String, Vec<PlannedFailure>>,
    counts: &Mutex<HashMap<&'static str, u64>>,
    name: &'static str,
) -> Option<(u64, aclError)> {
    let planned = plan.get(name)?;
    let mut counts = counts.lock();
    let number = counts.entry(name).or_default();
    *number += 1;
    planned.iter().find(|planned| planned.is_of(*number)).map(|planned| (*number, planned.code))
}

fn open(variable: &str, path: Option<&Path>) -> Result<Option<reports::File>, Failure> {
    reports::File::open(path).map_err(|error| {
        Failure::invalid(format!("{variable}={path:?} cannot be opened for appending: {error}"))
    })
}

/// The runtime; 100001 before `aclInit`.
pub(crate) fn get() -> Result<Arc<Runtime>, Failure> {
    peek().ok_or_else(|| Failure::new(ACL_ERROR_UNINITIALIZE, "ACL is not initialised: call aclInit first"))
}

/// The number of devices, which clients ask for before `aclInit`.
pub(crate) fn device_count() -> Result<usize, Failure> {
    match peek() {
        Some(runtime) => Ok(runtime.devices.len()),
        None => {
            Ok(Settings::from_environment().map_err(|error| Failure::invalid(error.to_string()))?.devices)
        }
    }
}

pub(crate) fn peek() -> Option<Arc<Runtime>> {
    STATE.read().runtime.clone()
}

/// Keeps panics inside calls silent: they become error texts, and a library prints nothing.
fn silence_calls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !thread_state::is_in_call() {
                others(panic);
            }
        }));
    });
}

/// `aclInit`.
pub(crate) fn initialize() -> Result<(), Failure> {
    silence_calls();
    let mut state = STATE.write();
    if state.runtime.is_some() {
        state.references += 1;
        let text = "ACL is initialised already; its reference count went up";
        return Err(Failure::new(ACL_ERROR_REPEAT_INITIALIZE, text));
    }
    let runtime = Arc::new(Runtime::new()?);
    if let Some((number, code)) = runtime.planned_failure("aclInit") {
        return Err(Failure::new(code, format!("call {number} of aclInit fails as ASCEND_SIM_FAIL says")));
    }
    state.runtime = Some(runtime);
    state.references = 1;
    Ok(())
}

/// `aclFinalize`: whatever the count, once.
pub(crate) fn finalize() -> Result<(), Failure> {
    let (runtime, ever) = {
        let mut state = STATE.write();
        state.references = 0;
        (state.runtime.take(), std::mem::replace(&mut state.ever_finalized, true))
    };
    match runtime {
        Some(runtime) => runtime.tear_down(),
        None if ever => return Err(finalized_already()),
        None => {}
    }
    Ok(())
}

/// `aclFinalizeReference`: answers the count before; the last one tears down.
pub(crate) fn finalize_reference() -> Result<u64, Failure> {
    let references = {
        let mut state = STATE.write();
        if state.references > 1 {
            state.references -= 1;
            return Ok(state.references + 1);
        }
        state.references
    };
    if references == 0 {
        return Err(finalized_already());
    }
    finalize()?;
    Ok(1)
}

fn finalized_already() -> Failure {
    Failure::new(ACL_ERROR_REPEAT_FINALIZE, "ACL is finalised already, or was never initialised")
}
