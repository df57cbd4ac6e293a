/* The calls of CANN's samples 1_stream_with_failure_mode and 2_callback_exception, in their order. Functions of the host stand
   for the kernels; the test has the second and the fifth of them fail. */
#include "check.h"

typedef struct {
    aclrtContext context;
    uint32_t *value;
} Kernel;

static void add_one(void *data) {
    Kernel *kernel = data;
    uint32_t value = 0;
    OK(aclrtSetCurrentContext(kernel->context));
    OK(aclrtMemcpy(&value, 4, kernel->value, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    value += 1;
    OK(aclrtMemcpy(kernel->value, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void set(Kernel *kernel, uint32_t value) {
    OK(aclrtMemcpy(kernel->value, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
}

static uint32_t get(const Kernel *kernel) {
    uint32_t value = 0;
    OK(aclrtMemcpy(&value, 4, kernel->value, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static aclrtStream begin(Kernel *kernel) {
    aclrtStream stream = NULL;
    void *p = NULL;
    OK(aclrtSetDevice(0));
    OK(aclrtCreateContext(&kernel->context, 0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&p, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    kernel->value = p;
    set(kernel, 0);
    return stream;
}

static void end(Kernel *kernel, aclrtStream stream) {
    OK(aclrtFree(kernel->value));
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtDestroyContext(kernel->context));
}

static void three(Kernel *kernel, aclrtStream stream) {
    for (int i = 0; i < 3; i++) {
        OK(aclrtLaunchHostFunc(stream, add_one, kernel));
    }
    CODE(507035, aclrtSynchronizeStream(stream));
}

static void state_changed(aclrtStream stream, aclrtStreamState state, void *data) {
    CHECK(stream != NULL);
    ((int *)data)[state]++;
}

static void dropped(void (*drop)(aclrtStream), uint32_t flag) {
    Latch latch;
    aclrtStream stream = NULL;
    latch_init(&latch);
    OK(aclrtCreateStreamWithConfig(&stream, 0, flag));
    OK(aclrtLaunchHostFunc(stream, latch_wait, &latch));
    drop(stream);
    latch_open(&latch);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStreamForce(stream));
}

static void stop(aclrtStream stream) {
    OK(aclrtStreamStop(stream));
}

static void abort_all(aclrtStream stream) {
    OK(aclrtStreamAbort(stream));
}

static void failure_mode(void) {
    Kernel kernel;
    int states[3] = {0};
    OK(aclInit(NULL));
    OK(aclrtRegStreamStateCallback("failure_mode", state_changed, states));
    aclrtStream stream = begin(&kernel);
    three(&kernel, stream);
    CHECK(get(&kernel) == 2);
    set(&kernel, 0);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    three(&kernel, stream);
    CHECK(get(&kernel) == 1);
    dropped(stop, ACL_STREAM_DEVICE_USE_ONLY);
    dropped(abort_all, 0);
    end(&kernel, stream);
    OK(aclrtRegStreamStateCallback("failure_mode", NULL, NULL));
    CHECK(states[ACL_RT_STREAM_STATE_CREATE_POST] == 5 && states[ACL_RT_STREAM_STATE_DESTROY_PRE] == 4);
    finish();
}

static struct {
    int exceptions;
    uint32_t task;
    uint32_t code;
} heard;

static void hear(aclrtExceptionInfo *info) {
    heard.exceptions++;
    heard.task = aclrtGetTaskIdFromExceptionInfo(info);
    heard.code = aclrtGetErrorCodeFromExceptionInfo(info);
    CHECK(aclrtGetDeviceIdFromExceptionInfo(info) == 0 && aclrtGetThreadIdFromExceptionInfo(info) == (uint32_t)getpid());
}

static void never(void *data) {
    (void)data;
    CHECK(!"a stream that stopped runs nothing");
}

static void *report_loop(void *data) {
    while (*(volatile int *)data) {
        int code = aclrtProcessReport(10);
        CHECK(code == 0 || code == 507012 || code == 107012);
    }
    return NULL;
}

static void exception(void) {
    Kernel kernel;
    pthread_t thread;
    int goes_on = 1;
    uint32_t task = 0;
    OK(aclInit(NULL));
    aclrtStream stream = begin(&kernel);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    CHECK(pthread_create(&thread, NULL, report_loop, &goes_on) == 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclrtSetExceptionInfoCallback(hear));
    OK(aclrtLaunchHostFunc(stream, add_one, &kernel));
    OK(aclrtLaunchHostFunc(stream, add_one, &kernel));
    OK(aclrtGetThreadLastTaskId(&task));
    CHECK(task == 2);
    OK(aclrtLaunchCallback(never, NULL, ACL_CALLBACK_BLOCK, stream));
    CODE(507035, aclrtSynchronizeStream(stream));
    CHECK(heard.exceptions == 1 && heard.task == 2 && heard.code == 507035);
    aclrtErrorInfo error;
    OK(aclrtGetErrorVerbose(0, &error));
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == 507035);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 507035);
    CHECK(aclGetRecentErrMsg() != NULL);
    CHECK(get(&kernel) == 1);
    goes_on = 0;
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    end(&kernel, stream);
    OK(aclrtSetExceptionInfoCallback(NULL));
    finish();
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "exception") == 0) {
        exception();
    } else {
        failure_mode();
    }
    return 0;
}
