#include "lib/baseline/cuda/stage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/target/device.h"

int stage_numbers(const struct workload *w, struct numbers *n)
{
	if (workload_has_post(w, POST_SCALE) || workload_has_post(w, POST_SHIFT) ||
	    workload_has_post(w, POST_PAD) || workload_group(w))
		return 0;
	if (dtypes_are_whole(&w->dtype)) {
		*n = (struct numbers){.middle = DTYPE_S32, .is_whole = 1};
		return 1;
	}
	if (!dtypes_are_one_real(&w->dtype))
		return 0;
	*n = (struct numbers){.middle = w->dtype.dst,
			      .is_tf32 = w->dtype.src == DTYPE_TF32,
			      .is_strict = w->dtype.src == DTYPE_F32};
	return 1;
}

enum dtype stage_type(const struct stage *s, enum tensor_role role)
{
	return role == TENSOR_BIAS && s->numbers.is_whole ? DTYPE_F32 : workload_dtype(&s->w, role);
}

/* ---- elements ---- */

/* Elements that lie one behind the other in the device's memory, and so far apart in the caller's
 * array. */
struct row {
	int64_t size, step;
};

/* Takes the longest row that all others are like. Of its dimensions the size becomes 1. */
static struct row take_row(const struct placed *t, int64_t size[PLACED_DIMS])
{
	struct row row = {1, 1};
	int i;

	do {
		for (i = 0; i < t->n; i++)
			if (size[i] > 1 && t->stride[i] == row.size &&
			    (row.size == 1 || t->from[i] == row.size * row.step))
				break;
		if (i < t->n) {
			row.step = row.size == 1 ? t->from[i] : row.step;
			row.size *= size[i];
			size[i] = 1;
		}
	} while (i < t->n);
	return row;
}

static void copy_run(enum elem type, char *device, float *caller, int64_t n, int back)
{
	if (back)
		elem_to_floats(type, device, caller, n);
	else
		elem_from_floats(type, caller, device, n);
}

/* Copies by pieces, where the caller's elements have gaps between them. */
static void copy_row(enum elem type, const struct row *row, char *device, float *caller, int back)
{
	enum { PIECE = 512 };
	float piece[PIECE];

	if (row->step == 1) {
		copy_run(type, device, caller, row->size, back);
		return;
	}
	for (int64_t i = 0; i < row->size; i += PIECE) {
		const int64_t n = row->size - i < PIECE ? row->size - i : PIECE;
		float *at = caller + i * row->step;

		for (int64_t j = 0; j < n && !back; j++)
			piece[j] = at[j * row->step];
		copy_run(type, device + i * elem_size(type), piece, n, back);
		for (int64_t j = 0; j < n && back; j++)
			at[j * row->step] = piece[j];
	}
}

/* Copies all elements between the device's form, of this type, and the caller's array. */
static void copy(enum elem type, const struct placed *t, void *device, float *caller, int back)
{
	int64_t size[PLACED_DIMS] = {1, 1, 1, 1}, at[PLACED_DIMS];
	struct row row;

	memcpy(size, t->size, (size_t)t->n * sizeof *size);
	row = take_row(t, size);
	for (at[0] = 0; at[0] < size[0]; at[0]++)
		for (at[1] = 0; at[1] < size[1]; at[1]++)
			for (at[2] = 0; at[2] < size[2]; at[2]++)
				for (at[3] = 0; at[3] < size[3]; at[3]++) {
					int64_t to = 0, from = 0;

					for (int i = 0; i < t->n; i++) {
						to += at[i] * t->stride[i];
						from += at[i] * t->from[i];
					}
					copy_row(type, &row, (char *)device + to * elem_size(type),
						 caller + from, back);
				}
}

/* ---- memory ---- */

static const float *caller_data(const struct stage *s, enum tensor_role role)
{
	switch (role) {
	case TENSOR_SRC:
		return s->data.src;
	case TENSOR_WEIGHTS:
		return s->data.weights;
	case TENSOR_BIAS:
		return s->data.bias;
	case TENSOR_ADD:
		return s->data.add;
	case TENSOR_MUL:
		return s->data.mul;
	default:
		return NULL;
	}
}

static size_t bytes_of(const struct stage *s, const struct placed *t)
{
	return (size_t)placed_elements(t) * (size_t)elem_size(elem_of(stage_type(s, t->role)));
}

static struct memory *give(const struct stage *s, const void *from, size_t bytes, struct err *e)
{
	struct memory *m = driver_cuda.memory(s->device, bytes, e);

	if (m && driver_cuda.write(m, 0, from, bytes, e) < 0) {
		driver_cuda.free(m);
		m = NULL;
	}
	return m;
}

/* Keeps memory with these bytes; its address. */
static void *hold(struct stage *s, const struct placed *as, int is_zero, const void *from,
		  size_t bytes, struct err *e)
{
	struct memory *m;

	if (s->nheld == STAGE_HELD) {
		err_set(e, "a problem needs more than %d tensors", STAGE_HELD);
		return NULL;
	}
	m = give(s, from, bytes, e);
	if (!m)
		return NULL;
	s->held[s->nheld].memory = m;
	s->held[s->nheld].is_zero = is_zero;
	s->held[s->nheld++].as = *as;
	return cuda_address(m);
}

static void *find(const struct stage *s, const struct placed *t, int is_zero)
{
	for (int i = 0; i < s->nheld; i++)
		if (s->held[i].is_zero == is_zero && !memcmp(&s->held[i].as, t, sizeof *t))
			return cuda_address(s->held[i].memory);
	return NULL;
}

static void *input(struct stage *s, const struct placed *t, int is_zero, struct err *e)
{
	void *there = find(s, t, is_zero), *array;

	if (there)
		return there;
	array = xcalloc(1, bytes_of(s, t));
	if (!is_zero)
		copy(elem_of(stage_type(s, t->role)), t, array, (float *)caller_data(s, t->role),
		     0);
	there = hold(s, t, is_zero, array, bytes_of(s, t), e);
	free(array);
	return there;
}

void *stage_input(struct stage *s, const struct placed *t, struct err *e)
{
	return input(s, t, 0, e);
}

void *stage_zeros(struct stage *s, const struct placed *t, struct err *e)
{
	return input(s, t, 1, e);
}

void *stage_number(struct stage *s, float number, struct err *e)
{
	struct memory *m;

	for (int i = 0; i < s->nnumbers; i++)
		if (s->number[i].value == number)
			return cuda_address(s->number[i].memory);
	assert(s->nnumbers < STAGE_NUMBERS);
	m = give(s, &number, sizeof number, e);
	if (!m)
		return NULL;
	s->number[s->nnumbers].value = number;
	s->number[s->nnumbers++].memory = m;
	return cuda_address(m);
}

void *stage_dst(const struct stage *s)
{
	return cuda_address(s->dst);
}

void *stage_middle(const struct stage *s)
{
	return cuda_address(s->middle);
}

/* Of the results, in elements of this type. */
static size_t dst_bytes(const struct stage *s, enum dtype type)
{
	return (size_t)workload_size(&s->w, TENSOR_DST) * (size_t)elem_size(elem_of(type));
}

void stage_want(struct stage *s, size_t workspace)
{
	if (workspace > s->workspace_bytes)
		s->workspace_bytes = workspace;
}

int stage_provide(struct stage *s, struct err *e)
{
	if (!s->workspace_bytes)
		return 0;
	s->workspace = driver_cuda.memory(s->device, s->workspace_bytes, e);
	return s->workspace ? 0 : -1;
}

void *stage_workspace(const struct stage *s)
{
	return s->workspace ? cuda_address(s->workspace) : NULL;
}

int stage_open(struct stage *s, const struct workload *w, const struct baseline_data *data,
	       struct err *e)
{
	s->w = *w;
	s->data = *data;
	s->device = device_of_process(&driver_cuda, e);
	if (!s->device)
		return -1;
	s->dst = driver_cuda.memory(s->device, dst_bytes(s, w->dtype.dst), e);
	if (s->dst)
		s->middle = driver_cuda.memory(s->device, dst_bytes(s, s->numbers.middle), e);
	return s->middle ? 0 : -1;
}

void stage_close(struct stage *s)
{
	struct memory *const own[] = {s->dst, s->middle, s->workspace};

	for (int i = 0; i < s->nheld; i++)
		driver_cuda.free(s->held[i].memory);
	for (int i = 0; i < s->nnumbers; i++)
		driver_cuda.free(s->number[i].memory);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i])
			driver_cuda.free(own[i]);
}

/* Bytes that make NaN, and 2139062143, which no relu hides. */
enum { NO_NUMBER = 0xff, NO_WHOLE_NUMBER = 0x7f };

/* Fills results of this type with what none is. */
static int poison(const struct stage *s, struct memory *results, enum dtype type, struct err *e)
{
	const size_t bytes = dst_bytes(s, type);
	char *array = xmalloc(bytes);
	int rc;

	memset(array, type == DTYPE_S32 ? NO_WHOLE_NUMBER : NO_NUMBER, bytes);
	rc = driver_cuda.write(results, 0, array, bytes, e);
	free(array);
	return rc;
}

int stage_poison(struct stage *s, struct err *e)
{
	if (poison(s, s->dst, s->w.dtype.dst, e) < 0)
		return -1;
	return poison(s, s->middle, s->numbers.middle, e);
}

int stage_read(struct stage *s, const struct placed *dst, float *to, struct err *e)
{
	const size_t bytes = dst_bytes(s, s->w.dtype.dst);
	void *array = xmalloc(bytes);
	int rc = driver_cuda.read(s->dst, 0, array, bytes, e);

	if (rc == 0)
		copy(elem_of(s->w.dtype.dst), dst, array, to, 1);
	free(array);
	return rc;
}
