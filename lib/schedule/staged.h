/* The chunks of a sum, which a block's threads copy into its memory and then multiply: one after
 * the other, or in two stages. With two, the next chunk comes into the threads' registers before
 * one is multiplied, and goes into the other stage after that.
 */
#ifndef TL_SCHEDULE_STAGED_H
#define TL_SCHEDULE_STAGED_H

#include "lib/nest/nest.h"

struct staged {
	struct nest *n;
	int threads;		  /* of the block */
	int64_t stages;		  /* 1 or 2 */
	struct affine first, end; /* chunks; the first one is there */
	/* Outside of loops over threads: chunk q, a variable, is the open one. */
	void (*open)(void *arg, int q);
	/* Steps of a thread: the open chunk comes into its registers, and from there into a stage;
	 * the chunk of a stage is multiplied. */
	void (*fetch)(void *arg, int thread);
	void (*put)(void *arg, int thread, struct affine stage);
	void (*multiply)(void *arg, int thread, struct affine stage);
	void *arg;
};

void staged_run(const struct staged *s);

#endif
