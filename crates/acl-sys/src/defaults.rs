//! The zero value of each struct, as `= {0}` makes it in C.
//!
//! Written field by field and not as zeroed bytes, so that it needs no unsafe code. Of a union the widest member is named,
//! which covers all others.

use std::ptr;

use crate::{
    aclCANNPackageVersion, aclmdlBatch, aclmdlExeOMDesc, aclmdlHW, aclmdlIODims, aclmdlIODimsRange,
    aclrtErrorInfo, aclrtErrorInfoDetail, aclrtErrorType, aclrtIpcEventHandle, aclrtMallocAttrType,
    aclrtMallocAttrValue, aclrtMallocAttribute, aclrtMallocConfig, aclrtMemAccessDesc, aclrtMemAccessFlags,
    aclrtMemAllocationType, aclrtMemAttr, aclrtMemFabricHandle, aclrtMemHandleType, aclrtMemLocation,
    aclrtMemLocationType, aclrtMemManagedLocation, aclrtMemManagedLocationType, aclrtMemPoolProps,
    aclrtMemUceInfo, aclrtMemUceInfoArray, aclrtMemUsageInfo, aclrtMemcpyBatchAttr, aclrtPhysicalMemProp,
    aclrtPtrAttributes, aclrtServerPid, aclrtStreamAttrValue, aclrtStreamConfigHandle, aclrtUtilizationInfo,
    aclrtUuid,
};

/// `Default` for structs, field by field.
macro_rules! zero {
    ($($name:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        $(
            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: $value),* }
                }
            }
        )*
    };
}

zero! {
    aclrtMallocAttrValue { rsv: [0; 8] }
    aclrtMallocAttribute {
        attr: aclrtMallocAttrType::ACL_RT_MEM_ATTR_RSV,
        value: aclrtMallocAttrValue::default(),
    }
    aclrtMallocConfig { attrs: ptr::null_mut(), numAttrs: 0 }
    aclrtMemLocation { id: 0, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST }
    aclrtMemManagedLocation { type_: aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_INVALID, id: 0 }
    aclrtPtrAttributes { location: aclrtMemLocation::default(), pageSize: 0, rsv: [0; 4] }
    aclrtMemUsageInfo { name: [0; 32], curMemSize: 0, memPeakSize: 0, reserved: [0; 8] }
    aclrtPhysicalMemProp {
        handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: aclrtMemAttr::ACL_DDR_MEM,
        location: aclrtMemLocation::default(),
        reserve: 0,
    }
    aclrtMemAccessDesc {
        flags: aclrtMemAccessFlags::ACL_RT_MEM_ACCESS_FLAGS_NONE,
        location: aclrtMemLocation::default(),
        rsv: [0; 12],
    }
    aclrtMemFabricHandle { data: [0; 128] }
    aclrtServerPid { sdid: 0, pid: ptr::null_mut(), num: 0 }
    aclrtMemcpyBatchAttr {
        dstLoc: aclrtMemLocation::default(),
        srcLoc: aclrtMemLocation::default(),
        rsv: [0; 16],
    }
    aclrtMemUceInfo { addr: ptr::null_mut(), len: 0, reserved: [0; 14] }
    aclrtMemUceInfoArray { arraySize: 0, memUceInfoArray: [aclrtMemUceInfo::default(); 20] }
    aclrtErrorInfoDetail { uceInfo: aclrtMemUceInfoArray::default() }
    aclrtErrorInfo {
        tryRepair: 0,
        hasDetail: 0,
        reserved: [0; 2],
        errorType: aclrtErrorType::ACL_RT_NO_ERROR,
        detail: aclrtErrorInfoDetail::default(),
    }
    aclrtStreamConfigHandle { workptr: ptr::null_mut(), workSize: 0, flag: 0, priority: 0 }
    aclrtStreamAttrValue { reserve: [0; 4] }
    aclrtIpcEventHandle { reserved: [0; 64] }
    aclrtUtilizationInfo {
        cubeUtilization: 0,
        vectorUtilization: 0,
        aicpuUtilization: 0,
        memoryUtilization: 0,
        utilizationExtend: ptr::null_mut(),
    }
    aclrtUuid { bytes: [0; 16] }
    aclCANNPackageVersion {
        version: [0; 128],
        majorVersion: [0; 64],
        minorVersion: [0; 64],
        releaseVersion: [0; 64],
        patchVersion: [0; 64],
        reserved: [0; 128],
    }
    aclmdlIODims { name: [0; 128], dimCount: 0, dims: [0; 128] }
    aclmdlIODimsRange { rangeCount: 0, range: [[0; 2]; 128] }
    aclmdlBatch { batchCount: 0, batch: [0; 128] }
    aclmdlHW { hwCount: 0, hw: [[0; 2]; 128] }
    aclmdlExeOMDesc {
        workSize: 0,
        weightSize: 0,
        modelDescSize: 0,
        kernelSize: 0,
        kernelArgsSize: 0,
        staticTaskSize: 0,
        dynamicTaskSize: 0,
        fifoTaskSize: 0,
        reserved: [0; 8],
    }
    aclrtMemPoolProps {
        allocType: aclrtMemAllocationType::ACL_MEM_ALLOCATION_TYPE_PINNED,
        handleType: aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE,
        location: aclrtMemLocation::default(),
        maxSize: 0,
        reserved: [0; 32],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_whose_zero_has_a_name_are_zero() {
        let properties = aclrtPhysicalMemProp::default();
        assert_eq!((properties.handleType.0, properties.allocationType.0, properties.memAttr.0), (0, 0, 0));
        assert_eq!((properties.location.type_.0, properties.location.id, properties.reserve), (0, 0, 0));
        assert_eq!(aclrtMallocAttribute::default().attr.0, 0);
        assert_eq!(aclrtErrorInfo::default().errorType.0, 0);
        assert_eq!(aclrtMemManagedLocation::default().type_.0, 0);
        assert_eq!(aclrtMemAccessDesc::default().flags.0, 0);
    }

    #[test]
    fn the_named_member_of_a_union_covers_it() {
        assert_eq!(size_of::<aclrtMallocAttrValue>(), size_of::<[u8; 8]>());
        assert_eq!(size_of::<aclrtStreamAttrValue>(), size_of::<[u32; 4]>());
        assert_eq!(size_of::<aclrtErrorInfoDetail>(), size_of::<aclrtMemUceInfoArray>());
    }
}
