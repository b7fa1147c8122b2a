#include "lib/schedule/reorder.h"

#include "lib/schedule/conv.h"
#include "lib/schedule/operand.h"
#include "lib/tile/transpose.h"
#include "lib/space/knob.h"

enum { FEW_ROWS = 4 }; /* fewer are not worth a transposition: most of its rows would be empty */

static int is_reordered(const struct reorder *r)
{
	return r->w->layout == LAYOUT_NCHW;
}

/* Matrices one behind the other, each of rows x cols: the other buffer has them as cols x rows. */
struct matrices {
	struct nest *n;
	int lanes, from, to;
	int64_t count, rows, cols;
	struct transpose square; /* of a block */
};

/* A block of them: its first element, and its size, at most one vector each way. */
struct part {
	struct affine first, row, col;
	int64_t rows, cols;
};

static const struct affine *valid(struct nest *n, int64_t count, int lanes)
{
	return count < lanes ? nest_keep(n, af(count)) : NULL;
}

/* Rows that the block has not are zero. */
static void load_rows(const struct matrices *m, const struct part *p)
{
	struct nest *n = m->n;
	struct affine at;
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(p->rows));

	at = af_sum(p->first, af_mul(af_add(p->row, af_var(i)), m->cols), p->col);
	nest_store(n, m->square.regs[0], af_var(i), NULL,
		   ex_load(n, m->from, m->lanes, at, valid(n, p->cols, m->lanes)));
	nest_close(n);
	transpose_zero(&m->square, p->rows);
}

static void store_columns(const struct matrices *m, const struct part *p, int from)
{
	struct nest *n = m->n;
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(p->cols));

	nest_store(n, m->to, af_sum(p->first, af_mul(af_add(p->col, af_var(i)), m->rows), p->row),
		   valid(n, p->rows, m->lanes), ex_reg(n, from, af_var(i)));
	nest_close(n);
}

static void transpose_block(const struct matrices *m, const struct part *p)
{
	load_rows(m, p);
	store_columns(m, p, transpose_square(&m->square));
}

/* The same, one element after the other. */
static void copy_block(const struct matrices *m, const struct part *p)
{
	struct nest *n = m->n;
	int col = nest_for(n, LOOP_SERIAL, "col", p->col, af_add(p->col, af(p->cols)));
	int row = nest_for(n, LOOP_UNROLL, "row", af(0), af(p->rows));
	struct affine i = af_add(p->row, af_var(row)), j = af_var(col);

	nest_store(n, m->to, af_sum(p->first, af_mul(j, m->rows), i), NULL,
		   ex_load(n, m->from, 1, af_sum(p->first, af_mul(i, m->cols), j), NULL));
	nest_close(n);
	nest_close(n);
}

/* All rows of the open columns. */
static void columns(const struct matrices *m, struct part *p)
{
	struct nest *n = m->n;
	int64_t whole = m->rows / m->lanes, rest = m->rows % m->lanes;
	int i;

	if (whole) {
		i = nest_for(n, LOOP_SERIAL, "row", af(0), af(whole));
		p->row = af_mul(af_var(i), m->lanes);
		p->rows = m->lanes;
		transpose_block(m, p);
		nest_close(n);
	}
	if (!rest)
		return;
	p->row = af(whole * m->lanes);
	p->rows = rest;
	if (rest < FEW_ROWS)
		copy_block(m, p);
	else
		transpose_block(m, p);
}

/* A phase of its own, at the end or at the beginning of the nest. Threads share the columns. */
static void transpose(struct matrices *m)
{
	int64_t whole = m->cols / m->lanes, rest = m->cols % m->lanes;
	struct nest *n = m->n;
	struct part p;
	int image, j;

	m->square = transpose_of(n, m->lanes);
	image = nest_for(n, LOOP_PARALLEL, "img", af(0), af(m->count));
	j = nest_for(n, LOOP_PARALLEL, "col", af(0), af(whole + (rest > 0)));
	p.first = af_mul(af_var(image), m->rows * m->cols);
	p.col = af_mul(af_var(j), m->lanes);
	if (rest && whole)
		nest_if_less(n, af_var(j), af(whole));
	p.cols = m->lanes;
	if (whole)
		columns(m, &p);
	if (rest && whole)
		nest_else(n);
	p.cols = rest;
	if (rest)
		columns(m, &p);
	if (rest && whole)
		nest_close(n);
	nest_close(n);
	nest_close(n);
}

/* The tensors of a convolution, and of its source (is_src) or result. */
static struct matrices matrices(const struct reorder *r, int from, int to, int is_src)
{
	const int64_t *d = r->w->dim;

	return (struct matrices){
		.n = r->n,
		.lanes = r->lanes,
		.from = from,
		.to = to,
		.count = d[CONV_MB],
		.rows = is_src ? d[CONV_IC] : d[CONV_OC],
		.cols = is_src ? d[CONV_IH] * d[CONV_IW] : d[CONV_OH] * d[CONV_OW],
	};
}

/* What the nest reads of tensor `from`, nchw. */
static void to_nhwc(const struct reorder *r, int from, int to, int is_src)
{
	struct matrices m = matrices(r, from, to, is_src);

	transpose(&m);
	nest_sync(r->n);
}

struct reorder reorder_of(struct nest *n, const struct workload *w, int64_t lanes)
{
	return (struct reorder){.n = n, .w = w, .lanes = (int)lanes};
}

int reorder_src(struct reorder *r)
{
	int64_t size = workload_size(r->w, TENSOR_SRC);
	int src = nest_arg(r->n, "src", TENSOR_SRC, size, 0), pixels;

	if (!is_reordered(r))
		return src;
	pixels = nest_team(r->n, "src_nhwc", size);
	nest_elem(r->n, pixels, elem_of(r->w->dtype.src));
	to_nhwc(r, src, pixels, 1);
	return pixels;
}

/* Elements from the first of the result to its last, gaps and all. */
static int64_t span(const struct nest *n, const struct workload *w)
{
	const int64_t size = workload_size(w, TENSOR_DST);
	struct conv p;
	int64_t columns;

	if (!n->pitch)
		return size;
	columns = conv_of(w, &p) ? p.g * p.oc : w->dim[MATMUL_N];
	return (size / columns - 1) * n->pitch + columns;
}

void reorder_out(struct reorder *r, int bias, struct brgemm_out *o)
{
	const int64_t size = span(r->n, r->w);
	int mul;

	operand_out(r->n, r->w, bias, size, o);
	if (!is_reordered(r))
		return;
	r->dst = o->c;
	r->out = o->c = nest_team(r->n, "dst_nhwc", size);
	nest_elem(r->n, r->out, elem_of(r->w->dtype.dst));
	if (o->adds)
		to_nhwc(r, r->dst, r->out, 0);
	if (o->mul < 0)
		return;
	mul = o->mul;
	o->mul = nest_team(r->n, "mul_nhwc", size);
	nest_elem(r->n, o->mul, elem_of(r->w->dtype.dst));
	to_nhwc(r, mul, o->mul, 0);
}

static void to_nchw(const struct reorder *r)
{
	struct matrices m = matrices(r, r->out, r->dst, 0), back = m;

	back.rows = m.cols;
	back.cols = m.rows;
	nest_sync(r->n);
	transpose(&back);
}

void reorder_finish(struct reorder *r, int streams)
{
	if (is_reordered(r))
		to_nchw(r);
	if (streams)
		nest_stream(r->n);
}
