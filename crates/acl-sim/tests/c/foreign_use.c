#include "check.h"

int main(void) {
    start();
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    CHECK(total == (size_t)1 << 30 && left == (size_t)24 << 20);
    void *p = NULL;
    CODE(207001, aclrtMalloc(&p, (size_t)25 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&p, (size_t)23 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(p));
    finish();
    return 0;
}
