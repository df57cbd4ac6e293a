//! Types, constants and functions of ACL, made from `headers/` by `cargo xtask bindgen`. Not to be edited.
//! Longer than 600 lines because it is generated.
#![expect(unsafe_code, reason = "`functions!` of table.rs takes symbols from a C library; its proof stands there")]

pub const ACL_ERROR_NONE: aclError = 0;
pub const ACL_SUCCESS: aclError = 0;
pub const ACL_ERROR_INVALID_PARAM: aclError = 100000;
pub const ACL_ERROR_UNINITIALIZE: aclError = 100001;
pub const ACL_ERROR_REPEAT_INITIALIZE: aclError = 100002;
pub const ACL_ERROR_INVALID_FILE: aclError = 100003;
pub const ACL_ERROR_WRITE_FILE: aclError = 100004;
pub const ACL_ERROR_INVALID_FILE_SIZE: aclError = 100005;
pub const ACL_ERROR_PARSE_FILE: aclError = 100006;
pub const ACL_ERROR_FILE_MISSING_ATTR: aclError = 100007;
pub const ACL_ERROR_FILE_ATTR_INVALID: aclError = 100008;
pub const ACL_ERROR_INVALID_MODEL_ID: aclError = 100011;
pub const ACL_ERROR_DESERIALIZE_MODEL: aclError = 100012;
pub const ACL_ERROR_PARSE_MODEL: aclError = 100013;
pub const ACL_ERROR_READ_MODEL_FAILURE: aclError = 100014;
pub const ACL_ERROR_MODEL_SIZE_INVALID: aclError = 100015;
pub const ACL_ERROR_MODEL_MISSING_ATTR: aclError = 100016;
pub const ACL_ERROR_MODEL_INPUT_NOT_MATCH: aclError = 100017;
pub const ACL_ERROR_MODEL_OUTPUT_NOT_MATCH: aclError = 100018;
pub const ACL_ERROR_MODEL_NOT_DYNAMIC: aclError = 100019;
pub const ACL_ERROR_UNSUPPORTED_DATA_TYPE: aclError = 100026;
pub const ACL_ERROR_FORMAT_NOT_MATCH: aclError = 100027;
pub const ACL_ERROR_REPEAT_SUBSCRIBE: aclError = 100033;
pub const ACL_ERROR_STREAM_NOT_SUBSCRIBE: aclError = 100034;
pub const ACL_ERROR_THREAD_NOT_SUBSCRIBE: aclError = 100035;
pub const ACL_ERROR_WAIT_CALLBACK_TIMEOUT: aclError = 100036;
pub const ACL_ERROR_REPEAT_FINALIZE: aclError = 100037;
pub const ACL_ERROR_COMPILING_STUB_MODE: aclError = 100039;
pub const ACL_ERROR_GROUP_NOT_SET: aclError = 100040;
pub const ACL_ERROR_GROUP_NOT_CREATE: aclError = 100041;
pub const ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED: aclError = 148051;
pub const ACL_ERROR_INVALID_BUNDLE_MODEL_ID: aclError = 148053;
pub const ACL_ERROR_BAD_ALLOC: aclError = 200000;
pub const ACL_ERROR_API_NOT_SUPPORT: aclError = 200001;
pub const ACL_ERROR_INVALID_DEVICE: aclError = 200002;
pub const ACL_ERROR_MEMORY_ADDRESS_UNALIGNED: aclError = 200003;
pub const ACL_ERROR_RESOURCE_NOT_MATCH: aclError = 200004;
pub const ACL_ERROR_INVALID_RESOURCE_HANDLE: aclError = 200005;
pub const ACL_ERROR_FEATURE_UNSUPPORTED: aclError = 200006;
pub const ACL_ERROR_STORAGE_OVER_LIMIT: aclError = 300000;
pub const ACL_ERROR_INTERNAL_ERROR: aclError = 500000;
pub const ACL_ERROR_FAILURE: aclError = 500001;
pub const ACL_ERROR_GE_FAILURE: aclError = 500002;
pub const ACL_ERROR_RT_FAILURE: aclError = 500003;
pub const ACL_ERROR_DRV_FAILURE: aclError = 500004;
pub const ACL_RT_SUCCESS: aclError = 0;
pub const ACL_ERROR_RT_PARAM_INVALID: aclError = 107000;
pub const ACL_ERROR_RT_INVALID_DEVICEID: aclError = 107001;
pub const ACL_ERROR_RT_CONTEXT_NULL: aclError = 107002;
pub const ACL_ERROR_RT_STREAM_CONTEXT: aclError = 107003;
pub const ACL_ERROR_RT_MODEL_CONTEXT: aclError = 107004;
pub const ACL_ERROR_RT_STREAM_MODEL: aclError = 107005;
pub const ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID: aclError = 107006;
pub const ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL: aclError = 107007;
pub const ACL_ERROR_RT_ADDR_UNALIGNED: aclError = 107008;
pub const ACL_ERROR_RT_FILE_OPEN: aclError = 107009;
pub const ACL_ERROR_RT_FILE_WRITE: aclError = 107010;
pub const ACL_ERROR_RT_STREAM_SUBSCRIBE: aclError = 107011;
pub const ACL_ERROR_RT_THREAD_SUBSCRIBE: aclError = 107012;
pub const ACL_ERROR_RT_GROUP_NOT_SET: aclError = 107013;
pub const ACL_ERROR_RT_GROUP_NOT_CREATE: aclError = 107014;
pub const ACL_ERROR_RT_STREAM_NO_CB_REG: aclError = 107015;
pub const ACL_ERROR_RT_INVALID_MEMORY_TYPE: aclError = 107016;
pub const ACL_ERROR_RT_INVALID_HANDLE: aclError = 107017;
pub const ACL_ERROR_RT_INVALID_MALLOC_TYPE: aclError = 107018;
pub const ACL_ERROR_RT_WAIT_TIMEOUT: aclError = 107019;
pub const ACL_ERROR_RT_TASK_TIMEOUT: aclError = 107020;
pub const ACL_ERROR_RT_SYSPARAMOPT_NOT_SET: aclError = 107021;
pub const ACL_ERROR_RT_DEVICE_TASK_ABORT: aclError = 107022;
pub const ACL_ERROR_RT_STREAM_ABORT: aclError = 107023;
pub const ACL_ERROR_RT_CAPTURE_DEPENDENCY: aclError = 107024;
pub const ACL_ERROR_RT_STREAM_UNJOINED: aclError = 107025;
pub const ACL_ERROR_RT_MODEL_CAPTURED: aclError = 107026;
pub const ACL_ERROR_RT_STREAM_CAPTURED: aclError = 107027;
pub const ACL_ERROR_RT_EVENT_CAPTURED: aclError = 107028;
pub const ACL_ERROR_RT_STREAM_NOT_CAPTURED: aclError = 107029;
pub const ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT: aclError = 107030;
pub const ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT: aclError = 107031;
pub const ACL_ERROR_STREAM_CAPTURE_CONFLICT: aclError = 107032;
pub const ACL_ERROR_STREAM_TASK_GROUP_STATUS: aclError = 107033;
pub const ACL_ERROR_STREAM_TASK_GROUP_INTR: aclError = 107034;
pub const ACL_ERROR_RT_TASK_ABORT_STOP: aclError = 107035;
pub const ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED: aclError = 107036;
pub const ACL_ERROR_RT_MODEL_RUNNING: aclError = 107037;
pub const ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD: aclError = 107038;
pub const ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY: aclError = 107039;
pub const ACL_ERROR_RT_MODEL_UPDATE_FAILED: aclError = 107040;
pub const ACL_ERROR_RT_SYMBOL_NOT_FOUND: aclError = 107042;
pub const ACL_ERROR_RT_INVALID_SYMBOL: aclError = 107043;
pub const ACL_ERROR_RT_INVALID_DEVICE_FUNCTION: aclError = 107044;
pub const ACL_ERROR_RT_FEATURE_NOT_SUPPORT: aclError = 207000;
pub const ACL_ERROR_RT_MEMORY_ALLOCATION: aclError = 207001;
pub const ACL_ERROR_RT_MEMORY_FREE: aclError = 207002;
pub const ACL_ERROR_RT_AICORE_OVER_FLOW: aclError = 207003;
pub const ACL_ERROR_RT_NO_DEVICE: aclError = 207004;
pub const ACL_ERROR_RT_RESOURCE_ALLOC_FAIL: aclError = 207005;
pub const ACL_ERROR_RT_NO_PERMISSION: aclError = 207006;
pub const ACL_ERROR_RT_NO_EVENT_RESOURCE: aclError = 207007;
pub const ACL_ERROR_RT_NO_STREAM_RESOURCE: aclError = 207008;
pub const ACL_ERROR_RT_NO_NOTIFY_RESOURCE: aclError = 207009;
pub const ACL_ERROR_RT_NO_MODEL_RESOURCE: aclError = 207010;
pub const ACL_ERROR_RT_NO_CDQ_RESOURCE: aclError = 207011;
pub const ACL_ERROR_RT_OVER_LIMIT: aclError = 207012;
pub const ACL_ERROR_RT_QUEUE_EMPTY: aclError = 207013;
pub const ACL_ERROR_RT_QUEUE_FULL: aclError = 207014;
pub const ACL_ERROR_RT_REPEATED_INIT: aclError = 207015;
pub const ACL_ERROR_RT_AIVEC_OVER_FLOW: aclError = 207016;
pub const ACL_ERROR_RT_OVER_FLOW: aclError = 207017;
pub const ACL_ERROR_RT_DEVICE_OOM: aclError = 207018;
pub const ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP: aclError = 207019;
pub const ACL_ERROR_RT_TIMEOUT: aclError = 207020;
pub const ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED: aclError = 207021;
pub const ACL_ERROR_RT_INTERNAL_ERROR: aclError = 507000;
pub const ACL_ERROR_RT_TS_ERROR: aclError = 507001;
pub const ACL_ERROR_RT_STREAM_TASK_FULL: aclError = 507002;
pub const ACL_ERROR_RT_STREAM_TASK_EMPTY: aclError = 507003;
pub const ACL_ERROR_RT_STREAM_NOT_COMPLETE: aclError = 507004;
pub const ACL_ERROR_RT_END_OF_SEQUENCE: aclError = 507005;
pub const ACL_ERROR_RT_EVENT_NOT_COMPLETE: aclError = 507006;
pub const ACL_ERROR_RT_CONTEXT_RELEASE_ERROR: aclError = 507007;
pub const ACL_ERROR_RT_SOC_VERSION: aclError = 507008;
pub const ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT: aclError = 507009;
pub const ACL_ERROR_RT_LOST_HEARTBEAT: aclError = 507010;
pub const ACL_ERROR_RT_MODEL_EXECUTE: aclError = 507011;
pub const ACL_ERROR_RT_REPORT_TIMEOUT: aclError = 507012;
pub const ACL_ERROR_RT_SYS_DMA: aclError = 507013;
pub const ACL_ERROR_RT_AICORE_TIMEOUT: aclError = 507014;
pub const ACL_ERROR_RT_AICORE_EXCEPTION: aclError = 507015;
pub const ACL_ERROR_RT_AICORE_TRAP_EXCEPTION: aclError = 507016;
pub const ACL_ERROR_RT_AICPU_TIMEOUT: aclError = 507017;
pub const ACL_ERROR_RT_AICPU_EXCEPTION: aclError = 507018;
pub const ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR: aclError = 507019;
pub const ACL_ERROR_RT_AICPU_MODEL_RSP_ERR: aclError = 507020;
pub const ACL_ERROR_RT_PROFILING_ERROR: aclError = 507021;
pub const ACL_ERROR_RT_IPC_ERROR: aclError = 507022;
pub const ACL_ERROR_RT_MODEL_ABORT_NORMAL: aclError = 507023;
pub const ACL_ERROR_RT_KERNEL_UNREGISTERING: aclError = 507024;
pub const ACL_ERROR_RT_RINGBUFFER_NOT_INIT: aclError = 507025;
pub const ACL_ERROR_RT_RINGBUFFER_NO_DATA: aclError = 507026;
pub const ACL_ERROR_RT_KERNEL_LOOKUP: aclError = 507027;
pub const ACL_ERROR_RT_KERNEL_DUPLICATE: aclError = 507028;
pub const ACL_ERROR_RT_DEBUG_REGISTER_FAIL: aclError = 507029;
pub const ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL: aclError = 507030;
pub const ACL_ERROR_RT_LABEL_CONTEXT: aclError = 507031;
pub const ACL_ERROR_RT_PROGRAM_USE_OUT: aclError = 507032;
pub const ACL_ERROR_RT_DEV_SETUP_ERROR: aclError = 507033;
pub const ACL_ERROR_RT_VECTOR_CORE_TIMEOUT: aclError = 507034;
pub const ACL_ERROR_RT_VECTOR_CORE_EXCEPTION: aclError = 507035;
pub const ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION: aclError = 507036;
pub const ACL_ERROR_RT_CDQ_BATCH_ABNORMAL: aclError = 507037;
pub const ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR: aclError = 507038;
pub const ACL_ERROR_RT_DIE_SET_ERROR: aclError = 507039;
pub const ACL_ERROR_RT_INVALID_DIEID: aclError = 507040;
pub const ACL_ERROR_RT_DIE_MODE_NOT_SET: aclError = 507041;
pub const ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW: aclError = 507042;
pub const ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW: aclError = 507043;
pub const ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW: aclError = 507044;
pub const ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW: aclError = 507045;
pub const ACL_ERROR_RT_STREAM_SYNC_TIMEOUT: aclError = 507046;
pub const ACL_ERROR_RT_EVENT_SYNC_TIMEOUT: aclError = 507047;
pub const ACL_ERROR_RT_FFTS_PLUS_TIMEOUT: aclError = 507048;
pub const ACL_ERROR_RT_FFTS_PLUS_EXCEPTION: aclError = 507049;
pub const ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION: aclError = 507050;
pub const ACL_ERROR_RT_SEND_MSG: aclError = 507051;
pub const ACL_ERROR_RT_COPY_DATA: aclError = 507052;
pub const ACL_ERROR_RT_DEVICE_MEM_ERROR: aclError = 507053;
pub const ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR: aclError = 507054;
pub const ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR: aclError = 507055;
pub const ACL_ERROR_RT_LINK_ERROR: aclError = 507056;
pub const ACL_ERROR_RT_SUSPECT_REMOTE_ERROR: aclError = 507057;
pub const ACL_ERROR_RT_DRV_INTERNAL_ERROR: aclError = 507899;
pub const ACL_ERROR_RT_AICPU_INTERNAL_ERROR: aclError = 507900;
pub const ACL_ERROR_RT_SOCKET_CLOSE: aclError = 507901;
pub const ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR: aclError = 507902;
pub const ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED: aclError = 507903;
pub const ACL_ERROR_RT_COMM_OP_RETRY_FAIL: aclError = 507904;
pub const ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT: aclError = 507905;
pub const ACL_ERROR_SNAPSHOT_LOCK_FAILED: aclError = 507906;
pub const ACL_ERROR_SNAPSHOT_UNLOCK_FAILED: aclError = 507907;
pub const ACL_ERROR_SNAPSHOT_BACKUP_FAILED: aclError = 507908;
pub const ACL_ERROR_SNAPSHOT_RESTORE_FAILED: aclError = 507909;
pub const ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED: aclError = 507910;
pub const ACL_ERROR_HOST_MEMORY_NOT_REGISTERED: aclError = 507911;
pub const ACL_ERROR_SNAPSHOT_CALLBACK_FAILED: aclError = 507912;
pub const ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED: aclError = 507913;
pub const ACL_ERROR_RT_L3_PORT_ERROR: aclError = 507914;
pub const ACL_ERROR_RT_CCU_TIMEOUT: aclError = 507915;
pub const ACL_ERROR_RT_CCU_EXCEPTION: aclError = 507916;
pub const ACL_ERROR_GE_PARAM_INVALID: aclError = 145000;
pub const ACL_ERROR_GE_EXEC_NOT_INIT: aclError = 145001;
pub const ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID: aclError = 145002;
pub const ACL_ERROR_GE_EXEC_MODEL_ID_INVALID: aclError = 145003;
pub const ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID: aclError = 145006;
pub const ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID: aclError = 145007;
pub const ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED: aclError = 145009;
pub const ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID: aclError = 145011;
pub const ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID: aclError = 145012;
pub const ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID: aclError = 145013;
pub const ACL_ERROR_GE_OP_TASK_TYPE_INVALID: aclError = 145017;
pub const ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID: aclError = 145018;
pub const ACL_ERROR_GE_FORMAT_INVALID: aclError = 145020;
pub const ACL_ERROR_GE_SHAPE_INVALID: aclError = 145021;
pub const ACL_ERROR_GE_DATATYPE_INVALID: aclError = 145022;
pub const ACL_ERROR_GE_MEMORY_ALLOCATION: aclError = 245000;
pub const ACL_ERROR_GE_MEMORY_OPERATE_FAILED: aclError = 245001;
pub const ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED: aclError = 245002;
pub const ACL_ERROR_GE_SUBHEALTHY: aclError = 345102;
pub const ACL_ERROR_GE_USER_RAISE_EXCEPTION: aclError = 345103;
pub const ACL_ERROR_GE_DATA_NOT_ALIGNED: aclError = 345104;
pub const ACL_ERROR_GE_INTERNAL_ERROR: aclError = 545000;
pub const ACL_ERROR_GE_LOAD_MODEL: aclError = 545001;
pub const ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED: aclError = 545002;
pub const ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED: aclError = 545003;
pub const ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED: aclError = 545004;
pub const ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED: aclError = 545005;
pub const ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA: aclError = 545006;
pub const ACL_ERROR_GE_COMMAND_HANDLE: aclError = 545007;
pub const ACL_ERROR_GE_GET_TENSOR_INFO: aclError = 545008;
pub const ACL_ERROR_GE_UNLOAD_MODEL: aclError = 545009;
pub const ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT: aclError = 545601;
pub const ACL_ERROR_GE_REDEPLOYING: aclError = 545602;
pub const ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT: u64 = 0;
pub const ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION: u64 = 1;
pub const ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT: u64 = 0;
pub const ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS: u64 = 1;
pub const ACL_RT_VMM_EXPORT_FLAG_DEFAULT: u64 = 0;
pub const ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION: u64 = 1;
pub const ACL_HOST_REG_MAPPED: u32 = 2;
pub const ACL_HOST_REG_IOMEMORY: u32 = 4;
pub const ACL_HOST_REG_READONLY: u32 = 8;
pub const ACL_HOST_REG_PINNED: u32 = 268435456;
pub const ACL_RT_MEM_ATTACH_GLOBAL: u32 = 1;
pub const ACL_RT_MEM_TYPE_DEV: u32 = 2;
pub const ACL_RT_MEM_TYPE_DVPP: u32 = 8;
pub const ACL_RT_MEM_TYPE_RSVD: u32 = 16;
pub const MAX_MEM_UCE_INFO_ARRAY_SIZE: usize = 128;
pub const UCE_INFO_RESERVED_SIZE: usize = 14;
pub const ACL_RT_MEM_UCE_INFO_MAX_NUM: usize = 20;
pub const ACL_EVENT_SYNC: u32 = 1;
pub const ACL_EVENT_CAPTURE_STREAM_PROGRESS: u32 = 2;
pub const ACL_EVENT_TIME_LINE: u32 = 8;
pub const ACL_EVENT_DEVICE_USE_ONLY: u32 = 16;
pub const ACL_EVENT_EXTERNAL: u32 = 32;
pub const ACL_EVENT_IPC: u32 = 64;
pub const ACL_EVENT_RECORD_DEFAULT: u32 = 0;
pub const ACL_EVENT_RECORD_EXTERNAL: u32 = 1;
pub const ACL_EVENT_WAIT_DEFAULT: u32 = 0;
pub const ACL_EVENT_WAIT_EXTERNAL: u32 = 1;
pub const ACL_STREAM_FAST_LAUNCH: u32 = 1;
pub const ACL_STREAM_FAST_SYNC: u32 = 2;
pub const ACL_STREAM_PERSISTENT: u32 = 4;
pub const ACL_STREAM_HUGE: u32 = 8;
pub const ACL_STREAM_CPU_SCHEDULE: u32 = 16;
pub const ACL_STREAM_DEVICE_USE_ONLY: u32 = 32;
pub const ACL_STREAM_WAIT_VALUE_GEQ: u32 = 0;
pub const ACL_STREAM_WAIT_VALUE_EQ: u32 = 1;
pub const ACL_STREAM_WAIT_VALUE_AND: u32 = 2;
pub const ACL_STREAM_WAIT_VALUE_NOR: u32 = 3;
pub const ACL_CONTINUE_ON_FAILURE: u64 = 0;
pub const ACL_STOP_ON_FAILURE: u64 = 1;
pub const ACL_IPC_EVENT_HANDLE_SIZE: usize = 64;
pub const ACL_PKG_VERSION_MAX_SIZE: usize = 128;
pub const ACL_PKG_VERSION_PARTS_MAX_SIZE: usize = 64;
pub const ACL_DIM_ENDPOINTS: usize = 2;
pub const ACL_MAX_DIM_CNT: usize = 128;
pub const ACL_MAX_TENSOR_NAME_LEN: usize = 128;
pub const ACL_MAX_BATCH_NUM: usize = 128;
pub const ACL_MAX_HW_NUM: usize = 128;
pub const ACL_MDL_LOAD_FROM_FILE: usize = 1;
pub const ACL_MDL_LOAD_FROM_FILE_WITH_MEM: usize = 2;
pub const ACL_MDL_LOAD_FROM_MEM: usize = 3;
pub const ACL_MDL_LOAD_FROM_MEM_WITH_MEM: usize = 4;
pub const ACL_MDL_LOAD_FROM_FILE_WITH_Q: usize = 5;
pub const ACL_MDL_LOAD_FROM_MEM_WITH_Q: usize = 6;
pub const ACL_WORKSPACE_MEM_OPTIMIZE_DEFAULT: usize = 0;
pub const ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT: usize = 1;
pub const ACL_DYNAMIC_TENSOR_NAME: &[u8; 25] = b"ascend_mbatch_shape_data\0";
/// Result of a call: 0 for success, otherwise one of the codes of acl_error_codes.h or a code that a newer CANN added.
pub type aclError = ::core::ffi::c_int;
/// A stream: a queue of device work that runs in order.
pub type aclrtStream = *mut ::core::ffi::c_void;
/// An event: a mark in a stream.
pub type aclrtEvent = *mut ::core::ffi::c_void;
/// A context: what is current on a thread; owns streams and events, but no memory.
pub type aclrtContext = *mut ::core::ffi::c_void;
/// Description of an allocator that is about to be registered.
pub type aclrtAllocatorDesc = *mut ::core::ffi::c_void;
/// The user's own allocator object, which the runtime only hands back.
pub type aclrtAllocator = *mut ::core::ffi::c_void;
/// A block that a registered allocator has given out; not an address.
pub type aclrtAllocatorBlock = *mut ::core::ffi::c_void;
/// An address near which a registered allocator may place a block.
pub type aclrtAllocatorAddr = *mut ::core::ffi::c_void;
/// A mark that one stream sets and another waits for and clears.
pub type aclrtNotify = *mut ::core::ffi::c_void;
/// A pair of a device address and a size, as an input or output of a model.
#[repr(C)]
#[derive(Debug)]
pub struct aclDataBuffer {
    _unused: [u8; 0],
}
/// Type, shape and layout of a tensor, without its memory.
#[repr(C)]
#[derive(Debug)]
pub struct aclTensorDesc {
    _unused: [u8; 0],
}
/// Bits of a number with a sign, 5 bits of exponent and 10 of fraction.
pub type aclFloat16 = u16;
impl aclDataType {
    pub const ACL_DT_UNDEFINED: aclDataType = aclDataType(-1);
    pub const ACL_FLOAT: aclDataType = aclDataType(0);
    pub const ACL_FLOAT16: aclDataType = aclDataType(1);
    pub const ACL_INT8: aclDataType = aclDataType(2);
    pub const ACL_INT32: aclDataType = aclDataType(3);
    pub const ACL_UINT8: aclDataType = aclDataType(4);
    pub const ACL_INT16: aclDataType = aclDataType(6);
    pub const ACL_UINT16: aclDataType = aclDataType(7);
    pub const ACL_UINT32: aclDataType = aclDataType(8);
    pub const ACL_INT64: aclDataType = aclDataType(9);
    pub const ACL_UINT64: aclDataType = aclDataType(10);
    pub const ACL_DOUBLE: aclDataType = aclDataType(11);
    pub const ACL_BOOL: aclDataType = aclDataType(12);
    pub const ACL_STRING: aclDataType = aclDataType(13);
    pub const ACL_COMPLEX64: aclDataType = aclDataType(16);
    pub const ACL_COMPLEX128: aclDataType = aclDataType(17);
    pub const ACL_BF16: aclDataType = aclDataType(27);
    pub const ACL_INT4: aclDataType = aclDataType(29);
    pub const ACL_UINT1: aclDataType = aclDataType(30);
    pub const ACL_COMPLEX32: aclDataType = aclDataType(33);
    pub const ACL_HIFLOAT8: aclDataType = aclDataType(34);
    pub const ACL_FLOAT8_E5M2: aclDataType = aclDataType(35);
    pub const ACL_FLOAT8_E4M3FN: aclDataType = aclDataType(36);
    pub const ACL_FLOAT8_E8M0: aclDataType = aclDataType(37);
    pub const ACL_FLOAT6_E3M2: aclDataType = aclDataType(38);
    pub const ACL_FLOAT6_E2M3: aclDataType = aclDataType(39);
    pub const ACL_FLOAT4_E2M1: aclDataType = aclDataType(40);
    pub const ACL_FLOAT4_E1M2: aclDataType = aclDataType(41);
}
#[repr(transparent)]
/// Element type of a tensor.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclDataType(pub ::core::ffi::c_int);
impl aclFormat {
    pub const ACL_FORMAT_UNDEFINED: aclFormat = aclFormat(-1);
    pub const ACL_FORMAT_NCHW: aclFormat = aclFormat(0);
    pub const ACL_FORMAT_NHWC: aclFormat = aclFormat(1);
    pub const ACL_FORMAT_ND: aclFormat = aclFormat(2);
    pub const ACL_FORMAT_NC1HWC0: aclFormat = aclFormat(3);
    pub const ACL_FORMAT_FRACTAL_Z: aclFormat = aclFormat(4);
    pub const ACL_FORMAT_NC1HWC0_C04: aclFormat = aclFormat(12);
    pub const ACL_FORMAT_HWCN: aclFormat = aclFormat(16);
    pub const ACL_FORMAT_NDHWC: aclFormat = aclFormat(27);
    pub const ACL_FORMAT_FRACTAL_NZ: aclFormat = aclFormat(29);
    pub const ACL_FORMAT_NCDHW: aclFormat = aclFormat(30);
    pub const ACL_FORMAT_NDC1HWC0: aclFormat = aclFormat(32);
    pub const ACL_FRACTAL_Z_3D: aclFormat = aclFormat(33);
    pub const ACL_FORMAT_NC: aclFormat = aclFormat(35);
    pub const ACL_FORMAT_NCL: aclFormat = aclFormat(47);
}
#[repr(transparent)]
/// Memory layout of a tensor.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclFormat(pub ::core::ffi::c_int);
impl aclMemType {
    pub const ACL_MEMTYPE_DEVICE: aclMemType = aclMemType(0);
    pub const ACL_MEMTYPE_HOST: aclMemType = aclMemType(1);
    pub const ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT: aclMemType = aclMemType(2);
}
#[repr(transparent)]
/// Where the memory of a tensor lies.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclMemType(pub ::core::ffi::c_uint);
impl aclSysParamOpt {
    pub const ACL_OPT_DETERMINISTIC: aclSysParamOpt = aclSysParamOpt(0);
    pub const ACL_OPT_ENABLE_DEBUG_KERNEL: aclSysParamOpt = aclSysParamOpt(1);
    pub const ACL_OPT_STRONG_CONSISTENCY: aclSysParamOpt = aclSysParamOpt(2);
    pub const ACL_OPT_ENABLE_KERNEL_EARLY_START: aclSysParamOpt = aclSysParamOpt(3);
}
#[repr(transparent)]
/// Options of the process or of a context.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclSysParamOpt(pub ::core::ffi::c_uint);
impl aclDeviceInfo {
    pub const ACL_DEVICE_INFO_UNDEFINED: aclDeviceInfo = aclDeviceInfo(-1);
    pub const ACL_DEVICE_INFO_AI_CORE_NUM: aclDeviceInfo = aclDeviceInfo(0);
    pub const ACL_DEVICE_INFO_VECTOR_CORE_NUM: aclDeviceInfo = aclDeviceInfo(1);
    pub const ACL_DEVICE_INFO_L2_SIZE: aclDeviceInfo = aclDeviceInfo(2);
}
#[repr(transparent)]
/// Facts that aclGetDeviceCapability answers.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclDeviceInfo(pub ::core::ffi::c_int);
/// Gives out a block of at least `size` bytes, or null.
pub type aclrtAllocatorAllocFunc = ::core::option::Option<
    unsafe extern "C" fn(
        allocator: aclrtAllocator,
        size: usize,
    ) -> *mut ::core::ffi::c_void,
>;
/// Takes a block back.
pub type aclrtAllocatorFreeFunc = ::core::option::Option<
    unsafe extern "C" fn(allocator: aclrtAllocator, block: aclrtAllocatorBlock),
>;
/// Gives out a block, if possible at `address`.
pub type aclrtAllocatorAllocAdviseFunc = ::core::option::Option<
    unsafe extern "C" fn(
        allocator: aclrtAllocator,
        size: usize,
        address: aclrtAllocatorAddr,
    ) -> *mut ::core::ffi::c_void,
>;
/// Device address of a block.
pub type aclrtAllocatorGetAddrFromBlockFunc = ::core::option::Option<
    unsafe extern "C" fn(block: aclrtAllocatorBlock) -> *mut ::core::ffi::c_void,
>;
impl aclrtMemMallocPolicy {
    pub const ACL_MEM_MALLOC_HUGE_FIRST: aclrtMemMallocPolicy = aclrtMemMallocPolicy(0);
    pub const ACL_MEM_MALLOC_HUGE_ONLY: aclrtMemMallocPolicy = aclrtMemMallocPolicy(1);
    pub const ACL_MEM_MALLOC_NORMAL_ONLY: aclrtMemMallocPolicy = aclrtMemMallocPolicy(2);
    pub const ACL_MEM_MALLOC_HUGE_FIRST_P2P: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        3,
    );
    pub const ACL_MEM_MALLOC_HUGE_ONLY_P2P: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        4,
    );
    pub const ACL_MEM_MALLOC_NORMAL_ONLY_P2P: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        5,
    );
    pub const ACL_MEM_MALLOC_HUGE1G_ONLY: aclrtMemMallocPolicy = aclrtMemMallocPolicy(6);
    pub const ACL_MEM_MALLOC_HUGE1G_ONLY_P2P: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        7,
    );
    pub const ACL_MEM_TYPE_LOW_BAND_WIDTH: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        256,
    );
    pub const ACL_MEM_TYPE_HIGH_BAND_WIDTH: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        4096,
    );
    pub const ACL_MEM_ACCESS_USER_SPACE_READONLY: aclrtMemMallocPolicy = aclrtMemMallocPolicy(
        1048576,
    );
}
impl ::core::ops::BitOr<aclrtMemMallocPolicy> for aclrtMemMallocPolicy {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        aclrtMemMallocPolicy(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for aclrtMemMallocPolicy {
    #[inline]
    fn bitor_assign(&mut self, rhs: aclrtMemMallocPolicy) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<aclrtMemMallocPolicy> for aclrtMemMallocPolicy {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        aclrtMemMallocPolicy(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for aclrtMemMallocPolicy {
    #[inline]
    fn bitand_assign(&mut self, rhs: aclrtMemMallocPolicy) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
/// Which pages an allocation takes. The values from 0x100 on are bits that aclrtMallocWithCfg takes beside the others.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemMallocPolicy(pub ::core::ffi::c_uint);
impl aclrtMemAttr {
    pub const ACL_DDR_MEM: aclrtMemAttr = aclrtMemAttr(0);
    pub const ACL_HBM_MEM: aclrtMemAttr = aclrtMemAttr(1);
    pub const ACL_DDR_MEM_HUGE: aclrtMemAttr = aclrtMemAttr(2);
    pub const ACL_DDR_MEM_NORMAL: aclrtMemAttr = aclrtMemAttr(3);
    pub const ACL_HBM_MEM_HUGE: aclrtMemAttr = aclrtMemAttr(4);
    pub const ACL_HBM_MEM_NORMAL: aclrtMemAttr = aclrtMemAttr(5);
    pub const ACL_DDR_MEM_P2P_HUGE: aclrtMemAttr = aclrtMemAttr(6);
    pub const ACL_DDR_MEM_P2P_NORMAL: aclrtMemAttr = aclrtMemAttr(7);
    pub const ACL_HBM_MEM_P2P_HUGE: aclrtMemAttr = aclrtMemAttr(8);
    pub const ACL_HBM_MEM_P2P_NORMAL: aclrtMemAttr = aclrtMemAttr(9);
    pub const ACL_HBM_MEM_HUGE1G: aclrtMemAttr = aclrtMemAttr(10);
    pub const ACL_HBM_MEM_P2P_HUGE1G: aclrtMemAttr = aclrtMemAttr(11);
    pub const ACL_MEM_NORMAL: aclrtMemAttr = aclrtMemAttr(12);
    pub const ACL_MEM_HUGE: aclrtMemAttr = aclrtMemAttr(13);
    pub const ACL_MEM_HUGE1G: aclrtMemAttr = aclrtMemAttr(14);
    pub const ACL_MEM_P2P_NORMAL: aclrtMemAttr = aclrtMemAttr(15);
    pub const ACL_MEM_P2P_HUGE: aclrtMemAttr = aclrtMemAttr(16);
    pub const ACL_MEM_P2P_HUGE1G: aclrtMemAttr = aclrtMemAttr(17);
}
#[repr(transparent)]
/// A kind of device memory and the size of its pages.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemAttr(pub ::core::ffi::c_uint);
impl aclrtMallocAttrType {
    pub const ACL_RT_MEM_ATTR_RSV: aclrtMallocAttrType = aclrtMallocAttrType(0);
    pub const ACL_RT_MEM_ATTR_MODULE_ID: aclrtMallocAttrType = aclrtMallocAttrType(1);
    pub const ACL_RT_MEM_ATTR_DEVICE_ID: aclrtMallocAttrType = aclrtMallocAttrType(2);
    pub const ACL_RT_MEM_ATTR_VA_FLAG: aclrtMallocAttrType = aclrtMallocAttrType(3);
}
#[repr(transparent)]
/// Attributes of aclrtMallocWithCfg.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMallocAttrType(pub ::core::ffi::c_uint);
impl aclrtMemcpyKind {
    pub const ACL_MEMCPY_HOST_TO_HOST: aclrtMemcpyKind = aclrtMemcpyKind(0);
    pub const ACL_MEMCPY_HOST_TO_DEVICE: aclrtMemcpyKind = aclrtMemcpyKind(1);
    pub const ACL_MEMCPY_DEVICE_TO_HOST: aclrtMemcpyKind = aclrtMemcpyKind(2);
    pub const ACL_MEMCPY_DEVICE_TO_DEVICE: aclrtMemcpyKind = aclrtMemcpyKind(3);
    pub const ACL_MEMCPY_DEFAULT: aclrtMemcpyKind = aclrtMemcpyKind(4);
    pub const ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: aclrtMemcpyKind = aclrtMemcpyKind(5);
    pub const ACL_MEMCPY_INNER_DEVICE_TO_DEVICE: aclrtMemcpyKind = aclrtMemcpyKind(6);
    pub const ACL_MEMCPY_INTER_DEVICE_TO_DEVICE: aclrtMemcpyKind = aclrtMemcpyKind(7);
}
#[repr(transparent)]
/// Direction of a copy.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemcpyKind(pub ::core::ffi::c_uint);
impl aclrtHostRegisterType {
    pub const ACL_HOST_REGISTER_MAPPED: aclrtHostRegisterType = aclrtHostRegisterType(0);
    pub const ACL_HOST_REGISTER_IOMEMORY: aclrtHostRegisterType = aclrtHostRegisterType(
        4,
    );
    pub const ACL_HOST_REGISTER_READONLY: aclrtHostRegisterType = aclrtHostRegisterType(
        8,
    );
}
#[repr(transparent)]
/// How aclrtHostRegister registers.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtHostRegisterType(pub ::core::ffi::c_uint);
impl aclrtMemLocationType {
    pub const ACL_MEM_LOCATION_TYPE_HOST: aclrtMemLocationType = aclrtMemLocationType(0);
    pub const ACL_MEM_LOCATION_TYPE_DEVICE: aclrtMemLocationType = aclrtMemLocationType(
        1,
    );
    pub const ACL_MEM_LOCATION_TYPE_UNREGISTERED: aclrtMemLocationType = aclrtMemLocationType(
        2,
    );
    pub const ACL_MEM_LOCATION_TYPE_MANAGED: aclrtMemLocationType = aclrtMemLocationType(
        3,
    );
    pub const ACL_MEM_LOCATION_TYPE_HOST_NUMA: aclrtMemLocationType = aclrtMemLocationType(
        4,
    );
}
#[repr(transparent)]
/// Where memory lies. Not the numbers of aclrtMemManagedLocationType.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemLocationType(pub ::core::ffi::c_uint);
impl aclrtMemManagedLocationType {
    pub const ACL_MEM_LOCATIONTYPE_INVALID: aclrtMemManagedLocationType = aclrtMemManagedLocationType(
        0,
    );
    pub const ACL_MEM_LOCATIONTYPE_DEVICE: aclrtMemManagedLocationType = aclrtMemManagedLocationType(
        1,
    );
    pub const ACL_MEM_LOCATIONTYPE_HOST: aclrtMemManagedLocationType = aclrtMemManagedLocationType(
        2,
    );
    pub const ACL_MEM_LOCATIONTYPE_HOST_NUMA: aclrtMemManagedLocationType = aclrtMemManagedLocationType(
        3,
    );
    pub const ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT: aclrtMemManagedLocationType = aclrtMemManagedLocationType(
        4,
    );
}
#[repr(transparent)]
/// Where managed memory lies.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemManagedLocationType(pub ::core::ffi::c_uint);
impl aclrtMemManagedAdviseType {
    pub const ACL_MEM_ADVISE_SET_READ_MOSTLY: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        0,
    );
    pub const ACL_MEM_ADVISE_UNSET_READ_MOSTLY: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        1,
    );
    pub const ACL_MEM_ADVISE_SET_PREFERRED_LOCATION: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        2,
    );
    pub const ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        3,
    );
    pub const ACL_MEM_ADVISE_SET_ACCESSED_BY: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        4,
    );
    pub const ACL_MEM_ADVISE_UNSET_ACCESSED_BY: aclrtMemManagedAdviseType = aclrtMemManagedAdviseType(
        5,
    );
}
#[repr(transparent)]
/// Advice for managed memory.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemManagedAdviseType(pub ::core::ffi::c_uint);
impl aclrtMemManagedRangeAttribute {
    pub const ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        1,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        2,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        3,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        4,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        5,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        6,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        7,
    );
    pub const ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: aclrtMemManagedRangeAttribute = aclrtMemManagedRangeAttribute(
        8,
    );
}
#[repr(transparent)]
/// Facts about managed memory.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemManagedRangeAttribute(pub ::core::ffi::c_uint);
impl aclrtMemAllocationType {
    pub const ACL_MEM_ALLOCATION_TYPE_PINNED: aclrtMemAllocationType = aclrtMemAllocationType(
        0,
    );
}
#[repr(transparent)]
/// Whether physical memory can be moved; it cannot.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemAllocationType(pub ::core::ffi::c_uint);
impl aclrtMemHandleType {
    pub const ACL_MEM_HANDLE_TYPE_NONE: aclrtMemHandleType = aclrtMemHandleType(0);
    pub const ACL_MEM_HANDLE_TYPE_POSIX: aclrtMemHandleType = aclrtMemHandleType(2);
}
#[repr(transparent)]
/// Kind of handle of physical memory.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemHandleType(pub ::core::ffi::c_uint);
impl aclrtMemSharedHandleType {
    pub const ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT: aclrtMemSharedHandleType = aclrtMemSharedHandleType(
        1,
    );
    pub const ACL_MEM_SHARE_HANDLE_TYPE_FABRIC: aclrtMemSharedHandleType = aclrtMemSharedHandleType(
        2,
    );
}
#[repr(transparent)]
/// Kind of handle that other processes import.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemSharedHandleType(pub ::core::ffi::c_uint);
impl aclrtMemGranularityOptions {
    pub const ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM: aclrtMemGranularityOptions = aclrtMemGranularityOptions(
        0,
    );
    pub const ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED: aclrtMemGranularityOptions = aclrtMemGranularityOptions(
        1,
    );
    pub const ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF: aclrtMemGranularityOptions = aclrtMemGranularityOptions(
        65535,
    );
}
#[repr(transparent)]
/// Which granularity of physical memory is asked for.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemGranularityOptions(pub ::core::ffi::c_uint);
impl aclrtMemAccessFlags {
    pub const ACL_RT_MEM_ACCESS_FLAGS_NONE: aclrtMemAccessFlags = aclrtMemAccessFlags(0);
    pub const ACL_RT_MEM_ACCESS_FLAGS_READ: aclrtMemAccessFlags = aclrtMemAccessFlags(1);
    pub const ACL_RT_MEM_ACCESS_FLAGS_READWRITE: aclrtMemAccessFlags = aclrtMemAccessFlags(
        3,
    );
}
#[repr(transparent)]
/// Rights on a mapping.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemAccessFlags(pub ::core::ffi::c_uint);
impl aclrtIpcMemAttrType {
    pub const ACL_RT_IPC_MEM_ATTR_ACCESS_LINK: aclrtIpcMemAttrType = aclrtIpcMemAttrType(
        0,
    );
}
#[repr(transparent)]
/// Attribute of memory shared between processes.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtIpcMemAttrType(pub ::core::ffi::c_uint);
impl aclrtHacType {
    pub const ACL_RT_HAC_TYPE_STARS: aclrtHacType = aclrtHacType(0);
    pub const ACL_RT_HAC_TYPE_AICPU: aclrtHacType = aclrtHacType(1);
    pub const ACL_RT_HAC_TYPE_AIC: aclrtHacType = aclrtHacType(2);
    pub const ACL_RT_HAC_TYPE_AIV: aclrtHacType = aclrtHacType(3);
    pub const ACL_RT_HAC_TYPE_PCIEDMA: aclrtHacType = aclrtHacType(4);
    pub const ACL_RT_HAC_TYPE_RDMA: aclrtHacType = aclrtHacType(5);
    pub const ACL_RT_HAC_TYPE_SDMA: aclrtHacType = aclrtHacType(6);
    pub const ACL_RT_HAC_TYPE_DVPP: aclrtHacType = aclrtHacType(7);
    pub const ACL_RT_HAC_TYPE_UDMA: aclrtHacType = aclrtHacType(8);
    pub const ACL_RT_HAC_TYPE_CCU: aclrtHacType = aclrtHacType(9);
}
#[repr(transparent)]
/// Engine of a device that may reach host memory.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtHacType(pub ::core::ffi::c_uint);
impl aclrtHostMemMapCapability {
    pub const ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED: aclrtHostMemMapCapability = aclrtHostMemMapCapability(
        0,
    );
    pub const ACL_RT_HOST_MEM_MAP_SUPPORTED: aclrtHostMemMapCapability = aclrtHostMemMapCapability(
        1,
    );
}
#[repr(transparent)]
/// Whether it may.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtHostMemMapCapability(pub ::core::ffi::c_uint);
impl aclrtErrorType {
    pub const ACL_RT_NO_ERROR: aclrtErrorType = aclrtErrorType(0);
    pub const ACL_RT_ERROR_MEMORY: aclrtErrorType = aclrtErrorType(1);
    pub const ACL_RT_ERROR_L2: aclrtErrorType = aclrtErrorType(2);
    pub const ACL_RT_ERROR_AICORE: aclrtErrorType = aclrtErrorType(3);
    pub const ACL_RT_ERROR_LINK: aclrtErrorType = aclrtErrorType(4);
    pub const ACL_RT_ERROR_L3_PORT: aclrtErrorType = aclrtErrorType(5);
    pub const ACL_RT_ERROR_OTHERS: aclrtErrorType = aclrtErrorType(65535);
}
#[repr(transparent)]
/// Kind of a device error that can be asked for in detail.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtErrorType(pub ::core::ffi::c_uint);
impl aclrtAicoreErrorType {
    pub const ACL_RT_AICORE_ERROR_UNKNOWN: aclrtAicoreErrorType = aclrtAicoreErrorType(
        0,
    );
    pub const ACL_RT_AICORE_ERROR_SW: aclrtAicoreErrorType = aclrtAicoreErrorType(1);
    pub const ACL_RT_AICORE_ERROR_HW_LOCAL: aclrtAicoreErrorType = aclrtAicoreErrorType(
        2,
    );
}
#[repr(transparent)]
/// Origin of an error of an AI core.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtAicoreErrorType(pub ::core::ffi::c_uint);
/// Physical memory.
pub type aclrtDrvMemHandle = *mut ::core::ffi::c_void;
/// Value of an attribute of aclrtMallocWithCfg.
#[repr(C)]
#[derive(Copy, Clone)]
pub union aclrtMallocAttrValue {
    pub moduleId: u16,
    pub deviceId: u32,
    pub vaFlag: u32,
    pub rsv: [u8; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMallocAttrValue",
    ][::core::mem::size_of::<aclrtMallocAttrValue>() - 8usize];
    [
        "Alignment of aclrtMallocAttrValue",
    ][::core::mem::align_of::<aclrtMallocAttrValue>() - 4usize];
    [
        "Offset of field: aclrtMallocAttrValue::moduleId",
    ][::core::mem::offset_of!(aclrtMallocAttrValue, moduleId) - 0usize];
    [
        "Offset of field: aclrtMallocAttrValue::deviceId",
    ][::core::mem::offset_of!(aclrtMallocAttrValue, deviceId) - 0usize];
    [
        "Offset of field: aclrtMallocAttrValue::vaFlag",
    ][::core::mem::offset_of!(aclrtMallocAttrValue, vaFlag) - 0usize];
    [
        "Offset of field: aclrtMallocAttrValue::rsv",
    ][::core::mem::offset_of!(aclrtMallocAttrValue, rsv) - 0usize];
};
impl ::core::fmt::Debug for aclrtMallocAttrValue {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        write!(f, "aclrtMallocAttrValue {{ union }}")
    }
}
/// One attribute of aclrtMallocWithCfg.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct aclrtMallocAttribute {
    pub attr: aclrtMallocAttrType,
    pub value: aclrtMallocAttrValue,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMallocAttribute",
    ][::core::mem::size_of::<aclrtMallocAttribute>() - 12usize];
    [
        "Alignment of aclrtMallocAttribute",
    ][::core::mem::align_of::<aclrtMallocAttribute>() - 4usize];
    [
        "Offset of field: aclrtMallocAttribute::attr",
    ][::core::mem::offset_of!(aclrtMallocAttribute, attr) - 0usize];
    [
        "Offset of field: aclrtMallocAttribute::value",
    ][::core::mem::offset_of!(aclrtMallocAttribute, value) - 4usize];
};
impl ::core::fmt::Debug for aclrtMallocAttribute {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        write!(
            f,
            "aclrtMallocAttribute {{ attr: {:?}, value: {:?} }}",
            self.attr,
            self.value,
        )
    }
}
/// All attributes of aclrtMallocWithCfg.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMallocConfig {
    pub attrs: *mut aclrtMallocAttribute,
    pub numAttrs: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtMallocConfig"][::core::mem::size_of::<aclrtMallocConfig>() - 16usize];
    [
        "Alignment of aclrtMallocConfig",
    ][::core::mem::align_of::<aclrtMallocConfig>() - 8usize];
    [
        "Offset of field: aclrtMallocConfig::attrs",
    ][::core::mem::offset_of!(aclrtMallocConfig, attrs) - 0usize];
    [
        "Offset of field: aclrtMallocConfig::numAttrs",
    ][::core::mem::offset_of!(aclrtMallocConfig, numAttrs) - 8usize];
};
/// A place of memory: which device, or which part of the host.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemLocation {
    pub id: u32,
    pub type_: aclrtMemLocationType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtMemLocation"][::core::mem::size_of::<aclrtMemLocation>() - 8usize];
    [
        "Alignment of aclrtMemLocation",
    ][::core::mem::align_of::<aclrtMemLocation>() - 4usize];
    [
        "Offset of field: aclrtMemLocation::id",
    ][::core::mem::offset_of!(aclrtMemLocation, id) - 0usize];
    [
        "Offset of field: aclrtMemLocation::type_",
    ][::core::mem::offset_of!(aclrtMemLocation, type_) - 4usize];
};
/// A place of managed memory. The order of its fields is not that of aclrtMemLocation.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemManagedLocation {
    pub type_: aclrtMemManagedLocationType,
    pub id: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemManagedLocation",
    ][::core::mem::size_of::<aclrtMemManagedLocation>() - 8usize];
    [
        "Alignment of aclrtMemManagedLocation",
    ][::core::mem::align_of::<aclrtMemManagedLocation>() - 4usize];
    [
        "Offset of field: aclrtMemManagedLocation::type_",
    ][::core::mem::offset_of!(aclrtMemManagedLocation, type_) - 0usize];
    [
        "Offset of field: aclrtMemManagedLocation::id",
    ][::core::mem::offset_of!(aclrtMemManagedLocation, id) - 4usize];
};
/// What is known about an address; `pageSize` is in bytes.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtPtrAttributes {
    pub location: aclrtMemLocation,
    pub pageSize: u32,
    pub rsv: [u32; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtPtrAttributes",
    ][::core::mem::size_of::<aclrtPtrAttributes>() - 28usize];
    [
        "Alignment of aclrtPtrAttributes",
    ][::core::mem::align_of::<aclrtPtrAttributes>() - 4usize];
    [
        "Offset of field: aclrtPtrAttributes::location",
    ][::core::mem::offset_of!(aclrtPtrAttributes, location) - 0usize];
    [
        "Offset of field: aclrtPtrAttributes::pageSize",
    ][::core::mem::offset_of!(aclrtPtrAttributes, pageSize) - 8usize];
    [
        "Offset of field: aclrtPtrAttributes::rsv",
    ][::core::mem::offset_of!(aclrtPtrAttributes, rsv) - 12usize];
};
/// Device memory of one module of CANN, in bytes.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemUsageInfo {
    pub name: [::core::ffi::c_char; 32usize],
    pub curMemSize: u64,
    pub memPeakSize: u64,
    pub reserved: [usize; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemUsageInfo",
    ][::core::mem::size_of::<aclrtMemUsageInfo>() - 112usize];
    [
        "Alignment of aclrtMemUsageInfo",
    ][::core::mem::align_of::<aclrtMemUsageInfo>() - 8usize];
    [
        "Offset of field: aclrtMemUsageInfo::name",
    ][::core::mem::offset_of!(aclrtMemUsageInfo, name) - 0usize];
    [
        "Offset of field: aclrtMemUsageInfo::curMemSize",
    ][::core::mem::offset_of!(aclrtMemUsageInfo, curMemSize) - 32usize];
    [
        "Offset of field: aclrtMemUsageInfo::memPeakSize",
    ][::core::mem::offset_of!(aclrtMemUsageInfo, memPeakSize) - 40usize];
    [
        "Offset of field: aclrtMemUsageInfo::reserved",
    ][::core::mem::offset_of!(aclrtMemUsageInfo, reserved) - 48usize];
};
/// What physical memory shall be.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtPhysicalMemProp {
    pub handleType: aclrtMemHandleType,
    pub allocationType: aclrtMemAllocationType,
    pub memAttr: aclrtMemAttr,
    pub location: aclrtMemLocation,
    pub reserve: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtPhysicalMemProp",
    ][::core::mem::size_of::<aclrtPhysicalMemProp>() - 32usize];
    [
        "Alignment of aclrtPhysicalMemProp",
    ][::core::mem::align_of::<aclrtPhysicalMemProp>() - 8usize];
    [
        "Offset of field: aclrtPhysicalMemProp::handleType",
    ][::core::mem::offset_of!(aclrtPhysicalMemProp, handleType) - 0usize];
    [
        "Offset of field: aclrtPhysicalMemProp::allocationType",
    ][::core::mem::offset_of!(aclrtPhysicalMemProp, allocationType) - 4usize];
    [
        "Offset of field: aclrtPhysicalMemProp::memAttr",
    ][::core::mem::offset_of!(aclrtPhysicalMemProp, memAttr) - 8usize];
    [
        "Offset of field: aclrtPhysicalMemProp::location",
    ][::core::mem::offset_of!(aclrtPhysicalMemProp, location) - 12usize];
    [
        "Offset of field: aclrtPhysicalMemProp::reserve",
    ][::core::mem::offset_of!(aclrtPhysicalMemProp, reserve) - 24usize];
};
/// Who may do what on a mapping.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemAccessDesc {
    pub flags: aclrtMemAccessFlags,
    pub location: aclrtMemLocation,
    pub rsv: [u8; 12usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemAccessDesc",
    ][::core::mem::size_of::<aclrtMemAccessDesc>() - 24usize];
    [
        "Alignment of aclrtMemAccessDesc",
    ][::core::mem::align_of::<aclrtMemAccessDesc>() - 4usize];
    [
        "Offset of field: aclrtMemAccessDesc::flags",
    ][::core::mem::offset_of!(aclrtMemAccessDesc, flags) - 0usize];
    [
        "Offset of field: aclrtMemAccessDesc::location",
    ][::core::mem::offset_of!(aclrtMemAccessDesc, location) - 4usize];
    [
        "Offset of field: aclrtMemAccessDesc::rsv",
    ][::core::mem::offset_of!(aclrtMemAccessDesc, rsv) - 12usize];
};
/// Physical memory as another server imports it.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemFabricHandle {
    pub data: [u8; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemFabricHandle",
    ][::core::mem::size_of::<aclrtMemFabricHandle>() - 128usize];
    [
        "Alignment of aclrtMemFabricHandle",
    ][::core::mem::align_of::<aclrtMemFabricHandle>() - 1usize];
    [
        "Offset of field: aclrtMemFabricHandle::data",
    ][::core::mem::offset_of!(aclrtMemFabricHandle, data) - 0usize];
};
/// Processes of one server.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtServerPid {
    pub sdid: u32,
    pub pid: *mut i32,
    pub num: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtServerPid"][::core::mem::size_of::<aclrtServerPid>() - 24usize];
    ["Alignment of aclrtServerPid"][::core::mem::align_of::<aclrtServerPid>() - 8usize];
    [
        "Offset of field: aclrtServerPid::sdid",
    ][::core::mem::offset_of!(aclrtServerPid, sdid) - 0usize];
    [
        "Offset of field: aclrtServerPid::pid",
    ][::core::mem::offset_of!(aclrtServerPid, pid) - 8usize];
    [
        "Offset of field: aclrtServerPid::num",
    ][::core::mem::offset_of!(aclrtServerPid, num) - 16usize];
};
/// From where to where some copies of a batch go.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemcpyBatchAttr {
    pub dstLoc: aclrtMemLocation,
    pub srcLoc: aclrtMemLocation,
    pub rsv: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemcpyBatchAttr",
    ][::core::mem::size_of::<aclrtMemcpyBatchAttr>() - 32usize];
    [
        "Alignment of aclrtMemcpyBatchAttr",
    ][::core::mem::align_of::<aclrtMemcpyBatchAttr>() - 4usize];
    [
        "Offset of field: aclrtMemcpyBatchAttr::dstLoc",
    ][::core::mem::offset_of!(aclrtMemcpyBatchAttr, dstLoc) - 0usize];
    [
        "Offset of field: aclrtMemcpyBatchAttr::srcLoc",
    ][::core::mem::offset_of!(aclrtMemcpyBatchAttr, srcLoc) - 8usize];
    [
        "Offset of field: aclrtMemcpyBatchAttr::rsv",
    ][::core::mem::offset_of!(aclrtMemcpyBatchAttr, rsv) - 16usize];
};
/// A range of device memory with an error that cannot be corrected.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemUceInfo {
    pub addr: *mut ::core::ffi::c_void,
    pub len: usize,
    pub reserved: [usize; 14usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtMemUceInfo"][::core::mem::size_of::<aclrtMemUceInfo>() - 128usize];
    [
        "Alignment of aclrtMemUceInfo",
    ][::core::mem::align_of::<aclrtMemUceInfo>() - 8usize];
    [
        "Offset of field: aclrtMemUceInfo::addr",
    ][::core::mem::offset_of!(aclrtMemUceInfo, addr) - 0usize];
    [
        "Offset of field: aclrtMemUceInfo::len",
    ][::core::mem::offset_of!(aclrtMemUceInfo, len) - 8usize];
    [
        "Offset of field: aclrtMemUceInfo::reserved",
    ][::core::mem::offset_of!(aclrtMemUceInfo, reserved) - 16usize];
};
/// All such ranges.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemUceInfoArray {
    pub arraySize: usize,
    pub memUceInfoArray: [aclrtMemUceInfo; 20usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtMemUceInfoArray",
    ][::core::mem::size_of::<aclrtMemUceInfoArray>() - 2568usize];
    [
        "Alignment of aclrtMemUceInfoArray",
    ][::core::mem::align_of::<aclrtMemUceInfoArray>() - 8usize];
    [
        "Offset of field: aclrtMemUceInfoArray::arraySize",
    ][::core::mem::offset_of!(aclrtMemUceInfoArray, arraySize) - 0usize];
    [
        "Offset of field: aclrtMemUceInfoArray::memUceInfoArray",
    ][::core::mem::offset_of!(aclrtMemUceInfoArray, memUceInfoArray) - 8usize];
};
/// Detail of a device error, by its type.
#[repr(C)]
#[derive(Copy, Clone)]
pub union aclrtErrorInfoDetail {
    pub uceInfo: aclrtMemUceInfoArray,
    pub aicoreErrType: aclrtAicoreErrorType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtErrorInfoDetail",
    ][::core::mem::size_of::<aclrtErrorInfoDetail>() - 2568usize];
    [
        "Alignment of aclrtErrorInfoDetail",
    ][::core::mem::align_of::<aclrtErrorInfoDetail>() - 8usize];
    [
        "Offset of field: aclrtErrorInfoDetail::uceInfo",
    ][::core::mem::offset_of!(aclrtErrorInfoDetail, uceInfo) - 0usize];
    [
        "Offset of field: aclrtErrorInfoDetail::aicoreErrType",
    ][::core::mem::offset_of!(aclrtErrorInfoDetail, aicoreErrType) - 0usize];
};
impl ::core::fmt::Debug for aclrtErrorInfoDetail {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        write!(f, "aclrtErrorInfoDetail {{ union }}")
    }
}
/// A device error.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct aclrtErrorInfo {
    pub tryRepair: u8,
    pub hasDetail: u8,
    pub reserved: [u8; 2usize],
    pub errorType: aclrtErrorType,
    pub detail: aclrtErrorInfoDetail,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtErrorInfo"][::core::mem::size_of::<aclrtErrorInfo>() - 2576usize];
    ["Alignment of aclrtErrorInfo"][::core::mem::align_of::<aclrtErrorInfo>() - 8usize];
    [
        "Offset of field: aclrtErrorInfo::tryRepair",
    ][::core::mem::offset_of!(aclrtErrorInfo, tryRepair) - 0usize];
    [
        "Offset of field: aclrtErrorInfo::hasDetail",
    ][::core::mem::offset_of!(aclrtErrorInfo, hasDetail) - 1usize];
    [
        "Offset of field: aclrtErrorInfo::reserved",
    ][::core::mem::offset_of!(aclrtErrorInfo, reserved) - 2usize];
    [
        "Offset of field: aclrtErrorInfo::errorType",
    ][::core::mem::offset_of!(aclrtErrorInfo, errorType) - 4usize];
    [
        "Offset of field: aclrtErrorInfo::detail",
    ][::core::mem::offset_of!(aclrtErrorInfo, detail) - 8usize];
};
impl ::core::fmt::Debug for aclrtErrorInfo {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        write!(
            f,
            "aclrtErrorInfo {{ reserved: {:?}, errorType: {:?}, detail: {:?} }}",
            self.reserved,
            self.errorType,
            self.detail,
        )
    }
}
impl aclrtRunMode {
    pub const ACL_DEVICE: aclrtRunMode = aclrtRunMode(0);
    pub const ACL_HOST: aclrtRunMode = aclrtRunMode(1);
}
#[repr(transparent)]
/// Where this program runs: on the card itself, or on a host with cards.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtRunMode(pub ::core::ffi::c_uint);
impl aclrtDeviceStatus {
    pub const ACL_RT_DEVICE_STATUS_NORMAL: aclrtDeviceStatus = aclrtDeviceStatus(0);
    pub const ACL_RT_DEVICE_STATUS_ABNORMAL: aclrtDeviceStatus = aclrtDeviceStatus(1);
    pub const ACL_RT_DEVICE_STATUS_END: aclrtDeviceStatus = aclrtDeviceStatus(65535);
}
#[repr(transparent)]
/// Health of a device.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtDeviceStatus(pub ::core::ffi::c_uint);
impl aclrtEventStatus {
    pub const ACL_EVENT_STATUS_COMPLETE: aclrtEventStatus = aclrtEventStatus(0);
    pub const ACL_EVENT_STATUS_NOT_READY: aclrtEventStatus = aclrtEventStatus(1);
    pub const ACL_EVENT_STATUS_RESERVED: aclrtEventStatus = aclrtEventStatus(2);
}
#[repr(transparent)]
/// Answer of the old aclrtQueryEvent. Complete is 0 here, unlike in aclrtEventRecordedStatus.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtEventStatus(pub ::core::ffi::c_uint);
impl aclrtEventRecordedStatus {
    pub const ACL_EVENT_RECORDED_STATUS_NOT_READY: aclrtEventRecordedStatus = aclrtEventRecordedStatus(
        0,
    );
    pub const ACL_EVENT_RECORDED_STATUS_COMPLETE: aclrtEventRecordedStatus = aclrtEventRecordedStatus(
        1,
    );
}
#[repr(transparent)]
/// Answer of aclrtQueryEventStatus. Complete is 1 here, unlike in the other three.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtEventRecordedStatus(pub ::core::ffi::c_uint);
impl aclrtEventWaitStatus {
    pub const ACL_EVENT_WAIT_STATUS_COMPLETE: aclrtEventWaitStatus = aclrtEventWaitStatus(
        0,
    );
    pub const ACL_EVENT_WAIT_STATUS_NOT_READY: aclrtEventWaitStatus = aclrtEventWaitStatus(
        1,
    );
    pub const ACL_EVENT_WAIT_STATUS_RESERVED: aclrtEventWaitStatus = aclrtEventWaitStatus(
        65535,
    );
}
#[repr(transparent)]
/// Answer of aclrtQueryEventWaitStatus.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtEventWaitStatus(pub ::core::ffi::c_uint);
impl aclrtStreamStatus {
    pub const ACL_STREAM_STATUS_COMPLETE: aclrtStreamStatus = aclrtStreamStatus(0);
    pub const ACL_STREAM_STATUS_NOT_READY: aclrtStreamStatus = aclrtStreamStatus(1);
    pub const ACL_STREAM_STATUS_RESERVED: aclrtStreamStatus = aclrtStreamStatus(65535);
}
#[repr(transparent)]
/// Answer of aclrtStreamQuery.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtStreamStatus(pub ::core::ffi::c_uint);
impl aclrtCallbackBlockType {
    pub const ACL_CALLBACK_NO_BLOCK: aclrtCallbackBlockType = aclrtCallbackBlockType(0);
    pub const ACL_CALLBACK_BLOCK: aclrtCallbackBlockType = aclrtCallbackBlockType(1);
}
#[repr(transparent)]
/// Whether a stream waits for a callback.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtCallbackBlockType(pub ::core::ffi::c_uint);
impl aclrtStreamState {
    pub const ACL_RT_STREAM_STATE_CREATE_POST: aclrtStreamState = aclrtStreamState(1);
    pub const ACL_RT_STREAM_STATE_DESTROY_PRE: aclrtStreamState = aclrtStreamState(2);
}
#[repr(transparent)]
/// What a stream was doing when its callback ran.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtStreamState(pub ::core::ffi::c_uint);
impl aclrtDeviceState {
    pub const ACL_RT_DEVICE_STATE_SET_PRE: aclrtDeviceState = aclrtDeviceState(0);
    pub const ACL_RT_DEVICE_STATE_SET_POST: aclrtDeviceState = aclrtDeviceState(1);
    pub const ACL_RT_DEVICE_STATE_RESET_PRE: aclrtDeviceState = aclrtDeviceState(2);
    pub const ACL_RT_DEVICE_STATE_RESET_POST: aclrtDeviceState = aclrtDeviceState(3);
}
#[repr(transparent)]
/// What a device was doing when its callback ran.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtDeviceState(pub ::core::ffi::c_uint);
impl aclrtStreamConfigAttr {
    pub const ACL_RT_STREAM_WORK_ADDR_PTR: aclrtStreamConfigAttr = aclrtStreamConfigAttr(
        0,
    );
    pub const ACL_RT_STREAM_WORK_SIZE: aclrtStreamConfigAttr = aclrtStreamConfigAttr(1);
    pub const ACL_RT_STREAM_FLAG: aclrtStreamConfigAttr = aclrtStreamConfigAttr(2);
    pub const ACL_RT_STREAM_PRIORITY: aclrtStreamConfigAttr = aclrtStreamConfigAttr(3);
}
#[repr(transparent)]
/// Options of an aclrtStreamConfigHandle.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtStreamConfigAttr(pub ::core::ffi::c_uint);
impl aclrtStreamAttr {
    pub const ACL_STREAM_ATTR_FAILURE_MODE: aclrtStreamAttr = aclrtStreamAttr(1);
    pub const ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: aclrtStreamAttr = aclrtStreamAttr(2);
    pub const ACL_STREAM_ATTR_USER_CUSTOM_TAG: aclrtStreamAttr = aclrtStreamAttr(3);
    pub const ACL_STREAM_ATTR_CACHE_OP_INFO: aclrtStreamAttr = aclrtStreamAttr(4);
    pub const ACL_STREAM_ATTR_PRIORITY: aclrtStreamAttr = aclrtStreamAttr(5);
}
#[repr(transparent)]
/// Attributes of a living stream.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtStreamAttr(pub ::core::ffi::c_uint);
impl aclrtLastErrLevel {
    pub const ACL_RT_THREAD_LEVEL: aclrtLastErrLevel = aclrtLastErrLevel(0);
}
#[repr(transparent)]
/// Which error aclrtGetLastError speaks of.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtLastErrLevel(pub ::core::ffi::c_uint);
impl aclrtDevAttr {
    pub const ACL_DEV_ATTR_AICPU_CORE_NUM: aclrtDevAttr = aclrtDevAttr(1);
    pub const ACL_DEV_ATTR_AICORE_CORE_NUM: aclrtDevAttr = aclrtDevAttr(101);
    pub const ACL_DEV_ATTR_CUBE_CORE_NUM: aclrtDevAttr = aclrtDevAttr(102);
    pub const ACL_DEV_ATTR_VECTOR_CORE_NUM: aclrtDevAttr = aclrtDevAttr(201);
    pub const ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: aclrtDevAttr = aclrtDevAttr(301);
    pub const ACL_DEV_ATTR_L2_CACHE_SIZE: aclrtDevAttr = aclrtDevAttr(302);
    pub const ACL_DEV_ATTR_SMP_ID: aclrtDevAttr = aclrtDevAttr(401);
    pub const ACL_DEV_ATTR_PHY_CHIP_ID: aclrtDevAttr = aclrtDevAttr(402);
    pub const ACL_DEV_ATTR_SUPER_POD_DEVICE_ID: aclrtDevAttr = aclrtDevAttr(403);
    pub const ACL_DEV_ATTR_SUPER_POD_SERVER_ID: aclrtDevAttr = aclrtDevAttr(404);
    pub const ACL_DEV_ATTR_SUPER_POD_ID: aclrtDevAttr = aclrtDevAttr(405);
    pub const ACL_DEV_ATTR_IS_VIRTUAL: aclrtDevAttr = aclrtDevAttr(501);
    pub const ACL_DEV_ATTR_NPU_ARCH: aclrtDevAttr = aclrtDevAttr(601);
}
#[repr(transparent)]
/// Facts that aclrtGetDeviceInfo answers; the values that concern kernels only are left out.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtDevAttr(pub ::core::ffi::c_uint);
impl aclrtFloatOverflowMode {
    pub const ACL_RT_OVERFLOW_MODE_SATURATION: aclrtFloatOverflowMode = aclrtFloatOverflowMode(
        0,
    );
    pub const ACL_RT_OVERFLOW_MODE_INFNAN: aclrtFloatOverflowMode = aclrtFloatOverflowMode(
        1,
    );
    pub const ACL_RT_OVERFLOW_MODE_UNDEF: aclrtFloatOverflowMode = aclrtFloatOverflowMode(
        2,
    );
}
#[repr(transparent)]
/// What a kernel answers for numbers that are too large.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtFloatOverflowMode(pub ::core::ffi::c_uint);
impl aclrtDevResLimitType {
    pub const ACL_RT_DEV_RES_CUBE_CORE: aclrtDevResLimitType = aclrtDevResLimitType(0);
    pub const ACL_RT_DEV_RES_VECTOR_CORE: aclrtDevResLimitType = aclrtDevResLimitType(1);
}
#[repr(transparent)]
/// Cores that kernels may be held to.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtDevResLimitType(pub ::core::ffi::c_uint);
impl aclCANNPackageName {
    pub const ACL_PKG_NAME_CANN: aclCANNPackageName = aclCANNPackageName(0);
    pub const ACL_PKG_NAME_RUNTIME: aclCANNPackageName = aclCANNPackageName(1);
    pub const ACL_PKG_NAME_COMPILER: aclCANNPackageName = aclCANNPackageName(2);
    pub const ACL_PKG_NAME_HCCL: aclCANNPackageName = aclCANNPackageName(3);
    pub const ACL_PKG_NAME_TOOLKIT: aclCANNPackageName = aclCANNPackageName(4);
    pub const ACL_PKG_NAME_OPP: aclCANNPackageName = aclCANNPackageName(5);
    pub const ACL_PKG_NAME_OPP_KERNEL: aclCANNPackageName = aclCANNPackageName(6);
    pub const ACL_PKG_NAME_DRIVER: aclCANNPackageName = aclCANNPackageName(7);
}
#[repr(transparent)]
/// Packages of an installed CANN that have a version of their own.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclCANNPackageName(pub ::core::ffi::c_uint);
impl aclRegisterCallbackType {
    pub const ACL_REG_TYPE_ACL_MODEL: aclRegisterCallbackType = aclRegisterCallbackType(
        0,
    );
    pub const ACL_REG_TYPE_ACL_OP_EXECUTOR: aclRegisterCallbackType = aclRegisterCallbackType(
        1,
    );
    pub const ACL_REG_TYPE_ACL_OP_CBLAS: aclRegisterCallbackType = aclRegisterCallbackType(
        2,
    );
    pub const ACL_REG_TYPE_ACL_OP_COMPILER: aclRegisterCallbackType = aclRegisterCallbackType(
        3,
    );
    pub const ACL_REG_TYPE_ACL_TDT_CHANNEL: aclRegisterCallbackType = aclRegisterCallbackType(
        4,
    );
    pub const ACL_REG_TYPE_ACL_TDT_QUEUE: aclRegisterCallbackType = aclRegisterCallbackType(
        5,
    );
    pub const ACL_REG_TYPE_ACL_DVPP: aclRegisterCallbackType = aclRegisterCallbackType(
        6,
    );
    pub const ACL_REG_TYPE_ACL_RETR: aclRegisterCallbackType = aclRegisterCallbackType(
        7,
    );
    pub const ACL_REG_TYPE_OTHER: aclRegisterCallbackType = aclRegisterCallbackType(
        65535,
    );
}
#[repr(transparent)]
/// Part of ACL on whose start or end a callback runs.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclRegisterCallbackType(pub ::core::ffi::c_uint);
/// Settings of a stream that is about to be created.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtStreamConfigHandle {
    pub workptr: *mut ::core::ffi::c_void,
    pub workSize: usize,
    pub flag: usize,
    pub priority: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtStreamConfigHandle",
    ][::core::mem::size_of::<aclrtStreamConfigHandle>() - 32usize];
    [
        "Alignment of aclrtStreamConfigHandle",
    ][::core::mem::align_of::<aclrtStreamConfigHandle>() - 8usize];
    [
        "Offset of field: aclrtStreamConfigHandle::workptr",
    ][::core::mem::offset_of!(aclrtStreamConfigHandle, workptr) - 0usize];
    [
        "Offset of field: aclrtStreamConfigHandle::workSize",
    ][::core::mem::offset_of!(aclrtStreamConfigHandle, workSize) - 8usize];
    [
        "Offset of field: aclrtStreamConfigHandle::flag",
    ][::core::mem::offset_of!(aclrtStreamConfigHandle, flag) - 16usize];
    [
        "Offset of field: aclrtStreamConfigHandle::priority",
    ][::core::mem::offset_of!(aclrtStreamConfigHandle, priority) - 24usize];
};
/// Value of an aclrtStreamAttr.
#[repr(C)]
#[derive(Copy, Clone)]
pub union aclrtStreamAttrValue {
    pub failureMode: u64,
    pub overflowSwitch: u32,
    pub userCustomTag: u32,
    pub cacheOpInfoSwitch: u32,
    pub streamPriority: u32,
    pub reserve: [u32; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtStreamAttrValue",
    ][::core::mem::size_of::<aclrtStreamAttrValue>() - 16usize];
    [
        "Alignment of aclrtStreamAttrValue",
    ][::core::mem::align_of::<aclrtStreamAttrValue>() - 8usize];
    [
        "Offset of field: aclrtStreamAttrValue::failureMode",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, failureMode) - 0usize];
    [
        "Offset of field: aclrtStreamAttrValue::overflowSwitch",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, overflowSwitch) - 0usize];
    [
        "Offset of field: aclrtStreamAttrValue::userCustomTag",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, userCustomTag) - 0usize];
    [
        "Offset of field: aclrtStreamAttrValue::cacheOpInfoSwitch",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, cacheOpInfoSwitch) - 0usize];
    [
        "Offset of field: aclrtStreamAttrValue::streamPriority",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, streamPriority) - 0usize];
    [
        "Offset of field: aclrtStreamAttrValue::reserve",
    ][::core::mem::offset_of!(aclrtStreamAttrValue, reserve) - 0usize];
};
impl ::core::fmt::Debug for aclrtStreamAttrValue {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        write!(f, "aclrtStreamAttrValue {{ union }}")
    }
}
/// An event as another process opens it.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtIpcEventHandle {
    pub reserved: [::core::ffi::c_char; 64usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtIpcEventHandle",
    ][::core::mem::size_of::<aclrtIpcEventHandle>() - 64usize];
    [
        "Alignment of aclrtIpcEventHandle",
    ][::core::mem::align_of::<aclrtIpcEventHandle>() - 1usize];
    [
        "Offset of field: aclrtIpcEventHandle::reserved",
    ][::core::mem::offset_of!(aclrtIpcEventHandle, reserved) - 0usize];
};
/// Reserved; only ever null.
#[repr(C)]
#[derive(Debug)]
pub struct aclrtUtilizationExtendInfo {
    _unused: [u8; 0],
}
/// How busy the parts of a device are, in percent.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtUtilizationInfo {
    pub cubeUtilization: i32,
    pub vectorUtilization: i32,
    pub aicpuUtilization: i32,
    pub memoryUtilization: i32,
    pub utilizationExtend: *mut aclrtUtilizationExtendInfo,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclrtUtilizationInfo",
    ][::core::mem::size_of::<aclrtUtilizationInfo>() - 24usize];
    [
        "Alignment of aclrtUtilizationInfo",
    ][::core::mem::align_of::<aclrtUtilizationInfo>() - 8usize];
    [
        "Offset of field: aclrtUtilizationInfo::cubeUtilization",
    ][::core::mem::offset_of!(aclrtUtilizationInfo, cubeUtilization) - 0usize];
    [
        "Offset of field: aclrtUtilizationInfo::vectorUtilization",
    ][::core::mem::offset_of!(aclrtUtilizationInfo, vectorUtilization) - 4usize];
    [
        "Offset of field: aclrtUtilizationInfo::aicpuUtilization",
    ][::core::mem::offset_of!(aclrtUtilizationInfo, aicpuUtilization) - 8usize];
    [
        "Offset of field: aclrtUtilizationInfo::memoryUtilization",
    ][::core::mem::offset_of!(aclrtUtilizationInfo, memoryUtilization) - 12usize];
    [
        "Offset of field: aclrtUtilizationInfo::utilizationExtend",
    ][::core::mem::offset_of!(aclrtUtilizationInfo, utilizationExtend) - 16usize];
};
/// Name of a device that no other has.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtUuid {
    pub bytes: [::core::ffi::c_char; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtUuid"][::core::mem::size_of::<aclrtUuid>() - 16usize];
    ["Alignment of aclrtUuid"][::core::mem::align_of::<aclrtUuid>() - 1usize];
    [
        "Offset of field: aclrtUuid::bytes",
    ][::core::mem::offset_of!(aclrtUuid, bytes) - 0usize];
};
/// Version of a package, whole and in parts.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclCANNPackageVersion {
    pub version: [::core::ffi::c_char; 128usize],
    pub majorVersion: [::core::ffi::c_char; 64usize],
    pub minorVersion: [::core::ffi::c_char; 64usize],
    pub releaseVersion: [::core::ffi::c_char; 64usize],
    pub patchVersion: [::core::ffi::c_char; 64usize],
    pub reserved: [::core::ffi::c_char; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclCANNPackageVersion",
    ][::core::mem::size_of::<aclCANNPackageVersion>() - 512usize];
    [
        "Alignment of aclCANNPackageVersion",
    ][::core::mem::align_of::<aclCANNPackageVersion>() - 1usize];
    [
        "Offset of field: aclCANNPackageVersion::version",
    ][::core::mem::offset_of!(aclCANNPackageVersion, version) - 0usize];
    [
        "Offset of field: aclCANNPackageVersion::majorVersion",
    ][::core::mem::offset_of!(aclCANNPackageVersion, majorVersion) - 128usize];
    [
        "Offset of field: aclCANNPackageVersion::minorVersion",
    ][::core::mem::offset_of!(aclCANNPackageVersion, minorVersion) - 192usize];
    [
        "Offset of field: aclCANNPackageVersion::releaseVersion",
    ][::core::mem::offset_of!(aclCANNPackageVersion, releaseVersion) - 256usize];
    [
        "Offset of field: aclCANNPackageVersion::patchVersion",
    ][::core::mem::offset_of!(aclCANNPackageVersion, patchVersion) - 320usize];
    [
        "Offset of field: aclCANNPackageVersion::reserved",
    ][::core::mem::offset_of!(aclCANNPackageVersion, reserved) - 384usize];
};
/// Work of the host in a stream, run by a thread that has subscribed.
pub type aclrtCallback = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
/// Work of the host in a stream, run by a thread of the runtime.
pub type aclrtHostFunc = ::core::option::Option<
    unsafe extern "C" fn(arguments: *mut ::core::ffi::c_void),
>;
/// A loaded file of kernels.
pub type aclrtBinHandle = *mut ::core::ffi::c_void;
/// A kernel.
pub type aclrtFuncHandle = *mut ::core::ffi::c_void;
/// Options of loading kernels; only ever passed on.
#[repr(C)]
#[derive(Debug)]
pub struct aclrtBinaryLoadOptions {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct rtExceptionInfo {
    _unused: [u8; 0],
}
/// What is known of a task that failed; lives as long as the callback that gets it.
pub type aclrtExceptionInfo = rtExceptionInfo;
/// Told of a task that failed.
pub type aclrtExceptionInfoCallback = ::core::option::Option<
    unsafe extern "C" fn(info: *mut aclrtExceptionInfo),
>;
/// Told of streams that come and go.
pub type aclrtStreamStateCallback = ::core::option::Option<
    unsafe extern "C" fn(
        stream: aclrtStream,
        state: aclrtStreamState,
        arguments: *mut ::core::ffi::c_void,
    ),
>;
/// Told of devices that are set and reset.
pub type aclrtDeviceStateCallback = ::core::option::Option<
    unsafe extern "C" fn(
        device: i32,
        state: aclrtDeviceState,
        arguments: *mut ::core::ffi::c_void,
    ),
>;
/// Told that ACL starts, with the text of the configuration.
pub type aclInitCallbackFunc = ::core::option::Option<
    unsafe extern "C" fn(
        config: *const ::core::ffi::c_char,
        length: usize,
        user_data: *mut ::core::ffi::c_void,
    ) -> aclError,
>;
/// Told that ACL ends.
pub type aclFinalizeCallbackFunc = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void) -> aclError,
>;
impl aclmdlConfigAttr {
    pub const ACL_MDL_PRIORITY_INT32: aclmdlConfigAttr = aclmdlConfigAttr(0);
    pub const ACL_MDL_LOAD_TYPE_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(1);
    pub const ACL_MDL_PATH_PTR: aclmdlConfigAttr = aclmdlConfigAttr(2);
    pub const ACL_MDL_MEM_ADDR_PTR: aclmdlConfigAttr = aclmdlConfigAttr(3);
    pub const ACL_MDL_MEM_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(4);
    pub const ACL_MDL_WEIGHT_ADDR_PTR: aclmdlConfigAttr = aclmdlConfigAttr(5);
    pub const ACL_MDL_WEIGHT_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(6);
    pub const ACL_MDL_WORKSPACE_ADDR_PTR: aclmdlConfigAttr = aclmdlConfigAttr(7);
    pub const ACL_MDL_WORKSPACE_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(8);
    pub const ACL_MDL_INPUTQ_NUM_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(9);
    pub const ACL_MDL_INPUTQ_ADDR_PTR: aclmdlConfigAttr = aclmdlConfigAttr(10);
    pub const ACL_MDL_OUTPUTQ_NUM_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(11);
    pub const ACL_MDL_OUTPUTQ_ADDR_PTR: aclmdlConfigAttr = aclmdlConfigAttr(12);
    pub const ACL_MDL_WORKSPACE_MEM_OPTIMIZE: aclmdlConfigAttr = aclmdlConfigAttr(13);
    pub const ACL_MDL_WEIGHT_PATH_PTR: aclmdlConfigAttr = aclmdlConfigAttr(14);
    pub const ACL_MDL_MODEL_DESC_PTR: aclmdlConfigAttr = aclmdlConfigAttr(15);
    pub const ACL_MDL_MODEL_DESC_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(16);
    pub const ACL_MDL_KERNEL_PTR: aclmdlConfigAttr = aclmdlConfigAttr(17);
    pub const ACL_MDL_KERNEL_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(18);
    pub const ACL_MDL_KERNEL_ARGS_PTR: aclmdlConfigAttr = aclmdlConfigAttr(19);
    pub const ACL_MDL_KERNEL_ARGS_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(20);
    pub const ACL_MDL_STATIC_TASK_PTR: aclmdlConfigAttr = aclmdlConfigAttr(21);
    pub const ACL_MDL_STATIC_TASK_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(22);
    pub const ACL_MDL_DYNAMIC_TASK_PTR: aclmdlConfigAttr = aclmdlConfigAttr(23);
    pub const ACL_MDL_DYNAMIC_TASK_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(24);
    pub const ACL_MDL_MEM_MALLOC_POLICY_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(25);
    pub const ACL_MDL_FIFO_PTR: aclmdlConfigAttr = aclmdlConfigAttr(26);
    pub const ACL_MDL_FIFO_SIZET: aclmdlConfigAttr = aclmdlConfigAttr(27);
    pub const ACL_MDL_WITHOUT_GRAPH_INT32: aclmdlConfigAttr = aclmdlConfigAttr(28);
    pub const ACL_NPU_PERF_MODE: aclmdlConfigAttr = aclmdlConfigAttr(29);
    pub const ACL_MDL_RESERVED: aclmdlConfigAttr = aclmdlConfigAttr(65535);
}
#[repr(transparent)]
/// Options of loading.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclmdlConfigAttr(pub ::core::ffi::c_uint);
impl aclmdlExecConfigAttr {
    pub const ACL_MDL_STREAM_SYNC_TIMEOUT: aclmdlExecConfigAttr = aclmdlExecConfigAttr(
        0,
    );
    pub const ACL_MDL_EVENT_SYNC_TIMEOUT: aclmdlExecConfigAttr = aclmdlExecConfigAttr(1);
    pub const ACL_MDL_WORK_ADDR_PTR: aclmdlExecConfigAttr = aclmdlExecConfigAttr(2);
    pub const ACL_MDL_WORK_SIZET: aclmdlExecConfigAttr = aclmdlExecConfigAttr(3);
    pub const ACL_MDL_MPAIMID_SIZET: aclmdlExecConfigAttr = aclmdlExecConfigAttr(4);
    pub const ACL_MDL_AICQOS_SIZET: aclmdlExecConfigAttr = aclmdlExecConfigAttr(5);
    pub const ACL_MDL_AICOST_SIZET: aclmdlExecConfigAttr = aclmdlExecConfigAttr(6);
    pub const ACL_MDL_MEC_TIMETHR_SIZET: aclmdlExecConfigAttr = aclmdlExecConfigAttr(7);
}
#[repr(transparent)]
/// Options of one run.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclmdlExecConfigAttr(pub ::core::ffi::c_uint);
/// Inputs or outputs of one run.
#[repr(C)]
#[derive(Debug)]
pub struct aclmdlDataset {
    _unused: [u8; 0],
}
/// Description of a model.
#[repr(C)]
#[derive(Debug)]
pub struct aclmdlDesc {
    _unused: [u8; 0],
}
/// Settings of loading.
#[repr(C)]
#[derive(Debug)]
pub struct aclmdlConfigHandle {
    _unused: [u8; 0],
}
/// Settings of one run.
#[repr(C)]
#[derive(Debug)]
pub struct aclmdlExecConfigHandle {
    _unused: [u8; 0],
}
/// What is known about a bundle before it is loaded.
#[repr(C)]
#[derive(Debug)]
pub struct aclmdlBundleQueryInfo {
    _unused: [u8; 0],
}
/// Shape of an input or output.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclmdlIODims {
    pub name: [::core::ffi::c_char; 128usize],
    pub dimCount: usize,
    pub dims: [i64; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclmdlIODims"][::core::mem::size_of::<aclmdlIODims>() - 1160usize];
    ["Alignment of aclmdlIODims"][::core::mem::align_of::<aclmdlIODims>() - 8usize];
    [
        "Offset of field: aclmdlIODims::name",
    ][::core::mem::offset_of!(aclmdlIODims, name) - 0usize];
    [
        "Offset of field: aclmdlIODims::dimCount",
    ][::core::mem::offset_of!(aclmdlIODims, dimCount) - 128usize];
    [
        "Offset of field: aclmdlIODims::dims",
    ][::core::mem::offset_of!(aclmdlIODims, dims) - 136usize];
};
/// Range of each dimension of an input.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclmdlIODimsRange {
    pub rangeCount: usize,
    pub range: [[i64; 2usize]; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of aclmdlIODimsRange",
    ][::core::mem::size_of::<aclmdlIODimsRange>() - 2056usize];
    [
        "Alignment of aclmdlIODimsRange",
    ][::core::mem::align_of::<aclmdlIODimsRange>() - 8usize];
    [
        "Offset of field: aclmdlIODimsRange::rangeCount",
    ][::core::mem::offset_of!(aclmdlIODimsRange, rangeCount) - 0usize];
    [
        "Offset of field: aclmdlIODimsRange::range",
    ][::core::mem::offset_of!(aclmdlIODimsRange, range) - 8usize];
};
/// Batch sizes that a model takes.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclmdlBatch {
    pub batchCount: usize,
    pub batch: [u64; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclmdlBatch"][::core::mem::size_of::<aclmdlBatch>() - 1032usize];
    ["Alignment of aclmdlBatch"][::core::mem::align_of::<aclmdlBatch>() - 8usize];
    [
        "Offset of field: aclmdlBatch::batchCount",
    ][::core::mem::offset_of!(aclmdlBatch, batchCount) - 0usize];
    [
        "Offset of field: aclmdlBatch::batch",
    ][::core::mem::offset_of!(aclmdlBatch, batch) - 8usize];
};
/// Heights and widths that a model takes.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclmdlHW {
    pub hwCount: usize,
    pub hw: [[u64; 2usize]; 128usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclmdlHW"][::core::mem::size_of::<aclmdlHW>() - 2056usize];
    ["Alignment of aclmdlHW"][::core::mem::align_of::<aclmdlHW>() - 8usize];
    [
        "Offset of field: aclmdlHW::hwCount",
    ][::core::mem::offset_of!(aclmdlHW, hwCount) - 0usize];
    ["Offset of field: aclmdlHW::hw"][::core::mem::offset_of!(aclmdlHW, hw) - 8usize];
};
/// Sizes of the parts of a model, in bytes.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclmdlExeOMDesc {
    pub workSize: usize,
    pub weightSize: usize,
    pub modelDescSize: usize,
    pub kernelSize: usize,
    pub kernelArgsSize: usize,
    pub staticTaskSize: usize,
    pub dynamicTaskSize: usize,
    pub fifoTaskSize: usize,
    pub reserved: [usize; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclmdlExeOMDesc"][::core::mem::size_of::<aclmdlExeOMDesc>() - 128usize];
    [
        "Alignment of aclmdlExeOMDesc",
    ][::core::mem::align_of::<aclmdlExeOMDesc>() - 8usize];
    [
        "Offset of field: aclmdlExeOMDesc::workSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, workSize) - 0usize];
    [
        "Offset of field: aclmdlExeOMDesc::weightSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, weightSize) - 8usize];
    [
        "Offset of field: aclmdlExeOMDesc::modelDescSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, modelDescSize) - 16usize];
    [
        "Offset of field: aclmdlExeOMDesc::kernelSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, kernelSize) - 24usize];
    [
        "Offset of field: aclmdlExeOMDesc::kernelArgsSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, kernelArgsSize) - 32usize];
    [
        "Offset of field: aclmdlExeOMDesc::staticTaskSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, staticTaskSize) - 40usize];
    [
        "Offset of field: aclmdlExeOMDesc::dynamicTaskSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, dynamicTaskSize) - 48usize];
    [
        "Offset of field: aclmdlExeOMDesc::fifoTaskSize",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, fifoTaskSize) - 56usize];
    [
        "Offset of field: aclmdlExeOMDesc::reserved",
    ][::core::mem::offset_of!(aclmdlExeOMDesc, reserved) - 64usize];
};
/// A pool.
pub type aclrtMemPool = *mut ::core::ffi::c_void;
impl aclrtMemPoolAttr {
    pub const ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES: aclrtMemPoolAttr = aclrtMemPoolAttr(
        1,
    );
    pub const ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC: aclrtMemPoolAttr = aclrtMemPoolAttr(
        2,
    );
    pub const ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES: aclrtMemPoolAttr = aclrtMemPoolAttr(
        3,
    );
    pub const ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD: aclrtMemPoolAttr = aclrtMemPoolAttr(
        4,
    );
    pub const ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT: aclrtMemPoolAttr = aclrtMemPoolAttr(
        5,
    );
    pub const ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH: aclrtMemPoolAttr = aclrtMemPoolAttr(
        6,
    );
    pub const ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT: aclrtMemPoolAttr = aclrtMemPoolAttr(
        7,
    );
    pub const ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH: aclrtMemPoolAttr = aclrtMemPoolAttr(8);
}
#[repr(transparent)]
/// Attributes of a pool. The first three are uint32_t, the others uint64_t in bytes.
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct aclrtMemPoolAttr(pub ::core::ffi::c_uint);
/// What a new pool shall be; `maxSize` is in bytes, 0 for the whole card, `reserved` is all zero.
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct aclrtMemPoolProps {
    pub allocType: aclrtMemAllocationType,
    pub handleType: aclrtMemHandleType,
    pub location: aclrtMemLocation,
    pub maxSize: usize,
    pub reserved: [::core::ffi::c_uchar; 32usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of aclrtMemPoolProps"][::core::mem::size_of::<aclrtMemPoolProps>() - 56usize];
    [
        "Alignment of aclrtMemPoolProps",
    ][::core::mem::align_of::<aclrtMemPoolProps>() - 8usize];
    [
        "Offset of field: aclrtMemPoolProps::allocType",
    ][::core::mem::offset_of!(aclrtMemPoolProps, allocType) - 0usize];
    [
        "Offset of field: aclrtMemPoolProps::handleType",
    ][::core::mem::offset_of!(aclrtMemPoolProps, handleType) - 4usize];
    [
        "Offset of field: aclrtMemPoolProps::location",
    ][::core::mem::offset_of!(aclrtMemPoolProps, location) - 8usize];
    [
        "Offset of field: aclrtMemPoolProps::maxSize",
    ][::core::mem::offset_of!(aclrtMemPoolProps, maxSize) - 16usize];
    [
        "Offset of field: aclrtMemPoolProps::reserved",
    ][::core::mem::offset_of!(aclrtMemPoolProps, reserved) - 24usize];
};

functions! {
    /// Size in bytes of one element; 0 for a type that has no fixed size in whole bytes.
    fn aclDataTypeSize(data_type: aclDataType) -> usize;
    /// A half as a float; infinities and what is no number count as ordinary large numbers.
    fn aclFloat16ToFloat(value: aclFloat16) -> f32;
    /// A float as a half; what is too large, infinite or no number becomes the largest half, with the sign.
    fn aclFloatToFloat16(value: f32) -> aclFloat16;
    /// One fact about a device.
    fn aclGetDeviceCapability(device: u32, info: aclDeviceInfo, value: *mut i64) -> aclError;
    /// Makes a buffer description; it never owns the memory behind `data`. Null on failure.
    fn aclCreateDataBuffer(data: *mut ::core::ffi::c_void, size: usize) -> *mut aclDataBuffer;
    /// Destroys the description; the memory behind it stays the caller's.
    fn aclDestroyDataBuffer(buffer: *const aclDataBuffer) -> aclError;
    /// Points an existing description at other memory.
    fn aclUpdateDataBuffer(buffer: *mut aclDataBuffer, data: *mut ::core::ffi::c_void, size: usize) -> aclError;
    /// Address in the description.
    fn aclGetDataBufferAddr(buffer: *const aclDataBuffer) -> *mut ::core::ffi::c_void;
    /// Size in bytes, cut off at 32 bits; superseded by aclGetDataBufferSizeV2.
    fn aclGetDataBufferSize(buffer: *const aclDataBuffer) -> u32;
    /// Size in bytes.
    fn aclGetDataBufferSizeV2(buffer: *const aclDataBuffer) -> usize;
    /// Makes a description of a tensor. Null on failure.
    fn aclCreateTensorDesc(data_type: aclDataType, dim_count: ::core::ffi::c_int, dims: *const i64, format: aclFormat) -> *mut aclTensorDesc;
    /// Destroys it.
    fn aclDestroyTensorDesc(description: *const aclTensorDesc);
    /// Type of its elements; ACL_DT_UNDEFINED on failure.
    fn aclGetTensorDescType(description: *const aclTensorDesc) -> aclDataType;
    /// Its layout; ACL_FORMAT_UNDEFINED on failure.
    fn aclGetTensorDescFormat(description: *const aclTensorDesc) -> aclFormat;
    /// Number of its dimensions; 0 on failure.
    fn aclGetTensorDescNumDims(description: *const aclTensorDesc) -> usize;
    /// Size of one of its dimensions.
    fn aclGetTensorDescDimV2(description: *const aclTensorDesc, index: usize, size: *mut i64) -> aclError;
    /// Names it.
    fn aclSetTensorDescName(description: *mut aclTensorDesc, name: *const ::core::ffi::c_char);
    /// Sets the layout in which it is stored.
    fn aclSetTensorFormat(description: *mut aclTensorDesc, format: aclFormat) -> aclError;
    /// Sets the shape in which it is stored.
    fn aclSetTensorShape(description: *mut aclTensorDesc, dim_count: ::core::ffi::c_int, dims: *const i64) -> aclError;
    /// Says where its memory lies.
    fn aclSetTensorPlaceMent(description: *mut aclTensorDesc, memory: aclMemType) -> aclError;
    /// Makes an empty description. Its functions are not set to null: set all four.
    fn aclrtAllocatorCreateDesc() -> aclrtAllocatorDesc;
    /// Destroys a description; the runtime has its own copy of a registered one.
    fn aclrtAllocatorDestroyDesc(description: aclrtAllocatorDesc) -> aclError;
    /// Sets the object that the functions are called with.
    fn aclrtAllocatorSetObjToDesc(description: aclrtAllocatorDesc, allocator: aclrtAllocator) -> aclError;
    /// Sets the function that gives out blocks.
    fn aclrtAllocatorSetAllocFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorAllocFunc) -> aclError;
    /// Sets the function that takes blocks back.
    fn aclrtAllocatorSetFreeFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorFreeFunc) -> aclError;
    /// Sets the function that gives out blocks near an address.
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorAllocAdviseFunc) -> aclError;
    /// Sets the function that answers the address of a block.
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description: aclrtAllocatorDesc, function: aclrtAllocatorGetAddrFromBlockFunc) -> aclError;
    /// Registers an allocator for a stream; replaces an earlier one.
    fn aclrtAllocatorRegister(stream: aclrtStream, description: aclrtAllocatorDesc) -> aclError;
    /// Takes the allocator of a stream away; none is no error.
    fn aclrtAllocatorUnregister(stream: aclrtStream) -> aclError;
    /// Answers the allocator of a stream.
    fn aclrtAllocatorGetByStream(stream: aclrtStream, description: *mut aclrtAllocatorDesc, allocator: *mut aclrtAllocator, alloc_function: *mut aclrtAllocatorAllocFunc, free_function: *mut aclrtAllocatorFreeFunc, advise_function: *mut aclrtAllocatorAllocAdviseFunc, address_function: *mut aclrtAllocatorGetAddrFromBlockFunc) -> aclError;
    /// Allocates device memory; before Ascend 950 with 32 bytes more than the size rounded up to 32. Size 0 is an error.
    fn aclrtMalloc(address: *mut *mut ::core::ffi::c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    /// Allocates the size rounded up to 32 bytes and no more.
    fn aclrtMallocAlign32(address: *mut *mut ::core::ffi::c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    /// Allocates memory that the host may cache; see aclrtMemFlush.
    fn aclrtMallocCached(address: *mut *mut ::core::ffi::c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    /// Allocates with attributes.
    fn aclrtMallocWithCfg(address: *mut *mut ::core::ffi::c_void, size: usize, policy: aclrtMemMallocPolicy, config: *mut aclrtMallocConfig) -> aclError;
    /// Allocates memory for the task scheduler.
    fn aclrtMallocForTaskScheduler(address: *mut *mut ::core::ffi::c_void, size: usize, policy: aclrtMemMallocPolicy, config: *mut aclrtMallocConfig) -> aclError;
    /// Writes the caches of the host back.
    fn aclrtMemFlush(address: *mut ::core::ffi::c_void, size: usize) -> aclError;
    /// Forgets the caches of the host.
    fn aclrtMemInvalidate(address: *mut ::core::ffi::c_void, size: usize) -> aclError;
    /// Frees device memory at once, whatever work still uses it. Null is an error.
    fn aclrtFree(address: *mut ::core::ffi::c_void) -> aclError;
    /// Waits for the device, then frees.
    fn aclrtFreeWithDevSync(address: *mut ::core::ffi::c_void) -> aclError;
    /// Free and total memory of a kind on the current device, in bytes, over all processes.
    fn aclrtGetMemInfo(attribute: aclrtMemAttr, free_bytes: *mut usize, total_bytes: *mut usize) -> aclError;
    /// Memory by module of CANN, largest first; the number found can pass the number asked for.
    fn aclrtGetMemUsageInfo(device: i32, usage: *mut aclrtMemUsageInfo, asked: usize, found: *mut usize) -> aclError;
    /// Whether addresses are of a kind of memory.
    fn aclrtCheckMemType(addresses: *mut *mut ::core::ffi::c_void, count: u32, kind: u32, result: *mut u32, reserved: u32) -> aclError;
    /// Ranges with errors that cannot be corrected.
    fn aclrtGetMemUceInfo(device: i32, ranges: *mut aclrtMemUceInfo, capacity: usize, found: *mut usize) -> aclError;
    /// Repairs such ranges.
    fn aclrtMemUceRepair(device: i32, ranges: *mut aclrtMemUceInfo, count: usize) -> aclError;
    /// Last error of a device in detail.
    fn aclrtGetErrorVerbose(device: i32, error: *mut aclrtErrorInfo) -> aclError;
    /// Repairs an error of a device.
    fn aclrtRepairError(device: i32, error: *const aclrtErrorInfo) -> aclError;
    /// What is known about an address.
    fn aclrtPointerGetAttributes(address: *const ::core::ffi::c_void, attributes: *mut aclrtPtrAttributes) -> aclError;
    /// Allocation that an address lies in, rounded to pages; either pointer may be null. Since CANN 9.0.
    fn aclrtMemGetAddressRange(address: *mut ::core::ffi::c_void, base: *mut *mut ::core::ffi::c_void, size: *mut usize) -> aclError;
    /// Allocates pinned host memory.
    fn aclrtMallocHost(address: *mut *mut ::core::ffi::c_void, size: usize) -> aclError;
    /// Allocates pinned host memory with attributes.
    fn aclrtMallocHostWithCfg(address: *mut *mut ::core::ffi::c_void, size: u64, config: *mut aclrtMallocConfig) -> aclError;
    /// Frees pinned host memory.
    fn aclrtFreeHost(address: *mut ::core::ffi::c_void) -> aclError;
    /// Waits for the device, then frees.
    fn aclrtFreeHostWithDevSync(address: *mut ::core::ffi::c_void) -> aclError;
    /// Registers host memory and answers its address on the device.
    fn aclrtHostRegister(address: *mut ::core::ffi::c_void, size: u64, type_: aclrtHostRegisterType, device_address: *mut *mut ::core::ffi::c_void) -> aclError;
    /// Registers host memory with ACL_HOST_REG flags.
    fn aclrtHostRegisterV2(address: *mut ::core::ffi::c_void, size: u64, flags: u32) -> aclError;
    /// Address of registered host memory on the device.
    fn aclrtHostGetDevicePointer(address: *mut ::core::ffi::c_void, device_address: *mut *mut ::core::ffi::c_void, flags: u32) -> aclError;
    /// Takes a registration back.
    fn aclrtHostUnregister(address: *mut ::core::ffi::c_void) -> aclError;
    /// Whether an engine of a device may reach host memory. Since CANN 9.0.
    fn aclrtHostMemMapCapabilities(device: u32, engine: aclrtHacType, capability: *mut aclrtHostMemMapCapability) -> aclError;
    /// Copies and waits.
    fn aclrtMemcpy(destination: *mut ::core::ffi::c_void, destination_size: usize, source: *const ::core::ffi::c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
    /// Copies in the order of a stream.
    fn aclrtMemcpyAsync(destination: *mut ::core::ffi::c_void, destination_size: usize, source: *const ::core::ffi::c_void, count: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    /// Copies a rectangle and waits.
    fn aclrtMemcpy2d(destination: *mut ::core::ffi::c_void, destination_pitch: usize, source: *const ::core::ffi::c_void, source_pitch: usize, width: usize, height: usize, kind: aclrtMemcpyKind) -> aclError;
    /// Copies a rectangle in the order of a stream.
    fn aclrtMemcpy2dAsync(destination: *mut ::core::ffi::c_void, destination_pitch: usize, source: *const ::core::ffi::c_void, source_pitch: usize, width: usize, height: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    /// Copies many ranges and waits; the copies have no order among them.
    fn aclrtMemcpyBatch(destinations: *mut *mut ::core::ffi::c_void, destination_sizes: *mut usize, sources: *mut *mut ::core::ffi::c_void, counts: *mut usize, batch_count: usize, attributes: *mut aclrtMemcpyBatchAttr, attribute_indexes: *mut usize, attribute_count: usize, failed_index: *mut usize) -> aclError;
    /// Copies many ranges in the order of a stream.
    fn aclrtMemcpyBatchAsync(destinations: *mut *mut ::core::ffi::c_void, destination_sizes: *mut usize, sources: *mut *mut ::core::ffi::c_void, counts: *mut usize, batch_count: usize, attributes: *mut aclrtMemcpyBatchAttr, attribute_indexes: *mut usize, attribute_count: usize, failed_index: *mut usize, stream: aclrtStream) -> aclError;
    /// aclrtMemcpyBatch without the index of what failed. Since CANN 9.1.
    fn aclrtMemcpyBatchV2(destinations: *mut *mut ::core::ffi::c_void, destination_sizes: *mut usize, sources: *mut *mut ::core::ffi::c_void, counts: *mut usize, batch_count: usize, attributes: *mut aclrtMemcpyBatchAttr, attribute_indexes: *mut usize, attribute_count: usize) -> aclError;
    /// aclrtMemcpyBatchAsync without the index of what failed. Since CANN 9.1.
    fn aclrtMemcpyBatchAsyncV2(destinations: *mut *mut ::core::ffi::c_void, destination_sizes: *mut usize, sources: *mut *mut ::core::ffi::c_void, counts: *mut usize, batch_count: usize, attributes: *mut aclrtMemcpyBatchAttr, attribute_indexes: *mut usize, attribute_count: usize, stream: aclrtStream) -> aclError;
    /// Sets bytes and waits.
    fn aclrtMemset(address: *mut ::core::ffi::c_void, size: usize, value: i32, count: usize) -> aclError;
    /// Sets bytes in the order of a stream.
    fn aclrtMemsetAsync(address: *mut ::core::ffi::c_void, size: usize, value: i32, count: usize, stream: aclrtStream) -> aclError;
    /// Sets words of 32 bits and waits; `size` is in bytes, `count` in words. Since CANN 9.1.
    fn aclrtMemsetD32(address: *mut ::core::ffi::c_void, size: usize, value: u32, count: usize) -> aclError;
    /// Sets words of 32 bits in the order of a stream. Since CANN 9.1.
    fn aclrtMemsetD32Async(address: *mut ::core::ffi::c_void, size: usize, value: u32, count: usize, stream: aclrtStream) -> aclError;
    /// Reserves addresses; alignment 0, expected address null.
    fn aclrtReserveMemAddress(address: *mut *mut ::core::ffi::c_void, size: usize, alignment: usize, expected: *mut ::core::ffi::c_void, flags: u64) -> aclError;
    /// Reserves addresses outside shared memory of a server. Since CANN 9.0.
    fn aclrtReserveMemAddressNoUCMemory(address: *mut *mut ::core::ffi::c_void, size: usize, alignment: usize, expected: *mut ::core::ffi::c_void, flags: u64) -> aclError;
    /// Gives reserved addresses back; nothing may be mapped in them.
    fn aclrtReleaseMemAddress(address: *mut ::core::ffi::c_void) -> aclError;
    /// Allocates physical memory, a multiple of the granularity.
    fn aclrtMallocPhysical(handle: *mut aclrtDrvMemHandle, size: usize, properties: *const aclrtPhysicalMemProp, flags: u64) -> aclError;
    /// Drops a handle; the memory goes with its last mapping.
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    /// Maps physical memory: all of it, offset 0, flags 0.
    fn aclrtMapMem(address: *mut ::core::ffi::c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    /// Maps physical memory without any right on it. Since CANN 9.2.
    fn aclrtMemMapNoAccess(address: *mut ::core::ffi::c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    /// Takes a mapping away, not in the order of any stream.
    fn aclrtUnmapMem(address: *mut ::core::ffi::c_void) -> aclError;
    /// Gives rights on a mapping.
    fn aclrtMemSetAccess(address: *mut ::core::ffi::c_void, size: usize, descriptions: *mut aclrtMemAccessDesc, count: usize) -> aclError;
    /// Answers rights on a mapping.
    fn aclrtMemGetAccess(address: *mut ::core::ffi::c_void, location: *mut aclrtMemLocation, flags: *mut u64) -> aclError;
    /// Unit of the size of physical memory, in bytes.
    fn aclrtMemGetAllocationGranularity(properties: *mut aclrtPhysicalMemProp, option: aclrtMemGranularityOptions, granularity: *mut usize) -> aclError;
    /// Handle of what is mapped at an address.
    fn aclrtMemRetainAllocationHandle(address: *mut ::core::ffi::c_void, handle: *mut aclrtDrvMemHandle) -> aclError;
    /// What physical memory is.
    fn aclrtMemGetAllocationPropertiesFromHandle(handle: aclrtDrvMemHandle, properties: *mut aclrtPhysicalMemProp) -> aclError;
    /// Makes physical memory known to other processes.
    fn aclrtMemExportToShareableHandle(handle: aclrtDrvMemHandle, type_: aclrtMemHandleType, flags: u64, shared: *mut u64) -> aclError;
    /// The same with a choice of handle.
    fn aclrtMemExportToShareableHandleV2(handle: aclrtDrvMemHandle, flags: u64, type_: aclrtMemSharedHandleType, shared: *mut ::core::ffi::c_void) -> aclError;
    /// Opens physical memory of another process.
    fn aclrtMemImportFromShareableHandle(shared: u64, device: i32, handle: *mut aclrtDrvMemHandle) -> aclError;
    /// The same with a choice of handle.
    fn aclrtMemImportFromShareableHandleV2(shared: *mut ::core::ffi::c_void, type_: aclrtMemSharedHandleType, flags: u64, handle: *mut aclrtDrvMemHandle) -> aclError;
    /// Processes that may open it.
    fn aclrtMemSetPidToShareableHandle(shared: u64, processes: *mut i32, count: usize) -> aclError;
    /// The same with a choice of handle.
    fn aclrtMemSetPidToShareableHandleV2(shared: *mut ::core::ffi::c_void, type_: aclrtMemSharedHandleType, processes: *mut i32, count: usize) -> aclError;
    /// Maps a range at another address over a chosen link. Since CANN 9.1.
    fn aclrtMemMapSelectedLink(destination: *mut ::core::ffi::c_void, size: usize, source: *mut ::core::ffi::c_void, link: u32) -> aclError;
    /// Lets another device reach a range. Since CANN 9.0.
    fn aclrtMemP2PMap(address: *mut ::core::ffi::c_void, size: usize, device: i32, flags: u64) -> aclError;
    /// Key of a range of whole pages, into a buffer of 65 bytes.
    fn aclrtIpcMemGetExportKey(address: *mut ::core::ffi::c_void, size: usize, key: *mut ::core::ffi::c_char, key_size: usize, flags: u64) -> aclError;
    /// Processes that may import the range.
    fn aclrtIpcMemSetImportPid(key: *const ::core::ffi::c_char, processes: *mut i32, count: usize) -> aclError;
    /// Processes of other servers that may import the range.
    fn aclrtIpcMemImportPidInterServer(key: *const ::core::ffi::c_char, servers: *mut aclrtServerPid, count: usize) -> aclError;
    /// Sets an attribute of the sharing.
    fn aclrtIpcMemSetAttr(key: *const ::core::ffi::c_char, type_: aclrtIpcMemAttrType, value: u64) -> aclError;
    /// Opens the range of another process.
    fn aclrtIpcMemImportByKey(address: *mut *mut ::core::ffi::c_void, key: *const ::core::ffi::c_char, flags: u64) -> aclError;
    /// Ends the sharing, on either side.
    fn aclrtIpcMemClose(key: *const ::core::ffi::c_char) -> aclError;
    /// Allocates memory that host and device share. Since CANN 9.0.
    fn aclrtMemAllocManaged(address: *mut *mut ::core::ffi::c_void, size: u64, flags: u32) -> aclError;
    /// Says how a range will be used. Since CANN 9.1.
    fn aclrtMemManagedAdvise(address: *const ::core::ffi::c_void, size: u64, advice: aclrtMemManagedAdviseType, location: aclrtMemManagedLocation) -> aclError;
    /// Answers one fact about a range. Since CANN 9.1.
    fn aclrtMemManagedGetAttr(attribute: aclrtMemManagedRangeAttribute, address: *const ::core::ffi::c_void, size: usize, data: *mut ::core::ffi::c_void, data_size: usize) -> aclError;
    /// Answers several facts about a range. Since CANN 9.1.
    fn aclrtMemManagedGetAttrs(attributes: *mut aclrtMemManagedRangeAttribute, attribute_count: usize, address: *const ::core::ffi::c_void, size: usize, data: *mut *mut ::core::ffi::c_void, data_sizes: *mut usize) -> aclError;
    /// Moves a range in the order of a stream. Since CANN 9.1.
    fn aclrtMemManagedPrefetchAsync(address: *const ::core::ffi::c_void, size: usize, location: aclrtMemManagedLocation, flags: u32, stream: aclrtStream) -> aclError;
    /// Moves several ranges in the order of a stream. Since CANN 9.1.
    fn aclrtMemManagedPrefetchBatchAsync(addresses: *mut *const ::core::ffi::c_void, sizes: *mut usize, count: usize, locations: *mut aclrtMemManagedLocation, location_indexes: *mut usize, location_count: usize, flags: u64, stream: aclrtStream) -> aclError;
    /// Starts ACL for the process; `config_path` names a JSON file or is null.
    fn aclInit(config_path: *const ::core::ffi::c_char) -> aclError;
    /// Ends ACL for the process at once, however often it was started.
    fn aclFinalize() -> aclError;
    /// Takes back one start; ends ACL with the last. The count is written unless the pointer is null.
    fn aclFinalizeReference(reference_count: *mut u64) -> aclError;
    /// Adds a callback to the start of ACL.
    fn aclInitCallbackRegister(type_: aclRegisterCallbackType, callback: aclInitCallbackFunc, user_data: *mut ::core::ffi::c_void) -> aclError;
    /// Takes a callback away from the start of ACL.
    fn aclInitCallbackUnRegister(type_: aclRegisterCallbackType, callback: aclInitCallbackFunc) -> aclError;
    /// Adds a callback to the end of ACL.
    fn aclFinalizeCallbackRegister(type_: aclRegisterCallbackType, callback: aclFinalizeCallbackFunc, user_data: *mut ::core::ffi::c_void) -> aclError;
    /// Takes a callback away from the end of ACL.
    fn aclFinalizeCallbackUnRegister(type_: aclRegisterCallbackType, callback: aclFinalizeCallbackFunc) -> aclError;
    /// Text of the last errors of this thread, which is then cleared; null when there is none.
    fn aclGetRecentErrMsg() -> *const ::core::ffi::c_char;
    /// Last error of this thread, which is then cleared.
    fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError;
    /// Last error of this thread.
    fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError;
    /// Version of the ACL interface.
    fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) -> aclError;
    /// Name of the chip, such as Ascend910B3; null without a device.
    fn aclrtGetSocName() -> *const ::core::ffi::c_char;
    /// Version of a package, in parts.
    fn aclsysGetCANNVersion(name: aclCANNPackageName, version: *mut aclCANNPackageVersion) -> aclError;
    /// Version of a package as a number that grows.
    fn aclsysGetVersionNum(package: *mut ::core::ffi::c_char, number: *mut i32) -> aclError;
    /// Version of a package as text, into a buffer of ACL_PKG_VERSION_MAX_SIZE bytes.
    fn aclsysGetVersionStr(package: *mut ::core::ffi::c_char, text: *mut ::core::ffi::c_char) -> aclError;
    /// Number of devices that this process may use.
    fn aclrtGetDeviceCount(count: *mut u32) -> aclError;
    /// Makes a device current on this thread, with its default context; counted per process.
    fn aclrtSetDevice(device: i32) -> aclError;
    /// Takes back one aclrtSetDevice; the last one frees all that the process has on the device.
    fn aclrtResetDevice(device: i32) -> aclError;
    /// Frees all that the process has on the device, whatever the count.
    fn aclrtResetDeviceForce(device: i32) -> aclError;
    /// Device that is current on this thread.
    fn aclrtGetDevice(device: *mut i32) -> aclError;
    /// Whether this program runs on the card or on a host.
    fn aclrtGetRunMode(mode: *mut aclrtRunMode) -> aclError;
    /// Waits for all work on the current device.
    fn aclrtSynchronizeDevice() -> aclError;
    /// Waits for all work on the current device, for at most so many milliseconds.
    fn aclrtSynchronizeDeviceWithTimeout(timeout_ms: i32) -> aclError;
    /// Stops the running work of a device; `timeout_ms` 0 waits without end.
    fn aclrtDeviceTaskAbort(device: i32, timeout_ms: u32) -> aclError;
    /// Health of a device.
    fn aclrtQueryDeviceStatus(device: i32, status: *mut aclrtDeviceStatus) -> aclError;
    /// One fact about a device.
    fn aclrtGetDeviceInfo(device: u32, attribute: aclrtDevAttr, value: *mut i64) -> aclError;
    /// Name of a device that no other has.
    fn aclrtDeviceGetUuid(device: i32, uuid: *mut aclrtUuid) -> aclError;
    /// How busy a device is.
    fn aclrtGetDeviceUtilizationRate(device: i32, utilization: *mut aclrtUtilizationInfo) -> aclError;
    /// Lowest and highest priority of a stream.
    fn aclrtDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) -> aclError;
    /// Whether one device can reach the memory of another.
    fn aclrtDeviceCanAccessPeer(can_access: *mut i32, device: i32, peer: i32) -> aclError;
    /// Lets the current device reach the memory of another; `flags` is 0.
    fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) -> aclError;
    /// Takes that back.
    fn aclrtDeviceDisablePeerAccess(peer: i32) -> aclError;
    /// Whether one device may reach the memory of another now.
    fn aclrtDevicePeerAccessStatus(device: i32, peer: i32, status: *mut i32) -> aclError;
    /// Process id by which another process may be let into shared memory.
    fn aclrtDeviceGetBareTgid(process: *mut i32) -> aclError;
    /// Registers a callback under a name, or takes it away with a null callback.
    fn aclrtRegDeviceStateCallback(name: *const ::core::ffi::c_char, callback: aclrtDeviceStateCallback, arguments: *mut ::core::ffi::c_void) -> aclError;
    /// Sets how kernels of the process treat numbers that are too large.
    fn aclrtSetDeviceSatMode(mode: aclrtFloatOverflowMode) -> aclError;
    /// Answers what aclrtSetDeviceSatMode set.
    fn aclrtGetDeviceSatMode(mode: *mut aclrtFloatOverflowMode) -> aclError;
    /// How many cores of a kind the kernels of a device may use.
    fn aclrtGetDeviceResLimit(device: i32, type_: aclrtDevResLimitType, value: *mut u32) -> aclError;
    /// Holds the kernels of a device to so many cores of a kind.
    fn aclrtSetDeviceResLimit(device: i32, type_: aclrtDevResLimitType, value: u32) -> aclError;
    /// Takes that back.
    fn aclrtResetDeviceResLimit(device: i32) -> aclError;
    /// How many cores of a kind the kernels that this thread launches may use.
    fn aclrtGetResInCurrentThread(type_: aclrtDevResLimitType, value: *mut u32) -> aclError;
    /// Sets an option of the process.
    fn aclrtSetSysParamOpt(option: aclSysParamOpt, value: i64) -> aclError;
    /// Answers an option of the process.
    fn aclrtGetSysParamOpt(option: aclSysParamOpt, value: *mut i64) -> aclError;
    /// Sets an option of the current context.
    fn aclrtCtxSetSysParamOpt(option: aclSysParamOpt, value: i64) -> aclError;
    /// Answers an option of the current context.
    fn aclrtCtxGetSysParamOpt(option: aclSysParamOpt, value: *mut i64) -> aclError;
    /// Creates a context on a device and makes it current on this thread.
    fn aclrtCreateContext(context: *mut aclrtContext, device: i32) -> aclError;
    /// Destroys a context that aclrtCreateContext has made.
    fn aclrtDestroyContext(context: aclrtContext) -> aclError;
    /// Makes a context, and so its device, current on this thread.
    fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
    /// Context that is current on this thread.
    fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;
    /// Default stream of the current context.
    fn aclrtCtxGetCurrentDefaultStream(stream: *mut aclrtStream) -> aclError;
    /// Whether the default context of a device is alive.
    fn aclrtGetPrimaryCtxState(device: i32, flags: *mut u32, active: *mut i32) -> aclError;
    /// Creates a stream in the current context.
    fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
    /// Creates a stream with a priority (0 is the highest) and ACL_STREAM flags.
    fn aclrtCreateStreamWithConfig(stream: *mut aclrtStream, priority: u32, flag: u32) -> aclError;
    /// Makes settings for aclrtCreateStreamV2; null on failure.
    fn aclrtCreateStreamConfigHandle() -> *mut aclrtStreamConfigHandle;
    /// Destroys settings.
    fn aclrtDestroyStreamConfigHandle(handle: *mut aclrtStreamConfigHandle) -> aclError;
    /// Sets one option.
    fn aclrtSetStreamConfigOpt(handle: *mut aclrtStreamConfigHandle, attribute: aclrtStreamConfigAttr, value: *const ::core::ffi::c_void, size: usize) -> aclError;
    /// Creates a stream with settings.
    fn aclrtCreateStreamV2(stream: *mut aclrtStream, handle: *const aclrtStreamConfigHandle) -> aclError;
    /// Waits for a stream and destroys it.
    fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
    /// Destroys a stream without waiting for its work.
    fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError;
    /// Waits for all work that is in a stream now.
    fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
    /// Waits for at most so many milliseconds; -1 waits without end.
    fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, timeout_ms: i32) -> aclError;
    /// Whether a stream has work left.
    fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
    /// Number of a stream; the numbers are used again.
    fn aclrtStreamGetId(stream: aclrtStream, id: *mut i32) -> aclError;
    /// Priority of a stream.
    fn aclrtStreamGetPriority(stream: aclrtStream, priority: *mut u32) -> aclError;
    /// Flags of a stream.
    fn aclrtStreamGetFlags(stream: aclrtStream, flags: *mut u32) -> aclError;
    /// Sets what a stream does after a failed task.
    fn aclrtSetStreamFailureMode(stream: aclrtStream, mode: u64) -> aclError;
    /// Sets one attribute of a stream.
    fn aclrtSetStreamAttribute(stream: aclrtStream, attribute: aclrtStreamAttr, value: *mut aclrtStreamAttrValue) -> aclError;
    /// Answers one attribute of a stream.
    fn aclrtGetStreamAttribute(stream: aclrtStream, attribute: aclrtStreamAttr, value: *mut aclrtStreamAttrValue) -> aclError;
    /// Drops all work of a stream, the running task too.
    fn aclrtStreamAbort(stream: aclrtStream) -> aclError;
    /// Drops the work that a stream has not begun.
    fn aclrtStreamStop(stream: aclrtStream) -> aclError;
    /// Number of streams that can still be made on the current device.
    fn aclrtGetStreamAvailableNum(count: *mut u32) -> aclError;
    /// Registers a callback under a name, or takes it away with a null callback.
    fn aclrtRegStreamStateCallback(name: *const ::core::ffi::c_char, callback: aclrtStreamStateCallback, arguments: *mut ::core::ffi::c_void) -> aclError;
    /// Writes 64 bits to device memory, in the order of the stream.
    fn aclrtValueWrite(address: *mut ::core::ffi::c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    /// Holds a stream until 64 bits of device memory compare as ACL_STREAM_WAIT_VALUE says.
    fn aclrtValueWait(address: *mut ::core::ffi::c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    /// Longest wait for an event in any stream, in seconds; 0 is without end.
    fn aclrtSetOpWaitTimeout(timeout_s: u32) -> aclError;
    /// Longest run of one operator, in seconds.
    fn aclrtSetOpExecuteTimeOut(timeout_s: u32) -> aclError;
    /// The same in milliseconds.
    fn aclrtSetOpExecuteTimeOutWithMs(timeout_ms: u32) -> aclError;
    /// The same in microseconds; answers the time that it came to, in steps of aclrtGetOpTimeOutInterval.
    fn aclrtSetOpExecuteTimeOutV2(timeout_us: u64, actual_us: *mut u64) -> aclError;
    /// Microseconds of a step in which the device keeps the longest run.
    fn aclrtGetOpTimeOutInterval(interval_us: *mut u64) -> aclError;
    /// Says whether kernels of a stream look for numbers that are too large: 0 or 1.
    fn aclrtSetStreamOverflowSwitch(stream: aclrtStream, flag: u32) -> aclError;
    /// Answers what aclrtSetStreamOverflowSwitch set.
    fn aclrtGetStreamOverflowSwitch(stream: aclrtStream, flag: *mut u32) -> aclError;
    /// Creates an event that records, waits and takes times.
    fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError;
    /// Creates an event with ACL_EVENT flags.
    fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    /// Creates an event that may be recorded again without a reset.
    fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    /// Destroys an event, also while it is pending.
    fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
    /// Puts the event behind the work that is in the stream now.
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    /// The same with ACL_EVENT_RECORD flags. Since CANN 9.2.
    fn aclrtRecordEventWithFlag(event: aclrtEvent, stream: aclrtStream, flag: u32) -> aclError;
    /// Makes an event as if never recorded, in the order of the stream.
    fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    /// Whether the work before an event is done; complete is 0. Superseded by aclrtQueryEventStatus.
    fn aclrtQueryEvent(event: aclrtEvent, status: *mut aclrtEventStatus) -> aclError;
    /// Whether the work before an event is done; complete is 1.
    fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError;
    /// Whether all streams that wait for an event have passed it.
    fn aclrtQueryEventWaitStatus(event: aclrtEvent, status: *mut aclrtEventWaitStatus) -> aclError;
    /// Waits on this thread for the work before an event.
    fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError;
    /// Waits for at most so many milliseconds; -1 waits without end.
    fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, timeout_ms: i32) -> aclError;
    /// Makes a stream wait for an event.
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
    /// Makes a stream wait for an event for at most so many seconds; 0 is without end.
    fn aclrtStreamWaitEventWithTimeout(stream: aclrtStream, event: aclrtEvent, timeout_s: i32) -> aclError;
    /// The same with ACL_EVENT_WAIT flags. Since CANN 9.2.
    fn aclrtStreamWaitEventWithFlag(stream: aclrtStream, event: aclrtEvent, timeout_s: u32, flag: u32) -> aclError;
    /// Time between two events in milliseconds.
    fn aclrtEventElapsedTime(elapsed_ms: *mut f32, start: aclrtEvent, end: aclrtEvent) -> aclError;
    /// Time of an event in microseconds.
    fn aclrtEventGetTimestamp(event: aclrtEvent, time_us: *mut u64) -> aclError;
    /// Number of an event; changes with each record.
    fn aclrtGetEventId(event: aclrtEvent, id: *mut u32) -> aclError;
    /// Number of events that can still be made on the current device.
    fn aclrtGetEventAvailNum(count: *mut u32) -> aclError;
    /// Makes an event that was created with ACL_EVENT_IPC known to other processes.
    fn aclrtIpcGetEventHandle(event: aclrtEvent, handle: *mut aclrtIpcEventHandle) -> aclError;
    /// Opens an event of another process.
    fn aclrtIpcOpenEventHandle(handle: aclrtIpcEventHandle, event: *mut aclrtEvent) -> aclError;
    /// Creates a notification; `flag` is 0.
    fn aclrtCreateNotify(notify: *mut aclrtNotify, flag: u64) -> aclError;
    /// Destroys a notification.
    fn aclrtDestroyNotify(notify: aclrtNotify) -> aclError;
    /// Sets it, in the order of the stream.
    fn aclrtRecordNotify(notify: aclrtNotify, stream: aclrtStream) -> aclError;
    /// Makes a stream wait until it is set, and clears it; `timeout_ms` 0 is without end.
    fn aclrtWaitAndResetNotify(notify: aclrtNotify, stream: aclrtStream, timeout_ms: u32) -> aclError;
    /// Number of a notification.
    fn aclrtGetNotifyId(notify: aclrtNotify, id: *mut u32) -> aclError;
    /// Number of the last task that this thread enqueued.
    fn aclrtGetThreadLastTaskId(task: *mut u32) -> aclError;
    /// Sets the callback for tasks that fail, or takes it away with a null callback.
    fn aclrtSetExceptionInfoCallback(callback: aclrtExceptionInfoCallback) -> aclError;
    /// Number of the task.
    fn aclrtGetTaskIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    /// Number of its stream.
    fn aclrtGetStreamIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    /// Thread that enqueued it.
    fn aclrtGetThreadIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    /// Device that it ran on.
    fn aclrtGetDeviceIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    /// What it failed with.
    fn aclrtGetErrorCodeFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    /// Where its arguments lie on the device. Since CANN 9.0.
    fn aclrtGetArgsFromExceptionInfo(info: *const aclrtExceptionInfo, arguments: *mut *mut ::core::ffi::c_void, length: *mut u32) -> aclError;
    /// Its kernel. Since CANN 9.0.
    fn aclrtGetFuncHandleFromExceptionInfo(info: *const aclrtExceptionInfo, function: *mut aclrtFuncHandle) -> aclError;
    /// Loads kernels from memory.
    fn aclrtBinaryLoadFromData(data: *const ::core::ffi::c_void, length: usize, options: *const aclrtBinaryLoadOptions, binary: *mut aclrtBinHandle) -> aclError;
    /// A kernel of loaded ones by its name.
    fn aclrtBinaryGetFunction(binary: aclrtBinHandle, name: *const ::core::ffi::c_char, function: *mut aclrtFuncHandle) -> aclError;
    /// Where a kernel lies on the device, for each kind of core.
    fn aclrtGetFunctionAddr(function: aclrtFuncHandle, cube_address: *mut *mut ::core::ffi::c_void, vector_address: *mut *mut ::core::ffi::c_void) -> aclError;
    /// Makes dumps of models possible.
    fn aclmdlInitDump() -> aclError;
    /// Starts dumping as a configuration file says.
    fn aclmdlSetDump(config_path: *const ::core::ffi::c_char) -> aclError;
    /// Ends dumping.
    fn aclmdlFinalizeDump() -> aclError;
    /// Lets a thread run the callbacks of a stream.
    fn aclrtSubscribeReport(thread: u64, stream: aclrtStream) -> aclError;
    /// Takes that back.
    fn aclrtUnSubscribeReport(thread: u64, stream: aclrtStream) -> aclError;
    /// Runs callbacks on this thread; waits for at most so many milliseconds.
    fn aclrtProcessReport(timeout_ms: i32) -> aclError;
    /// Puts a callback into a stream.
    fn aclrtLaunchCallback(callback: aclrtCallback, user_data: *mut ::core::ffi::c_void, block: aclrtCallbackBlockType, stream: aclrtStream) -> aclError;
    /// Puts a function into a stream that a thread of the runtime runs.
    fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, arguments: *mut ::core::ffi::c_void) -> aclError;
    /// Lets a thread run the host functions of a stream.
    fn aclrtSubscribeHostFunc(thread: u64, stream: aclrtStream) -> aclError;
    /// Runs host functions on this thread; waits for at most so many milliseconds.
    fn aclrtProcessHostFunc(timeout_ms: i32) -> aclError;
    /// Takes back aclrtSubscribeHostFunc.
    fn aclrtUnSubscribeHostFunc(thread: u64, stream: aclrtStream) -> aclError;
    /// Bytes of scratch memory and of weights of the model in a file.
    fn aclmdlQuerySize(path: *const ::core::ffi::c_char, work_size: *mut usize, weight_size: *mut usize) -> aclError;
    /// The same of a model in memory.
    fn aclmdlQuerySizeFromMem(model: *const ::core::ffi::c_void, model_size: usize, work_size: *mut usize, weight_size: *mut usize) -> aclError;
    /// Bytes of every part of the model in a file.
    fn aclmdlQueryExeOMDesc(path: *const ::core::ffi::c_char, sizes: *mut aclmdlExeOMDesc) -> aclError;
    /// Loads a file; the runtime allocates.
    fn aclmdlLoadFromFile(path: *const ::core::ffi::c_char, model_id: *mut u32) -> aclError;
    /// Loads from memory; the runtime allocates.
    fn aclmdlLoadFromMem(model: *const ::core::ffi::c_void, model_size: usize, model_id: *mut u32) -> aclError;
    /// Loads a file into memory of the caller; a null pointer leaves that part to the runtime.
    fn aclmdlLoadFromFileWithMem(path: *const ::core::ffi::c_char, model_id: *mut u32, work: *mut ::core::ffi::c_void, work_size: usize, weight: *mut ::core::ffi::c_void, weight_size: usize) -> aclError;
    /// Loads from memory into memory of the caller.
    fn aclmdlLoadFromMemWithMem(model: *const ::core::ffi::c_void, model_size: usize, model_id: *mut u32, work: *mut ::core::ffi::c_void, work_size: usize, weight: *mut ::core::ffi::c_void, weight_size: usize) -> aclError;
    /// Makes settings for aclmdlLoadWithConfig; null on failure.
    fn aclmdlCreateConfigHandle() -> *mut aclmdlConfigHandle;
    /// Sets one option.
    fn aclmdlSetConfigOpt(handle: *mut aclmdlConfigHandle, attribute: aclmdlConfigAttr, value: *const ::core::ffi::c_void, size: usize) -> aclError;
    /// Names device memory that holds weights kept outside the model.
    fn aclmdlSetExternalWeightAddress(handle: *mut aclmdlConfigHandle, weight_file: *const ::core::ffi::c_char, address: *mut ::core::ffi::c_void, size: usize) -> aclError;
    /// Destroys settings.
    fn aclmdlDestroyConfigHandle(handle: *mut aclmdlConfigHandle) -> aclError;
    /// Loads with settings.
    fn aclmdlLoadWithConfig(handle: *const aclmdlConfigHandle, model_id: *mut u32) -> aclError;
    /// Unloads; memory of the caller stays the caller's.
    fn aclmdlUnload(model_id: u32) -> aclError;
    /// Runs a model and waits.
    fn aclmdlExecute(model_id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset) -> aclError;
    /// Runs a model in the order of a stream.
    fn aclmdlExecuteAsync(model_id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset, stream: aclrtStream) -> aclError;
    /// Runs a model with settings and waits.
    fn aclmdlExecuteV2(model_id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset, stream: aclrtStream, handle: *const aclmdlExecConfigHandle) -> aclError;
    /// Runs a model with settings in the order of a stream.
    fn aclmdlExecuteAsyncV2(model_id: u32, input: *const aclmdlDataset, output: *mut aclmdlDataset, stream: aclrtStream, handle: *const aclmdlExecConfigHandle) -> aclError;
    /// Makes settings of a run; null on failure.
    fn aclmdlCreateExecConfigHandle() -> *mut aclmdlExecConfigHandle;
    /// Sets one option.
    fn aclmdlSetExecConfigOpt(handle: *mut aclmdlExecConfigHandle, attribute: aclmdlExecConfigAttr, value: *const ::core::ffi::c_void, size: usize) -> aclError;
    /// Destroys settings.
    fn aclmdlDestroyExecConfigHandle(handle: *const aclmdlExecConfigHandle) -> aclError;
    /// Makes an empty description; null on failure.
    fn aclmdlCreateDesc() -> *mut aclmdlDesc;
    /// Destroys a description.
    fn aclmdlDestroyDesc(description: *mut aclmdlDesc) -> aclError;
    /// Describes a loaded model.
    fn aclmdlGetDesc(description: *mut aclmdlDesc, model_id: u32) -> aclError;
    /// Describes the model in a file.
    fn aclmdlGetDescFromFile(description: *mut aclmdlDesc, path: *const ::core::ffi::c_char) -> aclError;
    /// Describes a model in memory.
    fn aclmdlGetDescFromMem(description: *mut aclmdlDesc, model: *const ::core::ffi::c_void, model_size: usize) -> aclError;
    /// Number of inputs.
    fn aclmdlGetNumInputs(description: *mut aclmdlDesc) -> usize;
    /// Number of outputs.
    fn aclmdlGetNumOutputs(description: *mut aclmdlDesc) -> usize;
    /// Bytes of an input; 0 for an index that does not exist.
    fn aclmdlGetInputSizeByIndex(description: *mut aclmdlDesc, index: usize) -> usize;
    /// Bytes of an output; 0 for an index that does not exist.
    fn aclmdlGetOutputSizeByIndex(description: *mut aclmdlDesc, index: usize) -> usize;
    /// Name of an input.
    fn aclmdlGetInputNameByIndex(description: *const aclmdlDesc, index: usize) -> *const ::core::ffi::c_char;
    /// Name of an output.
    fn aclmdlGetOutputNameByIndex(description: *const aclmdlDesc, index: usize) -> *const ::core::ffi::c_char;
    /// Index of an input.
    fn aclmdlGetInputIndexByName(description: *const aclmdlDesc, name: *const ::core::ffi::c_char, index: *mut usize) -> aclError;
    /// Index of an output.
    fn aclmdlGetOutputIndexByName(description: *const aclmdlDesc, name: *const ::core::ffi::c_char, index: *mut usize) -> aclError;
    /// Element type of an input.
    fn aclmdlGetInputDataType(description: *const aclmdlDesc, index: usize) -> aclDataType;
    /// Element type of an output.
    fn aclmdlGetOutputDataType(description: *const aclmdlDesc, index: usize) -> aclDataType;
    /// Layout of an input.
    fn aclmdlGetInputFormat(description: *const aclmdlDesc, index: usize) -> aclFormat;
    /// Layout of an output.
    fn aclmdlGetOutputFormat(description: *const aclmdlDesc, index: usize) -> aclFormat;
    /// Shape of an input.
    fn aclmdlGetInputDims(description: *const aclmdlDesc, index: usize, shape: *mut aclmdlIODims) -> aclError;
    /// Shape of an input, without what preprocessing adds.
    fn aclmdlGetInputDimsV2(description: *const aclmdlDesc, index: usize, shape: *mut aclmdlIODims) -> aclError;
    /// Range of the shape of an input.
    fn aclmdlGetInputDimsRange(description: *const aclmdlDesc, index: usize, range: *mut aclmdlIODimsRange) -> aclError;
    /// Shape of an output.
    fn aclmdlGetOutputDims(description: *const aclmdlDesc, index: usize, shape: *mut aclmdlIODims) -> aclError;
    /// Shape of an output at the chosen gear.
    fn aclmdlGetCurOutputDims(description: *const aclmdlDesc, index: usize, shape: *mut aclmdlIODims) -> aclError;
    /// Batch sizes that the model takes.
    fn aclmdlGetDynamicBatch(description: *const aclmdlDesc, batch: *mut aclmdlBatch) -> aclError;
    /// Heights and widths that the model takes.
    fn aclmdlGetDynamicHW(description: *const aclmdlDesc, index: usize, sizes: *mut aclmdlHW) -> aclError;
    /// Number of shapes that the model takes.
    fn aclmdlGetInputDynamicGearCount(description: *const aclmdlDesc, index: usize, count: *mut usize) -> aclError;
    /// Shapes that the model takes.
    fn aclmdlGetInputDynamicDims(description: *const aclmdlDesc, index: usize, shapes: *mut aclmdlIODims, count: usize) -> aclError;
    /// Chooses the batch size of the next runs.
    fn aclmdlSetDynamicBatchSize(model_id: u32, dataset: *mut aclmdlDataset, index: usize, batch_size: u64) -> aclError;
    /// Chooses height and width of the next runs.
    fn aclmdlSetDynamicHWSize(model_id: u32, dataset: *mut aclmdlDataset, index: usize, height: u64, width: u64) -> aclError;
    /// Chooses the shape of the next runs.
    fn aclmdlSetInputDynamicDims(model_id: u32, dataset: *mut aclmdlDataset, index: usize, shape: *const aclmdlIODims) -> aclError;
    /// Makes an empty dataset; null on failure.
    fn aclmdlCreateDataset() -> *mut aclmdlDataset;
    /// Destroys a dataset, but neither its buffers nor their memory.
    fn aclmdlDestroyDataset(dataset: *const aclmdlDataset) -> aclError;
    /// Adds a buffer at the end.
    fn aclmdlAddDatasetBuffer(dataset: *mut aclmdlDataset, buffer: *mut aclDataBuffer) -> aclError;
    /// Number of buffers.
    fn aclmdlGetDatasetNumBuffers(dataset: *const aclmdlDataset) -> usize;
    /// A buffer; null for an index that does not exist.
    fn aclmdlGetDatasetBuffer(dataset: *const aclmdlDataset, index: usize) -> *mut aclDataBuffer;
    /// Loads a bundle with all its models.
    fn aclmdlBundleLoadFromFile(path: *const ::core::ffi::c_char, bundle_id: *mut u32) -> aclError;
    /// Loads a bundle from memory with all its models.
    fn aclmdlBundleLoadFromMem(model: *const ::core::ffi::c_void, model_size: usize, bundle_id: *mut u32) -> aclError;
    /// Opens a bundle without loading its models; the variable weights may be in memory of the caller.
    fn aclmdlBundleInitFromFile(path: *const ::core::ffi::c_char, variable_weight: *mut ::core::ffi::c_void, variable_weight_size: usize, bundle_id: *mut u32) -> aclError;
    /// The same from memory.
    fn aclmdlBundleInitFromMem(model: *const ::core::ffi::c_void, model_size: usize, variable_weight: *mut ::core::ffi::c_void, variable_weight_size: usize, bundle_id: *mut u32) -> aclError;
    /// Loads one model of an open bundle.
    fn aclmdlBundleLoadModel(bundle_id: u32, index: usize, model_id: *mut u32) -> aclError;
    /// Loads one model into memory of the caller.
    fn aclmdlBundleLoadModelWithMem(bundle_id: u32, index: usize, work: *mut ::core::ffi::c_void, work_size: usize, weight: *mut ::core::ffi::c_void, weight_size: usize, model_id: *mut u32) -> aclError;
    /// Loads one model with settings.
    fn aclmdlBundleLoadModelWithConfig(bundle_id: u32, index: usize, handle: *mut aclmdlConfigHandle, model_id: *mut u32) -> aclError;
    /// Unloads one model.
    fn aclmdlBundleUnloadModel(bundle_id: u32, model_id: u32) -> aclError;
    /// Unloads a bundle.
    fn aclmdlBundleUnload(bundle_id: u32) -> aclError;
    /// Number of models in a loaded bundle.
    fn aclmdlBundleGetModelNum(bundle_id: u32, count: *mut usize) -> aclError;
    /// Id of a model of a loaded bundle.
    fn aclmdlBundleGetModelId(bundle_id: u32, index: usize, model_id: *mut u32) -> aclError;
    /// Makes an empty description of a bundle; null on failure.
    fn aclmdlBundleCreateQueryInfo() -> *mut aclmdlBundleQueryInfo;
    /// Destroys it.
    fn aclmdlBundleDestroyQueryInfo(info: *mut aclmdlBundleQueryInfo) -> aclError;
    /// Describes the bundle in a file.
    fn aclmdlBundleQueryInfoFromFile(path: *const ::core::ffi::c_char, info: *mut aclmdlBundleQueryInfo) -> aclError;
    /// Describes a bundle in memory.
    fn aclmdlBundleQueryInfoFromMem(model: *const ::core::ffi::c_void, model_size: usize, info: *mut aclmdlBundleQueryInfo) -> aclError;
    /// Number of models in a described bundle.
    fn aclmdlBundleGetQueryModelNum(info: *const aclmdlBundleQueryInfo, count: *mut usize) -> aclError;
    /// Bytes of the variable weights of a described bundle.
    fn aclmdlBundleGetVarWeightSize(info: *const aclmdlBundleQueryInfo, size: *mut usize) -> aclError;
    /// Bytes of scratch memory and of constant weights of one model of a described bundle.
    fn aclmdlBundleGetSize(info: *const aclmdlBundleQueryInfo, index: usize, work_size: *mut usize, weight_size: *mut usize) -> aclError;
    /// Creates a pool. Since CANN 9.0.
    fn aclrtMemPoolCreate(pool: *mut aclrtMemPool, properties: *const aclrtMemPoolProps) -> aclError;
    /// Destroys a pool. Since CANN 9.0.
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) -> aclError;
    /// Sets one attribute. Since CANN 9.0.
    fn aclrtMemPoolSetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, value: *mut ::core::ffi::c_void) -> aclError;
    /// Answers one attribute. Since CANN 9.0.
    fn aclrtMemPoolGetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, value: *mut ::core::ffi::c_void) -> aclError;
    /// Allocates in the order of a stream. Size 0 succeeds and leaves the pointer as it was. Since CANN 9.1.
    fn aclrtMemPoolMallocAsync(address: *mut *mut ::core::ffi::c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream) -> aclError;
    /// Frees in the order of a stream. Since CANN 9.1.
    fn aclrtMemPoolFreeAsync(address: *mut ::core::ffi::c_void, stream: aclrtStream) -> aclError;
    /// Gives memory back to the device until so many bytes are left. Since CANN 9.1.
    fn aclrtMemPoolTrimTo(pool: aclrtMemPool, bytes_to_keep: usize) -> aclError;
}
