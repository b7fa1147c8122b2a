#include "lib/schedule/image_block.h"

#include <stddef.h>

#include "lib/schedule/block.h"
#include "lib/space/knob.h"
#include "lib/tile/tile.h"

/* Image tiles of the block. */
static int64_t tiles_of(const struct image_block *s)
{
	return s->rows * s->cols;
}

/* ---- weights ---- */

_Static_assert((int)TOOM_MAX <= (int)MAP_ROWS, "transformed weights fit a packing's map");

static int fits(int64_t m, int64_t taps, int64_t block, int64_t kernel)
{
	return kernel == 1 || block == 1 ||
	       ((m + taps - 1) * block <= MAP_ROWS && kernel <= MAP_COLS);
}

int image_block_has(const struct image_kernel *k, const struct space_to_depth *d, int64_t m)
{
	return fits(m, k->kh, d->sh, d->kh) && fits(m, k->kw, d->sw, d->kw);
}

/* Are products of whole numbers? */
static int is_whole(const struct image_block *s)
{
	return s->g.sum == ELEM_S32;
}

/* Along a direction whose taps are taken by blocks: row v * block + i makes value v of taps i, i +
 * block, .. of the filter, which begin `before` taps earlier than the kernel. */
static void add_map(struct packing *p, int dim, const struct toom_matrix *g, int64_t block,
		    int64_t before)
{
	int64_t taps = p->extent[dim];
	struct packing_map *m = packing_map(p, dim, dim, g->rows * (int)block, (int)taps);

	for (int r = 0; r < m->rows; r++)
		for (int c = 0; c < g->cols; c++) {
			int64_t tap = c * block + r % block - before;

			if (tap >= 0 && tap < taps)
				m->m[r][tap] = g->m[r / block][c];
		}
}

void image_block_weights(struct image_block *s)
{
	const struct space_to_depth *d = &s->d;
	const struct image *t = &s->g;
	const int group = elem_group(t->elem);
	struct packing w = {0};
	int g = packing_dim(&w, s->groups), o = packing_dim(&w, s->width);
	int i = packing_dim(&w, d->ic);
	int kh = packing_dim(&w, d->kh), kw = packing_dim(&w, d->kw);

	if (d->kh > 1)
		add_map(&w, kh, &t->v.g, d->sh, d->top);
	if (d->kw > 1)
		add_map(&w, kw, &t->h.g, d->sw, d->left);
	packing_axis(&w, g, s->groups, 1);
	packing_axis(&w, o, s->panels, s->nr);
	packing_axis(&w, kh, t->v.n, d->sh);
	packing_axis(&w, kw, t->h.n, d->sw);
	if (d->sh > 1)
		packing_axis(&w, kh, d->sh, 1);
	if (d->sw > 1)
		packing_axis(&w, kw, d->sw, 1);
	packing_axis(&w, i, d->ic / group, group);
	packing_axis(&w, o, s->nr, 1);
	if (group > 1)
		packing_axis(&w, i, group, 1);
	s->weights = nest_packed(t->n, "w", TENSOR_WEIGHTS, &w);
}

/* Declares workspace in the elements that values have in memory. */
static int work(struct image_block *s, const char *name, int64_t size, enum elem whole)
{
	const int buffer = nest_work(s->g.n, name, size);

	if (is_whole(s))
		nest_elem(s->g.n, buffer, whole);
	return buffer;
}

void image_block_workspace(struct image_block *s, int nv, int max_rows, int unroll)
{
	const int group = elem_group(s->g.elem);
	struct nest *n = s->g.n;

	s->inputs = work(s, "V", s->values * tiles_of(s) * s->g.channels, ELEM_S16);
	s->products = work(s, "M", s->values * tiles_of(s) * s->nr, ELEM_S32);
	s->g.half = s->g.back = work(s, "H", image_half(&s->g), ELEM_S16);
	if (is_whole(s)) {
		s->g.back = work(s, "back", image_half(&s->g), ELEM_S32);
		s->b.tile = &tile_dot_s16;
	}
	brgemm_registers(n, &s->b, s->g.lanes, max_rows, nv);
	s->b.unroll = unroll;
	s->b.a = s->inputs;
	s->b.a_row = af(s->g.channels);
	s->b.b = s->weights;
	s->b.b_k = af(s->nr * group);
	s->b.k = af(s->depth / group);
}

/* ---- inputs ---- */

/* A tile of a block: where it is, and its number in the block. */
struct block_tile {
	struct image_tile at;
	struct affine number;
};

/* Loops over the block's image tiles; two to close. Their registers live in there. */
static struct block_tile open_tiles(struct image_block *s, enum elem elem)
{
	struct nest *n = s->g.n;
	struct block_tile t = {.at = {.from = s->from, .to = s->to}};
	int r = nest_for(n, LOOP_SERIAL, "r", af(0), af(s->rows));
	int c = nest_for(n, LOOP_SERIAL, "c", af(0), af(s->cols));

	transform_open(&s->g.f, n, elem, s->g.lanes, &s->g.v, &s->g.h);
	t.at.row = nest_let(n, "row", af_add(af_var(s->row0), af_var(r)));
	t.at.col = nest_let(n, "col", af_add(af_var(s->col0), af_var(c)));
	t.number = af_add(af_mul(af_var(r), s->cols), af_var(c));
	return t;
}

static void close_tiles(struct image_block *s)
{
	nest_close(s->g.n);
	nest_close(s->g.n);
}

void image_block_transform(struct image_block *s)
{
	struct block_tile t = open_tiles(s, s->g.elem);
	int64_t channels = s->g.channels;
	struct image_values to = {s->inputs, af_mul(t.number, channels), tiles_of(s) * channels};

	image_transform(&s->g, &t.at, s->src, &to);
	close_tiles(s);
}

/* ---- products ---- */

/* The values of a panel, and the panels, follow each other. */
static void look_ahead(struct image_block *s, struct affine tile)
{
	const int64_t next = s->depth * s->nr;

	block_panel_ahead(&s->b, &(struct panel_ahead){.at = af_add(s->b.b_at, af(next)),
						       .elements = next,
						       .tile = tile,
						       .tiles = s->split.tiles,
						       .steps = s->depth / elem_group(s->g.elem)});
}

static void multiply_tiles(struct image_block *s, int xi, int j, int64_t from, int64_t count,
			   int rows)
{
	int64_t channels = s->g.channels, panel = s->values * s->depth * s->nr;
	struct nest *n = s->g.n;
	struct affine group = af_add(s->group0, s->group);
	struct brgemm_out out = {
		.scale = -1, .shift = -1, .bias = -1, .c = s->products, .c_row = af(s->nr)};
	int t = nest_for(n, LOOP_SERIAL, "t", af(0), af(count));
	struct affine first = af_add(af(from), af_mul(af_var(t), rows));

	s->b.a_at = af_sum(af_mul(af_var(xi), tiles_of(s) * channels), af_mul(first, channels),
			   af_mul(s->group, s->depth));
	s->b.b_at = af_sum(af_mul(group, s->panels * panel), af_mul(af_var(j), panel),
			   af_mul(af_var(xi), s->depth * s->nr));
	if (s->ahead)
		look_ahead(s, af_add(af(from ? s->split.rest : 0), af_var(t)));
	out.c_at = af_add(af_mul(af_var(xi), tiles_of(s) * s->nr), af_mul(first, s->nr));
	brgemm_tile(n, &s->b, rows, &out, -1, af(0));
	nest_close(n);
}

/* The block's image tiles by one panel of a group's output channels. */
void image_block_multiply(struct image_block *s, int j)
{
	const struct row_split *r = &s->split;
	struct nest *n = s->g.n;
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
	const struct brgemm_out *out;
	struct affine first;
	const struct affine *valid;
	int whole; /* register of a whole sum, or -1 */
};

/* Returns what an odd number is multiplied by to make 1 of it, in 32 bits that wrap: each turn has
 * twice as many bits right. */
static int32_t inverse(uint32_t odd)
{
	enum { TURNS = 4 }; /* from 3 bits on */
	uint32_t x = odd;

	for (int i = 0; i < TURNS; i++)
		x *= 2 - odd * x;
	return (int32_t)x;
}

/* A sum that is so many times too large: the sum itself. As nothing is left over, the odd part of
 * the divisor has an inverse, also where what it is of has not had room in 32 bits. */
static const struct expr *divided(struct nest *n, const struct expr *x, int times)
{
	const int halves = __builtin_ctz((unsigned)times);
	const int32_t factor = inverse((uint32_t)times >> halves);

	if (factor != 1)
		x = ex_by(n, EXPR_TIMES, x, factor);
	return ex_by(n, EXPR_HALVES, x, halves);
}

/* Makes a whole sum of one that is so many times too large, and adds the bias. Returns it as the
 * result is made of it. */
static const struct expr *whole_sum(struct nest *n, const struct channels *c, int bias,
				    struct affine channel, const struct expr *x, int times)
{
	x = divided(n, x, times);
	if (bias >= 0)
		x = ex_op(n, EXPR_ADD, x, ex_load_whole(n, bias, x->lanes, channel, NULL), NULL);
	nest_store(n, c->whole, af(0), NULL, x);
	return n->buffer[nest_base(n, c->out->c)].elem == ELEM_S32 && !c->out->npost
		       ? ex_reg_as_is(n, c->whole, af(0))
		       : ex_reg(n, c->whole, af(0));
}

static void put_pixel(const struct image *g, struct affine at, struct affine channel,
		      const struct expr *x, void *arg)
{
	const struct channels *c = arg;

	struct brgemm_out out = *c->out;
	struct channels of = {.out = &out, .whole = c->whole};

	channel = af_add(c->first, channel);
	if (c->whole >= 0) {
		const int bias = brgemm_out_take_bias(&out);

		x = whole_sum(g->n, &of, bias, channel, x, g->v.times * g->h.times);
	}
	operand_store(g->n, &out, x, af_add(at, channel), channel, c->valid);
}

/* Vectors of channels of panel j from `first` on: so many, or the last one, which is not whole. */
static void transform_back(struct image_block *s, int j, struct affine first,
			   const struct affine *vectors)
{
	struct nest *n = s->g.n;
	int64_t rest = s->width % s->g.lanes;
	struct block_tile t = open_tiles(s, s->g.sum);
	struct affine channel = af_mul(af_add(s->group0, s->group), s->width);
	struct channels c = {&s->out, af_sum(channel, af_mul(af_var(j), s->nr), first),
			     vectors ? NULL : nest_keep(n, af(rest)), -1};
	struct image_values from = {s->products, af_add(af_mul(t.number, s->nr), first),
				    tiles_of(s) * s->nr};

	if (is_whole(s))
		c.whole = nest_reg(n, "whole", ELEM_S32, s->g.lanes, 1, 1);
	image_transform_back(&s->g, &t.at, &from, vectors, put_pixel, &c);
	close_tiles(s);
}

void image_block_finish(struct image_block *s, int j)
{
	struct nest *n = s->g.n;
	int64_t vl = s->g.lanes, nv = s->b.nv, full = s->width / vl, last = s->panels - 1;
	struct affine vectors = af(nv);

	if (full < s->panels * nv)
		vectors = af_var(nest_let_min(n, "vectors", af(nv),
					      af_sub(af(full), af_mul(af_var(j), nv))));
	if (full)
		transform_back(s, j, af(0), &vectors);
	if (s->width % vl == 0)
		return;
	if (last)
		nest_if_less(n, af(last - 1), af_var(j));
	transform_back(s, j, af((full - last * nv) * vl), NULL);
	if (last)
		nest_close(n);
}
