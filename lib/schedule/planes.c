#include "lib/schedule/planes.h"

#include <stddef.h>

#include "lib/schedule/stage.h"
#include "lib/space/knob.h"

static int64_t common_divisor(int64_t a, int64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* Sets t; 0: its phases are too many, or are not in order. */
static int set_taps(struct planes_taps *t, int64_t taps, int64_t stride, int64_t distance)
{
	int64_t together = common_divisor(stride, distance), period = stride / together;

	*t = (struct planes_taps){
		.taps = taps,
		.period = (int)period,
		.phases = (int)(taps < period ? taps : period),
		.step = distance / together,
		.furthest = (taps - 1) * distance / stride,
		.phase = taps > 1 ? distance % stride : 0,
	};
	if (t->phases > PLANES_PHASES)
		return 0;
	for (int b = 0; b < t->phases; b++) {
		t->first[b] = b * distance / stride;
		if (b * distance % stride != b * t->phase)
			return 0;
	}
	return 1;
}

int planes_make(struct planes *s, const struct conv *p, int64_t lanes, int64_t channels,
		int64_t rows)
{
	if (!set_taps(&s->v, p->kh, p->sh, p->dh) || !set_taps(&s->h, p->kw, p->sw, p->dw))
		return 0;
	s->p = p;
	s->lanes = (int)lanes;
	s->channels = channels;
	s->rows = rows;
	s->height = rows + s->v.furthest;
	s->width = p->ow + s->h.furthest;
	s->plane = stage_spaced(s->v.phases * s->h.phases * s->height * s->width + lanes);
	return 1;
}

void planes_declare(struct planes *s)
{
	s->buffer = nest_work(s->n, "planes", s->channels * s->plane);
}

int64_t planes_positions(const struct planes *s, int64_t rows)
{
	return (rows - 1) * s->width + s->p->ow;
}

/* Where the phase b of rows and c of columns begins. What spills out of one phase is written before
 * the next one. */
static struct affine phase_at(const struct planes *s, struct affine b, int c)
{
	struct affine phase = af_add(b, af(c * s->v.phases));

	return af_mul(phase, s->height * s->width);
}

struct affine planes_tap(const struct planes *s, int b_row, struct affine a_row, int b_column,
			 struct affine a_column)
{
	struct affine row = af_add(af_mul(a_row, s->v.step), af(s->v.first[b_row]));
	struct affine column = af_add(af_mul(a_column, s->h.step), af(s->h.first[b_column]));

	return af_sum(phase_at(s, af(b_row), b_column), af_mul(row, s->width), column);
}

/* ---- the copy ---- */

/* The parts of the copy share this. It copies the columns of phase `column`, of the channels from
 * `channel` on. */
struct copy {
	const struct planes *s;
	const struct access *src;
	struct transpose square;
	int img;
	int column;
	struct affine channel; /* the block's first one */
	struct affine at;      /* in the planes, where the row begins */
	struct affine ih;      /* row of the image */
	int64_t left, right;   /* columns of the phase that lie inside the image: [left, right) */
};

/* A long row of padding is a loop. */
static void zero_vectors(const struct copy *c, struct affine channel, int64_t from, int64_t to)
{
	enum { UNROLLED = 8 };
	const struct planes *s = c->s;
	const int64_t vectors = ceil_div(to - from, s->lanes);
	struct nest *n = s->n;
	int v;

	if (from >= to)
		return;
	v = nest_for(n, vectors > UNROLLED ? LOOP_SERIAL : LOOP_UNROLL, "z", af(0), af(vectors));
	nest_store(n, s->buffer,
		   af_sum(c->at, af_mul(channel, s->plane), af(from), af_mul(af_var(v), s->lanes)),
		   NULL, ex_const(n, ELEM_F32, s->lanes, 0));
	nest_close(n);
}

/* Where channels from `from` on of column x of the phase are in row ih of the image. */
static struct affine source_at(const struct copy *c, struct affine ih, struct affine x,
			       struct affine from)
{
	const struct planes *s = c->s;
	struct affine iw = af_add(af_mul(x, s->p->sw), af(c->column * s->h.phase - s->p->pw));

	return access_at(c->src, {CONV_IMAGE, af_var(c->img)}, {CONV_ROW, ih}, {CONV_COLUMN, iw},
			 {CONV_CHANNEL, af_add(c->channel, from)});
}

/* Columns from x on, `count` of them, of channels from `from` on. */
static void copy_square(const struct copy *c, struct affine from, int64_t channels, struct affine x,
			int64_t count)
{
	const struct planes *s = c->s;
	struct nest *n = s->n;
	const struct affine *valid = channels < s->lanes ? nest_keep(n, af(channels)) : NULL;
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(count)), regs;

	nest_store(n, c->square.regs[0], af_var(i), NULL,
		   ex_load(n, c->src->buffer, s->lanes,
			   source_at(c, c->ih, af_add(x, af_var(i)), from), valid));
	nest_close(n);
	transpose_zero(&c->square, count);
	regs = transpose_square(&c->square);
	i = nest_for(n, LOOP_UNROLL, "i", af(0), af(channels));
	nest_store(n, s->buffer, af_sum(c->at, af_mul(af_add(from, af_var(i)), s->plane), x), NULL,
		   ex_reg(n, regs, af_var(i)));
	nest_close(n);
}

/* Columns from x on, of all channels, which lie one after the other in the image. */
static void copy_columns(const struct copy *c, struct affine x, int64_t count)
{
	const struct planes *s = c->s;
	int64_t whole = s->channels / s->lanes, rest = s->channels % s->lanes;

	if (whole) {
		int i = nest_for(s->n, LOOP_SERIAL, "cb", af(0), af(whole));

		copy_square(c, af_mul(af_var(i), s->lanes), s->lanes, x, count);
		nest_close(s->n);
	}
	if (rest)
		copy_square(c, af(whole * s->lanes), rest, x, count);
}

/* Whole vectors are written: zeros may go beyond the row's end, before what lies there is written.
 */
static void copy_row(const struct copy *c)
{
	const struct planes *s = c->s;
	struct nest *n = s->n;
	int64_t whole = (c->right - c->left) / s->lanes, rest = (c->right - c->left) % s->lanes;
	int64_t end = c->left + (whole + (rest > 0)) * s->lanes;
	int i;

	if (c->left > 0 || end < s->width) {
		i = nest_for(n, LOOP_SERIAL, "c", af(0), af(s->channels));
		zero_vectors(c, af_var(i), 0, c->left);
		zero_vectors(c, af_var(i), end, s->width);
		nest_close(n);
	}
	if (whole) {
		i = nest_for(n, LOOP_SERIAL, "x", af(0), af(whole));
		copy_columns(c, af_add(af(c->left), af_mul(af_var(i), s->lanes)), s->lanes);
		nest_close(n);
	}
	if (rest)
		copy_columns(c, af(c->left + whole * s->lanes), rest);
}

static void zero_row(const struct copy *c)
{
	struct nest *n = c->s->n;
	int i = nest_for(n, LOOP_SERIAL, "c", af(0), af(c->s->channels));

	zero_vectors(c, af_var(i), 0, c->s->width);
	nest_close(n);
}

/* Vectors that begin in the last row of a channel's planes may end behind it. */
static void zero_behind(const struct copy *c)
{
	const struct planes *s = c->s;
	int64_t end = s->v.phases * s->h.phases * s->height * s->width;
	int i = nest_for(s->n, LOOP_SERIAL, "c", af(0), af(s->channels));

	zero_vectors(c, af_var(i), end, end + s->lanes);
	nest_close(s->n);
}

/* Columns [left, right) of the phase lie inside the image. */
static void set_inside(struct copy *c)
{
	const struct conv *p = c->s->p;
	int64_t first = p->pw - c->column * c->s->h.phase, last = p->iw - 1 + first;

	c->left = first > 0 ? ceil_div(first, p->sw) : 0;
	c->right = last < 0 ? 0 : last / p->sw + 1;
	if (c->right > c->s->width)
		c->right = c->s->width;
	if (c->left > c->right)
		c->left = c->right;
}

/* The open phase of columns, of all phases of rows. */
static void copy_phases(struct copy *c, int row)
{
	const struct planes *s = c->s;
	const struct conv *p = s->p;
	struct nest *n = s->n;
	int b = nest_for(n, LOOP_SERIAL, "phase", af(0), af(s->v.phases));
	int r = nest_for(n, LOOP_SERIAL, "r", af(0), af(s->height)), inside;

	c->at = af_add(phase_at(s, af_var(b), c->column), af_mul(af_var(r), s->width));
	c->ih = af_var(nest_let(n, "ih",
				af_sum(af_mul(af_add(af_var(row), af_var(r)), p->sh),
				       af_mul(af_var(b), s->v.phase), af(-p->ph))));
	inside = nest_let_min(n, "inside", c->ih, af_sub(af(p->ih - 1), c->ih));
	nest_if_less(n, af_var(inside), af(0));
	zero_row(c);
	nest_else(n);
	copy_row(c);
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

void planes_copy(const struct planes *s, const struct access *src, int img, int row,
		 struct affine channel)
{
	struct copy c = {.s = s, .src = src, .img = img, .channel = channel, .at = af(0)};

	zero_behind(&c);
	for (c.column = 0; c.column < s->h.phases; c.column++) {
		c.square = transpose_of(s->n, s->lanes);
		set_inside(&c);
		copy_phases(&c, row);
	}
}
