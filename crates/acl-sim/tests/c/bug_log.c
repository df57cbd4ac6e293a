/* What users of other pools and of CANN ran into, as far as the runtime has a part in it. Each case starts ACL anew, with two
   devices. */
#include "check.h"

static void begin(const char *plan) {
    CHECK(setenv("ASCEND_SIM_FAIL", plan, 1) == 0);
    OK(aclInit(NULL));
    /* A text stays until it is asked for: that of the case before is of no use here. */
    (void)aclGetRecentErrMsg();
}

static void end(void) {
    OK(aclFinalize());
}

static aclrtPhysicalMemProp memory_of(uint32_t device) {
    aclrtPhysicalMemProp properties = {0};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
}

static size_t free_bytes(void) {
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    return left;
}

/* vllm-ascend 2546: physical memory fails for good. Each call says so, and nothing is kept. */
static void physical_memory_fails_for_good(void) {
    begin("aclrtMallocPhysical:1+");
    OK(aclrtSetDevice(0));
    aclrtPhysicalMemProp properties = memory_of(0);
    size_t before = free_bytes();
    for (int i = 0; i < 300; i++) {
        aclrtDrvMemHandle handle = NULL;
        CODE(207001, aclrtMallocPhysical(&handle, 2 << 20, &properties, 0));
        CHECK(handle == NULL);
    }
    CHECK(free_bytes() == before);
    end();
}

/* vllm-ascend 2171: the granularity is asked for with properties that do not fit. The text names what is wrong. */
static void granularity_names_what_is_wrong(void) {
    begin("");
    size_t size = 7;
    aclrtPhysicalMemProp properties = memory_of(2);
    CODE(107001, aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
    CHECK(strstr(aclGetRecentErrMsg(), "device 2 does not exist") != NULL);
    properties = memory_of(0);
    properties.memAttr = ACL_DDR_MEM;
    CODE(100000, aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
    CHECK(strstr(aclGetRecentErrMsg(), "physical memory of kind 0") != NULL);
    CODE(100000, aclrtMemGetAllocationGranularity(NULL, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
    CHECK(size == 7);
    /* Without a context no pool is made, and the device that does not exist is none that was made. */
    aclrtMemPoolProps pool = {0};
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    pool.location.id = 9;
    aclrtMemPool made = NULL;
    CODE(107002, aclrtMemPoolCreate(&made, &pool));
    OK(aclrtSetDevice(0));
    CODE(107000, aclrtMemPoolCreate(&made, &pool));
    CHECK(made == NULL);
    end();
}

static void *ask_without_a_device(void *data) {
    size_t *left = data, total = 0;
    CODE(107002, aclrtGetMemInfo(ACL_HBM_MEM, left, &total));
    return NULL;
}

/* llama.cpp 16628: the memory is asked about before there is a device, after it is gone, and on a thread without one. */
static void memory_is_asked_about_too_early(void) {
    size_t left = 7, total = 7;
    CODE(100001, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    begin("");
    CODE(107002, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    OK(aclrtSetDevice(0));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask_without_a_device, &left) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtResetDevice(0));
    CODE(107002, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    CHECK(left == 7 && total == 7);
    end();
    CODE(100001, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
}

/* LMCache-Ascend 242: more pinned memory than there can be. */
static void pinned_memory_has_an_end(void) {
    begin("");
    OK(aclrtSetDevice(0));
    void *p = NULL;
    CODE(207005, aclrtMallocHost(&p, (size_t)1 << 60));
    CHECK(p == NULL && aclGetRecentErrMsg() != NULL);
    CODE(100000, aclrtMallocHost(&p, SIZE_MAX));
    OK(aclrtMallocHost(&p, 4096));
    OK(aclrtFreeHost(p));
    end();
}

/* torch_npu asks whether addresses can be reserved before it sets a device, and memory says itself of which device it is. */
static void mapped_memory_needs_no_context(void) {
    const size_t granule = 2 << 20;
    begin("");
    void *base = NULL;
    aclrtDrvMemHandle handle = NULL;
    OK(aclrtReserveMemAddress(&base, granule, 0, NULL, 1));
    OK(aclrtReleaseMemAddress(base));
    aclrtPhysicalMemProp properties = memory_of(1);
    OK(aclrtMallocPhysical(&handle, granule, &properties, 0));
    OK(aclrtReserveMemAddress(&base, granule, 0, NULL, 0));
    /* Addresses are of the first device here, so memory of another does not go there. */
    CODE(107000, aclrtMapMem(base, granule, 0, handle, 0));
    OK(aclrtFreePhysical(handle));
    properties = memory_of(0);
    OK(aclrtMallocPhysical(&handle, granule, &properties, 0));
    OK(aclrtMapMem(base, granule, 0, handle, 0));
    aclrtMemAccessDesc access = {0};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemSetAccess(base, granule, &access, 1));
    OK(aclrtUnmapMem(base));
    OK(aclrtFreePhysical(handle));
    OK(aclrtReleaseMemAddress(base));
    properties = memory_of(2);
    CODE(107001, aclrtMallocPhysical(&handle, granule, &properties, 0));
    end();
}

static void *open_later(void *data) {
    /* Runs while the other thread frees, or before: either way the work is done when that is. */
    latch_open(data);
    return NULL;
}

/* pytorch 196258: memory of one device is freed, waiting, while another is current. */
static void a_free_that_waits_waits_for_the_owner(void) {
    begin("");
    OK(aclrtSetDevice(0));
    aclrtContext first = NULL;
    OK(aclrtGetCurrentContext(&first));
    aclrtStream stream = NULL;
    void *p = NULL;
    Latch latch;
    latch_init(&latch);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtLaunchHostFunc(stream, latch_wait, &latch));
    OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
    OK(aclrtSetDevice(1));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_later, &latch) == 0);
    OK(aclrtFreeWithDevSync(p));
    /* The fill came before the free: nothing was misused, which this call would tell. */
    CHECK(aclGetRecentErrMsg() == NULL);
    OK(aclrtSetCurrentContext(first));
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    OK(aclrtStreamQuery(stream, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    CHECK(pthread_join(thread, NULL) == 0);
    end();
}

/* pytorch 188008: growing by eight mappings fails at the fifth, and everything is taken back. */
static void half_a_growth_is_undone(void) {
    const size_t granule = 2 << 20;
    begin("aclrtMapMem:5");
    OK(aclrtSetDevice(0));
    size_t before = free_bytes();
    aclrtPhysicalMemProp properties = memory_of(0);
    char *base = NULL;
    aclrtDrvMemHandle handles[8] = {0};
    OK(aclrtReserveMemAddress((void **)&base, 8 * granule, 0, NULL, 0));
    int mapped = 0, code = 0;
    for (; mapped < 8; mapped++) {
        OK(aclrtMallocPhysical(&handles[mapped], granule, &properties, 0));
        code = aclrtMapMem(base + (size_t)mapped * granule, granule, 0, handles[mapped], 0);
        if (code != 0) {
            break;
        }
    }
    CHECK(mapped == 4 && code == 507899);
    /* What was never mapped is no crash, and the reservation cannot go while something is mapped. */
    CHECK(aclrtUnmapMem(base + 4 * granule) != 0);
    CHECK(aclrtReleaseMemAddress(base) != 0);
    for (int i = 0; i < mapped; i++) {
        OK(aclrtUnmapMem(base + (size_t)i * granule));
    }
    for (int i = 0; i <= mapped; i++) {
        OK(aclrtFreePhysical(handles[i]));
    }
    OK(aclrtReleaseMemAddress(base));
    CHECK(aclrtReleaseMemAddress(base) != 0);
    CHECK(free_bytes() == before);
    end();
}

/* camem: each step of a growth fails once. */
static void each_step_of_a_growth_fails(void) {
    const char *plans[] = {"aclrtReserveMemAddress:1", "aclrtMallocPhysical:1", "aclrtMapMem:1", "aclrtMemSetAccess:1"};
    for (int i = 0; i < 4; i++) {
        begin(plans[i]);
        OK(aclrtSetDevice(0));
        size_t before = free_bytes();
        aclrtPhysicalMemProp properties = memory_of(0);
        aclrtMemAccessDesc access = {0};
        access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
        access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        void *base = NULL;
        aclrtDrvMemHandle handle = NULL;
        int reserved = aclrtReserveMemAddress(&base, 2 << 20, 0, NULL, 0) == 0;
        int made = aclrtMallocPhysical(&handle, 2 << 20, &properties, 0) == 0;
        int mapped = reserved && made && aclrtMapMem(base, 2 << 20, 0, handle, 0) == 0;
        int granted = mapped && aclrtMemSetAccess(base, 2 << 20, &access, 1) == 0;
        CHECK(reserved == (i != 0) && made == (i != 1) && mapped == (i == 3) && !granted);
        CHECK((base == NULL) == (i == 0) && (handle == NULL) == (i == 1));
        if (mapped) {
            OK(aclrtUnmapMem(base));
        }
        if (made) {
            OK(aclrtFreePhysical(handle));
        }
        if (reserved) {
            OK(aclrtReleaseMemAddress(base));
        }
        CHECK(free_bytes() == before);
        end();
    }
}

/* pytorch 66941: a stream is destroyed whose memory comes back later. */
static void a_destroyed_stream_is_refused(void) {
    begin("");
    OK(aclrtSetDevice(0));
    aclrtStream gone = NULL, other = NULL;
    aclrtEvent event = NULL;
    void *p = NULL, *q = NULL;
    OK(aclrtCreateStream(&gone));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    aclrtMemPoolProps pool = {0};
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    pool.maxSize = 4 << 20;
    aclrtMemPool made = NULL;
    OK(aclrtMemPoolCreate(&made, &pool));
    OK(aclrtMemPoolMallocAsync(&p, 2 << 20, made, gone));
    OK(aclrtMemPoolFreeAsync(p, gone));
    OK(aclrtMemPoolMallocAsync(&p, 2 << 20, made, gone));
    OK(aclrtDestroyStream(gone));
    CODE(107017, aclrtRecordEvent(event, gone));
    CODE(107017, aclrtMemPoolFreeAsync(p, gone));
    CODE(107017, aclrtStreamWaitEvent(gone, event));
    CHECK(aclGetRecentErrMsg() != NULL);
    /* The event is as it was, and the memory comes back on a stream that lives. */
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtMemPoolFreeAsync(p, other));
    uint32_t on = 1;
    OK(aclrtMemPoolSetAttr(made, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &on));
    OK(aclrtMemPoolMallocAsync(&q, 2 << 20, made, other));
    CHECK(p == q && aclGetRecentErrMsg() == NULL);
    OK(aclrtMemPoolDestroy(made));
    end();
}

/* rmm 1306: an event of one device on a stream of another. */
static void events_stay_on_their_device(void) {
    begin("");
    OK(aclrtSetDevice(0));
    aclrtContext first = NULL;
    OK(aclrtGetCurrentContext(&first));
    aclrtStream here = NULL, there = NULL;
    aclrtEvent event = NULL;
    OK(aclrtCreateStream(&here));
    OK(aclrtCreateEvent(&event));
    OK(aclrtRecordEvent(event, here));
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&there));
    CODE(107000, aclrtRecordEvent(event, there));
    CHECK(strstr(aclGetRecentErrMsg(), "device 0") != NULL);
    CODE(107000, aclrtStreamWaitEvent(there, event));
    OK(aclrtSetCurrentContext(first));
    CODE(107003, aclrtRecordEvent(event, there));
    OK(aclrtSynchronizeEvent(event));
    end();
}

/* CANN's own pool books a free on the stream of the allocation, so memory that another stream still uses is handed out. The
   simulated pool does too, and says so. */
static void a_free_on_another_stream_is_lost_and_told(void) {
    begin("");
    OK(aclrtSetDevice(0));
    aclrtStream one = NULL, two = NULL;
    aclrtEvent event = NULL;
    void *p = NULL, *q = NULL;
    Latch latch;
    latch_init(&latch);
    OK(aclrtCreateStream(&one));
    OK(aclrtCreateStream(&two));
    OK(aclrtCreateEvent(&event));
    aclrtMemPoolProps pool = {0};
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    pool.maxSize = 8 << 20;
    aclrtMemPool made = NULL;
    OK(aclrtMemPoolCreate(&made, &pool));
    OK(aclrtMemPoolMallocAsync(&p, 2 << 20, made, one));
    OK(aclrtLaunchHostFunc(two, latch_wait, &latch));
    OK(aclrtMemsetAsync(p, 64, 1, 64, two));
    OK(aclrtMemPoolFreeAsync(p, two));
    CHECK(aclGetRecentErrMsg() == NULL);
    OK(aclrtMemPoolMallocAsync(&q, 2 << 20, made, one));
    CHECK(q == p);
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, "handed out before its former owner was done") != NULL);
    latch_open(&latch);
    OK(aclrtSynchronizeDevice());

    /* With an event between them there is nothing to tell. */
    OK(aclrtMemsetAsync(q, 64, 1, 64, two));
    OK(aclrtRecordEvent(event, two));
    OK(aclrtStreamWaitEvent(one, event));
    OK(aclrtMemPoolFreeAsync(q, one));
    OK(aclrtMemPoolMallocAsync(&p, 2 << 20, made, one));
    CHECK(q == p && aclGetRecentErrMsg() == NULL);
    OK(aclrtMemsetAsync(p, 64, 1, 64, one));
    OK(aclrtSynchronizeDevice());
    OK(aclrtMemPoolFreeAsync(p, one));
    /* Its memory is not taken away, but it is nobody's: use after a free on the stream. */
    OK(aclrtMemsetAsync(p, 64, 1, 64, one));
    text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, "retired block") != NULL);
    OK(aclrtMemPoolDestroy(made));
    end();
}

int main(void) {
    memory_is_asked_about_too_early();
    physical_memory_fails_for_good();
    granularity_names_what_is_wrong();
    pinned_memory_has_an_end();
    mapped_memory_needs_no_context();
    a_free_that_waits_waits_for_the_owner();
    half_a_growth_is_undone();
    each_step_of_a_growth_fails();
    a_destroyed_stream_is_refused();
    events_stay_on_their_device();
    a_free_on_another_stream_is_lost_and_told();
    return 0;
}
