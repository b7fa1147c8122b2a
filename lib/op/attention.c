/* Attention: softmax of the products of queries and keys, over the root of their length, and of
 * what it makes the products with the values. Written b2h12_m128n128_k64v64, with _mask1 behind it
 * where a tensor is added to the scores; batch-first, each head row-major. */
#include "lib/op/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nest/nest.h"

/* One "name123" of the text; moves *s behind it. */
static int parse_dim(const struct op *op, const char **s, int64_t *dim, struct err *e)
{
	const char *const *names = op->dim;
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz"), digits;
	int i = 0;

	while (i <= ATTENTION_MASK && (strlen(names[i]) != n || memcmp(names[i], *s, n) != 0))
		i++;
	if (i > ATTENTION_MASK)
		return err_set(e, "\"%.20s\" is no dimension of attention", *s);
	if (dim[i] >= 0)
		return err_set(e, "the dimension %s is given twice", names[i]);
	digits = strspn(*s + n, "0123456789");
	if (!digits || digits > 10)
		return err_set(e, "the dimension %s has no number up to 2^31-1", names[i]);
	dim[i] = strtoll(*s + n, NULL, 10);
	*s += n + digits;
	return 0;
}

static int parse(const struct op *op, const char *prob, int64_t *dim, struct err *e)
{
	const char *s = prob;

	for (int i = 0; i <= ATTENTION_MASK; i++)
		dim[i] = -1;
	while (*s && !op_is_label(s)) {
		if (*s == '_')
			s++;
		else if (parse_dim(op, &s, dim, e))
			return -1;
	}
	for (int i = ATTENTION_M; i <= ATTENTION_K; i++)
		if (dim[i] < 0)
			return err_set(e, "the problem \"%.60s\" has no %s", prob, op->dim[i]);
	for (int i = ATTENTION_B; i <= ATTENTION_H; i++)
		if (dim[i] < 0)
			dim[i] = 1;
	if (dim[ATTENTION_V] < 0)
		dim[ATTENTION_V] = dim[ATTENTION_K];
	if (dim[ATTENTION_MASK] < 0)
		dim[ATTENTION_MASK] = 0;
	return 0;
}

static void print(const struct op *op, const int64_t *dim, struct buf *out)
{
	for (int i = 0; i <= ATTENTION_V; i++) {
		if (i && i % 2 == 0)
			buf_ch(out, '_');
		buf_str(out, op->dim[i]);
		buf_int(out, dim[i]);
	}
	if (dim[ATTENTION_MASK])
		buf_fmt(out, "_mask%lld", (long long)dim[ATTENTION_MASK]);
}

static int check(const struct workload *w, struct err *e)
{
	const int64_t *d = w->dim, b = d[0], h = d[1], m = d[2], n = d[3], k = d[4], v = d[5];
	const int64_t sizes[][4] = {
		{b, h, m, k}, {b, h, n, k}, {b, h, n, v}, {b, h, m, v}, {b, h, m, n}};

	if (op_check_dims(w, ATTENTION_V + 1, e))
		return -1;
	if (d[ATTENTION_MASK] < 0 || d[ATTENTION_MASK] > 1)
		return err_set(e, "the mask is %lld, neither 0 nor 1",
			       (long long)d[ATTENTION_MASK]);
	if (w->layout != LAYOUT_AB)
		return err_set(e, "attention has no layout %s", layout_name(w->layout));
	if (w->npost)
		return err_set(e, "attention has no post-operations");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (op_product(sizes[i], 4, OP_MOST_ELEMENTS) < 0)
			return err_set(e, "a tensor has more than 2^40 elements");
	if (op_product((int64_t[]){2, b, h, m, n, k + v}, 6, OP_MOST_FLOPS) < 0)
		return err_set(e, "the problem has more than 2^53-1 operations");
	return 0;
}

static int64_t flops(const struct workload *w)
{
	const int64_t *d = w->dim;

	return 2 * d[ATTENTION_B] * d[ATTENTION_H] * d[ATTENTION_M] * d[ATTENTION_N] *
	       (d[ATTENTION_K] + d[ATTENTION_V]);
}

/* Keys stand in the place of weights, values in that of a factor, the mask in that of what is
 * added. */
static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	const int64_t *d = w->dim;
	int64_t heads = d[ATTENTION_B] * d[ATTENTION_H];
	int n = 0;

	t[n++] = (struct tensor){TENSOR_SRC, heads * d[ATTENTION_M] * d[ATTENTION_K], 0};
	t[n++] = (struct tensor){TENSOR_WEIGHTS, heads * d[ATTENTION_N] * d[ATTENTION_K], 0};
	if (d[ATTENTION_MASK])
		t[n++] = (struct tensor){TENSOR_ADD, heads * d[ATTENTION_M] * d[ATTENTION_N], 0};
	t[n++] = (struct tensor){TENSOR_MUL, heads * d[ATTENTION_N] * d[ATTENTION_V], 0};
	t[n++] = (struct tensor){TENSOR_DST, heads * d[ATTENTION_M] * d[ATTENTION_V], 0};
	return n;
}

/* The nest while it is built: variables, symbols and buffers by the names of the dimensions. */
struct naive {
	struct nest *n;
	int q, k, mask;		      /* buffers */
	int row, head, m, keys, size; /* row: head * m + query */
	int score;		      /* a register */
	double scale;
};

static const struct expr *load(struct nest *n, int buffer, struct affine at)
{
	return ex_op(n, EXPR_WIDEN, ex_load(n, buffer, 1, at, NULL), NULL, NULL);
}

/* Computes the score of a key, in its register. */
static void put_score(struct naive *x, int key)
{
	struct nest *n = x->n;
	int at, p;

	nest_store(n, x->score, af(0), NULL, ex_const(n, ELEM_F64, 1, 0));
	at = nest_let(n, "at", af_add(af_times(af_var(x->head), x->keys), af_var(key)));
	p = nest_for(n, LOOP_SERIAL, "p", af(0), af_var(x->size));
	nest_store(n, x->score, af(0), NULL,
		   ex_op(n, EXPR_FMA,
			 load(n, x->q, af_add(af_times(af_var(x->row), x->size), af_var(p))),
			 load(n, x->k, af_add(af_times(af_var(at), x->size), af_var(p))),
			 ex_reg(n, x->score, af(0))));
	nest_close(n);
	nest_store(n, x->score, af(0), NULL,
		   ex_op(n, EXPR_MUL, ex_reg(n, x->score, af(0)),
			 ex_const(n, ELEM_F64, 1, x->scale), NULL));
	if (x->mask >= 0)
		nest_store(n, x->score, af(0), NULL,
			   ex_op(n, EXPR_ADD, ex_reg(n, x->score, af(0)),
				 load(n, x->mask,
				      af_add(af_times(af_var(x->row), x->keys), af_var(key))),
				 NULL));
}

static void set(struct nest *n, int reg, enum expr_kind kind, const struct expr *with)
{
	nest_store(n, reg, af(0), NULL, ex_op(n, kind, ex_reg(n, reg, af(0)), with, NULL));
}

static const struct expr *share(struct naive *x, int most)
{
	return ex_op(x->n, EXPR_EXP,
		     ex_op(x->n, EXPR_SUB, ex_reg(x->n, x->score, af(0)), ex_reg(x->n, most, af(0)),
			   NULL),
		     NULL, NULL);
}

static int keys(struct naive *x)
{
	return nest_for(x->n, LOOP_SERIAL, "key", af(0), af_var(x->keys));
}

static void open(struct naive *x, const struct workload *w, struct nest *n)
{
	const int64_t *d = w->dim, heads = d[ATTENTION_B] * d[ATTENTION_H];
	int query;

	*x = (struct naive){.n = n, .mask = -1, .scale = 1 / sqrt((double)d[ATTENTION_K])};
	x->q = nest_arg(n, "q", TENSOR_SRC, heads * d[ATTENTION_M] * d[ATTENTION_K], 0);
	x->k = nest_arg(n, "k", TENSOR_WEIGHTS, heads * d[ATTENTION_N] * d[ATTENTION_K], 0);
	if (d[ATTENTION_MASK])
		x->mask =
			nest_arg(n, "mask", TENSOR_ADD, heads * d[ATTENTION_M] * d[ATTENTION_N], 0);
	x->m = nest_param(n, "M", d[ATTENTION_M]);
	x->keys = nest_param(n, "N", d[ATTENTION_N]);
	x->size = nest_param(n, "K", d[ATTENTION_K]);
	x->score = nest_reg(n, "score", ELEM_F64, 1, 1, 1);
	x->head = nest_for(n, LOOP_PARALLEL, "head", af(0), af_var(nest_param(n, "H", heads)));
	query = nest_for(n, LOOP_PARALLEL, "query", af(0), af_var(x->m));
	x->row = nest_let(n, "row", af_add(af_times(af_var(x->head), x->m), af_var(query)));
}

/* The scores of a row are computed for the largest, for the sum, and for each number of the result:
 * a definition needs no memory for them. */
static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	const int64_t *d = w->dim, heads = d[ATTENTION_B] * d[ATTENTION_H];
	int most = nest_reg(n, "most", ELEM_F64, 1, 1, 1),
	    sum = nest_reg(n, "sum", ELEM_F64, 1, 1, 1);
	int out = nest_reg(n, "out", ELEM_F64, 1, 1, 1), v, dst, size, key, j, at;
	struct naive x;

	(void)wide;
	(void)e;
	v = nest_arg(n, "v", TENSOR_MUL, heads * d[ATTENTION_N] * d[ATTENTION_V], 0);
	dst = nest_arg(n, "dst", TENSOR_DST, heads * d[ATTENTION_M] * d[ATTENTION_V], 1);
	size = nest_param(n, "V", d[ATTENTION_V]);
	open(&x, w, n);
	nest_store(n, most, af(0), NULL, ex_const(n, ELEM_F64, 1, -1e300));
	nest_store(n, sum, af(0), NULL, ex_const(n, ELEM_F64, 1, 0));
	put_score(&x, key = keys(&x));
	set(n, most, EXPR_MAX, ex_reg(n, x.score, af(0)));
	nest_close(n);
	put_score(&x, key = keys(&x));
	set(n, sum, EXPR_ADD, share(&x, most));
	nest_close(n);
	j = nest_for(n, LOOP_SERIAL, "j", af(0), af_var(size));
	nest_store(n, out, af(0), NULL, ex_const(n, ELEM_F64, 1, 0));
	put_score(&x, key = keys(&x));
	at = nest_let(n, "value", af_add(af_times(af_var(x.head), x.keys), af_var(key)));
	nest_store(n, out, af(0), NULL,
		   ex_op(n, EXPR_FMA, share(&x, most),
			 load(n, v, af_add(af_times(af_var(at), size), af_var(j))),
			 ex_reg(n, out, af(0))));
	nest_close(n);
	set(n, out, EXPR_DIV, ex_reg(n, sum, af(0)));
	nest_store(n, dst, af_add(af_times(af_var(x.row), size), af_var(j)), NULL,
		   ex_op(n, EXPR_NARROW, ex_reg(n, out, af(0)), NULL, NULL));
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct op op_attention = {
	.name = "attention",
	.summary = "attention of queries to keys and values, as one",
	.ndims = ATTENTION_MASK + 1,
	.dim = {"b", "h", "m", "n", "k", "v", "mask"},
	.layout = LAYOUT_AB,
	.is_product = 1,
	.parse = parse,
	.print = print,
	.check = check,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
