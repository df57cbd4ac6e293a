/* The calls of CANN's samples 0_simple_callback and 1_callback_hostfunc, in their order. */
#include "kernels.h"

typedef struct {
    aclrtContext context;
    volatile int goes_on;
} Loop;

typedef struct {
    int data;
    int before;
    int after;
    int host;
    pthread_t threads[3];
} Seen;

static void before_launch(void *data) {
    Seen *seen = data;
    CHECK(seen->data == 520 && seen->host == 0 && seen->after == 0);
    seen->before++;
    seen->threads[0] = pthread_self();
}

static void host_function(void *data) {
    Seen *seen = data;
    CHECK(seen->data == 520 && seen->before == 1 && seen->after == 0);
    seen->host++;
    seen->threads[1] = pthread_self();
}

static void after_launch(void *data) {
    Seen *seen = data;
    CHECK(seen->data == 520 && seen->host == 1);
    seen->after++;
    seen->threads[2] = pthread_self();
}

static void *report_loop(void *data) {
    Loop *loop = data;
    OK(aclrtSetCurrentContext(loop->context));
    while (loop->goes_on) {
        int code = aclrtProcessReport(10);
        CHECK(code == 0 || code == 507012 || code == 107012);
    }
    return NULL;
}

static void *host_loop(void *data) {
    Loop *loop = data;
    OK(aclrtSetCurrentContext(loop->context));
    while (loop->goes_on) {
        int code = aclrtProcessHostFunc(10);
        CHECK(code == 0 || code == 507012 || code == 107012);
    }
    return NULL;
}

static aclrtStream begin(aclrtContext *context, uint32_t **value) {
    aclrtStream stream = NULL;
    uint32_t number = 0;
    void *p = NULL;
    start();
    OK(aclrtCreateContext(context, 0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    OK(aclrtMalloc(&p, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(p, 4, &number, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    *value = p;
    return stream;
}

static void end(aclrtStream stream, aclrtContext context, uint32_t *value) {
    OK(aclrtFree(value));
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtDestroyContext(context));
    finish();
}

static uint32_t answer(const uint32_t *value) {
    uint32_t number = 0;
    OK(aclrtMemcpy(&number, 4, value, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return number;
}

static void simple(void) {
    Loop loop = {NULL, 1};
    Seen seen = {.data = 520};
    uint32_t *value = NULL;
    aclrtStream stream = begin(&loop.context, &value);
    pthread_t reporter, runner;
    CHECK(pthread_create(&reporter, NULL, report_loop, &loop) == 0);
    CHECK(pthread_create(&runner, NULL, host_loop, &loop) == 0);
    OK(aclrtSubscribeReport((uint64_t)reporter, stream));
    OK(aclrtSubscribeHostFunc((uint64_t)runner, stream));
    OK(aclrtLaunchCallback(before_launch, &seen, ACL_CALLBACK_BLOCK, stream));
    LongKernel kernel;
    kernel_long_add_one(&kernel, stream, value);
    latch_open(&kernel.latch);
    OK(aclrtLaunchHostFunc(stream, host_function, &seen));
    for (int i = 0; i < 5; i++) {
        OK(aclrtLaunchCallback(after_launch, &seen, ACL_CALLBACK_BLOCK, stream));
    }
    OK(aclrtSynchronizeStream(stream));
    CHECK(seen.before == 1 && seen.host == 1 && seen.after == 5 && answer(value) == 1);
    CHECK(pthread_equal(seen.threads[0], reporter) && pthread_equal(seen.threads[1], runner));
    CHECK(pthread_equal(seen.threads[2], reporter));
    loop.goes_on = 0;
    CHECK(pthread_join(reporter, NULL) == 0 && pthread_join(runner, NULL) == 0);
    OK(aclrtUnSubscribeReport((uint64_t)reporter, stream));
    OK(aclrtUnSubscribeHostFunc((uint64_t)runner, stream));
    end(stream, loop.context, value);
}

static void count(void *data) {
    ++*(int *)data;
}

static void on_a_thread_of_the_runtime(void) {
    aclrtContext context = NULL;
    uint32_t *value = NULL;
    aclrtStream stream = begin(&context, &value);
    int called = 0;
    kernel_add_one(stream, value);
    OK(aclrtLaunchHostFunc(stream, count, &called));
    OK(aclrtSynchronizeStream(stream));
    CHECK(called == 1 && answer(value) == 1);
    end(stream, context, value);
}

int main(void) {
    simple();
    on_a_thread_of_the_runtime();
    return 0;
}
