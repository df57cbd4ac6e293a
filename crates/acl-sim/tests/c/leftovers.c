/* Leaves one of each kind behind. */
#include "check.h"

int main(void) {
    start();
    void *p = NULL;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclrtContext context = NULL;
    aclrtNotify notify = NULL;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEvent(&event));
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtMalloc(&p, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtReserveMemAddress(&p, 2 << 20, 0, NULL, 0));
    aclrtMemPoolProps pool = {0};
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    pool.maxSize = 2 << 20;
    aclrtMemPool made = NULL;
    OK(aclrtMemPoolCreate(&made, &pool));
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtMallocHost(&p, 100));
    CHECK(aclCreateDataBuffer(NULL, 0) != NULL);
    CHECK(aclrtAllocatorCreateDesc() != NULL);
    OK(aclrtResetDeviceForce(0));
    OK(aclFinalize());
    return 0;
}
