//! An ACL that keeps the rules: it knows what is alive and what belongs to what, notes each call, refuses what ACL refuses,
//! and fails a chosen call. One per process, so the tests that use it are serial.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use acl_sys::{
    aclError, aclFinalizeCallbackFunc, aclrtAllocatorAllocAdviseFunc, aclrtAllocatorAllocFunc,
    aclrtAllocatorFreeFunc, aclrtAllocatorGetAddrFromBlockFunc, aclrtDeviceStateCallback,
    aclrtStreamStateCallback,
};

pub(crate) const INVALID: aclError = 107_017;
pub(crate) const NO_CONTEXT: aclError = 107_002;
pub(crate) const OTHER_CONTEXT: aclError = 107_003;
pub(crate) const TOLD_TO_FAIL: aclError = 507_899;

/// Something that was made and not released.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    pub(crate) kind: &'static str,
    /// What must be released after it.
    pub(crate) needs: Vec<usize>,
    pub(crate) size: usize,
}

/// A description of an allocator, or a copy of one that is registered. `None` is what nobody set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Described {
    pub(crate) object: Option<usize>,
    pub(crate) allocate: Option<aclrtAllocatorAllocFunc>,
    pub(crate) free: Option<aclrtAllocatorFreeFunc>,
    pub(crate) advise: Option<aclrtAllocatorAllocAdviseFunc>,
    pub(crate) address: Option<aclrtAllocatorGetAddrFromBlockFunc>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) log: Vec<&'static str>,
    /// The number of the call that fails, counted from 1.
    pub(crate) fail_at: Option<usize>,
    /// The first of those calls that all fail.
    pub(crate) fail_from: Option<usize>,
    /// The call that did.
    pub(crate) failed_call: Option<&'static str>,
    /// A call of which the n-th fails, or each one.
    pub(crate) fail_call: Option<(&'static str, usize)>,
    /// What a call that was told to fail answers.
    pub(crate) fail_code: aclError,
    /// Whether somebody else has initialised ACL before.
    pub(crate) initialised_elsewhere: bool,
    pub(crate) initialised: u64,
    /// Sets less resets, by device.
    pub(crate) sets: BTreeMap<i32, u32>,
    pub(crate) live: BTreeMap<usize, Live>,
    pub(crate) broken_rules: Vec<String>,
    pub(crate) capacity: usize,
    /// Host memory that the driver takes at a time, and in all; 0 is without a limit.
    pub(crate) host_limits: (usize, usize),
    /// Devices that were waited for, by their primary contexts.
    pub(crate) synchronised: Vec<usize>,
    /// Modules for which memory was allocated.
    pub(crate) modules: Vec<u16>,
    /// How many modules there are, if not the two that are told.
    pub(crate) modules_found: usize,
    pub(crate) descriptions: BTreeMap<usize, Described>,
    /// Who is told, by name, with what is given to the callback.
    pub(crate) device_callbacks: BTreeMap<String, (aclrtDeviceStateCallback, usize)>,
    pub(crate) stream_callbacks: BTreeMap<String, (aclrtStreamStateCallback, usize)>,
    pub(crate) finalize_callbacks: Vec<(aclFinalizeCallbackFunc, usize)>,
    /// By stream.
    pub(crate) allocators: BTreeMap<usize, Described>,
    current: Vec<(ThreadId, usize)>,
    text: Option<String>,
    next: usize,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state, behind its lock.
pub(crate) struct Fake(MutexGuard<'static, Option<State>>);

impl std::ops::Deref for Fake {
    type Target = State;

    fn deref(&self) -> &State {
        self.0.as_ref().expect("`reset` is the first call of a test")
    }
}

impl std::ops::DerefMut for Fake {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("`reset` is the first call of a test")
    }
}

fn lock() -> Fake {
    Fake(STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The state as it is now: a copy, so that no lock is held while a test goes on.
pub(crate) fn fake() -> State {
    lock().clone()
}

/// Changes the state.
pub(crate) fn change<T>(change: impl FnOnce(&mut State) -> T) -> T {
    change(&mut lock())
}

/// Fails the next call.
pub(crate) fn fail_next() {
    change(|state| state.fail_at = Some(state.log.len() + 1));
}

/// Fails the n-th call of that name from now on, counted from 1; 0 is all of them.
pub(crate) fn fail_nth(call: &'static str, n: usize) {
    change(|state| state.fail_call = Some((call, n)));
}

/// Makes a context current on this thread as foreign code does, which the crate under test does not see.
pub(crate) fn set_current_behind(context: usize) {
    change(|state| state.set_current(Some(context)));
}

/// What this thread has current.
pub(crate) fn current_here() -> Option<usize> {
    change(|state| state.found_current())
}

/// A stream that foreign code has made in a context, and destroys when this goes.
pub(crate) struct ForeignStream(pub(crate) usize);

impl ForeignStream {
    pub(crate) fn new(context: usize) -> Self {
        Self(change(|state| {
            let handle = state.handle();
            state.add(handle, "stream", vec![context], 0)
        }))
    }
}

impl Drop for ForeignStream {
    fn drop(&mut self) {
        change(|state| state.live.remove(&self.0));
    }
}

/// Begins anew.
pub(crate) fn reset() {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    *state = Some(State { capacity: 1 << 30, fail_code: TOLD_TO_FAIL, ..State::default() });
}

/// The state, in the middle of a call that let go of it for a callback.
pub(crate) fn again() -> Fake {
    lock()
}

/// Begins a call: notes it, and fails it if it is the one.
pub(crate) fn enter(call: &'static str) -> Result<Fake, aclError> {
    let mut state = lock();
    state.log.push(call);
    state.text = None;
    let fails = match state.fail_call {
        Some((name, 0)) => name == call,
        Some((name, 1)) if name == call => {
            state.fail_call = None;
            true
        }
        Some((name, n)) if name == call => {
            state.fail_call = Some((name, n - 1));
            false
        }
        _ => false,
    };
    let is_lost = state.fail_from.is_some_and(|first| state.log.len() >= first);
    if fails || is_lost || state.fail_at == Some(state.log.len()) {
        state.failed_call = Some(call);
        state.text = Some(format!("  EE9999: {call} was told to fail\n"));
        return Err(state.fail_code);
    }
    if call != "aclInit" && state.initialised == 0 {
        state.broken_rules.push(format!("{call} while ACL is not initialised"));
    }
    Ok(state)
}

pub(crate) fn primary(device: i32) -> usize {
    0xD000 + usize::try_from(device).expect("tests use devices from 0")
}

impl State {
    pub(crate) fn take_text(&mut self) -> Option<String> {
        self.text.take()
    }

    pub(crate) fn count(&self, call: &str) -> usize {
        self.log.iter().filter(|logged| **logged == call).count()
    }

    /// Where a call stands in the log, which must have it.
    pub(crate) fn position(&self, call: &str) -> usize {
        self.log.iter().position(|logged| *logged == call).unwrap_or_else(|| panic!("{call} was not called"))
    }

    /// All that was made and not released.
    pub(crate) fn left(&self) -> u64 {
        let sets: u32 = self.sets.values().sum();
        let callbacks =
            self.device_callbacks.len() + self.stream_callbacks.len() + self.finalize_callbacks.len();
        (self.live.len() + self.allocators.len() + callbacks) as u64 + u64::from(sets)
    }

    pub(crate) fn set_current(&mut self, context: Option<usize>) {
        let thread = thread::current().id();
        self.current.retain(|(other, _)| *other != thread);
        self.current.extend(context.map(|context| (thread, context)));
    }

    pub(crate) fn found_current(&self) -> Option<usize> {
        let thread = thread::current().id();
        self.current.iter().find(|(other, _)| *other == thread).map(|(_, context)| *context)
    }

    /// The current context of this thread, which must be alive.
    pub(crate) fn current(&mut self) -> Result<usize, aclError> {
        match self.found_current() {
            Some(context) if self.is_context(context) => Ok(context),
            _ => {
                let call = self.log.last().copied().unwrap_or_default();
                self.broken_rules.push(format!("{call} without a context"));
                Err(NO_CONTEXT)
            }
        }
    }

    /// The device of the current context, by its primary context: memory must go before its last reset.
    pub(crate) fn current_device(&mut self) -> Result<usize, aclError> {
        let current = self.current()?;
        Ok(self.device_of(current))
    }

    /// The device of a context, a stream or an event.
    pub(crate) fn device_of(&self, handle: usize) -> usize {
        self.live.get(&handle).map_or(handle, |live| self.device_of(live.needs[0]))
    }

    /// Notes a broken rule.
    pub(crate) fn broken(&mut self, rule: impl Into<String>) {
        let call = self.log.last().copied().unwrap_or_default();
        let rule = rule.into();
        self.broken_rules.push(format!("{call}: {rule}"));
    }

    /// All that hangs on a handle, however far away.
    pub(crate) fn remove_below(&mut self, handle: usize) {
        let below: Vec<_> = (self.live.iter().filter(|(_, live)| live.needs.contains(&handle)))
            .map(|(live, _)| *live)
            .collect();
        for handle in below {
            self.live.remove(&handle);
            self.remove_below(handle);
        }
    }

    /// The allocation in which an address lies.
    pub(crate) fn allocation(&self, address: usize) -> Option<(usize, &Live)> {
        let kinds = ["device memory", "host memory"];
        let (base, live) = self.live.range(..=address).rev().find(|(_, live)| kinds.contains(&live.kind))?;
        (address < base + live.size).then_some((*base, live))
    }

    pub(crate) fn is_context(&self, handle: usize) -> bool {
        let is_primary = self.sets.iter().any(|(device, sets)| *sets > 0 && primary(*device) == handle);
        is_primary || self.live.get(&handle).is_some_and(|live| live.kind == "context")
    }

    /// A new handle that is no address.
    pub(crate) fn handle(&mut self) -> usize {
        self.next += 1;
        0x10_0000 + self.next * 16
    }

    pub(crate) fn add(&mut self, handle: usize, kind: &'static str, needs: Vec<usize>, size: usize) -> usize {
        self.live.insert(handle, Live { kind, needs, size });
        handle
    }

    /// That a handle is alive, and of its context if it has one.
    pub(crate) fn require(&mut self, handle: usize, kind: &'static str) -> Result<(), aclError> {
        let current = self.current()?;
        let call = self.log.last().copied().unwrap_or_default();
        if kind == "stream" && handle == current {
            // A context's own stream goes by the handle of the context.
            return Ok(());
        }
        match self.live.get(&handle) {
            Some(live) if live.kind == kind => {
                if kind == "stream" && live.needs != [current] {
                    self.broken_rules.push(format!("{call} with a stream of another context"));
                    return Err(OTHER_CONTEXT);
                }
                Ok(())
            }
            found => {
                let rule = format!("{call}: {handle:#x} is {found:?} and no {kind}");
                self.broken_rules.push(rule);
                Err(INVALID)
            }
        }
    }

    /// Releases; what needs it must be gone.
    pub(crate) fn remove(&mut self, handle: usize, kind: &'static str) -> Result<(), aclError> {
        let call = self.log.last().copied().unwrap_or_default();
        if self.live.get(&handle).is_none_or(|live| live.kind != kind) {
            self.broken_rules.push(format!("{call}: {handle:#x} is no {kind}"));
            return Err(INVALID);
        }
        self.live.remove(&handle);
        self.check_unneeded(handle, call);
        Ok(())
    }

    pub(crate) fn check_unneeded(&mut self, handle: usize, call: &'static str) {
        let broken: Vec<_> = (self.live.values().filter(|live| live.needs.contains(&handle)))
            .map(|live| format!("{call} before a {} that needs it", live.kind))
            .collect();
        self.broken_rules.extend(broken);
    }
}
