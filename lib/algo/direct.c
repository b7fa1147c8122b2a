/* direct: convolution of any stride, dilation, padding and groups, over the brgemm tile with its
 * taps as the batch.
 *
 * A tile is a run of output pixels in one row by a panel of output channels; the kernel's taps and
 * the input channels are reduced in registers (Georganas et al., "Anatomy of high-performance deep
 * learning convolutions on SIMD architectures", SC 2018, section II). Output rows are taken in
 * bands. A band's input rows may be copied into the thread's workspace with their padding, which
 * serves padding, nchw input and strides alike; without padding the input can be read where it
 * lies. Where a pixel's channels are contiguous, the taps of a kernel row and the channels are one
 * run of k. nchw output goes through a small tile in the workspace.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/tile/brgemm.h"
#include "lib/algo/conv.h"
#include "lib/tile/post.h"

enum direct_knob { VL, NV, MR, ROWS, KC, NC, ORDER, PAR, COPY, MERGE, UNROLL, AHEAD, KNOBS };

enum { MAX_UNROLL = 32 };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1,
		"Output pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[KC] = {"kc", 0, "Input channels in a chunk; 0: all."},
	[NC] = {"nc", 0, "Register tiles of output channels in a block; 0: all."},
	[ORDER] = {"order", 0, "Inside a block: 0 walks channels innermost, 1 pixels innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[COPY] = {"copy", 1,
		  "1: the band's input is copied, with its padding, into the workspace."},
	[MERGE] = {"merge", 0, "1: the taps of a kernel row and the input channels are one loop."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over input channels."},
	[AHEAD] = {"ahead", 0, "1: what the next register tile reads and writes is prefetched."},
};

static int direct_space(const struct workload *w, const struct limits *m, struct knob_space *s)
{
	static const int pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28};
	static const int chunks[] = {16, 32, 64, 128, 256};
	static const int powers[] = {1, 2, 4, 8, 16, 32};
	struct conv p;

	if (!conv_of(w, &p))
		return 0;
	s->n = KNOBS;
	knob_add(s, VL, m->lanes);
	if (m->lanes > 8)
		knob_add(s, VL, m->lanes / 2);
	for (int v = 1; v <= 6; v++)
		knob_add(s, NV, v);
	for (unsigned i = 0; i < sizeof pixels / sizeof *pixels; i++) {
		struct row_split r = row_split(p.ow, pixels[i]);

		knob_add(s, MR, r.rows + (r.rest > 0));
	}
	knob_add(s, ROWS, 0);
	knob_add(s, KC, 0);
	knob_add(s, NC, 0);
	for (unsigned i = 0; i < sizeof powers / sizeof *powers; i++) {
		if (powers[i] < p.oh)
			knob_add(s, ROWS, powers[i]);
		if (powers[i] * m->lanes < p.oc)
			knob_add(s, NC, powers[i]);
	}
	if (p.oh % 7 == 0 && p.oh > 7)
		knob_add(s, ROWS, 7);
	for (unsigned i = 0; !p.nchw && i < sizeof chunks / sizeof *chunks; i++)
		if (chunks[i] < p.ic)
			knob_add(s, KC, chunks[i]);
	for (int parts = 2; !p.nchw && parts <= 4;
	     parts *= 2) /* even parts, so that taps can merge */
		if (p.ic % parts == 0 && p.ic / parts >= 4)
			knob_add(s, KC, p.ic / parts);
	for (int i = 0; i <= 1; i++) {
		knob_add(s, ORDER, i);
		knob_add(s, PAR, i);
		if (i || (!p.padded && !p.nchw))
			knob_add(s, COPY, i);
		if (!i || (p.dw == 1 && p.kw > 1))
			knob_add(s, MERGE, i);
	}
	for (int u = 1; u <= 4; u *= 2)
		knob_add(s, UNROLL, u);
	for (int u = 5; u <= MAX_UNROLL; u++) /* a short loop without a remainder, or none */
		if (p.kw * p.ic <= MAX_UNROLL && p.kw * p.ic % 4 && p.kw * p.ic % u == 0)
			knob_add(s, UNROLL, u);
	knob_add(s, AHEAD, 0);
	if (!p.nchw &&
	    brgemm_may_look_ahead(p.mb * p.g * (p.ih * p.iw * p.ic + p.oh * p.ow * p.oc), m))
		knob_add(s, AHEAD, 1);
	return 1;
}

static int direct_valid(const struct workload *w, const int64_t *k, const char **why)
{
	struct row_split r;
	struct conv p;

	*why = "the algorithm does not apply to this workload";
	if (!conv_of(w, &p))
		return 0;
	*why = "a knob is outside its range";
	if (k[ROWS] < 0 || k[KC] < 0 || k[NC] < 0 || k[UNROLL] < 1 || k[UNROLL] > MAX_UNROLL)
		return 0;
	for (int i = ORDER; i <= AHEAD; i++)
		if (i != UNROLL && (k[i] < 0 || k[i] > 1))
			return 0;
	if (!brgemm_fits(k[VL], k[NV], k[MR], why))
		return 0;
	*why = "another value of mr, rows, kc or nc gives the same program";
	r = row_split(p.ow, k[MR]);
	if (r.rows + (r.rest > 0) != k[MR] || (k[ROWS] && k[ROWS] >= p.oh) ||
	    (k[KC] && k[KC] >= p.ic) || (k[NC] && k[NC] >= ceil_div(p.oc, k[NV] * k[VL])))
		return 0;
	*why = "padding and nchw input need the copy";
	if (!k[COPY] && (p.padded || p.nchw))
		return 0;
	*why = "nchw output is not prefetched";
	if (k[AHEAD] && p.nchw)
		return 0;
	*why = "nchw output needs all of k at once";
	if (k[KC] && p.nchw)
		return 0;
	*why = brgemm_cannot_chunk;
	if (k[KC] && !brgemm_chunks(w->npost, w->post))
		return 0;
	*why = "taps merge only where a kernel row's channels are contiguous and whole";
	if (k[MERGE] && (p.dw != 1 || p.kw == 1 || (!k[COPY] && (p.g > 1 || k[KC]))))
		return 0;
	*why = "merged taps need chunks of one size";
	return !k[MERGE] || !k[KC] || p.ic % k[KC] == 0;
}

/* What the parts of the nest share. */
struct direct {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct conv p;
	struct row_split split;
	int64_t kc, chunks; /* channels of a chunk, chunks */
	int64_t nr, tiles;  /* channels of a tile, tiles of channels a group */
	int64_t pixel, row; /* elements between input pixels and rows, as the tile reads them */
	int src, weights, band, scratch;
	int img, g, ib, jb;   /* loop variables: image, group, band, block */
	int oh0, oh1, j0, j1; /* lets */
	int vow_tiles, vrest, voc, vpanel, vtiles, vchunks;
	int vrow_step, va_col, va_row;
	int chunk, channels;
	struct affine k0, kn;
	struct brgemm t;
	struct brgemm_out out;
};

static void declare_weights(struct direct *s)
{
	const struct conv *p = &s->p;
	struct packing pw = {0}, pb = {0};
	int g = packing_dim(&pw, p->g), o = packing_dim(&pw, p->oc), i = packing_dim(&pw, p->ic);
	int kh = packing_dim(&pw, p->kh), kw = packing_dim(&pw, p->kw);

	packing_axis(&pw, g, p->g, 1);
	packing_axis(&pw, o, s->tiles, s->nr);
	packing_axis(&pw, i, s->chunks, s->kc);
	packing_axis(&pw, kh, p->kh, 1);
	packing_axis(&pw, kw, p->kw, 1);
	packing_axis(&pw, i, s->kc, 1);
	packing_axis(&pw, o, s->nr, 1);
	s->weights = nest_packed(s->n, "w", TENSOR_WEIGHTS, &pw);
	s->out.bias = -1;
	if (!workload_has_post(s->w, POST_BIAS))
		return;
	g = packing_dim(&pb, p->g);
	o = packing_dim(&pb, p->oc);
	packing_axis(&pb, g, p->g, 1);
	packing_axis(&pb, o, s->tiles * s->nr, 1);
	s->out.bias = nest_packed(s->n, "bias", TENSOR_BIAS, &pb);
}

static void declare(struct direct *s)
{
	const struct conv *p = &s->p;
	int64_t dst = p->mb * p->oh * p->ow * p->oc * p->g;
	struct nest *n = s->n;

	s->src = nest_arg(n, "src", TENSOR_SRC, p->mb * p->ih * p->iw * p->ic * p->g, 0);
	declare_weights(s);
	s->out.adds = workload_has_post(s->w, POST_ADD);
	s->out.c = nest_arg(n, "dst", TENSOR_DST, dst, 1);
	s->out.npost = s->w->npost;
	s->out.post = s->w->post;
	brgemm_registers(n, &s->t, (int)s->k[VL], s->split.rows + (s->split.rest > 0),
			 (int)s->k[NV]);
	s->t.unroll = (int)s->k[UNROLL];
	s->vow_tiles = nest_param(n, "TW", s->split.tiles);
	s->vrest = nest_param(n, "rest", s->split.rest);
	s->voc = nest_param(n, "OC", p->oc);
	s->vtiles = nest_param(n, "TN", s->tiles);
	s->vpanel = nest_param(n, "panel", s->chunks * p->kh * p->kw * s->kc * s->nr);
}

static void open_blocks(struct direct *s)
{
	const struct conv *p = &s->p;
	int64_t rows = s->k[ROWS] ? s->k[ROWS] : p->oh, nc = s->k[NC] ? s->k[NC] : s->tiles;
	struct nest *n = s->n;
	int vmb = nest_param(n, "MB", p->mb), vg = nest_param(n, "G", p->g);
	int voh = nest_param(n, "OH", p->oh), vrows = nest_param(n, "rows", rows);
	int vnc = nest_param(n, "nc", nc), vbands = nest_param(n, "bands", ceil_div(p->oh, rows));
	int vblocks = nest_param(n, "blocks", ceil_div(s->tiles, nc));

	s->img = nest_for(n, LOOP_PARALLEL, "img", af(0), af_var(vmb));
	s->g = nest_for(n, LOOP_PARALLEL, "g", af(0), af_var(vg));
	if (s->k[PAR]) {
		s->jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), af_var(vblocks));
		s->ib = nest_for(n, LOOP_PARALLEL, "ib", af(0), af_var(vbands));
	} else {
		s->ib = nest_for(n, LOOP_PARALLEL, "ib", af(0), af_var(vbands));
		s->jb = nest_for(n, LOOP_PARALLEL, "jb", af(0), af_var(vblocks));
	}
	s->oh0 = nest_let(n, "oh", af_times(af_var(s->ib), vrows));
	s->oh1 = nest_let_min(n, "oh", af_add(af_var(s->oh0), af_var(vrows)), af_var(voh));
	s->j0 = nest_let(n, "j", af_times(af_var(s->jb), vnc));
	s->j1 = nest_let_min(n, "j", af_add(af_var(s->j0), af_var(vnc)), af_var(s->vtiles));
}

/* band[at .. at + count) = 0, or copied from src[from ..]. from NULL: zero. vcount counts whole
 * vectors, rounded up. */
static void copy_run(struct direct *s, struct affine at, const struct affine *from, int count,
		     int vcount)
{
	struct nest *n = s->n;
	int lanes = s->t.lanes, one = n->var[vcount].value == 1;
	struct affine step = af(0);
	const struct affine *valid;

	if (!one)
		step = af_mul(af_var(nest_for(n, LOOP_SERIAL, "v", af(0), af_var(vcount))), lanes);
	valid = nest_keep(n, af_sub(af_var(count), step));
	nest_store(n, s->band, af_add(at, step), valid,
		   from ? ex_load(n, s->src, lanes, af_add(*from, step), valid)
			: ex_const(n, ELEM_F32, lanes, 0));
	if (!one)
		nest_close(n);
}

static void zero_rows(struct direct *s, struct affine lo, struct affine hi, int vrow, int vrow_vecs)
{
	int y = nest_for(s->n, LOOP_SERIAL, "y", lo, hi);

	copy_run(s, af_times(af_var(y), vrow), NULL, vrow, vrow_vecs);
	nest_close(s->n);
}

/* The input pixels of one row, y in the band, ih in the image, behind PW columns of padding. */
static void copy_row(struct direct *s, int y, struct affine ih, int vrow, int64_t width)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	int vsrc_row, c, x;
	struct affine at = af_times(af_var(y), vrow), from;

	if (p->nchw) {
		int vic = nest_param(n, "IC", p->ic), vw = nest_param(n, "width", width);
		int vplane = nest_param(n, "plane", p->ih * p->iw),
		    viw = nest_param(n, "IW", p->iw);
		int vimg = nest_param(n, "image", p->g * p->ic * p->ih * p->iw);
		int vgrp = nest_param(n, "group", p->ic * p->ih * p->iw);
		int voff = nest_param(n, "left", p->pw * p->ic);

		c = nest_for(n, LOOP_SERIAL, "c", af(0), af_var(vic));
		x = nest_for(n, LOOP_SERIAL, "x", af(0), af_var(vw));
		from = af_sum(af_times(af_var(s->img), vimg), af_times(af_var(s->g), vgrp),
			      af_times(af_var(c), vplane), af_times(ih, viw), af_var(x));
		nest_store(n, s->band,
			   af_sum(at, af_var(voff), af_times(af_var(x), vic), af_var(c)), NULL,
			   ex_load(n, s->src, 1, from, NULL));
		nest_close(n);
		nest_close(n);
		return;
	}
	vsrc_row = nest_param(n, "srcrow", p->iw * p->g * p->ic);
	from = af_add(
		af_times(af_var(s->img), nest_param(n, "image", p->ih * p->iw * p->g * p->ic)),
		af_times(ih, vsrc_row));
	at = af_add(at, af_var(nest_param(n, "left", p->pw * s->kc)));
	if (p->g == 1 && s->chunks == 1) { /* the whole row is one run */
		int64_t count = width * p->ic;

		copy_run(s, at, &from, nest_param(n, "count", count),
			 nest_param(n, "vecs", ceil_div(count, s->t.lanes)));
		return;
	}
	int vpixel = nest_param(n, "pixel", p->g * p->ic), vkc = nest_param(n, "kc", s->kc);
	int vvecs = nest_param(n, "vecs", ceil_div(s->kc, s->t.lanes));
	int vic = nest_param(n, "IC", p->ic);

	x = nest_for(n, LOOP_SERIAL, "x", af(0), af_var(nest_param(n, "width", width)));
	from = af_sum(from, af_times(af_var(x), vpixel), af_times(af_var(s->g), vic), s->k0);
	copy_run(s, af_add(at, af_times(af_var(x), vkc)), &from, s->channels, vvecs);
	nest_close(n);
}

/* Copies the band's input rows, with padding, into the workspace. */
static void copy_band(struct direct *s)
{
	const struct conv *p = &s->p;
	int64_t rows = s->k[ROWS] ? s->k[ROWS] : p->oh, row = p->band_w * s->kc, width, right;
	int64_t max_rows = (rows - 1) * p->sh + (p->kh - 1) * p->dh + 1;
	struct nest *n = s->n;
	int vrow = nest_param(n, "bandrow", row), vih = nest_param(n, "IH", p->ih);
	int vrow_vecs = nest_param(n, "rowvecs", ceil_div(row, s->t.lanes));
	int vph = nest_param(n, "PH", p->ph), vsh = nest_param(n, "SH", p->sh);
	int vkh = nest_param(n, "window", (p->kh - 1) * p->dh + 1 - p->sh);
	int lo, hi, end, y, high;
	struct affine first, zero_to;

	s->band = nest_work(n, "band", max_rows * row);
	s->pixel = s->kc;
	s->row = row;
	width = p->iw < p->band_w - p->pw ? p->iw : p->band_w - p->pw;
	if (width < 0)
		width = 0;
	right = p->band_w - p->pw - width;
	/* Input row of band row 0, and the band's height: (oh1 - oh0) * SH + window - SH. */
	first = af_var(nest_let(n, "first", af_sub(af_times(af_var(s->oh0), vsh), af_var(vph))));
	high = nest_let(n, "rows",
			af_add(af_times(af_sub(af_var(s->oh1), af_var(s->oh0)), vsh), af_var(vkh)));
	/* Rows [0, -lo) lie above the image, [hi, rows) below it. */
	lo = nest_let_min(n, "lo", af(0), first);
	end = nest_let_min(n, "end", af_var(high), af_sub(af_var(vih), first));
	lo = nest_let_min(n, "above", af_mul(af_var(lo), -1), af_var(high));
	hi = nest_let_min(n, "below", af_mul(af_var(end), -1), af_mul(af_var(lo), -1));
	zero_to = af_mul(af_var(hi), -1); /* max(end, above) */
	if (!p->clipped)
		zero_rows(s, af(0), af_var(lo), vrow, vrow_vecs);
	y = nest_for(n, LOOP_SERIAL, "y", af_var(lo), zero_to);
	if (p->pw) {
		int64_t left = (p->pw < p->band_w ? p->pw : p->band_w) * s->kc;

		copy_run(s, af_times(af_var(y), vrow), NULL, nest_param(n, "leftlen", left),
			 nest_param(n, "leftvecs", ceil_div(left, s->t.lanes)));
	}
	if (width)
		copy_row(s, y, af_add(af_var(y), first), vrow, width);
	if (right > 0)
		copy_run(s,
			 af_add(af_times(af_var(y), vrow),
				af_var(nest_param(n, "rightat", (p->pw + width) * s->kc))),
			 NULL, nest_param(n, "rightlen", right * s->kc),
			 nest_param(n, "rightvecs", ceil_div(right * s->kc, s->t.lanes)));
	nest_close(n);
	if (!p->clipped)
		zero_rows(s, zero_to, af_var(high), vrow, vrow_vecs);
}

/* How the tile reads: strides, taps and the extent of k. */
static void set_strides(struct direct *s)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	int taps = 0;

	if (!s->k[COPY]) {
		s->pixel = p->g * p->ic;
		s->row = p->iw * s->pixel;
	}
	s->va_row = nest_param(n, "Arow", p->sw * s->pixel);
	s->va_col = nest_param(n, "Aline", p->sh * s->row);
	s->t.a_row = af_var(s->va_row);
	s->t.b_k = af(s->nr);
	s->t.b = s->weights;
	if (p->kh > 1) {
		s->t.tap[taps].n = af_var(nest_param(n, "KH", p->kh));
		s->t.tap[taps].a_step = af_var(nest_param(n, "Akh", p->dh * s->row));
		s->t.tap[taps].b_step = af_var(nest_param(n, "Bkh", p->kw * s->kc * s->nr));
		taps++;
	}
	if (p->kw > 1 && !s->k[MERGE]) {
		s->t.tap[taps].n = af_var(nest_param(n, "KW", p->kw));
		s->t.tap[taps].a_step = af_var(nest_param(n, "Akw", p->dw * s->pixel));
		s->t.tap[taps].b_step = af_var(nest_param(n, "Bkw", s->kc * s->nr));
		taps++;
	}
	s->t.ntaps = taps;
}

/* The loop over chunks of channels, where there is more than one: k0 and channels are the chunk's
 * first one and how many, kn the values of k that the tile reduces for each tap. */
static void open_chunk(struct direct *s)
{
	struct nest *n = s->n;
	int vic = nest_param(n, "IC", s->p.ic), vkc;

	s->chunk = -1;
	s->k0 = af(0);
	s->channels = vic;
	if (s->chunks > 1) {
		vkc = nest_param(n, "kc", s->kc);
		s->vchunks = nest_param(n, "chunks", s->chunks);
		s->chunk = nest_for(n, LOOP_SERIAL, "kb", af(0), af_var(s->vchunks));
		s->k0 = af_var(nest_let(n, "k0", af_times(af_var(s->chunk), vkc)));
		s->channels = nest_let_min(n, "kn", af_var(vkc), af_sub(af_var(vic), s->k0));
	}
	s->kn = af_var(s->k[MERGE] ? nest_param(n, "K", s->p.kw * s->kc) : s->channels);
}

/* Where the tile's result belongs in nchw: from the scratch tile, pixel by pixel and channel by
 * channel. */
static void scatter(struct direct *s, int rows, int oh, struct affine ow, int j)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct affine channel = af_mul(af_var(j), s->nr), at;
	int vplane = nest_param(n, "oplane", p->oh * p->ow), vow = nest_param(n, "OW", p->ow);
	int vimg = nest_param(n, "oimage", p->g * p->oc * p->oh * p->ow);
	int vgrp = nest_param(n, "ogroup", p->oc * p->oh * p->ow);
	int vbias = nest_param(n, "biasgroup", s->tiles * s->nr);
	int left = nest_let_min(n, "left", af(s->nr), af_sub(af_var(s->voc), channel));
	int c = nest_for(n, LOOP_SERIAL, "c", af(0), af_var(left));
	int x = nest_for(n, LOOP_SERIAL, "x", af(0), af(rows));
	const struct expr *bias = NULL, *add = NULL;

	at = af_sum(af_times(af_var(s->img), vimg), af_times(af_var(s->g), vgrp),
		    af_times(af_add(channel, af_var(c)), vplane), af_times(af_var(oh), vow), ow,
		    af_var(x));
	if (s->out.bias >= 0)
		bias = ex_load(n, s->out.bias, 1,
			       af_sum(af_times(af_var(s->g), vbias), channel, af_var(c)), NULL);
	if (s->out.adds)
		add = ex_load(n, s->out.c, 1, at, NULL);
	nest_store(n, s->out.c, at, NULL,
		   post_apply(n,
			      ex_load(n, s->scratch, 1, af_add(af_mul(af_var(x), s->nr), af_var(c)),
				      NULL),
			      s->out.npost, s->out.post, bias, add));
	nest_close(n);
	nest_close(n);
}

static void tile_rows(struct direct *s, int rows, int oh, struct affine ow, int j)
{
	struct nest *n = s->n;
	struct brgemm_out o = s->out;

	if (s->p.nchw) {
		o = (struct brgemm_out){.c = s->scratch, .c_row = af(s->nr), .bias = -1};
		brgemm_tile(n, &s->t, rows, &o, -1, af(0));
		scatter(s, rows, oh, ow, j);
		return;
	}
	brgemm_tile(n, &s->t, rows, &o, s->chunk, af_var(s->vchunks));
}

/* Kernel rows [PH - oh * SH, IH + PH - oh * SH) lie inside the image: at the upper and lower edge
 * the others need no multiplying by zero. The tap over kernel rows is the outermost one. */
static void clip_taps(struct direct *s, int oh)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct affine first = af_sub(af_times(af_var(oh), nest_param(n, "SH", p->sh)),
				     af_var(nest_param(n, "PH", p->ph)));
	int lo = nest_let_min(n, "above", af(0), first);
	int hi = nest_let_min(n, "below", af_var(nest_param(n, "KH", p->kh)),
			      af_sub(af_var(nest_param(n, "IH", p->ih)), first));

	s->t.tap[0].lo = af_mul(af_var(lo), -1);
	s->t.tap[0].n = af_var(hi);
}

/* The next tile is beside this one in its row, or has the next channels. */
static void look_ahead(struct direct *s)
{
	if (s->k[ORDER] == 0) {
		s->t.c_next = af(s->nr);
		return;
	}
	s->t.c_next = af_times(af(s->split.rows), s->out.c_row.t[0].var);
	if (!s->k[COPY] && !s->t.ntaps)
		s->t.a_next = af_times(af(s->split.rows), s->va_row);
}

static void tile(struct direct *s, int oh, int t, int j)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	struct affine ow = af_mul(af_var(t), s->split.rows), channel = af_mul(af_var(j), s->nr);
	int vgroup = nest_param(n, "wgroup", s->tiles * s->chunks * p->kh * p->kw * s->kc * s->nr);

	if (s->split.rest) {
		int extra = nest_let_min(n, "x", af_var(t), af_var(s->vrest));

		ow = af_add(ow, af_var(extra));
	}
	if (s->k[COPY]) {
		s->t.a = s->band;
		s->t.a_at = af_sum(af_times(af_sub(af_var(oh), af_var(s->oh0)), s->va_col),
				   af_times(ow, s->va_row));
	} else {
		s->t.a = s->src;
		s->t.a_at = af_sum(af_times(af_var(s->img), nest_param(n, "image", p->ih * s->row)),
				   af_times(af_var(s->g), nest_param(n, "IC", p->ic)),
				   af_times(af_var(oh), s->va_col), af_times(ow, s->va_row), s->k0);
	}
	s->t.b_at = af_add(af_times(af_var(s->g), vgroup), af_times(af_var(j), s->vpanel));
	if (s->chunk >= 0)
		s->t.b_at =
			af_add(s->t.b_at,
			       af_times(af_var(s->chunk),
					nest_param(n, "Bchunk", p->kh * p->kw * s->kc * s->nr)));
	s->t.k = s->kn;
	if (!p->nchw) {
		int vpix = nest_param(n, "Cpixel", p->g * p->oc);
		int vline = nest_param(n, "Cline", p->ow * p->g * p->oc);
		int vimg = nest_param(n, "Cimage", p->oh * p->ow * p->g * p->oc);

		s->out.c_row = af_var(vpix);
		s->out.c_at = af_sum(af_times(af_var(s->img), vimg), af_times(af_var(s->g), s->voc),
				     af_times(af_var(oh), vline), af_times(ow, vpix), channel);
		s->out.valid = p->oc % s->nr ? nest_keep(n, af_sub(af_var(s->voc), channel)) : NULL;
		s->out.bias_at =
			af_add(af_times(af_var(s->g), nest_param(n, "biasgroup", s->tiles * s->nr)),
			       channel);
	}
	if (s->k[AHEAD])
		look_ahead(s);
	if (s->split.rest) {
		nest_if_less(n, af_var(t), af_var(s->vrest));
		tile_rows(s, s->split.rows + 1, oh, ow, j);
		nest_else(n);
	}
	tile_rows(s, s->split.rows, oh, ow, j);
	if (s->split.rest)
		nest_close(n);
}

static int direct_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct direct s = {.n = n, .w = w, .k = k};
	int j = -1, oh, t;

	if (!conv_of(w, &s.p))
		return err_set(e, "direct does not apply to this workload");
	s.split = row_split(s.p.ow, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.oc, s.nr);
	s.kc = k[KC] ? k[KC] : s.p.ic;
	s.chunks = ceil_div(s.p.ic, s.kc);
	declare(&s);
	if (s.p.nchw)
		s.scratch = nest_work(n, "tile", k[MR] * s.nr);
	open_blocks(&s);
	open_chunk(&s);
	if (k[COPY])
		copy_band(&s);
	set_strides(&s);
	if (k[ORDER])
		j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	oh = nest_for(n, LOOP_SERIAL, "oh", af_var(s.oh0), af_var(s.oh1));
	if (s.p.clipped)
		clip_taps(&s, oh);
	t = nest_for(n, LOOP_SERIAL, "t", af(0), af_var(s.vow_tiles));
	if (!k[ORDER])
		j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	tile(&s, oh, t, j);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_direct = {
	.name = "direct",
	.summary = "Direct convolution by register tiles of pixels x channels, taps as the batch.",
	.target = "cpu",
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.space = direct_space,
	.valid = direct_valid,
	.build = direct_build,
};
