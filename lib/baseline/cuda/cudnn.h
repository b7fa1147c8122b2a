/* cuDNN 9, as far as it is used here: the descriptors of its backend, which describe graphs of
 * operations and the engines that compute them. Names and numbers are cuDNN's, without its prefix.
 * The library is opened when it is first needed.
 */
#ifndef TL_BASELINE_CUDA_CUDNN_H
#define TL_BASELINE_CUDA_CUDNN_H

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/op/op.h"

/* CUDNN_BACKEND_..._DESCRIPTOR */
enum cudnn_kind {
	KIND_POINTWISE = 0,
	KIND_CONVOLUTION = 1,
	KIND_ENGINE = 2,
	KIND_ENGINECFG = 3,
	KIND_ENGINEHEUR = 4,
	KIND_EXECUTION_PLAN = 5,
	KIND_KNOB_CHOICE = 7,
	KIND_OPERATION_CONVOLUTION_FORWARD = 10,
	KIND_OPERATION_POINTWISE = 13,
	KIND_OPERATIONGRAPH = 15,
	KIND_VARIANT_PACK = 16,
	KIND_TENSOR = 17,
	KIND_MATMUL = 18,
	KIND_OPERATION_MATMUL = 19,
};

/* CUDNN_ATTR_... */
enum cudnn_attribute {
	ATTR_POINTWISE_MODE = 0,
	ATTR_POINTWISE_MATH_PREC = 1,
	ATTR_POINTWISE_RELU_LOWER_CLIP = 3,
	ATTR_POINTWISE_RELU_UPPER_CLIP = 4,
	ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE = 5,
	ATTR_POINTWISE_SWISH_BETA = 8,
	ATTR_CONVOLUTION_COMP_TYPE = 100,
	ATTR_CONVOLUTION_CONV_MODE = 101,
	ATTR_CONVOLUTION_DILATIONS = 102,
	ATTR_CONVOLUTION_FILTER_STRIDES = 103,
	ATTR_CONVOLUTION_POST_PADDINGS = 104,
	ATTR_CONVOLUTION_PRE_PADDINGS = 105,
	ATTR_CONVOLUTION_SPATIAL_DIMS = 106,
	ATTR_ENGINEHEUR_MODE = 200,
	ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
	ATTR_ENGINEHEUR_RESULTS = 202,
	ATTR_ENGINECFG_ENGINE = 300,
	ATTR_ENGINECFG_KNOB_CHOICES = 302,
	ATTR_EXECUTION_PLAN_HANDLE = 400,
	ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
	ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
	ATTR_KNOB_CHOICE_KNOB_TYPE = 600,
	ATTR_KNOB_CHOICE_KNOB_VALUE = 601,
	ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
	ATTR_OPERATION_CONVOLUTION_FORWARD_BETA = 701,
	ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
	ATTR_OPERATION_CONVOLUTION_FORWARD_W = 703,
	ATTR_OPERATION_CONVOLUTION_FORWARD_X = 704,
	ATTR_OPERATION_CONVOLUTION_FORWARD_Y = 705,
	ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
	ATTR_OPERATION_POINTWISE_XDESC = 751,
	ATTR_OPERATION_POINTWISE_BDESC = 752,
	ATTR_OPERATION_POINTWISE_YDESC = 753,
	ATTR_OPERATIONGRAPH_HANDLE = 800,
	ATTR_OPERATIONGRAPH_OPS = 801,
	ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,
	ATTR_TENSOR_BYTE_ALIGNMENT = 900,
	ATTR_TENSOR_DATA_TYPE = 901,
	ATTR_TENSOR_DIMENSIONS = 902,
	ATTR_TENSOR_STRIDES = 903,
	ATTR_TENSOR_UNIQUE_ID = 906,
	ATTR_TENSOR_IS_VIRTUAL = 907,
	ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
	ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
	ATTR_VARIANT_PACK_WORKSPACE = 1003,
	ATTR_ENGINE_OPERATION_GRAPH = 1300,
	ATTR_ENGINE_GLOBAL_INDEX = 1301,
	ATTR_ENGINE_NUMERICAL_NOTE = 1303,
	ATTR_MATMUL_COMP_TYPE = 1500,
	ATTR_OPERATION_MATMUL_ADESC = 1520,
	ATTR_OPERATION_MATMUL_BDESC = 1521,
	ATTR_OPERATION_MATMUL_CDESC = 1522,
	ATTR_OPERATION_MATMUL_DESC = 1523,
};

/* CUDNN_TYPE_..., of an attribute's elements */
enum cudnn_type {
	TYPE_HANDLE = 0,
	TYPE_DATA_TYPE = 1,
	TYPE_BOOLEAN = 2,
	TYPE_INT64 = 3,
	TYPE_FLOAT = 4,
	TYPE_DOUBLE = 5,
	TYPE_VOID_PTR = 6,
	TYPE_CONVOLUTION_MODE = 7,
	TYPE_HEUR_MODE = 8,
	TYPE_KNOB_TYPE = 9,
	TYPE_NUMERICAL_NOTE = 11,
	TYPE_POINTWISE_MODE = 14,
	TYPE_BACKEND_DESCRIPTOR = 15,
};

/* CUDNN_DATA_... */
enum cudnn_data {
	DATA_FLOAT = 0,
	DATA_HALF = 2,
	DATA_INT8 = 3,
	DATA_INT32 = 4,
	DATA_UINT8 = 6,
	DATA_BFLOAT16 = 9,
};

enum { CROSS_CORRELATION = 1 };

/* CUDNN_POINTWISE_... */
enum cudnn_pointwise {
	POINTWISE_ADD = 0,
	POINTWISE_MUL = 1,
	POINTWISE_IDENTITY = 21,
	POINTWISE_RELU_FWD = 100,
	POINTWISE_TANH_FWD = 101,
	POINTWISE_SIGMOID_FWD = 102,
	POINTWISE_GELU_FWD = 104,
	POINTWISE_SWISH_FWD = 106,
	POINTWISE_GELU_APPROX_TANH_FWD = 107,
};

/* CUDNN_HEUR_MODE_... */
enum cudnn_heuristic { HEUR_MODE_B = 1, HEUR_MODE_FALLBACK = 2, HEUR_MODE_A = 3 };

/* CUDNN_NUMERICAL_NOTE_...: what an engine does to numbers. */
enum cudnn_note {
	NOTE_TENSOR_CORE = 0,
	NOTE_DOWN_CONVERT_INPUTS = 1,
	NOTE_REDUCED_PRECISION_REDUCTION = 2,
};

/* A value of an attribute. */
struct cudnn_value {
	enum cudnn_attribute attribute;
	enum cudnn_type type;
	int64_t n; /* elements; 0: no value */
	const void *of;
};

/* -1: the library is not there, or not version 9. */
int cudnn_open(struct err *e);
int cudnn_version(void); /* of an open library */

/* The library's number of a type (cudnnDataType_t). */
enum cudnn_data cudnn_data(enum dtype t);

int cudnn_start(void **handle, struct err *e);
void cudnn_stop(void *handle);

/* Makes an empty descriptor, which the library fills. */
int cudnn_make(enum cudnn_kind kind, void **d, struct err *e);
/* Makes a descriptor with these values, of n places, and finalizes it. -1: the library refuses it;
 * nothing is left of it. */
int cudnn_describe(enum cudnn_kind kind, const struct cudnn_value *value, int n, void **d,
		   struct err *e);
/* Reads up to `room` elements; *n: how many there are. */
int cudnn_get(void *d, enum cudnn_attribute a, enum cudnn_type type, int64_t room, int64_t *n,
	      void *out, struct err *e);
void cudnn_free(void *d);

/* Plans are executed on this stream from now on. */
int cudnn_take_stream(void *handle, void *stream, struct err *e);
int cudnn_execute(void *handle, void *plan, void *pack, struct err *e);

#endif
