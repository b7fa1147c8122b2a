/* A stand-in for cuDNN before version 9, libcudnn.so.8 and libcudnn.so.7, for tests: convolutions
 * and what may follow them, as plain loops over the emulated device's memory. The variable
 * TL_EMULATOR_CUDNN says which version it is; 8907 if it is not set.
 */
#include "tests/emulator/cudnn_legacy.h"

#include <stdlib.h>
#include <string.h>

static int started; /* a handle is the address of this */
static void *stream;

int version(void)
{
	const char *told = getenv("TL_EMULATOR_CUDNN");

	return told ? atoi(told) : 8907;
}

API size_t cudnnGetVersion(void)
{
	return (size_t)version();
}

API const char *cudnnGetErrorString(int status)
{
	return status == EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
	       : status == NOT_SUPPORTED  ? "CUDNN_STATUS_NOT_SUPPORTED"
					  : "CUDNN_STATUS_BAD_PARAM";
}

API int cudnnCreate(void **handle)
{
	started++;
	*handle = &started;
	return SUCCESS;
}

API int cudnnDestroy(void *handle)
{
	if (!is_handle(handle))
		return BAD_PARAM;
	started--;
	return SUCCESS;
}

int is_handle(const void *handle)
{
	return handle == &started && started;
}

void *stream_now(void)
{
	return stream;
}

API int cudnnSetStream(void *handle, void *taken)
{
	stream = taken;
	return is_handle(handle) ? SUCCESS : BAD_PARAM;
}

/* ---- descriptors ---- */

static int make(void **out, size_t bytes)
{
	*out = calloc(1, bytes);
	if (!*out)
		abort();
	return SUCCESS;
}

static int drop(void *d)
{
	free(d);
	return SUCCESS;
}

#define DESCRIPTOR(name, type)                                                                     \
	API int cudnnCreate##name##Descriptor(void **d)                                            \
	{                                                                                          \
		return make(d, sizeof(type));                                                      \
	}                                                                                          \
	API int cudnnDestroy##name##Descriptor(void *d)                                            \
	{                                                                                          \
		return drop(d);                                                                    \
	}
DESCRIPTOR(Tensor, struct tensor)
DESCRIPTOR(Filter, struct tensor)
DESCRIPTOR(Convolution, struct convolution)
DESCRIPTOR(Activation, struct activation)
DESCRIPTOR(OpTensor, struct op)

static int set_tensor(struct tensor *t, int format, int type, const int size[4])
{
	if (format < 0 || format > 1 ||
	    (type != FLOAT && type != HALF && type != INT8 && type != INT32 &&
	     !(type == BFLOAT16 && version() >= FIRST_FMA)))
		return BAD_PARAM;
	for (int i = 0; i < 4; i++)
		if (size[i] < 1)
			return BAD_PARAM;
	*t = (struct tensor){.type = type, .is_nhwc = format};
	memcpy(t->size, size, sizeof t->size);
	return SUCCESS;
}

API int cudnnSetTensor4dDescriptor(void *t, int format, int type, int n, int c, int h, int w)
{
	return set_tensor(t, format, type, (const int[]){n, c, h, w});
}

API int cudnnSetFilter4dDescriptor(void *t, int type, int format, int k, int c, int h, int w)
{
	return set_tensor(t, format, type, (const int[]){k, c, h, w});
}

API int cudnnSetConvolution2dDescriptor(struct convolution *c, int pad_h, int pad_w, int u, int v,
					int dilation_h, int dilation_w, int mode, int compute)
{
	if (pad_h < 0 || pad_w < 0 || u < 1 || v < 1 || dilation_h < 1 || dilation_w < 1 ||
	    mode != 1)
		return BAD_PARAM;
	*c = (struct convolution){.pad = {pad_h, pad_w},
				  .stride = {u, v},
				  .dilation = {dilation_h, dilation_w},
				  .groups = 1,
				  .compute = compute};
	return SUCCESS;
}

API int cudnnSetConvolutionMathType(struct convolution *c, int math)
{
	c->rounds = version() >= FIRST_FMA && math != FMA_MATH;
	return math == DEFAULT_MATH || math == TENSOR_OP_MATH ||
			       (math == FMA_MATH && version() >= FIRST_FMA)
		       ? SUCCESS
		       : BAD_PARAM;
}

API int cudnnSetConvolutionGroupCount(struct convolution *c, int groups)
{
	c->groups = groups;
	return SUCCESS;
}

API int cudnnSetActivationDescriptor(struct activation *a, int mode, int nan, double ceiling)
{
	*a = (struct activation){mode, ceiling};
	return nan == 0 && mode >= 0 && mode < (version() >= FIRST_SWISH ? SWISH + 1 : SWISH)
		       ? SUCCESS
		       : BAD_PARAM;
}

API int cudnnSetOpTensorDescriptor(struct op *o, int op, int compute, int nan)
{
	*o = (struct op){.is_product = op};
	return (op == 0 || op == 1) && compute == FLOAT && nan == 0 ? SUCCESS : BAD_PARAM;
}
