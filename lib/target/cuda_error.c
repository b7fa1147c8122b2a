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

int cuda_check(int result, const char *what, struct err *e)
{
	if (!result)
		return 0;
	err_set(e, "CUDA fails to %s: %s", what, text_of(result));
	errno = EIO;
	return -1;
}
