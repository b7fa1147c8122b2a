/* When the timing of a live run would begin: tl-measure builds while its input comes, and times
 * when it has ended.
 *
 * tl-gen goes through the workloads, tl-filter ranks one after the other behind it, and compilers
 * build what came of each on all cores. tl-measure itself takes a moment to start. What they took
 * is in the end records (search_s, inference_s) and in the recording.
 *
 * All that a live run holds (--charge=run, lead.h). Results tell only their own costs, one after
 * the other. A live run also waits for tl-gen and tl-filter (whose work is in the end records),
 * builds on all cores meanwhile, starts tl-measure, and pays less for a workload that it opened
 * before. tl-tune tells tl-replay of the time around it, so that the clock is that of a live run.
 * Search and inference are the real ones of the simulation: so two such simulations differ a
 * little in cost, and in nothing else that does not follow from cost. make bench-search GATE=1
 * shows live and simulated runs beside each other.
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
