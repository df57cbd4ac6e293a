#include "check.h"

int main(void) {
    void *p = NULL;
    CODE(100001, aclrtSetDevice(0));
    CODE(100001, aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, "aclInit") != NULL);
    CHECK(aclGetRecentErrMsg() == NULL);
    /* Clients ask for these before they start ACL. */
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 1);
    CHECK(strstr(aclrtGetSocName(), "Ascend910B") != NULL);
    int32_t device = 0;
    CODE(107002, aclrtGetDevice(&device));

    OK(aclInit(NULL));
    CODE(100002, aclInit(NULL));
    CODE(107002, aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == 107002);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 107002);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 0);
    count = 0;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 1);
    int32_t process = 0;
    OK(aclrtDeviceGetBareTgid(&process));
    CHECK(process == getpid());
    CODE(107001, aclrtSetDevice(1));
    CODE(107001, aclrtSetDevice(-1));

    uint64_t references = 0;
    OK(aclFinalizeReference(&references));
    CHECK(references == 2);
    OK(aclrtSetDevice(0));
    OK(aclFinalizeReference(&references));
    CHECK(references == 1);
    CODE(100037, aclFinalizeReference(NULL));
    CODE(100037, aclFinalize());

    /* Three cycles in one process; finalising drops what was left. */
    for (int i = 0; i < 3; i++) {
        OK(aclInit(NULL));
        OK(aclrtSetDevice(0));
        OK(aclrtMalloc(&p, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclFinalize());
    }
    CODE(100037, aclFinalize());
    CODE(100001, aclrtFree(p));

    /* Sets of a device are counted; resets tear down at 0. */
    OK(aclInit(NULL));
    CODE(107002, aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtResetDevice(0));
    OK(aclrtFree(p));
    OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtResetDevice(0));
    CODE(107000, aclrtFree(p));
    CODE(107002, aclrtResetDeviceForce(0));
    OK(aclFinalize());
    return 0;
}
