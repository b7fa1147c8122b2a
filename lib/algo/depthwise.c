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
#include "lib/schedule/conv.h"
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
enum { MAX_TAPS = 81, MAX_LOOPS = NEST_VARS - 40 };

static int applies(const struct workload *w, struct conv *p)
{
	return conv_of(w, p) && p->g > 1 && p->ic == 1 && p->oc == 1 && !p->nchw &&
	       p->kh * p->kw <= MAX_TAPS;
}

/* Registers: the tile, the weights, one for what post-ops compute, and one for a mask where masks
 * are vectors. */
static int64_t registers(const struct conv *p, const int64_t *k)
{
	return k[NV] * (k[MR] + (k[HOLD] ? p->kh * p->kw : 1)) + 1 + (k[VL] < 16 && p->g % k[VL]);
}

static int64_t registers_there(int64_t lanes)
{
	return lanes == 16 ? 32 : 16;
}

static int64_t tile_start(const struct row_split *r, int64_t t)
{
	return t * r->rows + (t < r->rest ? t : r->rest);
}

/* Tiles at the left and the right in which some tap leaves the image. */
static void find_edges(const struct conv *p, const struct row_split *r, int *left, int *right)
{
	*left = *right = 0;
	while (*left < r->tiles && tile_start(r, *left) * p->sw < p->pw)
		++*left;
	while (*left + *right < r->tiles) {
		int64_t end = tile_start(r, r->tiles - *right);

		if ((end - 1) * p->sw - p->pw + (p->kw - 1) * p->dw < p->iw)
			break;
		++*right;
	}
}

/* Each tile at an edge has a body of its own: once more where weights are held, and where vectors
 * are masked. */
static int64_t loops(const struct conv *p, const int64_t *k)
{
	struct row_split r = row_split(p->ow, k[MR]);
	int left, right;

	find_edges(p, &r, &left, &right);
	return (k[HOLD] + 1) * (p->g % (k[NV] * k[VL]) ? 2 : 1) *
	       ((left + right) * (3 * p->kw + 8) + 20);
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
	*why = "too many tiles have taps outside the image";
	if (loops(&p, k) > MAX_LOOPS)
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
	int src, weights, bias, dst, acc, wreg;
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
	s->dst = nest_arg(n, "dst", TENSOR_DST, dst, 1);
	s->acc = nest_reg(n, "acc", ELEM_F32, (int)s->k[VL], (int)s->k[MR], (int)s->k[NV]);
	s->wreg = nest_reg(n, "wr", ELEM_F32, (int)s->k[VL], s->k[HOLD] ? (int)(p->kh * p->kw) : 1,
			   (int)s->k[NV]);
}

/* ---- the tile ---- */

/* Vectors of the tile whose lanes are all valid, and what is left for a masked one. */
static int64_t whole_vectors(const struct depthwise *s, const struct place *at)
{
	return at->channels / s->k[VL] < s->k[NV] ? at->channels / s->k[VL] : s->k[NV];
}

static int64_t lanes_left(const struct depthwise *s, const struct place *at)
{
	return whole_vectors(s, at) < s->k[NV] ? at->channels % s->k[VL] : 0;
}

/* One vector of one pixel: v counts vectors, valid is NULL where all lanes are. */
struct site {
	struct affine m, v;
	const struct affine *valid;
};

typedef void at_site(struct depthwise *s, const struct place *at, const struct site *x,
		     const void *arg);

/* For pixels [from, to) and all vectors of the tile. */
static void each_site(struct depthwise *s, const struct place *at, int64_t from, int64_t to,
		      at_site *body, const void *arg)
{
	int64_t whole = whole_vectors(s, at), left = lanes_left(s, at);
	struct nest *n = s->n;
	struct site x = {.valid = NULL};

	if (from >= to)
		return;
	x.m = af_var(nest_for(n, LOOP_UNROLL, "m", af(from), af(to)));
	if (whole) {
		x.v = af_var(nest_for(n, LOOP_UNROLL, "v", af(0), af(whole)));
		body(s, at, &x, arg);
		nest_close(n);
	}
	if (left) {
		x.v = af(whole);
		x.valid = nest_keep(n, af(left));
		body(s, at, &x, arg);
	}
	nest_close(n);
}

/* For all vectors of the tile, once. */
static void each_vector(struct depthwise *s, const struct place *at, at_site *body, const void *arg)
{
	struct site x = {.m = af(0)};

	x.v = af_var(nest_for(s->n, LOOP_UNROLL, "v", af(0),
			      af(whole_vectors(s, at) + (lanes_left(s, at) > 0))));
	body(s, at, &x, arg);
	nest_close(s->n);
}

static struct affine reg_at(const struct depthwise *s, const struct site *x)
{
	return af_add(af_mul(x->m, s->k[NV]), x->v);
}

/* First channel of the vector. */
static struct affine lane_at(const struct depthwise *s, const struct place *at,
			     const struct site *x)
{
	return af_add(at->channel, af_mul(x->v, s->k[VL]));
}

static void zero(struct depthwise *s, const struct place *at, const struct site *x, const void *arg)
{
	(void)at;
	(void)arg;
	nest_store(s->n, s->acc, reg_at(s, x), NULL, ex_const(s->n, ELEM_F32, (int)s->k[VL], 0));
}

/* A tap: its weights, kh * KW + kw of the panel, and the row of registers that they are in; kernel
 * row and column. */
struct tap {
	struct affine weights, reg, kh, kw;
};

static void load_weights(struct depthwise *s, const struct place *at, const struct site *x,
			 const void *arg)
{
	const struct tap *t = arg;

	nest_store(s->n, s->wreg, af_add(af_mul(t->reg, s->k[NV]), x->v), NULL,
		   ex_load(s->n, s->weights, (int)s->k[VL],
			   af_sum(at->panel, af_mul(t->weights, s->nr), af_mul(x->v, s->k[VL])),
			   NULL));
}

static void multiply(struct depthwise *s, const struct place *at, const struct site *x,
		     const void *arg)
{
	const struct tap *t = arg;
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct affine ih = af_sum(af_mul(af_var(at->oh), p->sh), af_mul(t->kh, p->dh), af(-p->ph));
	struct affine iw = af_sum(af_mul(at->ow, p->sw), af_mul(x->m, p->sw), af_mul(t->kw, p->dw),
				  af(-p->pw));
	struct affine from = af_sum(af_mul(af_var(s->img), p->ih * p->iw * p->g),
				    af_mul(ih, p->iw * p->g), af_mul(iw, p->g), lane_at(s, at, x));

	nest_store(n, s->acc, reg_at(s, x), NULL,
		   ex_op(n, EXPR_FMA, ex_reg(n, s->wreg, af_add(af_mul(t->reg, s->k[NV]), x->v)),
			 ex_load(n, s->src, (int)s->k[VL], from, x->valid),
			 ex_reg(n, s->acc, reg_at(s, x))));
}

/* Pixels [*from, *to) of the tile whose tap in this kernel column lies inside the row. */
static void inside_row(const struct depthwise *s, const struct place *at, int kw, int64_t *from,
		       int64_t *to)
{
	const struct conv *p = &s->p;
	int64_t first = at->edge * p->sw - p->pw + kw * p->dw; /* input column of pixel 0 */

	*from = 0;
	*to = at->pixels;
	while (at->edge >= 0 && *from < *to && first + *from * p->sw < 0)
		++*from;
	while (at->edge >= 0 && *from < *to && first + (*to - 1) * p->sw >= p->iw)
		--*to;
}

/* The taps of kernel row kh; held: their weights are in registers already. */
static void multiply_row(struct depthwise *s, const struct place *at, struct affine kh)
{
	struct nest *n = s->n;
	struct tap t = {.kh = kh};
	int64_t columns = at->edge < 0 ? 1 : s->p.kw; /* at an edge each is by itself */

	for (int kw = 0; kw < columns; kw++) {
		int64_t from, to;

		t.kw = af(kw);
		if (at->edge < 0)
			t.kw = af_var(nest_for(n, LOOP_UNROLL, "kw", af(0), af(s->p.kw)));
		t.weights = af_add(af_mul(kh, s->p.kw), t.kw);
		t.reg = at->held ? t.weights : af(0);
		inside_row(s, at, kw, &from, &to);
		if (!at->held)
			each_vector(s, at, load_weights, &t);
		each_site(s, at, from, to, multiply, &t);
		if (at->edge < 0)
			nest_close(n);
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

static void multiply_held(struct depthwise *s, const struct place *at)
{
	struct nest *n = s->n;

	multiply_row(s, at, af_var(nest_for(n, LOOP_UNROLL, "kh", af(0), af(s->p.kh))));
	nest_close(n);
}

static void finish(struct depthwise *s, const struct place *at, const struct site *x,
		   const void *arg)
{
	const struct conv *p = &s->p;
	const struct expr *bias = NULL, *add = NULL;
	int lanes = (int)s->k[VL];
	struct nest *n = s->n;
	struct affine to = af_sum(af_mul(af_var(s->img), p->oh * p->ow * p->g),
				  af_mul(af_var(at->oh), p->ow * p->g),
				  af_mul(af_add(at->ow, x->m), p->g), lane_at(s, at, x));

	(void)arg;
	if (s->bias >= 0)
		bias = ex_load(n, s->bias, lanes, lane_at(s, at, x), NULL);
	if (workload_has_post(s->w, POST_ADD))
		add = ex_load(n, s->dst, lanes, to, x->valid);
	nest_store(
		n, s->dst, to, x->valid,
		post_apply(n, ex_reg(n, s->acc, reg_at(s, x)), s->w->npost, s->w->post, bias, add));
}

static void tile(struct depthwise *s, const struct place *at)
{
	each_site(s, at, 0, at->pixels, zero, NULL);
	if (at->held)
		multiply_held(s, at);
	else
		multiply_clipped(s, at);
	each_site(s, at, 0, at->pixels, finish, NULL);
}

/* ---- loops around it; each calls what lies inside ---- */

typedef void inner(struct depthwise *s, struct place at);

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
	at.ow = af_add(af(tile_start(&s->split, from)), af_mul(af_var(t), at.pixels));
	body(s, at);
	nest_close(s->n);
}

static void edge(struct depthwise *s, struct place at, int64_t t, inner *body)
{
	at.edge = tile_start(&s->split, t);
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
	struct tap t;

	if (at.held) {
		t.weights = t.reg =
			af_var(nest_for(s->n, LOOP_UNROLL, "k", af(0), af(s->p.kh * s->p.kw)));
		each_vector(s, &at, load_weights, &t);
		nest_close(s->n);
	}
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
	find_edges(&s.p, &s.split, &s.left, &s.right);
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
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.space = depthwise_space,
	.valid = depthwise_valid,
	.build = depthwise_build,
};
