#include "lib/tile/woven.h"

#include <stddef.h>

int woven_groups(int64_t in, int64_t out, int64_t lanes)
{
	enum { MOST = 8 }; /* one load repeats no more values */
	const int64_t groups = lanes / out;

	return in <= out && groups * out == lanes && groups <= MOST ? (int)groups : 0;
}

void woven_registers(struct nest *n, struct woven *t, int max_rows)
{
	t->acc = nest_reg(n, "acc", ELEM_F32, t->lanes, max_rows, t->nv);
	t->wreg = nest_reg(n, "wr", ELEM_F32, t->lanes, 1, (int)t->taps);
	t->xreg = nest_reg(n, "x", ELEM_F32, t->lanes, 1, 1);
}

int64_t woven_needs(int64_t nv, int64_t rows, int64_t taps)
{
	return nv * rows + taps + 1;
}

static struct affine unrolled(struct nest *n, const char *name, struct affine lo, struct affine hi)
{
	return af_var(nest_for(n, LOOP_UNROLL, name, lo, hi));
}

static struct affine acc_at(const struct woven *t, struct affine row, struct affine vector)
{
	return af_add(af_mul(row, t->nv), vector);
}

static void zero_tile(struct nest *n, const struct woven *t, int rows, int vectors)
{
	struct affine row = unrolled(n, "m", af(0), af(rows));
	struct affine vector = unrolled(n, "v", af(0), af(vectors));

	nest_store(n, t->acc, acc_at(t, row, vector), NULL, ex_const(n, ELEM_F32, t->lanes, 0));
	nest_close(n);
	nest_close(n);
}

/* Taps of a kernel row that read the same columns: tap `first` + i * `step`, for i below `count`,
 * reads column a * stride + at for row a - i of the tile. */
struct shared {
	int64_t first, step, count, at;
	int rows;
	struct affine vector, channel; /* where the vector's pixels begin, and its channels */
};

/* Column `column` of the shared ones is multiplied by its taps `from` to `to` - 1. */
static void multiply_column(struct nest *n, const struct woven *t, const struct shared *s,
			    struct affine column, int64_t from, int64_t to)
{
	const struct affine pixel = af_add(af_mul(column, t->stride), af(s->at));
	struct affine i, sum;

	nest_store(n, t->xreg, af(0), NULL,
		   ex_bcast(n, t->lanes,
			    ex_load(n, t->a, t->groups,
				    af_add(s->channel, af_mul(pixel, t->a_pixel)), NULL)));
	i = unrolled(n, "tap", af(from), af(to));
	sum = acc_at(t, af_sub(column, i), s->vector);
	nest_store(n, t->acc, sum, NULL,
		   ex_op(n, EXPR_FMA, ex_reg(n, t->wreg, af_add(af(s->first), af_mul(i, s->step))),
			 ex_reg(n, t->xreg, af(0)), ex_reg(n, t->acc, sum)));
	nest_close(n);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Finds which columns of [lo, hi) lie inside the image: [*from, *to). 0: none does. */
static int inside(const struct woven *t, const struct shared *s, int64_t lo, int64_t hi,
		  int64_t *from, int64_t *to)
{
	*from = lo;
	*to = hi;
	while (*from < *to && *from * t->stride + s->at < t->from)
		++*from;
	while (*from < *to && (*to - 1) * t->stride + s->at >= t->to)
		--*to;
	return *from < *to;
}

static void multiply_one(struct nest *n, const struct woven *t, const struct shared *s, int64_t c,
			 int64_t from, int64_t to)
{
	int64_t first, end;

	if (inside(t, s, c, c + 1, &first, &end))
		multiply_column(n, t, s, af(c), from, to);
}

/* The first and the last columns are read by fewer taps than those between, which are a loop. */
static void multiply_shared(struct nest *n, const struct woven *t, const struct shared *s)
{
	const int64_t columns = s->rows + s->count - 1, whole = least(s->rows, s->count) - 1;
	int64_t from, to;

	for (int64_t c = 0; c < whole; c++)
		multiply_one(n, t, s, c, 0, c + 1);
	if (s->rows < s->count) {
		for (int64_t c = whole; c < s->count; c++)
			multiply_one(n, t, s, c, c - whole, c + 1);
	} else if (inside(t, s, whole, s->rows, &from, &to)) {
		multiply_column(n, t, s, unrolled(n, "c", af(from), af(to)), 0, s->count);
		nest_close(n);
	}
	for (int64_t c = columns - whole; c < columns; c++)
		multiply_one(n, t, s, c, c - s->rows + 1, s->count);
}

/* The taps of a kernel row for input channel i of vector v: neighbouring taps share columns. */
static void multiply_taps(struct nest *n, const struct woven *t, int rows, struct shared s)
{
	const int shares = t->apart == 1;
	const int64_t kinds = shares ? least(t->stride, t->taps) : t->taps;

	s.rows = rows;
	s.step = shares ? t->stride : 1;
	for (s.first = 0; s.first < kinds; s.first++) {
		s.count = shares ? (t->taps - 1 - s.first) / t->stride + 1 : 1;
		s.at = s.first * t->apart;
		multiply_shared(n, t, &s);
	}
}

void woven_tile(struct nest *n, const struct woven *t, int rows, int vectors)
{
	const int64_t step = t->nv * t->taps * t->lanes; /* of the weights, a channel */
	struct woven x = *t;
	struct affine line, i, tap;
	struct shared s = {0};
	int b;

	zero_tile(n, t, rows, vectors);
	line = af_var(nest_for(n, LOOP_SERIAL, "kh", t->lo, t->hi));
	x.a = nest_view(n, "A", t->a, af_add(t->a_at, af_scale(line, t->a_line)));
	b = nest_view(n, "B", t->b, af_add(t->b_at, af_mul(line, t->in * step)));
	i = af_var(nest_for(n, LOOP_SERIAL, "i", af(0), af(t->in)));
	s.vector = unrolled(n, "v", af(0), af(vectors));
	s.channel = af_add(af_mul(s.vector, t->a_vector), af_mul(i, t->groups));
	tap = unrolled(n, "kw", af(0), af(t->taps));
	nest_store(n, t->wreg, tap, NULL,
		   ex_load(n, b, t->lanes,
			   af_sum(af_mul(i, step), af_mul(s.vector, t->taps * t->lanes),
				  af_mul(tap, t->lanes)),
			   NULL));
	nest_close(n);
	multiply_taps(n, &x, rows, s);
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

const struct expr *woven_sum(struct nest *n, const struct woven *t, struct affine m,
			     struct affine v)
{
	const struct expr *x = ex_reg(n, t->acc, acc_at(t, m, v));

	return t->groups == 1 ? x : ex_turn(n, x, t->out, t->groups);
}

const struct expr *woven_pixel(struct nest *n, const struct woven *t, const struct expr *x)
{
	return t->groups == 1 ? x : ex_turn(n, x, t->groups, t->in);
}
