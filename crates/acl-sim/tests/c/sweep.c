/* `sweep LEFTOVERS NAME...`: a scenario with all families of ACL, run again and again: with each call of each named
   function failing, then on devices of all sizes up to what it needs. However it ends, it undoes what it did, and nothing is
   left; the runtime writes what is into the file LEFTOVERS. */
#include <dlfcn.h>
#include <sys/stat.h>

#include "check.h"

#define MIB ((size_t)1 << 20)

static const char MODEL[] =
    "ascend-sim-model\n"
    "work 4MiB\n"
    "weight 2MiB\n"
    "input data uint8 16\n"
    "output low uint8 1048576\n"
    "output high uint8 2097152\n";

typedef struct {
    int initialized, set, watched, mapped, subscribed, registered, pool_busy;
    aclrtContext context;
    aclrtStream streams[3];
    aclrtStreamConfigHandle *configuration;
    aclrtEvent events[3];
    aclrtNotify notify;
    void *memory[4];
    void *pinned[2];
    char *addresses;
    aclrtDrvMemHandle physical;
    aclrtMemPool pool;
    void *pooled;
    aclrtAllocatorDesc allocator;
    aclTensorDesc *tensor;
    aclmdlDesc *description;
    uint32_t model;
    aclmdlDataset *inputs, *outputs;
    aclDataBuffer *input, *low, *high;
    uint32_t more_models[3];
    int hears, serves, reaches;
    int called;
} Things;

/* A file with the model. */
static char model_path[4096];

static int failures;

/* Leaves the scenario at the first call that fails. */
#define TRY(call)              \
    do {                       \
        if ((call) != 0) {     \
            failures++;        \
            return;            \
        }                      \
    } while (0)

#define MAKE(place, call)           \
    do {                            \
        if (((place) = (call)) == NULL) { \
            failures++;             \
            return;                 \
        }                           \
    } while (0)

/* A call of an end may be the one that is to fail: once, and then it has done nothing. */
#define UNDO(call)               \
    do {                         \
        if ((call) != 0) {       \
            failures++;          \
            OK(call);            \
        }                        \
    } while (0)

static void watch_stream(aclrtStream stream, aclrtStreamState state, void *data) {
    (void)stream, (void)state, (void)data;
}

static void watch_device(int32_t device, aclrtDeviceState state, void *data) {
    (void)device, (void)state, (void)data;
}

static void hear(aclrtExceptionInfo *info) {
    (void)info;
}

static void count(void *data) {
    ++*(int *)data;
}

static void *take(aclrtAllocator object, size_t size) {
    (void)object;
    return malloc(size);
}

static void give(aclrtAllocator object, aclrtAllocatorBlock block) {
    (void)object;
    free(block);
}

static void *address_of(aclrtAllocatorBlock block) {
    return block;
}

static void make_streams(Things *t) {
    uint32_t priority = 1;
    int32_t id;
    TRY(aclrtCreateStream(&t->streams[0]));
    TRY(aclrtCreateStreamWithConfig(&t->streams[1], 1, 0));
    MAKE(t->configuration, aclrtCreateStreamConfigHandle());
    TRY(aclrtSetStreamConfigOpt(t->configuration, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
    TRY(aclrtCreateStreamV2(&t->streams[2], t->configuration));
    TRY(aclrtSetStreamFailureMode(t->streams[0], ACL_STOP_ON_FAILURE));
    TRY(aclrtStreamGetId(t->streams[0], &id));
    TRY(aclrtCreateEvent(&t->events[0]));
    TRY(aclrtCreateEventWithFlag(&t->events[1], ACL_EVENT_SYNC));
    TRY(aclrtCreateEventExWithFlag(&t->events[2], ACL_EVENT_SYNC));
    TRY(aclrtCreateNotify(&t->notify, 0));
}

static void make_memory(Things *t) {
    aclrtPhysicalMemProp properties = {0};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtMallocConfig none = {0};
    size_t granularity = 0;
    TRY(aclrtMalloc(&t->memory[0], MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMallocAlign32(&t->memory[1], MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMallocCached(&t->memory[2], MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMallocWithCfg(&t->memory[3], 2 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, &none));
    TRY(aclrtMallocHost(&t->pinned[0], 4096));
    TRY(aclrtMallocHostWithCfg(&t->pinned[1], 4096, &none));
    TRY(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
    TRY(aclrtReserveMemAddress((void **)&t->addresses, 4 * granularity, 0, NULL, 0));
    TRY(aclrtMallocPhysical(&t->physical, granularity, &properties, 0));
    TRY(aclrtMapMem(t->addresses + granularity, granularity, 0, t->physical, 0));
    t->mapped = 1;
    aclrtMemAccessDesc access = {0};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    TRY(aclrtMemSetAccess(t->addresses + granularity, granularity, &access, 1));
    aclrtMemPoolProps pool = {0};
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    pool.maxSize = 8 * MIB;
    TRY(aclrtMemPoolCreate(&t->pool, &pool));
    uint64_t threshold = 4 * MIB;
    TRY(aclrtMemPoolSetAttr(t->pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    TRY(aclrtMemPoolMallocAsync(&t->pooled, 6 * MIB, t->pool, t->streams[0]));
    t->pool_busy = 1;
}

/* Allocates the outputs, all or none. */
static void execute(Things *t) {
    if (aclmdlExecute(t->model, t->inputs, t->outputs) != 0) {
        failures++;
        CHECK(aclGetDataBufferAddr(t->low) == NULL && aclGetDataBufferAddr(t->high) == NULL);
        CHECK(aclGetDataBufferSizeV2(t->low) == 0 && aclGetDataBufferSizeV2(t->high) == 0);
    }
}

static void make_model(Things *t) {
    int64_t dims[] = {16};
    MAKE(t->tensor, aclCreateTensorDesc(ACL_UINT8, 1, dims, ACL_FORMAT_ND));
    TRY(aclmdlLoadFromMem(MODEL, sizeof MODEL - 1, &t->model));
    MAKE(t->description, aclmdlCreateDesc());
    TRY(aclmdlGetDesc(t->description, t->model));
    MAKE(t->input, aclCreateDataBuffer(t->memory[0], 16));
    MAKE(t->low, aclCreateDataBuffer(NULL, 0));
    MAKE(t->high, aclCreateDataBuffer(NULL, 0));
    MAKE(t->inputs, aclmdlCreateDataset());
    MAKE(t->outputs, aclmdlCreateDataset());
    TRY(aclmdlAddDatasetBuffer(t->inputs, t->input));
    TRY(aclmdlAddDatasetBuffer(t->outputs, t->low));
    TRY(aclmdlAddDatasetBuffer(t->outputs, t->high));
    int before = failures;
    execute(t);
    if (failures != before) {
        return;
    }
    TRY(aclmdlExecuteAsync(t->model, t->inputs, t->outputs, t->streams[0]));
    TRY(aclrtSynchronizeDevice());
    /* Others, with memory of the program's and from a file; the second takes what the first does not need any more. */
    void *weight = t->memory[3];
    TRY(aclmdlLoadFromFile(model_path, &t->more_models[0]));
    TRY(aclmdlUnload(t->more_models[0]));
    t->more_models[0] = 0;
    TRY(aclmdlLoadFromFileWithMem(model_path, &t->more_models[1], NULL, 0, weight, 2 * MIB));
    TRY(aclmdlLoadFromMemWithMem(MODEL, sizeof MODEL - 1, &t->more_models[2], NULL, 0, weight, 2 * MIB));
    TRY(aclmdlGetDescFromMem(t->description, MODEL, sizeof MODEL - 1));
    TRY(aclmdlGetDescFromFile(t->description, model_path));
    TRY(aclUpdateDataBuffer(t->input, t->memory[1], 16));
    TRY(aclSetTensorFormat(t->tensor, ACL_FORMAT_ND));
    TRY(aclSetTensorShape(t->tensor, 1, dims));
    TRY(aclSetTensorPlaceMent(t->tensor, ACL_MEMTYPE_DEVICE));
}

/* What changes settings. */
static void set(Things *t) {
    aclrtStreamAttrValue attribute = {0};
    uint64_t actual = 0;
    TRY(aclrtSetExceptionInfoCallback(hear));
    t->hears = 1;
    TRY(aclrtDeviceEnablePeerAccess(1, 0));
    t->reaches = 1;
    TRY(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    TRY(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    TRY(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    TRY(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 1));
    TRY(aclrtResetDeviceResLimit(0));
    TRY(aclrtSetStreamOverflowSwitch(t->streams[0], 1));
    TRY(aclrtSetStreamAttribute(t->streams[0], ACL_STREAM_ATTR_USER_CUSTOM_TAG, &attribute));
    TRY(aclrtSetOpWaitTimeout(1));
    TRY(aclrtSetOpExecuteTimeOut(1));
    TRY(aclrtSetOpExecuteTimeOutWithMs(1));
    TRY(aclrtSetOpExecuteTimeOutV2(1, &actual));
    TRY(aclrtStreamAbort(t->streams[1]));
    TRY(aclrtStreamStop(t->streams[1]));
    TRY(aclrtMemFlush(t->memory[2], 64));
    TRY(aclrtMemInvalidate(t->memory[2], 64));
    TRY(aclrtMemPoolTrimTo(t->pool, 8 * MIB));
    TRY(aclrtStreamWaitEventWithTimeout(t->streams[1], t->events[2], 0));
    TRY(aclrtSynchronizeEventWithTimeout(t->events[2], -1));
    TRY(aclrtSynchronizeDeviceWithTimeout(-1));
    TRY(aclrtSubscribeHostFunc((uint64_t)pthread_self(), t->streams[2]));
    t->serves = 1;
    TRY(aclrtLaunchHostFunc(t->streams[2], count, &t->called));
    TRY(aclrtProcessHostFunc(-1));
    TRY(aclrtSynchronizeStream(t->streams[2]));
}

/* What only asks. */
static void ask(Things *t) {
    size_t size = 0, total = 0;
    int32_t number = 0, other = 0, third = 0;
    uint32_t count_of = 0;
    int64_t wide = 0;
    uint64_t time = 0;
    float elapsed = 0;
    void *base = NULL;
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    aclrtRunMode run_mode;
    aclrtDeviceStatus health;
    aclrtUuid uuid;
    aclrtErrorInfo error;
    aclrtUtilizationInfo busy = {0};
    aclrtStreamStatus status;
    aclrtStreamAttrValue attribute;
    aclrtEventWaitStatus waiting;
    aclrtEventStatus old_status;
    aclrtPtrAttributes place;
    aclrtPhysicalMemProp properties;
    aclrtFloatOverflowMode mode;
    aclmdlIODims dims;
    aclCANNPackageVersion version;
    char package[] = "runtime", text[ACL_PKG_VERSION_MAX_SIZE];
    aclrtAllocatorDesc desc;
    aclrtAllocator object;
    aclrtAllocatorAllocFunc alloc;
    aclrtAllocatorFreeFunc release;
    aclrtAllocatorAllocAdviseFunc advise;
    aclrtAllocatorGetAddrFromBlockFunc get;
    TRY(aclrtGetCurrentContext(&context));
    TRY(aclrtCtxGetCurrentDefaultStream(&stream));
    TRY(aclrtGetPrimaryCtxState(0, &count_of, &number));
    TRY(aclrtGetDevice(&number));
    TRY(aclrtGetDeviceCount(&count_of));
    TRY(aclrtGetRunMode(&run_mode));
    TRY(aclrtGetVersion(&number, &other, &third));
    TRY(aclsysGetVersionNum(package, &number));
    TRY(aclsysGetVersionStr(package, text));
    TRY(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    TRY(aclrtQueryDeviceStatus(0, &health));
    TRY(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &wide));
    TRY(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &wide));
    TRY(aclrtDeviceGetUuid(0, &uuid));
    TRY(aclrtGetErrorVerbose(0, &error));
    TRY(aclrtGetDeviceUtilizationRate(0, &busy));
    TRY(aclrtDeviceGetStreamPriorityRange(&number, &other));
    TRY(aclrtDeviceGetBareTgid(&number));
    TRY(aclrtDeviceCanAccessPeer(&number, 0, 1));
    TRY(aclrtDevicePeerAccessStatus(0, 1, &number));
    TRY(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &wide));
    TRY(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &wide));
    TRY(aclrtGetDeviceSatMode(&mode));
    TRY(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &count_of));
    TRY(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &count_of));
    TRY(aclrtGetOpTimeOutInterval(&time));
    TRY(aclrtStreamQuery(t->streams[0], &status));
    TRY(aclrtStreamGetFlags(t->streams[0], &count_of));
    TRY(aclrtStreamGetPriority(t->streams[0], &count_of));
    TRY(aclrtGetStreamOverflowSwitch(t->streams[0], &count_of));
    TRY(aclrtGetStreamAttribute(t->streams[0], ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
    TRY(aclrtGetStreamAvailableNum(&count_of));
    TRY(aclrtGetThreadLastTaskId(&count_of));
    TRY(aclrtGetEventAvailNum(&count_of));
    TRY(aclrtGetEventId(t->events[0], &count_of));
    TRY(aclrtQueryEvent(t->events[0], &old_status));
    TRY(aclrtQueryEventWaitStatus(t->events[0], &waiting));
    TRY(aclrtEventGetTimestamp(t->events[2], &time));
    TRY(aclrtEventElapsedTime(&elapsed, t->events[2], t->events[2]));
    TRY(aclrtGetNotifyId(t->notify, &count_of));
    TRY(aclrtPointerGetAttributes(t->memory[0], &place));
    TRY(aclrtMemGetAddressRange(t->memory[0], &base, &size));
    TRY(aclrtMemGetAllocationPropertiesFromHandle(t->physical, &properties));
    TRY(aclrtMemPoolGetAttr(t->pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &time));
    TRY(aclrtAllocatorGetByStream(t->streams[0], &desc, &object, &alloc, &release, &advise, &get));
    TRY(aclmdlQuerySize(model_path, &size, &total));
    TRY(aclmdlQuerySizeFromMem(MODEL, sizeof MODEL - 1, &size, &total));
    TRY(aclmdlGetInputDims(t->description, 0, &dims));
    TRY(aclmdlGetOutputDims(t->description, 0, &dims));
    TRY(aclmdlGetCurOutputDims(t->description, 0, &dims));
    TRY(aclmdlGetInputIndexByName(t->description, "data", &size));
    TRY(aclmdlGetOutputIndexByName(t->description, "low", &size));
    TRY(aclGetTensorDescDimV2(t->tensor, 0, &wide));
    MAKE(base, aclmdlGetDatasetBuffer(t->inputs, 0));
}

static void work(Things *t) {
    aclrtStream stream = t->streams[0];
    size_t left = 0, total = 0;
    TRY(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    TRY(aclrtMemset(t->memory[0], MIB, 1, MIB));
    TRY(aclrtMemsetAsync(t->pooled, MIB, 2, MIB, stream));
    TRY(aclrtMemcpy(t->memory[1], MIB, t->memory[0], MIB, ACL_MEMCPY_DEVICE_TO_DEVICE));
    TRY(aclrtMemcpyAsync(t->pinned[0], 4096, t->memory[1], 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    TRY(aclrtValueWrite(t->memory[2], 7, 0, stream));
    TRY(aclrtValueWait(t->memory[2], 7, ACL_STREAM_WAIT_VALUE_EQ, stream));
    TRY(aclrtSynchronizeStream(stream));
    for (int i = 0; i < 3; i++) {
        TRY(aclrtRecordEvent(t->events[i], stream));
        TRY(aclrtStreamWaitEvent(t->streams[1], t->events[i]));
        TRY(aclrtSynchronizeEvent(t->events[i]));
    }
    aclrtEventRecordedStatus recorded;
    TRY(aclrtQueryEventStatus(t->events[0], &recorded));
    TRY(aclrtResetEvent(t->events[0], t->streams[1]));
    TRY(aclrtRecordNotify(t->notify, stream));
    TRY(aclrtSynchronizeStream(stream));
    TRY(aclrtWaitAndResetNotify(t->notify, t->streams[1], 0));
    TRY(aclrtSynchronizeStreamWithTimeout(t->streams[1], -1));
    TRY(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    t->subscribed = 1;
    TRY(aclrtLaunchCallback(count, &t->called, ACL_CALLBACK_NO_BLOCK, stream));
    TRY(aclrtProcessReport(-1));
    TRY(aclrtLaunchHostFunc(t->streams[1], count, &t->called));
    MAKE(t->allocator, aclrtAllocatorCreateDesc());
    TRY(aclrtAllocatorSetObjToDesc(t->allocator, t));
    TRY(aclrtAllocatorSetAllocFuncToDesc(t->allocator, take));
    TRY(aclrtAllocatorSetFreeFuncToDesc(t->allocator, give));
    TRY(aclrtAllocatorSetAllocAdviseFuncToDesc(t->allocator, NULL));
    TRY(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(t->allocator, address_of));
    TRY(aclrtAllocatorRegister(stream, t->allocator));
    t->registered = 1;
    TRY(aclrtSynchronizeDevice());
}

static void build(Things *t) {
    TRY(aclInit(NULL));
    t->initialized = 1;
    TRY(aclrtRegStreamStateCallback("sweep", watch_stream, NULL));
    t->watched = 1;
    TRY(aclrtRegDeviceStateCallback("sweep", watch_device, NULL));
    TRY(aclrtSetDevice(0));
    t->set = 1;
    TRY(aclrtCreateContext(&t->context, 0));
    TRY(aclrtSetCurrentContext(t->context));
    int before = failures;
    make_streams(t);
    if (failures == before) {
        make_memory(t);
    }
    if (failures == before) {
        make_model(t);
    }
    if (failures == before) {
        work(t);
    }
    if (failures == before) {
        set(t);
    }
    if (failures == before) {
        ask(t);
    }
}

/* First of all: what this thread was to run and did not would hold its stream, and who waits for that. */
static void undo_threads(Things *t) {
    if (t->serves) {
        UNDO(aclrtUnSubscribeHostFunc((uint64_t)pthread_self(), t->streams[2]));
    }
    if (t->subscribed) {
        UNDO(aclrtUnSubscribeReport((uint64_t)pthread_self(), t->streams[0]));
    }
}

static void undo_model(Things *t) {
    aclDataBuffer *buffers[] = {t->low, t->high, t->input};
    for (int i = 0; i < 3; i++) {
        void *data = NULL;
        if (buffers[i] != NULL && i < 2 && (data = aclGetDataBufferAddr(buffers[i])) == NULL) {
            /* Asked again, in case that was to fail. */
            data = aclGetDataBufferAddr(buffers[i]);
            (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
        }
        if (data != NULL) {
            UNDO(aclrtFree(data));
        }
        if (buffers[i] != NULL) {
            UNDO(aclDestroyDataBuffer(buffers[i]));
        }
    }
    if (t->inputs != NULL) {
        UNDO(aclmdlDestroyDataset(t->inputs));
    }
    if (t->outputs != NULL) {
        UNDO(aclmdlDestroyDataset(t->outputs));
    }
    if (t->description != NULL) {
        UNDO(aclmdlDestroyDesc(t->description));
    }
    if (t->model != 0) {
        UNDO(aclmdlUnload(t->model));
    }
    for (int i = 0; i < 3; i++) {
        if (t->more_models[i] != 0) {
            UNDO(aclmdlUnload(t->more_models[i]));
        }
    }
    if (t->tensor != NULL) {
        (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
        aclDestroyTensorDesc(t->tensor);
        if (aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) != 0) {
            failures++;
            aclDestroyTensorDesc(t->tensor);
        }
    }
}

static void undo_memory(Things *t) {
    if (t->pool_busy) {
        UNDO(aclrtMemPoolFreeAsync(t->pooled, t->streams[0]));
    }
    if (t->pool != NULL) {
        UNDO(aclrtMemPoolDestroy(t->pool));
    }
    if (t->mapped) {
        UNDO(aclrtUnmapMem(t->addresses + 2 * MIB));
    }
    if (t->physical != NULL) {
        UNDO(aclrtFreePhysical(t->physical));
    }
    if (t->addresses != NULL) {
        UNDO(aclrtReleaseMemAddress(t->addresses));
    }
    for (int i = 0; i < 2; i++) {
        if (t->pinned[i] != NULL) {
            UNDO(i == 0 ? aclrtFreeHost(t->pinned[i]) : aclrtFreeHostWithDevSync(t->pinned[i]));
        }
    }
    for (int i = 0; i < 4; i++) {
        if (t->memory[i] != NULL) {
            UNDO(i == 0 ? aclrtFreeWithDevSync(t->memory[i]) : aclrtFree(t->memory[i]));
        }
    }
}

static void undo_streams(Things *t) {
    if (t->registered) {
        UNDO(aclrtAllocatorUnregister(t->streams[0]));
    }
    if (t->allocator != NULL) {
        UNDO(aclrtAllocatorDestroyDesc(t->allocator));
    }
    if (t->reaches) {
        UNDO(aclrtDeviceDisablePeerAccess(1));
    }
    if (t->hears) {
        UNDO(aclrtSetExceptionInfoCallback(NULL));
    }
    if (t->notify != NULL) {
        UNDO(aclrtDestroyNotify(t->notify));
    }
    for (int i = 0; i < 3; i++) {
        if (t->events[i] != NULL) {
            UNDO(aclrtDestroyEvent(t->events[i]));
        }
        if (t->streams[i] != NULL) {
            UNDO(i == 0 ? aclrtDestroyStreamForce(t->streams[i]) : aclrtDestroyStream(t->streams[i]));
        }
    }
    if (t->configuration != NULL) {
        UNDO(aclrtDestroyStreamConfigHandle(t->configuration));
    }
}

/* Every other time the ends that force. */
static int forced;

/* Answers how many calls failed. */
static int run(void) {
    Things things = {0};
    failures = 0;
    forced = !forced;
    build(&things);
    undo_threads(&things);
    undo_model(&things);
    undo_memory(&things);
    undo_streams(&things);
    if (things.context != NULL) {
        UNDO(aclrtDestroyContext(things.context));
    }
    if (things.set) {
        UNDO(forced ? aclrtResetDeviceForce(0) : aclrtResetDevice(0));
    }
    if (things.watched) {
        UNDO(aclrtRegDeviceStateCallback("sweep", NULL, NULL));
        UNDO(aclrtRegStreamStateCallback("sweep", NULL, NULL));
    }
    if (things.initialized) {
        UNDO(forced ? aclFinalizeReference(NULL) : aclFinalize());
    }
    return failures;
}

static void check_nothing_left(const char *file, const char *what, size_t number) {
    struct stat facts;
    CHECK(stat(file, &facts) == 0);
    if (facts.st_size != 0) {
        printf("left behind with %s, %zu\n", what, number);
        exit(1);
    }
}

int main(int argument_count, char **arguments) {
    CHECK(argument_count > 2);
    snprintf(model_path, sizeof model_path, "%s.model", arguments[1]);
    FILE *file = fopen(model_path, "w");
    CHECK(file != NULL && fputs(MODEL, file) >= 0 && fclose(file) == 0);
    int functions = 0;
    for (int i = 2; i < argument_count; i++) {
        if (dlsym(RTLD_DEFAULT, arguments[i]) == NULL) {
            continue;
        }
        size_t call = 1;
        for (int clean = 0; clean < 2; call++) {
            char plan[128];
            snprintf(plan, sizeof plan, "%s:%zu", arguments[i], call);
            CHECK(setenv("ASCEND_SIM_FAIL", plan, 1) == 0);
            int failed = run();
            check_nothing_left(arguments[1], arguments[i], call);
            /* The ends take turns, so one of two runs may not come to the call. */
            clean = failed == 0 ? clean + 1 : 0;
        }
        functions += call > 3;
    }
    /* So that the sweep does not shrink unseen. */
    if (functions < 175) {
        printf("only %d functions failed\n", functions);
        return 1;
    }

    CHECK(unsetenv("ASCEND_SIM_FAIL") == 0);
    size_t capacity = MIB, failed = 0;
    for (;; capacity += MIB / 2 + 32) {
        char text[32];
        snprintf(text, sizeof text, "%zu", capacity);
        CHECK(setenv("ASCEND_SIM_CAPACITY", text, 1) == 0);
        if (run() == 0) {
            break;
        }
        failed++;
        check_nothing_left(arguments[1], "a capacity of", capacity);
    }
    CHECK(failed > 30);
    return 0;
}
