/* gemm: matmul, and 1x1 convolution of unit stride without padding on nhwc as one, over the brgemm
 * tile.
 *
 * Blocks of mc x nc tiles are the parallel iteration space; inside a block k is cut into chunks of
 * kc, and the tiles are walked rows first or columns first (the loop orders of Goto and van de
 * Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008). A constant right
 * side is packed off the clock into column panels.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/tile/brgemm.h"

enum gemm_knob { VL, NV, MR, KC, MC, NC, ORDER, PAR, PACK_A, PACK_B, UNROLL, AHEAD, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1,
		"Rows of the register tile, at most; rows are dealt out in near-equal parts."},
	[KC] = {"kc", 0, "Values of k in a chunk; 0: all."},
	[MC] = {"mc", 0, "Register tiles of rows in a block; 0: all."},
	[NC] = {"nc", 0, "Register tiles of columns in a block; 0: all."},
	[ORDER] = {"order", 0, "Inside a block: 0 walks columns innermost, 1 rows innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: columns innermost, 1: rows innermost."},
	[PACK_A] = {"pack_a", 0, "1: the left side's block is copied into the thread's workspace."},
	[PACK_B] = {"pack_b", 0, "1: a computed right side is packed into panels, on the clock."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over k."},
	[AHEAD] = {"ahead", 0, "1: what the next register tile reads and writes is prefetched."},
};

struct shape {
	int64_t b, m, k, n;
};

static int shape_of(const struct workload *w, struct shape *s)
{
	const int64_t *d = w->dim;

	if (w->op == &op_matmul) {
		*s = (struct shape){d[MATMUL_B], d[MATMUL_M], d[MATMUL_K], d[MATMUL_N]};
		return 1;
	}
	if (w->op != &op_conv2d || w->layout != LAYOUT_NHWC || d[CONV_G] != 1 || d[CONV_KH] != 1 ||
	    d[CONV_KW] != 1 || d[CONV_SH] != 1 || d[CONV_SW] != 1 || d[CONV_PH] || d[CONV_PW] ||
	    d[CONV_OH] != d[CONV_IH] || d[CONV_OW] != d[CONV_IW])
		return 0;
	*s = (struct shape){1, d[CONV_MB] * d[CONV_OH] * d[CONV_OW], d[CONV_IC], d[CONV_OC]};
	return 1;
}

static int gemm_space(const struct workload *w, const struct limits *m, struct knob_space *s)
{
	static const int rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28};
	static const int chunks[] = {64, 128, 192, 256, 384, 512, 768, 1024};
	static const int blocks[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
	struct shape p;

	if (!shape_of(w, &p))
		return 0;
	s->n = KNOBS;
	knob_add(s, VL, m->lanes);
	if (m->lanes > 8)
		knob_add(s, VL, m->lanes / 2);
	for (int v = 1; v <= 6; v++)
		knob_add(s, NV, v);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		knob_add(s, MR, row_split(p.m, rows[i]).rows + (row_split(p.m, rows[i]).rest > 0));
	knob_add(s, KC, 0);
	for (unsigned i = 0; i < sizeof chunks / sizeof *chunks; i++)
		if (chunks[i] < p.k)
			knob_add(s, KC, chunks[i]);
	knob_add(s, MC, 0);
	knob_add(s, NC, 0);
	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		if (blocks[i] < p.m)
			knob_add(s, MC, blocks[i]);
		if (blocks[i] * m->lanes < p.n)
			knob_add(s, NC, blocks[i]);
	}
	for (int i = 0; i <= 1; i++) {
		knob_add(s, ORDER, i);
		knob_add(s, PAR, i);
		knob_add(s, PACK_A, i);
		if (i == 0 || !w->rhs_const)
			knob_add(s, PACK_B, i);
	}
	for (int u = 1; u <= 4; u *= 2)
		knob_add(s, UNROLL, u);
	knob_add(s, AHEAD, 0);
	if (brgemm_may_look_ahead(p.b * p.m * (p.k + p.n), m))
		knob_add(s, AHEAD, 1);
	return 1;
}

static int gemm_valid(const struct workload *w, const int64_t *k, const char **why)
{
	struct row_split rows;
	int64_t tiles;
	struct shape p;

	*why = "the algorithm does not apply to this workload";
	if (!shape_of(w, &p))
		return 0;
	*why = "a knob is outside its range";
	if (k[KC] < 0 || k[MC] < 0 || k[NC] < 0 || k[UNROLL] < 1 || k[UNROLL] > 16)
		return 0;
	for (int i = ORDER; i <= AHEAD; i++)
		if (i != UNROLL && (k[i] < 0 || k[i] > 1))
			return 0;
	if (!brgemm_fits(k[VL], k[NV], k[MR], why))
		return 0;
	*why = "another value of mr, kc, mc or nc gives the same program";
	rows = row_split(p.m, k[MR]);
	tiles = ceil_div(p.n, k[NV] * k[VL]);
	if (rows.rows + (rows.rest > 0) != k[MR] || (k[KC] && k[KC] >= p.k) ||
	    (k[MC] && k[MC] >= rows.tiles) || (k[NC] && k[NC] >= tiles))
		return 0;
	*why = brgemm_cannot_chunk;
	if (k[KC] && !brgemm_chunks(w->npost, w->post))
		return 0;
	*why = "a constant right side is always packed";
	return !(k[PACK_B] && w->rhs_const);
}

/* What the parts of the nest share. */
struct gemm {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct shape p;
	struct row_split rows;
	int64_t nr, tiles; /* columns of a tile, tiles of columns */
	int src, weights, packed_a, packed_b;
	int vm, vn, vk, vtm, vtn, vrest, vchunks; /* symbols */
	int va_row, vb_tile, vc_row;
	struct brgemm g;
	struct brgemm_out out;
	int batch, chunk;	  /* loop variables; chunk -1 if there is one chunk */
	struct affine k0, kn;	  /* first k of the chunk, how many */
	int t0, t1, row0, j0, j1; /* the block: tiles of rows, its first row, tiles of columns */
};

static void declare(struct gemm *s)
{
	struct nest *n = s->n;
	const struct workload *w = s->w;
	struct packing pb = {0}, pbias = {0};

	s->vm = nest_param(n, "M", s->p.m);
	s->vn = nest_param(n, "N", s->p.n);
	s->vk = nest_param(n, "K", s->p.k);
	s->vtm = nest_param(n, "TM", s->rows.tiles);
	s->vtn = nest_param(n, "TN", s->tiles);
	s->vrest = nest_param(n, "rest", s->rows.rest);
	s->vb_tile = nest_param(n, "Btile", s->p.k * s->nr);
	s->src = nest_arg(n, "src", TENSOR_SRC, s->p.b * s->p.m * s->p.k, 0);
	if (w->rhs_const) {
		int db = packing_dim(&pb, s->p.b), dk = packing_dim(&pb, s->p.k);
		int dn = packing_dim(&pb, s->p.n);

		if (w->op == &op_conv2d) { /* weights are oc x ic, not k x n */
			pb.extent[dk] = s->p.n;
			pb.extent[dn] = s->p.k;
			dn = dk;
			dk = 2;
		}
		packing_axis(&pb, db, s->p.b, 1);
		packing_axis(&pb, dn, s->tiles, s->nr);
		packing_axis(&pb, dk, s->p.k, 1);
		packing_axis(&pb, dn, s->nr, 1);
		s->weights = nest_packed(n, "B", TENSOR_WEIGHTS, &pb);
	} else {
		s->weights = nest_arg(n, "B", TENSOR_WEIGHTS, s->p.b * s->p.k * s->p.n, 0);
	}
	s->out.bias = -1;
	if (workload_has_post(w, POST_BIAS)) {
		int dn = packing_dim(&pbias, s->p.n);

		packing_axis(&pbias, dn, s->tiles * s->nr, 1);
		s->out.bias = nest_packed(n, "bias", TENSOR_BIAS, &pbias);
	}
	s->out.adds = workload_has_post(w, POST_ADD);
	s->out.c = nest_arg(n, "dst", TENSOR_DST, s->p.b * s->p.m * s->p.n, 1);
	s->out.npost = w->npost;
	s->out.post = w->post;
	brgemm_registers(n, &s->g, (int)s->k[VL], s->rows.rows + (s->rows.rest > 0), (int)s->k[NV]);
	s->g.unroll = (int)s->k[UNROLL];
}

/* The parallel loops: batch, then blocks of rows and columns in the order that the knob says. */
static void open_blocks(struct gemm *s)
{
	const int64_t *k = s->k;
	int64_t mc = k[MC] ? k[MC] : s->rows.tiles, nc = k[NC] ? k[NC] : s->tiles;
	struct nest *n = s->n;
	int vbm = nest_param(n, "BM", ceil_div(s->rows.tiles, mc));
	int vbn = nest_param(n, "BN", ceil_div(s->tiles, nc));
	int vmc = nest_param(n, "mc", mc), vnc = nest_param(n, "nc", nc);
	int vb = nest_param(n, "batch", s->p.b);
	int im, in;

	s->batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(vb));
	if (k[PAR]) {
		in = nest_for(n, LOOP_PARALLEL, "jb", af(0), af_var(vbn));
		im = nest_for(n, LOOP_PARALLEL, "ib", af(0), af_var(vbm));
	} else {
		im = nest_for(n, LOOP_PARALLEL, "ib", af(0), af_var(vbm));
		in = nest_for(n, LOOP_PARALLEL, "jb", af(0), af_var(vbn));
	}
	s->t0 = nest_let(n, "t", af_times(af_var(im), vmc));
	s->t1 = nest_let_min(n, "t", af_add(af_var(s->t0), af_var(vmc)), af_var(s->vtm));
	s->j0 = nest_let(n, "j", af_times(af_var(in), vnc));
	s->j1 = nest_let_min(n, "j", af_add(af_var(s->j0), af_var(vnc)), af_var(s->vtn));
}

static void open_chunk(struct gemm *s)
{
	struct nest *n = s->n;
	int64_t kc = s->k[KC];
	int vkc, vchunks, kn;

	s->chunk = -1;
	s->k0 = af(0);
	s->kn = af_var(s->vk);
	if (!kc)
		return;
	vkc = nest_param(n, "kc", kc);
	vchunks = s->vchunks = nest_param(n, "chunks", ceil_div(s->p.k, kc));
	s->chunk = nest_for(n, LOOP_SERIAL, "kb", af(0), af_var(vchunks));
	s->k0 = af_var(nest_let(n, "k0", af_times(af_var(s->chunk), vkc)));
	kn = nest_let_min(n, "kn", af_var(vkc), af_sub(af_var(s->vk), s->k0));
	s->kn = af_var(kn);
}

/* First row of tile t (a variable): t * rows + min(t, rest). */
static struct affine row_of(struct gemm *s, int t)
{
	struct affine at = af_mul(af_var(t), s->rows.rows);
	int extra;

	if (!s->rows.rest)
		return at;
	extra = nest_let_min(s->n, "x", af_var(t), af_var(s->vrest));
	return af_add(at, af_var(extra));
}

static struct affine src_at(const struct gemm *s, struct affine row)
{
	int vsize = s->va_row; /* K: rows are dense */

	return af_add(af_times(row, vsize), s->k0);
}

static void pack_a(struct gemm *s)
{
	int64_t chunk = s->k[KC] ? s->k[KC] : s->p.k;
	int64_t row_tiles = s->k[MC] ? s->k[MC] : s->rows.tiles;
	int64_t max_rows = row_tiles * (s->rows.rows + (s->rows.rest > 0));
	struct nest *n = s->n;
	int lanes = s->g.lanes, vrow, vvec, m, v;
	const struct affine *valid;
	struct affine end;

	if (max_rows > s->p.m)
		max_rows = s->p.m;
	vrow = nest_param(n, "Arow", chunk);
	vvec = nest_param(n, "Avecs", ceil_div(chunk, lanes));
	s->packed_a = nest_work(n, "wa", max_rows * chunk);
	s->row0 = nest_let(n, "row", row_of(s, s->t0));
	end = row_of(s, s->t1);
	m = nest_for(n, LOOP_SERIAL, "m", af_var(s->row0), end);
	v = nest_for(n, LOOP_SERIAL, "v", af(0), af_var(vvec));
	valid = nest_keep(n, af_sub(s->kn, af_mul(af_var(v), lanes)));
	nest_store(n, s->packed_a,
		   af_add(af_times(af_sub(af_var(m), af_var(s->row0)), vrow),
			  af_mul(af_var(v), lanes)),
		   valid,
		   ex_load(n, s->g.a, lanes, af_add(src_at(s, af_var(m)), af_mul(af_var(v), lanes)),
			   valid));
	nest_close(n);
	nest_close(n);
	s->g.a_row = af_var(vrow);
}

static void pack_b(struct gemm *s)
{
	int64_t chunk = s->k[KC] ? s->k[KC] : s->p.k, nc = s->k[NC] ? s->k[NC] : s->tiles;
	struct nest *n = s->n;
	int lanes = s->g.lanes, vpanel = nest_param(n, "Bpanel", chunk * s->nr), j, k, v;
	const struct affine *valid;
	struct affine column;

	s->packed_b = nest_work(n, "wb", nc * chunk * s->nr);
	j = nest_for(n, LOOP_SERIAL, "j", af_var(s->j0), af_var(s->j1));
	k = nest_for(n, LOOP_SERIAL, "k", af(0), s->kn);
	v = nest_for(n, LOOP_UNROLL, "v", af(0), af(s->g.nv));
	column = af_add(af_mul(af_var(j), s->nr), af_mul(af_var(v), lanes));
	valid = s->p.n % s->nr ? nest_keep(n, af_sub(af_var(s->vn), column)) : NULL;
	nest_store(n, s->packed_b,
		   af_sum(af_times(af_sub(af_var(j), af_var(s->j0)), vpanel),
			  af_mul(af_var(k), s->nr), af_mul(af_var(v), lanes)),
		   NULL,
		   ex_load(n, s->g.b, lanes,
			   af_sum(af_times(af_add(s->k0, af_var(k)), s->vn), column), valid));
	nest_close(n);
	nest_close(n);
	nest_close(n);
	s->vb_tile = vpanel;
}

/* The next tile is below this one, or beside it. */
static void look_ahead(struct gemm *s)
{
	if (s->k[ORDER] == 0) {
		s->g.c_next = af(s->nr);
		return;
	}
	s->g.c_next = af_times(af(s->rows.rows), s->vn);
	if (!s->k[PACK_A])
		s->g.a_next = af_times(af(s->rows.rows), s->va_row);
}

static void tile(struct gemm *s, int t, int j)
{
	struct nest *n = s->n;
	struct affine row = row_of(s, t), column = af_mul(af_var(j), s->nr);
	const struct affine *valid =
		s->p.n % s->nr ? nest_keep(n, af_sub(af_var(s->vn), column)) : NULL;

	if (s->k[PACK_A]) {
		s->g.a_at = af_times(af_sub(row, af_var(s->row0)), s->g.a_row.t[0].var);
		s->g.a = s->packed_a;
	} else {
		s->g.a_at = src_at(s, row);
	}
	if (s->k[PACK_B]) {
		s->g.b_at = af_times(af_sub(af_var(j), af_var(s->j0)), s->vb_tile);
		s->g.b = s->packed_b;
	} else if (s->w->rhs_const) {
		s->g.b_at = af_add(af_times(af_var(j), s->vb_tile), af_mul(s->k0, s->nr));
	} else {
		s->g.b_at = af_add(af_times(s->k0, s->vn), column);
		s->g.b_valid = valid;
	}
	s->out.c_at = af_add(af_times(row, s->vn), column);
	s->out.valid = valid;
	s->out.bias_at = column;
	s->g.k = s->kn;
	if (s->k[AHEAD])
		look_ahead(s);
	if (s->rows.rest) {
		nest_if_less(n, af_var(t), af_var(s->vrest));
		brgemm_tile(n, &s->g, s->rows.rows + 1, &s->out, s->chunk, af_var(s->vchunks));
		nest_else(n);
	}
	brgemm_tile(n, &s->g, s->rows.rows, &s->out, s->chunk, af_var(s->vchunks));
	if (s->rows.rest)
		nest_close(n);
}

/* The batch's own tensors, as views. */
static void open_batch(struct gemm *s)
{
	struct nest *n = s->n;
	int va = nest_param(n, "Abatch", s->p.m * s->p.k),
	    vc = nest_param(n, "Cbatch", s->p.m * s->p.n);
	int vb = nest_param(n, "Bbatch",
			    s->w->rhs_const ? s->tiles * s->p.k * s->nr : s->p.k * s->p.n);
	struct affine b = af_var(s->batch);

	s->g.a = nest_view(n, "Asrc", s->src, af_times(b, va));
	s->g.b = nest_view(n, "Bsrc", s->weights, af_times(b, vb));
	s->out.c = nest_view(n, "C", s->out.c, af_times(b, vc));
	s->va_row = s->vk;
	s->g.a_row = af_var(s->vk);
	s->g.b_k = s->w->rhs_const || s->k[PACK_B] ? af(s->nr) : af_var(s->vn);
	s->out.c_row = af_var(s->vn);
}

static int gemm_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct gemm s = {.n = n, .w = w, .k = k};
	int t, j;

	if (!shape_of(w, &s.p))
		return err_set(e, "gemm does not apply to this workload");
	s.rows = row_split(s.p.m, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.n, s.nr);
	declare(&s);
	open_blocks(&s);
	open_batch(&s);
	open_chunk(&s);
	if (k[PACK_A])
		pack_a(&s);
	if (k[PACK_B])
		pack_b(&s);
	if (k[ORDER]) {
		j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
		t = nest_for(n, LOOP_SERIAL, "t", af_var(s.t0), af_var(s.t1));
	} else {
		t = nest_for(n, LOOP_SERIAL, "t", af_var(s.t0), af_var(s.t1));
		j = nest_for(n, LOOP_SERIAL, "j", af_var(s.j0), af_var(s.j1));
	}
	tile(&s, t, j);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_gemm = {
	.name = "gemm",
	.summary = "Blocked matrix product over a register tile; matmul and 1x1 convolution.",
	.target = "cpu",
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.space = gemm_space,
	.valid = gemm_valid,
	.build = gemm_build,
};
