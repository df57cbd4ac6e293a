#include "check.h"

int main(void) {
    start();
    Latch latch;
    latch_init(&latch);
    aclrtStream a = NULL, b = NULL;
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    aclrtEvent legacy = NULL, later = NULL, flagged = NULL, ex = NULL, polled = NULL;
    OK(aclrtCreateEvent(&legacy));
    OK(aclrtCreateEvent(&later));
    OK(aclrtCreateEventWithFlag(&flagged, ACL_EVENT_CAPTURE_STREAM_PROGRESS));
    OK(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&polled, ACL_EVENT_CAPTURE_STREAM_PROGRESS));
    CODE(207000, aclrtCreateEventExWithFlag(&polled, ACL_EVENT_IPC));

    /* Before any record. */
    aclrtEventRecordedStatus recorded;
    aclrtEventStatus old;
    aclrtEventWaitStatus waits;
    OK(aclrtQueryEventStatus(legacy, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY && recorded == 0);
    OK(aclrtQueryEventStatus(ex, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE && recorded == 1);
    OK(aclrtQueryEvent(legacy, &old));
    CHECK(old == ACL_EVENT_STATUS_NOT_READY && old == 1);
    CODE(107000, aclrtStreamWaitEvent(b, legacy));
    OK(aclrtStreamWaitEvent(b, ex));
    CODE(107000, aclrtQueryEvent(ex, &old));
    CODE(107000, aclrtQueryEventWaitStatus(ex, &waits));
    CODE(107000, aclrtResetEvent(ex, a));
    OK(aclrtRecordEvent(flagged, a));
    OK(aclrtRecordEvent(polled, a));
    CODE(107000, aclrtStreamWaitEvent(b, flagged));
    CODE(107000, aclrtStreamWaitEvent(b, polled));

    /* Pending, waited for, complete. */
    OK(aclrtLaunchHostFunc(a, latch_wait, &latch));
    OK(aclrtRecordEvent(legacy, a));
    OK(aclrtStreamWaitEvent(b, legacy));
    OK(aclrtQueryEventStatus(legacy, &recorded));
    CHECK(recorded == 0);
    OK(aclrtQueryEventWaitStatus(legacy, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_NOT_READY && waits == 1);
    CODE(507047, aclrtSynchronizeEventWithTimeout(legacy, 1));
    float ms = -1;
    CODE(507006, aclrtEventElapsedTime(&ms, legacy, legacy));
    aclrtStreamStatus status;
    OK(aclrtStreamQuery(b, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    latch_open(&latch);
    OK(aclrtSynchronizeEvent(legacy));
    OK(aclrtQueryEventStatus(legacy, &recorded));
    CHECK(recorded == 1);
    OK(aclrtQueryEvent(legacy, &old));
    CHECK(old == ACL_EVENT_STATUS_COMPLETE && old == 0);
    OK(aclrtSynchronizeStream(b));
    OK(aclrtQueryEventWaitStatus(legacy, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_COMPLETE && waits == 0);

    OK(aclrtRecordEvent(later, b));
    OK(aclrtSynchronizeEvent(later));
    OK(aclrtEventElapsedTime(&ms, legacy, later));
    CHECK(ms >= 0);
    OK(aclrtEventElapsedTime(&ms, later, legacy));
    CHECK(ms <= 0);
    uint64_t first = 0, second = 0;
    OK(aclrtEventGetTimestamp(legacy, &first));
    OK(aclrtEventGetTimestamp(later, &second));
    CHECK(first <= second);

    OK(aclrtResetEvent(legacy, b));
    OK(aclrtSynchronizeStream(b));
    OK(aclrtQueryEventStatus(legacy, &recorded));
    CHECK(recorded == 0);
    CODE(107000, aclrtStreamWaitEventWithTimeout(b, later, -1));

    uint32_t before = 0, after = 0;
    OK(aclrtGetEventAvailNum(&before));
    OK(aclrtDestroyEvent(legacy));
    OK(aclrtGetEventAvailNum(&after));
    CHECK(after == before + 1);
    CODE(107017, aclrtRecordEvent(legacy, a));
    CODE(100000, aclrtDestroyEvent(NULL));
    OK(aclrtDestroyEvent(later));
    OK(aclrtDestroyEvent(flagged));
    OK(aclrtDestroyEvent(ex));
    OK(aclrtDestroyEvent(polled));
    finish();
    return 0;
}
