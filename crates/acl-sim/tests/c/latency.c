/* The time of a call that enqueues passes on its stream: 20 ms between two events. */
#include "check.h"

int main(void) {
    start();
    void *p = NULL;
    aclrtEvent first = NULL, second = NULL;
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEvent(&first));
    OK(aclrtCreateEvent(&second));
    OK(aclrtRecordEvent(first, NULL));
    OK(aclrtSynchronizeEvent(first));
    OK(aclrtMemsetAsync(p, 64, 1, 64, NULL));
    OK(aclrtRecordEvent(second, NULL));
    OK(aclrtSynchronizeEvent(second));
    float ms = 0;
    OK(aclrtEventElapsedTime(&ms, first, second));
    CHECK(ms >= 20);
    finish();
    return 0;
}
