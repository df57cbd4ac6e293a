#include "check.h"

static int calls;

static void *take(aclrtAllocator object, size_t size) {
    (void)object;
    calls++;
    return malloc(size);
}

static void give(aclrtAllocator object, aclrtAllocatorBlock block) {
    (void)object;
    calls++;
    free(block);
}

static void *address_of(aclrtAllocatorBlock block) {
    return block;
}

int main(void) {
    start();
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    CHECK(desc != NULL);
    CODE(100000, aclrtAllocatorRegister(stream, desc));
    int object = 0;
    OK(aclrtAllocatorSetObjToDesc(desc, &object));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, take));
    OK(aclrtAllocatorSetFreeFuncToDesc(desc, give));
    OK(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, NULL));
    OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of));
    CODE(100000, aclrtAllocatorRegister(NULL, desc));
    OK(aclrtAllocatorRegister(stream, desc));
    aclrtAllocatorDesc found = NULL;
    aclrtAllocator found_object = NULL;
    aclrtAllocatorAllocFunc alloc = NULL;
    aclrtAllocatorFreeFunc release = NULL;
    aclrtAllocatorAllocAdviseFunc advise = NULL;
    aclrtAllocatorGetAddrFromBlockFunc get = NULL;
    OK(aclrtAllocatorGetByStream(stream, &found, &found_object, &alloc, &release, &advise, &get));
    CHECK(found == desc && found_object == &object && alloc == take && release == give && advise == NULL);
    release(found_object, alloc(found_object, 16));
    CHECK(calls == 2);
    OK(aclrtAllocatorUnregister(stream));
    OK(aclrtAllocatorUnregister(stream));
    CODE(100000, aclrtAllocatorGetByStream(stream, &found, &found_object, &alloc, &release, &advise, &get));
    OK(aclrtAllocatorDestroyDesc(desc));
    OK(aclrtDestroyStream(stream));
    finish();
    return 0;
}
