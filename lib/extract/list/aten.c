#include "lib/extract/list/aten.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/told.h"

enum { INPUTS = 12, RANK = 8 };

struct input {
	int rank; /* -1: no shape is told */
	int64_t dim[RANK];
	int type;		     /* enum dtype; -1: none of ours */
	const struct json *concrete; /* a text such as "[2, 2]"; may be NULL */
};

struct inputs {
	int n;
	struct input in[INPUTS];
};

static void read_shape(const struct json_doc *d, const struct json *v, struct input *to)
{
	to->rank = 0;
	for (const struct json *i = json_first(d, v); v->type == JSON_ARR && i;
	     i = json_next(d, v, i)) {
		int64_t size;

		if (to->rank == RANK || json_int(i, &size) || size < 0 || size > INT32_MAX) {
			to->rank = -1;
			return;
		}
		to->dim[to->rank++] = size;
	}
}

static void read_inputs(const struct json_doc *d, const struct json *args, struct inputs *to)
{
	const struct json *dims = json_get(d, args, "Input Dims");
	const struct json *types = json_get(d, args, "Input type");
	const struct json *concrete = json_get(d, args, "Concrete Inputs");
	const struct json *type, *number;

	to->n = 0;
	if (!dims)
		dims = json_get(d, args, "Input dims");
	if (!dims || dims->type != JSON_ARR)
		return;
	type = types ? json_first(d, types) : NULL;
	number = concrete ? json_first(d, concrete) : NULL;
	for (const struct json *v = json_first(d, dims); v && to->n < INPUTS;
	     v = json_next(d, dims, v)) {
		struct input *in = &to->in[to->n++];

		read_shape(d, v, in);
		in->type = type ? told_dtype(type->s, type->n) : types ? -1 : (int)DTYPE_F32;
		in->concrete = number;
		type = type ? json_next(d, types, type) : NULL;
		number = number ? json_next(d, concrete, number) : NULL;
	}
}

static const struct input *input_of(const struct inputs *in, int i)
{
	return i >= 0 && i < in->n && in->in[i].rank > 0 ? &in->in[i] : NULL;
}

/* The numbers of input i, "[2, 2]" or "2"; how many, -1: none are told. */
static int numbers_of(const struct inputs *in, int i, int64_t v[RANK])
{
	const struct json *c = i < in->n ? in->in[i].concrete : NULL;
	const char *s, *end;
	int n = 0;

	if (!c || c->type != JSON_STR)
		return -1;
	s = c->s;
	end = s + c->n;
	while (s < end && n < RANK) {
		char *stop;

		if (strchr("[], ", *s)) {
			s++;
			continue;
		}
		v[n] = strtoll(s, &stop, 10);
		if (stop == s || v[n] < 0 || v[n] > INT32_MAX)
			return -1;
		n++;
		s = stop;
	}
	return n ? n : -1;
}

static void untold(struct aten *to, const char *why)
{
	to->kind = ATEN_UNTOLD;
	to->why = why;
	to->macs = -1;
}

static void left(struct aten *to, const char *why, int64_t macs)
{
	to->kind = ATEN_LEFT;
	to->why = why;
	to->macs = macs;
}

/* Results have the type of what they are made of. */
static int types_of(const struct input *x, const struct input *w, struct dtypes *to)
{
	return told_types(x->type, w->type, x->type, to);
}

/* Where the arguments of a convolution stand; -1: it has none. */
struct conv_signature {
	const char *name;
	int bias, stride, pad, dilation, groups, transposed;
};

static const struct conv_signature convs[] = {
	{"aten::conv1d", 2, 3, 4, 5, 6, -1},
	{"aten::conv2d", 2, 3, 4, 5, 6, -1},
	{"aten::conv3d", 2, 3, 4, 5, 6, -1},
	{"aten::convolution", 2, 3, 4, 5, 8, 6},
	{"aten::_convolution", 2, 3, 4, 5, 8, 6},
	{"aten::convolution_overrideable", 2, 3, 4, 5, 8, 6},
	{"aten::mkldnn_convolution", 2, 4, 3, 5, 6, -1},
	{"aten::miopen_convolution", 2, 4, 3, 5, 6, -1},
	{"aten::cudnn_convolution", -1, 3, 2, 4, 5, -1},
	{"mkldnn::_convolution_pointwise", 2, 4, 3, 5, 6, -1},
};

static int is_true(const struct inputs *in, int i)
{
	return i >= 0 && i < in->n && in->in[i].concrete && json_is(in->in[i].concrete, "True");
}

static int read_window(const struct inputs *in, const struct conv_signature *s, struct told_conv *t)
{
	int64_t stride[RANK], pad[RANK], dilation[RANK], groups[RANK];
	int ns = numbers_of(in, s->stride, stride), np = numbers_of(in, s->pad, pad);
	int nd = numbers_of(in, s->dilation, dilation), ng = numbers_of(in, s->groups, groups);

	if ((ns != 1 && ns != t->space) || (np != 1 && np != t->space) ||
	    (nd != 1 && nd != t->space) || ng != 1)
		return -1;
	t->groups = groups[0];
	for (int i = 0; i < t->space; i++) {
		t->stride[i] = stride[ns == 1 ? 0 : i];
		t->before[i] = t->after[i] = pad[np == 1 ? 0 : i];
		t->dilation[i] = dilation[nd == 1 ? 0 : i];
	}
	return 0;
}

static void read_conv(const struct inputs *in, const struct conv_signature *s, struct aten *to)
{
	const struct input *x = input_of(in, 0), *w = input_of(in, 1);
	struct err e = ERR_INIT;
	struct told_conv t;

	if (!x || !w || w->rank < 3 || w->rank > 2 + TOLD_SPACE ||
	    (x->rank != w->rank && x->rank != w->rank - 1)) {
		untold(to, "without shapes");
		return;
	}
	t = told_conv_plain(w->rank - 2);
	t.mb = x->rank == w->rank ? x->dim[0] : 1;
	t.ic = x->dim[x->rank - 1 - t.space];
	t.oc = w->dim[0];
	for (int i = 0; i < t.space; i++) {
		t.in[i] = x->dim[x->rank - t.space + i];
		t.kernel[i] = w->dim[2 + i];
	}
	if (is_true(in, s->transposed)) {
		left(to, "transposed", -1);
	} else if (read_window(in, s, &t)) {
		untold(to, "without strides and padding");
	} else if (types_of(x, w, &t.dtype)) {
		left(to, "of other types", told_conv_macs(&t));
	} else if (told_conv(&t, 0, &to->w[0], &e)) {
		untold(to, "of absurd sizes");
	} else {
		if (input_of(in, s->bias))
			to->w[0].post[to->w[0].npost++].kind = POST_BIAS;
		to->kind = workload_finish(&to->w[0], &e) ? ATEN_OTHER : ATEN_WORK;
		to->n = 1;
	}
}

/* Where the sides of a product stand, and what is added to it (-1: nothing); turned: the right side
 * is N x K. */
struct product_signature {
	const char *name;
	int a, b, added, turned;
};

static const struct product_signature products[] = {
	{"aten::mm", 0, 1, -1, 0},
	{"aten::addmm", 1, 2, 0, 0},
	{"aten::bmm", 0, 1, -1, 0},
	{"aten::baddbmm", 1, 2, 0, 0},
	{"aten::linear", 0, 1, 2, 1},
	{"aten::matmul", 0, 1, -1, 0},
	{"aten::mv", 0, 1, -1, 0},
	{"aten::addmv", 1, 2, 0, 0},
	{"aten::_addmm_activation", 1, 2, 0, 0},
	{"mkl::_mkl_linear", 0, 2, 3, 1},
	{"mkldnn::_linear_pointwise", 0, 1, 2, 1},
};

static int64_t rows_of(const struct input *x)
{
	int64_t n = 1;

	for (int i = 0; i + 1 < x->rank; i++)
		n = told_times(n, x->dim[i]);
	return n;
}

/* The batch that two sides of the same rank share; -1: they do not. */
static int64_t batch_of(const struct input *a, const struct input *b)
{
	int64_t n = 1;

	for (int i = 0; i + 2 < a->rank; i++)
		n = told_times(n, a->dim[i] == b->dim[i] ? a->dim[i] : -1);
	return n;
}

static void make_product(const struct input *a, const struct input *b, int turned, struct aten *to)
{
	int64_t batch = 1, m = rows_of(a), k = a->dim[a->rank - 1], n, depth;
	struct dtypes dtype;
	struct err e = ERR_INIT;

	if (b->rank == 1) {
		depth = b->dim[0];
		n = 1;
	} else {
		depth = b->dim[b->rank - (turned ? 1 : 2)];
		n = b->dim[b->rank - (turned ? 2 : 1)];
	}
	if (b->rank > 2) {
		batch = a->rank == b->rank ? batch_of(a, b) : -1;
		m = a->dim[a->rank - 2];
	}
	if (batch < 1 || depth != k || m < 1)
		untold(to, "of shapes that we do not know");
	else if (types_of(a, b, &dtype))
		left(to, "of other types", told_product_macs(batch, m, k, n));
	else if (told_product(batch, m, k, n, b->rank <= 2, &dtype, &to->w[to->n], &e))
		untold(to, "of absurd sizes");
	else {
		to->kind = ATEN_WORK;
		to->n++;
	}
}

static void read_product(const struct inputs *in, const struct product_signature *s,
			 struct aten *to)
{
	const struct input *a = input_of(in, s->a), *b = input_of(in, s->b);
	const struct input *added = input_of(in, s->added);
	struct workload *w = &to->w[0];
	struct err e = ERR_INIT;

	if (!a || !b) {
		untold(to, "without shapes");
		return;
	}
	make_product(a, b, s->turned, to);
	if (to->kind != ATEN_WORK || !added)
		return;
	w->post[w->npost++].kind =
		added->rank == 1 && added->dim[0] == w->dim[MATMUL_N] ? POST_BIAS : POST_ADD;
	if (workload_finish(w, &e))
		untold(to, "of absurd sizes");
}

/* softmax(Q K^T) V, as its two products. */
static void read_attention(const struct inputs *in, struct aten *to)
{
	const struct input *q = input_of(in, 0), *k = input_of(in, 1), *v = input_of(in, 2);
	struct input scores;

	if (!q || !k || !v || q->rank < 3 || k->rank != q->rank || v->rank != q->rank) {
		untold(to, "without shapes");
		return;
	}
	scores = *q;
	scores.dim[q->rank - 1] = k->dim[k->rank - 2];
	make_product(q, k, 1, to);
	if (to->kind == ATEN_WORK)
		make_product(&scores, v, 0, to);
}

void aten_read(const struct json_doc *d, const char *name, const struct json *args, struct aten *to)
{
	static const char attention[] =
		"aten::scaled_dot_product_attention aten::_scaled_dot_product";
	static const char heavy[] = "aten::convolution_backward aten::conv_transpose "
				    "aten::mkldnn_rnn_layer aten::_cudnn_rnn aten::_thnn_fused "
				    "aten::_flash_attention aten::_efficient_attention "
				    "aten::_scaled_mm";
	const int is_backward = strstr(name, "backward") != NULL;
	struct inputs in;

	*to = (struct aten){.kind = ATEN_OTHER};
	read_inputs(d, args, &in);
	for (size_t i = 0; i < sizeof convs / sizeof *convs; i++)
		if (!strcmp(name, convs[i].name)) {
			read_conv(&in, &convs[i], to);
			return;
		}
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		if (!strcmp(name, products[i].name)) {
			read_product(&in, &products[i], to);
			return;
		}
	if (words_begin(attention, name) && !is_backward)
		read_attention(&in, to);
	else if (words_begin(heavy, name))
		left(to, is_backward ? "backward" : "", -1);
}
