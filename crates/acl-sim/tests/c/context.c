#include "check.h"

static aclrtContext contexts[2];
static aclrtStream streams[2];

static void *worker(void *data) {
    int me = *(int *)data;
    aclrtContext current = NULL;
    CODE(107002, aclrtGetCurrentContext(&current));
    OK(aclrtSetCurrentContext(contexts[me]));
    for (int i = 0; i < 200; i++) {
        OK(aclrtGetCurrentContext(&current));
        CHECK(current == contexts[me]);
        OK(aclrtSynchronizeStream(streams[me]));
        CODE(107003, aclrtSynchronizeStream(streams[1 - me]));
    }
    return NULL;
}

int main(void) {
    start();
    int32_t device = -1;
    OK(aclrtGetDevice(&device));
    CHECK(device == 0);
    aclrtContext primary = NULL, current = NULL;
    OK(aclrtGetCurrentContext(&primary));
    CODE(107000, aclrtDestroyContext(primary));

    aclrtStream first = NULL, second = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&first));
    OK(aclrtCreateContext(&contexts[0], 0));
    OK(aclrtGetCurrentContext(&current));
    CHECK(current == contexts[0] && current != primary);
    OK(aclrtCtxGetCurrentDefaultStream(&second));
    CHECK(first != second);
    OK(aclrtCreateStream(&streams[0]));
    OK(aclrtCreateContext(&contexts[1], 0));
    OK(aclrtCreateStream(&streams[1]));
    CODE(107003, aclrtSynchronizeStream(streams[0]));

    /* Memory belongs to the device, not to a context. */
    void *p = NULL;
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtSetCurrentContext(primary));
    OK(aclrtFree(p));

    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, worker, &numbers[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }

    OK(aclrtDestroyContext(contexts[1]));
    CODE(107002, aclrtSetCurrentContext(contexts[1]));
    CODE(107002, aclrtDestroyContext(contexts[1]));
    CODE(100000, aclrtSetCurrentContext(NULL));
    uint32_t flags = 1;
    int32_t active = 0;
    OK(aclrtGetPrimaryCtxState(0, &flags, &active));
    CHECK(active == 1);
    finish();
    return 0;
}
