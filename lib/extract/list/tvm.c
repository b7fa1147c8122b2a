#include "lib/extract/list/tvm.h"

#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/told.h"

enum { TENSORS = 4, LISTS = 6, RANK = 8 };

struct list {
	int n;
	int64_t v[RANK];
};

/* The arguments of a task, by kind, in order. */
struct arguments {
	struct list tensor[TENSORS];
	int ntensors;
	int type[2], out;	 /* of the first two tensors, and of the result; -1: none of ours */
	struct list list[LISTS]; /* lists of numbers, and single numbers */
	int nlists, ntexts;
	int nflags, flag[2];
	char layout[16]; /* the first text that is one */
};

/* A list of whole numbers, or one of them. -1: it is something else. */
static int read_list(const struct json_doc *d, const struct json *v, struct list *to)
{
	to->n = 0;
	if (v->type == JSON_INT) {
		to->n = 1;
		return json_int(v, &to->v[0]);
	}
	if (v->type != JSON_ARR)
		return -1;
	for (const struct json *i = json_first(d, v); i; i = json_next(d, v, i)) {
		if (to->n == RANK || json_int(i, &to->v[to->n]) || to->v[to->n] < 0 ||
		    to->v[to->n] > INT32_MAX)
			return -1;
		to->n++;
	}
	return 0;
}

static void read_tensor(const struct json_doc *d, const struct json *v, struct arguments *a)
{
	const struct json *shape = json_next(d, v, json_first(d, v));
	const struct json *type = shape ? json_next(d, v, shape) : NULL;

	if (a->ntensors == TENSORS || !shape || read_list(d, shape, &a->tensor[a->ntensors]))
		return;
	if (a->ntensors < 2)
		a->type[a->ntensors] = type ? told_dtype(type->s, type->n) : -1;
	a->ntensors++;
}

static void read_arguments(const struct json_doc *d, const struct json *args, struct arguments *a)
{
	*a = (struct arguments){.out = -1};
	for (const struct json *v = json_first(d, args); v; v = json_next(d, args, v)) {
		const struct json *first = v->type == JSON_ARR ? json_first(d, v) : NULL;
		int flag;

		if (first && json_is(first, "TENSOR"))
			read_tensor(d, v, a);
		else if (v->type == JSON_STR && !*a->layout && v->n < sizeof a->layout &&
			 memchr(v->s, 'N', v->n) && memchr(v->s, 'C', v->n))
			memcpy(a->layout, v->s, v->n);
		else if (v->type == JSON_STR && told_dtype(v->s, v->n) >= 0)
			a->out = told_dtype(v->s, v->n);
		else if (!json_bool(v, &flag) && a->nflags < 2)
			a->flag[a->nflags++] = flag;
		else if (a->nlists < LISTS && a->ntensors && !read_list(d, v, &a->list[a->nlists]))
			a->nlists++;
	}
}

/* The number along dimension i of a list of one or more. */
static int64_t along(const struct list *l, int i)
{
	return l->n == 1 ? l->v[0] : l->v[i];
}

/* Strides, padding and dilation: the lists behind the tensors. */
static int read_window(const struct arguments *a, struct told_conv *t)
{
	const struct list *stride = &a->list[0], *pad = &a->list[1], *dilation = &a->list[2];
	int s = t->space;

	if (a->nlists < 2 || (stride->n != 1 && stride->n != s) ||
	    (pad->n != 1 && pad->n != s && pad->n != 2 * s))
		return -1;
	for (int i = 0; i < s; i++) {
		t->stride[i] = along(stride, i);
		t->before[i] = t->after[i] = along(pad, i);
		if (pad->n == 2 * s)
			t->after[i] = pad->v[i + s];
		if (a->nlists > 2 && (dilation->n == 1 || dilation->n == s))
			t->dilation[i] = along(dilation, i);
	}
	return 0;
}

/* Data and filter with the channels in blocks: N C/c H W c, and O/o I/i H W i o. */
static int read_blocks(const struct list *x, const struct list *w, int depthwise,
		       struct told_conv *t)
{
	if (x->n != 5 || w->n != 6)
		return -1;
	t->mb = x->v[0];
	t->ic = x->v[1] * x->v[4];
	t->oc = w->v[0] * w->v[5];
	if (depthwise)
		t->groups = t->ic;
	else if (w->v[1] && w->v[4])
		t->groups = t->ic / (w->v[1] * w->v[4]);
	for (int i = 0; i < 2; i++) {
		t->in[i] = x->v[2 + i];
		t->kernel[i] = w->v[2 + i];
	}
	return 0;
}

/* Channels first or last; filters are OIHW or HWIO, and of depthwise convolutions CMHW or HWCM. */
static int read_plain(const struct list *x, const struct list *w, int depthwise, int last,
		      struct told_conv *t)
{
	int space = t->space, from = last ? 1 : 2, window = last ? 0 : 2;
	const int64_t *channels = last ? w->v + space : w->v; /* the two of the filter */

	if (x->n != space + 2 || w->n != space + 2)
		return -1;
	t->mb = x->v[0];
	t->ic = x->v[last ? space + 1 : 1];
	if (depthwise) {
		t->groups = t->ic;
		t->oc = channels[0] * channels[1];
	} else {
		t->oc = channels[last ? 1 : 0];
		t->groups = channels[last ? 0 : 1] ? t->ic / channels[last ? 0 : 1] : 1;
	}
	for (int i = 0; i < space; i++) {
		t->in[i] = x->v[from + i];
		t->kernel[i] = w->v[window + i];
	}
	return 0;
}

static int types_of(const struct arguments *a, struct dtypes *to)
{
	return told_types(a->type[0], a->type[1], a->out < 0 ? a->type[0] : a->out, to);
}

/* NULL, or why there is no convolution. */
static const char *make_conv(const char *name, const struct arguments *a, struct workload *w,
			     int64_t *macs, struct err *e)
{
	int depthwise = strstr(name, "depthwise") != NULL;
	int last =
		words_begin("NHWC NWC NDHWC", a->layout) || (!*a->layout && strstr(name, "nhwc"));
	struct told_conv t = told_conv_plain(strstr(name, "conv1d")   ? 1
					     : strstr(name, "conv3d") ? 3
								      : 2);

	*macs = -1;
	if (a->ntensors < 2 ||
	    (read_plain(&a->tensor[0], &a->tensor[1], depthwise, last, &t) &&
	     read_blocks(&a->tensor[0], &a->tensor[1], depthwise, &t)) ||
	    read_window(a, &t))
		return "its arguments are not those that we know";
	*macs = told_conv_macs(&t);
	if (types_of(a, &t.dtype))
		return "of other types";
	return told_conv(&t, last, w, e) ? e->msg : NULL;
}

static int64_t count_of(const struct list *l, int from)
{
	int64_t n = 1;

	for (int i = from; i < l->n; i++)
		n = told_times(n, l->v[i]);
	return n;
}

/* dense is M x K by N x K, also with the right side in blocks; matmul has it K x N, unless two
 * flags tell what is transposed. */
static const char *make_dense(const char *name, const struct arguments *a, struct workload *w,
			      int64_t *macs, struct err *e)
{
	const struct list *x = &a->tensor[0], *y = &a->tensor[1];
	int is_batch = strstr(name, "batch_matmul") != NULL, turned = a->nflags == 2 && a->flag[0];
	int64_t b = 1, m, k, n;
	struct dtypes dtype;

	*macs = -1;
	if (a->ntensors < 2 || x->n != 2 + is_batch || y->n < 2 + is_batch)
		return "its arguments are not those that we know";
	if (is_batch)
		b = x->v[0] > y->v[0] ? x->v[0] : y->v[0];
	m = x->v[is_batch + turned];
	k = x->v[is_batch + !turned];
	n = count_of(y, is_batch);
	if (k < 1 || n < 1 || n % k)
		return "its arguments are not those that we know";
	n /= k;
	*macs = told_product_macs(b, m, k, n);
	if (types_of(a, &dtype))
		return "of other types";
	if (told_product(b, m, k, n, !is_batch, &dtype, w, e))
		return e->msg;
	if (a->ntensors > 2 && !is_batch && a->tensor[2].n == 1 && a->tensor[2].v[0] == n)
		w->post[w->npost++].kind = POST_BIAS;
	return workload_finish(w, e) ? e->msg : NULL;
}

void tvm_task(struct listing *l, const struct json_doc *d, const char *name,
	      const struct json *args)
{
	int conv = strstr(name, "conv") != NULL,
	    dense = strstr(name, "dense") || strstr(name, "matmul");
	struct err e = ERR_INIT;
	struct arguments a;
	struct workload w;
	const char *why;
	int64_t macs = 0;

	read_arguments(d, args, &a);
	if (strstr(name, "transpose") && conv) {
		why = "transposed";
		macs = -1;
	} else if (strstr(name, "deformable")) {
		why = "deformable";
		macs = -1;
	} else {
		why = conv    ? make_conv(name, &a, &w, &macs, &e)
		      : dense ? make_dense(name, &a, &w, &macs, &e)
			      : "";
	}
	if (why)
		listing_leave_once(l, name, why, args->s, args->n, macs);
	else
		listing_take_once(l, &w, name);
}
