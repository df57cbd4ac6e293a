/* Checks for the programs of this folder: the first that fails ends the program with its place and the error's text. */
#ifndef ACL_SIM_CHECK_H
#define ACL_SIM_CHECK_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            const char *text = aclGetRecentErrMsg();                                      \
            printf("%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, text ? text : "-"); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

#define CODE(expected, call)                                                                                  \
    do {                                                                                                      \
        int code_ = (call);                                                                                   \
        if (code_ != (expected)) {                                                                            \
            const char *text = aclGetRecentErrMsg();                                                          \
            printf("%s:%d: %s is %d, not %d; %s\n", __FILE__, __LINE__, #call, code_, (int)(expected),             \
                   text ? text : "-");                                                                        \
            exit(1);                                                                                          \
        }                                                                                                     \
    } while (0)

#define OK(call) CODE(0, call)

static inline void start(void) {
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

static inline void finish(void) {
    OK(aclrtResetDeviceForce(0));
    OK(aclFinalize());
}

/* A mutex that a host function can wait on, so that work is pending for as long as a test wants. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;
} Latch;

static inline void latch_init(Latch *latch) {
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->changed, NULL);
    latch->open = 0;
}

static inline void latch_open(Latch *latch) {
    pthread_mutex_lock(&latch->lock);
    latch->open = 1;
    pthread_cond_broadcast(&latch->changed);
    pthread_mutex_unlock(&latch->lock);
}

static inline void latch_wait(void *data) {
    Latch *latch = data;
    pthread_mutex_lock(&latch->lock);
    while (!latch->open) {
        pthread_cond_wait(&latch->changed, &latch->lock);
    }
    pthread_mutex_unlock(&latch->lock);
}

#endif
