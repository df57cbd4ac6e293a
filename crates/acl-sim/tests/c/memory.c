#include "check.h"

static size_t free_bytes(void) {
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    CHECK(total == (size_t)1 << 30);
    return left;
}

static void sizes(void) {
    void *p = NULL;
    size_t before = free_bytes();
    const size_t cases[][2] = {{1, 64}, {32, 64}, {33, 96}, {1 << 20, (1 << 20) + 32}};
    for (int i = 0; i < 4; i++) {
        OK(aclrtMalloc(&p, cases[i][0], ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(before - free_bytes() == cases[i][1]);
        CHECK((uintptr_t)p % 512 == 0);
        OK(aclrtFree(p));
        OK(aclrtMallocAlign32(&p, cases[i][0], ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(before - free_bytes() == cases[i][1] - 32);
        OK(aclrtFree(p));
    }
    CHECK(free_bytes() == before);
    CODE(100000, aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(100000, aclrtMalloc(NULL, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(100000, aclrtMalloc(&p, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(100000, aclrtMalloc(&p, SIZE_MAX - 32, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(207001, aclrtMalloc(&p, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(100000, aclrtFree(NULL));
    OK(aclrtMallocAlign32(&p, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(free_bytes() == 0);
    CODE(107000, aclrtFree((char *)p + 32));
    OK(aclrtFreeWithDevSync(p));
    CODE(107000, aclrtFree(p));
    size_t left = 0, total = 0;
    CODE(107016, aclrtGetMemInfo(ACL_HBM_MEM_HUGE1G, &left, &total));
}

/* Host to host, host to device and back, inside the device, now and on a stream. */
static void copies(void) {
    enum { N = 300000 };
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    char *a = NULL, *b = NULL, *pageable = malloc(N);
    void *x = NULL, *y = NULL;
    OK(aclrtMallocHost((void **)&a, N));
    OK(aclrtMallocHost((void **)&b, N));
    OK(aclrtMalloc(&x, N, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&y, N, ACL_MEM_MALLOC_HUGE_FIRST));
    a[0] = 123;
    OK(aclrtMemcpy(b, N, a, N, ACL_MEMCPY_HOST_TO_HOST));
    CHECK(b[0] == 123);
    memset(b, 0, N);
    memset(a, 7, N);
    OK(aclrtMemcpy(x, N, a, N, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(y, N, x, N, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(b, N, y, N, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(memcmp(a, b, N) == 0);

    memset(a, 9, N);
    OK(aclrtMemcpyAsync(x, N, a, N, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(y, N, x, N, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(b, N, y, N, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    CHECK(memcmp(a, b, N) == 0);
    OK(aclrtMemsetAsync(x, N, 0x141, N, stream));
    /* To pageable memory an asynchronous copy waits. */
    OK(aclrtMemcpyAsync(pageable, N, x, N, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(pageable[0] == 0x41 && pageable[N - 1] == 0x41);
    OK(aclrtMemset(x, N, 5, 10));
    OK(aclrtMemcpy(pageable, N, x, N, ACL_MEMCPY_DEFAULT));
    CHECK(pageable[9] == 5 && pageable[10] == 0x41);

    OK(aclrtMemcpy(x, 0, a, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(107000, aclrtMemcpy(x, 1, a, 2, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(107000, aclrtMemcpy(b, N, a, N, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(107000, aclrtMemcpy(x, N + (1 << 20), a, N + (1 << 20), ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(100000, aclrtMemcpy(x, N, y, N, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE));
    CODE(207000, aclrtMemcpyAsync(b, N, a, N, ACL_MEMCPY_HOST_TO_HOST, stream));

    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes((char *)x + 5, &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 0);
    OK(aclrtPointerGetAttributes(a, &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtPointerGetAttributes(pageable, &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);

    OK(aclrtFree(x));
    OK(aclrtFree(y));
    OK(aclrtFreeHost(a));
    CODE(107000, aclrtFreeHost(a));
    OK(aclrtFreeHost(b));
    CODE(100000, aclrtFreeHost(NULL));
    CODE(100000, aclrtMallocHost((void **)&a, 0));
    aclrtMallocConfig config = {NULL, 0};
    OK(aclrtMallocHostWithCfg((void **)&a, 64, &config));
    a[63] = 1;
    OK(aclrtFreeHostWithDevSync(a));
    config.numAttrs = 1;
    CODE(100000, aclrtMallocHostWithCfg((void **)&a, 64, &config));
    CODE(100000, aclrtMallocWithCfg(&x, 64, ACL_MEM_TYPE_HIGH_BAND_WIDTH, &config));
    free(pageable);
    OK(aclrtDestroyStreamForce(stream));
}

static void virtual_memory(void) {
    const size_t granule = 2 << 20;
    aclrtPhysicalMemProp properties = {0};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    size_t answer = 0;
    OK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &answer));
    CHECK(answer == granule);
    size_t before = free_bytes();
    char *base = NULL;
    OK(aclrtReserveMemAddress((void **)&base, 4 * granule, 0, NULL, 1));
    CHECK(free_bytes() == before);
    CODE(107000, aclrtReserveMemAddress((void **)&base, 4 * granule, 4096, NULL, 0));
    aclrtDrvMemHandle handle = NULL;
    CODE(107000, aclrtMallocPhysical(&handle, granule + 1, &properties, 0));
    CODE(207001, aclrtMallocPhysical(&handle, (size_t)4 << 30, &properties, 0));
    OK(aclrtMallocPhysical(&handle, 2 * granule, &properties, 0));
    CHECK(before - free_bytes() == 2 * granule);
    CODE(107000, aclrtMapMem(base, granule, 0, handle, 0));
    CODE(107000, aclrtMapMem(base, 2 * granule, granule, handle, 0));
    CODE(107008, aclrtMapMem(base + 4096, 2 * granule, 0, handle, 0));
    OK(aclrtMapMem(base + granule, 2 * granule, 0, handle, 0));
    aclrtMemAccessDesc access = {0};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemSetAccess(base + granule, 2 * granule, &access, 1));
    CODE(107000, aclrtMemSetAccess(base, granule, &access, 1));
    int value = 123, back = 0;
    OK(aclrtMemcpy(base + granule, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(&back, 4, base + granule, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(back == 123);
    CODE(507899, aclrtReleaseMemAddress(base));
    /* The memory returns with its last mapping. */
    OK(aclrtFreePhysical(handle));
    CODE(107017, aclrtFreePhysical(handle));
    CHECK(before - free_bytes() == 2 * granule);
    OK(aclrtUnmapMem(base + granule));
    CHECK(free_bytes() == before);
    CODE(107000, aclrtMemcpy(&back, 4, base + granule, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtReleaseMemAddress(base));
}

int main(void) {
    start();
    sizes();
    copies();
    virtual_memory();
    finish();
    return 0;
}
