/* Frees memory that a copy on a stream still needs: only the report tells. */
#include "check.h"

int main(void) {
    start();
    Latch latch;
    latch_init(&latch);
    aclrtStream stream = NULL;
    void *p = NULL;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtLaunchHostFunc(stream, latch_wait, &latch));
    OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
    OK(aclrtFree(p));
    latch_open(&latch);
    OK(aclrtSynchronizeStream(stream));
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, "aclrtMemsetAsync") != NULL && strstr(text, "aclrtFree") != NULL);
    finish();
    return 0;
}
