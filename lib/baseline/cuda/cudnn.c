#include "lib/baseline/cuda/cudnn.h"

#include <stddef.h>

#include "lib/target/shared.h"

enum { MAJOR = 9, MAJOR_UNIT = 10000 }; /* the first version whose graphs are described here */

static struct {
	size_t (*version)(void);
	const char *(*error)(int status);
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*stream)(void *handle, void *stream);
	int (*make)(enum cudnn_kind kind, void **d);
	int (*free)(void *d);
	int (*set)(void *d, enum cudnn_attribute a, enum cudnn_type type, int64_t n,
		   const void *of);
	int (*get)(void *d, enum cudnn_attribute a, enum cudnn_type type, int64_t room, int64_t *n,
		   void *out);
	int (*finish)(void *d);
	int (*execute)(void *handle, void *plan, void *pack);
} cudnn;

int cudnn_open(struct err *e)
{
	static const char *const names[] = {"libcudnn.so.9", NULL};
	static const struct shared_function functions[] = {
		{"cudnnGetVersion", &cudnn.version},
		{"cudnnGetErrorString", &cudnn.error},
		{"cudnnCreate", &cudnn.create},
		{"cudnnDestroy", &cudnn.destroy},
		{"cudnnSetStream", &cudnn.stream},
		{"cudnnBackendCreateDescriptor", &cudnn.make},
		{"cudnnBackendDestroyDescriptor", &cudnn.free},
		{"cudnnBackendSetAttribute", &cudnn.set},
		{"cudnnBackendGetAttribute", &cudnn.get},
		{"cudnnBackendFinalize", &cudnn.finish},
		{"cudnnBackendExecute", &cudnn.execute},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	if (shared_open(&library, e) < 0)
		return -1;
	if (cudnn.version() / MAJOR_UNIT != MAJOR)
		return err_set(e, "cuDNN is version %zu, not %d", cudnn.version() / MAJOR_UNIT,
			       MAJOR);
	return 0;
}

int cudnn_version(void)
{
	return (int)cudnn.version();
}

enum cudnn_data cudnn_data(enum dtype t)
{
	switch (t) {
	case DTYPE_F16:
		return DATA_HALF;
	case DTYPE_BF16:
		return DATA_BFLOAT16;
	case DTYPE_S8:
		return DATA_INT8;
	case DTYPE_U8:
		return DATA_UINT8;
	case DTYPE_S32:
		return DATA_INT32;
	default:
		return DATA_FLOAT;
	}
}

static int check(int status, const char *what, struct err *e)
{
	return status ? err_set(e, "cuDNN fails to %s: %s", what, cudnn.error(status)) : 0;
}

int cudnn_start(void **handle, struct err *e)
{
	*handle = NULL;
	return check(cudnn.create(handle), "start", e);
}

void cudnn_stop(void *handle)
{
	cudnn.destroy(handle);
}

int cudnn_make(enum cudnn_kind kind, void **d, struct err *e)
{
	*d = NULL;
	return check(cudnn.make(kind, d), "make a descriptor", e);
}

int cudnn_describe(enum cudnn_kind kind, const struct cudnn_value *value, int n, void **d,
		   struct err *e)
{
	int rc = cudnn_make(kind, d, e);

	for (int i = 0; i < n && rc == 0; i++)
		if (value[i].n)
			rc = check(cudnn.set(*d, value[i].attribute, value[i].type, value[i].n,
					     value[i].of),
				   "set an attribute", e);
	if (rc == 0)
		rc = check(cudnn.finish(*d), "finish a descriptor", e);
	if (rc < 0) {
		cudnn_free(*d);
		*d = NULL;
	}
	return rc;
}

int cudnn_get(void *d, enum cudnn_attribute a, enum cudnn_type type, int64_t room, int64_t *n,
	      void *out, struct err *e)
{
	*n = 0;
	return check(cudnn.get(d, a, type, room, n, out), "get an attribute", e);
}

void cudnn_free(void *d)
{
	if (d)
		cudnn.free(d);
}

int cudnn_take_stream(void *handle, void *stream, struct err *e)
{
	return check(cudnn.stream(handle, stream), "take a stream", e);
}

int cudnn_execute(void *handle, void *plan, void *pack, struct err *e)
{
	return check(cudnn.execute(handle, plan, pack), "run a plan", e);
}
