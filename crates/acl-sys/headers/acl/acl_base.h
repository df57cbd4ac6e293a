/*
 * Basic types of the Ascend Computing Language (ACL), the C interface of CANN: handles, result codes, data types.
 *
 * These headers state the binary interface in our own words, as far as a memory pool, its tests and a server of several
 * models need it. They are the source of the Rust bindings (`cargo xtask bindgen`) and are compared with the vendor's
 * headers by `cargo xtask check-headers DIR`. Names of files, types, constants and functions are those of the interface,
 * so that a C program written for CANN finds them under the same paths.
 *
 * Rules that the tools of this repository rely on: one constant a line, one field a line, and a prototype ends with `);`.
 */
#ifndef ASCEND_MEMPOOL_ACL_BASE_H
#define ASCEND_MEMPOOL_ACL_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "acl_error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a call: 0 for success, otherwise one of the codes of acl_error_codes.h or a code that a newer CANN added. */
typedef int aclError;

/** A stream: a queue of device work that runs in order. */
typedef void *aclrtStream;
/** An event: a mark in a stream. */
typedef void *aclrtEvent;
/** A context: what is current on a thread; owns streams and events, but no memory. */
typedef void *aclrtContext;
/** Description of an allocator that is about to be registered. */
typedef void *aclrtAllocatorDesc;
/** The user's own allocator object, which the runtime only hands back. */
typedef void *aclrtAllocator;
/** A block that a registered allocator has given out; not an address. */
typedef void *aclrtAllocatorBlock;
/** An address near which a registered allocator may place a block. */
typedef void *aclrtAllocatorAddr;
/** A mark that one stream sets and another waits for and clears. */
typedef void *aclrtNotify;
/** A pair of a device address and a size, as an input or output of a model. */
typedef struct aclDataBuffer aclDataBuffer;
/** Type, shape and layout of a tensor, without its memory. */
typedef struct aclTensorDesc aclTensorDesc;
/** Bits of a number with a sign, 5 bits of exponent and 10 of fraction. */
typedef uint16_t aclFloat16;

/** Element type of a tensor. */
typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

/** Memory layout of a tensor. */
typedef enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47
} aclFormat;

/** Where the memory of a tensor lies. */
typedef enum aclMemType {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

/** Options of the process or of a context. */
typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
    ACL_OPT_STRONG_CONSISTENCY = 2,
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3
} aclSysParamOpt;

/** Facts that aclGetDeviceCapability answers. */
typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

/** Size in bytes of one element; 0 for a type that has no fixed size in whole bytes. */
size_t aclDataTypeSize(aclDataType data_type);
/** A half as a float; infinities and what is no number count as ordinary large numbers. */
float aclFloat16ToFloat(aclFloat16 value);
/** A float as a half; what is too large, infinite or no number becomes the largest half, with the sign. */
aclFloat16 aclFloatToFloat16(float value);
/** One fact about a device. */
aclError aclGetDeviceCapability(uint32_t device, aclDeviceInfo info, int64_t *value);

/** Makes a buffer description; it never owns the memory behind `data`. Null on failure. */
aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);
/** Destroys the description; the memory behind it stays the caller's. */
aclError aclDestroyDataBuffer(const aclDataBuffer *buffer);
/** Points an existing description at other memory. */
aclError aclUpdateDataBuffer(aclDataBuffer *buffer, void *data, size_t size);
/** Address in the description. */
void *aclGetDataBufferAddr(const aclDataBuffer *buffer);
/** Size in bytes, cut off at 32 bits; superseded by aclGetDataBufferSizeV2. */
uint32_t aclGetDataBufferSize(const aclDataBuffer *buffer);
/** Size in bytes. */
size_t aclGetDataBufferSizeV2(const aclDataBuffer *buffer);

/** Makes a description of a tensor. Null on failure. */
aclTensorDesc *aclCreateTensorDesc(aclDataType data_type, int dim_count, const int64_t *dims, aclFormat format);
/** Destroys it. */
void aclDestroyTensorDesc(const aclTensorDesc *description);
/** Type of its elements; ACL_DT_UNDEFINED on failure. */
aclDataType aclGetTensorDescType(const aclTensorDesc *description);
/** Its layout; ACL_FORMAT_UNDEFINED on failure. */
aclFormat aclGetTensorDescFormat(const aclTensorDesc *description);
/** Number of its dimensions; 0 on failure. */
size_t aclGetTensorDescNumDims(const aclTensorDesc *description);
/** Size of one of its dimensions. */
aclError aclGetTensorDescDimV2(const aclTensorDesc *description, size_t index, int64_t *size);
/** Names it. */
void aclSetTensorDescName(aclTensorDesc *description, const char *name);
/** Sets the layout in which it is stored. */
aclError aclSetTensorFormat(aclTensorDesc *description, aclFormat format);
/** Sets the shape in which it is stored. */
aclError aclSetTensorShape(aclTensorDesc *description, int dim_count, const int64_t *dims);
/** Says where its memory lies. */
aclError aclSetTensorPlaceMent(aclTensorDesc *description, aclMemType memory);

#ifdef __cplusplus
}
#endif

#endif
