#include "lib/tile/image.h"

#include <stddef.h>

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int is_one(int64_t taps, int64_t stride)
{
	return taps == 1 && stride == 1;
}

int image_has(const struct image_kernel *k, int64_t m)
{
	int v = is_one(k->kh, k->sh), h = is_one(k->kw, k->sw);
	int most = v || h ? TOOM_ONE_WAY : k->few ? TOOM_FEW_CHANNELS : TOOM_TWO_WAYS;

	return !(v && h) && (v || toom_has(m, k->kh, k->sh, most)) &&
	       (h || toom_has(m, k->kw, k->sw, most));
}

void image_make(struct image *s, const struct image_kernel *k, int rows, int cols)
{
	if (s->sum == ELEM_S32) {
		toom_make_whole(&s->v, rows, (int)k->kh);
		toom_make_whole(&s->h, cols, (int)k->kw);
	} else {
		toom_make(&s->v, k->kh > 1 ? rows : 1, (int)k->kh, (int)k->sh);
		toom_make(&s->h, k->kw > 1 ? cols : 1, (int)k->kw, (int)k->sw);
	}
	s->rows = up(s->oh, s->v.m);
	s->cols = up(s->ow, s->h.m);
}

int image_vector(const struct image *s)
{
	return s->lanes * elem_group(s->elem);
}

int64_t image_half(const struct image *s)
{
	return (int64_t)s->v.inputs * s->h.n * image_vector(s);
}

/* Columns of a tile's inputs that lie inside the image, a bit each. */
static unsigned columns_inside(const struct image *s, int64_t col)
{
	unsigned inside = 0;

	for (int i = 0; i < s->h.inputs; i++) {
		int64_t iw = col * s->h.m * s->h.stride - s->pw + i;

		inside |= (unsigned)(iw >= 0 && iw < s->iw) << i;
	}
	return inside;
}

int64_t image_edges(const struct image *s)
{
	int64_t edges = 0;

	for (int64_t col = 0; col < s->cols; col++)
		edges += columns_inside(s, col) != transform_all(s->h.inputs);
	return edges;
}

/* Elements from one place of an image to the next. */
struct pitch {
	int64_t row, column;
};

static struct pitch pitch_of(const struct image *s, int64_t cols, int64_t channels)
{
	return (struct pitch){s->apart_v * cols * s->apart_h * channels, s->apart_h * channels};
}

static struct pitch input_pitch(const struct image *s)
{
	return pitch_of(s, s->iw, s->ic);
}

static struct pitch output_pitch(const struct image *s)
{
	return pitch_of(s, s->ow, s->oc);
}

/* ---- inputs ---- */

/* What the code for some tiles shares: which of their columns lie inside the image, whether their
 * rows may lie outside; the channel at hand. */
struct inputs {
	const struct image *s;
	const struct image_tile *t;
	int src;
	unsigned inside;
	int clipped;
	struct affine channel;
};

static struct affine input_row(const struct inputs *p, struct affine i)
{
	const struct image *s = p->s;

	return af_sum(af_mul(af_var(p->t->row), (int64_t)s->v.m * s->v.stride), i, af(-s->ph));
}

/* From the tile's input in row i, column 0. */
static struct line source(const struct inputs *p, struct affine i, int64_t step)
{
	const struct image *s = p->s;
	const struct pitch pitch = input_pitch(s);
	struct affine iw =
		af_add(af_mul(af_var(p->t->col), (int64_t)s->h.m * s->h.stride), af(-s->pw));

	return (struct line){p->src,
			     af_sum(p->t->from, af_mul(input_row(p, i), pitch.row),
				    af_mul(iw, pitch.column), s->first, p->channel),
			     step};
}

static void transform_row(const struct inputs *p, struct affine i, const struct line *to)
{
	const struct image *s = p->s;
	struct line from = source(p, i, input_pitch(s).column);

	transform_load(&s->f, &from, p->inside);
	transform_input(&s->f, &s->h, p->inside, transform_put_line, (void *)to);
}

/* Row i, which may lie outside the image: then it is 0. */
static void transform_clipped_row(const struct inputs *p, struct affine i, const struct line *to)
{
	struct nest *n = p->s->n;
	struct affine ih = input_row(p, i);
	int inside = nest_let_min(n, "inside", ih, af_sub(af(p->s->ih - 1), ih)), x;

	nest_if_less(n, af_var(inside), af(0));
	x = nest_for(n, LOOP_UNROLL, "x", af(0), af(p->s->h.n));
	nest_store(n, to->buffer, af_add(to->at, af_mul(af_var(x), to->step)), NULL,
		   ex_const(n, p->s->elem, p->s->lanes, 0));
	nest_close(n);
	nest_else(n);
	transform_row(p, i, to);
	nest_close(n);
}

/* Row by row into the workspace. */
static void transform_rows(const struct inputs *p)
{
	const struct image *s = p->s;
	enum loop_kind kind = p->clipped ? LOOP_SERIAL : LOOP_UNROLL;
	int i = nest_for(s->n, kind, "i", af(0), af(s->v.inputs));
	const int vector = image_vector(s);
	struct line half = {s->half, af_mul(af_var(i), (int64_t)s->h.n * vector), vector};

	if (p->clipped)
		transform_clipped_row(p, af_var(i), &half);
	else
		transform_row(p, af_var(i), &half);
	nest_close(s->n);
}

/* Column by column: of rows in the workspace, or, where rows are not transformed, of the image. */
static void transform_columns(const struct inputs *p, const struct image_values *to)
{
	const struct image *s = p->s;
	int x = nest_for(s->n, LOOP_UNROLL, "x", af(0), af(s->h.n));
	const int vector = image_vector(s);
	struct line from = {s->half, af_mul(af_var(x), vector), (int64_t)s->h.n * vector};
	struct line put = {to->buffer, af_sum(to->at, af_mul(af_var(x), to->step), p->channel),
			   to->step * s->h.n};

	if (s->h.n == 1 && !p->clipped)
		from = source(p, af(0), input_pitch(s).row);
	transform_load(&s->f, &from, transform_all(s->v.inputs));
	transform_input(&s->f, &s->v, transform_all(s->v.inputs), transform_put_line, &put);
	nest_close(s->n);
}

static void transform_channels(struct inputs p, const struct image_values *to)
{
	const struct image *s = p.s;
	int v = nest_for(s->n, LOOP_SERIAL, "v", af(0), af(s->channels / image_vector(s)));
	struct line put = {to->buffer, to->at, to->step};

	p.channel = af_mul(af_var(v), image_vector(s));
	put.at = af_add(put.at, p.channel);
	if (s->v.n == 1) {
		if (p.clipped)
			transform_clipped_row(&p, af(0), &put);
		else
			transform_row(&p, af(0), &put);
	} else {
		if (s->h.n > 1 || p.clipped)
			transform_rows(&p);
		transform_columns(&p, to);
	}
	nest_close(s->n);
}

/* Tiles at the top and the bottom have code of their own where taps lie outside the image. */
static void transform_inside(struct inputs p, const struct image_values *to)
{
	const struct image *s = p.s;
	int64_t step = (int64_t)s->v.m * s->v.stride, first = up(s->ph, step);
	int64_t end = (s->ih + s->ph - s->v.inputs) / step + 1;
	int inside;

	p.clipped = s->ih + s->ph < s->v.inputs || first >= end;
	if (p.clipped || (first == 0 && end >= s->rows)) {
		transform_channels(p, to);
		return;
	}
	inside = nest_let_min(s->n, "inside", af_sub(af_var(p.t->row), af(first)),
			      af_sub(af(end - 1), af_var(p.t->row)));
	nest_if_less(s->n, af_var(inside), af(0));
	p.clipped = 1;
	transform_channels(p, to);
	nest_else(s->n);
	p.clipped = 0;
	transform_channels(p, to);
	nest_close(s->n);
}

/* The columns from `col` on: those which have the same taps inside the image, else the others. */
static void transform_from(struct inputs p, int64_t col, const struct image_values *to)
{
	const struct image *s = p.s;
	int64_t end = col + 1;

	p.inside = columns_inside(s, col);
	while (end < s->cols && columns_inside(s, end) == p.inside)
		end++;
	if (end == s->cols) {
		transform_inside(p, to);
		return;
	}
	nest_if_less(s->n, af_var(p.t->col), af(end));
	transform_inside(p, to);
	nest_else(s->n);
	transform_from(p, end, to);
	nest_close(s->n);
}

void image_transform(const struct image *s, const struct image_tile *t, int src,
		     const struct image_values *to)
{
	transform_from((struct inputs){.s = s, .t = t, .src = src}, 0, to);
}

/* ---- outputs ---- */

/* What the code for some tiles shares: of which rows x cols pixels lie inside the output; the
 * channel at hand, from the first one. */
struct outputs {
	const struct image *s;
	const struct image_tile *t;
	const struct image_values *from;
	const struct affine *vectors;
	image_put *put;
	void *arg;
	int rows, cols;
	struct affine channel;
};

/* A line of pixels: where the first one is, and the step to the next. */
struct pixels {
	const struct outputs *o;
	struct affine at;
	int64_t step;
};

static void put_pixel(const struct transform *f, int i, const struct expr *x, void *arg)
{
	const struct pixels *to = arg;
	const struct outputs *o = to->o;

	(void)f;
	o->put(o->s, af_add(to->at, af(i * to->step)), o->channel, x, o->arg);
}

static struct pixels pixels(const struct outputs *o, struct affine i, int64_t step)
{
	const struct image *s = o->s;
	const struct pitch pitch = output_pitch(s);
	struct affine row = af_add(af_mul(af_var(o->t->row), s->v.m), i);

	return (struct pixels){o,
			       af_sum(o->t->to, af_mul(row, pitch.row),
				      af_mul(af_var(o->t->col), s->h.m * pitch.column)),
			       step};
}

/* Column by column: into the workspace, or, where rows are not transformed, to the pixels. */
static void back_columns(const struct outputs *o)
{
	const struct image *s = o->s;
	const struct image_values *v = o->from;
	int x = nest_for(s->n, LOOP_UNROLL, "x", af(0), af(s->h.n));
	struct line from = {v->buffer, af_sum(v->at, af_mul(af_var(x), v->step), o->channel),
			    v->step * s->h.n};
	struct line half = {s->back, af_mul(af_var(x), s->lanes), (int64_t)s->h.n * s->lanes};
	struct pixels to = pixels(o, af(0), output_pitch(s).row);

	transform_load(&s->f, &from, transform_all(s->v.n));
	if (s->h.n == 1)
		transform_output(&s->f, &s->v, o->rows, put_pixel, &to);
	else
		transform_output(&s->f, &s->v, o->rows, transform_put_line, &half);
	nest_close(s->n);
}

/* Row by row: of columns in the workspace, or, where columns are not transformed, of the values. */
static void back_rows(const struct outputs *o)
{
	const struct image *s = o->s;
	int i = nest_for(s->n, LOOP_UNROLL, "i", af(0), af(o->rows));
	struct line from = {s->back, af_mul(af_var(i), (int64_t)s->h.n * s->lanes), s->lanes};
	struct pixels to = pixels(o, af_var(i), output_pitch(s).column);

	if (s->v.n == 1)
		from = (struct line){o->from->buffer, af_add(o->from->at, o->channel),
				     o->from->step};
	transform_load(&s->f, &from, transform_all(s->h.n));
	transform_output(&s->f, &s->h, o->cols, put_pixel, &to);
	nest_close(s->n);
}

static void back_channels(struct outputs o)
{
	const struct image *s = o.s;

	o.channel = af(0);
	if (o.vectors)
		o.channel = af_mul(af_var(nest_for(s->n, LOOP_SERIAL, "v", af(0), *o.vectors)),
				   s->lanes);
	if (s->v.n > 1)
		back_columns(&o);
	if (s->h.n > 1)
		back_rows(&o);
	if (o.vectors)
		nest_close(s->n);
}

static void back_width(struct outputs o)
{
	const struct image *s = o.s;
	int64_t full = s->ow / s->h.m;
	int rest = (int)(s->ow % s->h.m);

	if (rest && full)
		nest_if_less(s->n, af_var(o.t->col), af(full));
	o.cols = s->h.m;
	if (full)
		back_channels(o);
	if (rest && full)
		nest_else(s->n);
	o.cols = rest;
	if (rest)
		back_channels(o);
	if (rest && full)
		nest_close(s->n);
}

void image_transform_back(const struct image *s, const struct image_tile *t,
			  const struct image_values *from, const struct affine *vectors,
			  image_put *put, void *arg)
{
	struct outputs o = {s, t, from, vectors, put, arg, s->v.m, s->h.m, af(0)};
	int64_t full = s->oh / s->v.m;
	int rest = (int)(s->oh % s->v.m);

	if (rest && full)
		nest_if_less(s->n, af_var(t->row), af(full));
	if (full)
		back_width(o);
	if (rest && full)
		nest_else(s->n);
	o.rows = rest;
	if (rest)
		back_width(o);
	if (rest && full)
		nest_close(s->n);
}
