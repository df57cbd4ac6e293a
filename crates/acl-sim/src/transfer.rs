//! Copies and fills: which memory the two addresses are, and how bytes go from one to the other, now or on a stream.

use std::sync::Arc;
use std::time::Duration;

use acl_sys::{ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpyKind};
use host_device::HostDevice;
use host_device::engine::Operation;

use crate::call;
use crate::context::{Current, Stream};
use crate::device::Device;
use crate::failure::Failure;
use crate::foreign::HostBytes;
use crate::runtime::Runtime;
use crate::tasks;

/// Bytes that are moved at once.
const CHUNK: u64 = 1 << 20;

/// One end of a copy.
#[derive(Debug, Clone)]
enum Side {
    Device(Arc<Device>, u64),
    /// Host memory that ACL allocated: known, so that its misuse is seen.
    Pinned(Arc<HostDevice>, u64),
    /// Any other memory of the process.
    Pageable(HostBytes),
}

/// What a copy was asked to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) to: u64,
    pub(crate) to_bytes: HostBytes,
    pub(crate) to_room: usize,
    pub(crate) from: u64,
    pub(crate) from_bytes: HostBytes,
    pub(crate) count: usize,
    pub(crate) kind: aclrtMemcpyKind,
}

impl Side {
    fn of(runtime: &Runtime, address: u64, bytes: HostBytes) -> Self {
        if let Some(device) = runtime.owner_of(address) {
            Self::Device(device, address)
        } else if runtime.pinned.describe(address).is_some() {
            Self::Pinned(Arc::clone(&runtime.pinned), address)
        } else {
            Self::Pageable(bytes)
        }
    }

    fn is_device(&self) -> bool {
        matches!(self, Self::Device(..))
    }

    fn read(&self, offset: u64, part: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Device(device, address) => device.memory.read(address.saturating_add(offset), part)?,
            Self::Pinned(memory, address) => memory.read(address.saturating_add(offset), part)?,
            Self::Pageable(bytes) => bytes.read(offset, part),
        }
        Ok(())
    }

    fn write(&self, offset: u64, part: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Device(device, address) => device.memory.write(address.saturating_add(offset), part)?,
            Self::Pinned(memory, address) => memory.write(address.saturating_add(offset), part)?,
            Self::Pageable(bytes) => bytes.write(offset, part),
        }
        Ok(())
    }
}

/// Moves bytes in parts.
fn move_bytes(to: &Side, from: &Side, count: u64) -> Result<(), Failure> {
    if let (Side::Device(to_device, to), Side::Device(from_device, from)) = (to, from)
        && Arc::ptr_eq(to_device, from_device)
    {
        return Ok(to_device.memory.copy(*to, *from, count)?);
    }
    let mut buffer = vec![0; usize::try_from(count.min(CHUNK)).unwrap_or(0)];
    let mut done = 0;
    while done < count {
        let length = usize::try_from((count - done).min(CHUNK)).unwrap_or(0);
        let part = buffer.get_mut(..length).unwrap_or_default();
        from.read(done, part)?;
        to.write(done, part)?;
        done += length as u64;
    }
    Ok(())
}

/// Nothing orders a synchronous copy behind queued work. A program that counts on its luck here can be given some.
fn let_work_go_on(current: &Current) {
    let grace = current.runtime.settings.copy_grace;
    if !grace.is_zero() {
        let _late_work_is_no_failure = current.device.engine.synchronize_device_within(grace);
    }
}

/// Whether a copy may go between these ends: 107000 without peer access, and for a synchronous one of mapped memory.
fn check_devices(runtime: &Runtime, to: &Side, from: &Side, synchronous: bool) -> Result<(), Failure> {
    let (Side::Device(to, to_address), Side::Device(from, from_address)) = (to, from) else { return Ok(()) };
    let (a, b) = (from.index, to.index);
    if a == b {
        return Ok(());
    }
    let peers = runtime.peers.lock();
    if !peers.contains(&(a, b)) && !peers.contains(&(b, a)) {
        return Err(Failure::refused(format!(
            "devices {a} and {b} may not reach each other's memory: call aclrtDeviceEnablePeerAccess first"
        )));
    }
    let is_mapped = |device: &Device, address: u64| device.memory.reservation_around(address).is_some();
    if synchronous && (is_mapped(to, *to_address) || is_mapped(from, *from_address)) {
        let text = "mapped memory goes from one device to another with aclrtMemcpyAsync only";
        return Err(Failure::refused(text));
    }
    Ok(())
}

impl Request {
    /// The two ends; `None` when there is nothing to do.
    fn sides(&self, runtime: &Runtime, synchronous: bool) -> Result<Option<(Side, Side)>, Failure> {
        use aclrtMemcpyKind as K;
        if self.count == 0 || self.to == self.from {
            return Ok(None);
        }
        if self.to == 0 || self.from == 0 {
            return Err(Failure::invalid("an address of the copy is null"));
        }
        if self.count > self.to_room {
            let Self { count, to_room, .. } = self;
            return Err(Failure::refused(format!("{count} bytes do not fit into {to_room}")));
        }
        let (to_device, from_device) = match self.kind {
            K::ACL_MEMCPY_HOST_TO_HOST | K::ACL_MEMCPY_DEFAULT => (false, false),
            K::ACL_MEMCPY_HOST_TO_DEVICE | K::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE => (true, false),
            K::ACL_MEMCPY_DEVICE_TO_HOST => (false, true),
            K::ACL_MEMCPY_DEVICE_TO_DEVICE => (true, true),
            K::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE | K::ACL_MEMCPY_INTER_DEVICE_TO_DEVICE if !synchronous => {
                (true, true)
            }
            kind => return Err(Failure::invalid(format!("this copy does not take kind {}", kind.0))),
        };
        let to = Side::of(runtime, self.to, self.to_bytes);
        let from = Side::of(runtime, self.from, self.from_bytes);
        for (side, wanted, address, name) in
            [(&to, to_device, self.to, "destination"), (&from, from_device, self.from, "source")]
        {
            if wanted && !side.is_device() {
                return Err(Failure::refused(format!(
                    "the {name} {address:#x} is no live memory of a device, as kind {} says",
                    self.kind.0
                )));
            }
        }
        check_devices(runtime, &to, &from, synchronous)?;
        Ok(Some((to, from)))
    }

    /// Copies before it returns.
    pub(crate) fn run(&self, current: &Current) -> Result<(), Failure> {
        let Some((to, from)) = self.sides(&current.runtime, true)? else { return Ok(()) };
        let_work_go_on(current);
        move_bytes(&to, &from, self.count as u64)
    }

    /// Copies in the order of a stream.
    pub(crate) fn enqueue(&self, current: &Current, stream: &Arc<Stream>) -> Result<(), Failure> {
        let Some((to, from)) = self.sides(&current.runtime, false)? else { return Ok(()) };
        let count = self.count as u64;
        let here = |device: &Arc<Device>| Arc::ptr_eq(device, &current.device);
        let weak = Arc::downgrade(&current.runtime);
        let site = call::site_words();
        // The memory behind a copy may be freed before it runs, which is for the program to hear of.
        let report = move |outcome: Result<(), Failure>| {
            if let (Err(failure), Some(runtime)) = (outcome, weak.upgrade()) {
                runtime.reports.add(format!("copy enqueued by {site:?} failed when it ran: {failure}"));
            }
        };
        let mut waits = false;
        let operation = match (&to, &from) {
            (Side::Device(to_device, to), Side::Device(from_device, from))
                if here(to_device) && here(from_device) =>
            {
                Operation::copy(*to, *from, count)
            }
            (Side::Device(device, to), Side::Pageable(bytes)) if here(device) => {
                Operation::copy_to_device(*to, bytes.to_vec())
            }
            (Side::Device(device, to), Side::Pinned(..)) if here(device) => {
                let from = from.clone();
                Operation::copy_to_device_in_parts(*to, count, move |offset, part| {
                    report(from.read(offset, part));
                })
            }
            (Side::Pinned(..) | Side::Pageable(_), Side::Device(device, from)) if here(device) => {
                waits = matches!(to, Side::Pageable(_));
                let to = to.clone();
                Operation::copy_to_host_in_parts(*from, count, move |offset, part| {
                    report(to.write(offset, part));
                })
            }
            (Side::Device(..), _) | (_, Side::Device(..)) => {
                let mut operation = Operation::kernel("copy between devices", Duration::ZERO);
                if let Side::Device(device, address) = &from
                    && here(device)
                {
                    operation = operation.reading(*address, count);
                }
                if let Side::Device(device, address) = &to
                    && here(device)
                {
                    operation = operation.writing(*address, count);
                }
                let (to, from) = (to.clone(), from.clone());
                operation.with_effect(move |_| report(move_bytes(&to, &from, count)))
            }
            _ => {
                let text = "an asynchronous copy from host to host is not supported: use aclrtMemcpy";
                return Err(Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, text));
            }
        };
        let operation =
            operation.labelled(call::site_words()).lasting(call::stream_latency(&current.runtime));
        tasks::enqueue(current, stream, operation)?;
        if waits {
            // A card copies to pageable memory through a buffer of its driver and returns when that is done.
            current.device.engine.synchronize_stream(stream.id)?;
            tasks::outcome(stream)?;
        }
        Ok(())
    }
}

/// What a fill was asked to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) room: usize,
    pub(crate) value: i32,
    pub(crate) count: usize,
    pub(crate) bytes: HostBytes,
}

impl Fill {
    fn side(&self, current: &Current) -> Result<Option<(Side, u8)>, Failure> {
        if self.to == 0 {
            return Err(Failure::invalid("the address is null"));
        }
        if self.count > self.room {
            return Err(Failure::refused(format!("{} bytes do not fit into {}", self.count, self.room)));
        }
        // As in C, the low byte counts.
        let [byte, ..] = self.value.to_le_bytes();
        let side = Side::of(&current.runtime, self.to, self.bytes);
        Ok((self.count != 0).then_some((side, byte)))
    }

    /// Fills before it returns.
    pub(crate) fn run(&self, current: &Current) -> Result<(), Failure> {
        let Some((side, byte)) = self.side(current)? else { return Ok(()) };
        let_work_go_on(current);
        let count = self.count as u64;
        match &side {
            Side::Device(device, address) => device.memory.fill(*address, count, byte)?,
            Side::Pinned(memory, address) => memory.fill(*address, count, byte)?,
            Side::Pageable(_) => side.write(0, &vec![byte; self.count])?,
        }
        Ok(())
    }

    /// Fills in the order of a stream; only memory of the current device.
    pub(crate) fn enqueue(&self, current: &Current, stream: &Arc<Stream>) -> Result<(), Failure> {
        let Some((side, byte)) = self.side(current)? else { return Ok(()) };
        match side {
            Side::Device(device, address) if Arc::ptr_eq(&device, &current.device) => {
                let operation = Operation::fill(address, self.count as u64, byte);
                let latency = call::stream_latency(&current.runtime);
                let operation = operation.labelled(call::site_words()).lasting(latency);
                tasks::enqueue(current, stream, operation)
            }
            _ => {
                let text = format!("{:#x} is no live memory of device {}", self.to, current.device.index);
                Err(Failure::refused(text))
            }
        }
    }
}
