#include "check.h"

#define GRANULE ((size_t)2 << 20)

static uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr name) {
    uint64_t value = 0;
    OK(aclrtMemPoolGetAttr(pool, name, &value));
    return value;
}

int main(int count, char **arguments) {
    int reuses = count > 1 && strcmp(arguments[1], "9.1") == 0;
    start();
    aclrtStream a = NULL, b = NULL;
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    aclrtMemPoolProps properties = {0};
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.maxSize = 8 * GRANULE - 1;
    aclrtMemPool pool = NULL;
    if (count > 1 && strcmp(arguments[1], "8.5") == 0) {
        CODE(207000, aclrtMemPoolCreate(&pool, &properties));
        CHECK(strstr(aclGetRecentErrMsg(), "ASCEND_SIM_VERSION") != NULL);
        finish();
        return 0;
    }
    OK(aclrtMemPoolCreate(&pool, &properties));
    uint64_t threshold = 8 * GRANULE;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    void *x = NULL, *y = NULL;
    CODE(100000, aclrtMemPoolMallocAsync(&x, 1, pool, NULL));
    OK(aclrtMemPoolMallocAsync(&x, 0, pool, a));
    CHECK(x == NULL);
    OK(aclrtMemPoolMallocAsync(&x, 1024, pool, a));
    CHECK(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == GRANULE);
    OK(aclrtMemsetAsync(x, 1024, 7, 1024, a));
    OK(aclrtMemPoolFreeAsync(x, a));
    CODE(107000, aclrtMemPoolFreeAsync(x, a));
    CHECK(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == GRANULE);

    /* The same stream gets the memory back at once, another one only behind an event and when told so. */
    OK(aclrtMemPoolMallocAsync(&y, 1024, pool, a));
    CHECK((x == y) == reuses);
    OK(aclrtMemPoolFreeAsync(y, a));
    OK(aclrtMemPoolMallocAsync(&x, GRANULE, pool, b));
    CHECK(x != y);
    if (reuses) {
        void *z = NULL;
        aclrtEvent event = NULL;
        uint32_t on = 1;
        OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES, &on));
        OK(aclrtCreateEvent(&event));
        OK(aclrtRecordEvent(event, a));
        OK(aclrtStreamWaitEvent(b, event));
        OK(aclrtMemPoolMallocAsync(&z, GRANULE, pool, b));
        CHECK(z == y);
        OK(aclrtMemPoolFreeAsync(z, b));
        OK(aclrtDestroyEvent(event));
    }
    OK(aclrtSynchronizeStream(a));
    OK(aclrtSynchronizeStream(b));
    CODE(507000, aclrtMemPoolMallocAsync(&y, 9 * GRANULE, pool, a));
    CODE(107000, aclrtMemPoolTrimTo(pool, 0));
    OK(aclrtMemPoolTrimTo(pool, GRANULE));
    CHECK(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == GRANULE);
    OK(aclrtFree(x));
    CHECK(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);

    /* Memory of no pool is freed in the order of the stream. */
    OK(aclrtMalloc(&x, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemPoolFreeAsync(x, a));
    OK(aclrtSynchronizeStream(a));
    CODE(107000, aclrtFree(x));
    OK(aclrtMemPoolDestroy(pool));
    CODE(107000, aclrtMemPoolDestroy(pool));
    finish();
    return 0;
}
