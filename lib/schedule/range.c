#include "lib/schedule/range.h"

#include <stddef.h>

#include "lib/nest/tmul.h"
#include "lib/space/isa.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/tile.h"

int range_space(range_list *list, int nknobs, const struct workload *w, const struct limits *m,
		struct knob_space *s)
{
	struct range r = {.machine = m, .space = s, .rows = 1, .columns = m->lanes};

	if (!list(w, &r))
		return 0;
	/* Knobs that the workload does not have keep their frozen value. */
	while (nknobs && !s->knob[nknobs - 1].n)
		nknobs--;
	s->n = nknobs;
	return 1;
}

int range_valid(range_list *list, const struct workload *w, const int64_t *knob, const char **why)
{
	struct range r = {.knob = knob};

	*why = "the algorithm does not apply to this workload";
	if (!list(w, &r))
		return 0;
	*why = r.why;
	return !r.why;
}

void range_need(struct range *r, int holds, const char *why)
{
	if (!holds && !r->why)
		r->why = why;
}

static void within(struct range *r, int knob, int64_t lo, int64_t hi)
{
	if (r->knob[knob] < lo || r->knob[knob] > hi)
		range_need(r, 0, "a knob is outside its range");
}

void range_more(struct range *r, int knob, int64_t value)
{
	if (r->space)
		knob_add(r->space, knob, value);
}

/* The highest of the near-equal parts. */
static int64_t part(int64_t extent, int64_t rows)
{
	struct row_split s = row_split(extent, rows);

	return s.rows + (s.rest > 0);
}

/* One row by many is bound by memory, and needs no tiles. */
void range_tmul(struct range *r, int knob, const struct workload *w, int64_t k, int64_t extent)
{
	enum { LEAST_ROWS = 4 };

	if (r->space && extent >= LEAST_ROWS && r->halves == dtypes_are_f32(&w->dtype))
		r->tmul = tile_tmul_depth(&w->dtype, r->machine->tiles, k);
	if (r->knob) {
		const struct tile *t = tile_of(&w->dtype, r->knob[knob]);

		r->tmul = t && t->most && t->halves == r->halves ? r->knob[knob] : 0;
	}
}

/* All tiles have the same rows, so that parts of two heights need more than one tile each. */
static int tiles_fit(struct range *r, int64_t extent)
{
	const int64_t *k = r->knob;
	const struct row_split s = row_split(extent, k[RANGE_MR] > 0 ? k[RANGE_MR] : 1);

	if (!brgemm_tiles_fit(k[RANGE_VL], k[RANGE_NV], k[RANGE_MR], 1, &r->why))
		return 0;
	r->why = "tile registers have rows for parts of one height";
	return !s.rest || s.rows >= TMUL_ROWS;
}

static int check_register_tile(struct range *r, int64_t extent, range_fits *fits)
{
	const int64_t *k = r->knob;

	if (r->tmul ? !tiles_fit(r, extent) : !fits(k[RANGE_VL], k[RANGE_NV], k[RANGE_MR], &r->why))
		return 0;
	r->why = "another value of mr gives the same program";
	r->rows = k[RANGE_MR];
	r->columns = k[RANGE_VL] * k[RANGE_NV];
	if (part(extent, r->rows) != r->rows)
		return 0;
	r->why = NULL;
	return 1;
}

int range_register_tile(struct range *r, int vectors, int64_t extent, const int *rows,
			range_fits *fits)
{
	static const int tile_rows[] = {16, 32, 48, 64, 96, 0};

	if (!r->space)
		return check_register_tile(r, extent, fits);
	if (r->tmul)
		rows = tile_rows;
	knob_add(r->space, RANGE_VL, r->machine->lanes);
	if (r->machine->lanes > 8)
		knob_add(r->space, RANGE_VL, r->machine->lanes / 2);
	for (int v = 1; v <= vectors; v++)
		knob_add(r->space, RANGE_NV, v);
	for (; *rows; rows++)
		knob_add(r->space, RANGE_MR, part(extent, *rows));
	return 1;
}

void range_blocks(struct range *r, int knob, int64_t extent, int64_t unit, const int *values)
{
	if (!r->space) {
		within(r, knob, 0, INT64_MAX);
		if (r->knob[knob] && r->knob[knob] >= ceil_div(extent, unit))
			range_need(r, 0, "a block of all is written as 0");
		return;
	}
	knob_add(r->space, knob, 0);
	for (; *values; values++)
		if (*values * unit < extent)
			knob_add(r->space, knob, *values);
}

void range_chunks(struct range *r, int knob, const struct workload *w, int64_t extent,
		  const int *values)
{
	range_blocks(r, knob, extent, 1, values);
	if (r->knob && r->knob[knob])
		range_need(r, brgemm_chunks(w->npost, w->post), brgemm_cannot_chunk);
	if (w->dtype.dst != DTYPE_F32 || dtype_is_int(w->dtype.src))
		range_only(r, knob, 0, "partial sums would be rounded");
}

void range_lanes(struct range *r, const struct workload *w)
{
	if (r->space && !dtypes_are_f32(&w->dtype))
		range_only(r, RANGE_VL, r->machine->lanes, NULL);
}

/* One depth is worth trying. */
static int64_t space_depth(struct range *r, int knob, const struct workload *w, int64_t k,
			   int packed)
{
	const int64_t depth = packed ? tile_depth(&w->dtype, r->machine->dots, k) : 1;
	const struct tile *t = tile_of(&w->dtype, depth);

	if (dtypes_are_f32(&w->dtype))
		return 1;
	range_lanes(r, w);
	knob_add(r->space, knob, depth);
	if (t->lanes)
		range_only(r, RANGE_VL, t->lanes, NULL);
	return depth;
}

int64_t range_depth(struct range *r, int knob, const struct workload *w, int64_t k, int chunk,
		    int packed)
{
	const struct tile *t;
	int64_t depth;

	if (r->space && r->tmul) {
		range_only(r, RANGE_VL, r->machine->lanes, NULL);
		knob_add(r->space, knob, r->tmul);
		return r->tmul;
	}
	if (r->space)
		return space_depth(r, knob, w, k, packed);
	depth = r->knob[knob];
	t = tile_of(&w->dtype, depth);
	range_need(r, t && t->halves == r->halves, "no tile multiplies these types so");
	if (!t)
		return 1;
	range_need(r, !t->lanes || t->lanes == r->knob[RANGE_VL],
		   "the tile multiplies vectors of other lanes");
	range_need(r, depth == 1 || packed, "a computed right side has no groups");
	if (t->spare)
		range_registers(r, (r->knob[RANGE_MR] + 1) * r->knob[RANGE_NV] + t->spare);
	range_need(r, k % depth == 0 && (chunk < 0 || r->knob[chunk] % depth == 0),
		   "what is summed, or a chunk of it, has no whole groups");
	return depth;
}

static void list_wide(struct range *r, int knob, enum elem wide)
{
	for (int ways = 0; ways <= (RANGE_WIDE_LEFT | RANGE_WIDE_RIGHT); ways++)
		if (!(ways & RANGE_WIDE_LEFT) || wide == ELEM_S16)
			knob_add(r->space, knob, ways);
}

/* All ways are worth trying: what is wide has twice the bytes. */
void range_wide(struct range *r, int knob, const struct workload *w, int64_t depth, int copy)
{
	const struct tile *t = tile_of(&w->dtype, depth);
	const enum elem is = elem_of(w->dtype.src), wide = t ? tile_wide(t, w->dtype.src) : is;

	if (r->space && wide != is)
		list_wide(r, knob, wide);
	else if (r->space && (!dtypes_are_f32(&w->dtype) || r->tmul))
		knob_add(r->space, knob, 0); /* the knob of depth, which follows, has a value */
	if (!r->knob)
		return;
	within(r, knob, 0, wide == is ? 0 : RANGE_WIDE_LEFT | RANGE_WIDE_RIGHT);
	range_need(r, !(r->knob[knob] & RANGE_WIDE_LEFT) || (r->knob[copy] && wide == ELEM_S16),
		   "a left side that is read in place, or copied wide anyway, has no wide copy");
}

void range_choice(struct range *r, int knob, int last)
{
	if (!r->space) {
		within(r, knob, 0, last);
		return;
	}
	for (int i = 0; i <= last; i++)
		knob_add(r->space, knob, i);
}

void range_values(struct range *r, int knob, const int *values, int64_t most)
{
	const int *v = values;

	if (r->space) {
		knob_add(r->space, knob, *v);
		while (*++v)
			if (*v <= most)
				knob_add(r->space, knob, *v);
		return;
	}
	while (*v && *v != r->knob[knob])
		v++;
	range_need(r, *v != 0, "a knob is outside its range");
}

void range_flags(struct range *r, int first, int last)
{
	for (int i = first; i <= last; i++)
		range_choice(r, i, 1);
}

void range_only(struct range *r, int knob, int64_t value, const char *why)
{
	if (r->space) {
		r->space->knob[knob].n = 0;
		knob_add(r->space, knob, value);
	} else if (why) {
		range_need(r, r->knob[knob] == value, why);
	}
}

void range_unroll(struct range *r, int knob, int most, int64_t turns)
{
	if (!r->space) {
		within(r, knob, 1, most);
		return;
	}
	for (int u = 1; u <= 4; u *= 2)
		knob_add(r->space, knob, u);
	for (int u = 5; u <= turns && turns <= most && turns % 4; u++)
		if (turns % u == 0)
			knob_add(r->space, knob, u);
}

/* Weights that the second cache cannot hold beside the rest come from the third one, and each panel
 * of them is read by all row tiles, the first of which waits. Products in fewer bits take so little
 * time that waiting for cold weights weighs from a small part of that cache on. */
static int is_far(const struct range *r, int64_t elements, enum dtype type)
{
	enum { PARTS = 2, PARTS_OF_NARROW = 16, BYTE = 8 };
	const int parts = type == DTYPE_F32 ? PARTS : PARTS_OF_NARROW;

	return elements * dtype_bits(type) / BYTE > r->machine->l2 / parts;
}

void range_ahead(struct range *r, int knob, const struct workload *w, const struct ahead *a)
{
	const int panels = r->tmul || a->weights;

	if (r->knob) {
		within(r, knob, 0, panels ? AHEAD_PANEL : 1);
		range_need(r, r->knob[knob] != AHEAD_PANEL || r->knob[a->order] == 1,
			   "the next panel is prefetched where rows are walked innermost");
		return;
	}
	if (r->tmul) {
		range_choice(r, knob, AHEAD_PANEL);
		return;
	}
	knob_add(r->space, knob, 0);
	if (brgemm_may_look_ahead(a->activations, r->machine))
		knob_add(r->space, knob, 1);
	if (panels && is_far(r, a->weights, w->dtype.wei))
		knob_add(r->space, knob, AHEAD_PANEL);
}

/* Measured with a third cache of 32 MB (docs/EXPERIMENTS.md, "Streaming stores"): of a result
 * of 4.8 MB the operator that reads it loses more than the kernel gains; of one of 12.8 MB both
 * gain. */
void range_stream(struct range *r, int knob, const struct workload *w, int chunk)
{
	enum { PARTS = 4 }; /* of the third cache */
	int64_t bytes = workload_tensor_bytes(w, TENSOR_DST, workload_size(w, TENSOR_DST));

	range_choice(r, knob, 1);
	if (r->space && (bytes < r->machine->l3 / PARTS || workload_has_post(w, POST_ADD)))
		range_only(r, knob, 0, NULL);
	if (r->knob && chunk >= 0)
		range_need(r, !r->knob[knob] || !r->knob[chunk],
			   "partial sums in the result are read again");
}

void range_registers(struct range *r, int64_t needed)
{
	if (r->knob)
		range_need(r, needed <= isa_of_lanes(r->knob[RANGE_VL])->vregs,
			   "the register tile needs more vector registers than there are");
}
