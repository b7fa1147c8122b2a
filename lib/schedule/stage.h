/* Copies into a thread's workspace: what is read often is laid out as its reader wants it. */
#ifndef TL_SCHEDULE_STAGE_H
#define TL_SCHEDULE_STAGE_H

#include "lib/schedule/block.h"
#include "lib/schedule/operand.h"

/* How many elements parts of at least so many are to lie apart: an odd number of cache lines, for
 * else those that are written together would meet in few sets of the cache. */
int64_t stage_spaced(int64_t elements);

/* A contiguous run, vector by vector: to[to_at + i] = from[from_at + i], for i below count. If it
 * is one vector, zeros may follow, up to `room` elements in all (0: none follow). The copy may be
 * split in halves (PACKING_HALVES, lib/space/layout.h), with the second ones `half` elements behind
 * the first (0: it is not split). */
struct run {
	int lanes, to, from; /* buffers; from -1: zeros */
	struct affine to_at, from_at, count;
	int vectors; /* symbol: count in whole vectors, rounded up; -1: it is one vector at most */
	int64_t room, half;
};
void stage_run(struct nest *n, const struct run *r);
/* Rows [to->first, end) of a matrix: of each the run's count and vectors, its other fields are not
 * looked at. */
void stage_rows(struct nest *n, const struct window *from, const struct window *to,
		struct affine end, const struct run *row);
/* The open block's panels, of nv vectors of columns each, of a matrix whose rows are as long as
 * the symbol `columns`: to[panel, k, column] = from[k0 + k, column], for the open chunk of k. */
void stage_panels(struct nest *n, const struct block *panels, const struct chunk *chunk, int from,
		  int columns, const struct window *to, int lanes, int nv);
/* The same in groups (lib/nest/elem.h) of the matrix's rows, of which zeros follow until there are
 * `whole`. */
struct panel_groups {
	int from, columns, lanes, nv; /* as above */
	int64_t rows, whole;
	enum elem group;
};
void stage_groups(struct nest *n, const struct block *panels, const struct panel_groups *g,
		  const struct window *to);

#endif
