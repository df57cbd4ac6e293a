/* The calls of CANN's sample 0_context_query, in their order. */
#include "check.h"

int main(void) {
    start();
    aclrtContext context = NULL, current = NULL;
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtSetCurrentContext(context));
    OK(aclrtGetCurrentContext(&current));
    CHECK(current == context);
    aclrtStream stream = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    CHECK(stream != NULL);
    uint32_t cube = 0, vector = 0;
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cube));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &vector));
    CHECK(cube == 24 && vector == 48);
    OK(aclrtDestroyContext(context));
    finish();
    return 0;
}
