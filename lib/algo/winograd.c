/* winograd: convolution by minimal filtering (lib/tile/toom.h) in each direction that has
 * several taps: 3x3, 5x5, 1x3, 7x1 and the like, of unit stride; 3x3 of stride 2; first layers;
 * groups whose output channels fill vectors; dilated taps, where all phases of the image are alike.
 *
 * The output is cut into tiles of m x m pixels (m x 1, 1 x m); the inputs of each are transformed
 * into n^2 values (n) and multiplied, value by value and summed over channels, with transformed
 * weights, which are prepared: that is a product of matrices, of tiles and channels, for each
 * value. What comes out is transformed back (Lavin and Gray, "Fast algorithms for convolutional
 * neural networks", CVPR 2016). A first layer, of few channels and many taps, is first made one of
 * more channels and fewer taps (lib/schedule/space_to_depth.h).
 *
 * Where source and result are bf16, weights and all that is transformed are in single precision, so
 * that results alone are rounded. Fewer products pay even where multiply-adds have half the rate of
 * products of pairs.
 *
 * Whole numbers of 8 bits become pairs of 16, whose products are summed in 32, by tiles of 2 or 4
 * pixels a side. That is exact: inputs become as large as 12,800, weights, by matrices that are
 * whole, as large as 18,432, and the sum becomes 2 or 24 times too large in each direction. Sums
 * wrap, which does no harm: the odd part of that factor has an inverse in 32 bits, and its even
 * part takes as many bits from the result, which bounds the channels (most_channels()). 4x4 pixels
 * take a quarter of the products, 4x2 a third and 2x2 four ninths, each of which costs as much as
 * two where an instruction multiplies groups of four bytes.
 *
 * A block of tiles is one thread's (lib/schedule/image_block.h). Where there are few tiles, threads
 * may share a block by its panels, and transform the same inputs.
 *
 * winograd (the transforms: lib/tile/toom.h, transform.h, image.h) handles kernels of 1, 3, 5 or 7
 * taps in each direction with unit stride, and 3x3 of stride 2 (even and odd inputs are two
 * filters of unit stride, whose products are summed over the channels in one list). A block of
 * image tiles belongs to one thread. The thread transforms the inputs of the block into its
 * workspace, and then multiplies and transforms back one panel of output channels after the other;
 * so there is no barrier. Where there are few tiles, threads share a block by its panels, and each
 * thread transforms the inputs. The points of the interpolation are chosen for their error: 0,
 * +-3/4, +-3/2 keep F(4x4, 3x3) within the limit that holds for all. Eight and ten products a
 * direction (F(6,3), F(8,3), F(4,7)) are accurate enough in one direction only, so only 1x7, 5x1
 * and the like have them. F(6x6, 3x3) is accurate enough where 32 channels or fewer are summed.
 * First layers (3 channels, 7x7 taps, stride 2) are first made convolutions of unit stride
 * (lib/schedule/space_to_depth.h): a phase of the kernel makes each block of 2x2 pixels one pixel
 * of 12 channels, and 4x4 taps are left, for which F(5x5, 4x4) does 31 multiply-adds instead of
 * 147.
 */
#include <limits.h>

#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/image_block.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"

enum winograd_knob { VL, NV, MR, M, TC, TR, NC, PAR, UNROLL, STREAM, GROUPS, AHEAD, MW, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1, "Image tiles of the register tile, at most, in near-equal parts."},
	[M] = {"m", 4, "Output pixels along each side of an image tile: 2 to 8, as taps allow."},
	[TC] = {"tc", 1, "Image tiles in a row of a block; divides those in a row of the image."},
	[TR] = {"tr", 1, "Rows of image tiles in a block; divides those of the image."},
	[NC] = {"nc", 0, "Register tiles of output channels in a block; 0: all."},
	[PAR] = {"par", 0, "Blocks are dealt to threads with 0: channels innermost, 1: tiles."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over input channels."},
	[STREAM] = {"stream", 0, "1: the result is written past the caches."},
	[GROUPS] = {"groups", 1, "Groups in a block.", .is_rare = 1},
	[AHEAD] = {"ahead", 0, "1: the weights of the next value are prefetched.", .is_rare = 1},
	[MW] = {"mw", 0, "Output pixels in a row of an image tile, of whole numbers; 0: m.",
		.is_rare = 1},
};

/* The image of a kernel of so many taps and of so few channels is taken by blocks of pixels:
 * smaller kernels gain less than the transforms cost (PERFORMANCE.md). */
enum { FEW_CHANNELS = 4, LEAST_TAPS = 25, LEAST_LANES = 8 };
enum { MAX_TILES = 256, MAX_EDGES = 6, WHOLE_SMALL = 2, WHOLE_LARGE = 4, PAIR = 2 };
static const int64_t MAX_BLOCK = 1 << 20; /* floats of a block's transformed inputs */

static struct image_kernel kernel_of(const struct conv *p)
{
	return (struct image_kernel){p->kh, p->kw, p->sh, p->sw, p->ic <= TOOM_FEW};
}

/* p: as it is computed, by blocks of pixels d. */
static int has_tile(const struct conv *p, const struct space_to_depth *d, int64_t m)
{
	const struct image_kernel k = kernel_of(p);

	return image_has(&k, m) && image_block_has(&k, d, m);
}

static int by_blocks(const struct conv *p)
{
	return p->g == 1 && p->ic <= FEW_CHANNELS && p->kh * p->kw >= LEAST_TAPS;
}

/* Are the channels whole vectors, of the narrowest? The inputs of several groups are transformed
 * together. */
static int fill_vectors(const struct conv *p)
{
	return p->g == 1 ? p->ic % LEAST_LANES == 0
			 : p->g * p->ic % LEAST_LANES == 0 && p->oc % LEAST_LANES == 0;
}

/* Takes one direction of an image by the phases of its dilated taps. Returns 0 if they are not
 * alike. */
static int take_phases(int64_t apart, int64_t stride, int64_t *in, int64_t *out, int64_t *padding)
{
	if (apart == 1)
		return 1;
	if (stride != 1 || *in % apart || *out % apart || *padding % apart)
		return 0;
	*in /= apart;
	*out /= apart;
	*padding /= apart;
	return 1;
}

/* Dilated taps read every dh-th row and every dw-th column: p becomes one of these phases. */
static int has_phases(struct conv *p)
{
	if (p->dh == 1 && p->dw == 1)
		return 1;
	return !by_blocks(p) && take_phases(p->dh, p->sh, &p->ih, &p->oh, &p->ph) &&
	       take_phases(p->dw, p->sw, &p->iw, &p->ow, &p->pw);
}

/* How many channels can be summed exactly? The sum is divided by 2 for two pixels of a direction,
 * by 8 for four, and must have room in the bits that are left (its other divisors are odd). */
static int64_t most_channels(int64_t rows, int64_t cols)
{
	enum { TAPS = 9, EIGHT = 8, TWO = 2 };
	static const int64_t product = 255 * 128;
	const int64_t halves =
		(rows == WHOLE_LARGE ? EIGHT : TWO) * (cols == WHOLE_LARGE ? EIGHT : TWO);

	return ((int64_t)1 << 31) / halves / (TAPS * product);
}

/* Is 3x3 exact in whole numbers of 16 bits, summed in 32? */
static int is_exact(const struct conv *p)
{
	return p->g == 1 && p->kh == 3 && p->kw == 3 && p->sh == 1 && p->sw == 1 && !p->fills &&
	       p->ic % (PAIR * LEAST_LANES) == 0 &&
	       p->ic <= most_channels(WHOLE_SMALL, WHOLE_SMALL);
}

/* In a direction of one tap the image is as large as the output. */
static int applies(const struct workload *w, struct conv *p, struct space_to_depth *d)
{
	if (!conv_of(w, p) || !has_phases(p) || p->ph >= p->kh || p->pw >= p->kw ||
	    (!fill_vectors(p) && !by_blocks(p)))
		return 0;
	if (dtype_is_int(w->dtype.src) && !is_exact(p))
		return 0;
	*d = by_blocks(p) ? space_to_depth(p) : space_to_depth_none(p);
	if ((p->kh == 1 && p->oh != p->ih) || (p->kw == 1 && p->ow != p->iw))
		return 0;
	return has_tile(p, d, 2) || has_tile(p, d, 3);
}

/* Was the image taken by blocks of pixels? */
static int is_folded(const struct conv *p, const struct space_to_depth *d)
{
	return p->g == 1 && d->ic <= FEW_CHANNELS;
}

static struct image image_of(const struct conv *p, int is_whole, const int64_t *k)
{
	const struct image_kernel kernel = kernel_of(p);
	struct image s = {.ih = p->ih,
			  .iw = p->iw,
			  .ic = p->g > 1 ? p->g * p->ic : ceil_div(p->ic, k[VL]) * k[VL],
			  .oh = p->oh,
			  .ow = p->ow,
			  .oc = p->g * p->oc,
			  .ph = p->ph,
			  .pw = p->pw,
			  .apart_v = p->dh,
			  .apart_h = p->dw,
			  .lanes = (int)k[VL],
			  .elem = is_whole ? ELEM_S16X2 : ELEM_F32,
			  .sum = is_whole ? ELEM_S32 : ELEM_F32};

	s.channels = p->g > 1 ? k[GROUPS] * p->ic : s.ic;
	image_make(&s, &kernel, (int)k[M], (int)(k[MW] ? k[MW] : k[M]));
	return s;
}

/* Blocks of image tiles of a size. */
static void list_blocks(struct range *r, const struct conv *p, int64_t size)
{
	static const int blocks[] = {1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13,
				     14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 28};
	const struct image g = image_of(p, 0, (int64_t[KNOBS]){[VL] = 8, [M] = size});

	range_more(r, M, size);
	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		if (g.cols % blocks[i] == 0)
			range_more(r, TC, blocks[i]);
		if (g.rows % blocks[i] == 0)
			range_more(r, TR, blocks[i]);
	}
}

static int is_whole_side(int64_t pixels)
{
	return pixels == WHOLE_SMALL || pixels == WHOLE_LARGE;
}

static void check_tiles(struct range *r, const struct conv *p, const struct space_to_depth *d)
{
	const int64_t *k = r->knob;
	struct image g;

	range_need(r,
		   (k[VL] == 8 || k[VL] == 16) && k[TC] > 0 && k[TR] > 0 && k[GROUPS] > 0 &&
			   (!k[MW] || is_whole_side(k[MW])),
		   "a knob is outside its range");
	range_need(r, r->why || p->g % k[GROUPS] == 0, "blocks are of equally many groups");
	range_need(r, has_tile(p, d, k[M]), "there is no such image tile for the kernel's taps");
	if (r->why)
		return;
	range_need(r, is_folded(p, d) || k[GROUPS] * p->ic % k[VL] == 0,
		   "input channels fill no whole vectors");
	range_need(r, p->g == 1 || p->oc % k[VL] == 0, "a group's channels fill no whole vectors");
	g = image_of(p, 0, k);
	range_need(r, image_edges(&g) <= MAX_EDGES,
		   "too many columns of image tiles have taps outside the image");
	range_need(r, g.cols % k[TC] == 0 && g.rows % k[TR] == 0, "blocks do not divide the image");
	if (r->why)
		return;
	range_need(r,
		   k[TC] * k[TR] <= MAX_TILES &&
			   (int64_t)g.v.n * g.h.n * k[TC] * k[TR] * g.channels <= MAX_BLOCK,
		   "the block is too large");
	range_need(r, k[NV] == 1 || (k[NV] - 1) * k[VL] < p->oc,
		   "another value of nv gives the same program");
}

/* Blocks of groups whose channels are whole vectors. */
static void list_groups(struct range *r, const struct conv *p)
{
	enum { MOST = 16 };

	for (int64_t g = 1; g <= MOST && g <= p->g; g++)
		if (p->g % g == 0 && (p->g == 1 || g * p->ic % LEAST_LANES == 0))
			range_more(r, GROUPS, g);
}

/* Weights that come from the third cache are prefetched: transformed, they have four times as many
 * values. */
static void list_ahead(struct range *r, const struct conv *p)
{
	enum { PARTS = 4 }; /* of the second cache */
	const int64_t bytes = p->g * p->ic * p->oc * p->kh * p->kw * (int64_t)sizeof(float);

	range_choice(r, AHEAD, 1);
	if (r->space && bytes <= r->machine->l2 / PARTS)
		range_only(r, AHEAD, 0, NULL);
}

/* Tiles of whole numbers may be no squares. */
static void list_columns(struct range *r, int is_whole)
{
	static const char why[] = "image tiles of reals are squares";

	if (!is_whole && r->knob)
		range_only(r, MW, 0, why);
	if (!is_whole || !r->space)
		return;
	range_more(r, MW, 0);
	range_more(r, MW, WHOLE_SMALL);
	range_more(r, MW, WHOLE_LARGE);
}

/* Whole numbers pay where no instruction multiplies groups of bytes, or where larger tiles are
 * exact; but not against tile registers. */
static int pays_whole(const struct conv *p, const struct limits *m)
{
	return (!(m->dots >> DTYPE_U8 & 1) || p->ic <= most_channels(WHOLE_LARGE, WHOLE_SMALL)) &&
	       !m->tiles;
}

static void check_whole(struct range *r, const struct conv *p)
{
	enum { SPARE = 2 };
	const int64_t *k = r->knob;

	range_need(r, is_whole_side(k[M]), "other image tiles are not exact in whole numbers");
	range_need(r, k[MW] != k[M], "a tile that is a square is written so");
	range_need(r, p->ic <= most_channels(k[M], k[MW] ? k[MW] : k[M]),
		   "sums of so many channels are not exact by such tiles");
	range_need(r, p->ic % (PAIR * k[VL]) == 0, "input channels fill no vectors of pairs");
	range_registers(r, (k[MR] + 1) * k[NV] + SPARE);
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 0};
	static const int blocks[] = {1, 2, 4, 8, 16, 0};
	struct space_to_depth d;
	struct conv p;

	const int is_whole = dtype_is_int(w->dtype.src);

	if (!applies(w, &p, &d) || (r->machine && r->machine->lanes < 8))
		return 0;
	if (is_whole && r->machine && !pays_whole(&p, r->machine))
		return 0;
	if (is_whole && r->machine && p.ic % (PAIR * r->machine->lanes) != 0)
		return 0;
	for (int size = is_whole ? WHOLE_LARGE : 8; r->space && size >= 2; size--)
		if (has_tile(&p, &d, size))
			list_blocks(r, &p, size);
	if (r->knob)
		check_tiles(r, &p, &d);
	if (r->knob && is_whole)
		check_whole(r, &p);
	if (r->why || !range_register_tile(r, 4, r->space ? INT_MAX : r->knob[TC] * r->knob[TR],
					   rows, brgemm_fits_either_side))
		return 1;
	if (r->space && (p.g == 1 || p.oc % r->machine->lanes == 0))
		range_only(r, VL, r->machine->lanes, NULL);
	range_lanes(r, w);
	if (r->space)
		list_groups(r, &p);
	range_blocks(r, NC, p.oc, r->columns, blocks);
	range_choice(r, PAR, 1);
	range_unroll(r, UNROLL, 16, 0);
	range_stream(r, STREAM, w, -1);
	list_ahead(r, &p);
	list_columns(r, is_whole);
	return 1;
}

/* Variables of an image, and of the first row and column of its phase; -1: it is whole. */
struct winograd_image {
	int img, row, column;
};

/* The parts of the nest share these. */
struct winograd {
	struct nest *n;
	const int64_t *k;
	struct conv p; /* as it is computed */
	struct image_block b;
	struct winograd_image image; /* the open one */
	int j0, j1;		     /* panels of the block */
	struct reorder order;
};

static void declare(struct winograd *s)
{
	const struct conv *p = &s->p;
	const struct extent bias = {p->g * p->oc, p->g > 1 ? p->g * p->oc : s->b.panels * s->b.nr};
	struct nest *n = s->n;

	s->b.src = reorder_src(&s->order);
	image_block_weights(&s->b);
	reorder_out(&s->order, operand_bias(n, s->order.w, 1, &bias), &s->b.out);
	operand_types(n, s->order.w);
	/* Rounded, transformed ones would lose precision. */
	nest_elem(n, s->b.weights, s->b.g.sum == ELEM_S32 ? ELEM_S16 : ELEM_F32);
	image_block_workspace(&s->b, (int)s->k[NV], (int)s->k[MR], (int)s->k[UNROLL]);
}

/* Loops over blocks of groups, and over a group's blocks of panels, whose variable is returned. */
static int open_channels(struct winograd *s, struct affine blocks)
{
	const int64_t groups = s->k[GROUPS];
	struct nest *n = s->n;

	if (s->p.g > groups) {
		int gb = nest_for(n, LOOP_PARALLEL, "gb", af(0), af(s->p.g / groups));

		s->b.group0 = af_mul(af_var(gb), groups);
		s->b.g.first = af_mul(af_var(gb), groups * s->p.ic);
	}
	return nest_for(n, LOOP_PARALLEL, "jb", af(0), blocks);
}

/* Where an image begins whose phases have so many rows and columns. */
static struct affine image_at(const struct winograd *s, const struct winograd_image *i,
			      int64_t rows, int64_t columns, int64_t channels)
{
	const int64_t line = columns * s->p.dw * channels;
	struct affine at = af_mul(af_var(i->img), rows * s->p.dh * line);

	if (i->row >= 0)
		at = af_add(at, af_mul(af_var(i->row), line));
	if (i->column >= 0)
		at = af_add(at, af_mul(af_var(i->column), channels));
	return i->row < 0 && i->column < 0 ? at : af_var(nest_let(s->n, "image", at));
}

/* Loops over images, and over the phases of dilated taps, each of which is one. */
static void open_images(struct winograd *s)
{
	struct winograd_image i = {-1, -1, -1};
	struct nest *n = s->n;

	i.img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s->p.mb));
	if (s->p.dh > 1)
		i.row = nest_for(n, LOOP_PARALLEL, "pr", af(0), af(s->p.dh));
	if (s->p.dw > 1)
		i.column = nest_for(n, LOOP_PARALLEL, "pc", af(0), af(s->p.dw));
	s->image = i;
}

/* Says where the open image begins, behind all loops that threads share. */
static void place_image(struct winograd *s)
{
	const struct image *g = &s->b.g;

	s->b.from = image_at(s, &s->image, g->ih, g->iw, g->ic);
	s->b.to = image_at(s, &s->image, g->oh, g->ow, g->oc);
}

static void open_blocks(struct winograd *s)
{
	int64_t panels = s->b.panels, nc = s->k[NC] ? s->k[NC] : panels;
	struct affine rows = af(s->b.g.rows / s->k[TR]), cols = af(s->b.g.cols / s->k[TC]);
	struct affine blocks = af(ceil_div(panels, nc));
	struct nest *n = s->n;
	int ir, ic, jb = -1;

	open_images(s);
	if (s->k[PAR])
		jb = open_channels(s, blocks);
	ir = nest_for(n, LOOP_PARALLEL, "ir", af(0), rows);
	ic = nest_for(n, LOOP_PARALLEL, "ic", af(0), cols);
	if (!s->k[PAR])
		jb = open_channels(s, blocks);
	place_image(s);
	s->b.row0 = nest_let(n, "row", af_mul(af_var(ir), s->k[TR]));
	s->b.col0 = nest_let(n, "col", af_mul(af_var(ic), s->k[TC]));
	s->j0 = nest_let(n, "j", af_mul(af_var(jb), nc));
	s->j1 = nest_let_min(n, "j", af_add(af_var(s->j0), af(nc)), af(panels));
}

static struct image_block block_of_tiles(const struct winograd *s, const struct space_to_depth *d)
{
	const int64_t *k = s->k;
	struct image_block b = {.g = image_of(&s->p, dtype_is_int(s->order.w->dtype.src), k),
				.d = *d,
				.groups = s->p.g,
				.depth = s->p.ic,
				.width = s->p.oc,
				.rows = k[TR],
				.cols = k[TC],
				.nr = k[NV] * k[VL],
				.split = row_split(k[TC] * k[TR], k[MR])};

	b.g.n = s->n;
	b.g.oc = operand_pitch(s->n, b.g.oc);
	b.values = (int64_t)b.g.v.n * b.g.h.n;
	b.panels = ceil_div(s->p.oc, b.nr);
	b.ahead = (int)k[AHEAD];
	return b;
}

static int winograd_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct winograd s = {.n = n, .k = k, .order = reorder_of(n, w, k[VL])};
	struct space_to_depth d;
	int j;

	if (!applies(w, &s.p, &d))
		return err_set(e, "winograd does not apply to this workload");
	s.b = block_of_tiles(&s, &d);
	declare(&s);
	if (is_folded(&s.p, &d))
		s.b.src = space_to_depth_pixels(n, &d, &s.p, s.b.src, (int)k[VL], s.b.g.ic);
	open_blocks(&s);
	image_block_transform(&s.b);
	if (s.p.g > 1)
		s.b.group = af_var(nest_for(n, LOOP_SERIAL, "g", af(0), af(k[GROUPS])));
	j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	image_block_multiply(&s.b, j);
	image_block_finish(&s.b, j);
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, (int)k[STREAM]);
	return 0;
}

const struct algo algo_winograd = {
	.name = "winograd",
	.summary = "Convolution by minimal filtering of tiles of output pixels (Winograd).",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16 | 1U << DTYPE_S8 | 1U << DTYPE_U8,
	.widens = 1,
	.narrows = 1,
	.pitches = 1,
	.rev = 3,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = winograd_build,
};
