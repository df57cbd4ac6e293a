/*
 * CANN's own stream-ordered pool. Since CANN 9.0 (allocation and release since 9.1), on Atlas A2 only; experimental.
 * No other header includes this one.
 */
#ifndef ASCEND_MEMPOOL_ACL_RT_MEMORY_SOMA_H
#define ASCEND_MEMPOOL_ACL_RT_MEMORY_SOMA_H

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pool. */
typedef void *aclrtMemPool;

/** Attributes of a pool. The first three are uint32_t, the others uint64_t in bytes. */
typedef enum aclrtMemPoolAttr {
    ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
    ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8
} aclrtMemPoolAttr;

/** What a new pool shall be; `maxSize` is in bytes, 0 for the whole card, `reserved` is all zero. */
typedef struct aclrtMemPoolProps {
    aclrtMemAllocationType allocType;
    aclrtMemHandleType handleType;
    aclrtMemLocation location;
    size_t maxSize;
    unsigned char reserved[32];
} aclrtMemPoolProps;

/** Creates a pool. Since CANN 9.0. */
aclError aclrtMemPoolCreate(aclrtMemPool *pool, const aclrtMemPoolProps *properties);
/** Destroys a pool. Since CANN 9.0. */
aclError aclrtMemPoolDestroy(const aclrtMemPool pool);
/** Sets one attribute. Since CANN 9.0. */
aclError aclrtMemPoolSetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute, void *value);
/** Answers one attribute. Since CANN 9.0. */
aclError aclrtMemPoolGetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute, void *value);
/** Allocates in the order of a stream. Size 0 succeeds and leaves the pointer as it was. Since CANN 9.1. */
aclError aclrtMemPoolMallocAsync(void **address, size_t size, aclrtMemPool pool, aclrtStream stream);
/** Frees in the order of a stream. Since CANN 9.1. */
aclError aclrtMemPoolFreeAsync(void *address, aclrtStream stream);
/** Gives memory back to the device until so many bytes are left. Since CANN 9.1. */
aclError aclrtMemPoolTrimTo(aclrtMemPool pool, size_t bytes_to_keep);

#ifdef __cplusplus
}
#endif

#endif
