#include "lib/schedule/operand.h"

#include <stddef.h>

#include "lib/tile/post.h"
#include "lib/tile/tile.h"

struct affine window_at(const struct window *w, struct affine i)
{
	return af_add(af_scale(af_sub(i, w->first), w->stride), w->rest);
}

void access_name(struct nest *n, struct access *a, int d, const char *name)
{
	a->dim[d].symbol = nest_param(n, name, a->dim[d].step);
}

struct affine access_at_(const struct access *a, const struct index *at, unsigned long n)
{
	struct affine sum = af(0);

	for (; n--; at++) {
		int symbol = a->dim[at->dim].symbol;

		if (symbol >= 0)
			sum = af_add(sum, af_times(at->i, symbol));
		else if (a->dim[at->dim].step)
			sum = af_add(sum, af_mul(at->i, a->dim[at->dim].step));
	}
	return sum;
}

const struct affine *operand_left(struct nest *n, int extent, int64_t nr, struct affine at)
{
	return n->var[extent].value % nr ? nest_keep(n, af_sub(af_var(extent), at)) : NULL;
}

int64_t operand_pitch(const struct nest *n, int64_t columns)
{
	return n->pitch ? n->pitch : columns;
}

void operand_place(struct nest *n, int columns, int64_t nr, struct affine row, struct affine column,
		   struct brgemm_out *o)
{
	o->c_at = af_add(af_scale(row, o->c_row), column);
	o->valid = operand_left(n, columns, nr, column);
	o->bias_at = column;
}

int operand_bias(struct nest *n, const struct workload *w, int rank, const struct extent *dim)
{
	struct packing p = {0};

	for (int i = 0; i < rank; i++)
		packing_dim(&p, dim[i].is);
	for (int i = 0; i < rank; i++)
		packing_axis(&p, i, dim[i].padded, 1);
	if (workload_has_post(w, POST_SCALE))
		nest_packed(n, "scale", TENSOR_SCALE, &p);
	if (workload_has_post(w, POST_SHIFT))
		nest_packed(n, "shift", TENSOR_SHIFT, &p);
	return workload_has_post(w, POST_BIAS) ? nest_packed(n, "bias", TENSOR_BIAS, &p) : -1;
}

/* The buffer that was declared for a packed tensor; -1: none was. */
static int packed_of(const struct nest *n, enum tensor_role role)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_PACKED && n->buffer[i].role == (int)role)
			return i;
	return -1;
}

void operand_out(struct nest *n, const struct workload *w, int bias, int64_t size,
		 struct brgemm_out *o)
{
	o->bias = bias;
	o->scale = workload_group(w) ? -1 : packed_of(n, TENSOR_SCALE);
	o->shift = packed_of(n, TENSOR_SHIFT);
	o->is_whole = dtype_is_int(w->dtype.src);
	o->makes_whole = dtype_is_int(w->dtype.dst);
	o->adds = workload_has_post(w, POST_ADD);
	o->mul = workload_has_post(w, POST_MUL) ? nest_arg(n, "mul", TENSOR_MUL, size, 0) : -1;
	o->c = nest_arg(n, "dst", TENSOR_DST, size, 1);
	o->npost = w->npost;
	o->post = w->post;
}

void operand_types(struct nest *n, const struct workload *w)
{
	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];

		if (b->kind == BUFFER_ARG ||
		    (b->kind == BUFFER_PACKED &&
		     (b->role == TENSOR_WEIGHTS || b->role == TENSOR_PAD ||
		      (b->role == TENSOR_BIAS && dtype_is_int(w->dtype.src)))))
			nest_elem(n, i, elem_of(workload_dtype(w, b->role)));
	}
}

void operand_weights(struct nest *n, int buffer, const struct workload *w, const struct tile *t,
		     int is_wide)
{
	const enum elem wide = tile_wide(t, w->dtype.src);

	nest_elem(n, buffer, is_wide ? wide : tile_elem(t, w->dtype.wei));
	if (is_wide && wide == ELEM_F32)
		nest_round(n, buffer);
}

void operand_store(struct nest *n, const struct brgemm_out *o, const struct expr *x,
		   struct affine at, struct affine bias_at, const struct affine *valid)
{
	struct post_values with = {.is_whole = o->makes_whole,
				   .result = n->buffer[nest_base(n, o->c)].elem};

	if (o->bias >= 0)
		with.bias = ex_load(n, o->bias, x->lanes, bias_at, NULL);
	if (o->scale >= 0)
		with.scale = ex_load(n, o->scale, x->lanes, bias_at, NULL);
	if (o->shift >= 0)
		with.shift = ex_load(n, o->shift, x->lanes, bias_at, NULL);
	if (o->adds)
		with.add = ex_load(n, o->c, x->lanes, at, valid);
	if (o->mul >= 0)
		with.mul = ex_load(n, o->mul, x->lanes, at, valid);
	nest_store(n, o->c, at, valid, post_apply(n, x, o->npost, o->post, &with));
}
