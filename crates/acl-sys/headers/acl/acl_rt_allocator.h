/*
 * Registration of a user's allocator for a stream. Dynamic-shape models and single operators take their device memory
 * from it. An allocator hands out opaque blocks; a block is turned into an address by a function of its own.
 */
#ifndef ASCEND_MEMPOOL_ACL_RT_ALLOCATOR_H
#define ASCEND_MEMPOOL_ACL_RT_ALLOCATOR_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Gives out a block of at least `size` bytes, or null. */
typedef void *(*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
/** Takes a block back. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);
/** Gives out a block, if possible at `address`. */
typedef void *(*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size, aclrtAllocatorAddr address);
/** Device address of a block. */
typedef void *(*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

/** Makes an empty description. Its functions are not set to null: set all four. */
aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);
/** Destroys a description; the runtime has its own copy of a registered one. */
aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc description);
/** Sets the object that the functions are called with. */
aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc description, aclrtAllocator allocator);
/** Sets the function that gives out blocks. */
aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc description, aclrtAllocatorAllocFunc function);
/** Sets the function that takes blocks back. */
aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc description, aclrtAllocatorFreeFunc function);
/** Sets the function that gives out blocks near an address. */
aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc description, aclrtAllocatorAllocAdviseFunc function);
/** Sets the function that answers the address of a block. */
aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc description, aclrtAllocatorGetAddrFromBlockFunc function);
/** Registers an allocator for a stream; replaces an earlier one. */
aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc description);
/** Takes the allocator of a stream away; none is no error. */
aclError aclrtAllocatorUnregister(aclrtStream stream);
/** Answers the allocator of a stream. */
aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *description, aclrtAllocator *allocator, aclrtAllocatorAllocFunc *alloc_function, aclrtAllocatorFreeFunc *free_function, aclrtAllocatorAllocAdviseFunc *advise_function, aclrtAllocatorGetAddrFromBlockFunc *address_function);

#ifdef __cplusplus
}
#endif

#endif
