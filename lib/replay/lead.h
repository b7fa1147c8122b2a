/* When the timing of a live run would begin: tl-measure builds while its input comes, and times
 * when it has ended.
 *
 * tl-gen goes through the workloads, tl-filter ranks one after the other behind it, and compilers
 * build what came of each on all cores. tl-measure itself takes a moment to start. What they took
 * is in the end records (search_s, inference_s) and in the recording.
 */
#ifndef TL_REPLAY_LEAD_H
#define TL_REPLAY_LEAD_H

#include "lib/replay/whole.h"
#include "lib/replay/recording.h"

struct lead {
	double before_s; /* on the clock before the programs started, one core busy */
	double search_s, inference_s, build_core_s;
	double start_s; /* of tl-measure */
	double wait_s;	/* on the clock from the start of the programs to the first race */
};

/* Marks the objects that it counts, so that they are counted once. */
int lead_make(struct lead *p, const struct whole *in, const struct recorded_env *v, struct err *e);

#endif
