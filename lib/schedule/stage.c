#include "lib/schedule/stage.h"

#include <stddef.h>

#include "lib/space/knob.h"

enum { LINE = 16 }; /* elements of a cache line */

int64_t stage_spaced(int64_t elements)
{
	int64_t lines = ceil_div(elements, LINE);

	return (lines + (lines % 2 == 0)) * LINE;
}

/* Splits one vector. The first half is finite, so that infinity is left to the second one. NaN is
 * both. */
static void split_vector(struct nest *n, const struct run *r, struct affine step,
			 const struct affine *valid, const struct affine *written)
{
	static const double most = 0x1.fep127;
	const struct affine at = af_add(r->to_at, step);
	const struct expr *x = ex_load(n, r->from, r->lanes, af_add(r->from_at, step), valid);
	const struct expr *above = ex_const(n, ELEM_F32, r->lanes, -most);
	const struct expr *below = ex_const(n, ELEM_F32, r->lanes, most);

	nest_store(n, r->to, at, written,
		   ex_op(n, EXPR_MIN, below, ex_op(n, EXPR_MAX, above, x, NULL), NULL));
	nest_store(n, r->to, af_add(at, af(r->half)), written,
		   ex_op(n, EXPR_SUB, x, ex_load(n, r->to, r->lanes, at, written), NULL));
}

/* Splits the whole vectors in a loop, and what is left behind it, so that the loop needs no mask.
 */
static void split_run(struct nest *n, const struct run *r)
{
	const struct affine *left;
	int64_t count;

	if (r->vectors < 0) {
		left = nest_keep(n, r->count);
		split_vector(n, r, af(0), left, r->room ? nest_keep(n, af(r->room)) : left);
		return;
	}
	count = af_eval(n, &r->count, NULL);
	if (count >= r->lanes) {
		const int v = nest_for(n, LOOP_SERIAL, "v", af(0), af(count / r->lanes));

		split_vector(n, r, af_mul(af_var(v), r->lanes), NULL, NULL);
		nest_close(n);
	}
	left = nest_keep(n, af(count % r->lanes));
	if (left->c)
		split_vector(n, r, af(count - left->c), left, left);
}

/* Both halves of zero are zero. */
static void zero_halves(struct nest *n, const struct run *r)
{
	struct run half = *r;

	half.half = 0;
	stage_run(n, &half);
	half.to_at = af_add(half.to_at, af(r->half));
	stage_run(n, &half);
}

void stage_run(struct nest *n, const struct run *r)
{
	int loop = r->vectors >= 0, v;
	struct affine step = af(0);
	const struct affine *valid, *written;
	enum elem as = ELEM_F32; /* the printers know loops of copies as runs */

	if (r->half) {
		(r->from < 0 ? zero_halves : split_run)(n, r);
		return;
	}
	if (loop) {
		v = nest_for(n, LOOP_SERIAL, "v", af(0), af_var(r->vectors));
		step = af_mul(af_var(v), r->lanes);
	}
	valid = nest_keep(n, af_sub(r->count, step));
	if (!loop && r->from >= 0 && elem_is_whole(n->buffer[nest_base(n, r->from)].elem))
		as = ELEM_S32;
	written = r->room ? nest_keep(n, af(r->room)) : valid;
	nest_store(n, r->to, af_add(r->to_at, step), written,
		   r->from < 0
			   ? ex_const(n, ELEM_F32, r->lanes, 0)
			   : ex_load_as(n, as, r->from, r->lanes, af_add(r->from_at, step), valid));
	if (loop)
		nest_close(n);
}

void stage_rows(struct nest *n, const struct window *from, const struct window *to,
		struct affine end, const struct run *row)
{
	int m = nest_for(n, LOOP_SERIAL, "m", to->first, end);
	struct run r = *row;

	r.from = from->buffer;
	r.to = to->buffer;
	r.from_at = window_at(from, af_var(m));
	r.to_at = window_at(to, af_var(m));
	stage_run(n, &r);
	nest_close(n);
}

void stage_panels(struct nest *n, const struct block *panels, const struct chunk *chunk, int from,
		  int columns, const struct window *to, int lanes, int nv)
{
	int j = block_units(n, panels, "j");
	int k = nest_for(n, LOOP_SERIAL, "k", af(0), chunk->k);
	int v = nest_for(n, LOOP_UNROLL, "v", af(0), af(nv)), nr = nv * lanes;
	struct affine vector = af_mul(af_var(v), lanes);
	struct affine column = af_add(af_mul(af_var(j), nr), vector);
	struct affine row = af_times(af_add(chunk->k0, af_var(k)), columns);

	nest_store(
		n, to->buffer, af_sum(window_at(to, af_var(j)), af_mul(af_var(k), nr), vector),
		NULL,
		ex_load(n, from, lanes, af_add(row, column), operand_left(n, columns, nr, column)));
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

/* Packs the first `members` rows of a group to to[at]. */
static void stage_group(struct nest *n, const struct panel_groups *g, struct affine group,
			int members, struct affine column, int to, struct affine at)
{
	const int64_t size = elem_group(g->group);
	const int v = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	const struct affine vector = af_mul(af_var(v), g->lanes);
	const struct affine row = af_times(af_mul(group, size), g->columns);
	const struct affine first = af_add(column, vector);
	const struct members apart = {af_var(g->columns), 0, members};

	nest_store(n, to, af_add(at, af_mul(vector, size)), NULL,
		   ex_load_apart(n, g->from, g->group, g->lanes, af_add(row, first), &apart,
				 operand_left(n, g->columns, (int64_t)g->nv * g->lanes, first)));
	nest_close(n);
}

static void zero_group(struct nest *n, const struct panel_groups *g, int to, struct affine at)
{
	const int v =
		nest_for(n, LOOP_UNROLL, "v", af(0), af((int64_t)g->nv * elem_group(g->group)));

	nest_store(n, to, af_add(at, af_mul(af_var(v), g->lanes)), NULL,
		   ex_const(n, ELEM_F32, g->lanes, 0));
	nest_close(n);
}

void stage_groups(struct nest *n, const struct block *panels, const struct panel_groups *g,
		  const struct window *to)
{
	const int64_t size = elem_group(g->group), nr = (int64_t)g->nv * g->lanes, each = nr * size;
	const int64_t full = g->rows / size, some = ceil_div(g->rows, size);
	const int j = block_units(n, panels, "j");
	const struct affine column = af_mul(af_var(j), nr), at = window_at(to, af_var(j));
	int k = nest_for(n, LOOP_SERIAL, "k", af(0), af(full));

	stage_group(n, g, af_var(k), (int)size, column, to->buffer,
		    af_add(at, af_mul(af_var(k), each)));
	nest_close(n);
	if (some > full)
		stage_group(n, g, af(full), (int)(g->rows % size), column, to->buffer,
			    af_add(at, af(full * each)));
	if (some < g->whole / size) {
		k = nest_for(n, LOOP_SERIAL, "k", af(some), af(g->whole / size));
		zero_group(n, g, to->buffer, af_add(at, af_mul(af_var(k), each)));
		nest_close(n);
	}
	nest_close(n);
}
