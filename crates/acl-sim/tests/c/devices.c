/* Two devices: memory of each, copies between them, a thread on each. */
#include "check.h"

static size_t free_bytes(void) {
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    return left;
}

static void *worker(void *data) {
    int32_t me = *(int32_t *)data, found = -1;
    OK(aclrtSetDevice(me));
    size_t before = free_bytes();
    for (int i = 0; i < 50; i++) {
        void *p = NULL;
        OK(aclrtMallocAlign32(&p, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(before - free_bytes() == 1 << 20);
        OK(aclrtGetDevice(&found));
        CHECK(found == me);
        OK(aclrtFree(p));
    }
    OK(aclrtResetDevice(me));
    return NULL;
}

int main(void) {
    OK(aclInit(NULL));
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 2);
    pthread_t threads[2];
    int32_t numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, worker, &numbers[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }

    void *here = NULL, *there = NULL;
    int value = 123, back = 0;
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc(&there, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&here, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes(there, &attributes));
    CHECK(attributes.location.id == 1);
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemcpy(here, 64, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(107000, aclrtMemcpyAsync(there, 64, here, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtMemcpyAsync(there, 64, here, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&back, 4, there, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(back == 123);
    /* Resetting one device leaves the other alone. */
    OK(aclrtResetDeviceForce(0));
    CODE(107000, aclrtFree(here));
    OK(aclrtFree(there));
    OK(aclrtResetDeviceForce(1));
    OK(aclFinalize());
    return 0;
}
