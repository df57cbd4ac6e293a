/* The calls of CANN's sample 2_device_P2P, in their order; and that it takes peer access. */
#include "check.h"

int main(void) {
    OK(aclInit(NULL));
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 2);
    OK(aclrtSetDevice(0));
    int32_t can_access = 0, status = -1;
    OK(aclrtDeviceCanAccessPeer(&can_access, 0, 1));
    CHECK(can_access == 1);
    CODE(100000, aclrtDeviceCanAccessPeer(&can_access, 1, 1));
    CODE(107001, aclrtDeviceCanAccessPeer(&can_access, 0, 2));
    CODE(200006, aclrtDeviceEnablePeerAccess(1, 1));
    CODE(100000, aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    CHECK(status == 1);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    CHECK(status == 0);

    const uint32_t size = 10;
    void *first = NULL, *second = NULL, *host = NULL;
    OK(aclrtMalloc(&first, size, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    OK(aclrtMemset(first, size, 103, size));
    OK(aclrtSetDevice(1));
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtMalloc(&second, size, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    OK(aclrtMemset(second, size, 0, size));
    OK(aclrtMemcpy(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMallocHost(&host, size));
    OK(aclrtMemset(host, size, 0, size));
    OK(aclrtMemcpy(host, size, second, size, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(((char *)host)[0] == 103 && ((char *)host)[9] == 103);
    OK(aclrtSynchronizeDevice());
    OK(aclrtDeviceDisablePeerAccess(0));
    OK(aclrtSetDevice(0));
    OK(aclrtDeviceDisablePeerAccess(1));
    CODE(107000, aclrtMemcpy(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK(strstr(aclGetRecentErrMsg(), "aclrtDeviceEnablePeerAccess") != NULL);
    OK(aclrtSetDevice(1));
    OK(aclrtFreeHost(host));
    OK(aclrtFree(second));
    OK(aclrtResetDeviceForce(1));
    OK(aclrtSetDevice(0));
    OK(aclrtFree(first));
    OK(aclrtResetDeviceForce(0));
    OK(aclFinalize());
    return 0;
}
