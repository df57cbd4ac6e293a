/* The calls of CANN's sample 0_custom_allocator, in their order. */
#include "check.h"

typedef struct {
    void *address;
    size_t size;
} Block;

typedef struct {
    int taken;
    int given;
    int advised;
    size_t last_size;
} State;

static void *take(aclrtAllocator object, size_t size) {
    State *state = object;
    Block *block = malloc(sizeof *block);
    CHECK(block != NULL);
    block->address = malloc(size);
    block->size = size;
    state->taken++;
    state->last_size = size;
    return block;
}

static void *take_near(aclrtAllocator object, size_t size, aclrtAllocatorAddr address) {
    CHECK(address == NULL);
    ((State *)object)->advised++;
    return take(object, size);
}

static void give(aclrtAllocator object, aclrtAllocatorBlock block) {
    free(((Block *)block)->address);
    free(block);
    ((State *)object)->given++;
}

static void *address_of(aclrtAllocatorBlock block) {
    return ((Block *)block)->address;
}

int main(void) {
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    State state = {0};
    start();
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtCreateStream(&stream));
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    CHECK(desc != NULL);
    OK(aclrtAllocatorSetObjToDesc(desc, &state));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, take));
    OK(aclrtAllocatorSetFreeFuncToDesc(desc, give));
    OK(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, take_near));
    OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of));
    OK(aclrtAllocatorRegister(stream, desc));
    aclrtAllocatorDesc found = NULL;
    aclrtAllocator object = NULL;
    aclrtAllocatorAllocFunc alloc = NULL;
    aclrtAllocatorFreeFunc release = NULL;
    aclrtAllocatorAllocAdviseFunc advise = NULL;
    aclrtAllocatorGetAddrFromBlockFunc get = NULL;
    OK(aclrtAllocatorGetByStream(stream, &found, &object, &alloc, &release, &advise, &get));
    CHECK(object == &state && alloc == take && release == give && advise == take_near && get == address_of);
    aclrtAllocatorBlock block = alloc(object, 256);
    CHECK(state.last_size == 256);
    memset(get(block), 0xab, 256);
    aclrtAllocatorBlock advised = advise(object, 128, NULL);
    CHECK(state.last_size == 128);
    release(object, advised);
    release(object, block);
    CHECK(found == desc && state.taken == 2 && state.given == 2 && state.advised == 1);
    OK(aclrtAllocatorUnregister(stream));
    OK(aclrtAllocatorDestroyDesc(desc));
    OK(aclrtDestroyStream(stream));
    OK(aclrtDestroyContext(context));
    finish();
    return 0;
}
