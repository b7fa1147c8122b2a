/* The analytic draft of nests of blocks and threads, for GPUs. It is made to rank, not to be exact.
 *
 * A processor holds as many blocks as its threads, registers and memory allow. The grid runs in
 * waves of so many blocks on each processor (Volkov, "Better performance at lower occupancy", GTC
 * 2010). The time of a wave is the greatest of the times of its arithmetic, its instructions and
 * its accesses to the blocks' memory, and at least the latency of a block's waits. The time of the
 * kernel is at least the time to move its bytes between memory, second cache and processors. What a
 * block's threads load again comes from the first cache, as far as it has room (reach.h).
 *
 * The first warp of the first block stands for all: its threads' indices tell how its accesses fall
 * into banks and sectors (warp.h). Branches count for the share of warps and threads that take them
 * (branch.h), as far as conditions are known, and in the mean of all blocks and turns.
 *
 * The draft of such nests (lib/draft/occupancy.c) counts what a block does, how many blocks a
 * processor holds at a time, and the waves of the grid. Where the turns of a loop have inner loops
 * of different lengths, as a block's tiles have with stream_k, it counts them one by one. The
 * first block stands for all: none has more chunks. What a block's threads load again comes from
 * the first cache, as far as it has room: lib/draft/reach.c finds the elements that they load, so
 * that threads of few pixels do not seem to cost more of the second cache than they do. A warp by
 * itself issues an instruction in two cycles, and each turn of a loop waits for memory anew: few
 * threads with much to do take longer than many. (An H100 took 6.2 us for a depthwise convolution
 * with 19 blocks of 512 threads, and 4.7 us with 74 of 128; the draft says 5.1 and 3.9.) How many
 * registers a thread has is an estimate there, which tests hold against NVRTC's answer: only a
 * compile could tell, and the draft ranks what is not compiled. Results have what the compile made
 * of it (use). What a branch does counts for the warps (time of instructions) and the threads
 * (bytes) that take it, which lib/draft/branch.c finds from samples of all turns.
 */
#ifndef TL_DRAFT_OCCUPANCY_H
#define TL_DRAFT_OCCUPANCY_H

#include "lib/draft/warp.h"
#include "lib/nest/nest.h"
#include "lib/space/limits.h"

enum { OCCUPANCY_READ, OCCUPANCY_WRITE, OCCUPANCY_WAYS };

/* One phase. */
struct occupancy {
	/* These are one block's. */
	double fmas;				   /* of scalars */
	double instructions;			   /* of a thread, times its threads */
	double block_bytes;			   /* read from and written to the block's memory */
	double global_bytes;			   /* read from and written to memory */
	double l2_bytes;			   /* of them, what the first cache does not have */
	double mma_fmas;			   /* by tensor cores, of the product itself */
	double mma_cycles;			   /* of a processor's tensor cores */
	double mma_issues;			   /* of the instructions: theirs */
	double copied_bytes;			   /* of those from memory: asynchronously */
	double waits;				   /* loops over threads, one after the other */
	double latencies;			   /* waits for memory, likewise */
	double accesses;			   /* instructions of them that touch memory */
	struct warp_count banks[OCCUPANCY_WAYS];   /* of the block's memory, by its warps */
	struct warp_count sectors[OCCUPANCY_WAYS]; /* of memory, by its warps */
	/* These are the whole phase's. */
	double blocks; /* of the grid */
	int together;  /* blocks that one processor holds at a time */
	double threads_used, registers_used, memory_used; /* shares of a processor's, then */
	double waves;					  /* of the grid */
	double busy; /* share of the places for blocks in all waves that have one */
	/* If nothing else took time: */
	double arithmetic_s, issue_s, block_s, waiting_s, l2_s, launch_s;
	double seconds;
};

/* The registers that a thread needs, at least: those that the nest names in a phase, and addresses.
 */
int64_t occupancy_registers(const struct nest *n);
/* Predicts each phase. The kernel's seconds are the sum of theirs. Returns the number of phases. */
int occupancy_predict(const struct nest *n, const struct limits *m,
		      struct occupancy phase[NEST_PHASES]);

#endif
