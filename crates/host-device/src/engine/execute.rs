//! Running one operation: whether its memory still is what it was enqueued for, and then its effect. No lock of the
//! engine is held here.

use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::device::HostDevice;
use crate::engine::StreamId;
use crate::engine::hazard::{Hazard, HazardKind};
use crate::engine::operation::{Action, Touch};
use crate::error::HostDeviceError;
use crate::identity::{Identity, Place};

/// Bytes that a copy between host and device holds at a time.
const CHUNK: usize = 256 << 10;

/// A touch, and who its memory was when it was enqueued.
#[derive(Debug)]
pub(super) struct Captured {
    touch: Touch,
    identities: Vec<Arc<Identity>>,
    /// Whether all of it was live.
    complete: bool,
}

/// An operation that was taken from its queue.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) stream: StreamId,
    pub(super) sequence: u64,
    pub(super) place: Place,
    pub(super) captured: Vec<Captured>,
    pub(super) action: Action,
}

pub(super) fn capture(device: &HostDevice, touches: &[Touch]) -> Vec<Captured> {
    let state = device.state.read();
    let real = touches.iter().filter(|touch| touch.length != 0);
    real.map(|&touch| {
        let (identities, complete) = state.identities(touch.address, touch.length);
        Captured { touch, identities, complete }
    })
    .collect()
}

/// The 8 bytes at `address` as a number.
pub(super) fn read_value(device: &HostDevice, address: u64) -> Result<u64, HostDeviceError> {
    let mut bytes = [0; 8];
    device.read(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

impl Job {
    /// Whether running it neither calls nor drops a closure of a user, nor reaches memory.
    pub(super) fn is_mark(&self) -> bool {
        matches!(self.action, Action::Record(_) | Action::Wait { .. } | Action::Reset(..))
    }

    /// Has the effect, drops the closures, and answers what was wrong.
    pub(super) fn execute(&mut self, device: &HostDevice) -> Vec<Hazard> {
        let mut hazards: Vec<Hazard> =
            self.captured.iter().filter_map(|captured| self.check(captured, device)).collect();
        let action = &mut self.action;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let outcome = perform(action, device);
            if !matches!(action, Action::Record(_) | Action::Wait { .. } | Action::Reset(..)) {
                *action = Action::Work(None);
            }
            outcome
        }));
        match outcome {
            Ok(Ok(())) => {}
            // A hazard says already why the memory could not be reached.
            Ok(Err(_)) if !hazards.is_empty() => {}
            Ok(Err(error)) => hazards.push(self.failure(HazardKind::AccessFailed, error.to_string(), device)),
            Err(panic) => {
                hazards.push(self.failure(HazardKind::Panicked, words_of(panic.as_ref()), device));
            }
        }
        hazards
    }

    /// Whether the memory of a touch is still what it was.
    fn check(&self, captured: &Captured, device: &HostDevice) -> Option<Hazard> {
        let Captured { touch, identities, complete } = captured;
        let dead = identities.iter().find(|identity| identity.is_dead());
        if *complete && dead.is_none() {
            return None;
        }
        let state = device.state.read();
        let (current, live) = state.identities(touch.address, touch.length);
        let is_new = |identity: &&Arc<Identity>| {
            identities.iter().all(|known| known.generation != identity.generation)
        };
        let after = current.iter().find(is_new);
        let before = dead.or_else(|| {
            let missing = identities.last().map_or(touch.address, |last| last.base + last.size);
            state.registry.last_dead_at(missing)
        });
        let kind = match (after, before) {
            (Some(_), _) if live => HazardKind::NewerAllocation,
            (_, Some(_)) => HazardKind::UseAfterFree,
            (_, None) => HazardKind::NotLive,
        };
        Some(Hazard {
            kind,
            address: touch.address,
            length: touch.length,
            user: self.place.clone(),
            found_at: device.now(),
            before: before.map(|identity| identity.life()),
            after: after.map(|identity| identity.life()),
            detail: Cow::Borrowed(""),
        })
    }

    fn failure(&self, kind: HazardKind, detail: String, device: &HostDevice) -> Hazard {
        let (address, length) =
            self.captured.first().map_or((0, 0), |captured| (captured.touch.address, captured.touch.length));
        Hazard {
            kind,
            address,
            length,
            user: self.place.clone(),
            found_at: device.now(),
            before: None,
            after: None,
            detail: Cow::Owned(detail),
        }
    }
}

fn perform(action: &mut Action, device: &HostDevice) -> Result<(), HostDeviceError> {
    match action {
        Action::Work(effect) => {
            if let Some(effect) = effect.take() {
                effect(device);
            }
            Ok(())
        }
        Action::ToDevice { to, length, source } => for_parts(*length, |offset, part| {
            source(offset, part);
            device.write(*to + offset, part)
        }),
        Action::ToHost { from, length: 0, sink } => {
            device.read(*from, &mut [])?;
            sink(0, &[]);
            Ok(())
        }
        Action::ToHost { from, length, sink } => for_parts(*length, |offset, part| {
            device.read(*from + offset, part)?;
            sink(offset, part);
            Ok(())
        }),
        Action::Copy { to, from, length } => device.copy(*to, *from, *length),
        Action::Fill { to, length, byte } => device.fill(*to, *length, *byte),
        Action::Callback(function) => {
            if let Some(function) = function.take() {
                function();
            }
            Ok(())
        }
        Action::WriteValue { to, value } => device.write(*to, &value.to_le_bytes()),
        Action::WaitValue { at, .. } => read_value(device, *at).map(drop),
        Action::WaitGate(_) | Action::Record(_) | Action::Wait { .. } | Action::Reset(..) => Ok(()),
    }
}

/// Calls `each` with the offset of each part of `length` bytes, and a buffer as long as the part.
fn for_parts(
    length: u64,
    mut each: impl FnMut(u64, &mut [u8]) -> Result<(), HostDeviceError>,
) -> Result<(), HostDeviceError> {
    let size = |left: u64| usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
    let mut buffer = vec![0; size(length)];
    let mut done = 0;
    while done < length {
        let part = &mut buffer[..size(length - done)];
        each(done, part)?;
        done += part.len() as u64;
    }
    Ok(())
}

/// What a panic said.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words").to_owned()
}
