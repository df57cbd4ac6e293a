/* What stands for kernels: functions of the host. The short ones run at once, behind what their stream has, since programs
   free the memory right after; the long one runs on its stream, for as long as a latch is closed. */
#ifndef ACL_SIM_KERNELS_H
#define ACL_SIM_KERNELS_H

#include "check.h"

static inline void kernel_add_one(aclrtStream stream, uint32_t *value) {
    OK(aclrtSynchronizeStream(stream));
    *value += 1;
}

static inline void kernel_double(aclrtStream stream, uint32_t *value) {
    OK(aclrtSynchronizeStream(stream));
    *value *= 2;
}

static inline void kernel_write(aclrtStream stream, int *value, int number) {
    OK(aclrtSynchronizeStream(stream));
    *value = number;
}

static inline int kernel_read(aclrtStream stream, const int *value) {
    OK(aclrtSynchronizeStream(stream));
    return *value;
}

typedef struct {
    Latch latch;
    aclrtContext context;
    uint32_t *value;
} LongKernel;

static inline void long_kernel_run(void *data) {
    LongKernel *kernel = data;
    latch_wait(&kernel->latch);
    /* Memory and context may be gone by then, which ACL tells. */
    uint32_t value = 0;
    if (aclrtSetCurrentContext(kernel->context) == 0 &&
        aclrtMemcpy(&value, 4, kernel->value, 4, ACL_MEMCPY_DEVICE_TO_HOST) == 0) {
        value += 1;
        OK(aclrtMemcpy(kernel->value, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

/* Adds one to the value when the latch of `kernel` opens. */
static inline void kernel_long_add_one(LongKernel *kernel, aclrtStream stream, uint32_t *value) {
    latch_init(&kernel->latch);
    kernel->value = value;
    OK(aclrtGetCurrentContext(&kernel->context));
    OK(aclrtLaunchHostFunc(stream, long_kernel_run, kernel));
}

#endif
