#include "lib/schedule/band.h"

#include <stddef.h>

#include "lib/schedule/stage.h"
#include "lib/space/knob.h"

/* What the parts of the copy share. */
struct copy {
	struct nest *n;
	const struct band *b;
	struct access to;
	int row, row_vectors; /* symbols: elements of a row */
};

/* Does a pixel have more values in the copy than the image has channels? */
static int is_padded(const struct band *b)
{
	return b->chunk->loop < 0 && b->kc > b->p->ic;
}

/* Channels that are copied of a pixel. */
static int64_t channels_of(const struct band *b)
{
	return is_padded(b) ? b->p->ic : b->kc;
}

/* Copies a run of channels. vectors is a symbol: so many whole vectors hold the run. */
static void copy_run(struct copy *c, struct affine to, int from, struct affine from_at,
		     struct affine count, int vectors)
{
	int one = c->n->var[vectors].value == 1;

	stage_run(c->n, &(struct run){c->b->lanes, c->to.buffer, from, to, from_at, count,
				      one ? -1 : vectors, 0, c->to.half});
}

static void zero_run(struct copy *c, struct affine to, int count, int vectors)
{
	copy_run(c, to, -1, af(0), af_var(count), vectors);
}

static struct affine row_at(const struct copy *c, int y)
{
	return access_at(&c->to, {CONV_ROW, af_var(y)});
}

/* A loop over the band's groups, if there are several; close_groups() closes it. */
static struct affine open_groups(struct copy *c)
{
	if (c->b->groups == 1)
		return af(0);
	return af_var(nest_for(c->n, LOOP_SERIAL, "gi", af(0), af(c->b->groups)));
}

static void close_groups(struct copy *c)
{
	if (c->b->groups > 1)
		nest_close(c->n);
}

/* Copies the channels of a pixel, which have `vectors` (a symbol; -1: they are one vector), and
 * writes zeros behind them where the copy has more. */
static void copy_pixel(struct copy *c, struct affine to, int from, struct affine from_at,
		       int vectors)
{
	const struct band *b = c->b;
	const int64_t more = b->kc - b->p->ic;
	const int is_one = is_padded(b) && b->kc <= b->lanes;

	stage_run(c->n, &(struct run){b->lanes, c->to.buffer, from, to, from_at, b->chunk->k,
				      is_one ? -1 : vectors, is_one ? b->kc : 0, c->to.half});
	if (is_padded(b) && !is_one)
		zero_run(c, af_add(to, af(b->p->ic)), nest_param(c->n, "more", more),
			 nest_param(c->n, "morevecs", ceil_div(more, b->lanes)));
}

/* Writes `count` pixels of what lies outside of the image, from `at` on, of group 0. */
static void fill_pixels(struct copy *c, struct affine at, int64_t count)
{
	const struct band *b = c->b;
	struct nest *n = c->n;
	const int vectors = nest_param(n, "padvecs", ceil_div(channels_of(b), b->lanes));
	const int x = nest_for(n, LOOP_SERIAL, "x", af(0), af(count));
	const struct affine group = open_groups(c);
	const struct affine from = access_at(b->pad, {CONV_GROUP, af_add(af_var(b->g), group)},
					     {CONV_CHANNEL, b->chunk->k0});

	at = af_sum(at, af_mul(af_var(x), b->kc), access_at(&c->to, {CONV_GROUP, group}));
	copy_pixel(c, at, b->pad->buffer, from, vectors);
	close_groups(c);
	nest_close(n);
}

/* count elements from column `at` of the row on; names of the symbols for the whole vectors that
 * hold them, count, and at (NULL: 0). */
static void zero_part(struct copy *c, int y, int64_t at, int64_t count, const char *const *name)
{
	int vectors, elements;
	struct affine to = row_at(c, y);

	if (name[2])
		to = af_add(to, af_var(nest_param(c->n, name[2], at)));
	if (c->b->pad) {
		fill_pixels(c, to, count / c->b->kc);
		return;
	}
	vectors = nest_param(c->n, name[0], ceil_div(count, c->b->lanes));
	elements = nest_param(c->n, name[1], count);
	to = af_add(to, access_at(&c->to, {CONV_GROUP, open_groups(c)}));
	zero_run(c, to, elements, vectors);
	close_groups(c);
}

static void zero_beyond(struct copy *c, struct affine end)
{
	const int64_t n = c->b->beyond;

	if (n)
		zero_run(c, access_at(&c->to, {CONV_ROW, end}), nest_param(c->n, "beyond", n),
			 nest_param(c->n, "beyondvecs", ceil_div(n, c->b->lanes)));
}

static void zero_rows(struct copy *c, struct affine lo, struct affine hi)
{
	int y = nest_for(c->n, LOOP_SERIAL, "y", lo, hi);
	struct affine group;

	if (c->b->pad) {
		fill_pixels(c, row_at(c, y), c->b->p->band_w);
		nest_close(c->n);
		return;
	}
	group = access_at(&c->to, {CONV_GROUP, open_groups(c)});
	zero_run(c, af_add(row_at(c, y), group), c->row, c->row_vectors);
	close_groups(c);
	nest_close(c->n);
}

/* Pixels of row ih of the image to row y, behind the padding: the whole row is one run, or each
 * pixel. */
static void copy_pixels(struct copy *c, int y, struct affine ih, int64_t width)
{
	const struct band *b = c->b;
	struct nest *n = c->n;
	struct access src = b->src, to = c->to;
	struct affine at, from, group;
	int left, count, vectors, x;

	access_name(n, &src, CONV_ROW, "srcrow");
	access_name(n, &src, CONV_IMAGE, "image");
	left = nest_param(n, "left", b->p->pw * b->kc);
	from = access_at(&src, {CONV_IMAGE, af_var(b->img)}, {CONV_ROW, ih});
	at = af_add(row_at(c, y), af_var(left));
	if (b->p->g == 1 && b->chunk->loop < 0 && !is_padded(b)) {
		vectors = nest_param(n, "vecs", ceil_div(width * b->kc, b->lanes));
		count = nest_param(n, "count", width * b->kc);
		copy_run(c, at, src.buffer, from, af_var(count), vectors);
		return;
	}
	access_name(n, &src, CONV_COLUMN, "pixel");
	access_name(n, &to, CONV_COLUMN, "kc");
	vectors = nest_param(n, "vecs", ceil_div(channels_of(b), b->lanes));
	access_name(n, &src, CONV_GROUP, "IC");
	x = nest_for(n, LOOP_SERIAL, "x", af(0), af_var(nest_param(n, "width", width)));
	group = open_groups(c);
	from = af_add(from, access_at(&src, {CONV_COLUMN, af_var(x)},
				      {CONV_GROUP, af_add(af_var(b->g), group)},
				      {CONV_CHANNEL, b->chunk->k0}));
	at = af_add(at, access_at(&to, {CONV_COLUMN, af_var(x)}, {CONV_GROUP, group}));
	copy_pixel(c, at, src.buffer, from, n->var[vectors].value == 1 ? -1 : vectors);
	close_groups(c);
	nest_close(n);
}

static void zero_vectors(struct copy *c, struct affine to, int64_t count)
{
	const int x = nest_for(c->n, LOOP_UNROLL, "z", af(0), af(count));

	nest_store(c->n, c->to.buffer, af_add(to, af_mul(af_var(x), c->b->lanes)), NULL,
		   ex_const(c->n, ELEM_F32, c->b->lanes, 0));
	nest_close(c->n);
}

/* Vector v of so many pixels, the first of which is at `from` in the image. */
static void weave_vectors(struct copy *c, struct affine v, struct affine from, struct affine to,
			  int64_t count, int pixels)
{
	const struct band *b = c->b;
	const struct woven *t = b->woven->tile;
	const struct affine *valid = count < b->lanes ? nest_keep(c->n, af(count)) : NULL;
	const struct affine x = af_var(nest_for(c->n, LOOP_UNROLL, "x", af(0), af(pixels)));

	from = af_sum(from, af_mul(v, (int64_t)t->groups * t->in),
		      access_at(&b->src, {CONV_COLUMN, x}));
	to = af_add(to, access_at(&c->to, {CONV_GROUP, af_sub(v, b->woven->lo)}, {CONV_COLUMN, x}));
	nest_store(c->n, c->to.buffer, to, NULL,
		   woven_pixel(c->n, t, ex_load(c->n, b->src.buffer, b->lanes, from, valid)));
	nest_close(c->n);
}

/* Pixels from x on, all of their vectors: the image is read in the order of memory. The last vector
 * may have fewer groups. */
static void weave_pixels(struct copy *c, int y, struct affine ih, struct affine x, int pixels)
{
	const struct band *b = c->b;
	const int64_t reads = (int64_t)b->woven->tile->groups * b->woven->tile->in;
	const int64_t whole = b->p->ic / reads, rest = b->p->ic % reads;
	struct nest *n = c->n;
	const struct affine from =
		access_at(&b->src, {CONV_IMAGE, af_var(b->img)}, {CONV_ROW, ih}, {CONV_COLUMN, x});
	const struct affine to =
		access_at(&c->to, {CONV_ROW, af_var(y)}, {CONV_COLUMN, af_add(x, af(b->p->pw))});
	const int end = nest_let_min(n, "whole", b->woven->hi, af(whole));

	weave_vectors(c, af_var(nest_for(n, LOOP_SERIAL, "v", b->woven->lo, af_var(end))), from, to,
		      reads, pixels);
	nest_close(n);
	if (!rest)
		return;
	nest_if_less(n, af(whole), b->woven->hi);
	weave_vectors(c, af(whole), from, to, rest, pixels);
	nest_close(n);
}

/* Row ih of the image to row y, behind the padding, a few pixels at a time. */
static void weave_image(struct copy *c, int y, struct affine ih, int64_t width)
{
	enum { PIXELS = 16 };
	struct nest *n = c->n;
	const struct row_split split = row_split(width, PIXELS);
	const struct parts parts = {split, nest_param(n, "pixels", split.rest)};
	const int t = nest_for(n, LOOP_SERIAL, "t", af(0), af(split.tiles));
	const struct affine x = parts_row(n, &parts, t);

	for (int pixels = parts_first(n, &parts, t); pixels; pixels = parts_next(n, &parts, pixels))
		weave_pixels(c, y, ih, x, pixels);
	nest_close(n);
}

/* Fills row y of a band whose pixels are vectors: `left` zeros, `width` pixels of the image, and
 * `right` zeros. */
static void weave_row(struct copy *c, int y, struct affine ih, int64_t left, int64_t width,
		      int64_t right)
{
	const struct band *b = c->b;
	const int v = nest_for(c->n, LOOP_SERIAL, "v", af(0), af(b->groups));
	const struct affine at = af_add(row_at(c, y), access_at(&c->to, {CONV_GROUP, af_var(v)}));

	zero_vectors(c, at, left);
	zero_vectors(c, af_add(at, af((left + width) * b->lanes)), right);
	nest_close(c->n);
	if (width)
		weave_image(c, y, ih, width);
}

/* Row y of the band, row ih of the image, with what lies left and right of it. */
static void copy_row(struct copy *c, int y, struct affine ih)
{
	static const char *const at_left[] = {"leftvecs", "leftlen", NULL};
	static const char *const at_right[] = {"rightvecs", "rightlen", "rightat"};
	const struct band *b = c->b;
	const struct conv *p = b->p;
	int64_t width = p->iw < p->band_w - p->pw ? p->iw : p->band_w - p->pw, right;
	int64_t left = p->pw < p->band_w ? p->pw : p->band_w;

	if (width < 0)
		width = 0;
	right = p->band_w - p->pw - width;
	if (b->woven) {
		weave_row(c, y, ih, left, width, right > 0 ? right : 0);
		return;
	}
	if (p->pw)
		zero_part(c, y, 0, left * b->kc, at_left);
	if (width)
		copy_pixels(c, y, ih, width);
	if (right > 0)
		zero_part(c, y, (p->pw + width) * b->kc, right * b->kc, at_right);
}

struct access band_copy(struct nest *n, const struct band *b)
{
	const struct conv *p = b->p;
	int64_t row = p->band_w * b->kc, window = (p->kh - 1) * p->dh + 1;
	struct copy c = {.n = n, .b = b};
	int ih, ph, sh, overlap, lo, hi, end, y, high;
	struct affine first, inside_end;
	int64_t size;

	for (int d = 0; d < ACCESS_DIMS; d++)
		c.to.dim[d].symbol = -1;
	c.to.dim[CONV_ROW].step = row;
	c.to.dim[CONV_COLUMN].step = b->kc;
	c.to.dim[CONV_CHANNEL].step = 1;
	access_name(n, &c.to, CONV_ROW, "bandrow");
	c.row = c.to.dim[CONV_ROW].symbol;
	ih = nest_param(n, "IH", p->ih);
	c.row_vectors = nest_param(n, "rowvecs", ceil_div(row, b->lanes));
	ph = nest_param(n, "PH", p->ph);
	sh = nest_param(n, "SH", p->sh);
	overlap = nest_param(n, "window", window - p->sh);
	if (b->groups > 1)
		c.to.dim[CONV_GROUP].step = stage_spaced(((b->most - 1) * p->sh + window) * row);
	size = b->groups > 1 ? b->groups * c.to.dim[CONV_GROUP].step
			     : ((b->most - 1) * p->sh + window) * row + b->beyond;
	c.to.half = b->halves ? stage_spaced(size) : 0;
	c.to.buffer = nest_work(n, "band", size + c.to.half);
	/* Input row of band row 0, and the band's height: (hi - lo) * SH + window - SH. */
	first = af_var(nest_let(n, "first", af_sub(af_times(af_var(b->rows->lo), sh), af_var(ph))));
	high = nest_let(n, "rows",
			af_add(af_times(af_sub(af_var(b->rows->hi), af_var(b->rows->lo)), sh),
			       af_var(overlap)));
	/* Rows [0, -lo) lie above the image, [hi, rows) below it. */
	lo = nest_let_min(n, "lo", af(0), first);
	end = nest_let_min(n, "end", af_var(high), af_sub(af_var(ih), first));
	lo = nest_let_min(n, "above", af_mul(af_var(lo), -1), af_var(high));
	hi = nest_let_min(n, "below", af_mul(af_var(end), -1), af_mul(af_var(lo), -1));
	inside_end = af_mul(af_var(hi), -1); /* max(end, above) */
	if (!p->clipped)
		zero_rows(&c, af(0), af_var(lo));
	y = nest_for(n, LOOP_SERIAL, "y", af_var(lo), inside_end);
	copy_row(&c, y, af_add(af_var(y), first));
	nest_close(n);
	if (!p->clipped)
		zero_rows(&c, inside_end, af_var(high));
	zero_beyond(&c, p->clipped ? inside_end : af_var(high));
	return c.to;
}
