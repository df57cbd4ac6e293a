//! What is known of a device: its size, its cores, whether it is busy and well.

use acl_sys::{
    aclDeviceInfo, aclrtDevAttr, aclrtDeviceStatus, aclrtErrorInfo, aclrtUtilizationInfo, aclrtUuid,
};

use crate::context::STREAMS;
use crate::failure::Failure;
use crate::foreign::put_text;
use crate::options::{CUBE_CORES, VECTOR_CORES};
use crate::runtime;

/// The second-level cache of a card of the 910B kind.
const L2_BYTES: i64 = 192 << 20;

export! {
    /// Memory, cores, the second-level cache and numbers of the device are known.
    fn aclrtGetDeviceInfo(val device: u32, val attribute: aclrtDevAttr, out value: *mut i64) {
        use aclrtDevAttr as A;
        value.check("the value")?;
        let runtime = runtime::get()?;
        let (index, _) = runtime.slot(i32::try_from(device).unwrap_or(i32::MAX))?;
        value.set(match attribute {
            A::ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE => i64::try_from(runtime.settings.capacity).unwrap_or(i64::MAX),
            A::ACL_DEV_ATTR_AICORE_CORE_NUM | A::ACL_DEV_ATTR_CUBE_CORE_NUM => CUBE_CORES.into(),
            A::ACL_DEV_ATTR_VECTOR_CORE_NUM => VECTOR_CORES.into(),
            A::ACL_DEV_ATTR_L2_CACHE_SIZE => L2_BYTES,
            A::ACL_DEV_ATTR_PHY_CHIP_ID => i64::try_from(index).unwrap_or(i64::MAX),
            A::ACL_DEV_ATTR_IS_VIRTUAL => 0,
            _ => return Err(Failure::refused(format!("attribute {} of a device is not simulated", attribute.0))),
        });
        Ok(())
    }

    /// The older question after cores and the second-level cache.
    fn aclGetDeviceCapability(val device: u32, val info: aclDeviceInfo, out value: *mut i64) {
        value.check("the value")?;
        let slot = runtime::get()?.slot(i32::try_from(device).unwrap_or(i32::MAX)).map(drop);
        slot.map_err(|failure| failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM))?;
        value.set(match info {
            aclDeviceInfo::ACL_DEVICE_INFO_AI_CORE_NUM => CUBE_CORES.into(),
            aclDeviceInfo::ACL_DEVICE_INFO_VECTOR_CORE_NUM => VECTOR_CORES.into(),
            aclDeviceInfo::ACL_DEVICE_INFO_L2_SIZE => L2_BYTES,
            _ => return Err(Failure::invalid(format!("fact {} of a device does not exist: give 0 to 2", info.0))),
        });
        Ok(())
    }

    /// Cores count as busy while a stream has work left. As on a card, memory is not measured: -1.
    fn aclrtGetDeviceUtilizationRate(val device: i32, inout utilization: *mut aclrtUtilizationInfo) {
        let given = utilization.get("the utilization")?;
        if !given.utilizationExtend.is_null() {
            return Err(Failure::invalid("the extension is reserved: give null"));
        }
        let runtime = runtime::get()?;
        let (index, slot) = runtime.slot(device)?;
        let is_busy = slot.device().is_some_and(|device| {
            let streams = STREAMS.all();
            let mut of_device = streams.iter().filter(|stream| stream.device == index);
            of_device.any(|stream| device.engine.pending_operations(stream.id).unwrap_or(0) > 0)
        });
        let busy = if is_busy { 100 } else { 0 };
        utilization.set(aclrtUtilizationInfo {
            cubeUtilization: busy,
            vectorUtilization: busy,
            aicpuUtilization: 0,
            memoryUtilization: -1,
            utilizationExtend: given.utilizationExtend,
        });
        Ok(())
    }

    /// Simulated devices do not fall ill.
    fn aclrtQueryDeviceStatus(val device: i32, out status: *mut aclrtDeviceStatus) {
        status.check("the status")?;
        runtime::get()?.slot(device)?;
        status.set(aclrtDeviceStatus::ACL_RT_DEVICE_STATUS_NORMAL);
        Ok(())
    }

    /// No error of a device ever.
    fn aclrtGetErrorVerbose(val device: i32, out error: *mut aclrtErrorInfo) {
        error.check("the error")?;
        runtime::get()?.slot(device)?;
        error.set(aclrtErrorInfo::default());
        Ok(())
    }

    /// The letters `acl-sim` and the number of the device.
    fn aclrtDeviceGetUuid(val device: i32, out uuid: *mut aclrtUuid) {
        uuid.check("the name")?;
        runtime::get()?.slot(device)?;
        let mut name = aclrtUuid::default();
        put_text(&mut name.bytes, format!("acl-sim {device}").as_bytes());
        uuid.set(name);
        Ok(())
    }
}
