//! Devices that may reach each other's memory.

use acl_sys::ACL_ERROR_FEATURE_UNSUPPORTED;

use crate::context::current;
use crate::failure::Failure;
use crate::runtime::{self, Runtime};

export! {
    /// Any two devices here can.
    fn aclrtDeviceCanAccessPeer(out can_access: *mut i32, val device: i32, val peer: i32) {
        can_access.check("the answer")?;
        pair(&*runtime::get()?, device, peer)?;
        can_access.set(1);
        Ok(())
    }

    /// In one direction, from the current device to the other. Again is fine.
    fn aclrtDeviceEnablePeerAccess(val peer: i32, val flags: u32) {
        if flags != 0 {
            let text = format!("flags {flags} of peer access: give 0");
            return Err(Failure::new(ACL_ERROR_FEATURE_UNSUPPORTED, text));
        }
        let current = current()?;
        let pair = pair_from(&current.runtime, current.device.index, peer)?;
        current.runtime.peers.lock().insert(pair);
        Ok(())
    }

    /// Without an enable before is fine.
    fn aclrtDeviceDisablePeerAccess(val peer: i32) {
        let current = current()?;
        let pair = pair_from(&current.runtime, current.device.index, peer)?;
        current.runtime.peers.lock().remove(&pair);
        Ok(())
    }

    fn aclrtDevicePeerAccessStatus(val device: i32, val peer: i32, out status: *mut i32) {
        status.check("the status")?;
        let runtime = runtime::get()?;
        let pair = pair(&runtime, device, peer)?;
        status.set(i32::from(runtime.peers.lock().contains(&pair)));
        Ok(())
    }
}

fn pair(runtime: &Runtime, device: i32, peer: i32) -> Result<(usize, usize), Failure> {
    pair_from(runtime, runtime.slot(device)?.0, peer)
}

fn pair_from(runtime: &Runtime, index: usize, peer: i32) -> Result<(usize, usize), Failure> {
    let (other, _) = runtime.slot(peer)?;
    if other == index {
        return Err(Failure::invalid(format!("device {index} is no peer of its own: give two devices")));
    }
    Ok((index, other))
}
