#include "lib/ref/cuda/legacy_api.h"

#include "lib/target/shared.h"

static struct legacy_api api;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcudnn.so.8", "libcudnn.so.7", NULL};
	static const struct shared_function functions[] = {
		{"cudnnGetVersion", &api.version},
		{"cudnnGetErrorString", &api.error},
		{"cudnnCreate", &api.create},
		{"cudnnDestroy", &api.destroy},
		{"cudnnSetStream", &api.stream},
		{"cudnnCreateTensorDescriptor", &api.make_tensor},
		{"cudnnSetTensor4dDescriptor", &api.set_tensor},
		{"cudnnDestroyTensorDescriptor", &api.free_tensor},
		{"cudnnCreateFilterDescriptor", &api.make_filter},
		{"cudnnSetFilter4dDescriptor", &api.set_filter},
		{"cudnnDestroyFilterDescriptor", &api.free_filter},
		{"cudnnCreateConvolutionDescriptor", &api.make_convolution},
		{"cudnnSetConvolution2dDescriptor", &api.set_convolution},
		{"cudnnSetConvolutionMathType", &api.set_math},
		{"cudnnSetConvolutionGroupCount", &api.set_groups},
		{"cudnnDestroyConvolutionDescriptor", &api.free_convolution},
		{"cudnnCreateActivationDescriptor", &api.make_activation},
		{"cudnnSetActivationDescriptor", &api.set_activation},
		{"cudnnDestroyActivationDescriptor", &api.free_activation},
		{"cudnnCreateOpTensorDescriptor", &api.make_op},
		{"cudnnSetOpTensorDescriptor", &api.set_op},
		{"cudnnDestroyOpTensorDescriptor", &api.free_op},
		{"cudnnGetConvolutionForwardWorkspaceSize", &api.workspace},
		{"cudnnConvolutionForward", &api.convolve},
		{"cudnnConvolutionBiasActivationForward", &api.convolve_all},
		{"cudnnAddTensor", &api.add},
		{"cudnnOpTensor", &api.combine},
		{"cudnnActivationForward", &api.activate},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

const struct legacy_api *legacy_api_open(struct err *e)
{
	size_t version;

	if (open_library(e) < 0)
		return NULL;
	version = api.version();
	if (version >= LEGACY_FIRST && version < LEGACY_END)
		return &api;
	err_set(e, "cuDNN is version %zu.%zu, not one of 7.6 to 9", version / 1000,
		version / 100 % 10);
	return NULL;
}
