/* Settings that are checked, kept and answered; and what answers that it is not there. */
#include "check.h"

/* Declared with further parameters, which the bindings leave out. */
void aclAppLog(int level, const char *function, const char *file, uint32_t line, const char *format, ...);

static void system_options(void) {
    int64_t value = -1;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 0);
    CODE(107021, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3));
    CODE(107000, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4));
    CODE(107000, aclrtSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, 2));
    CODE(107000, aclrtSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, -1));
    CODE(100000, aclrtSetSysParamOpt((aclSysParamOpt)4, 0));
    CODE(100000, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 3);
    /* What a context sets, the process has too; another context has not. */
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 1);
    CODE(100000, aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1));
    aclrtContext before = NULL, context = NULL;
    OK(aclrtGetCurrentContext(&before));
    OK(aclrtCreateContext(&context, 0));
    CODE(107021, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    OK(aclrtDestroyContext(context));
    OK(aclrtSetCurrentContext(before));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 1);
}

static void kernels_that_do_not_run(void) {
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    OK(aclrtGetDeviceSatMode(&mode));
    CHECK(mode == ACL_RT_OVERFLOW_MODE_SATURATION);
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    CODE(107000, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
    OK(aclrtGetDeviceSatMode(&mode));
    CHECK(mode == ACL_RT_OVERFLOW_MODE_INFNAN);

    aclrtStream stream = NULL;
    uint32_t flag = 9;
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    CHECK(flag == 0);
    OK(aclrtSetStreamOverflowSwitch(stream, 1));
    CODE(107000, aclrtSetStreamOverflowSwitch(stream, 2));
    aclrtStreamAttrValue attribute = {0};
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &attribute));
    CHECK(attribute.overflowSwitch == 1);
    attribute.failureMode = ACL_STOP_ON_FAILURE;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
    memset(&attribute, 0, sizeof attribute);
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
    CHECK(attribute.failureMode == ACL_STOP_ON_FAILURE);
    attribute.streamPriority = 8;
    CODE(107000, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &attribute));
    CODE(107000, aclrtGetStreamAttribute(stream, (aclrtStreamAttr)9, &attribute));
    OK(aclrtDestroyStream(stream));

    uint64_t step = 0, actual = 0;
    OK(aclrtGetOpTimeOutInterval(&step));
    OK(aclrtSetOpExecuteTimeOutV2(step + 1, &actual));
    CHECK(actual == 2 * step);
    OK(aclrtSetOpExecuteTimeOutV2(0, &actual));
    CHECK(actual == UINT64_MAX);
    CODE(100000, aclrtSetOpExecuteTimeOutV2(1, NULL));
    OK(aclrtSetOpExecuteTimeOut(10));
    OK(aclrtSetOpExecuteTimeOutWithMs(10));
    OK(aclrtSetOpWaitTimeout(10));

    uint32_t cores = 0;
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 12));
    CODE(107000, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 25));
    CODE(107000, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 0));
    CODE(107000, aclrtSetDeviceResLimit(0, (aclrtDevResLimitType)2, 1));
    CODE(107001, aclrtSetDeviceResLimit(1, ACL_RT_DEV_RES_CUBE_CORE, 1));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    CHECK(cores == 12);
    OK(aclrtResetDeviceResLimit(0));
    OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    CHECK(cores == 24);
}

static void devices(void) {
    int64_t value = 0;
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value));
    CHECK(value == 48);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &value));
    CHECK(value == 24);
    CODE(100000, aclGetDeviceCapability(1, ACL_DEVICE_INFO_L2_SIZE, &value));
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    OK(aclrtQueryDeviceStatus(0, &status));
    CHECK(status == ACL_RT_DEVICE_STATUS_NORMAL);
    aclrtUuid uuid;
    OK(aclrtDeviceGetUuid(0, &uuid));
    CHECK(strcmp(uuid.bytes, "acl-sim 0") == 0);
    Latch latch;
    latch_init(&latch);
    aclrtUtilizationInfo busy = {0};
    OK(aclrtGetDeviceUtilizationRate(0, &busy));
    CHECK(busy.cubeUtilization == 0 && busy.memoryUtilization == -1);
    OK(aclrtLaunchHostFunc(NULL, latch_wait, &latch));
    OK(aclrtGetDeviceUtilizationRate(0, &busy));
    CHECK(busy.cubeUtilization == 100 && busy.vectorUtilization == 100);
    latch_open(&latch);
    OK(aclrtSynchronizeDevice());
    busy.utilizationExtend = (aclrtUtilizationExtendInfo *)&latch;
    CODE(100000, aclrtGetDeviceUtilizationRate(0, &busy));
    aclCANNPackageVersion version;
    OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    CHECK(strcmp(version.version, "9.1.0") == 0 && strcmp(version.minorVersion, "1") == 0);
}

static void tensors(void) {
    int64_t dims[] = {2, 3, 4}, size = 0;
    aclTensorDesc *tensor = aclCreateTensorDesc(ACL_FLOAT16, 3, dims, ACL_FORMAT_ND);
    CHECK(tensor != NULL && aclGetTensorDescNumDims(tensor) == 3);
    CHECK(aclGetTensorDescType(tensor) == ACL_FLOAT16 && aclGetTensorDescFormat(tensor) == ACL_FORMAT_ND);
    OK(aclGetTensorDescDimV2(tensor, 2, &size));
    CHECK(size == 4);
    CODE(100000, aclGetTensorDescDimV2(tensor, 3, &size));
    aclSetTensorDescName(tensor, "x");
    OK(aclSetTensorFormat(tensor, ACL_FORMAT_FRACTAL_NZ));
    OK(aclSetTensorShape(tensor, 3, dims));
    CODE(100000, aclSetTensorShape(tensor, -1, dims));
    OK(aclSetTensorPlaceMent(tensor, ACL_MEMTYPE_HOST));
    CODE(100000, aclSetTensorPlaceMent(tensor, (aclMemType)3));
    /* The layout in which it is stored is another thing than its layout. */
    CHECK(aclGetTensorDescFormat(tensor) == ACL_FORMAT_ND);
    aclDestroyTensorDesc(tensor);
    CHECK(aclGetTensorDescType(tensor) == ACL_DT_UNDEFINED);
    CHECK(aclCreateTensorDesc(ACL_FLOAT, 1, NULL, ACL_FORMAT_ND) == NULL);
}

static void absent(void) {
    aclrtBinHandle binary = NULL;
    CODE(207000, aclrtBinaryLoadFromData("x", 1, NULL, &binary));
    CHECK(strstr(aclGetRecentErrMsg(), "kernels are not simulated") != NULL);
    CODE(207000, aclmdlInitDump());
    uint64_t shared = 0;
    CODE(207000, aclrtMemExportToShareableHandle(NULL, ACL_MEM_HANDLE_TYPE_NONE, 0, &shared));
    aclAppLog(3, "absent", "options.c", 1, "%s %d", "text", 7);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 207000);
}

int main(void) {
    start();
    system_options();
    kernels_that_do_not_run();
    devices();
    tensors();
    absent();
    finish();
    return 0;
}
