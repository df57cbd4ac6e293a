/* The calls of CANN's samples 1_error_handling and 2_system_info, in their order. */
#include "check.h"

static void error_handling(void) {
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    aclrtRunMode mode = ACL_DEVICE;
    OK(aclrtGetRunMode(&mode));
    CHECK(mode == ACL_HOST);
    CODE(100000, aclrtGetRunMode(NULL));
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == 100000);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 100000);
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, "aclrtGetRunMode") != NULL);
    aclrtErrorInfo error;
    memset(&error, 0xff, sizeof error);
    OK(aclrtGetErrorVerbose(0, &error));
    CHECK(error.errorType == ACL_RT_NO_ERROR && error.tryRepair == 0 && error.hasDetail == 0);
    /* What was asked for once is gone. */
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == 0);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 0);
    CHECK(aclGetRecentErrMsg() == NULL);
    finish();
}

static void system_info(void) {
    OK(aclInit(NULL));
    char package[] = "runtime", version[ACL_PKG_VERSION_MAX_SIZE] = {0};
    int32_t number = 0;
    OK(aclsysGetVersionStr(package, version));
    OK(aclsysGetVersionNum(package, &number));
    CHECK(strcmp(version, "9.1.0") == 0 && number == 90100000);
    aclrtRunMode mode = ACL_DEVICE;
    OK(aclrtGetRunMode(&mode));
    CHECK(mode == ACL_HOST);
    aclFloat16 half = aclFloatToFloat16(1.625f);
    CHECK(half == 0x3e80 && aclFloat16ToFloat(half) == 1.625f);
    CHECK(aclDataTypeSize(ACL_FLOAT) == 4 && aclDataTypeSize(ACL_FLOAT16) == 2 && aclDataTypeSize(ACL_INT64) == 8);
    OK(aclFinalize());
}

int main(void) {
    error_handling();
    system_info();
    return 0;
}
