/*
 * Memory: of the device and of the host, copies, virtual memory, sharing between processes, managed memory. Part of
 * acl_rt.h, which includes it; the vendor's headers have no file of this name.
 */
#ifndef ASCEND_MEMPOOL_ACL_RT_MEM_H
#define ASCEND_MEMPOOL_ACL_RT_MEM_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of sharing between processes. */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1UL
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL

/* Flags of aclrtHostRegisterV2. */
#define ACL_HOST_REG_MAPPED 0x2UL
#define ACL_HOST_REG_IOMEMORY 0x4UL
#define ACL_HOST_REG_READONLY 0x8UL
#define ACL_HOST_REG_PINNED 0x10000000UL

/* The only flag of aclrtMemAllocManaged. */
#define ACL_RT_MEM_ATTACH_GLOBAL 0x1U

/* Kinds of memory that aclrtCheckMemType tells apart. */
#define ACL_RT_MEM_TYPE_DEV 0x2U
#define ACL_RT_MEM_TYPE_DVPP 0x8U
#define ACL_RT_MEM_TYPE_RSVD 0x10U

/* Sizes of the records of damaged memory. */
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20

/** Which pages an allocation takes. The values from 0x100 on are bits that aclrtMallocWithCfg takes beside the others. */
typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x100,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000
} aclrtMemMallocPolicy;

/** A kind of device memory and the size of its pages. */
typedef enum aclrtMemAttr {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/** Attributes of aclrtMallocWithCfg. */
typedef enum aclrtMallocAttrType {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1,
    ACL_RT_MEM_ATTR_DEVICE_ID = 2,
    ACL_RT_MEM_ATTR_VA_FLAG = 3
} aclrtMallocAttrType;

/** Direction of a copy. */
typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

/** How aclrtHostRegister registers. */
typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8
} aclrtHostRegisterType;

/** Where memory lies. Not the numbers of aclrtMemManagedLocationType. */
typedef enum aclrtMemLocationType {
    ACL_MEM_LOCATION_TYPE_HOST = 0,
    ACL_MEM_LOCATION_TYPE_DEVICE = 1,
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
    ACL_MEM_LOCATION_TYPE_MANAGED = 3,
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

/** Where managed memory lies. */
typedef enum aclrtMemManagedLocationType {
    ACL_MEM_LOCATIONTYPE_INVALID = 0,
    ACL_MEM_LOCATIONTYPE_DEVICE = 1,
    ACL_MEM_LOCATIONTYPE_HOST = 2,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4
} aclrtMemManagedLocationType;

/** Advice for managed memory. */
typedef enum aclrtMemManagedAdviseType {
    ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
    ACL_MEM_ADVISE_UNSET_READ_MOSTLY = 1,
    ACL_MEM_ADVISE_SET_PREFERRED_LOCATION = 2,
    ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 3,
    ACL_MEM_ADVISE_SET_ACCESSED_BY = 4,
    ACL_MEM_ADVISE_UNSET_ACCESSED_BY = 5
} aclrtMemManagedAdviseType;

/** Facts about managed memory. */
typedef enum aclrtMemManagedRangeAttribute {
    ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 4,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 5,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 6,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} aclrtMemManagedRangeAttribute;

/** Whether physical memory can be moved; it cannot. */
typedef enum aclrtMemAllocationType {
    ACL_MEM_ALLOCATION_TYPE_PINNED = 0
} aclrtMemAllocationType;

/** Kind of handle of physical memory. */
typedef enum aclrtMemHandleType {
    ACL_MEM_HANDLE_TYPE_NONE = 0,
    ACL_MEM_HANDLE_TYPE_POSIX = 2
} aclrtMemHandleType;

/** Kind of handle that other processes import. */
typedef enum aclrtMemSharedHandleType {
    ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
    ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2
} aclrtMemSharedHandleType;

/** Which granularity of physical memory is asked for. */
typedef enum aclrtMemGranularityOptions {
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF
} aclrtMemGranularityOptions;

/** Rights on a mapping. */
typedef enum aclrtMemAccessFlags {
    ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
    ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
    ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3
} aclrtMemAccessFlags;

/** Attribute of memory shared between processes. */
typedef enum aclrtIpcMemAttrType {
    ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0
} aclrtIpcMemAttrType;

/** Engine of a device that may reach host memory. */
typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9
} aclrtHacType;

/** Whether it may. */
typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1
} aclrtHostMemMapCapability;

/** Kind of a device error that can be asked for in detail. */
typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 0xFFFF
} aclrtErrorType;

/** Origin of an error of an AI core. */
typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/** Physical memory. */
typedef void *aclrtDrvMemHandle;

/** Value of an attribute of aclrtMallocWithCfg. */
typedef union aclrtMallocAttrValue {
    uint16_t moduleId;
    uint32_t deviceId;
    uint32_t vaFlag;
    uint8_t rsv[8];
} aclrtMallocAttrValue;

/** One attribute of aclrtMallocWithCfg. */
typedef struct aclrtMallocAttribute {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/** All attributes of aclrtMallocWithCfg. */
typedef struct aclrtMallocConfig {
    aclrtMallocAttribute *attrs;
    size_t numAttrs;
} aclrtMallocConfig;

/** A place of memory: which device, or which part of the host. */
typedef struct aclrtMemLocation {
    uint32_t id;
    aclrtMemLocationType type;
} aclrtMemLocation;

/** A place of managed memory. The order of its fields is not that of aclrtMemLocation. */
typedef struct aclrtMemManagedLocation {
    aclrtMemManagedLocationType type;
    int32_t id;
} aclrtMemManagedLocation;

/** What is known about an address; `pageSize` is in bytes. */
typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize;
    uint32_t rsv[4];
} aclrtPtrAttributes;

/** Device memory of one module of CANN, in bytes. */
typedef struct aclrtMemUsageInfo {
    char name[32];
    uint64_t curMemSize;
    uint64_t memPeakSize;
    size_t reserved[8];
} aclrtMemUsageInfo;

/** What physical memory shall be. */
typedef struct aclrtPhysicalMemProp {
    aclrtMemHandleType handleType;
    aclrtMemAllocationType allocationType;
    aclrtMemAttr memAttr;
    aclrtMemLocation location;
    uint64_t reserve;
} aclrtPhysicalMemProp;

/** Who may do what on a mapping. */
typedef struct aclrtMemAccessDesc {
    aclrtMemAccessFlags flags;
    aclrtMemLocation location;
    uint8_t rsv[12];
} aclrtMemAccessDesc;

/** Physical memory as another server imports it. */
typedef struct aclrtMemFabricHandle {
    uint8_t data[128];
} aclrtMemFabricHandle;

/** Processes of one server. */
typedef struct aclrtServerPid {
    uint32_t sdid;
    int32_t *pid;
    size_t num;
} aclrtServerPid;

/** From where to where some copies of a batch go. */
typedef struct aclrtMemcpyBatchAttr {
    aclrtMemLocation dstLoc;
    aclrtMemLocation srcLoc;
    uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/** A range of device memory with an error that cannot be corrected. */
typedef struct aclrtMemUceInfo {
    void *addr;
    size_t len;
    size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/** All such ranges. */
typedef struct aclrtMemUceInfoArray {
    size_t arraySize;
    aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/** Detail of a device error, by its type. */
typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;
    aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

/** A device error. */
typedef struct aclrtErrorInfo {
    uint8_t tryRepair;
    uint8_t hasDetail;
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/* Device memory. */

/** Allocates device memory; before Ascend 950 with 32 bytes more than the size rounded up to 32. Size 0 is an error. */
aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy);
/** Allocates the size rounded up to 32 bytes and no more. */
aclError aclrtMallocAlign32(void **address, size_t size, aclrtMemMallocPolicy policy);
/** Allocates memory that the host may cache; see aclrtMemFlush. */
aclError aclrtMallocCached(void **address, size_t size, aclrtMemMallocPolicy policy);
/** Allocates with attributes. */
aclError aclrtMallocWithCfg(void **address, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *config);
/** Allocates memory for the task scheduler. */
aclError aclrtMallocForTaskScheduler(void **address, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *config);
/** Writes the caches of the host back. */
aclError aclrtMemFlush(void *address, size_t size);
/** Forgets the caches of the host. */
aclError aclrtMemInvalidate(void *address, size_t size);
/** Frees device memory at once, whatever work still uses it. Null is an error. */
aclError aclrtFree(void *address);
/** Waits for the device, then frees. */
aclError aclrtFreeWithDevSync(void *address);
/** Free and total memory of a kind on the current device, in bytes, over all processes. */
aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t *free_bytes, size_t *total_bytes);
/** Memory by module of CANN, largest first; the number found can pass the number asked for. */
aclError aclrtGetMemUsageInfo(int32_t device, aclrtMemUsageInfo *usage, size_t asked, size_t *found);
/** Whether addresses are of a kind of memory. */
aclError aclrtCheckMemType(void **addresses, uint32_t count, uint32_t kind, uint32_t *result, uint32_t reserved);
/** Ranges with errors that cannot be corrected. */
aclError aclrtGetMemUceInfo(int32_t device, aclrtMemUceInfo *ranges, size_t capacity, size_t *found);
/** Repairs such ranges. */
aclError aclrtMemUceRepair(int32_t device, aclrtMemUceInfo *ranges, size_t count);
/** Last error of a device in detail. */
aclError aclrtGetErrorVerbose(int32_t device, aclrtErrorInfo *error);
/** Repairs an error of a device. */
aclError aclrtRepairError(int32_t device, const aclrtErrorInfo *error);
/** What is known about an address. */
aclError aclrtPointerGetAttributes(const void *address, aclrtPtrAttributes *attributes);
/** Allocation that an address lies in, rounded to pages; either pointer may be null. Since CANN 9.0. */
aclError aclrtMemGetAddressRange(void *address, void **base, size_t *size);

/* Host memory. */

/** Allocates pinned host memory. */
aclError aclrtMallocHost(void **address, size_t size);
/** Allocates pinned host memory with attributes. */
aclError aclrtMallocHostWithCfg(void **address, uint64_t size, aclrtMallocConfig *config);
/** Frees pinned host memory. */
aclError aclrtFreeHost(void *address);
/** Waits for the device, then frees. */
aclError aclrtFreeHostWithDevSync(void *address);
/** Registers host memory and answers its address on the device. */
aclError aclrtHostRegister(void *address, uint64_t size, aclrtHostRegisterType type, void **device_address);
/** Registers host memory with ACL_HOST_REG flags. */
aclError aclrtHostRegisterV2(void *address, uint64_t size, uint32_t flags);
/** Address of registered host memory on the device. */
aclError aclrtHostGetDevicePointer(void *address, void **device_address, uint32_t flags);
/** Takes a registration back. */
aclError aclrtHostUnregister(void *address);
/** Whether an engine of a device may reach host memory. Since CANN 9.0. */
aclError aclrtHostMemMapCapabilities(uint32_t device, aclrtHacType engine, aclrtHostMemMapCapability *capability);

/* Copy and set. */

/** Copies and waits. */
aclError aclrtMemcpy(void *destination, size_t destination_size, const void *source, size_t count, aclrtMemcpyKind kind);
/** Copies in the order of a stream. */
aclError aclrtMemcpyAsync(void *destination, size_t destination_size, const void *source, size_t count, aclrtMemcpyKind kind, aclrtStream stream);
/** Copies a rectangle and waits. */
aclError aclrtMemcpy2d(void *destination, size_t destination_pitch, const void *source, size_t source_pitch, size_t width, size_t height, aclrtMemcpyKind kind);
/** Copies a rectangle in the order of a stream. */
aclError aclrtMemcpy2dAsync(void *destination, size_t destination_pitch, const void *source, size_t source_pitch, size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream);
/** Copies many ranges and waits; the copies have no order among them. */
aclError aclrtMemcpyBatch(void **destinations, size_t *destination_sizes, void **sources, size_t *counts, size_t batch_count, aclrtMemcpyBatchAttr *attributes, size_t *attribute_indexes, size_t attribute_count, size_t *failed_index);
/** Copies many ranges in the order of a stream. */
aclError aclrtMemcpyBatchAsync(void **destinations, size_t *destination_sizes, void **sources, size_t *counts, size_t batch_count, aclrtMemcpyBatchAttr *attributes, size_t *attribute_indexes, size_t attribute_count, size_t *failed_index, aclrtStream stream);
/** aclrtMemcpyBatch without the index of what failed. Since CANN 9.1. */
aclError aclrtMemcpyBatchV2(void **destinations, size_t *destination_sizes, void **sources, size_t *counts, size_t batch_count, aclrtMemcpyBatchAttr *attributes, size_t *attribute_indexes, size_t attribute_count);
/** aclrtMemcpyBatchAsync without the index of what failed. Since CANN 9.1. */
aclError aclrtMemcpyBatchAsyncV2(void **destinations, size_t *destination_sizes, void **sources, size_t *counts, size_t batch_count, aclrtMemcpyBatchAttr *attributes, size_t *attribute_indexes, size_t attribute_count, aclrtStream stream);
/** Sets bytes and waits. */
aclError aclrtMemset(void *address, size_t size, int32_t value, size_t count);
/** Sets bytes in the order of a stream. */
aclError aclrtMemsetAsync(void *address, size_t size, int32_t value, size_t count, aclrtStream stream);
/** Sets words of 32 bits and waits; `size` is in bytes, `count` in words. Since CANN 9.1. */
aclError aclrtMemsetD32(void *address, size_t size, uint32_t value, size_t count);
/** Sets words of 32 bits in the order of a stream. Since CANN 9.1. */
aclError aclrtMemsetD32Async(void *address, size_t size, uint32_t value, size_t count, aclrtStream stream);

/* Virtual memory. */

/** Reserves addresses; alignment 0, expected address null. */
aclError aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *expected, uint64_t flags);
/** Reserves addresses outside shared memory of a server. Since CANN 9.0. */
aclError aclrtReserveMemAddressNoUCMemory(void **address, size_t size, size_t alignment, void *expected, uint64_t flags);
/** Gives reserved addresses back; nothing may be mapped in them. */
aclError aclrtReleaseMemAddress(void *address);
/** Allocates physical memory, a multiple of the granularity. */
aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *properties, uint64_t flags);
/** Drops a handle; the memory goes with its last mapping. */
aclError aclrtFreePhysical(aclrtDrvMemHandle handle);
/** Maps physical memory: all of it, offset 0, flags 0. */
aclError aclrtMapMem(void *address, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);
/** Maps physical memory without any right on it. Since CANN 9.2. */
aclError aclrtMemMapNoAccess(void *address, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);
/** Takes a mapping away, not in the order of any stream. */
aclError aclrtUnmapMem(void *address);
/** Gives rights on a mapping. */
aclError aclrtMemSetAccess(void *address, size_t size, aclrtMemAccessDesc *descriptions, size_t count);
/** Answers rights on a mapping. */
aclError aclrtMemGetAccess(void *address, aclrtMemLocation *location, uint64_t *flags);
/** Unit of the size of physical memory, in bytes. */
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *properties, aclrtMemGranularityOptions option, size_t *granularity);
/** Handle of what is mapped at an address. */
aclError aclrtMemRetainAllocationHandle(void *address, aclrtDrvMemHandle *handle);
/** What physical memory is. */
aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *properties);
/** Makes physical memory known to other processes. */
aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType type, uint64_t flags, uint64_t *shared);
/** The same with a choice of handle. */
aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType type, void *shared);
/** Opens physical memory of another process. */
aclError aclrtMemImportFromShareableHandle(uint64_t shared, int32_t device, aclrtDrvMemHandle *handle);
/** The same with a choice of handle. */
aclError aclrtMemImportFromShareableHandleV2(void *shared, aclrtMemSharedHandleType type, uint64_t flags, aclrtDrvMemHandle *handle);
/** Processes that may open it. */
aclError aclrtMemSetPidToShareableHandle(uint64_t shared, int32_t *processes, size_t count);
/** The same with a choice of handle. */
aclError aclrtMemSetPidToShareableHandleV2(void *shared, aclrtMemSharedHandleType type, int32_t *processes, size_t count);
/** Maps a range at another address over a chosen link. Since CANN 9.1. */
aclError aclrtMemMapSelectedLink(void *destination, size_t size, void *source, uint32_t link);
/** Lets another device reach a range. Since CANN 9.0. */
aclError aclrtMemP2PMap(void *address, size_t size, int32_t device, uint64_t flags);

/* Sharing with other processes. */

/** Key of a range of whole pages, into a buffer of 65 bytes. */
aclError aclrtIpcMemGetExportKey(void *address, size_t size, char *key, size_t key_size, uint64_t flags);
/** Processes that may import the range. */
aclError aclrtIpcMemSetImportPid(const char *key, int32_t *processes, size_t count);
/** Processes of other servers that may import the range. */
aclError aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *servers, size_t count);
/** Sets an attribute of the sharing. */
aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t value);
/** Opens the range of another process. */
aclError aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags);
/** Ends the sharing, on either side. */
aclError aclrtIpcMemClose(const char *key);

/* Managed memory. */

/** Allocates memory that host and device share. Since CANN 9.0. */
aclError aclrtMemAllocManaged(void **address, uint64_t size, uint32_t flags);
/** Says how a range will be used. Since CANN 9.1. */
aclError aclrtMemManagedAdvise(const void *const address, uint64_t size, aclrtMemManagedAdviseType advice, aclrtMemManagedLocation location);
/** Answers one fact about a range. Since CANN 9.1. */
aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *address, size_t size, void *data, size_t data_size);
/** Answers several facts about a range. Since CANN 9.1. */
aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t attribute_count, const void *address, size_t size, void **data, size_t *data_sizes);
/** Moves a range in the order of a stream. Since CANN 9.1. */
aclError aclrtMemManagedPrefetchAsync(const void *address, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream);
/** Moves several ranges in the order of a stream. Since CANN 9.1. */
aclError aclrtMemManagedPrefetchBatchAsync(const void **addresses, size_t *sizes, size_t count, aclrtMemManagedLocation *locations, size_t *location_indexes, size_t location_count, uint64_t flags, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
