#include "check.h"

typedef struct {
    aclrtStream stream;
    pthread_t ran_on;
    int value;
    int stop;
} Shared;

static void add(void *data) {
    Shared *shared = data;
    shared->value += 520;
    shared->ran_on = pthread_self();
}

static void stop(void *data) {
    ((Shared *)data)->stop = 1;
}

static void *report_loop(void *data) {
    Shared *shared = data;
    /* The first report may be late to come: the subscription is the caller's. */
    while (!shared->stop) {
        int code = aclrtProcessReport(-1);
        CHECK(code == 0 || code == 107012);
    }
    return NULL;
}

static void *host_func_loop(void *data) {
    Shared *shared = data;
    while (!shared->stop) {
        int code = aclrtProcessHostFunc(-1);
        CHECK(code == 0 || code == 107012);
    }
    return NULL;
}

int main(void) {
    start();
    Shared shared = {0};
    OK(aclrtCreateStream(&shared.stream));
    CODE(107015, aclrtLaunchCallback(add, &shared, ACL_CALLBACK_BLOCK, shared.stream));
    CODE(107012, aclrtProcessReport(10));
    CODE(100000, aclrtProcessReport(0));
    CODE(100000, aclrtProcessReport(-2));

    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, report_loop, &shared) == 0);
    OK(aclrtSubscribeReport((uint64_t)thread, shared.stream));
    CODE(107011, aclrtSubscribeReport((uint64_t)thread, shared.stream));
    OK(aclrtLaunchCallback(add, &shared, ACL_CALLBACK_BLOCK, shared.stream));
    OK(aclrtSynchronizeStream(shared.stream));
    CHECK(shared.value == 520 && pthread_equal(shared.ran_on, thread));
    OK(aclrtLaunchCallback(stop, &shared, ACL_CALLBACK_BLOCK, shared.stream));
    OK(aclrtSynchronizeStream(shared.stream));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtUnSubscribeReport((uint64_t)thread, shared.stream));
    CODE(107011, aclrtUnSubscribeReport((uint64_t)thread, shared.stream));

    /* This thread, subscribed, with nothing to do. */
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), shared.stream));
    CODE(507012, aclrtProcessReport(5));
    OK(aclrtUnSubscribeReport((uint64_t)pthread_self(), shared.stream));

    /* A host function runs on a thread of the runtime's, later work after it. */
    OK(aclrtLaunchHostFunc(shared.stream, add, &shared));
    OK(aclrtSynchronizeStream(shared.stream));
    CHECK(shared.value == 1040 && !pthread_equal(shared.ran_on, pthread_self()));
    OK(aclrtLaunchHostFunc(NULL, add, &shared));
    OK(aclrtSynchronizeStream(NULL));
    CHECK(shared.value == 1560);
    CODE(100000, aclrtLaunchHostFunc(shared.stream, NULL, &shared));

    /* Or on one that the program lends. */
    shared.stop = 0;
    CHECK(pthread_create(&thread, NULL, host_func_loop, &shared) == 0);
    OK(aclrtSubscribeHostFunc((uint64_t)thread, shared.stream));
    OK(aclrtLaunchHostFunc(shared.stream, add, &shared));
    OK(aclrtSynchronizeStream(shared.stream));
    CHECK(shared.value == 2080 && pthread_equal(shared.ran_on, thread));
    OK(aclrtLaunchHostFunc(shared.stream, stop, &shared));
    OK(aclrtSynchronizeStream(shared.stream));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtUnSubscribeHostFunc((uint64_t)thread, shared.stream));
    OK(aclrtDestroyStream(shared.stream));
    finish();
    return 0;
}
