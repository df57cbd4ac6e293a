/*
 * The runtime: start and end, devices, contexts, streams, events, callbacks, errors and versions. Memory is in
 * acl_rt_mem.h, which this header includes.
 */
#ifndef ASCEND_MEMPOOL_ACL_RT_H
#define ASCEND_MEMPOOL_ACL_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"
#include "acl_rt_mem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of an event. */
#define ACL_EVENT_SYNC 0x1U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x2U
#define ACL_EVENT_TIME_LINE 0x8U
#define ACL_EVENT_DEVICE_USE_ONLY 0x10U
#define ACL_EVENT_EXTERNAL 0x20U
#define ACL_EVENT_IPC 0x40U

/* Flags of one record of, and of one wait for, an event. */
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x1U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x1U

/* Flags of a stream. */
#define ACL_STREAM_FAST_LAUNCH 0x1U
#define ACL_STREAM_FAST_SYNC 0x2U
#define ACL_STREAM_PERSISTENT 0x4U
#define ACL_STREAM_HUGE 0x8U
#define ACL_STREAM_CPU_SCHEDULE 0x10U
#define ACL_STREAM_DEVICE_USE_ONLY 0x20U

/* Comparisons of aclrtValueWait. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x0U
#define ACL_STREAM_WAIT_VALUE_EQ 0x1U
#define ACL_STREAM_WAIT_VALUE_AND 0x2U
#define ACL_STREAM_WAIT_VALUE_NOR 0x3U

/* What a stream does after a task has failed. */
#define ACL_CONTINUE_ON_FAILURE 0x0U
#define ACL_STOP_ON_FAILURE 0x1U

/* Bytes of an aclrtIpcEventHandle. */
#define ACL_IPC_EVENT_HANDLE_SIZE 64U

/* Longest parts of an aclCANNPackageVersion, in bytes with the closing zero. */
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

/** Where this program runs: on the card itself, or on a host with cards. */
typedef enum aclrtRunMode {
    ACL_DEVICE = 0,
    ACL_HOST = 1
} aclrtRunMode;

/** Health of a device. */
typedef enum aclrtDeviceStatus {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 0xFFFF
} aclrtDeviceStatus;

/** Answer of the old aclrtQueryEvent. Complete is 0 here, unlike in aclrtEventRecordedStatus. */
typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

/** Answer of aclrtQueryEventStatus. Complete is 1 here, unlike in the other three. */
typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

/** Answer of aclrtQueryEventWaitStatus. */
typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF
} aclrtEventWaitStatus;

/** Answer of aclrtStreamQuery. */
typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

/** Whether a stream waits for a callback. */
typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1
} aclrtCallbackBlockType;

/** What a stream was doing when its callback ran. */
typedef enum aclrtStreamState {
    ACL_RT_STREAM_STATE_CREATE_POST = 1,
    ACL_RT_STREAM_STATE_DESTROY_PRE = 2
} aclrtStreamState;

/** What a device was doing when its callback ran. */
typedef enum aclrtDeviceState {
    ACL_RT_DEVICE_STATE_SET_PRE = 0,
    ACL_RT_DEVICE_STATE_SET_POST = 1,
    ACL_RT_DEVICE_STATE_RESET_PRE = 2,
    ACL_RT_DEVICE_STATE_RESET_POST = 3
} aclrtDeviceState;

/** Options of an aclrtStreamConfigHandle. */
typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3
} aclrtStreamConfigAttr;

/** Attributes of a living stream. */
typedef enum aclrtStreamAttr {
    ACL_STREAM_ATTR_FAILURE_MODE = 1,
    ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
    ACL_STREAM_ATTR_PRIORITY = 5
} aclrtStreamAttr;

/** Which error aclrtGetLastError speaks of. */
typedef enum aclrtLastErrLevel {
    ACL_RT_THREAD_LEVEL = 0
} aclrtLastErrLevel;

/** Facts that aclrtGetDeviceInfo answers; the values that concern kernels only are left out. */
typedef enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
    ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
    ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
    ACL_DEV_ATTR_SMP_ID = 401,
    ACL_DEV_ATTR_PHY_CHIP_ID = 402,
    ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
    ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
    ACL_DEV_ATTR_SUPER_POD_ID = 405,
    ACL_DEV_ATTR_IS_VIRTUAL = 501,
    ACL_DEV_ATTR_NPU_ARCH = 601
} aclrtDevAttr;

/** What a kernel answers for numbers that are too large. */
typedef enum aclrtFloatOverflowMode {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0,
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,
    ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

/** Cores that kernels may be held to. */
typedef enum aclrtDevResLimitType {
    ACL_RT_DEV_RES_CUBE_CORE = 0,
    ACL_RT_DEV_RES_VECTOR_CORE = 1
} aclrtDevResLimitType;

/** Packages of an installed CANN that have a version of their own. */
typedef enum aclCANNPackageName {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7
} aclCANNPackageName;

/** Part of ACL on whose start or end a callback runs. */
typedef enum aclRegisterCallbackType {
    ACL_REG_TYPE_ACL_MODEL = 0,
    ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
    ACL_REG_TYPE_ACL_OP_CBLAS = 2,
    ACL_REG_TYPE_ACL_OP_COMPILER = 3,
    ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
    ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
    ACL_REG_TYPE_ACL_DVPP = 6,
    ACL_REG_TYPE_ACL_RETR = 7,
    ACL_REG_TYPE_OTHER = 0xFFFF
} aclRegisterCallbackType;

/** Settings of a stream that is about to be created. */
typedef struct aclrtStreamConfigHandle {
    void *workptr;
    size_t workSize;
    size_t flag;
    uint32_t priority;
} aclrtStreamConfigHandle;

/** Value of an aclrtStreamAttr. */
typedef union aclrtStreamAttrValue {
    uint64_t failureMode;
    uint32_t overflowSwitch;
    uint32_t userCustomTag;
    uint32_t cacheOpInfoSwitch;
    uint32_t streamPriority;
    uint32_t reserve[4];
} aclrtStreamAttrValue;

/** An event as another process opens it. */
typedef struct aclrtIpcEventHandle {
    char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/** Reserved; only ever null. */
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/** How busy the parts of a device are, in percent. */
typedef struct aclrtUtilizationInfo {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

/** Name of a device that no other has. */
typedef struct aclrtUuid {
    char bytes[16];
} aclrtUuid;

/** Version of a package, whole and in parts. */
typedef struct aclCANNPackageVersion {
    char version[ACL_PKG_VERSION_MAX_SIZE];
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/** Work of the host in a stream, run by a thread that has subscribed. */
typedef void (*aclrtCallback)(void *user_data);
/** Work of the host in a stream, run by a thread of the runtime. */
typedef void (*aclrtHostFunc)(void *arguments);
/** A loaded file of kernels. */
typedef void *aclrtBinHandle;
/** A kernel. */
typedef void *aclrtFuncHandle;
/** Options of loading kernels; only ever passed on. */
typedef struct aclrtBinaryLoadOptions aclrtBinaryLoadOptions;
/** What is known of a task that failed; lives as long as the callback that gets it. */
typedef struct rtExceptionInfo aclrtExceptionInfo;
/** Told of a task that failed. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *info);
/** Told of streams that come and go. */
typedef void (*aclrtStreamStateCallback)(aclrtStream stream, aclrtStreamState state, void *arguments);
/** Told of devices that are set and reset. */
typedef void (*aclrtDeviceStateCallback)(int32_t device, aclrtDeviceState state, void *arguments);
/** Told that ACL starts, with the text of the configuration. */
typedef aclError (*aclInitCallbackFunc)(const char *config, size_t length, void *user_data);
/** Told that ACL ends. */
typedef aclError (*aclFinalizeCallbackFunc)(void *user_data);

/* Start and end. */

/** Starts ACL for the process; `config_path` names a JSON file or is null. */
aclError aclInit(const char *config_path);
/** Ends ACL for the process at once, however often it was started. */
aclError aclFinalize(void);
/** Takes back one start; ends ACL with the last. The count is written unless the pointer is null. */
aclError aclFinalizeReference(uint64_t *reference_count);
/** Adds a callback to the start of ACL. */
aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc callback, void *user_data);
/** Takes a callback away from the start of ACL. */
aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc callback);
/** Adds a callback to the end of ACL. */
aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc callback, void *user_data);
/** Takes a callback away from the end of ACL. */
aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc callback);

/* Errors and versions. */

/** Text of the last errors of this thread, which is then cleared; null when there is none. */
const char *aclGetRecentErrMsg(void);
/** Last error of this thread, which is then cleared. */
aclError aclrtGetLastError(aclrtLastErrLevel level);
/** Last error of this thread. */
aclError aclrtPeekAtLastError(aclrtLastErrLevel level);
/** Version of the ACL interface. */
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);
/** Name of the chip, such as Ascend910B3; null without a device. */
const char *aclrtGetSocName(void);
/** Version of a package, in parts. */
aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version);
/** Version of a package as a number that grows. */
aclError aclsysGetVersionNum(char *package, int32_t *number);
/** Version of a package as text, into a buffer of ACL_PKG_VERSION_MAX_SIZE bytes. */
aclError aclsysGetVersionStr(char *package, char *text);

/* Devices. */

/** Number of devices that this process may use. */
aclError aclrtGetDeviceCount(uint32_t *count);
/** Makes a device current on this thread, with its default context; counted per process. */
aclError aclrtSetDevice(int32_t device);
/** Takes back one aclrtSetDevice; the last one frees all that the process has on the device. */
aclError aclrtResetDevice(int32_t device);
/** Frees all that the process has on the device, whatever the count. */
aclError aclrtResetDeviceForce(int32_t device);
/** Device that is current on this thread. */
aclError aclrtGetDevice(int32_t *device);
/** Whether this program runs on the card or on a host. */
aclError aclrtGetRunMode(aclrtRunMode *mode);
/** Waits for all work on the current device. */
aclError aclrtSynchronizeDevice(void);
/** Waits for all work on the current device, for at most so many milliseconds. */
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout_ms);
/** Stops the running work of a device; `timeout_ms` 0 waits without end. */
aclError aclrtDeviceTaskAbort(int32_t device, uint32_t timeout_ms);
/** Health of a device. */
aclError aclrtQueryDeviceStatus(int32_t device, aclrtDeviceStatus *status);
/** One fact about a device. */
aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t *value);
/** Name of a device that no other has. */
aclError aclrtDeviceGetUuid(int32_t device, aclrtUuid *uuid);
/** How busy a device is. */
aclError aclrtGetDeviceUtilizationRate(int32_t device, aclrtUtilizationInfo *utilization);
/** Lowest and highest priority of a stream. */
aclError aclrtDeviceGetStreamPriorityRange(int32_t *least, int32_t *greatest);
/** Whether one device can reach the memory of another. */
aclError aclrtDeviceCanAccessPeer(int32_t *can_access, int32_t device, int32_t peer);
/** Lets the current device reach the memory of another; `flags` is 0. */
aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags);
/** Takes that back. */
aclError aclrtDeviceDisablePeerAccess(int32_t peer);
/** Whether one device may reach the memory of another now. */
aclError aclrtDevicePeerAccessStatus(int32_t device, int32_t peer, int32_t *status);
/** Process id by which another process may be let into shared memory. */
aclError aclrtDeviceGetBareTgid(int32_t *process);
/** Registers a callback under a name, or takes it away with a null callback. */
aclError aclrtRegDeviceStateCallback(const char *name, aclrtDeviceStateCallback callback, void *arguments);

/** Sets how kernels of the process treat numbers that are too large. */
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);
/** Answers what aclrtSetDeviceSatMode set. */
aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);
/** How many cores of a kind the kernels of a device may use. */
aclError aclrtGetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t *value);
/** Holds the kernels of a device to so many cores of a kind. */
aclError aclrtSetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t value);
/** Takes that back. */
aclError aclrtResetDeviceResLimit(int32_t device);
/** How many cores of a kind the kernels that this thread launches may use. */
aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value);

/* Options of the process and of contexts. */

/** Sets an option of the process. */
aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value);
/** Answers an option of the process. */
aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t *value);
/** Sets an option of the current context. */
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value);
/** Answers an option of the current context. */
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t *value);

/* Contexts. */

/** Creates a context on a device and makes it current on this thread. */
aclError aclrtCreateContext(aclrtContext *context, int32_t device);
/** Destroys a context that aclrtCreateContext has made. */
aclError aclrtDestroyContext(aclrtContext context);
/** Makes a context, and so its device, current on this thread. */
aclError aclrtSetCurrentContext(aclrtContext context);
/** Context that is current on this thread. */
aclError aclrtGetCurrentContext(aclrtContext *context);
/** Default stream of the current context. */
aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);
/** Whether the default context of a device is alive. */
aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *active);

/* Streams. */

/** Creates a stream in the current context. */
aclError aclrtCreateStream(aclrtStream *stream);
/** Creates a stream with a priority (0 is the highest) and ACL_STREAM flags. */
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag);
/** Makes settings for aclrtCreateStreamV2; null on failure. */
aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);
/** Destroys settings. */
aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);
/** Sets one option. */
aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attribute, const void *value, size_t size);
/** Creates a stream with settings. */
aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle);
/** Waits for a stream and destroys it. */
aclError aclrtDestroyStream(aclrtStream stream);
/** Destroys a stream without waiting for its work. */
aclError aclrtDestroyStreamForce(aclrtStream stream);
/** Waits for all work that is in a stream now. */
aclError aclrtSynchronizeStream(aclrtStream stream);
/** Waits for at most so many milliseconds; -1 waits without end. */
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout_ms);
/** Whether a stream has work left. */
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);
/** Number of a stream; the numbers are used again. */
aclError aclrtStreamGetId(aclrtStream stream, int32_t *id);
/** Priority of a stream. */
aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);
/** Flags of a stream. */
aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);
/** Sets what a stream does after a failed task. */
aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);
/** Sets one attribute of a stream. */
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue *value);
/** Answers one attribute of a stream. */
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue *value);
/** Drops all work of a stream, the running task too. */
aclError aclrtStreamAbort(aclrtStream stream);
/** Drops the work that a stream has not begun. */
aclError aclrtStreamStop(aclrtStream stream);
/** Number of streams that can still be made on the current device. */
aclError aclrtGetStreamAvailableNum(uint32_t *count);
/** Registers a callback under a name, or takes it away with a null callback. */
aclError aclrtRegStreamStateCallback(const char *name, aclrtStreamStateCallback callback, void *arguments);
/** Writes 64 bits to device memory, in the order of the stream. */
aclError aclrtValueWrite(void *address, uint64_t value, uint32_t flag, aclrtStream stream);
/** Holds a stream until 64 bits of device memory compare as ACL_STREAM_WAIT_VALUE says. */
aclError aclrtValueWait(void *address, uint64_t value, uint32_t flag, aclrtStream stream);
/** Longest wait for an event in any stream, in seconds; 0 is without end. */
aclError aclrtSetOpWaitTimeout(uint32_t timeout_s);
/** Longest run of one operator, in seconds. */
aclError aclrtSetOpExecuteTimeOut(uint32_t timeout_s);
/** The same in milliseconds. */
aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout_ms);
/** The same in microseconds; answers the time that it came to, in steps of aclrtGetOpTimeOutInterval. */
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout_us, uint64_t *actual_us);
/** Microseconds of a step in which the device keeps the longest run. */
aclError aclrtGetOpTimeOutInterval(uint64_t *interval_us);
/** Says whether kernels of a stream look for numbers that are too large: 0 or 1. */
aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
/** Answers what aclrtSetStreamOverflowSwitch set. */
aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);

/* Events. */

/** Creates an event that records, waits and takes times. */
aclError aclrtCreateEvent(aclrtEvent *event);
/** Creates an event with ACL_EVENT flags. */
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
/** Creates an event that may be recorded again without a reset. */
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);
/** Destroys an event, also while it is pending. */
aclError aclrtDestroyEvent(aclrtEvent event);
/** Puts the event behind the work that is in the stream now. */
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
/** The same with ACL_EVENT_RECORD flags. Since CANN 9.2. */
aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);
/** Makes an event as if never recorded, in the order of the stream. */
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
/** Whether the work before an event is done; complete is 0. Superseded by aclrtQueryEventStatus. */
aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);
/** Whether the work before an event is done; complete is 1. */
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status);
/** Whether all streams that wait for an event have passed it. */
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status);
/** Waits on this thread for the work before an event. */
aclError aclrtSynchronizeEvent(aclrtEvent event);
/** Waits for at most so many milliseconds; -1 waits without end. */
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout_ms);
/** Makes a stream wait for an event. */
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
/** Makes a stream wait for an event for at most so many seconds; 0 is without end. */
aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout_s);
/** The same with ACL_EVENT_WAIT flags. Since CANN 9.2. */
aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout_s, uint32_t flag);
/** Time between two events in milliseconds. */
aclError aclrtEventElapsedTime(float *elapsed_ms, aclrtEvent start, aclrtEvent end);
/** Time of an event in microseconds. */
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *time_us);
/** Number of an event; changes with each record. */
aclError aclrtGetEventId(aclrtEvent event, uint32_t *id);
/** Number of events that can still be made on the current device. */
aclError aclrtGetEventAvailNum(uint32_t *count);
/** Makes an event that was created with ACL_EVENT_IPC known to other processes. */
aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);
/** Opens an event of another process. */
aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);

/* Notifications: one stream sets one, another waits for it and clears it. */

/** Creates a notification; `flag` is 0. */
aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag);
/** Destroys a notification. */
aclError aclrtDestroyNotify(aclrtNotify notify);
/** Sets it, in the order of the stream. */
aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);
/** Makes a stream wait until it is set, and clears it; `timeout_ms` 0 is without end. */
aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout_ms);
/** Number of a notification. */
aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *id);

/* Tasks that fail. */

/** Number of the last task that this thread enqueued. */
aclError aclrtGetThreadLastTaskId(uint32_t *task);
/** Sets the callback for tasks that fail, or takes it away with a null callback. */
aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);
/** Number of the task. */
uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);
/** Number of its stream. */
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);
/** Thread that enqueued it. */
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);
/** Device that it ran on. */
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);
/** What it failed with. */
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);
/** Where its arguments lie on the device. Since CANN 9.0. */
aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **arguments, uint32_t *length);
/** Its kernel. Since CANN 9.0. */
aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *function);

/* Kernels and dumps, as far as clients ask whether there are any. */

/** Loads kernels from memory. */
aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options, aclrtBinHandle *binary);
/** A kernel of loaded ones by its name. */
aclError aclrtBinaryGetFunction(const aclrtBinHandle binary, const char *name, aclrtFuncHandle *function);
/** Where a kernel lies on the device, for each kind of core. */
aclError aclrtGetFunctionAddr(aclrtFuncHandle function, void **cube_address, void **vector_address);
/** Makes dumps of models possible. */
aclError aclmdlInitDump(void);
/** Starts dumping as a configuration file says. */
aclError aclmdlSetDump(const char *config_path);
/** Ends dumping. */
aclError aclmdlFinalizeDump(void);

/* Work of the host in a stream. */

/** Lets a thread run the callbacks of a stream. */
aclError aclrtSubscribeReport(uint64_t thread, aclrtStream stream);
/** Takes that back. */
aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream stream);
/** Runs callbacks on this thread; waits for at most so many milliseconds. */
aclError aclrtProcessReport(int32_t timeout_ms);
/** Puts a callback into a stream. */
aclError aclrtLaunchCallback(aclrtCallback callback, void *user_data, aclrtCallbackBlockType block, aclrtStream stream);
/** Puts a function into a stream that a thread of the runtime runs. */
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void *arguments);
/** Lets a thread run the host functions of a stream. */
aclError aclrtSubscribeHostFunc(uint64_t thread, aclrtStream stream);
/** Runs host functions on this thread; waits for at most so many milliseconds. */
aclError aclrtProcessHostFunc(int32_t timeout_ms);
/** Takes back aclrtSubscribeHostFunc. */
aclError aclrtUnSubscribeHostFunc(uint64_t thread, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
