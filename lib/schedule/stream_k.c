#include "lib/schedule/stream_k.h"

#include "lib/space/knob.h"

enum { LANES = 4 };
enum { MOST_BLOCKS = 4096, MOST_CHUNKS = 1 << 29 };

/* ---- who has what ---- */

static void divide(struct stream_k *s)
{
	const struct implicit *p = s->p;
	int64_t waves;

	s->chunks = implicit_chunks(p);
	s->tiles = p->b * ceil_div(p->m, p->bm) * implicit_panels(p);
	waves = s->tiles / s->blocks;
	s->whole = waves > 1 ? waves - 1 : 0;
	s->shared = s->tiles - s->whole * s->blocks;
	s->each = ceil_div(s->shared * s->chunks, s->blocks);
	if (!s->whole) /* the last ones might have nothing */
		s->blocks = ceil_div(s->shared * s->chunks, s->each);
}

/* A block for each processor, or two. */
void stream_k_range(struct range *r, int knob)
{
	if (r->knob)
		range_need(r, r->knob[knob] >= 0 && r->knob[knob] <= MOST_BLOCKS,
			   "a knob is outside its range");
	range_more(r, knob, 0);
	for (int i = 1; r->space && r->machine->threads > 0 && i <= 2; i++)
		range_more(r, knob, (int64_t)i * r->machine->threads);
}

void stream_k_need(struct range *r, const struct implicit *p, int64_t blocks, int64_t ks)
{
	struct stream_k s = {.p = p, .blocks = blocks};

	if (!blocks || r->why)
		return;
	divide(&s);
	range_need(r, ks == 1, "the sum is shared by stream_k or by ks, not by both");
	range_need(r, s.tiles <= MOST_CHUNKS / s.chunks, "the tiles have too many chunks");
	range_need(r, s.tiles * s.chunks >= blocks, "there are more blocks than chunks");
	range_need(r, s.each % s.chunks, "the blocks have whole tiles: none is shared");
}

static int64_t part_size(const struct stream_k *s)
{
	return s->p->bm * s->p->bn;
}

void stream_k_declare(struct nest *n, struct stream_k *s)
{
	divide(s);
	s->buffer = nest_team(n, "parts", 2 * s->blocks * part_size(s));
}

/* ---- the first phase ---- */

/* The tile's batch, first row and panel. */
static void place(struct nest *n, const struct stream_k *s, struct affine tile, int *batch,
		  struct affine *row, struct affine *panel)
{
	int64_t rows = ceil_div(s->p->m, s->p->bm), panels = implicit_panels(s->p);
	int64_t inner = s->by_rows ? panels : rows;
	int high, low;

	*batch = nest_let_div(n, "b", tile, rows * panels);
	tile = af_var(nest_let_mod(n, "rest", tile, rows * panels));
	high = nest_let_div(n, s->by_rows ? "i" : "j", tile, inner);
	low = nest_let_mod(n, s->by_rows ? "j" : "i", tile, inner);
	*row = af_mul(af_var(s->by_rows ? high : low), s->p->bm);
	*panel = af_var(s->by_rows ? low : high);
}

/* a, or where `second` is 1 instead of 0, b. Both are at most `most`, and so is their difference.
 */
static struct affine choose(struct nest *n, const char *name, struct affine a, struct affine b,
			    struct affine second, int64_t most)
{
	a = af_add(a, af_mul(second, most));
	b = af_add(b, af_mul(af_sub(af(1), second), most));
	return af_var(nest_let_min(n, name, a, b));
}

/* The block's stretch of chunks is [begin, over). It lies in `touched` tiles; the block's whole
 * tiles follow. A turn behind the stretch has a shared tile's number, too, of which none of the
 * stretch's chunks are; there the end is made that of a whole tile. */
void stream_k_open(struct nest *n, struct stream_k *s, int *batch, struct affine *row,
		   struct affine *panel, struct affine *first, struct affine *end)
{
	const int64_t chunks = s->chunks, all = s->shared * chunks;
	struct affine block, begin, over, touched, turn, from, tile, is_whole = af(0);

	block = af_var(nest_for(n, LOOP_PARALLEL, "g", af(0), af(s->blocks)));
	begin = af_var(nest_let_min(n, "begin", af_mul(block, s->each), af(all)));
	over = af_var(nest_let_min(n, "over", af_add(begin, af(s->each)), af(all)));
	from = af_var(nest_let_div(n, "from", begin, chunks));
	touched = af_var(nest_let_div(n, "past", af_add(over, af(chunks - 1)), chunks));
	touched = af_var(nest_let(n, "touched", af_sub(touched, from)));
	turn = af_var(nest_for(n, LOOP_SERIAL, "u", af(0), af_add(touched, af(s->whole))));
	tile = af_add(from, turn);
	begin = af_sub(begin, af_mul(tile, chunks));
	over = af_sub(over, af_mul(tile, chunks));
	if (s->whole) {
		is_whole = af_sub(af(1), af_var(nest_let_in(n, "in", turn, touched)));
		over = af_add(over, af_mul(is_whole, (s->whole + 1) * chunks));
		tile = choose(
			n, "tile", tile,
			af_sum(af(s->shared), block, af_mul(af_sub(turn, touched), s->blocks)),
			is_whole, s->tiles + 3 * s->blocks);
	}
	*first = af_mul(af_var(nest_let_min(n, "before", af_mul(begin, -1), af(0))), -1);
	*end = af_var(nest_let_min(n, "end", over, af(chunks)));
	place(n, s, tile, batch, row, panel);
	s->slot =
		nest_let(n, "slot",
			 af_add(af_mul(block, 2), af_var(nest_let_in(n, "begins", *first, af(1)))));
	s->done = af_sub(*end, *first);
	s->row = *row;
	s->column = af_mul(*panel, s->p->bn);
}

static struct affine part_at(const struct stream_k *s, struct affine slot, struct affine row,
			     struct affine column)
{
	return af_sum(af_mul(slot, part_size(s)), af_mul(row, s->p->bn), column);
}

void stream_k_leave(struct nest *n, const struct stream_k *s, int batch, struct affine row,
		    struct affine column, const struct expr *x)
{
	nest_if_less(n, af(s->chunks - 1), s->done);
	implicit_store(n, s->p, batch, row, column, x);
	nest_else(n);
	nest_store(n, s->buffer,
		   part_at(s, af_var(s->slot), af_sub(row, s->row), af_sub(column, s->column)),
		   NULL, x);
	nest_close(n);
}

/* ---- the second phase ---- */

/* A sum begins as the part of the first block, and those of the blocks behind it, if any, are
 * added. */
static void add_parts(struct nest *n, const struct stream_k *s, int sum, int first, int last,
		      struct affine row, struct affine column)
{
	struct affine slot = af_add(af_mul(af_var(first), 2), af(1));
	int block;

	nest_store(n, sum, af(0), NULL,
		   ex_load(n, s->buffer, LANES, part_at(s, slot, row, column), NULL));
	block = nest_for(n, LOOP_SERIAL, "g", af_add(af_var(first), af(1)),
			 af_add(af_var(last), af(1)));
	slot = af_mul(af_var(block), 2);
	nest_store(n, sum, af(0), NULL,
		   ex_op(n, EXPR_ADD, ex_reg(n, sum, af(0)),
			 ex_load(n, s->buffer, LANES, part_at(s, slot, row, column), NULL), NULL));
	nest_close(n);
}

/* Threads share the vectors of each shared tile, unless one block had all of its chunks. */
void stream_k_finish(struct nest *n, const struct stream_k *s)
{
	int64_t across = s->p->bn / LANES, vectors = s->p->bm * across;
	int sum, tile, group, first, last, batch, thread, unit;
	struct affine tile_row, panel, row, column, begin;

	nest_sync(n);
	sum = nest_reg(n, "sum", ELEM_F32, LANES, 1, 1);
	tile = nest_for(n, LOOP_PARALLEL, "tile", af(0), af(s->shared));
	group = nest_for(n, LOOP_PARALLEL, "i", af(0), af(ceil_div(vectors, s->threads)));
	begin = af_mul(af_var(tile), s->chunks);
	first = nest_let_div(n, "first", begin, s->each);
	last = nest_let_div(n, "last", af_add(begin, af(s->chunks - 1)), s->each);
	nest_if_less(n, af_var(first), af_var(last));
	place(n, s, af_var(tile), &batch, &tile_row, &panel);
	thread = nest_for_threads(n, "t", s->threads);
	unit = nest_let(n, "unit", af_add(af_mul(af_var(group), s->threads), af_var(thread)));
	if (vectors % s->threads)
		nest_if_less(n, af_var(unit), af(vectors));
	row = af_var(nest_let_div(n, "row", af_var(unit), across));
	column = af_mul(af_var(nest_let_mod(n, "vector", af_var(unit), across)), LANES);
	add_parts(n, s, sum, first, last, row, column);
	implicit_store(n, s->p, batch, af_add(tile_row, row),
		       af_add(af_mul(panel, s->p->bn), column), ex_reg(n, sum, af(0)));
	nest_close_to(n, 0);
}
