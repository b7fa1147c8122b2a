#include "lib/tile/transform.h"

#include <math.h>
#include <stddef.h>

void transform_open(struct transform *f, struct nest *n, enum elem elem, int lanes,
		    const struct toom *a, const struct toom *b)
{
	int most = a->n > b->n ? a->n : b->n;

	*f = (struct transform){.n = n, .elem = elem, .lanes = lanes};
	f->in = nest_reg(n, "in", elem, lanes, most, 1);
	f->sums = nest_reg(n, "sum", elem, lanes, most > 6 ? most / 2 - 1 : 2, 1);
}

unsigned transform_all(int n)
{
	return (1U << n) - 1;
}

static const struct expr *in_reg(const struct transform *f, int i)
{
	return ex_reg_as_is(f->n, f->in, af(i));
}

static const struct expr *sum_reg(const struct transform *f, int i)
{
	return ex_reg_as_is(f->n, f->sums, af(i));
}

static const struct expr *constant(const struct transform *f, double v)
{
	return ex_const(f->n, f->elem, f->lanes, v);
}

/* ---- sums ---- */

struct terms {
	int n;
	const struct expr *x[TOOM_MAX];
	double factor[TOOM_MAX];
};

static void add_term(struct terms *t, const struct expr *x, double factor)
{
	if (factor == 0)
		return;
	t->x[t->n] = x;
	t->factor[t->n++] = factor;
}

/* Whole numbers: they are multiplied by shifts where factors have no sign. */
static const struct expr *add_whole(const struct transform *f, const struct expr *sum,
				    const struct expr *x, double factor)
{
	const double size = fabs(factor);
	const struct expr *const term = size == 1 ? x : ex_by(f->n, EXPR_TIMES, x, size);

	if (!sum)
		return factor > 0 ? term : ex_op(f->n, EXPR_SUB, constant(f, 0), term, NULL);
	return ex_op(f->n, factor > 0 ? EXPR_ADD : EXPR_SUB, sum, term, NULL);
}

/* Those with factor 1 first, which need no product. */
static const struct expr *sum_of(const struct transform *f, const struct terms *t)
{
	const struct expr *sum = NULL;
	struct nest *n = f->n;

	for (int i = 0; i < t->n; i++)
		if (t->factor[i] == 1)
			sum = sum ? ex_op(n, EXPR_ADD, sum, t->x[i], NULL) : t->x[i];
	for (int i = 0; i < t->n; i++) {
		if (t->factor[i] == 1)
			continue;
		if (f->elem != ELEM_F32)
			sum = add_whole(f, sum, t->x[i], t->factor[i]);
		else if (t->factor[i] == -1 && sum)
			sum = ex_op(n, EXPR_SUB, sum, t->x[i], NULL);
		else if (sum)
			sum = ex_op(n, EXPR_FMA, t->x[i], constant(f, t->factor[i]), sum);
		else
			sum = ex_op(n, EXPR_MUL, t->x[i], constant(f, t->factor[i]), NULL);
	}
	return sum ? sum : constant(f, 0);
}

/* ---- B^T ---- */

/* Do rows i and i + 1 differ in signs alone? Not where they have nothing but one value. */
static int is_pair(const struct toom_matrix *m, int i)
{
	int values = 0;

	if (i + 1 >= m->rows)
		return 0;
	for (int c = 0; c < m->cols; c++) {
		values += m->m[i][c] != 0;
		if (fabs(m->m[i][c]) != fabs(m->m[i + 1][c]))
			return 0;
	}
	return values > 1;
}

/* Rows i and i + 1 of B^T: their common part, plus and minus the part in which they differ. */
static void put_pair(const struct transform *f, const struct toom_matrix *m, int i, unsigned there,
		     transform_put *put, void *arg)
{
	struct terms common = {0}, other = {0};

	for (int c = 0; c < m->cols; c++) {
		if (!(there >> c & 1))
			continue;
		if (m->m[i][c] == m->m[i + 1][c])
			add_term(&common, in_reg(f, c), m->m[i][c]);
		else
			add_term(&other, in_reg(f, c), m->m[i][c]);
	}
	nest_store(f->n, f->sums, af(0), NULL, sum_of(f, &common));
	nest_store(f->n, f->sums, af(1), NULL, sum_of(f, &other));
	put(f, i, ex_op(f->n, EXPR_ADD, sum_reg(f, 0), sum_reg(f, 1), NULL), arg);
	put(f, i + 1, ex_op(f->n, EXPR_SUB, sum_reg(f, 0), sum_reg(f, 1), NULL), arg);
}

void transform_input(const struct transform *f, const struct toom *t, unsigned there,
		     transform_put *put, void *arg)
{
	const struct toom_matrix *m = &t->bt;

	for (int i = 0; i < m->rows; i++) {
		struct terms sum = {0};

		if (is_pair(m, i)) {
			put_pair(f, m, i++, there, put, arg);
			continue;
		}
		for (int c = 0; c < m->cols; c++)
			if (there >> c & 1)
				add_term(&sum, in_reg(f, c), m->m[i][c]);
		put(f, i, sum_of(f, &sum), arg);
	}
}

/* ---- A^T ---- */

/* Do columns c and c + 1 differ in the signs of odd rows alone? */
static int is_column_pair(const struct toom_matrix *m, int c)
{
	if (c + 1 >= m->cols || m->rows < 2 || m->m[0][c] == 0 || m->m[1][c] == 0)
		return 0;
	for (int i = 0; i < m->rows; i++)
		if (m->m[i][c] != (i % 2 ? -1 : 1) * m->m[i][c + 1])
			return 0;
	return 1;
}

/* Of each pair the sum, and, in the place of its second value, the difference. */
static void add_pairs(const struct transform *f, const struct toom_matrix *m)
{
	struct nest *n = f->n;
	int pair = 0;

	for (int c = 0; c < m->cols; c++) {
		if (!is_column_pair(m, c))
			continue;
		nest_store(n, f->sums, af(pair++), NULL,
			   ex_op(n, EXPR_ADD, in_reg(f, c), in_reg(f, c + 1), NULL));
		nest_store(n, f->in, af(c + 1), NULL,
			   ex_op(n, EXPR_SUB, in_reg(f, c), in_reg(f, c + 1), NULL));
		c++;
	}
}

static const struct expr *output(const struct transform *f, const struct toom_matrix *m, int i)
{
	struct terms sum = {0};
	int pair = 0;

	for (int c = 0; c < m->cols; c++) {
		if (!is_column_pair(m, c)) {
			add_term(&sum, in_reg(f, c), m->m[i][c]);
			continue;
		}
		add_term(&sum, i % 2 ? in_reg(f, c + 1) : sum_reg(f, pair), m->m[i][c]);
		pair++;
		c++;
	}
	return sum_of(f, &sum);
}

void transform_output(const struct transform *f, const struct toom *t, int rows, transform_put *put,
		      void *arg)
{
	add_pairs(f, &t->at);
	for (int i = 0; i < rows; i++)
		put(f, i, output(f, &t->at, i), arg);
}

/* ---- lines ---- */

void transform_load(const struct transform *f, const struct line *from, unsigned there)
{
	for (int i = 0; there >> i; i++) {
		const struct affine at = af_add(from->at, af(i * from->step));

		if (there >> i & 1)
			nest_store(f->n, f->in, af(i), NULL,
				   f->elem == ELEM_S16X2 ? ex_load_groups(f->n, from->buffer,
									  f->elem, f->lanes, at)
							 : ex_load_as(f->n, f->elem, from->buffer,
								      f->lanes, at, NULL));
	}
}

void transform_put_line(const struct transform *f, int i, const struct expr *x, void *line)
{
	const struct line *l = line;

	nest_store(f->n, l->buffer, af_add(l->at, af(i * l->step)), NULL, x);
}
