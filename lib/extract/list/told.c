#include "lib/extract/list/told.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"

int told_dtype(const char *s, size_t n)
{
	static const struct {
		const char *names;
		enum dtype dtype;
	} types[] = {{"float float32 f32_r s R_32F CUDA_R_32F CUDNN_DATA_FLOAT", DTYPE_F32},
		     {"float16 f16_r h R_16F CUDA_R_16F CUDNN_DATA_HALF c10::Half", DTYPE_F16},
		     {"bfloat16 bf16_r R_16BF CUDA_R_16BF CUDNN_DATA_BFLOAT16 c10::BFloat16",
		      DTYPE_BF16},
		     {"int8 i8_r R_8I CUDA_R_8I CUDNN_DATA_INT8", DTYPE_S8},
		     {"uint8 R_8U CUDA_R_8U", DTYPE_U8},
		     {"int32 i32_r R_32I CUDA_R_32I CUDNN_DATA_INT32", DTYPE_S32}};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (words_have(types[i].names, s, n))
			return (int)types[i].dtype;
	return dtype_find(s, n);
}

int told_dtypes(const char *src, const char *wei, const char *dst, struct dtypes *to)
{
	return told_types(told_dtype(src, strlen(src)), told_dtype(wei, strlen(wei)),
			  told_dtype(dst, strlen(dst)), to);
}

int told_types(int src, int wei, int dst, struct dtypes *to)
{
	if (src < 0 || wei < 0 || dst < 0)
		return -1;
	*to = (struct dtypes){(enum dtype)src, (enum dtype)wei, (enum dtype)dst};
	return dtypes_check(to) ? -1 : 0;
}

int64_t told_size(const char *s, int64_t other)
{
	char *end;
	int64_t v = strtoll(s, &end, 10);

	return end == s ? other : v < 0 || v > INT32_MAX ? -1 : v;
}

void told_copy(char *to, size_t size, const char *from, size_t n)
{
	n = n < size - 1 ? n : size - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

char *told_find(char *line, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *at = strstr(line, texts[i]);

		if (at)
			return at;
	}
	return NULL;
}

int64_t told_times(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? -1 : r;
}

enum layout told_layout(int space, int is_last)
{
	if (space == 3)
		return is_last ? LAYOUT_NDHWC : LAYOUT_NCDHW;
	return is_last ? LAYOUT_NHWC : LAYOUT_NCHW;
}

struct told_conv told_conv_plain(int space)
{
	struct told_conv c = {.space = space, .mb = 1, .groups = 1};

	for (int i = 0; i < TOLD_SPACE; i++)
		c.stride[i] = c.dilation[i] = 1;
	return c;
}

static int is_size(int64_t v, int64_t least)
{
	return v >= least && v <= INT32_MAX;
}

/* The output along a dimension; 0: there is none. */
static int64_t out_size(const struct told_conv *c, int i)
{
	int64_t room;

	if (!is_size(c->in[i], 1) || !is_size(c->kernel[i], 1) || !is_size(c->stride[i], 1) ||
	    !is_size(c->before[i], 0) || !is_size(c->after[i], 0) || !is_size(c->dilation[i], 1))
		return 0;
	room = c->in[i] + c->before[i] + c->after[i] - (c->kernel[i] - 1) * c->dilation[i] - 1;
	return room < 0 ? 0 : room / c->stride[i] + 1;
}

int64_t told_conv_macs(const struct told_conv *c)
{
	int64_t n;

	if (!is_size(c->groups, 1) || !is_size(c->mb, 1) || !is_size(c->ic, c->groups) ||
	    !is_size(c->oc, 1))
		return -1;
	n = told_times(told_times(c->mb, c->oc), c->ic / c->groups);
	for (int i = 0; i < c->space; i++) {
		int64_t out = out_size(c, i);

		n = told_times(n, out ? told_times(out, c->kernel[i]) : -1);
	}
	return n;
}

/* The dimensions along one axis of a convolution's workload, whose input, output, window, stride,
 * padding and dilation stand `step` apart, the input at in and the output at out. */
static void set_axis(const struct told_conv *c, int i, int64_t *d, int in, int out, int step)
{
	d[in] = i < 0 ? 1 : c->in[i];
	d[out] = i < 0 ? 1 : out_size(c, i);
	d[out + step] = i < 0 ? 1 : c->kernel[i];
	d[out + 2 * step] = i < 0 ? 1 : c->stride[i];
	d[out + 3 * step] = i < 0 ? 0 : c->before[i];
	d[out + 4 * step] = i < 0 || c->kernel[i] == 1 ? 0 : c->dilation[i] - 1;
}

int told_conv(const struct told_conv *c, int is_last, struct workload *w, struct err *e)
{
	int is_3d = c->space == 3, axes = is_3d ? 3 : 2;
	int64_t *d = w->dim;

	*w = (struct workload){.op = is_3d ? &op_conv3d : &op_conv2d,
			       .dtype = c->dtype,
			       .layout = told_layout(c->space, is_last),
			       .rhs_const = 1};
	d[CONV_MB] = c->mb; /* and of conv3d, whose first three are the same */
	d[CONV_G] = c->groups;
	d[CONV_IC] = c->ic;
	d[is_3d ? CONV3D_OC : CONV_OC] = c->oc;
	for (int a = 0; a < axes; a++) /* a missing height is 1 */
		set_axis(c, a - axes + c->space, d, (is_3d ? CONV3D_ID : CONV_IH) + a,
			 (is_3d ? CONV3D_OD : CONV_OH) + a, axes);
	return workload_finish(w, e);
}

int64_t told_product_macs(int64_t b, int64_t m, int64_t k, int64_t n)
{
	return b < 1 || m < 1 || k < 1 || n < 1 ? -1
						: told_times(told_times(b, m), told_times(k, n));
}

int told_product(int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const,
		 const struct dtypes *dtype, struct workload *w, struct err *e)
{
	*w = (struct workload){
		.op = &op_matmul, .dtype = *dtype, .layout = LAYOUT_AB, .rhs_const = rhs_const};
	w->dim[MATMUL_B] = b;
	w->dim[MATMUL_M] = m;
	w->dim[MATMUL_K] = k;
	w->dim[MATMUL_N] = n;
	return workload_finish(w, e);
}
