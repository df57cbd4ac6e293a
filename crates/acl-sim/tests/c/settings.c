/* `settings WORD...`: aclInit fails, and its text has all the words.
   `settings failures`: calls fail as the test says. */
#include "check.h"

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "failures") == 0) {
        start();
        void *p = NULL, *q = NULL;
        size_t left = 0, total = 0, again = 0;
        OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
        OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
        CODE(207001, aclrtMalloc(&q, 32, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(q == NULL && strstr(aclGetRecentErrMsg(), "ASCEND_SIM_FAIL") != NULL);
        OK(aclrtMalloc(&q, 32, ACL_MEM_MALLOC_HUGE_FIRST));
        CODE(507033, aclrtFree(p));
        OK(aclrtFree(p));
        OK(aclrtFree(q));
        OK(aclrtGetMemInfo(ACL_HBM_MEM, &again, &total));
        CHECK(left == again);
        finish();
        return 0;
    }
    CODE(100000, aclInit(NULL));
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL);
    for (int i = 1; i < count; i++) {
        if (strstr(text, arguments[i]) == NULL) {
            printf("%s is not in: %s\n", arguments[i], text);
            return 1;
        }
    }
    CODE(100001, aclrtSetDevice(0));
    return 0;
}
