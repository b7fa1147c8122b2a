/* Ranges: what each knob of an algorithm may be.
 *
 * An algorithm goes through its knobs in one function and says of each what it tiles or chooses.
 * The function is asked twice: for the values worth trying on a machine (struct algo's space), and
 * whether given knobs make a program (valid). So the two cannot disagree. Each range_*() adds
 * values to the list while values are listed, and notes the first reason against the knobs while
 * they are checked.
 */
#ifndef TL_SCHEDULE_RANGE_H
#define TL_SCHEDULE_RANGE_H

#include "lib/op/op.h"
#include "lib/space/knob.h"
#include "lib/space/limits.h"

/* The first knobs of all algorithms: lanes of a vector, vectors and rows of the register tile. */
enum range_tile { RANGE_VL, RANGE_NV, RANGE_MR, RANGE_TILE };

struct range {
	const struct limits *machine; /* while values are listed; otherwise NULL */
	struct knob_space *space;     /* likewise */
	const int64_t *knob;	      /* while knobs are checked; otherwise NULL */
	const char *why;	      /* the reason against them, or NULL */
	int halves;   /* both sides are split in halves of bf16 (lib/nest/tmul.h): tile registers */
	int64_t tmul; /* the depth of tile registers (range_tmul()); 0: vectors */
	/* Rows of the register tile, and columns (vl * nv): while values are listed, the least. */
	int64_t rows, columns;
};

/* Goes through the knobs of an algorithm: 1, or 0: it does not apply to the workload. */
typedef int range_list(const struct workload *w, struct range *r);
/* A struct algo's space and valid, by its list. */
int range_space(range_list *list, int nknobs, const struct workload *w, const struct limits *m,
		struct knob_space *s);
int range_valid(range_list *list, const struct workload *w, const int64_t *knob, const char **why);

/* Can a register tile be of this shape? 1, or 0 with the reason. */
typedef int range_fits(int64_t lanes, int64_t nv, int64_t rows, const char **why);
/* vl, nv and mr: up to `vectors` vectors by the rows of near-equal parts (row_split()) of extent.
 * In all lists here 0 is the end. Returns 0 where the knobs are refused, as most are, and nothing
 * more need be asked; otherwise 1. */
int range_register_tile(struct range *r, int vectors, int64_t extent, const int *rows,
			range_fits *fits);
/* Before the above: is the register tile one of tile registers (lib/tile/tile.h)? For an algorithm
 * that sums k values, with a packed right side, over `extent` rows. */
void range_tmul(struct range *r, int knob, const struct workload *w, int64_t k, int64_t extent);
/* Blocks of so many units each, of an extent; 0 is all of it, and what all of it fits in is written
 * so. */
void range_blocks(struct range *r, int knob, int64_t extent, int64_t unit, const int *values);
/* Blocks of k, the extent that is summed over. Some post-ops do not allow them: see
 * brgemm_chunks(). */
void range_chunks(struct range *r, int knob, const struct workload *w, int64_t extent,
		  const int *values);
/* Vectors of half the lanes, which are written for a machine of narrower ones, are not worth trying
 * with elements of other types: such a machine has no masks for them. */
void range_lanes(struct range *r, const struct workload *w);
/* The depth of brgemm's tile (lib/tile/tile.h), where k values are summed, in chunks if the knob
 * `chunk` says so (-1: never); packed: the right side is packed off the clock. Workloads in single
 * precision do not have the knob in their spaces. Returns the depth that the knobs, or all points
 * of the space, have; 1 where they are refused. */
int64_t range_depth(struct range *r, int knob, const struct workload *w, int64_t k, int chunk,
		    int packed);
/* Lists or checks the knob that says whether elements get wider before the products, not at each
 * load (tile_wide()), where the tile of this depth has them so. It does so on the left, if the knob
 * `copy` says that it is copied (what is copied of bf16 is always wide), and in a packed right
 * side. Single precision has 0 alone, and only where tile registers multiply halves. */
enum range_wide { RANGE_WIDE_LEFT = 1, RANGE_WIDE_RIGHT = 2 };
#define RANGE_WIDE_KNOB                                                                            \
	"Elements that are copied or packed in the wider type that is multiplied: 1: the left "    \
	"side's; 2: the right side's; 3: both."
void range_wide(struct range *r, int knob, const struct workload *w, int64_t depth, int copy);
/* 0, 1, .. last. */
void range_choice(struct range *r, int knob, int last);
/* One of these values, of which those are worth trying that are no larger than `most`, but at least
 * the first. */
void range_values(struct range *r, int knob, const int *values, int64_t most);
/* Knobs first .. last: 0 or 1 each. */
void range_flags(struct range *r, int first, int last);
/* After the above: here this value is the only one. why: the reason against others; NULL: they are
 * not worth trying, but make programs. */
void range_only(struct range *r, int knob, int64_t value, const char *why);
/* One more value is worth trying. */
void range_more(struct range *r, int knob, int64_t value);
/* Unrolling of a loop, at most `most` times. turns: those of the loop where they are a small
 * constant, so that their divisors leave no remainder; or 0. */
void range_unroll(struct range *r, int knob, int most, int64_t turns);
/* Whether to prefetch: worth it where activations have so many elements that they do not stay in
 * the cache (brgemm_may_look_ahead()); tile registers prefetch the right side instead. Where the
 * knob `order` is 1, the next panel of packed weights can be prefetched (block.h). */
enum { AHEAD_PANEL = 2 };
struct ahead {
	int order;	     /* knob */
	int64_t activations; /* elements */
	int64_t weights;     /* likewise, in panels; 0: they are not packed */
};
void range_ahead(struct range *r, int knob, const struct workload *w, const struct ahead *a);
/* Whether the result is written past the caches: where it does not stay in them until it is read,
 * nothing is added to it in place, and what is summed over is not in the chunks that the knob
 * `chunk` (-1: there is none) says. */
void range_stream(struct range *r, int knob, const struct workload *w, int chunk);
/* A condition on several knobs, when they are checked. */
void range_need(struct range *r, int holds, const char *why);
/* The register tile needs so many vector registers. */
void range_registers(struct range *r, int64_t needed);

#endif
