/* `copy_grace 0`: a synchronous copy does not wait for a stream. `copy_grace 1`: it lets work that can go on do so first. */
#include "check.h"

int main(int count, char **arguments) {
    int waits = count > 1 && strcmp(arguments[1], "1") == 0;
    start();
    aclrtStream stream = NULL;
    void *p = NULL;
    unsigned char value = 9;
    Latch latch;
    latch_init(&latch);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(p, 32, 1, 32));
    if (waits) {
        /* Nothing is in its way. */
        OK(aclrtMemsetAsync(p, 32, 2, 32, stream));
        OK(aclrtMemcpy(&value, 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(value == 2);
    } else {
        /* Whatever the machine does meanwhile, the fill cannot run before the copy returns. */
        OK(aclrtLaunchHostFunc(stream, latch_wait, &latch));
        OK(aclrtMemsetAsync(p, 32, 2, 32, stream));
        OK(aclrtMemcpy(&value, 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(value == 1);
        latch_open(&latch);
        OK(aclrtSynchronizeStream(stream));
        OK(aclrtMemcpy(&value, 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(value == 2);
    }
    OK(aclrtFree(p));
    OK(aclrtDestroyStream(stream));
    finish();
    return 0;
}
