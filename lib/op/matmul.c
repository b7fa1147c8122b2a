/* Matrix product, C[b] = A[b] B[b], row-major. Written MxK:KxN as oneDNN's benchdnn writes it,
 * BxMxK:BxKxN if batched. */
#include "lib/op/op.h"

#include <string.h>

#include "lib/nest/nest.h"
#include "lib/tile/post.h"

/* "AxBxC": up to max numbers into v, their count into *n; moves *s behind them. */
static int parse_shape(const char **s, int64_t *v, int max, int *n, struct err *e)
{
	const char *p = *s;

	for (*n = 0;;) {
		int64_t x = 0;

		if (*p < '0' || *p > '9')
			return err_set(e, "\"%.20s\" stands where a number should be", p);
		if (*n == max)
			return err_set(e, "a matrix has at most %d dimensions here", max);
		for (; *p >= '0' && *p <= '9'; p++) {
			x = x * 10 + (*p - '0');
			if (x > OP_MOST_DIM)
				return err_set(e, "a dimension is beyond 2^31-1");
		}
		v[(*n)++] = x;
		if (*p != 'x')
			break;
		p++;
	}
	*s = p;
	return 0;
}

static int parse(const struct op *op, const char *prob, int64_t *dim, struct err *e)
{
	int64_t a[3] = {0}, b[3] = {0};
	const char *s = prob;
	int na, nb;

	(void)op;
	if (parse_shape(&s, a, 3, &na, e))
		return err_in(e, "the left side of \"%.60s\"", prob);
	if (*s++ != ':')
		return err_set(e, "the problem \"%.60s\" has no ':' between its matrices", prob);
	if (parse_shape(&s, b, 3, &nb, e))
		return err_in(e, "the right side of \"%.60s\"", prob);
	if (*s && *s != 'n' && (s[0] != '_' || s[1] != 'n')) /* n"name" ends the text */
		return err_set(e, "\"%.20s\" stands behind the problem \"%.60s\"", s, prob);
	if (na < 2 || na != nb)
		return err_set(e, "the problem \"%.60s\" is not MxK:KxN or BxMxK:BxKxN", prob);
	if (a[na - 1] != b[nb - 2])
		return err_set(e, "the inner dimensions %lld and %lld differ", (long long)a[na - 1],
			       (long long)b[nb - 2]);
	if (na == 3 && a[0] != b[0])
		return err_set(e, "the batches %lld and %lld differ", (long long)a[0],
			       (long long)b[0]);
	dim[MATMUL_B] = na == 3 ? a[0] : 1;
	dim[MATMUL_M] = a[na - 2];
	dim[MATMUL_K] = a[na - 1];
	dim[MATMUL_N] = b[nb - 1];
	return 0;
}

static void print(const struct op *op, const int64_t *dim, struct buf *out)
{
	(void)op;
	for (int side = 0; side < 2; side++) {
		if (side)
			buf_ch(out, ':');
		if (dim[MATMUL_B] > 1) {
			buf_int(out, dim[MATMUL_B]);
			buf_ch(out, 'x');
		}
		buf_int(out, dim[side ? MATMUL_K : MATMUL_M]);
		buf_ch(out, 'x');
		buf_int(out, dim[side ? MATMUL_N : MATMUL_K]);
	}
}

static int check(const struct workload *w, struct err *e)
{
	int64_t b = w->dim[MATMUL_B], m = w->dim[MATMUL_M], k = w->dim[MATMUL_K],
		n = w->dim[MATMUL_N];

	if (op_check_dims(w, MATMUL_N + 1, e))
		return -1;
	if (w->layout != LAYOUT_AB)
		return err_set(e, "matmul has no layout %s", layout_name(w->layout));
	if (op_product((int64_t[]){b, m, k}, 3, OP_MOST_ELEMENTS) < 0 ||
	    op_product((int64_t[]){b, k, n}, 3, OP_MOST_ELEMENTS) < 0 ||
	    op_product((int64_t[]){b, m, n}, 3, OP_MOST_ELEMENTS) < 0)
		return err_set(e, "a tensor has more than 2^40 elements");
	if (op_product((int64_t[]){2, b, m, k, n}, 5, OP_MOST_FLOPS) < 0)
		return err_set(e, "the problem has more than 2^53-1 operations");
	return 0;
}

static int64_t flops(const struct workload *w)
{
	return 2 * w->dim[MATMUL_B] * w->dim[MATMUL_M] * w->dim[MATMUL_K] * w->dim[MATMUL_N];
}

static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	int64_t b = w->dim[MATMUL_B], m = w->dim[MATMUL_M], k = w->dim[MATMUL_K],
		n = w->dim[MATMUL_N];
	int count = 0;

	t[count++] = (struct tensor){TENSOR_SRC, b * m * k, 0};
	t[count++] = (struct tensor){TENSOR_WEIGHTS, b * k * n, w->rhs_const};
	count += workload_post_tensors(w, n, b * m * n, t + count);
	if (workload_group(w))
		t[count++] = (struct tensor){TENSOR_SCALE, k / workload_group(w) * n, 1};
	if (workload_has_post(w, POST_ZEROS))
		t[count++] = (struct tensor){TENSOR_ZEROS, k / workload_group(w) * n, 1};
	t[count++] = (struct tensor){TENSOR_DST, b * m * n, 0};
	return count;
}

/* Opens the loop over k, or over groups and the values of k in them: returns k. *group: -1, or the
 * group. */
static struct affine open_sum(const struct workload *w, struct nest *n, int vk, int *group)
{
	const int64_t values = workload_group(w);
	int p;

	*group = -1;
	if (!values)
		return af_var(nest_for(n, LOOP_SERIAL, "p", af(0), af_var(vk)));
	*group = nest_for(n, LOOP_SERIAL, "q", af(0),
			  af_var(nest_param(n, "Q", w->dim[MATMUL_K] / values)));
	p = nest_for(n, LOOP_SERIAL, "p", af(0), af_var(nest_param(n, "G", values)));
	return af_add(af_mul(af_var(*group), values), af_var(p));
}

/* The real that a weight stands for: (weight - zero point) * scale, in single precision. */
static const struct expr *dequantized(const struct workload *w, struct nest *n,
				      const int grouped[2], const struct expr *weight,
				      struct affine at)
{
	const struct expr *zero = ex_const(n, ELEM_F32, 1, (double)dtype_middle(w->dtype.wei));

	if (grouped[1] >= 0)
		zero = ex_load(n, grouped[1], 1, at, NULL);
	return ex_op(n, EXPR_MUL, ex_op(n, EXPR_SUB, weight, zero, NULL),
		     ex_load(n, grouped[0], 1, at, NULL), NULL);
}

/* Scales and zero points of groups. */
static void declare_groups(const struct workload *w, struct nest *n, int grouped[2])
{
	static const char *const name[] = {"scales", "zeros"};
	static const enum tensor_role role[] = {TENSOR_SCALE, TENSOR_ZEROS};

	for (int i = 0; i < 2; i++)
		grouped[i] = workload_group(w) && workload_size(w, role[i])
				     ? nest_arg(n, name[i], role[i], workload_size(w, role[i]), 0)
				     : -1;
}

/* The definition: dst[b, i, j] = post(sum over p of src[b, i, p] * weights[b, p, j]). Weights of
 * groups are the reals that they stand for. */
static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	const int64_t *d = w->dim;
	int64_t dst_size = d[MATMUL_B] * d[MATMUL_M] * d[MATMUL_N];
	enum elem elem = wide ? ELEM_F64 : ELEM_F32;
	int src = nest_arg(n, "src", TENSOR_SRC, d[MATMUL_B] * d[MATMUL_M] * d[MATMUL_K], 0);
	int wei = nest_arg(n, "wei", TENSOR_WEIGHTS, d[MATMUL_B] * d[MATMUL_K] * d[MATMUL_N], 0);
	const int64_t together = post_together(d[MATMUL_N]);
	struct post_naive end = {.wide = wide,
				 .sum = nest_reg(n, "acc", elem, 1, (int)together, 1)};
	int vm = nest_param(n, "M", d[MATMUL_M]), vk = nest_param(n, "K", d[MATMUL_K]);
	int vn = nest_param(n, "N", d[MATMUL_N]);
	int vkn = nest_param(n, "KN", d[MATMUL_K] * d[MATMUL_N]);
	int b = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(nest_param(n, "B", d[MATMUL_B])));
	int i = nest_for(n, LOOP_PARALLEL, "i", af(0), af_var(vm));
	int jb = nest_for(n, LOOP_PARALLEL, "jb", af(0),
			  af_var(nest_param(n, "NB", d[MATMUL_N] / together)));
	int row = nest_let(n, "row", af_add(af_times(af_var(b), vm), af_var(i)));
	int grouped[2], u, q, j;
	struct affine p, column;
	const struct expr *x, *y;

	(void)e;
	declare_groups(w, n, grouped);
	workload_post_naive(w, d[MATMUL_N], dst_size, n, &end);
	post_begin(n, &end, together);
	p = open_sum(w, n, vk, &q);
	u = post_open(n, &end, together);
	x = ex_load(n, src, 1, af_add(af_times(af_var(row), vk), p), NULL);
	column = af_add(af_mul(af_var(jb), together), af_var(u));
	y = ex_load(n, wei, 1, af_sum(af_times(af_var(b), vkn), af_times(p, vn), column), NULL);
	if (q >= 0)
		y = dequantized(w, n, grouped, y, af_add(af_times(af_var(q), vn), column));
	post_accumulate(n, &end, x, y);
	nest_close(n);
	nest_close(n);
	if (q >= 0)
		nest_close(n);

	u = post_open(n, &end, together);
	j = nest_let(n, "j", af_add(af_mul(af_var(jb), together), af_var(u)));
	end.bias_at = af_var(j);
	end.at = af_add(af_times(af_var(row), vn), af_var(j));
	post_finish(n, &end);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct op op_matmul = {
	.name = "matmul",
	.summary = "matrix product, batched or not",
	.ndims = MATMUL_N + 1,
	.dim = {"b", "m", "k", "n"},
	.layout = LAYOUT_AB,
	.is_product = 1,
	.parse = parse,
	.print = print,
	.check = check,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
