/*
 * An ACL as old as can be: what is required, and a few functions of the oldest sort. No count of users, no events that are
 * recorded again, no pool, no virtual memory, no models. Ends the process if something is left when ACL ends.
 */
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

static int live;
static int things[8];

static aclError made(void **out, int kind) {
    live += 1;
    *out = &things[kind];
    return ACL_SUCCESS;
}

static aclError gone(void) {
    live -= 1;
    return ACL_SUCCESS;
}

aclError aclInit(const char *config) { return config == NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }

aclError aclFinalize(void) {
    if (live != 0) {
        abort();
    }
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
    *count = 1;
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device) {
    live += 1;
    return device == 0 ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_DEVICEID;
}

aclError aclrtResetDevice(int32_t device) {
    (void)device;
    return gone();
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
    *context = &things[0];
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) { return context == NULL ? ACL_ERROR_RT_CONTEXT_NULL : ACL_SUCCESS; }

aclError aclrtCreateContext(aclrtContext *context, int32_t device) {
    (void)device;
    return made(context, 1);
}

aclError aclrtDestroyContext(aclrtContext context) { return context == &things[1] ? gone() : ACL_ERROR_INVALID_PARAM; }

aclError aclrtCreateStream(aclrtStream *stream) { return made(stream, 2); }

aclError aclrtDestroyStream(aclrtStream stream) { return stream == &things[2] ? gone() : ACL_ERROR_INVALID_PARAM; }

aclError aclrtSynchronizeStream(aclrtStream stream) { return stream == &things[2] ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
    (void)flag;
    return made(event, 3);
}

aclError aclrtDestroyEvent(aclrtEvent event) { return event == &things[3] ? gone() : ACL_ERROR_INVALID_PARAM; }

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return event == &things[3] && stream == &things[2] ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return event == &things[3] ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy) {
    (void)policy;
    *address = malloc(size);
    live += 1;
    return *address == NULL ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_SUCCESS;
}

aclError aclrtFree(void *address) {
    free(address);
    return gone();
}

aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind) {
    (void)kind;
    if (count > room) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    memcpy(to, from, count);
    return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t *free_bytes, size_t *total_bytes) {
    (void)attribute;
    *free_bytes = 1;
    *total_bytes = 2;
    return ACL_SUCCESS;
}
