/* The analytic draft of nests of blocks and threads: what a GPU does with them, to rank and not to
 * be right.
 *
 * A processor holds as many blocks as its threads, registers and memory allow; the grid runs in
 * waves of so many blocks on each (Volkov, "Better performance at lower occupancy", GTC 2010). What
 * a wave takes is the greatest of what its arithmetic, its instructions and its accesses to the
 * blocks' memory take, but at least the latency of what a block waits for; and the kernel takes no
 * less than its bytes do between the second cache, memory and the processors.
 */
#ifndef TL_MODEL_OCCUPANCY_H
#define TL_MODEL_OCCUPANCY_H

#include "lib/nest/nest.h"
#include "lib/space/limits.h"

/* One phase. */
struct occupancy {
	/* Of one block: */
	double fmas;	     /* of scalars */
	double instructions; /* of a thread, times its threads */
	double block_bytes;  /* read from and written to the block's memory */
	double global_bytes; /* read from and written to memory */
	double waits;	     /* loops over threads, one after the other */
	/* Of the whole phase: */
	double blocks; /* of the grid */
	int together;  /* blocks that one processor holds at a time */
	double seconds;
};

/* What a thread needs of registers, at least: those that the nest names, and addresses. */
int64_t occupancy_registers(const struct nest *n);
/* Each phase; the kernel's seconds are the sum of theirs. Returns the number of phases. */
int occupancy_predict(const struct nest *n, const struct limits *m,
		      struct occupancy phase[NEST_PHASES]);

#endif
