/* winograd: 3x3 convolution of unit stride, nhwc, by minimal filtering (lib/tile/toom.h) in both
 * directions.
 *
 * The output is cut into m x m tiles; the n x n inputs of each (n = m + 2) are transformed, and
 * multiplied, value by value and summed over channels, with transformed weights, which are
 * prepared: n^2 products of matrices of tiles x channels. What comes out is transformed back (Lavin
 * and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016).
 *
 * A block of tiles is one thread's: it transforms their inputs into its workspace, for all
 * channels; then, for each panel of output channels, multiplies by brgemm tiles into a workspace
 * that stays in a near cache, and transforms these back, post-ops included. So no tensor but the
 * weights is larger than in a direct convolution. Threads may share a block by its panels, and
 * transform the same inputs, where there are few tiles.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/tile/brgemm.h"
#include "lib/algo/conv.h"
#include "lib/tile/post.h"
#include "lib/tile/toom.h"

enum winograd_knob { VL, NV, MR, M, TC, TR, NC, PAR, UNROLL, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1,
		"Image tiles of the register tile, at most, in near-equal parts of a block."},
	[M] = {"m", 4, "Output pixels along each side of an image tile: 2 or 4."},
	[TC] = {"tc", 1, "Image tiles in a row of a block; divides those in a row of the image."},
	[TR] = {"tr", 1, "Rows of image tiles in a block; divides those of the image."},
	[NC] = {"nc", 0, "Register tiles of output channels in a block; 0: all."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: image tiles "
		 "innermost."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over input channels."},
};

enum { TAPS = 3, MAX_TILES = 64 };
static const int64_t MAX_BLOCK = 1 << 20; /* floats of a block's transformed inputs */

static int applies(const struct workload *w, struct conv *p)
{
	return conv_of(w, p) && p->g == 1 && p->kh == TAPS && p->kw == TAPS && p->sh == 1 &&
	       p->sw == 1 && p->dh == 1 && p->dw == 1 && p->ph < TAPS && p->pw < TAPS && !p->nchw &&
	       p->ic % 8 == 0;
}

static int winograd_space(const struct workload *w, const struct limits *m, struct knob_space *s)
{
	static const int tiles[] = {3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28};
	static const int blocks[] = {1, 2, 4, 8, 16};
	struct conv p;

	if (!applies(w, &p) || m->lanes < 8)
		return 0;
	s->n = KNOBS;
	knob_add(s, VL, m->lanes);
	for (int v = 1; v <= 4; v++)
		knob_add(s, NV, v);
	for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++)
		knob_add(s, MR, tiles[i]);
	for (int size = 4; size >= 2; size -= 2) {
		knob_add(s, M, size);
		for (int d = 1; d <= 28; d++) {
			if (ceil_div(p.ow, size) % d == 0)
				knob_add(s, TC, d);
			if (ceil_div(p.oh, size) % d == 0 && d <= 14)
				knob_add(s, TR, d);
		}
	}
	knob_add(s, NC, 0);
	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
		if (blocks[i] * m->lanes < p.oc)
			knob_add(s, NC, blocks[i]);
	for (int i = 0; i <= 1; i++)
		knob_add(s, PAR, i);
	for (int u = 1; u <= 4; u *= 2)
		knob_add(s, UNROLL, u);
	return 1;
}

/* Where the tiles at the end of a row or column are, taps of the others do not leave the image. */
static int edges_are_one(int64_t in, int64_t out, int64_t pad, int64_t size)
{
	int64_t tiles = ceil_div(out, size), n = size + TAPS - 1;

	return size >= pad && (tiles < 2 || (tiles - 2) * size - pad + n <= in);
}

static int winograd_valid(const struct workload *w, const int64_t *k, const char **why)
{
	struct row_split r;
	struct conv p;
	int64_t rows, cols, n = k[M] + TAPS - 1;

	*why = "the algorithm does not apply to this workload";
	if (!applies(w, &p))
		return 0;
	*why = "a knob is outside its range";
	if ((k[M] != 2 && k[M] != 4) || k[TC] < 1 || k[TR] < 1 || k[NC] < 0 || k[PAR] < 0 ||
	    k[PAR] > 1 || k[UNROLL] < 1 || k[UNROLL] > 16 || (k[VL] != 8 && k[VL] != 16))
		return 0;
	if (!brgemm_fits(k[VL], k[NV], k[MR], why))
		return 0;
	*why = "input channels fill no whole vectors";
	if (p.ic % k[VL])
		return 0;
	*why = "more than the tiles at the edges have taps outside the image";
	if (!edges_are_one(p.ih, p.oh, p.ph, k[M]) || !edges_are_one(p.iw, p.ow, p.pw, k[M]))
		return 0;
	rows = ceil_div(p.oh, k[M]);
	cols = ceil_div(p.ow, k[M]);
	*why = "blocks do not divide the image";
	if (cols % k[TC] || rows % k[TR])
		return 0;
	*why = "the block is too large";
	if (k[TC] * k[TR] > MAX_TILES || n * n * k[TC] * k[TR] * p.ic > MAX_BLOCK)
		return 0;
	*why = "another value of mr, nc or nv gives the same program";
	r = row_split(k[TC] * k[TR], k[MR]);
	return r.rows + (r.rest > 0) == k[MR] &&
	       (!k[NC] || k[NC] < ceil_div(p.oc, k[NV] * k[VL])) &&
	       (k[NV] == 1 || (k[NV] - 1) * k[VL] < p.oc);
}

/* What the parts of the nest share. */
struct winograd {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct conv p;
	struct toom t;
	int64_t rows, cols; /* image tiles */
	int64_t block;	    /* image tiles of a block */
	int64_t nr, tiles;  /* channels of a register tile; how many of these */
	struct row_split split;
	int src, weights, bias, dst;
	int inputs, products; /* workspace, transformed: [n^2][block][IC] and [n^2][block][nr] */
	int half;	      /* workspace: a tile that is transformed in one direction */
	int in, sums; /* registers: a row or column, and sums and differences of its pairs */
	int img, row0, col0, j0, j1; /* of the block */
	struct brgemm g;
};

/* ---- one-dimensional transforms ---- */

static const struct expr *in_reg(struct winograd *s, int i)
{
	return ex_reg(s->n, s->in, af(i));
}

static const struct expr *sum_reg(struct winograd *s, int i)
{
	return ex_reg(s->n, s->sums, af(i));
}

static const struct expr *constant(struct winograd *s, double v)
{
	return ex_const(s->n, ELEM_F32, (int)s->k[VL], v);
}

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

/* Those with factor 1 first, which need no product. */
static const struct expr *sum_of(struct winograd *s, const struct terms *t)
{
	const struct expr *sum = NULL;

	for (int i = 0; i < t->n; i++)
		if (t->factor[i] == 1)
			sum = sum ? ex_op(s->n, EXPR_ADD, sum, t->x[i], NULL) : t->x[i];
	for (int i = 0; i < t->n; i++) {
		if (t->factor[i] == 1)
			continue;
		if (sum && t->factor[i] == -1)
			sum = ex_op(s->n, EXPR_SUB, sum, t->x[i], NULL);
		else if (sum)
			sum = ex_op(s->n, EXPR_FMA, t->x[i], constant(s, t->factor[i]), sum);
		else
			sum = ex_op(s->n, EXPR_MUL, t->x[i], constant(s, t->factor[i]), NULL);
	}
	return sum ? sum : constant(s, 0);
}

typedef void put_value(struct winograd *s, int i, const struct expr *x, void *arg);

/* Rows i and i + 1 of B^T: their common part, plus and minus the part in which they differ. */
static void put_pair(struct winograd *s, int i, unsigned there, put_value *put, void *arg)
{
	const struct toom_matrix *m = &s->t.bt;
	struct terms common = {0}, other = {0};

	for (int c = 0; c < m->cols; c++) {
		if (!(there >> c & 1))
			continue;
		if (m->m[i][c] == m->m[i + 1][c])
			add_term(&common, in_reg(s, c), m->m[i][c]);
		else
			add_term(&other, in_reg(s, c), m->m[i][c]);
	}
	nest_store(s->n, s->sums, af(0), NULL, sum_of(s, &common));
	nest_store(s->n, s->sums, af(1), NULL, sum_of(s, &other));
	put(s, i, ex_op(s->n, EXPR_ADD, sum_reg(s, 0), sum_reg(s, 1), NULL), arg);
	put(s, i + 1, ex_op(s->n, EXPR_SUB, sum_reg(s, 0), sum_reg(s, 1), NULL), arg);
}

/* B^T times the values in registers, of which those that are not there (a bit each) are 0. */
static void transform_input(struct winograd *s, unsigned there, put_value *put, void *arg)
{
	const struct toom_matrix *m = &s->t.bt;

	for (int i = 0; i < m->rows; i++) {
		struct terms t = {0};

		if (i && i < m->rows - 1) {
			put_pair(s, i++, there, put, arg);
			continue;
		}
		for (int c = 0; c < m->cols; c++)
			if (there >> c & 1)
				add_term(&t, in_reg(s, c), m->m[i][c]);
		put(s, i, sum_of(s, &t), arg);
	}
}

/* A^T times the values in registers: the first `rows` of what comes out. */
static void transform_output(struct winograd *s, int rows, put_value *put, void *arg)
{
	const struct toom_matrix *m = &s->t.at;
	struct nest *n = s->n;

	for (int c = 1; c < m->cols - 1; c += 2) {
		nest_store(n, s->sums, af(c - 1), NULL,
			   ex_op(n, EXPR_ADD, in_reg(s, c), in_reg(s, c + 1), NULL));
		nest_store(n, s->sums, af(c), NULL,
			   ex_op(n, EXPR_SUB, in_reg(s, c), in_reg(s, c + 1), NULL));
	}
	for (int i = 0; i < rows; i++) {
		struct terms t = {0};

		add_term(&t, in_reg(s, 0), m->m[i][0]);
		for (int c = 1; c < m->cols - 1; c += 2) /* even powers of p and -p are alike */
			add_term(&t, sum_reg(s, i % 2 ? c : c - 1), m->m[i][c]);
		add_term(&t, in_reg(s, m->cols - 1), m->m[i][m->cols - 1]);
		put(s, i, sum_of(s, &t), arg);
	}
}

/* ---- inputs ---- */

/* A place in the workspace: value i goes to at + i * step. */
struct line {
	int buffer;
	struct affine at;
	int64_t step;
};

static void put_line(struct winograd *s, int i, const struct expr *x, void *arg)
{
	const struct line *l = arg;

	nest_store(s->n, l->buffer, af_add(l->at, af(i * l->step)), NULL, x);
}

static void load_line(struct winograd *s, const struct line *from, unsigned there)
{
	for (int i = 0; i < s->t.n; i++)
		if (there >> i & 1)
			nest_store(s->n, s->in, af(i), NULL,
				   ex_load(s->n, from->buffer, (int)s->k[VL],
					   af_add(from->at, af(i * from->step)), NULL));
}

/* An image tile: variables of its row and column in the image, its number in the block; columns of
 * its inputs that lie inside the image, a bit each. */
struct image_tile {
	int row, col;
	struct affine number;
	unsigned there;
};

/* Row i of a tile's inputs, which lies inside the image. */
static void transform_row(struct winograd *s, const struct image_tile *t, struct affine i,
			  struct affine channel)
{
	const struct conv *p = &s->p;
	int64_t vl = s->k[VL];
	struct affine ih = af_sum(af_mul(af_var(t->row), s->t.m), i, af(-p->ph));
	struct affine iw = af_add(af_mul(af_var(t->col), s->t.m), af(-p->pw));
	struct line from = {s->src,
			    af_sum(af_mul(af_var(s->img), p->ih * p->iw * p->ic),
				   af_mul(ih, p->iw * p->ic), af_mul(iw, p->ic), channel),
			    p->ic};
	struct line to = {s->half, af_mul(i, s->t.n * vl), vl};

	load_line(s, &from, t->there);
	transform_input(s, t->there, put_line, &to);
}

static void zero_row(struct winograd *s, struct affine i)
{
	int x = nest_for(s->n, LOOP_UNROLL, "x", af(0), af(s->t.n));

	nest_store(s->n, s->half, af_mul(af_add(af_mul(i, s->t.n), af_var(x)), s->k[VL]), NULL,
		   constant(s, 0));
	nest_close(s->n);
}

/* Rows of a tile at the top or bottom: those outside the image are 0. */
static void transform_clipped_rows(struct winograd *s, const struct image_tile *t,
				   struct affine channel)
{
	struct nest *n = s->n;
	int i = nest_for(n, LOOP_SERIAL, "i", af(0), af(s->t.n));
	struct affine ih = af_sum(af_mul(af_var(t->row), s->t.m), af_var(i), af(-s->p.ph));
	int inside = nest_let_min(n, "inside", ih, af_sub(af(s->p.ih - 1), ih));

	nest_if_less(n, af_var(inside), af(0));
	zero_row(s, af_var(i));
	nest_else(n);
	transform_row(s, t, af_var(i), channel);
	nest_close(n);
	nest_close(n);
}

/* All channels of a tile. clipped: rows may lie outside the image. */
static void transform_channels(struct winograd *s, const struct image_tile *t, int clipped)
{
	const unsigned all = (1u << s->t.n) - 1;
	int64_t vl = s->k[VL], step = s->block * s->p.ic;
	struct nest *n = s->n;
	int v = nest_for(n, LOOP_SERIAL, "v", af(0), af(s->p.ic / vl)), i, x;
	struct affine channel = af_mul(af_var(v), vl);
	struct line from = {s->half, af(0), s->t.n * vl}, to = {s->inputs, af(0), s->t.n * step};

	if (clipped) {
		transform_clipped_rows(s, t, channel);
	} else {
		i = nest_for(n, LOOP_UNROLL, "i", af(0), af(s->t.n));
		transform_row(s, t, af_var(i), channel);
		nest_close(n);
	}
	x = nest_for(n, LOOP_UNROLL, "x", af(0), af(s->t.n));
	from.at = af_mul(af_var(x), vl);
	to.at = af_sum(af_mul(af_var(x), step), af_mul(t->number, s->p.ic), channel);
	load_line(s, &from, all);
	transform_input(s, all, put_line, &to);
	nest_close(n);
	nest_close(n);
}

static void transform_rows(struct winograd *s, const struct image_tile *t)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	int64_t first = ceil_div(p->ph, s->t.m), end = (p->ih + p->ph - s->t.n) / s->t.m + 1;
	int inside;

	if (p->ih + p->ph < s->t.n || first >= end) {
		transform_channels(s, t, 1);
		return;
	}
	if (first == 0 && end >= s->rows) {
		transform_channels(s, t, 0);
		return;
	}
	inside = nest_let_min(n, "inside", af_sub(af_var(t->row), af(first)),
			      af_sub(af(end - 1), af_var(t->row)));
	nest_if_less(n, af_var(inside), af(0));
	transform_channels(s, t, 1);
	nest_else(n);
	transform_channels(s, t, 0);
	nest_close(n);
}

/* Columns of a tile's inputs inside the image, a bit each. */
static unsigned columns_there(const struct winograd *s, int64_t col)
{
	unsigned there = 0;

	for (int i = 0; i < s->t.n; i++) {
		int64_t iw = col * s->t.m - s->p.pw + i;

		there |= (unsigned)(iw >= 0 && iw < s->p.iw) << i;
	}
	return there;
}

/* Tiles at the left and the right end of a row have bodies of their own, where taps leave the image
 * there. */
static void transform_tile(struct winograd *s, struct image_tile t)
{
	const unsigned all = (1u << s->t.n) - 1;
	int64_t last = s->cols - 1;
	int left = columns_there(s, 0) != all, right = last && columns_there(s, last) != all;
	struct nest *n = s->n;

	if (left && last) {
		nest_if_less(n, af_var(t.col), af(1));
		t.there = columns_there(s, 0);
		transform_rows(s, &t);
		nest_else(n);
	}
	if (right) {
		nest_if_less(n, af(last - 1), af_var(t.col));
		t.there = columns_there(s, last);
		transform_rows(s, &t);
		nest_else(n);
	}
	t.there = last ? all : columns_there(s, 0);
	if (last - left - right >= 0 || !last)
		transform_rows(s, &t);
	if (right)
		nest_close(n);
	if (left && last)
		nest_close(n);
}

/* Loops over the block's image tiles; two to close. Their registers live in there. */
static struct image_tile open_tiles(struct winograd *s)
{
	struct nest *n = s->n;
	struct image_tile t = {0};
	int r = nest_for(n, LOOP_SERIAL, "r", af(0), af(s->k[TR]));
	int c = nest_for(n, LOOP_SERIAL, "c", af(0), af(s->k[TC]));

	s->in = nest_reg(n, "in", ELEM_F32, (int)s->k[VL], s->t.n, 1);
	s->sums = nest_reg(n, "sum", ELEM_F32, (int)s->k[VL], s->t.n - 2, 1);
	t.row = nest_let(n, "row", af_add(af_var(s->row0), af_var(r)));
	t.col = nest_let(n, "col", af_add(af_var(s->col0), af_var(c)));
	t.number = af_add(af_mul(af_var(r), s->k[TC]), af_var(c));
	return t;
}

static void close_tiles(struct winograd *s)
{
	nest_close(s->n);
	nest_close(s->n);
}

/* ---- products ---- */

static void multiply_tiles(struct winograd *s, int xi, int j, int64_t from, int64_t count, int rows)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct brgemm_out out = {.bias = -1, .c = s->products, .c_row = af(s->nr)};
	int t = nest_for(n, LOOP_SERIAL, "t", af(0), af(count));
	struct affine first = af_add(af(from), af_mul(af_var(t), rows));

	s->g.a_at = af_add(af_mul(af_var(xi), s->block * p->ic), af_mul(first, p->ic));
	s->g.b_at = af_add(af_mul(af_var(j), s->t.n * s->t.n * p->ic * s->nr),
			   af_mul(af_var(xi), p->ic * s->nr));
	out.c_at = af_add(af_mul(af_var(xi), s->block * s->nr), af_mul(first, s->nr));
	brgemm_tile(n, &s->g, rows, &out, -1, af(0));
	nest_close(n);
}

/* The block's image tiles by one panel of output channels. */
static void multiply(struct winograd *s, int j)
{
	const struct row_split *r = &s->split;
	struct nest *n = s->n;
	int xi = nest_for(n, LOOP_SERIAL, "xi", af(0), af(s->t.n * s->t.n));

	if (r->rest)
		multiply_tiles(s, xi, j, 0, r->rest, r->rows + 1);
	if (r->tiles > r->rest)
		multiply_tiles(s, xi, j, r->rest * (r->rows + 1), r->tiles - r->rest, r->rows);
	nest_close(n);
}

/* ---- outputs ---- */

/* A row of output pixels of a tile, of one vector of channels. */
struct pixels {
	struct affine at;      /* of the first one, in dst */
	struct affine channel; /* of the vector */
	const struct affine *valid;
};

static void put_pixel(struct winograd *s, int i, const struct expr *x, void *arg)
{
	const struct pixels *o = arg;
	const struct expr *bias = NULL, *add = NULL;
	struct affine at = af_add(o->at, af(i * s->p.oc));
	int lanes = (int)s->k[VL];
	struct nest *n = s->n;

	if (s->bias >= 0)
		bias = ex_load(n, s->bias, lanes, o->channel, NULL);
	if (workload_has_post(s->w, POST_ADD))
		add = ex_load(n, s->dst, lanes, at, o->valid);
	nest_store(n, s->dst, at, o->valid, post_apply(n, x, s->w->npost, s->w->post, bias, add));
}

/* A tile of which rows x cols pixels lie inside the output. */
static void transform_back(struct winograd *s, const struct image_tile *t, int j, int rows,
			   int cols)
{
	const unsigned all = (1u << s->t.n) - 1;
	const struct conv *p = &s->p;
	int64_t vl = s->k[VL], step = s->block * s->nr;
	struct nest *n = s->n;
	int v = nest_for(n, LOOP_SERIAL, "v", af(0), af(s->k[NV])), i, x;
	struct line from = {s->products, af(0), s->t.n * step}, to = {s->half, af(0), s->t.n * vl};
	struct affine channel = af_add(af_mul(af_var(j), s->nr), af_mul(af_var(v), vl));
	struct pixels out = {.channel = channel};

	x = nest_for(n, LOOP_UNROLL, "x", af(0), af(s->t.n));
	from.at = af_sum(af_mul(af_var(x), step), af_mul(t->number, s->nr), af_mul(af_var(v), vl));
	to.at = af_mul(af_var(x), vl);
	load_line(s, &from, all);
	transform_output(s, rows, put_line, &to);
	nest_close(n);

	i = nest_for(n, LOOP_UNROLL, "i", af(0), af(rows));
	from = (struct line){s->half, af_mul(af_var(i), s->t.n * vl), vl};
	out.at = af_sum(af_mul(af_var(s->img), p->oh * p->ow * p->oc),
			af_mul(af_add(af_mul(af_var(t->row), s->t.m), af_var(i)), p->ow * p->oc),
			af_mul(af_var(t->col), s->t.m * p->oc), channel);
	out.valid = p->oc % s->nr ? nest_keep(n, af_sub(af(p->oc), channel)) : NULL;
	load_line(s, &from, all);
	transform_output(s, cols, put_pixel, &out);
	nest_close(n);
	nest_close(n);
}

static void transform_back_cols(struct winograd *s, const struct image_tile *t, int j, int rows)
{
	int64_t full = s->p.ow / s->t.m;
	int rest = (int)(s->p.ow % s->t.m);

	if (rest && full)
		nest_if_less(s->n, af_var(t->col), af(full));
	if (full)
		transform_back(s, t, j, rows, s->t.m);
	if (rest && full)
		nest_else(s->n);
	if (rest)
		transform_back(s, t, j, rows, rest);
	if (rest && full)
		nest_close(s->n);
}

static void transform_back_tile(struct winograd *s, const struct image_tile *t, int j)
{
	int64_t full = s->p.oh / s->t.m;
	int rest = (int)(s->p.oh % s->t.m);

	if (rest && full)
		nest_if_less(s->n, af_var(t->row), af(full));
	if (full)
		transform_back_cols(s, t, j, s->t.m);
	if (rest && full)
		nest_else(s->n);
	if (rest)
		transform_back_cols(s, t, j, rest);
	if (rest && full)
		nest_close(s->n);
}

/* ---- the nest ---- */

static void add_map(struct packing *p, int dim, const struct toom_matrix *g)
{
	struct packing_map *m = &p->map[p->nmaps++];

	m->dim = dim;
	m->rows = g->rows;
	m->cols = g->cols;
	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->cols; c++)
			m->m[r][c] = g->m[r][c];
}

static void declare_weights(struct winograd *s)
{
	struct packing pw = {0}, pb = {0};
	int g = packing_dim(&pw, 1), o = packing_dim(&pw, s->p.oc), i = packing_dim(&pw, s->p.ic);
	int kh = packing_dim(&pw, TAPS), kw = packing_dim(&pw, TAPS);

	add_map(&pw, kh, &s->t.g);
	add_map(&pw, kw, &s->t.g);
	packing_axis(&pw, g, 1, 1);
	packing_axis(&pw, o, s->tiles, s->nr);
	packing_axis(&pw, kh, s->t.n, 1);
	packing_axis(&pw, kw, s->t.n, 1);
	packing_axis(&pw, i, s->p.ic, 1);
	packing_axis(&pw, o, s->nr, 1);
	s->weights = nest_packed(s->n, "w", TENSOR_WEIGHTS, &pw);
	s->bias = -1;
	if (!workload_has_post(s->w, POST_BIAS))
		return;
	o = packing_dim(&pb, s->p.oc);
	packing_axis(&pb, o, s->tiles * s->nr, 1);
	s->bias = nest_packed(s->n, "bias", TENSOR_BIAS, &pb);
}

static void declare(struct winograd *s)
{
	const struct conv *p = &s->p;
	int64_t dst = p->mb * p->oh * p->ow * p->oc, n2 = s->t.n * s->t.n;
	int lanes = (int)s->k[VL];
	struct nest *n = s->n;

	s->src = nest_arg(n, "src", TENSOR_SRC, p->mb * p->ih * p->iw * p->ic, 0);
	declare_weights(s);
	s->dst = nest_arg(n, "dst", TENSOR_DST, dst, 1);
	s->inputs = nest_work(n, "V", n2 * s->block * p->ic);
	s->products = nest_work(n, "M", n2 * s->block * s->nr);
	s->half = nest_work(n, "H", n2 * lanes);
	brgemm_registers(n, &s->g, lanes, (int)s->k[MR], (int)s->k[NV]);
	s->g.unroll = (int)s->k[UNROLL];
	s->g.a = s->inputs;
	s->g.a_row = af(p->ic);
	s->g.b = s->weights;
	s->g.b_k = af(s->nr);
	s->g.k = af(p->ic);
}

static void open_blocks(struct winograd *s)
{
	int64_t nc = s->k[NC] ? s->k[NC] : s->tiles;
	struct affine rows = af(s->rows / s->k[TR]), cols = af(s->cols / s->k[TC]);
	struct affine blocks = af(ceil_div(s->tiles, nc));
	struct nest *n = s->n;
	int ir, ic, jb = -1;

	s->img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s->p.mb));
	if (s->k[PAR])
		jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), blocks);
	ir = nest_for(n, LOOP_PARALLEL, "ir", af(0), rows);
	ic = nest_for(n, LOOP_PARALLEL, "ic", af(0), cols);
	if (!s->k[PAR])
		jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), blocks);
	s->row0 = nest_let(n, "row", af_mul(af_var(ir), s->k[TR]));
	s->col0 = nest_let(n, "col", af_mul(af_var(ic), s->k[TC]));
	s->j0 = nest_let(n, "j", af_mul(af_var(jb), nc));
	s->j1 = nest_let_min(n, "j", af_add(af_var(s->j0), af(nc)), af(s->tiles));
}

static int winograd_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct winograd s = {.n = n, .w = w, .k = k};
	struct image_tile t;
	int j;

	if (!applies(w, &s.p))
		return err_set(e, "winograd does not apply to this workload");
	toom_make(&s.t, (int)k[M], TAPS);
	s.rows = ceil_div(s.p.oh, k[M]);
	s.cols = ceil_div(s.p.ow, k[M]);
	s.block = k[TC] * k[TR];
	s.split = row_split(s.block, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.oc, s.nr);
	declare(&s);
	open_blocks(&s);
	t = open_tiles(&s);
	transform_tile(&s, t);
	close_tiles(&s);
	j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	multiply(&s, j);
	t = open_tiles(&s);
	transform_back_tile(&s, &t, j);
	close_tiles(&s);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_winograd = {
	.name = "winograd",
	.summary = "3x3 convolution by minimal filtering of 2x2 or 4x4 output pixels.",
	.target = "cpu",
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.space = winograd_space,
	.valid = winograd_valid,
	.build = winograd_build,
};
