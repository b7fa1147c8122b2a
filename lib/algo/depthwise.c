/* depthwise: convolution with a filter for each channel, nhwc.
 *
 * A tile is a run of output pixels in one row by a few vectors of channels; a vector of input is
 * multiplied by a vector of weights, so that nothing is broadcast and nothing summed over channels.
 * Each input value is used kh * kw times at most: what matters is that it is read from a near
 * cache, so rows are taken in bands and channels in blocks of whole vectors (Zhang et al., "High
 * performance depthwise and pointwise convolutions on mobile devices", AAAI 2020, section 3).
 *
 * Nothing is padded. Tiles whose taps leave the image at the left or the right have bodies of their
 * own, in which these taps are left out; kernel rows above and below the image are left out row by
 * row. Where the weights of a channel tile fit in registers, they are loaded once a row ("hold"),
 * and rows whose taps all lie inside the image are one body.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/conv.h"
#include "lib/tile/post.h"

enum depthwise_knob { VL, NV, MR, ROWS, NC, ORDER, PAR, HOLD, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors of channels in the register tile."},
	[MR] = {"mr", 1,
		"Output pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[NC] = {"nc", 0, "Register tiles of channels in a block; 0: all."},
	[ORDER] = {"order", 0,
		   "Inside a block: 0 rows, channels, pixels; 1 rows, pixels, channels; "
		   "2 channels, rows, pixels; the last one innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[HOLD] = {"hold", 0, "1: the weights of a channel tile stay in registers."},
};

enum { CHANNELS_IN_PIXELS = 1, CHANNELS_OUTERMOST = 2 }; /* values of order */
enum { MAX_TAPS = 81 };

static int applies(const struct workload *w, struct conv *p)
{
	return conv_of(w, p) && p->g > 1 && p->ic == 1 && p->oc == 1 && !p->nchw &&
	       p->kh * p->kw <= MAX_TAPS;
}

/* Registers: the tile, the weights, and one for what post-ops compute. */
static int64_t registers(const struct conv *p, const int64_t *k)
{
	return k[NV] * (k[MR] + (k[HOLD] ? p->kh * p->kw : 1)) + 1;
}

static int64_t registers_there(int64_t lanes)
{
	return lanes == 16 ? 32 : 16;
}

static int depthwise_space(const struct workload *w, const struct limits *m, struct knob_space *s)
{
	static const int pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28};
	static const int heights[] = {1, 2, 4, 7, 8, 14, 16, 28, 32, 56};
	static const int blocks[] = {1, 2, 4, 8, 16};
	struct conv p;

	if (!applies(w, &p))
		return 0;
	s->n = KNOBS;
	knob_add(s, VL, m->lanes);
	if (m->lanes > 8)
		knob_add(s, VL, m->lanes / 2);
	for (int v = 1; v <= 4; v++)
		knob_add(s, NV, v);
	for (unsigned i = 0; i < sizeof pixels / sizeof *pixels; i++) {
		struct row_split r = row_split(p.ow, pixels[i]);

		knob_add(s, MR, r.rows + (r.rest > 0));
	}
	knob_add(s, ROWS, 0);
	for (unsigned i = 0; i < sizeof heights / sizeof *heights; i++)
		if (heights[i] < p.oh)
			knob_add(s, ROWS, heights[i]);
	knob_add(s, NC, 0);
	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
		if (blocks[i] * m->lanes < p.g)
			knob_add(s, NC, blocks[i]);
	for (int i = 0; i <= 2; i++)
		knob_add(s, ORDER, i);
	for (int i = 0; i <= 1; i++) {
		knob_add(s, PAR, i);
		knob_add(s, HOLD, i);
	}
	return 1;
}

static int depthwise_valid(const struct workload *w, const int64_t *k, const char **why)
{
	struct row_split r;
	struct conv p;

	*why = "the algorithm does not apply to this workload";
	if (!applies(w, &p))
		return 0;
	*why = "a knob is outside its range";
	if (k[ROWS] < 0 || k[NC] < 0 || k[ORDER] < 0 || k[ORDER] > 2 || k[PAR] < 0 || k[PAR] > 1 ||
	    k[HOLD] < 0 || k[HOLD] > 1 || k[NV] < 1 || k[NV] > 16 || k[MR] < 1 || k[MR] > 32 ||
	    (k[VL] != 1 && k[VL] != 4 && k[VL] != 8 && k[VL] != 16))
		return 0;
	*why = "another value of mr, rows, nc or nv gives the same program";
	r = row_split(p.ow, k[MR]);
	if (r.rows + (r.rest > 0) != k[MR] || (k[ROWS] && k[ROWS] >= p.oh) ||
	    (k[NC] && k[NC] >= ceil_div(p.g, k[NV] * k[VL])) ||
	    (k[NV] > 1 && (k[NV] - 1) * k[VL] >= p.g))
		return 0;
	*why = "weights stay in registers only where pixels are innermost";
	if (k[HOLD] && k[ORDER] == CHANNELS_IN_PIXELS)
		return 0;
	*why = "the register tile needs more vector registers than there are";
	return registers(&p, k) <= registers_there(k[VL]);
}

/* What the parts of the nest share. */
struct depthwise {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct conv p;
	struct row_split split;
	int64_t nr, tiles, full; /* channels of a tile; tiles, and those without a masked vector */
	int left, right;	 /* tiles at the edges of a row, whose taps may leave the image */
	int src, weights, bias, add, dst, acc, wreg;
	int img;	      /* loop variable */
	int oh0, oh1, j0, j1; /* of the block: rows, channel tiles */
};

/* Where a tile stands. */
struct place {
	int oh;		       /* variable */
	struct affine channel; /* its first one */
	struct affine panel;   /* of its weights */
	int64_t channels;      /* that are there */
	struct affine ow;      /* its first pixel */
	int pixels;
	int64_t edge; /* value of ow where taps may leave the image at a side; -1: none does */
	int held;     /* its weights are in registers, and no kernel row leaves the image */
};

static void declare_weights(struct depthwise *s)
{
	struct packing pw = {0}, pb = {0};
	int g = packing_dim(&pw, s->p.g), o = packing_dim(&pw, 1), i = packing_dim(&pw, 1);
	int kh = packing_dim(&pw, s->p.kh), kw = packing_dim(&pw, s->p.kw);

	packing_axis(&pw, g, s->tiles, s->nr);
	packing_axis(&pw, o, 1, 1);
	packing_axis(&pw, i, 1, 1);
	packing_axis(&pw, kh, s->p.kh, 1);
	packing_axis(&pw, kw, s->p.kw, 1);
	packing_axis(&pw, g, s->nr, 1);
	s->weights = nest_packed(s->n, "w", TENSOR_WEIGHTS, &pw);
	s->bias = -1;
	if (!workload_has_post(s->w, POST_BIAS))
		return;
	g = packing_dim(&pb, s->p.g);
	o = packing_dim(&pb, 1);
	packing_axis(&pb, g, s->tiles * s->nr, 1);
	packing_axis(&pb, o, 1, 1);
	s->bias = nest_packed(s->n, "bias", TENSOR_BIAS, &pb);
}

static void declare(struct depthwise *s)
{
	const struct conv *p = &s->p;
	int64_t dst = p->mb * p->oh * p->ow * p->g;
	struct nest *n = s->n;

	s->src = nest_arg(n, "src", TENSOR_SRC, p->mb * p->ih * p->iw * p->g, 0);
	declare_weights(s);
	s->add = workload_has_post(s->w, POST_ADD) ? nest_arg(n, "add", TENSOR_ADD, dst, 0) : -1;
	s->dst = nest_arg(n, "dst", TENSOR_DST, dst, 1);
	s->acc = nest_reg(n, "acc", ELEM_F32, (int)s->k[VL], (int)s->k[MR], (int)s->k[NV]);
	s->wreg = nest_reg(n, "wr", ELEM_F32, (int)s->k[VL], s->k[HOLD] ? (int)(p->kh * p->kw) : 1,
			   (int)s->k[NV]);
}

/* ---- the tile ---- */

/* Vectors of the tile that have channels. */
static int vectors(const struct depthwise *s, const struct place *at)
{
	int64_t n = ceil_div(at->channels, s->k[VL]);

	return n < s->k[NV] ? (int)n : (int)s->k[NV];
}

/* Valid lanes of a vector, NULL if all are. */
static const struct affine *lanes_left(const struct depthwise *s, const struct place *at, int v)
{
	int64_t left = at->channels - v * s->k[VL];

	return left < s->k[VL] ? nest_keep(s->n, af(left)) : NULL;
}

static struct affine reg_at(const struct depthwise *s, int row, int v)
{
	return af(row * s->k[NV] + v);
}

static void load_weights(struct depthwise *s, const struct place *at, struct affine from, int row,
			 int v)
{
	nest_store(s->n, s->wreg, reg_at(s, row, v), NULL,
		   ex_load(s->n, s->weights, (int)s->k[VL],
			   af_sum(at->panel, from, af(v * s->k[VL])), NULL));
}

static void zero_tile(struct depthwise *s, const struct place *at)
{
	for (int m = 0; m < at->pixels; m++)
		for (int v = 0; v < vectors(s, at); v++)
			nest_store(s->n, s->acc, reg_at(s, m, v), NULL,
				   ex_const(s->n, ELEM_F32, (int)s->k[VL], 0));
}

/* Does the tap of this pixel of the tile lie inside the row? */
static int tap_inside(const struct depthwise *s, const struct place *at, int m, int kw)
{
	int64_t iw = (at->edge + m) * s->p.sw - s->p.pw + kw * s->p.dw;

	return at->edge < 0 || (iw >= 0 && iw < s->p.iw);
}

/* One tap of all pixels and vectors: row is the input row's first element; weights are in row wrow
 * of their registers. */
static void multiply_tap(struct depthwise *s, const struct place *at, struct affine row, int kw,
			 int wrow)
{
	const struct conv *p = &s->p;
	int lanes = (int)s->k[VL];
	struct nest *n = s->n;

	for (int m = 0; m < at->pixels; m++) {
		struct affine iw =
			af_add(af_mul(at->ow, p->sw), af(m * p->sw - p->pw + kw * p->dw));

		if (!tap_inside(s, at, m, kw))
			continue;
		for (int v = 0; v < vectors(s, at); v++) {
			struct affine from =
				af_sum(row, af_mul(iw, p->g), at->channel, af(v * lanes));

			nest_store(n, s->acc, reg_at(s, m, v), NULL,
				   ex_op(n, EXPR_FMA, ex_reg(n, s->wreg, reg_at(s, wrow, v)),
					 ex_load(n, s->src, lanes, from, lanes_left(s, at, v)),
					 ex_reg(n, s->acc, reg_at(s, m, v))));
		}
	}
}

/* First element of the input row that kernel row kh (an affine form) reads. */
static struct affine input_row(const struct depthwise *s, const struct place *at, struct affine kh)
{
	const struct conv *p = &s->p;
	struct affine ih = af_sum(af_mul(af_var(at->oh), p->sh), af_mul(kh, p->dh), af(-p->ph));

	return af_add(af_mul(af_var(s->img), p->ih * p->iw * p->g), af_mul(ih, p->iw * p->g));
}

static void multiply_held(struct depthwise *s, const struct place *at)
{
	for (int kh = 0; kh < s->p.kh; kh++)
		for (int kw = 0; kw < s->p.kw; kw++)
			multiply_tap(s, at, input_row(s, at, af(kh)), kw, (int)(kh * s->p.kw) + kw);
}

/* One kernel row, kh, of the image. */
static void multiply_row(struct depthwise *s, const struct place *at, struct affine kh)
{
	for (int kw = 0; kw < s->p.kw; kw++) {
		for (int v = 0; v < vectors(s, at); v++)
			load_weights(s, at, af_add(af_mul(kh, s->p.kw * s->nr), af(kw * s->nr)), 0,
				     v);
		multiply_tap(s, at, input_row(s, at, kh), kw, 0);
	}
}

/* Where kernel rows are apart, each is asked whether it lies in the image: there is no division. */
static void multiply_dilated(struct depthwise *s, const struct place *at, struct affine top)
{
	struct nest *n = s->n;

	for (int kh = 0; kh < s->p.kh; kh++) {
		struct affine ih = af_add(top, af(kh * s->p.dh));
		int inside = nest_let_min(n, "inside", ih, af_sub(af(s->p.ih - 1), ih));

		nest_if_less(n, af(-1), af_var(inside));
		multiply_row(s, at, af(kh));
		nest_close(n);
	}
}

/* Kernel rows that leave the image are left out. */
static void multiply_clipped(struct depthwise *s, const struct place *at)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct affine top = af_sub(af_mul(af_var(at->oh), p->sh), af(p->ph)), first = af(0),
		      end = af(p->kh);

	if (p->ph || (p->oh - 1) * p->sh + (p->kh - 1) * p->dh >= p->ih) {
		if (p->dh > 1 && p->kh > 1) {
			multiply_dilated(s, at, top);
			return;
		}
		first = af_mul(af_var(nest_let_min(n, "above", af(0), top)), -1);
		end = af_var(nest_let_min(n, "below", end, af_sub(af(p->ih), top)));
	}
	multiply_row(s, at, af_var(nest_for(n, LOOP_SERIAL, "kh", first, end)));
	nest_close(n);
}

static void store_tile(struct depthwise *s, const struct place *at)
{
	const struct conv *p = &s->p;
	int lanes = (int)s->k[VL];
	struct nest *n = s->n;
	struct affine row = af_add(af_mul(af_var(s->img), p->oh * p->ow * p->g),
				   af_mul(af_var(at->oh), p->ow * p->g));

	for (int m = 0; m < at->pixels; m++) {
		for (int v = 0; v < vectors(s, at); v++) {
			const struct affine *valid = lanes_left(s, at, v);
			const struct expr *bias = NULL, *add = NULL;
			struct affine to = af_sum(row, af_mul(at->ow, p->g), af(m * p->g),
						  at->channel, af(v * lanes));

			if (s->bias >= 0)
				bias = ex_load(n, s->bias, lanes,
					       af_add(at->channel, af(v * lanes)), NULL);
			if (s->add >= 0)
				add = ex_load(n, s->add, lanes, to, valid);
			nest_store(n, s->dst, to, valid,
				   post_apply(n, ex_reg(n, s->acc, reg_at(s, m, v)), s->w->npost,
					      s->w->post, bias, add));
		}
	}
}

static void tile(struct depthwise *s, const struct place *at)
{
	zero_tile(s, at);
	if (at->held)
		multiply_held(s, at);
	else
		multiply_clipped(s, at);
	store_tile(s, at);
}

/* ---- loops around it; each calls what lies inside ---- */

typedef void inner(struct depthwise *s, struct place at);

/* Pixels of tile t, and where it begins. */
static int64_t tile_start(const struct depthwise *s, int64_t t)
{
	return t * s->split.rows + (t < s->split.rest ? t : s->split.rest);
}

static int tile_pixels(const struct depthwise *s, int64_t t)
{
	return s->split.rows + (t < s->split.rest);
}

/* Tiles [from, to), all of the same width, whose taps lie inside the image. */
static void middle(struct depthwise *s, struct place at, int64_t from, int64_t to, inner *body)
{
	int t;

	if (from >= to)
		return;
	at.edge = -1;
	at.pixels = tile_pixels(s, from);
	t = nest_for(s->n, LOOP_SERIAL, "t", af(0), af(to - from));
	at.ow = af_add(af(tile_start(s, from)), af_mul(af_var(t), at.pixels));
	body(s, at);
	nest_close(s->n);
}

static void edge(struct depthwise *s, struct place at, int64_t t, inner *body)
{
	at.edge = tile_start(s, t);
	at.pixels = tile_pixels(s, t);
	at.ow = af(at.edge);
	body(s, at);
}

static void pixels(struct depthwise *s, struct place at, inner *body)
{
	int64_t end = s->split.tiles - s->right, rest = s->split.rest;

	for (int64_t t = 0; t < s->left; t++)
		edge(s, at, t, body);
	middle(s, at, s->left, rest < end ? rest : end, body);
	middle(s, at, rest > s->left ? rest : s->left, end, body);
	for (int64_t t = end; t < s->split.tiles; t++)
		edge(s, at, t, body);
}

static void channels(struct depthwise *s, struct place at, inner *body)
{
	struct nest *n = s->n;
	int j, last;

	if (s->full) {
		last = nest_let_min(n, "j", af_var(s->j1), af(s->full));
		j = nest_for(n, LOOP_SERIAL, "j", af_var(s->j0), af_var(last));
		at.channels = s->nr;
		at.channel = af_mul(af_var(j), s->nr);
		at.panel = af_mul(af_var(j), s->p.kh * s->p.kw * s->nr);
		body(s, at);
		nest_close(n);
	}
	if (s->full == s->tiles)
		return;
	nest_if_less(n, af(s->full), af_var(s->j1));
	at.channels = s->p.g - s->full * s->nr;
	at.channel = af(s->full * s->nr);
	at.panel = af(s->full * s->p.kh * s->p.kw * s->nr);
	body(s, at);
	nest_close(n);
}

static void tile_body(struct depthwise *s, struct place at)
{
	tile(s, &at);
}

/* A row of a channel tile. */
static void row_body(struct depthwise *s, struct place at)
{
	for (int i = 0; at.held && i < s->p.kh * s->p.kw; i++)
		for (int v = 0; v < vectors(s, &at); v++)
			load_weights(s, &at, af(i * s->nr), i, v);
	pixels(s, at, tile_body);
}

static void channels_of_tile(struct depthwise *s, struct place at)
{
	channels(s, at, tile_body);
}

static void row(struct depthwise *s, struct place at)
{
	if (s->k[ORDER] == CHANNELS_OUTERMOST)
		row_body(s, at);
	else if (s->k[ORDER] == CHANNELS_IN_PIXELS)
		pixels(s, at, channels_of_tile);
	else
		channels(s, at, row_body);
}

/* Output rows [first, end) have all their kernel rows inside the image. */
static void inner_rows(const struct conv *p, int64_t *first, int64_t *end)
{
	int64_t room = p->ih - 1 - (p->kh - 1) * p->dh + p->ph;

	*first = ceil_div(p->ph, p->sh);
	*end = room < 0 ? 0 : room / p->sh + 1;
	if (*end > p->oh)
		*end = p->oh;
}

static void rows(struct depthwise *s, struct place at)
{
	struct nest *n = s->n;
	int64_t first, end;
	int inside;

	at.oh = nest_for(n, LOOP_SERIAL, "oh", af_var(s->oh0), af_var(s->oh1));
	inner_rows(&s->p, &first, &end);
	at.held = s->k[HOLD] && first < end;
	if (!at.held || (first == 0 && end == s->p.oh)) {
		row(s, at);
	} else {
		inside = nest_let_min(n, "inside", af_sub(af_var(at.oh), af(first)),
				      af_sub(af(end - 1), af_var(at.oh)));
		nest_if_less(n, af_var(inside), af(0));
		at.held = 0;
		row(s, at);
		nest_else(n);
		at.held = 1;
		row(s, at);
		nest_close(n);
	}
	nest_close(n);
}

static void open_blocks(struct depthwise *s)
{
	const struct conv *p = &s->p;
	int64_t height = s->k[ROWS] ? s->k[ROWS] : p->oh, nc = s->k[NC] ? s->k[NC] : s->tiles;
	struct nest *n = s->n;
	struct affine bands = af(ceil_div(p->oh, height)), blocks = af(ceil_div(s->tiles, nc));
	int ib, jb;

	s->img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(p->mb));
	if (s->k[PAR]) {
		jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), blocks);
		ib = nest_for(n, LOOP_PARALLEL, "ib", af(0), bands);
	} else {
		ib = nest_for(n, LOOP_PARALLEL, "ib", af(0), bands);
		jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), blocks);
	}
	s->oh0 = nest_let(n, "oh", af_mul(af_var(ib), height));
	s->oh1 = nest_let_min(n, "oh", af_add(af_var(s->oh0), af(height)), af(p->oh));
	s->j0 = nest_let(n, "j", af_mul(af_var(jb), nc));
	s->j1 = nest_let_min(n, "j", af_add(af_var(s->j0), af(nc)), af(s->tiles));
}

/* Tiles at the left and the right in which some tap leaves the image. */
static void find_edges(struct depthwise *s)
{
	const struct conv *p = &s->p;

	while (s->left < s->split.tiles && tile_start(s, s->left) * p->sw < p->pw)
		s->left++;
	while (s->left + s->right < s->split.tiles) {
		int64_t end = tile_start(s, s->split.tiles - s->right);

		if ((end - 1) * p->sw - p->pw + (p->kw - 1) * p->dw < p->iw)
			break;
		s->right++;
	}
}

static int depthwise_build(const struct workload *w, const int64_t *k, struct nest *n,
			   struct err *e)
{
	struct depthwise s = {.n = n, .w = w, .k = k};

	if (!applies(w, &s.p))
		return err_set(e, "depthwise does not apply to this workload");
	s.split = row_split(s.p.ow, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.g, s.nr);
	s.full = s.p.g / s.nr;
	find_edges(&s);
	declare(&s);
	open_blocks(&s);
	if (k[ORDER] == CHANNELS_OUTERMOST)
		channels(&s, (struct place){0}, rows);
	else
		rows(&s, (struct place){0});
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_depthwise = {
	.name = "depthwise",
	.summary = "Depthwise convolution by register tiles of pixels x vectors of channels.",
	.target = "cpu",
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.space = depthwise_space,
	.valid = depthwise_valid,
	.build = depthwise_build,
};
