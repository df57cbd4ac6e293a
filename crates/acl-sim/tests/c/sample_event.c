/* The calls of CANN's samples 0_event_status and 1_event_timestamp, in their order. */
#include "kernels.h"

typedef struct {
    aclrtContext context;
    aclrtStream stream;
    uint32_t *value;
} Setting;

static Setting begin(void) {
    Setting setting = {0};
    start();
    OK(aclrtCreateContext(&setting.context, 0));
    OK(aclrtCreateStream(&setting.stream));
    OK(aclrtSetStreamFailureMode(setting.stream, ACL_STOP_ON_FAILURE));
    return setting;
}

static void new_value(Setting *setting, uint32_t number) {
    void *p = NULL;
    OK(aclrtMalloc(&p, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(p, 4, &number, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    setting->value = p;
}

static uint32_t answer(const Setting *setting) {
    uint32_t number = 0;
    OK(aclrtMemcpy(&number, 4, setting->value, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return number;
}

static void end(const Setting *setting) {
    OK(aclrtDestroyStreamForce(setting->stream));
    OK(aclrtDestroyContext(setting->context));
    finish();
}

static void status(void) {
    Setting setting = begin();
    LongKernel kernel;
    aclrtEvent event = NULL;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtCreateEvent(&event));
    OK(aclrtQueryEventStatus(event, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    new_value(&setting, 0);
    kernel_long_add_one(&kernel, setting.stream, setting.value);
    OK(aclrtRecordEvent(event, setting.stream));
    OK(aclrtQueryEventStatus(event, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    latch_open(&kernel.latch);
    OK(aclrtSynchronizeEvent(event));
    OK(aclrtQueryEventStatus(event, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK(answer(&setting) == 1);
    OK(aclrtFree(setting.value));
    OK(aclrtDestroyEvent(event));
    end(&setting);
}

static void check_times(aclrtEvent start_event, aclrtEvent end_event) {
    uint64_t first = 0, second = 0;
    float elapsed_ms = -1;
    OK(aclrtEventGetTimestamp(start_event, &first));
    OK(aclrtEventGetTimestamp(end_event, &second));
    OK(aclrtEventElapsedTime(&elapsed_ms, start_event, end_event));
    CHECK(second >= first && elapsed_ms >= 0);
    /* The two answers are of the same clock: a microsecond of rounding apart. */
    CHECK(elapsed_ms * 1000 >= (float)(second - first) - 2 && elapsed_ms * 1000 <= (float)(second - first) + 2);
}

static void timestamps(void) {
    Setting setting = begin();
    LongKernel kernel;
    aclrtEvent start_event = NULL, end_event = NULL;
    OK(aclrtCreateEvent(&start_event));
    OK(aclrtCreateEvent(&end_event));
    new_value(&setting, 0);
    OK(aclrtRecordEvent(start_event, setting.stream));
    kernel_double(setting.stream, setting.value);
    OK(aclrtRecordEvent(end_event, setting.stream));
    OK(aclrtSynchronizeStream(setting.stream));
    CHECK(answer(&setting) == 0);
    check_times(start_event, end_event);
    OK(aclrtFree(setting.value));

    new_value(&setting, 0);
    OK(aclrtRecordEvent(start_event, setting.stream));
    kernel_long_add_one(&kernel, setting.stream, setting.value);
    OK(aclrtRecordEvent(end_event, setting.stream));
    latch_open(&kernel.latch);
    OK(aclrtSynchronizeStream(setting.stream));
    CHECK(answer(&setting) == 1);
    check_times(start_event, end_event);
    OK(aclrtFree(setting.value));
    OK(aclrtDestroyEvent(start_event));
    OK(aclrtDestroyEvent(end_event));
    end(&setting);
}

int main(void) {
    status();
    timestamps();
    return 0;
}
