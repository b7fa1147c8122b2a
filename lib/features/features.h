/* Features: the input of a learned model, which describes a tensor program on a machine.
 *
 * All of them come from the nest and the walk over it. None depends on the names of operators,
 * algorithms or knobs, so one model serves them all. They are ratios to the machine's probed rates,
 * to its sizes, or to the work itself, mostly as binary logarithms. A feature without a meaning for
 * a nest is NaN, which the model takes as missing.
 *
 * This is the list of nests that threads of a processor run. Nests of blocks of threads have
 * another (features_blocks.h). The order and meaning of a list are part of a model file: its
 * features_version() changes with them.
 *
 * The draft knows the machine from documentation. tl-train learns from results what the draft gets
 * wrong, in the same terms. It uses eighty-nine features. All of them are computed from the nest
 * and from the walk that the draft makes over it (lib/draft/walk.c), none from the names of
 * operators, algorithms or knobs. They are cycles by port, the register tile, what each loop level
 * touches over the caches' sizes, the bytes that move into caches of fourteen sizes, and the
 * balance of the threads, each as a ratio. So one model serves all operators, and can rank
 * candidates of an algorithm that it has never seen.
 *
 * Blocks of threads have a list of their own (lib/features/features_blocks.h), from what
 * occupancy.c counts: how many blocks a processor holds and what limits them, waves and their
 * empty places, bytes by level, the instruction mix, waits, launches. The first warp's indices
 * tell how its accesses fall into banks and sectors (lib/draft/warp.h). A list has a version of
 * its own, so a feature of blocks does not invalidate the model of processors, which ships. A
 * model of one kind of kernel is refused for the other; none ships for blocks, so the draft ranks
 * there until tl-train --target has learned one.
 */
#ifndef TL_FEATURES_FEATURES_H
#define TL_FEATURES_FEATURES_H

#include <math.h>

#include "lib/draft/draft.h"
#include "lib/features/feature_list.h"
#include "lib/space/limits.h"
#include "lib/target/target.h"

enum { FEATURE_LEVELS = 5, FEATURE_SIZES = 14, FEATURE_OPERANDS = 5 };

/* NAME, group. Training may leave out a whole group. */
#define FEATURE_LIST(X)                                                                            \
	X(flops, work)	      /* of the problem */                                                 \
	X(intensity, work)    /* flops a byte of the operands */                                   \
	X(roof_compute, work) /* share of the roofline time that arithmetic is */                  \
	X(draft, draft)	      /* predicted time over the roofline's */                             \
	X(compute, draft)     /* and its parts: in the first-level cache, */                       \
	X(from_l2, draft)     /* moving from the second, */                                        \
	X(from_l3, draft)                                                                          \
	X(from_memory, draft)                                                                      \
	X(conflicts, draft) /* lines that push each other out */                                   \
	X(fork_join, draft)                                                                        \
	X(uneven, draft) /* share of cycles because blocks are not alike */                        \
	X(waste, ops)	 /* flops done over those needed */                                        \
	X(lanes, ops)	 /* lanes of a multiply-add, of the machine's */                           \
	X(loads, ops)	 /* a multiply-add, as the three below */                                  \
	X(stores, ops)                                                                             \
	X(ariths, ops)                                                                             \
	X(others, ops)                                                                             \
	X(scalars, ops)	  /* loads of one value */                                                 \
	X(straddles, ops) /* vectors that may lie across two lines */                              \
	X(masks, ops)                                                                              \
	X(prefetches, ops)    /* lines that nothing waits for, to the first-level cache, */        \
	X(prefetches_l2, ops) /* and to the second-level one */                                    \
	X(code, ops)	      /* operations in the text */                                         \
	X(registers, tile)    /* of the machine's */                                               \
	X(tile_fmas, tile)    /* in an iteration of the inner loop */                              \
	X(tile_loads, tile)   /* for each of them */                                               \
	X(tile_others, tile)                                                                       \
	X(tile_rate, tile)	 /* cycles of an iteration over those of its multiply-adds */      \
	X(tile_load_bound, tile) /* cycles of its loads over all */                                \
	X(tile_issue_bound, tile)                                                                  \
	X(tile_run, tile)	/* iterations of the inner loop */                                 \
	X(tile_share, tile)	/* of all cycles, in such loops */                                 \
	X(tile_fma_share, tile) /* of all multiply-adds, in the chosen one */                      \
	X(items, threads)                                                                          \
	X(items_each, threads)                                                                     \
	X(balance, threads) /* items over those of the slowest thread, times threads */            \
	X(item_cycles, threads)                                                                    \
	X(item_set, threads)	/* bytes of one over the second level's */                         \
	X(level1_trips, levels) /* iterations of the loop around the inner one; and */             \
	X(level1_l1, levels)	/* what one of them touches over the first- */                     \
	X(level1_l2, levels)	/* and second-level cache's size; and further out */               \
	X(level2_trips, levels)                                                                    \
	X(level2_l1, levels)                                                                       \
	X(level2_l2, levels)                                                                       \
	X(level3_trips, levels)                                                                    \
	X(level3_l1, levels)                                                                       \
	X(level3_l2, levels)                                                                       \
	X(level4_trips, levels)                                                                    \
	X(level4_l1, levels)                                                                       \
	X(level4_l2, levels)                                                                       \
	X(level5_trips, levels)                                                                    \
	X(level5_l1, levels)                                                                       \
	X(level5_l2, levels)                                                                       \
	X(inner_pages, levels) /* that a run of the inner loop touches */                          \
	X(whole_l2, levels)                                                                        \
	X(whole_l3, levels)                                                                        \
	X(scratch_l1, levels) /* the workspace's size */                                           \
	X(scratch_l2, levels)                                                                      \
	X(move_l1_8, curve) /* bytes a flop that move into a cache of an eighth */                 \
	X(move_l1_4, curve) /* of the first level's size, a quarter, ... */                        \
	X(move_l1_2, curve)                                                                        \
	X(move_l1_1, curve)                                                                        \
	X(move_l1x2, curve)                                                                        \
	X(move_l1x4, curve)                                                                        \
	X(move_l2_8, curve)                                                                        \
	X(move_l2_4, curve)                                                                        \
	X(move_l2_2, curve)                                                                        \
	X(move_l2_1, curve)                                                                        \
	X(move_l2x2, curve)                                                                        \
	X(move_l2x4, curve)                                                                        \
	X(move_l2x8, curve)                                                                        \
	X(move_l2x16, curve)                                                                       \
	X(src_l1, operands) /* bytes a flop of each operand into the first-level cache, */         \
	X(weights_l1, operands)                                                                    \
	X(dst_l1, operands)                                                                        \
	X(extra_l1, operands)                                                                      \
	X(scratch_move_l1, operands)                                                               \
	X(src_l2, operands) /* and into the second-level one */                                    \
	X(weights_l2, operands)                                                                    \
	X(dst_l2, operands)                                                                        \
	X(extra_l2, operands)                                                                      \
	X(scratch_move_l2, operands)                                                               \
	X(src_size, operands) /* over the second-level cache's */                                  \
	X(weights_size, operands)                                                                  \
	X(dst_size, operands)                                                                      \
	X(scratch_stores, operands) /* bytes copied into the workspace, a byte of src */           \
	X(element, work)	    /* bits of one of the source's, */                             \
	X(result, work)		    /* and of the result's */                                      \
	X(cold, cold) /* predicted time over that with warm caches; it is the last of all lists */

#define FEATURE_ENUM(name, group) FEATURE_##name,
enum { FEATURE_LIST(FEATURE_ENUM) FEATURES };
#undef FEATURE_ENUM

/* A row has FEATURES floats, whatever the list. Those beyond a shorter list are NaN. */

extern const struct feature_list features_threads;
/* The list of the nests for such a target. */
const struct feature_list *features_list(const struct target *t);
/* Do features of this list tell what candidates in these types cost? Those of a processor's threads
 * tell nothing of weights that have fewer bits than the source. */
int features_know(const struct feature_list *l, const struct dtypes *d);
/* The list of this version; NULL: none. */
const struct feature_list *features_find(const char *version, size_t n);
enum { FEATURES_VERSION = 8 };
/* 8 hex digits of a hash over names and groups, in order, and the revision of what they mean. */
void features_version(const struct feature_list *l, char version[FEATURES_VERSION + 1]);

/* How much less a candidate is worth because operands are cold, in the units of a model's values.
 */
static inline double features_cold(const float f[FEATURES])
{
	const double cold = (double)f[FEATURE_cold];

	return isnan(cold) ? 0 : cold;
}

/* Rates for a machine without a probe, from its cycles. */
void features_rates(const struct limits *m, struct rates *r);

/* flops: of the workload. The draft is that of the same nest and limits. */
void features_of(const struct draft *d, const struct rates *r, double flops, float f[FEATURES]);

#endif
