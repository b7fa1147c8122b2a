#include "lib/schedule/tile_threads.h"

#include "lib/schedule/share.h"
#include "lib/space/knob.h"

enum { LEAST_CHANNELS = 8 };
enum { TOGETHER = 32 }; /* threads of neighbouring channels */

/* ---- the problem ---- */

int tile_threads_has(const struct conv *c, int64_t m)
{
	const struct image_kernel k = {c->kh, c->kw, 1, 1, c->ic <= TOOM_FEW};

	return image_has(&k, m);
}

int64_t tile_threads_smallest(const struct conv *c)
{
	int64_t m = 2;

	while (m <= TILE_LARGEST && !tile_threads_has(c, m))
		m++;
	return m;
}

int tile_threads_applies(const struct workload *w, struct conv *c)
{
	return conv_of(w, c) && c->g == 1 && c->sh == 1 && c->sw == 1 && c->dh == 1 && c->dw == 1 &&
	       c->ic >= LEAST_CHANNELS && tile_threads_smallest(c) <= TILE_LARGEST;
}

struct tile_threads tile_threads_of(const struct workload *w, const struct conv *c, int64_t m)
{
	const struct image_kernel kernel = {c->kh, c->kw, 1, 1, 0};
	struct tile_threads s = {.c = *c, .nchw = w->layout == LAYOUT_NCHW};

	s.g = (struct image){.ih = c->ih,
			     .iw = c->iw,
			     .ic = c->ic,
			     .oh = c->oh,
			     .ow = c->ow,
			     .oc = c->oc,
			     .ph = c->ph,
			     .pw = c->pw};
	image_make(&s.g, &kernel, (int)m, (int)m);
	return s;
}

int64_t tile_threads_tiles(const struct tile_threads *s)
{
	return s->c.mb * s->g.rows * s->g.cols;
}

int64_t tile_threads_values(const struct tile_threads *s)
{
	return (int64_t)s->g.v.n * s->g.h.n;
}

int64_t tile_threads_registers(const struct image *g, int64_t lanes)
{
	int64_t most = g->v.n > g->h.n ? g->v.n : g->h.n;

	/* Half transformed; a line of what goes in; sums of pairs. */
	return lanes * ((int64_t)g->v.inputs * g->h.n + most + (most > 6 ? most / 2 - 1 : 2));
}

/* ---- weights ---- */

static void add_map(struct packing *p, int dim, const struct toom_matrix *g)
{
	struct packing_map *m = packing_map(p, dim, dim, g->rows, g->cols);

	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->cols; c++)
			m->m[r][c] = g->m[r][c];
}

static void panels_and_chunks(struct packing *p, int o, int i, int64_t bn, int64_t bk)
{
	packing_axis(p, o, ceil_div(p->extent[o], bn), bn);
	packing_axis(p, i, ceil_div(p->extent[i], bk), bk);
}

int tile_threads_weights(struct nest *n, const struct conv *c, const struct image *g, int64_t bn,
			 int64_t bk, int chunks_first)
{
	struct packing w = {0};
	int one = packing_dim(&w, 1), o = packing_dim(&w, c->oc), i = packing_dim(&w, c->ic);
	int kh = packing_dim(&w, c->kh), kw = packing_dim(&w, c->kw);

	if (c->kh > 1)
		add_map(&w, kh, &g->v.g);
	if (c->kw > 1)
		add_map(&w, kw, &g->h.g);
	packing_axis(&w, one, 1, 1);
	if (chunks_first)
		panels_and_chunks(&w, o, i, bn, bk);
	packing_axis(&w, kh, g->v.n, 1);
	packing_axis(&w, kw, g->h.n, 1);
	if (!chunks_first)
		panels_and_chunks(&w, o, i, bn, bk);
	packing_axis(&w, i, bk, 1);
	packing_axis(&w, o, bn, 1);
	return nest_packed(n, "w", TENSOR_WEIGHTS, &w);
}

/* ---- a thread's place ---- */

void tile_threads_find(const struct tile_threads *s, struct tile_place *x)
{
	struct affine rest = x->tile;

	x->col = share_place(s->n, "col", &rest, s->g.cols);
	x->row = share_place(s->n, "row", &rest, s->g.rows);
	x->image = rest;
}

/* Opens the loops over blocks and threads, each of which has a tile and `lanes` of the channels. */
static struct tile_place open_threads(const struct tile_threads *s, int64_t channels, int lanes)
{
	struct nest *n = s->n;
	int64_t vectors = channels / lanes, of_group = vectors < TOGETHER ? vectors : TOGETHER;
	int64_t tiles = tile_threads_tiles(s), groups = ceil_div(vectors, of_group);
	int64_t units = groups * of_group * tiles;
	struct tile_place x = {.may_lack = 0};
	struct affine unit = share_grid(n, s->threads, units), vector;

	vector = share_place(n, "c", &unit, of_group);
	x.tile = share_place(n, "tile", &unit, tiles);
	vector = af_add(vector, af_mul(unit, of_group));
	if (vectors % of_group)
		nest_if_less(n, vector, af(vectors));
	x.channel = af_mul(vector, lanes);
	tile_threads_find(s, &x);
	return x;
}

static struct affine pixel(const struct tile_threads *s, const struct tile_place *x,
			   struct affine row, struct affine col, int64_t channels, int64_t height,
			   int64_t width)
{
	if (s->nchw)
		return af_sum(af_mul(x->image, channels * height * width),
			      af_mul(x->channel, height * width), af_mul(row, width), col);
	return af_sum(af_mul(x->image, height * width * channels), af_mul(row, width * channels),
		      af_mul(col, channels), x->channel);
}

/* Opens a branch for what lies in [0, end), where it may lie elsewhere: below, or beyond. */
static void if_inside(struct nest *n, struct affine i, int64_t end, int below, int beyond)
{
	if (below)
		nest_if_less(n, af(-1), i);
	if (beyond)
		nest_if_less(n, i, af(end));
}

/* ---- inputs ---- */

/* Loads the tile's row i; what lies outside the image is 0. */
static void load_row(const struct tile_threads *s, const struct transform *f,
		     const struct tile_place *x, struct affine i)
{
	const struct image *g = &s->g;
	struct nest *n = s->n;
	int j = nest_for(n, LOOP_UNROLL, "j", af(0), af(g->h.inputs)), ih, iw, depth;

	nest_store(n, f->in, af_var(j), NULL, ex_const(n, ELEM_F32, f->lanes, 0));
	ih = nest_let(n, "ih", af_sum(af_mul(x->row, g->v.m), i, af(-g->ph)));
	iw = nest_let(n, "iw", af_sum(af_mul(x->col, g->h.m), af_var(j), af(-g->pw)));
	depth = n->depth;
	if (x->may_lack) {
		nest_if_less(n, x->tile, af(tile_threads_tiles(s)));
		nest_if_less(n, x->channel, af(g->ic));
	}
	if_inside(n, af_var(ih), g->ih, g->ph > 0, g->rows * g->v.m + s->c.kh - 1 - g->ph > g->ih);
	if_inside(n, af_var(iw), g->iw, g->pw > 0, g->cols * g->h.m + s->c.kw - 1 - g->pw > g->iw);
	nest_store(n, f->in, af_var(j), NULL,
		   ex_load(n, s->src, f->lanes,
			   pixel(s, x, af_var(ih), af_var(iw), g->ic, g->ih, g->iw), NULL));
	nest_close_to(n, depth);
	nest_close(n);
}

void tile_threads_transform(const struct tile_threads *s, const struct tile_place *x, int lanes,
			    const struct line *to)
{
	const struct image *g = &s->g;
	struct nest *n = s->n;
	int half = nest_reg(n, "half", ELEM_F32, lanes, g->v.inputs, g->h.n), i;
	struct transform f;
	struct line line, put;

	transform_open(&f, n, ELEM_F32, lanes, &g->v, &g->h);
	i = nest_for(n, LOOP_UNROLL, "y", af(0), af(g->v.inputs));
	load_row(s, &f, x, af_var(i));
	line = (struct line){half, af_mul(af_var(i), g->h.n), 1};
	transform_input(&f, &g->h, transform_all(g->h.inputs), transform_put_line, &line);
	nest_close(n);
	i = nest_for(n, LOOP_UNROLL, "x", af(0), af(g->h.n));
	line = (struct line){half, af_var(i), g->h.n};
	transform_load(&f, &line, transform_all(g->v.inputs));
	put = (struct line){to->buffer, af_add(to->at, af_mul(af_var(i), to->step)),
			    to->step * g->h.n};
	transform_input(&f, &g->v, transform_all(g->v.inputs), transform_put_line, &put);
	nest_close(n);
}

void tile_threads_inputs(const struct tile_threads *s, int lanes, int to)
{
	struct tile_place x = open_threads(s, s->g.ic, lanes);
	struct line put = {to, af_add(af_mul(x.tile, s->g.ic), x.channel),
			   tile_threads_tiles(s) * s->g.ic};

	tile_threads_transform(s, &x, lanes, &put);
	nest_close_to(s->n, 0);
}

/* ---- outputs ---- */

/* Loads column i of the tile's products: each is the sum of several. */
static void load_column(const struct tile_threads *s, const struct transform *f, struct affine i,
			const struct tile_products *from)
{
	struct nest *n = s->n;
	int y = nest_for(n, LOOP_UNROLL, "y", af(0), af(s->g.v.n)), sum;
	struct affine value = af_add(af_mul(af_var(y), s->g.h.n), i);
	struct affine at = af_add(from->at, af_mul(value, from->value_step));

	nest_store(n, f->in, af_var(y), NULL, ex_load(n, from->buffer, f->lanes, at, NULL));
	if (from->sums > 1) {
		sum = nest_for(n, LOOP_SERIAL, "s", af(1), af(from->sums));
		at = af_add(at, af_mul(af_var(sum), from->sum_step));
		nest_store(n, f->in, af_var(y), NULL,
			   ex_op(n, EXPR_ADD, ex_reg(n, f->in, af_var(y)),
				 ex_load(n, from->buffer, f->lanes, at, NULL), NULL));
		nest_close(n);
	}
	nest_close(n);
}

/* Stores a row of the tile's pixels from registers, as far as they lie inside the output. */
static void store_row(const struct tile_threads *s, const struct tile_place *x, struct affine i,
		      int pixels)
{
	const struct image *g = &s->g;
	struct nest *n = s->n;
	const int depth = n->depth;
	struct affine row = af_add(af_mul(x->row, g->v.m), i), col;
	int j;

	if_inside(n, row, g->oh, 0, g->oh % g->v.m != 0);
	j = nest_for(n, LOOP_UNROLL, "j", af(0), af(g->h.m));
	col = af_add(af_mul(x->col, g->h.m), af_var(j));
	if_inside(n, col, g->ow, 0, g->ow % g->h.m != 0);
	operand_store(n, &s->out, ex_reg(n, pixels, af_var(j)),
		      pixel(s, x, row, col, g->oc, g->oh, g->ow), x->channel, NULL);
	nest_close_to(n, depth);
}

void tile_threads_back(const struct tile_threads *s, const struct tile_place *x, int lanes,
		       const struct tile_products *from)
{
	const struct image *g = &s->g;
	struct nest *n = s->n;
	int half = nest_reg(n, "half", ELEM_F32, lanes, g->v.m, g->h.n), i;
	int pixels = nest_reg(n, "pixel", ELEM_F32, lanes, g->h.m, 1);
	struct transform f;
	struct line line;

	transform_open(&f, n, ELEM_F32, lanes, &g->v, &g->h);
	i = nest_for(n, LOOP_UNROLL, "x", af(0), af(g->h.n));
	load_column(s, &f, af_var(i), from);
	line = (struct line){half, af_var(i), g->h.n};
	transform_output(&f, &g->v, g->v.m, transform_put_line, &line);
	nest_close(n);
	i = nest_for(n, LOOP_UNROLL, "y", af(0), af(g->v.m));
	line = (struct line){half, af_mul(af_var(i), g->h.n), 1};
	transform_load(&f, &line, transform_all(g->h.n));
	line = (struct line){pixels, af(0), 1};
	transform_output(&f, &g->h, g->h.m, transform_put_line, &line);
	store_row(s, x, af_var(i), pixels);
	nest_close(n);
}

void tile_threads_outputs(const struct tile_threads *s, int lanes, struct tile_products from,
			  int64_t tile_step)
{
	struct tile_place x = open_threads(s, s->g.oc, lanes);

	from.at = af_add(af_mul(x.tile, tile_step), x.channel);
	tile_threads_back(s, &x, lanes, &from);
	nest_close_to(s->n, 0);
}
