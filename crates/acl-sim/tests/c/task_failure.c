/* Tasks that fail when they run: the first and third fill, and the second function of the host, in each of the cases. */
#include "check.h"

typedef struct {
    int calls;
    uint32_t task, stream, device, code, thread;
} Told;

static Told told;

static void hear(aclrtExceptionInfo *info) {
    told.calls++;
    told.task = aclrtGetTaskIdFromExceptionInfo(info);
    told.stream = aclrtGetStreamIdFromExceptionInfo(info);
    told.device = aclrtGetDeviceIdFromExceptionInfo(info);
    told.code = aclrtGetErrorCodeFromExceptionInfo(info);
    told.thread = aclrtGetThreadIdFromExceptionInfo(info);
    void *arguments = NULL;
    uint32_t length = 0;
    aclrtFuncHandle function = NULL;
    CODE(207000, aclrtGetArgsFromExceptionInfo(info, &arguments, &length));
    CODE(207000, aclrtGetFuncHandleFromExceptionInfo(info, &function));
}

static void count(void *data) {
    ++*(int *)data;
}

typedef struct {
    aclrtStream stream;
    unsigned char *memory;
    unsigned char value;
} Setting;

static Setting begin(uint64_t mode) {
    Setting setting = {0};
    void *p = NULL;
    memset(&told, 0, sizeof told);
    start();
    OK(aclrtSetExceptionInfoCallback(hear));
    OK(aclrtCreateStream(&setting.stream));
    OK(aclrtSetStreamFailureMode(setting.stream, mode));
    OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(p, 32, 0, 32));
    setting.memory = p;
    return setting;
}

static int value(const Setting *setting) {
    unsigned char byte = 0;
    OK(aclrtMemcpy(&byte, 1, setting->memory, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    return byte;
}

static void end(const Setting *setting) {
    OK(aclrtFree(setting->memory));
    OK(aclrtDestroyStream(setting->stream));
    OK(aclrtSetExceptionInfoCallback(NULL));
    finish();
}

/* What follows runs, and the one that waits next is told. */
static void goes_on(void) {
    Setting setting = begin(ACL_CONTINUE_ON_FAILURE);
    uint32_t task = 0;
    int32_t number = -1;
    int called = 0;
    OK(aclrtMemsetAsync(setting.memory, 32, 1, 32, setting.stream));
    OK(aclrtGetThreadLastTaskId(&task));
    OK(aclrtMemsetAsync(setting.memory + 16, 16, 2, 16, setting.stream));
    CODE(507035, aclrtSynchronizeStream(setting.stream));
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 507035 && aclGetRecentErrMsg() != NULL);
    OK(aclrtSynchronizeStream(setting.stream));
    CHECK(value(&setting) == 0);
    unsigned char behind = 0;
    OK(aclrtMemcpy(&behind, 1, setting.memory + 16, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(behind == 2);
    OK(aclrtStreamGetId(setting.stream, &number));
    CHECK(told.calls == 1 && told.task == task && told.stream == (uint32_t)number && told.device == 0);
    CHECK(told.code == 507035 && told.thread == (uint32_t)gettid());
    OK(aclrtLaunchHostFunc(setting.stream, count, &called));
    OK(aclrtLaunchHostFunc(setting.stream, count, &called));
    OK(aclrtMemsetAsync(setting.memory, 32, 3, 32, setting.stream));
    CODE(507011, aclrtSynchronizeDevice());
    OK(aclrtSynchronizeDevice());
    CHECK(called == 1 && told.calls == 3);
    end(&setting);
}

/* What follows does not run, not even what is enqueued later, and all that wait are told. */
static void stops(void) {
    Setting setting = begin(ACL_STOP_ON_FAILURE);
    aclrtStream other = NULL;
    aclrtEvent event = NULL;
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEvent(&event));
    OK(aclrtMemsetAsync(setting.memory, 32, 1, 32, setting.stream));
    OK(aclrtMemsetAsync(setting.memory, 32, 2, 32, setting.stream));
    OK(aclrtRecordEvent(event, setting.stream));
    CODE(507035, aclrtSynchronizeStream(setting.stream));
    OK(aclrtMemsetAsync(setting.memory, 32, 2, 32, setting.stream));
    CODE(507035, aclrtSynchronizeStreamWithTimeout(setting.stream, -1));
    CHECK(value(&setting) == 0 && told.calls == 1);
    /* Others do not hang behind it. */
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclrtSynchronizeStream(other));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(other));
    end(&setting);
}

int main(void) {
    CHECK(aclrtGetTaskIdFromExceptionInfo(NULL) == UINT32_MAX);
    goes_on();
    stops();
    CHECK(told.calls == 1);
    return 0;
}
