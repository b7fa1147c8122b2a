#include "lib/schedule/implicit.h"

#include "lib/nest/box.h"
#include "lib/space/knob.h"

enum { LANES = 4, MOST_TAP = 255 };

/* ---- the product ---- */

static int lanes_of(int64_t a, int64_t b)
{
	return a % LANES || b % LANES ? 1 : LANES;
}

static void product(const struct workload *w, struct implicit *p)
{
	p->b = w->dim[MATMUL_B];
	p->m = w->dim[MATMUL_M];
	p->n = w->dim[MATMUL_N];
	p->k = w->dim[MATMUL_K];
	p->taps = 1;
	p->packed = w->rhs_const;
	p->src_lanes = lanes_of(p->k, p->k);
	p->dst_lanes = lanes_of(p->n, p->n);
}

static void convolution(const struct workload *w, struct implicit *p)
{
	p->is_conv = p->packed = 1;
	p->nchw = w->layout == LAYOUT_NCHW;
	p->b = p->c.g;
	p->m = p->c.mb * p->c.oh * p->c.ow;
	p->n = p->c.oc;
	p->k = p->c.ic;
	p->taps = p->c.kh * p->c.kw;
	p->src_lanes = p->nchw ? 1 : lanes_of(p->c.ic, p->c.ic * p->c.g);
	p->dst_lanes = p->nchw ? 1 : lanes_of(p->c.oc, p->c.oc * p->c.g);
}

int implicit_of(const struct workload *w, struct implicit *p)
{
	*p = (struct implicit){.is_conv = 0};
	if (w->op == &op_matmul)
		product(w, p);
	else if (conv_of(w, &p->c))
		convolution(w, p);
	else
		return 0;
	p->weights_lanes = p->packed ? LANES : lanes_of(p->n, p->n);
	p->elem = elem_of(w->dtype.src);
	p->right = elem_of(w->dtype.wei);
	p->result = elem_of(w->dtype.dst);
	return 1;
}

static int64_t chunks_of_channels(const struct implicit *p)
{
	return ceil_div(p->k, p->bk);
}

int64_t implicit_chunks(const struct implicit *p)
{
	return chunks_of_channels(p) * p->taps;
}

int64_t implicit_panels(const struct implicit *p)
{
	return ceil_div(p->n, p->bn);
}

static void packing_of(const struct implicit *p, struct packing *w)
{
	if (!p->is_conv) {
		*w = (struct packing){
			.rank = 3,
			.extent = {p->b, p->k, p->n},
			.naxes = 5,
			.axis = {{0, p->b, 1},
				 {2, implicit_panels(p), p->bn},
				 {1, chunks_of_channels(p), p->bk},
				 {1, p->bk, 1},
				 {2, p->bn, 1}},
		};
		return;
	}
	*w = conv_packing(&p->c, p->bn, p->bk, 1, 0);
}

/* The last two axes, the values and columns of a chunk, change places where columns are to lie
 * together. */
static int panels(struct nest *n, const struct implicit *p)
{
	struct packing w;

	packing_of(p, &w);
	if (p->by_columns) {
		int last = w.naxes - 1;

		w.axis[last].dim = w.axis[last - 1].dim;
		w.axis[last].n = p->bk;
		w.axis[last - 1].dim = p->is_conv ? 1 : 2;
		w.axis[last - 1].n = p->bn;
	}
	return nest_packed(n, "w", TENSOR_WEIGHTS, &w);
}

/* Everything in memory is of the workload's types, but the bias: its values are of such a type, but
 * are packed in single precision, in which they are added. */
static void set_types(struct nest *n, const struct implicit *p)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (i == p->weights)
			nest_elem(n, i, p->right);
		else if (n->buffer[i].kind == BUFFER_ARG)
			nest_elem(n, i, i == p->src ? p->elem : p->result);
}

void implicit_declare(struct nest *n, const struct workload *w, struct implicit *p)
{
	struct extent bias[] = {{p->b, p->b}, {p->n, implicit_panels(p) * p->bn}};

	p->src = nest_arg(n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	if (p->packed)
		p->weights = panels(n, p);
	else
		p->weights = nest_arg(n, "w", TENSOR_WEIGHTS, p->b * p->k * p->n, 0);
	operand_out(n, w, operand_bias(n, w, p->is_conv ? 2 : 1, p->is_conv ? bias : bias + 1),
		    workload_size(w, TENSOR_DST), &p->out);
	set_types(n, p);
}

/* ---- blocks and chunks ---- */

int implicit_blocks(struct nest *n, const struct implicit *p, int64_t parts, int by_rows,
		    int *batch, struct affine *row, struct affine *panel)
{
	int64_t rows = ceil_div(p->m, p->bm), panels = implicit_panels(p);
	int part, outer, inner;

	*batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af(p->b));
	part = nest_for(n, LOOP_PARALLEL, "s", af(0), af(parts));
	outer = nest_for(n, LOOP_PARALLEL, by_rows ? "i" : "j", af(0), af(by_rows ? rows : panels));
	inner = nest_for(n, LOOP_PARALLEL, by_rows ? "j" : "i", af(0), af(by_rows ? panels : rows));
	*row = af_mul(af_var(by_rows ? outer : inner), p->bm);
	*panel = af_var(by_rows ? inner : outer);
	return part;
}

void implicit_part(struct nest *n, const struct implicit *p, int64_t parts, int part,
		   struct affine *first, struct affine *end)
{
	int64_t all = implicit_chunks(p), chunks = ceil_div(all, parts);

	*first = af_mul(af_var(part), chunks);
	*end = af_add(*first, af(chunks));
	if (all % parts)
		*end = af_var(nest_let_min(n, "end", *end, af(all)));
}

struct implicit_chunk implicit_chunk(struct nest *n, const struct implicit *p, int q)
{
	struct implicit_chunk c = {.q = q, .row = af(0), .column = af(0)};
	int channels = q, tap;

	if (p->taps > 1) {
		channels = nest_let_div(n, "cc", af_var(q), p->taps);
		tap = nest_let_mod(n, "tap", af_var(q), p->taps);
		c.row = af_var(nest_let_div(n, "kh", af_var(tap), p->c.kw));
		c.column = af_var(nest_let_mod(n, "kw", af_var(tap), p->c.kw));
	}
	c.channel = af_mul(af_var(channels), p->bk);
	return c;
}

/* ---- the left side ---- */

/* What must lie below an end, and, if it may be negative, not below 0, for an element to be there.
 */
struct bounds {
	int n;
	struct {
		struct affine i;
		int64_t end;
		int from_below;
	} of[4];
};

static void bound(struct bounds *b, struct affine i, int64_t end, int from_below)
{
	b->of[b->n].i = i;
	b->of[b->n].end = end;
	b->of[b->n++].from_below = from_below;
}

/* Opens a branch for each. */
static void if_inside(struct nest *n, const struct bounds *b)
{
	for (int i = 0; i < b->n; i++) {
		if (b->of[i].from_below)
			nest_if_less(n, af(-1), b->of[i].i);
		nest_if_less(n, b->of[i].i, af(b->of[i].end));
	}
}

/* `lanes` if all hold, else no more than 0. NULL: there are none. */
static const struct affine *valid_inside(struct nest *n, const struct bounds *b, int lanes)
{
	struct affine held = af(1 - b->n);

	for (int i = 0; i < b->n; i++)
		held = af_add(held, af_var(nest_let_in(n, "in", b->of[i].i, af(b->of[i].end))));
	return b->n ? nest_keep(n, af_mul(held, lanes)) : NULL;
}

/* Row, a pixel, as a variable each for image, row and column of the image. */
struct pixel {
	struct affine image, row, column;
};

static struct pixel pixel_of(struct nest *n, const struct implicit *p, struct affine row)
{
	int64_t pixels = p->c.oh * p->c.ow;
	struct pixel x;
	int rest;

	x.image = af_var(nest_let_div(n, "img", row, pixels));
	rest = nest_let_mod(n, "rest", row, pixels);
	x.row = af_var(nest_let_div(n, "oh", af_var(rest), p->c.ow));
	x.column = af_var(nest_let_mod(n, "ow", af_var(rest), p->c.ow));
	return x;
}

/* Does pixel m of the output have pixel m of the input alone? */
static int is_pointwise(const struct implicit *p)
{
	return p->taps == 1 && !p->c.padded && p->c.sh == 1 && p->c.sw == 1 && p->c.oh == p->c.ih &&
	       p->c.ow == p->c.iw && !p->nchw;
}

/* Where a channel is, counted from the open chunk's first, and what must hold for it to be there.
 */
static struct affine source_at(struct nest *n, const struct implicit *p,
			       const struct implicit_chunk *c, int batch, struct affine row,
			       struct affine channel, struct bounds *inside)
{
	struct access a = conv_src(&p->c, p->src);
	struct pixel x;
	int ih, iw;

	inside->n = 0;
	channel = af_add(c->channel, channel);
	if (p->m % p->bm)
		bound(inside, row, p->m, 0);
	if (p->k % p->bk)
		bound(inside, channel, p->k, 0);

	if (!p->is_conv)
		return af_sum(af_mul(af_var(batch), p->m * p->k), af_mul(row, p->k), channel);
	if (is_pointwise(p))
		return af_sum(af_mul(row, p->b * p->k), af_mul(af_var(batch), p->k), channel);
	x = pixel_of(n, p, row);
	ih = nest_let(n, "ih",
		      af_sum(af_mul(x.row, p->c.sh), af_mul(c->row, p->c.dh), af(-p->c.ph)));
	iw = nest_let(n, "iw",
		      af_sum(af_mul(x.column, p->c.sw), af_mul(c->column, p->c.dw), af(-p->c.pw)));
	if (p->c.padded) {
		bound(inside, af_var(ih), p->c.ih, 1);
		bound(inside, af_var(iw), p->c.iw, 1);
	}
	if (p->nchw)
		return af_sum(af_mul(x.image, p->b * p->k * p->c.ih * p->c.iw),
			      af_mul(af_var(batch), p->k * p->c.ih * p->c.iw),
			      af_mul(channel, p->c.ih * p->c.iw), af_mul(af_var(ih), p->c.iw),
			      af_var(iw));
	return access_at(&a, {CONV_IMAGE, x.image}, {CONV_ROW, af_var(ih)},
			 {CONV_COLUMN, af_var(iw)}, {CONV_GROUP, af_var(batch)},
			 {CONV_CHANNEL, channel});
}

void implicit_source(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		     int batch, struct affine row, struct affine channel, int reg,
		     struct affine reg_at)
{
	const int depth = n->depth;
	struct bounds inside;
	struct affine at;

	nest_store(n, reg, reg_at, NULL, ex_const(n, ELEM_F32, p->src_lanes, 0));
	at = source_at(n, p, c, batch, row, channel, &inside);
	if_inside(n, &inside);
	nest_store(n, reg, reg_at, NULL, ex_load(n, p->src, p->src_lanes, at, NULL));
	nest_close_to(n, depth);
}

/* Asynchronously, where that is possible. */
static void copy(struct nest *n, int to, struct affine to_at, int from, struct affine at, int lanes,
		 const struct affine *valid)
{
	if (lanes * elem_size(n->buffer[from].elem) >= 4)
		nest_copy(n, to, to_at, from, at, lanes, valid);
	else
		nest_store(n, to, to_at, NULL, ex_load(n, from, lanes, at, valid));
}

void implicit_copy_source(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			  int batch, struct affine row, struct affine channel, int lanes, int to,
			  struct affine to_at)
{
	struct bounds inside;
	struct affine at = source_at(n, p, c, batch, row, channel, &inside);

	copy(n, to, to_at, p->src, at, lanes, valid_inside(n, &inside, lanes));
}

/* A matrix is an image of one row. */
static struct box box_of(const struct implicit *p)
{
	struct box b = {.from = p->src,
			.images = p->b,
			.height = 1,
			.width = p->m,
			.channels = p->k,
			.down = 1,
			.across = p->m,
			.step_down = 1,
			.step_across = 1,
			.positions = (int)p->bm,
			.values = (int)p->bk};

	if (!p->is_conv)
		return b;
	b.images = p->c.mb;
	b.height = p->c.ih;
	b.width = p->c.iw;
	b.channels = p->b * p->k;
	b.down = p->c.oh;
	b.across = p->c.ow;
	b.first_row = (int)-p->c.ph;
	b.first_column = (int)-p->c.pw;
	b.step_down = (int)p->c.sh;
	b.step_across = (int)p->c.sw;
	return b;
}

const char *implicit_box_refusal(const struct implicit *p)
{
	const struct box b = box_of(p);

	if (p->nchw)
		return "the channels of a pixel are apart";
	if (p->is_conv && p->b > 1 && p->k % p->bk)
		return "a box would have channels of two groups";
	if (p->is_conv &&
	    ((p->c.kh - 1) * p->c.dh > MOST_TAP || (p->c.kw - 1) * p->c.dw > MOST_TAP))
		return "a tap is further than 255 pixels from the first one";
	return box_refusal(&b, elem_size(p->elem));
}

int implicit_box(struct nest *n, const struct implicit *p)
{
	const struct box b = box_of(p);

	return nest_box(n, &b);
}

void implicit_copy_box(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		       int batch, struct affine row, int box, int to, struct affine to_at)
{
	struct box_place x = {.image = af_var(batch), .column = row, .channel = c->channel};
	struct pixel first;

	if (p->is_conv) {
		first = pixel_of(n, p, row);
		x.image = first.image;
		x.row = af_add(af_mul(first.row, p->c.sh), af(-p->c.ph));
		x.column = af_add(af_mul(first.column, p->c.sw), af(-p->c.pw));
		x.channel = af_add(af_mul(af_var(batch), p->k), c->channel);
		x.down = af_mul(c->row, p->c.dh);
		x.right = af_mul(c->column, p->c.dw);
	}
	nest_copy_box(n, to, to_at, box, &x);
}

/* The most of 16 bytes, or of a half or quarter of them, in which a row of so many has whole ones;
 * else one. Both sides have elements of one size. */
static int copy_lanes(const struct implicit *p, int64_t row)
{
	int lanes = 16 / elem_size(p->elem);

	while (lanes > 1 && row % lanes)
		lanes /= 2;
	return lanes * elem_size(p->elem) < 4 ? 1 : lanes;
}

int implicit_source_lanes(const struct implicit *p)
{
	return p->nchw ? 1 : copy_lanes(p, p->k);
}

int implicit_right_lanes(const struct implicit *p)
{
	if (p->packed)
		return 16 / elem_size(p->elem);
	return p->by_columns ? 1 : copy_lanes(p, p->n);
}

/* ---- the right side ---- */

/* Where value k and column `column` of the open chunk are. */
static struct affine right_at(const struct implicit *p, const struct implicit_chunk *c, int batch,
			      struct affine panel, struct affine k, struct affine column,
			      struct bounds *inside)
{
	const int64_t chunk = p->bk * p->bn, of_panel = chunk * implicit_chunks(p);

	inside->n = 0;
	if (p->packed)
		return af_sum(af_mul(af_var(batch), of_panel * implicit_panels(p)),
			      af_mul(panel, of_panel), af_mul(af_var(c->q), chunk),
			      p->by_columns ? k : af_mul(k, p->bn),
			      p->by_columns ? af_mul(column, p->bk) : column);
	k = af_add(c->channel, k);
	column = af_add(af_mul(panel, p->bn), column);
	if (p->k % p->bk)
		bound(inside, k, p->k, 0);
	if (p->n % p->bn)
		bound(inside, column, p->n, 0);
	return af_sum(af_mul(af_var(batch), p->k * p->n), af_mul(k, p->n), column);
}

void implicit_right(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		    int batch, struct affine panel, struct affine k, struct affine column, int reg,
		    struct affine reg_at)
{
	const int depth = n->depth;
	struct bounds inside;
	struct affine at = right_at(p, c, batch, panel, k, column, &inside);

	if (inside.n)
		nest_store(n, reg, reg_at, NULL, ex_const(n, ELEM_F32, p->weights_lanes, 0));
	if_inside(n, &inside);
	nest_store(n, reg, reg_at, NULL, ex_load(n, p->weights, p->weights_lanes, at, NULL));
	nest_close_to(n, depth);
}

void implicit_copy_right(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			 int batch, struct affine panel, struct affine k, struct affine column,
			 int lanes, int to, struct affine to_at)
{
	struct bounds inside;
	struct affine at = right_at(p, c, batch, panel, k, column, &inside);

	copy(n, to, to_at, p->weights, at, lanes, valid_inside(n, &inside, lanes));
}

void implicit_copy_chunk(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			 int batch, struct affine panel, int to, struct affine to_at)
{
	struct bounds none;
	struct affine at = right_at(p, c, batch, panel, af(0), af(0), &none);

	nest_copy(n, to, to_at, p->weights, at, (int)(p->bk * p->bn), NULL);
}

/* ---- the result ---- */

static struct affine result_at(struct nest *n, const struct implicit *p, int batch,
			       struct affine row, struct affine column)
{
	int64_t pixels = p->c.oh * p->c.ow;
	int image, rest;

	if (!p->is_conv)
		return af_sum(af_mul(af_var(batch), p->m * p->n), af_mul(row, p->n), column);
	if (!p->nchw)
		return af_sum(af_mul(row, p->b * p->n), af_mul(af_var(batch), p->n), column);
	image = nest_let_div(n, "img", row, pixels);
	rest = nest_let_mod(n, "rest", row, pixels);
	return af_sum(af_mul(af_var(image), p->b * p->n * pixels),
		      af_mul(af_var(batch), p->n * pixels), af_mul(column, pixels), af_var(rest));
}

void implicit_store(struct nest *n, const struct implicit *p, int batch, struct affine row,
		    struct affine column, const struct expr *x)
{
	const int depth = n->depth;
	struct affine bias = column, at;
	int lane;

	if (p->is_conv)
		bias = af_add(af_mul(af_var(batch), implicit_panels(p) * p->bn), column);
	if (p->m % p->bm)
		nest_if_less(n, row, af(p->m));
	if (p->dst_lanes == 1) {
		lane = nest_for(n, LOOP_UNROLL, "l", af(0), af(LANES));
		x = ex_pick(n, x, af_var(lane));
		column = af_add(column, af_var(lane));
		bias = af_add(bias, af_var(lane));
	}
	if (p->n % p->bn)
		nest_if_less(n, column, af(p->n));
	at = result_at(n, p, batch, row, column);
	operand_store(n, &p->out, x, at, bias, NULL);
	nest_close_to(n, depth);
}
