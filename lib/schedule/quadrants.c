#include "lib/schedule/quadrants.h"

/* The left sides of the products: quadrants A11, A12, A22 of the left side itself, and sums S1 =
 * A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2. */
enum left { S1, S2, S3, S4, SUMS, A11 = SUMS, A12, A22 };
/* The right sides, each by quadrants 11, 12, 21, 22: T1 = B12 - B11, T2 = B22 - T1, T3 = B22 - B12,
 * T4 = B21 - T2. */
enum right { B11, B21, T2, T3, T4, T1, B22, PRODUCTS };
enum { QUADRANTS = 4 };
static const double right_sides[PRODUCTS][QUADRANTS] = {
	[B11] = {1},	       [B21] = {0, 0, 1}, [T2] = {1, -1, 0, 1}, [T3] = {0, -1, 0, 1},
	[T4] = {-1, 1, 1, -1}, [T1] = {-1, 1},	  [B22] = {0, 0, 0, 1},
};
enum { KEPT = 3 }; /* tiles that wait */

void quadrants_weights(struct quadrants *q, int transposed)
{
	struct packing p = {.rank = 4};
	int i = transposed ? 2 : 0, j = 2 - i, k2 = i + 1, n2 = j + 1;
	struct packing_map *m;

	p.extent[i] = p.extent[j] = 2;
	p.extent[k2] = q->depth;
	p.extent[n2] = q->columns;
	m = packing_map(&p, i, j, PRODUCTS, QUADRANTS);
	for (int r = 0; r < PRODUCTS; r++)
		for (int c = 0; c < QUADRANTS; c++)
			m->m[r][c] = right_sides[r][c];
	packing_axis(&p, n2, q->panels, q->width);
	packing_axis(&p, i, PRODUCTS, 1);
	packing_axis(&p, k2, q->depth, 1);
	packing_axis(&p, n2, q->width, 1);
	q->weights = nest_packed(q->n, "B", TENSOR_WEIGHTS, &p);
}

void quadrants_workspace(struct quadrants *q)
{
	q->sums = nest_work(q->n, "S", SUMS * q->block * q->depth);
	q->kept = nest_work(q->n, "P", KEPT * q->highest * q->width);
	q->g.b_k = af(q->width);
	q->g.k = af(q->depth);
	q->out.c_row = af(q->pitch);
}

/* ---- sums of the left side ---- */

/* Where a quadrant of the left side begins. */
static int64_t left_at(const struct quadrants *q, int lower, int right)
{
	return lower * q->rows * 2 * q->depth + right * q->depth;
}

static const struct expr *quadrant(const struct quadrants *q, struct affine at, int lower,
				   int right)
{
	return ex_load(q->n, q->src, q->g.lanes, af_add(at, af(left_at(q, lower, right))), NULL);
}

/* A vector of each sum. */
static void put_vectors(const struct quadrants *q, struct affine from, struct affine to, int lower)
{
	struct nest *n = q->n;
	int r = nest_reg(n, "s", ELEM_F32, q->g.lanes, SUMS, 1);
	const struct expr *x[SUMS];

	if (lower) {
		x[S1] = ex_op(n, EXPR_ADD, quadrant(q, from, 1, 0), quadrant(q, from, 1, 1), NULL);
		x[S3] = ex_op(n, EXPR_SUB, quadrant(q, from, 0, 0), quadrant(q, from, 1, 0), NULL);
	} else {
		x[S1] = ex_const(n, ELEM_F32, q->g.lanes, 0);
		x[S3] = quadrant(q, from, 0, 0);
	}
	x[S2] = ex_op(n, EXPR_SUB, ex_reg(n, r, af(S1)), quadrant(q, from, 0, 0), NULL);
	x[S4] = ex_op(n, EXPR_SUB, quadrant(q, from, 0, 1), ex_reg(n, r, af(S2)), NULL);
	for (int i = S1; i <= S4; i++)
		nest_store(n, r, af(i), NULL, x[i]);
	for (int i = S1; i <= S4; i++)
		nest_store(n, q->sums, af_add(to, af(i * q->block * q->depth)), NULL,
			   ex_reg(n, r, af(i)));
}

void quadrants_sums(const struct quadrants *q, int row, struct affine first, int lower)
{
	int v = nest_for(q->n, LOOP_SERIAL, "v", af(0), af(q->depth / q->g.lanes));
	struct affine column = af_mul(af_var(v), q->g.lanes);

	put_vectors(q, af_add(af_mul(af_var(row), 2 * q->depth), column),
		    af_add(af_mul(af_sub(af_var(row), first), q->depth), column), lower);
	nest_close(q->n);
}

/* ---- the tile ---- */

struct quadrants_place quadrants_at(const struct quadrants *q, struct affine row,
				    struct affine first, int j)
{
	struct affine column = af_mul(af_var(j), q->width);
	struct affine sums = af_mul(af_sub(row, first), q->depth);
	struct brgemm_out out = q->out;
	struct quadrants_place at = {.bias = -1};
	struct nest *n = q->n;

	at.a = nest_view(n, "A", q->src, af_mul(row, 2 * q->depth));
	at.s = nest_view(n, "S", q->sums, sums);
	at.b = nest_view(n, "B", q->weights, af_mul(af_var(j), PRODUCTS * q->depth * q->width));
	brgemm_out_view(n, &out, af_add(af_mul(row, q->pitch), column));
	at.c = out.c;
	at.mul = out.mul;
	if (q->out.bias >= 0)
		at.bias = nest_view(n, "bias", q->out.bias, column);
	if (q->columns % q->width)
		at.valid = nest_keep(n, af_sub(af(q->columns), column));
	return at;
}

static void multiply(struct quadrants *q, const struct quadrants_place *at, enum left l,
		     enum right r)
{
	int sum = l < SUMS, lower = l == A22 ? 1 : 0, right = l != A11;

	q->g.a = sum ? at->s : at->a;
	q->g.a_at = af(sum ? l * q->block * q->depth : left_at(q, lower, right));
	q->g.a_row = af(sum ? q->depth : 2 * q->depth);
	q->g.b = at->b;
	q->g.b_at = af(r * q->depth * q->width);
	brgemm_multiply(q->n, &q->g, lower ? at->lower : at->upper);
}

static struct brgemm_out kept(const struct quadrants *q, int i)
{
	return (struct brgemm_out){.scale = -1,
				   .shift = -1,
				   .c = q->kept,
				   .c_at = af(i * q->highest * q->width),
				   .c_row = af(q->width),
				   .bias = -1};
}

static void finish(struct quadrants *q, const struct quadrants_place *at, int lower, int right)
{
	struct brgemm_out o = q->out;

	o.c = at->c;
	o.mul = at->mul;
	o.c_at = af(lower * q->rows * q->pitch + right * q->columns);
	o.bias = at->bias;
	o.bias_at = af(right * q->panels * q->width);
	o.valid = at->valid;
	brgemm_finish(q->n, &q->g, lower ? at->lower : at->upper, &o);
}

/* With P = A11 B11, U = P + S2 T2, V = U + S3 T3 and Q = S1 T1 the quadrants are P + A12 B21, U + Q
 * + S4 B22; V + A22 T4, V + Q. */
void quadrants_tile(struct quadrants *q, const struct quadrants_place *at)
{
	const struct brgemm_out p = kept(q, 0), v = kept(q, 1), w = kept(q, 2);
	const struct brgemm *g = &q->g;
	struct nest *n = q->n;
	int rows = at->upper;

	brgemm_zero(n, g, rows);
	multiply(q, at, A11, B11);
	brgemm_keep(n, g, rows, &p);
	multiply(q, at, A12, B21);
	finish(q, at, 0, 0);
	brgemm_load(n, g, rows, &p);
	multiply(q, at, S2, T2);
	brgemm_keep(n, g, rows, &p);
	multiply(q, at, S3, T3);
	brgemm_keep(n, g, rows, &v);
	multiply(q, at, A22, T4);
	finish(q, at, 1, 0);
	brgemm_zero(n, g, rows);
	multiply(q, at, S1, T1);
	brgemm_keep(n, g, rows, &w);
	brgemm_add(n, g, rows, &v);
	finish(q, at, 1, 1);
	brgemm_load(n, g, rows, &w);
	brgemm_add(n, g, rows, &p);
	multiply(q, at, S4, B22);
	finish(q, at, 0, 1);
}
