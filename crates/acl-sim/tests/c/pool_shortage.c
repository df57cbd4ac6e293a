/* `pool_shortage VERSION`, on a device of 64 MiB: CANN 9.1 takes cached memory of its pools when the device is full, CANN 9.2
   does not, and an allocation with a configuration never does. */
#include "check.h"

#define MIB ((size_t)1 << 20)

int main(int count, char **arguments) {
    int trims = count > 1 && strcmp(arguments[1], "9.1") == 0;
    start();
    aclrtStream stream = NULL;
    aclrtMemPool pool = NULL;
    void *cached = NULL, *busy = NULL, *p = NULL;
    aclrtMallocConfig none = {0};
    aclrtMemPoolProps properties = {0};
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.maxSize = 32 * MIB;
    uint64_t threshold = 32 * MIB, reserved = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemPoolCreate(&pool, &properties));
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtMemPoolMallocAsync(&busy, 2 * MIB, pool, stream));
    OK(aclrtMemPoolMallocAsync(&cached, 30 * MIB, pool, stream));
    OK(aclrtMemPoolFreeAsync(cached, stream));
    OK(aclrtSynchronizeStream(stream));
    CODE(207001, aclrtMallocWithCfg(&p, 48 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, &none));
    CODE(207001, aclrtMallocForTaskScheduler(&p, 48 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, &none));
    CODE(trims ? 0 : 207001, aclrtMalloc(&p, 48 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    CHECK(reserved == (trims ? 2 : 32) * MIB);
    if (p != NULL) {
        OK(aclrtFree(p));
    }
    CODE(207001, aclrtMallocAlign32(&p, 63 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemPoolFreeAsync(busy, stream));
    OK(aclrtMemPoolDestroy(pool));
    finish();
    return 0;
}
