/* The calls of CANN's memory samples 0 to 6 and 9, in their order. */
#include "kernels.h"

#define SIZE ((size_t)1 << 20)

static aclrtStream begin(void) {
    aclrtStream stream = NULL;
    start();
    OK(aclrtCreateStream(&stream));
    return stream;
}

static int *device_memory(void) {
    void *p = NULL;
    OK(aclrtMalloc(&p, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    return p;
}

static int *host_memory(void) {
    void *p = NULL;
    OK(aclrtMallocHost(&p, SIZE));
    return p;
}

/* 0 */
static void host_to_host(void) {
    aclrtStream stream = begin();
    int *from = host_memory(), *to = host_memory();
    *from = 123;
    OK(aclrtMemcpy(to, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_HOST));
    CHECK(*to == 123);
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtFreeHost(from));
    OK(aclrtFreeHost(to));
    finish();
}

/* 1 and 2 */
static void host_to_device(int synchronous) {
    aclrtStream stream = begin();
    int *from = host_memory(), *to = device_memory();
    *from = 123;
    if (synchronous) {
        OK(aclrtMemcpy(to, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    } else {
        OK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    CHECK(kernel_read(stream, to) == 123);
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtFreeHost(from));
    OK(aclrtFree(to));
    finish();
}

/* 3 and 4 */
static void device_to_host(int synchronous) {
    aclrtStream stream = begin();
    int *to = host_memory(), *from = device_memory();
    kernel_write(stream, from, 123);
    if (synchronous) {
        OK(aclrtMemcpy(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    } else {
        OK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    CHECK(*to == 123);
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtFree(from));
    OK(aclrtFreeHost(to));
    finish();
}

/* 5 and 6 */
static void device_to_device(int synchronous) {
    aclrtStream stream = begin();
    int *from = device_memory(), *to = device_memory();
    kernel_write(stream, from, 123);
    if (synchronous) {
        OK(aclrtMemcpy(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    } else {
        OK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
    CHECK(kernel_read(stream, to) == 123);
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtFree(from));
    OK(aclrtFree(to));
    finish();
}

/* 9 */
typedef struct {
    aclrtStream stream;
    void *address;
    int written;
    int seen;
} Side;

static void *wait_for_value(void *data) {
    Side *side = data;
    OK(aclrtSetDevice(0));
    OK(aclrtValueWait(side->address, 100, ACL_STREAM_WAIT_VALUE_EQ, side->stream));
    OK(aclrtSynchronizeStream(side->stream));
    side->seen = *(volatile int *)&side->written;
    return NULL;
}

static void two_streams_and_a_value(void) {
    start();
    Side side = {0};
    OK(aclrtMalloc(&side.address, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(side.address, SIZE, 0, SIZE));
    aclrtStream writer = NULL;
    OK(aclrtCreateStream(&side.stream));
    OK(aclrtCreateStream(&writer));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_value, &side) == 0);
    /* Written before the value, so that whoever waited for that sees it. */
    side.written = 123;
    OK(aclrtValueWrite(side.address, 100, 0, writer));
    OK(aclrtSynchronizeStream(writer));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(side.seen == 123);
    OK(aclrtDestroyStreamForce(side.stream));
    OK(aclrtDestroyStreamForce(writer));
    OK(aclrtFree(side.address));
    finish();
}

int main(void) {
    host_to_host();
    for (int synchronous = 0; synchronous < 2; synchronous++) {
        host_to_device(synchronous);
        device_to_host(synchronous);
        device_to_device(synchronous);
    }
    two_streams_and_a_value();
    return 0;
}
