//! Notifications: flags that one stream sets and another waits for and clears.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use acl_sys::{aclrtNotify, aclrtStream};
use host_device::engine::{Gate, Operation};
use parking_lot::Mutex;

use crate::call;
use crate::context::{Current, current};
use crate::device::Device;
use crate::failure::Failure;
use crate::handles::{Handles, pointer};
use crate::tasks;

/// Either set, or with streams that wait, or neither.
#[derive(Debug, Default)]
struct Flag {
    set: bool,
    waiting: VecDeque<Gate>,
}

#[derive(Debug)]
struct Notify {
    device: usize,
    number: u32,
    flag: Arc<Mutex<Flag>>,
}

static NOTIFIES: Handles<Notify> = Handles::new("notification");

export! {
    fn aclrtCreateNotify(out notify: *mut aclrtNotify, val flag: u64) {
        notify.check("the notification")?;
        let current = current()?;
        if flag != 0 {
            return Err(Failure::refused(format!("flag {flag} of a notification does not exist: give 0")));
        }
        let device = current.device.index;
        let number = NOTIFIES.count_where(|known| known.device == device);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        notify.set(pointer(NOTIFIES.insert(Notify { device, number, flag: Arc::default() })));
        Ok(())
    }

    /// Pending sets and waits go on.
    fn aclrtDestroyNotify(num notify: aclrtNotify) {
        look_up(notify)?;
        NOTIFIES.remove(notify).map(drop)
    }

    /// In the order of the stream. Of several streams that wait, the first that came goes on.
    fn aclrtRecordNotify(num notify: aclrtNotify, num stream: aclrtStream) {
        let (current, known) = look_up(notify)?;
        let (flag, device) = (Arc::clone(&known.flag), Arc::downgrade(&current.device));
        let set = Operation::kernel(call::site_words(), Duration::ZERO).with_effect(move |_| {
            let next = {
                let mut flag = flag.lock();
                let next = flag.waiting.pop_front();
                flag.set |= next.is_none();
                next
            };
            if let (Some(gate), Some(device)) = (next, device.upgrade()) {
                device.engine.open_gate(&gate);
            }
        });
        tasks::enqueue(&current, &current.stream(stream)?, set)
    }

    /// A wait that takes longer than it may would fail the stream on a card; here it goes on waiting.
    fn aclrtWaitAndResetNotify(num notify: aclrtNotify, num stream: aclrtStream, val _timeout_ms: u32) {
        let (current, known) = look_up(notify)?;
        let stream = current.stream(stream)?;
        let gate = Gate::new();
        let arrive = arrival(Arc::clone(&known.flag), gate.clone(), &current.device);
        let wait = Operation::wait_gate(&gate).labelled(call::site_words());
        tasks::enqueue_all(&current, &stream, [arrive, wait])
    }

    fn aclrtGetNotifyId(num notify: aclrtNotify, out id: *mut u32) {
        id.check("the number")?;
        id.set(look_up(notify)?.1.number);
        Ok(())
    }
}

/// A stream comes to its wait: it takes the flag down, or queues up.
fn arrival(flag: Arc<Mutex<Flag>>, gate: Gate, device: &Arc<Device>) -> Operation {
    let device = Arc::downgrade(device);
    Operation::kernel(call::site_words(), Duration::ZERO).with_effect(move |_| {
        let passes = {
            let mut flag = flag.lock();
            let passes = std::mem::take(&mut flag.set);
            if !passes {
                flag.waiting.push_back(gate.clone());
            }
            passes
        };
        if passes && let Some(device) = device.upgrade() {
            device.engine.open_gate(&gate);
        }
    })
}

fn look_up(handle: u64) -> Result<(Current, Arc<Notify>), Failure> {
    let current = current()?;
    if handle == 0 {
        return Err(Failure::invalid("the notification is null"));
    }
    let notify = NOTIFIES.get(handle)?;
    if notify.device != current.device.index {
        return Err(Failure::refused(format!(
            "the notification is of device {}, the current context of device {}",
            notify.device, current.device.index
        )));
    }
    Ok((current, notify))
}

/// Forgets what was made on a device that is gone.
pub(super) fn forget_device(index: usize) {
    NOTIFIES.remove_where(|notify| notify.device == index);
}

pub(super) fn describe_left(index: usize) -> Vec<String> {
    NOTIFIES.describe_where(|notify| notify.device == index)
}
