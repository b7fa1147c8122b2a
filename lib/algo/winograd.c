/* winograd: convolution, nhwc, by minimal filtering (lib/tile/toom.h) in each direction that has
 * several taps: 3x3, 5x5, 1x3, 7x1 and the like, of unit stride; 3x3 of stride 2.
 *
 * The output is cut into tiles of m x m pixels (m x 1, 1 x m); the inputs of each are transformed
 * into n^2 values (n) and multiplied, value by value and summed over channels, with transformed
 * weights, which are prepared: that is a product of matrices, of tiles and channels, for each
 * value. What comes out is transformed back (Lavin and Gray, "Fast algorithms for convolutional
 * neural networks", CVPR 2016).
 *
 * A block of tiles is one thread's: it transforms their inputs into its workspace, for all
 * channels; then, for each panel of output channels, multiplies by brgemm tiles into a workspace
 * that stays in a near cache, and transforms these back, post-ops included. So no tensor but the
 * weights is larger than in a direct convolution. Threads may share a block by its panels, and
 * transform the same inputs, where there are few tiles.
 */
#include <limits.h>

#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/range.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/image.h"
#include "lib/tile/post.h"

enum winograd_knob { VL, NV, MR, M, TC, TR, NC, PAR, UNROLL, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1,
		"Image tiles of the register tile, at most, in near-equal parts of a block."},
	[M] = {"m", 4,
	       "Output pixels along each side of an image tile: 2, 4, 6 or 8; at stride 2: 3 or "
	       "5."},
	[TC] = {"tc", 1, "Image tiles in a row of a block; divides those in a row of the image."},
	[TR] = {"tr", 1, "Rows of image tiles in a block; divides those of the image."},
	[NC] = {"nc", 0, "Register tiles of output channels in a block; 0: all."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: image tiles "
		 "innermost."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over input channels."},
};

enum { MAX_TILES = 256, MAX_EDGES = 6 };
static const int64_t MAX_BLOCK = 1 << 20; /* floats of a block's transformed inputs */

static struct image_kernel kernel_of(const struct conv *p)
{
	return (struct image_kernel){p->kh, p->kw, p->sh, p->sw};
}

static int has_tile(const struct conv *p, int64_t m)
{
	const struct image_kernel k = kernel_of(p);

	return image_has(&k, m);
}

/* In a direction of one tap the image is as large as the output. */
static int applies(const struct workload *w, struct conv *p)
{
	if (!conv_of(w, p) || p->nchw || p->g != 1 || p->dh != 1 || p->dw != 1 || p->ph >= p->kh ||
	    p->pw >= p->kw || p->ic % 8)
		return 0;
	if ((p->kh == 1 && p->oh != p->ih) || (p->kw == 1 && p->ow != p->iw))
		return 0;
	return has_tile(p, 2) || has_tile(p, 3);
}

static struct image image_of(const struct conv *p, const int64_t *k)
{
	const struct image_kernel kernel = kernel_of(p);
	struct image s = {.ih = p->ih,
			  .iw = p->iw,
			  .ic = p->ic,
			  .oh = p->oh,
			  .ow = p->ow,
			  .oc = p->oc,
			  .ph = p->ph,
			  .pw = p->pw,
			  .lanes = (int)k[VL]};

	image_make(&s, &kernel, (int)k[M]);
	return s;
}

/* Blocks of image tiles of a size. */
static void list_blocks(struct range *r, const struct conv *p, int64_t size)
{
	static const int blocks[] = {1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12,
				     13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 28};
	const struct image g = image_of(p, (int64_t[KNOBS]){[VL] = 8, [M] = size});

	range_more(r, M, size);
	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		if (g.cols % blocks[i] == 0)
			range_more(r, TC, blocks[i]);
		if (g.rows % blocks[i] == 0)
			range_more(r, TR, blocks[i]);
	}
}

static void check_tiles(struct range *r, const struct conv *p)
{
	const int64_t *k = r->knob;
	struct image g;

	range_need(r, (k[VL] == 8 || k[VL] == 16) && k[TC] > 0 && k[TR] > 0,
		   "a knob is outside its range");
	range_need(r, has_tile(p, k[M]), "there is no such image tile for the kernel's taps");
	if (r->why)
		return;
	range_need(r, p->ic % k[VL] == 0, "input channels fill no whole vectors");
	g = image_of(p, k);
	range_need(r, image_edges(&g) <= MAX_EDGES,
		   "too many columns of image tiles have taps outside the image");
	range_need(r, g.cols % k[TC] == 0 && g.rows % k[TR] == 0, "blocks do not divide the image");
	if (r->why)
		return;
	range_need(r,
		   k[TC] * k[TR] <= MAX_TILES &&
			   (int64_t)g.v.n * g.h.n * k[TC] * k[TR] * p->ic <= MAX_BLOCK,
		   "the block is too large");
	range_need(r, k[NV] == 1 || (k[NV] - 1) * k[VL] < p->oc,
		   "another value of nv gives the same program");
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 0};
	static const int blocks[] = {1, 2, 4, 8, 16, 0};
	struct conv p;

	if (!applies(w, &p) || (r->machine && r->machine->lanes < 8))
		return 0;
	for (int size = 8; r->space && size >= 2; size--)
		if (has_tile(&p, size))
			list_blocks(r, &p, size);
	if (r->knob)
		check_tiles(r, &p);
	if (r->why || !range_register_tile(r, 4, r->space ? INT_MAX : r->knob[TC] * r->knob[TR],
					   rows, brgemm_fits))
		return 1;
	if (r->space)
		range_only(r, VL, r->machine->lanes, NULL);
	range_blocks(r, NC, p.oc, r->columns, blocks);
	range_choice(r, PAR, 1);
	range_unroll(r, UNROLL, 16, 0);
	return 1;
}

/* What the parts of the nest share. */
struct winograd {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct conv p;
	struct image g;
	int64_t values;	   /* of an image tile */
	int64_t block;	   /* image tiles of a block */
	int64_t nr, tiles; /* channels of a register tile; how many of these */
	struct row_split split;
	int src, weights, bias, dst;
	int inputs,
		products; /* workspace, transformed: [values][block][IC] and [values][block][nr] */
	int img, row0, col0, j0, j1; /* of the block */
	struct brgemm b;
};

/* A tile of a block: where it is, and its number in the block. */
struct block_tile {
	struct image_tile at;
	struct affine number;
};

/* Loops over the block's image tiles; two to close. Their registers live in there. */
static struct block_tile open_tiles(struct winograd *s)
{
	struct nest *n = s->n;
	struct block_tile t = {.at.img = s->img};
	int r = nest_for(n, LOOP_SERIAL, "r", af(0), af(s->k[TR]));
	int c = nest_for(n, LOOP_SERIAL, "c", af(0), af(s->k[TC]));

	transform_open(&s->g.f, n, s->g.lanes, &s->g.v, &s->g.h);
	t.at.row = nest_let(n, "row", af_add(af_var(s->row0), af_var(r)));
	t.at.col = nest_let(n, "col", af_add(af_var(s->col0), af_var(c)));
	t.number = af_add(af_mul(af_var(r), s->k[TC]), af_var(c));
	return t;
}

static void close_tiles(struct winograd *s)
{
	nest_close(s->n);
	nest_close(s->n);
}

static void transform_block(struct winograd *s)
{
	struct block_tile t = open_tiles(s);
	struct image_values to = {s->inputs, af_mul(t.number, s->p.ic), s->block * s->p.ic};

	image_transform(&s->g, &t.at, s->src, &to);
	close_tiles(s);
}

/* ---- products ---- */

static void multiply_tiles(struct winograd *s, int xi, int j, int64_t from, int64_t count, int rows)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct brgemm_out out = {.bias = -1, .c = s->products, .c_row = af(s->nr)};
	int t = nest_for(n, LOOP_SERIAL, "t", af(0), af(count));
	struct affine first = af_add(af(from), af_mul(af_var(t), rows));

	s->b.a_at = af_add(af_mul(af_var(xi), s->block * p->ic), af_mul(first, p->ic));
	s->b.b_at = af_add(af_mul(af_var(j), s->values * p->ic * s->nr),
			   af_mul(af_var(xi), p->ic * s->nr));
	out.c_at = af_add(af_mul(af_var(xi), s->block * s->nr), af_mul(first, s->nr));
	brgemm_tile(n, &s->b, rows, &out, -1, af(0));
	nest_close(n);
}

/* The block's image tiles by one panel of output channels. */
static void multiply(struct winograd *s, int j)
{
	const struct row_split *r = &s->split;
	struct nest *n = s->n;
	int xi = nest_for(n, LOOP_SERIAL, "xi", af(0), af(s->values));

	if (r->rest)
		multiply_tiles(s, xi, j, 0, r->rest, r->rows + 1);
	if (r->tiles > r->rest)
		multiply_tiles(s, xi, j, r->rest * (r->rows + 1), r->tiles - r->rest, r->rows);
	nest_close(n);
}

/* ---- outputs ---- */

/* A vector of channels from `channel` on, of which so many are there (NULL: all). */
struct channels {
	struct winograd *s;
	struct affine first;
	const struct affine *valid;
};

static void put_pixel(const struct image *g, struct affine at, struct affine channel,
		      const struct expr *x, void *arg)
{
	const struct channels *c = arg;
	const struct winograd *s = c->s;
	const struct expr *bias = NULL, *add = NULL;
	struct nest *n = s->n;

	channel = af_add(c->first, channel);
	at = af_add(at, channel);
	if (s->bias >= 0)
		bias = ex_load(n, s->bias, g->lanes, channel, NULL);
	if (workload_has_post(s->w, POST_ADD))
		add = ex_load(n, s->dst, g->lanes, at, c->valid);
	nest_store(n, s->dst, at, c->valid, post_apply(n, x, s->w->npost, s->w->post, bias, add));
}

/* Vectors of channels of panel j from `first` on: so many, or the last one, which is not whole. */
static void transform_back(struct winograd *s, int j, struct affine first,
			   const struct affine *vectors)
{
	struct nest *n = s->n;
	int64_t rest = s->p.oc % s->k[VL];
	struct block_tile t = open_tiles(s);
	struct channels c = {s, af_add(af_mul(af_var(j), s->nr), first),
			     vectors ? NULL : nest_keep(n, af(rest))};
	struct image_values from = {s->products, af_add(af_mul(t.number, s->nr), first),
				    s->block * s->nr};

	image_transform_back(&s->g, &t.at, &from, vectors, put_pixel, &c);
	close_tiles(s);
}

static void transform_panel_back(struct winograd *s, int j)
{
	struct nest *n = s->n;
	int64_t vl = s->k[VL], nv = s->k[NV], full = s->p.oc / vl, last = s->tiles - 1;
	struct affine vectors = af(nv);

	if (full < s->tiles * nv)
		vectors = af_var(nest_let_min(n, "vectors", af(nv),
					      af_sub(af(full), af_mul(af_var(j), nv))));
	if (full)
		transform_back(s, j, af(0), &vectors);
	if (s->p.oc % vl == 0)
		return;
	if (last)
		nest_if_less(n, af(last - 1), af_var(j));
	transform_back(s, j, af((full - last * nv) * vl), NULL);
	if (last)
		nest_close(n);
}

/* ---- the nest ---- */

_Static_assert((int)TOOM_MAX <= (int)MAP_ROWS, "transformed weights fit a packing's map");

static void add_map(struct packing *p, int dim, const struct toom_matrix *g)
{
	struct packing_map *m = packing_map(p, dim, dim, g->rows, g->cols);

	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->cols; c++)
			m->m[r][c] = g->m[r][c];
}

static void declare_weights(struct winograd *s)
{
	struct packing pw = {0}, pb = {0};
	int g = packing_dim(&pw, 1), o = packing_dim(&pw, s->p.oc), i = packing_dim(&pw, s->p.ic);
	int kh = packing_dim(&pw, s->p.kh), kw = packing_dim(&pw, s->p.kw);

	if (s->p.kh > 1)
		add_map(&pw, kh, &s->g.v.g);
	if (s->p.kw > 1)
		add_map(&pw, kw, &s->g.h.g);
	packing_axis(&pw, g, 1, 1);
	packing_axis(&pw, o, s->tiles, s->nr);
	packing_axis(&pw, kh, s->g.v.n, 1);
	packing_axis(&pw, kw, s->g.h.n, 1);
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
	struct nest *n = s->n;

	s->src = nest_arg(n, "src", TENSOR_SRC, p->mb * p->ih * p->iw * p->ic, 0);
	declare_weights(s);
	s->dst = nest_arg(n, "dst", TENSOR_DST, p->mb * p->oh * p->ow * p->oc, 1);
	s->inputs = nest_work(n, "V", s->values * s->block * p->ic);
	s->products = nest_work(n, "M", s->values * s->block * s->nr);
	s->g.half = nest_work(n, "H", image_half(&s->g));
	brgemm_registers(n, &s->b, (int)s->k[VL], (int)s->k[MR], (int)s->k[NV]);
	s->b.unroll = (int)s->k[UNROLL];
	s->b.a = s->inputs;
	s->b.a_row = af(p->ic);
	s->b.b = s->weights;
	s->b.b_k = af(s->nr);
	s->b.k = af(p->ic);
}

static void open_blocks(struct winograd *s)
{
	int64_t nc = s->k[NC] ? s->k[NC] : s->tiles;
	struct affine rows = af(s->g.rows / s->k[TR]), cols = af(s->g.cols / s->k[TC]);
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
	int j;

	if (!applies(w, &s.p))
		return err_set(e, "winograd does not apply to this workload");
	s.g = image_of(&s.p, k);
	s.g.n = n;
	s.values = (int64_t)s.g.v.n * s.g.h.n;
	s.block = k[TC] * k[TR];
	s.split = row_split(s.block, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.oc, s.nr);
	declare(&s);
	open_blocks(&s);
	transform_block(&s);
	j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	multiply(&s, j);
	transform_panel_back(&s, j);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_winograd = {
	.name = "winograd",
	.summary = "Convolution by minimal filtering of tiles of output pixels (Winograd).",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.rev = 3,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = winograd_build,
};
