#include "check.h"

static const char TEXT[] =
    "ascend-sim-model\n"
    "work 4MiB\n"
    "weight 2MiB\n"
    "time 1ms\n"
    "input data uint8 1x16\n"
    "output low uint8 8\n"
    "output high float 2x3\n";

static aclmdlDataset *dataset_of(void *first, size_t first_size, void *second, size_t second_size) {
    aclmdlDataset *dataset = aclmdlCreateDataset();
    CHECK(dataset != NULL);
    OK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(first, first_size)));
    if (second_size != SIZE_MAX) {
        OK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(second, second_size)));
    }
    return dataset;
}

int main(void) {
    start();
    size_t free_before = 0, free_after = 0, total = 0, work_size = 0, weight_size = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    OK(aclmdlQuerySizeFromMem(TEXT, sizeof TEXT - 1, &work_size, &weight_size));
    CHECK(work_size == 4 << 20 && weight_size == 2 << 20);
    uint32_t id = 0;
    CODE(100013, aclmdlLoadFromMem("nothing", 7, &id));
    void *work = NULL, *weight = NULL, *in = NULL, *out = NULL;
    OK(aclrtMalloc(&work, work_size, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&weight, weight_size, ACL_MEM_MALLOC_HUGE_FIRST));
    CODE(100000, aclmdlLoadFromMemWithMem(TEXT, sizeof TEXT - 1, &id, work, work_size - 1, weight, weight_size));
    OK(aclmdlLoadFromMemWithMem(TEXT, sizeof TEXT - 1, &id, work, work_size, weight, weight_size));

    aclmdlDesc *desc = aclmdlCreateDesc();
    OK(aclmdlGetDesc(desc, id));
    CHECK(aclmdlGetNumInputs(desc) == 1 && aclmdlGetNumOutputs(desc) == 2);
    CHECK(aclmdlGetInputSizeByIndex(desc, 0) == 16 && aclmdlGetOutputSizeByIndex(desc, 1) == 24);
    CHECK(strcmp(aclmdlGetOutputNameByIndex(desc, 1), "high") == 0);
    CHECK(aclmdlGetOutputDataType(desc, 1) == ACL_FLOAT && aclDataTypeSize(ACL_FLOAT) == 4);
    aclmdlIODims dims;
    OK(aclmdlGetOutputDims(desc, 1, &dims));
    CHECK(dims.dimCount == 2 && dims.dims[0] == 2 && dims.dims[1] == 3 && strcmp(dims.name, "high") == 0);
    size_t index = 9;
    OK(aclmdlGetOutputIndexByName(desc, "high", &index));
    CHECK(index == 1);
    OK(aclmdlDestroyDesc(desc));

    OK(aclrtMalloc(&in, 16, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&out, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(in, 16, 3, 16));
    aclmdlDataset *input = dataset_of(in, 16, NULL, SIZE_MAX);
    /* The runtime allocates an output without memory; the program frees it. */
    aclmdlDataset *output = dataset_of(out, 8, NULL, 0);
    CODE(100017, aclmdlExecute(id, output, output));
    CHECK(aclGetDataBufferAddr(aclmdlGetDatasetBuffer(output, 1)) == NULL);
    CODE(100018, aclmdlExecute(id, input, input));
    OK(aclmdlExecute(id, input, output));
    aclDataBuffer *high = aclmdlGetDatasetBuffer(output, 1);
    CHECK(aclGetDataBufferSizeV2(high) == 24 && aclGetDataBufferAddr(high) != NULL);
    unsigned char low_bytes[8], high_bytes[24];
    OK(aclrtMemcpy(low_bytes, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(high_bytes, 24, aclGetDataBufferAddr(high), 24, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(low_bytes[7] == 48 && high_bytes[23] == 49);

    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemsetAsync(in, 16, 1, 16, stream));
    OK(aclmdlExecuteAsync(id, input, output, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(low_bytes, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(low_bytes[0] == 16);

    /* Two models of a run each may share their work memory. */
    uint32_t other = 0;
    OK(aclmdlLoadFromMemWithMem(TEXT, sizeof TEXT - 1, &other, work, work_size, NULL, 0));
    CHECK(other != id);
    OK(aclmdlExecute(other, input, output));
    OK(aclmdlUnload(other));
    OK(aclmdlUnload(id));
    CODE(100011, aclmdlUnload(id));

    OK(aclrtFree(aclGetDataBufferAddr(high)));
    for (size_t i = 0; i < 2; i++) {
        OK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(output, i)));
    }
    OK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(input, 0)));
    OK(aclmdlDestroyDataset(input));
    OK(aclmdlDestroyDataset(output));
    CODE(100000, aclmdlDestroyDataset(output));
    OK(aclrtFree(work));
    OK(aclrtFree(weight));
    OK(aclrtFree(in));
    OK(aclrtFree(out));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    CHECK(free_before == free_after);
    OK(aclrtDestroyStream(stream));
    finish();
    return 0;
}
