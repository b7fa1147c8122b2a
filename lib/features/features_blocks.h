/* Features of nests of blocks of threads, from what occupancy.h counts of their phases.
 *
 * Phases are added up: counts by the blocks that run them, times as they are. Shares of a
 * processor, and the waves of the grid, are those of the longest phase.
 *
 * Multiply-adds are those of threads and of tensor cores, where nothing else is said.
 */
#ifndef TL_FEATURES_FEATURES_BLOCKS_H
#define TL_FEATURES_FEATURES_BLOCKS_H

#include "lib/draft/draft.h"
#include "lib/features/feature_list.h"

/* NAME, group. The first four mean the same as in the list of other nests (features.h). */
#define BLOCK_FEATURE_LIST(X)                                                                      \
	X(flops, work)	      /* of the problem */                                                 \
	X(intensity, work)    /* flops a byte of the operands */                                   \
	X(roof_compute, work) /* share of the roofline time that arithmetic is */                  \
	X(draft, draft)	      /* predicted time over the roofline's */                             \
	X(arithmetic, draft)  /* and its parts, each as if it were all: multiply-adds, */          \
	X(issue, draft)	      /* instructions, */                                                  \
	X(block_memory, draft)                                                                     \
	X(waiting, draft)                                                                          \
	X(second_level, draft)                                                                     \
	X(launches, draft)                                                                         \
	X(waste, work_done)	   /* flops done over those needed */                              \
	X(fma_share, work_done)	   /* of the instructions of threads */                            \
	X(mma_share, work_done)	   /* multiply-adds by tensor cores, of all */                     \
	X(mma_issue, work_done)	   /* their instructions, of all */                                \
	X(copied, work_done)	   /* bytes copied asynchronously, of those asked of memory */     \
	X(accesses, work_done)	   /* of memory, an instruction */                                 \
	X(access_bytes, work_done) /* each, of the widest */                                       \
	X(waits, work_done)	   /* of a block for its threads, a multiply-add of each */        \
	X(threads, occupancy)	   /* of a block */                                                \
	X(registers, occupancy)	   /* of a thread, at least */                                     \
	X(together, occupancy)	   /* blocks that a processor holds at a time */                   \
	X(threads_used, occupancy) /* share of those that a processor holds */                     \
	X(registers_used, occupancy)                                                               \
	X(memory_used, occupancy)                                                                  \
	X(blocks, grid)                                                                            \
	X(blocks_each, grid) /* a processor */                                                     \
	X(waves, grid)                                                                             \
	X(busy, grid)	       /* share of all places for blocks that have one */                  \
	X(work_each, grid)     /* multiply-adds of a thread */                                     \
	X(phases, grid)	       /* each a launch */                                                 \
	X(longest, grid)       /* share of the time in the longest phase */                        \
	X(operands_l2, move)   /* their bytes over the second level's size */                      \
	X(partial, move)       /* bytes kept between phases, a byte of the operands */             \
	X(move_block, move)    /* bytes a flop of the blocks' memories, */                         \
	X(move_global, move)   /* that threads ask of memory, */                                   \
	X(move_l2, move)       /* in the sectors that these are in, */                             \
	X(move_memory, move)   /* and from memory, if the second level keeps what fits */          \
	X(again, move)	       /* bytes in sectors, a byte of the operands */                      \
	X(banks_read, pattern) /* cycles of banks over the least */                                \
	X(banks_written, pattern)                                                                  \
	X(sectors_read, pattern) /* of global memory over the least */                             \
	X(sectors_written, pattern)                                                                \
	X(block_reads, pattern) /* cycles of banks a multiply-add */

#define BLOCK_FEATURE_ENUM(name, group) BLOCK_FEATURE_##name,
enum { BLOCK_FEATURE_LIST(BLOCK_FEATURE_ENUM) BLOCK_FEATURES };
#undef BLOCK_FEATURE_ENUM

extern const struct feature_list features_blocks;

/* The draft has phases. f: BLOCK_FEATURES of them, which are NaN. */
void features_of_blocks(const struct draft *d, const struct rates *r, double flops, float *f);

#endif
