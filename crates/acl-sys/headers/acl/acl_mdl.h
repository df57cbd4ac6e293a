/*
 * Models: how much memory one needs, loading it into memory of ours, running it, and the datasets it reads and writes.
 */
#ifndef ASCEND_MEMPOOL_ACL_MDL_H
#define ASCEND_MEMPOOL_ACL_MDL_H

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of the arrays below. */
#define ACL_DIM_ENDPOINTS 2
#define ACL_MAX_DIM_CNT 128
#define ACL_MAX_TENSOR_NAME_LEN 128
#define ACL_MAX_BATCH_NUM 128
#define ACL_MAX_HW_NUM 128

/* Values of ACL_MDL_LOAD_TYPE_SIZET. */
#define ACL_MDL_LOAD_FROM_FILE 1
#define ACL_MDL_LOAD_FROM_FILE_WITH_MEM 2
#define ACL_MDL_LOAD_FROM_MEM 3
#define ACL_MDL_LOAD_FROM_MEM_WITH_MEM 4
#define ACL_MDL_LOAD_FROM_FILE_WITH_Q 5
#define ACL_MDL_LOAD_FROM_MEM_WITH_Q 6

/* Values of ACL_MDL_WORKSPACE_MEM_OPTIMIZE. */
#define ACL_WORKSPACE_MEM_OPTIMIZE_DEFAULT 0
#define ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT 1

/* Name of the input that carries the chosen gear of a model with several shapes. */
#define ACL_DYNAMIC_TENSOR_NAME "ascend_mbatch_shape_data"

/** Options of loading. */
typedef enum aclmdlConfigAttr {
    ACL_MDL_PRIORITY_INT32 = 0,
    ACL_MDL_LOAD_TYPE_SIZET = 1,
    ACL_MDL_PATH_PTR = 2,
    ACL_MDL_MEM_ADDR_PTR = 3,
    ACL_MDL_MEM_SIZET = 4,
    ACL_MDL_WEIGHT_ADDR_PTR = 5,
    ACL_MDL_WEIGHT_SIZET = 6,
    ACL_MDL_WORKSPACE_ADDR_PTR = 7,
    ACL_MDL_WORKSPACE_SIZET = 8,
    ACL_MDL_INPUTQ_NUM_SIZET = 9,
    ACL_MDL_INPUTQ_ADDR_PTR = 10,
    ACL_MDL_OUTPUTQ_NUM_SIZET = 11,
    ACL_MDL_OUTPUTQ_ADDR_PTR = 12,
    ACL_MDL_WORKSPACE_MEM_OPTIMIZE = 13,
    ACL_MDL_WEIGHT_PATH_PTR = 14,
    ACL_MDL_MODEL_DESC_PTR = 15,
    ACL_MDL_MODEL_DESC_SIZET = 16,
    ACL_MDL_KERNEL_PTR = 17,
    ACL_MDL_KERNEL_SIZET = 18,
    ACL_MDL_KERNEL_ARGS_PTR = 19,
    ACL_MDL_KERNEL_ARGS_SIZET = 20,
    ACL_MDL_STATIC_TASK_PTR = 21,
    ACL_MDL_STATIC_TASK_SIZET = 22,
    ACL_MDL_DYNAMIC_TASK_PTR = 23,
    ACL_MDL_DYNAMIC_TASK_SIZET = 24,
    ACL_MDL_MEM_MALLOC_POLICY_SIZET = 25,
    ACL_MDL_FIFO_PTR = 26,
    ACL_MDL_FIFO_SIZET = 27,
    ACL_MDL_WITHOUT_GRAPH_INT32 = 28,
    ACL_NPU_PERF_MODE = 29,
    ACL_MDL_RESERVED = 0xFFFF
} aclmdlConfigAttr;

/** Options of one run. */
typedef enum aclmdlExecConfigAttr {
    ACL_MDL_STREAM_SYNC_TIMEOUT = 0,
    ACL_MDL_EVENT_SYNC_TIMEOUT = 1,
    ACL_MDL_WORK_ADDR_PTR = 2,
    ACL_MDL_WORK_SIZET = 3,
    ACL_MDL_MPAIMID_SIZET = 4,
    ACL_MDL_AICQOS_SIZET = 5,
    ACL_MDL_AICOST_SIZET = 6,
    ACL_MDL_MEC_TIMETHR_SIZET = 7
} aclmdlExecConfigAttr;

/** Inputs or outputs of one run. */
typedef struct aclmdlDataset aclmdlDataset;
/** Description of a model. */
typedef struct aclmdlDesc aclmdlDesc;
/** Settings of loading. */
typedef struct aclmdlConfigHandle aclmdlConfigHandle;
/** Settings of one run. */
typedef struct aclmdlExecConfigHandle aclmdlExecConfigHandle;
/** What is known about a bundle before it is loaded. */
typedef struct aclmdlBundleQueryInfo aclmdlBundleQueryInfo;

/** Shape of an input or output. */
typedef struct aclmdlIODims {
    char name[ACL_MAX_TENSOR_NAME_LEN];
    size_t dimCount;
    int64_t dims[ACL_MAX_DIM_CNT];
} aclmdlIODims;

/** Range of each dimension of an input. */
typedef struct aclmdlIODimsRange {
    size_t rangeCount;
    int64_t range[ACL_MAX_DIM_CNT][ACL_DIM_ENDPOINTS];
} aclmdlIODimsRange;

/** Batch sizes that a model takes. */
typedef struct aclmdlBatch {
    size_t batchCount;
    uint64_t batch[ACL_MAX_BATCH_NUM];
} aclmdlBatch;

/** Heights and widths that a model takes. */
typedef struct aclmdlHW {
    size_t hwCount;
    uint64_t hw[ACL_MAX_HW_NUM][2];
} aclmdlHW;

/** Sizes of the parts of a model, in bytes. */
typedef struct aclmdlExeOMDesc {
    size_t workSize;
    size_t weightSize;
    size_t modelDescSize;
    size_t kernelSize;
    size_t kernelArgsSize;
    size_t staticTaskSize;
    size_t dynamicTaskSize;
    size_t fifoTaskSize;
    size_t reserved[8];
} aclmdlExeOMDesc;

/* How much memory a model needs. */

/** Bytes of scratch memory and of weights of the model in a file. */
aclError aclmdlQuerySize(const char *path, size_t *work_size, size_t *weight_size);
/** The same of a model in memory. */
aclError aclmdlQuerySizeFromMem(const void *model, size_t model_size, size_t *work_size, size_t *weight_size);
/** Bytes of every part of the model in a file. */
aclError aclmdlQueryExeOMDesc(const char *path, aclmdlExeOMDesc *sizes);

/* Loading. */

/** Loads a file; the runtime allocates. */
aclError aclmdlLoadFromFile(const char *path, uint32_t *model_id);
/** Loads from memory; the runtime allocates. */
aclError aclmdlLoadFromMem(const void *model, size_t model_size, uint32_t *model_id);
/** Loads a file into memory of the caller; a null pointer leaves that part to the runtime. */
aclError aclmdlLoadFromFileWithMem(const char *path, uint32_t *model_id, void *work, size_t work_size, void *weight, size_t weight_size);
/** Loads from memory into memory of the caller. */
aclError aclmdlLoadFromMemWithMem(const void *model, size_t model_size, uint32_t *model_id, void *work, size_t work_size, void *weight, size_t weight_size);
/** Makes settings for aclmdlLoadWithConfig; null on failure. */
aclmdlConfigHandle *aclmdlCreateConfigHandle(void);
/** Sets one option. */
aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attribute, const void *value, size_t size);
/** Names device memory that holds weights kept outside the model. */
aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle *handle, const char *weight_file, void *address, size_t size);
/** Destroys settings. */
aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle);
/** Loads with settings. */
aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *model_id);
/** Unloads; memory of the caller stays the caller's. */
aclError aclmdlUnload(uint32_t model_id);

/* Running. */

/** Runs a model and waits. */
aclError aclmdlExecute(uint32_t model_id, const aclmdlDataset *input, aclmdlDataset *output);
/** Runs a model in the order of a stream. */
aclError aclmdlExecuteAsync(uint32_t model_id, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream);
/** Runs a model with settings and waits. */
aclError aclmdlExecuteV2(uint32_t model_id, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream, const aclmdlExecConfigHandle *handle);
/** Runs a model with settings in the order of a stream. */
aclError aclmdlExecuteAsyncV2(uint32_t model_id, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream, const aclmdlExecConfigHandle *handle);
/** Makes settings of a run; null on failure. */
aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void);
/** Sets one option. */
aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attribute, const void *value, size_t size);
/** Destroys settings. */
aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle);

/* Descriptions. */

/** Makes an empty description; null on failure. */
aclmdlDesc *aclmdlCreateDesc(void);
/** Destroys a description. */
aclError aclmdlDestroyDesc(aclmdlDesc *description);
/** Describes a loaded model. */
aclError aclmdlGetDesc(aclmdlDesc *description, uint32_t model_id);
/** Describes the model in a file. */
aclError aclmdlGetDescFromFile(aclmdlDesc *description, const char *path);
/** Describes a model in memory. */
aclError aclmdlGetDescFromMem(aclmdlDesc *description, const void *model, size_t model_size);
/** Number of inputs. */
size_t aclmdlGetNumInputs(aclmdlDesc *description);
/** Number of outputs. */
size_t aclmdlGetNumOutputs(aclmdlDesc *description);
/** Bytes of an input; 0 for an index that does not exist. */
size_t aclmdlGetInputSizeByIndex(aclmdlDesc *description, size_t index);
/** Bytes of an output; 0 for an index that does not exist. */
size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *description, size_t index);
/** Name of an input. */
const char *aclmdlGetInputNameByIndex(const aclmdlDesc *description, size_t index);
/** Name of an output. */
const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *description, size_t index);
/** Index of an input. */
aclError aclmdlGetInputIndexByName(const aclmdlDesc *description, const char *name, size_t *index);
/** Index of an output. */
aclError aclmdlGetOutputIndexByName(const aclmdlDesc *description, const char *name, size_t *index);
/** Element type of an input. */
aclDataType aclmdlGetInputDataType(const aclmdlDesc *description, size_t index);
/** Element type of an output. */
aclDataType aclmdlGetOutputDataType(const aclmdlDesc *description, size_t index);
/** Layout of an input. */
aclFormat aclmdlGetInputFormat(const aclmdlDesc *description, size_t index);
/** Layout of an output. */
aclFormat aclmdlGetOutputFormat(const aclmdlDesc *description, size_t index);
/** Shape of an input. */
aclError aclmdlGetInputDims(const aclmdlDesc *description, size_t index, aclmdlIODims *shape);
/** Shape of an input, without what preprocessing adds. */
aclError aclmdlGetInputDimsV2(const aclmdlDesc *description, size_t index, aclmdlIODims *shape);
/** Range of the shape of an input. */
aclError aclmdlGetInputDimsRange(const aclmdlDesc *description, size_t index, aclmdlIODimsRange *range);
/** Shape of an output. */
aclError aclmdlGetOutputDims(const aclmdlDesc *description, size_t index, aclmdlIODims *shape);
/** Shape of an output at the chosen gear. */
aclError aclmdlGetCurOutputDims(const aclmdlDesc *description, size_t index, aclmdlIODims *shape);
/** Batch sizes that the model takes. */
aclError aclmdlGetDynamicBatch(const aclmdlDesc *description, aclmdlBatch *batch);
/** Heights and widths that the model takes. */
aclError aclmdlGetDynamicHW(const aclmdlDesc *description, size_t index, aclmdlHW *sizes);
/** Number of shapes that the model takes. */
aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc *description, size_t index, size_t *count);
/** Shapes that the model takes. */
aclError aclmdlGetInputDynamicDims(const aclmdlDesc *description, size_t index, aclmdlIODims *shapes, size_t count);
/** Chooses the batch size of the next runs. */
aclError aclmdlSetDynamicBatchSize(uint32_t model_id, aclmdlDataset *dataset, size_t index, uint64_t batch_size);
/** Chooses height and width of the next runs. */
aclError aclmdlSetDynamicHWSize(uint32_t model_id, aclmdlDataset *dataset, size_t index, uint64_t height, uint64_t width);
/** Chooses the shape of the next runs. */
aclError aclmdlSetInputDynamicDims(uint32_t model_id, aclmdlDataset *dataset, size_t index, const aclmdlIODims *shape);

/* Datasets. */

/** Makes an empty dataset; null on failure. */
aclmdlDataset *aclmdlCreateDataset(void);
/** Destroys a dataset, but neither its buffers nor their memory. */
aclError aclmdlDestroyDataset(const aclmdlDataset *dataset);
/** Adds a buffer at the end. */
aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *buffer);
/** Number of buffers. */
size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset);
/** A buffer; null for an index that does not exist. */
aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index);

/* Bundles: several models in one file. */

/** Loads a bundle with all its models. */
aclError aclmdlBundleLoadFromFile(const char *path, uint32_t *bundle_id);
/** Loads a bundle from memory with all its models. */
aclError aclmdlBundleLoadFromMem(const void *model, size_t model_size, uint32_t *bundle_id);
/** Opens a bundle without loading its models; the variable weights may be in memory of the caller. */
aclError aclmdlBundleInitFromFile(const char *path, void *variable_weight, size_t variable_weight_size, uint32_t *bundle_id);
/** The same from memory. */
aclError aclmdlBundleInitFromMem(const void *model, size_t model_size, void *variable_weight, size_t variable_weight_size, uint32_t *bundle_id);
/** Loads one model of an open bundle. */
aclError aclmdlBundleLoadModel(uint32_t bundle_id, size_t index, uint32_t *model_id);
/** Loads one model into memory of the caller. */
aclError aclmdlBundleLoadModelWithMem(uint32_t bundle_id, size_t index, void *work, size_t work_size, void *weight, size_t weight_size, uint32_t *model_id);
/** Loads one model with settings. */
aclError aclmdlBundleLoadModelWithConfig(uint32_t bundle_id, size_t index, aclmdlConfigHandle *handle, uint32_t *model_id);
/** Unloads one model. */
aclError aclmdlBundleUnloadModel(uint32_t bundle_id, uint32_t model_id);
/** Unloads a bundle. */
aclError aclmdlBundleUnload(uint32_t bundle_id);
/** Number of models in a loaded bundle. */
aclError aclmdlBundleGetModelNum(uint32_t bundle_id, size_t *count);
/** Id of a model of a loaded bundle. */
aclError aclmdlBundleGetModelId(uint32_t bundle_id, size_t index, uint32_t *model_id);
/** Makes an empty description of a bundle; null on failure. */
aclmdlBundleQueryInfo *aclmdlBundleCreateQueryInfo(void);
/** Destroys it. */
aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo *info);
/** Describes the bundle in a file. */
aclError aclmdlBundleQueryInfoFromFile(const char *path, aclmdlBundleQueryInfo *info);
/** Describes a bundle in memory. */
aclError aclmdlBundleQueryInfoFromMem(const void *model, size_t model_size, aclmdlBundleQueryInfo *info);
/** Number of models in a described bundle. */
aclError aclmdlBundleGetQueryModelNum(const aclmdlBundleQueryInfo *info, size_t *count);
/** Bytes of the variable weights of a described bundle. */
aclError aclmdlBundleGetVarWeightSize(const aclmdlBundleQueryInfo *info, size_t *size);
/** Bytes of scratch memory and of constant weights of one model of a described bundle. */
aclError aclmdlBundleGetSize(const aclmdlBundleQueryInfo *info, size_t index, size_t *work_size, size_t *weight_size);

#ifdef __cplusplus
}
#endif

#endif
