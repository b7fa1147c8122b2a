#include "lib/target/cuda_error.h"

#include <errno.h>

#include "lib/target/shared.h"

static const char *text_of(int result)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static int (*describe)(int result, const char **text);
	static const struct shared_function functions[] = {{"cuGetErrorString", &describe},
							   {NULL, NULL}};
	static struct shared library = {names, functions, 0};
	struct err ignored = ERR_INIT;
	const char *text = NULL;

	if (shared_open(&library, &ignored) == 0)
		describe(result, &text);
	return text ? text : "unknown error";
}

/* NVIDIA, "CUDA Driver API", CUresult. After what a kernel dies of, its context is of no use. */
static int kind_of(int result)
{
	enum {
		OUT_OF_MEMORY = 2,
		NO_BINARY_FOR_GPU = 209,
		ILLEGAL_ADDRESS = 700,
		OUT_OF_RESOURCES = 701, /* registers, or arguments, of a launch */
		LAUNCH_TIMEOUT = 702,
		ASSERT = 710,
		STACK_ERROR = 714,
		ILLEGAL_INSTRUCTION = 715,
		MISALIGNED_ADDRESS = 716,
		INVALID_ADDRESS_SPACE = 717,
		INVALID_PC = 718,
		LAUNCH_FAILED = 719,
		NOT_SUPPORTED = 801,
	};

	switch (result) {
	case OUT_OF_MEMORY:
		return ENOMEM;
	case NO_BINARY_FOR_GPU:
	case OUT_OF_RESOURCES:
	case NOT_SUPPORTED:
		return ENOTSUP;
	case LAUNCH_TIMEOUT:
		return ETIMEDOUT;
	case ILLEGAL_ADDRESS:
	case ASSERT:
	case STACK_ERROR:
	case ILLEGAL_INSTRUCTION:
	case MISALIGNED_ADDRESS:
	case INVALID_ADDRESS_SPACE:
	case INVALID_PC:
	case LAUNCH_FAILED:
		return EFAULT;
	default:
		return EIO;
	}
}

int cuda_check(int result, const char *what, struct err *e)
{
	if (!result)
		return 0;
	err_set(e, "CUDA fails to %s: %s", what, text_of(result));
	errno = kind_of(result);
	return -1;
}
