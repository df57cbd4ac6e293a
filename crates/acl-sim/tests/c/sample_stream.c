/* The calls of CANN's samples 0_simple_stream, 2_multi_stream and 3_stream_config_query, in their order, with what they
   take from 1_stream_with_failure_mode but failing kernels. */
#include <dlfcn.h>

#include "kernels.h"

static uint32_t *new_value(void) {
    void *p = NULL;
    uint32_t number = 0;
    OK(aclrtMalloc(&p, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(p, 4, &number, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

static uint32_t answer(const uint32_t *value) {
    uint32_t number = 0;
    OK(aclrtMemcpy(&number, 4, value, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return number;
}

static void simple(void) {
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    start();
    OK(aclrtCreateContext(&context, 0));
    uint32_t *value = new_value();
    kernel_add_one(NULL, value);
    OK(aclrtSynchronizeStream(NULL));
    CHECK(answer(value) == 1);
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    kernel_add_one(stream, value);
    OK(aclrtSynchronizeStream(stream));
    CHECK(answer(value) == 2);
    for (int i = 0; i < 3000; i++) {
        kernel_add_one(stream, value);
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtStreamQuery(stream, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE && answer(value) == 3002);
    OK(aclrtFree(value));
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtDestroyContext(context));
    finish();
}

typedef struct {
    aclrtContext context;
    aclrtStream first;
    aclrtStream second;
    LongKernel kernel;
    uint32_t *value;
} Setting;

static void begin(Setting *setting) {
    start();
    OK(aclrtCreateContext(&setting->context, 0));
    OK(aclrtCreateStream(&setting->first));
    OK(aclrtCreateStream(&setting->second));
    OK(aclrtSetStreamFailureMode(setting->first, ACL_STOP_ON_FAILURE));
    OK(aclrtSetStreamFailureMode(setting->second, ACL_STOP_ON_FAILURE));
    setting->value = new_value();
    kernel_long_add_one(&setting->kernel, setting->first, setting->value);
}

static void end(Setting *setting) {
    OK(aclrtFree(setting->value));
    OK(aclrtDestroyStreamForce(setting->first));
    OK(aclrtDestroyStreamForce(setting->second));
    OK(aclrtDestroyContext(setting->context));
    latch_open(&setting->kernel.latch);
    finish();
}

static void by_stream(void) {
    Setting setting;
    begin(&setting);
    latch_open(&setting.kernel.latch);
    OK(aclrtSynchronizeStream(setting.first));
    kernel_double(setting.second, setting.value);
    OK(aclrtSynchronizeStream(setting.second));
    CHECK(answer(setting.value) == 2);
    kernel_long_add_one(&setting.kernel, setting.first, setting.value);
    CODE(507046, aclrtSynchronizeStreamWithTimeout(setting.first, 1));
    /* Frees what the task will use: the stream is destroyed without waiting for it. */
    end(&setting);
}

static void by_event(void) {
    Setting setting;
    aclrtEvent event = NULL;
    begin(&setting);
    OK(aclrtCreateEvent(&event));
    OK(aclrtRecordEvent(event, setting.first));
    OK(aclrtStreamWaitEvent(setting.second, event));
    OK(aclrtResetEvent(event, setting.second));
    latch_open(&setting.kernel.latch);
    kernel_double(setting.second, setting.value);
    OK(aclrtRecordEvent(event, setting.second));
    OK(aclrtSynchronizeEvent(event));
    CHECK(answer(setting.value) == 2);
    kernel_long_add_one(&setting.kernel, setting.first, setting.value);
    OK(aclrtRecordEvent(event, setting.first));
    CODE(507047, aclrtSynchronizeEventWithTimeout(event, 1));
    OK(aclrtDestroyEvent(event));
    end(&setting);
}

static void by_notification(void) {
    Setting setting;
    aclrtNotify notify = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    begin(&setting);
    CODE(107000, aclrtCreateNotify(&notify, 1));
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtRecordNotify(notify, setting.first));
    OK(aclrtWaitAndResetNotify(notify, setting.second, 0));
    OK(aclrtStreamQuery(setting.second, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    latch_open(&setting.kernel.latch);
    kernel_double(setting.second, setting.value);
    OK(aclrtSynchronizeStream(setting.second));
    CHECK(answer(setting.value) == 2);
    /* The wait has cleared it; a set that comes first stays for the next wait. */
    OK(aclrtWaitAndResetNotify(notify, setting.second, 0));
    OK(aclrtStreamQuery(setting.second, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    OK(aclrtRecordNotify(notify, setting.first));
    OK(aclrtSynchronizeStream(setting.second));
    OK(aclrtRecordNotify(notify, setting.first));
    OK(aclrtSynchronizeStream(setting.first));
    OK(aclrtWaitAndResetNotify(notify, setting.second, 0));
    OK(aclrtSynchronizeStream(setting.second));
    OK(aclrtDestroyNotify(notify));
    CODE(107017, aclrtRecordNotify(notify, setting.first));
    end(&setting);
}

typedef aclrtStreamConfigHandle *(*Create)(void);

static void configuration(void) {
    start();
    /* As the sample does, which wants to start with libraries that lack them. */
    CHECK(dlsym(RTLD_DEFAULT, "aclrtSetStreamConfigOpt") != NULL && dlsym(RTLD_DEFAULT, "aclrtCreateStreamV2") != NULL);
    Create create = (Create)(uintptr_t)dlsym(RTLD_DEFAULT, "aclrtCreateStreamConfigHandle");
    CHECK(create != NULL);
    aclrtStreamConfigHandle *handle = create();
    CHECK(handle != NULL);
    uint32_t flags = 0, priority = 0;
    OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flags, sizeof flags));
    OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamV2(&stream, handle));
    int32_t id = -1;
    flags = priority = 9;
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtStreamGetFlags(stream, &flags));
    OK(aclrtStreamGetPriority(stream, &priority));
    CHECK(id >= 0 && flags == 0 && priority == 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
    /* Another stream by the same configuration, and what a configuration does not take. */
    flags = ACL_STREAM_FAST_LAUNCH;
    priority = 5;
    OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flags, sizeof flags));
    OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
    CODE(100000, aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, 3));
    CODE(100000, aclrtSetStreamConfigOpt(handle, (aclrtStreamConfigAttr)9, &priority, 4));
    OK(aclrtCreateStreamV2(&stream, handle));
    OK(aclrtStreamGetFlags(stream, &flags));
    OK(aclrtStreamGetPriority(stream, &priority));
    CHECK(flags == ACL_STREAM_FAST_LAUNCH && priority == 5);
    OK(aclrtDestroyStream(stream));
    OK(aclrtDestroyStreamConfigHandle(handle));
    CODE(100000, aclrtCreateStreamV2(&stream, handle));
    finish();
}

typedef struct {
    int created;
    int destroyed;
} Count;

static void count_stream(aclrtStream stream, aclrtStreamState state, void *data) {
    Count *count = data;
    /* Called without locks, while the stream is alive, in whatever context the thread has. */
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    int code = aclrtStreamQuery(stream, &status);
    CHECK(code == 0 || code == 107002 || code == 107003);
    count->created += state == ACL_RT_STREAM_STATE_CREATE_POST;
    count->destroyed += state == ACL_RT_STREAM_STATE_DESTROY_PRE;
}

static void count_device(int32_t device, aclrtDeviceState state, void *data) {
    CHECK(device == 0);
    ((int *)data)[state]++;
}

static void watched(void) {
    Count count = {0};
    int states[4] = {0};
    OK(aclInit(NULL));
    OK(aclrtRegStreamStateCallback("sample", count_stream, &count));
    CODE(107000, aclrtRegStreamStateCallback("sample", count_stream, &count));
    OK(aclrtRegDeviceStateCallback("sample", count_device, states));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    CHECK(count.created == 1 && states[0] == 1 && states[1] == 2);
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtCreateStream(&stream));
    CHECK(count.created == 3 && count.destroyed == 0);
    LongKernel kernel;
    uint32_t *value = new_value();
    kernel_long_add_one(&kernel, stream, value);
    OK(aclrtLaunchHostFunc(stream, long_kernel_run, &kernel));
    OK(aclrtStreamStop(stream));
    latch_open(&kernel.latch);
    OK(aclrtSynchronizeStream(stream));
    /* What ran goes on, what had not begun is gone. */
    CHECK(answer(value) <= 1);
    OK(aclrtFree(value));
    OK(aclrtDestroyStreamForce(stream));
    CHECK(count.destroyed == 1);
    OK(aclrtDestroyContext(context));
    CHECK(count.destroyed == 2);
    OK(aclrtResetDevice(0));
    CHECK(states[2] == 0);
    OK(aclrtResetDevice(0));
    CHECK(count.destroyed == 3 && states[2] == 1 && states[3] == 1);
    OK(aclrtRegStreamStateCallback("sample", NULL, NULL));
    OK(aclrtRegStreamStateCallback("sample", NULL, NULL));
    OK(aclrtRegDeviceStateCallback("sample", NULL, NULL));
    OK(aclrtSetDevice(0));
    CHECK(count.created == 3 && states[1] == 2);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

int main(void) {
    simple();
    by_stream();
    by_event();
    by_notification();
    configuration();
    watched();
    return 0;
}
