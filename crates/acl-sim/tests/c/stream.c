#include "check.h"

static void *device_value(uint64_t value) {
    void *p = NULL;
    OK(aclrtMalloc(&p, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(p, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

static void *writer(void *data) {
    void **arguments = data;
    OK(aclrtSetCurrentContext(arguments[0]));
    OK(aclrtValueWrite(arguments[1], 123, 0, arguments[2]));
    OK(aclrtSynchronizeStream(arguments[2]));
    return NULL;
}

int main(void) {
    start();
    Latch latch;
    latch_init(&latch);
    aclrtStream a = NULL, b = NULL;
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStreamWithConfig(&b, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    uint32_t priority = 0, flags = 0;
    int32_t first = -1, second = -1;
    OK(aclrtStreamGetPriority(b, &priority));
    OK(aclrtStreamGetFlags(b, &flags));
    CHECK(priority == 3 && flags == 3);
    OK(aclrtStreamGetId(a, &first));
    OK(aclrtStreamGetId(b, &second));
    CHECK(first != second);
    CODE(107000, aclrtCreateStreamWithConfig(&b, 8, 0));

    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    OK(aclrtStreamQuery(a, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtStreamQuery(NULL, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtLaunchHostFunc(a, latch_wait, &latch));
    OK(aclrtStreamQuery(a, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    CODE(507046, aclrtSynchronizeStreamWithTimeout(a, 1));
    CODE(107000, aclrtSynchronizeStreamWithTimeout(a, -2));
    latch_open(&latch);
    OK(aclrtSynchronizeStreamWithTimeout(a, -1));
    OK(aclrtStreamQuery(a, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);

    /* One stream waits for a value that another thread's writes. */
    void *flag = device_value(0);
    aclrtContext context = NULL;
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtValueWait(flag, 123, ACL_STREAM_WAIT_VALUE_EQ, a));
    OK(aclrtStreamQuery(a, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    void *arguments[] = {context, flag, b};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, writer, arguments) == 0);
    OK(aclrtSynchronizeStream(a));
    CHECK(pthread_join(thread, NULL) == 0);
    uint64_t value = 0;
    OK(aclrtMemcpy(&value, 8, flag, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(value == 123);

    /* Abort drops what has not begun. */
    OK(aclrtValueWait(flag, 1000, ACL_STREAM_WAIT_VALUE_GEQ, a));
    OK(aclrtMemsetAsync(flag, 8, 0, 8, a));
    OK(aclrtStreamAbort(a));
    OK(aclrtSynchronizeStream(a));
    OK(aclrtMemcpy(&value, 8, flag, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(value == 123);

    /* Force does not wait, but what was enqueued still runs. */
    Latch other;
    latch_init(&other);
    OK(aclrtLaunchHostFunc(a, latch_wait, &other));
    OK(aclrtMemsetAsync(flag, 8, 1, 8, a));
    OK(aclrtDestroyStreamForce(a));
    CODE(107017, aclrtSynchronizeStream(a));
    latch_open(&other);
    OK(aclrtSynchronizeDevice());
    OK(aclrtMemcpy(&value, 8, flag, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(value == 0x0101010101010101u);

    OK(aclrtDestroyStream(b));
    CODE(100000, aclrtDestroyStream(NULL));
    /* Numbers are used again. */
    int32_t again = -1;
    OK(aclrtCreateStream(&a));
    OK(aclrtStreamGetId(a, &again));
    CHECK(again == first);
    OK(aclrtFree(flag));
    OK(aclrtDestroyStream(a));
    finish();
    return 0;
}
