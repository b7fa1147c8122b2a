/* A final: a candidate against the library's best, in several processes.
 *
 * Where memory came to lie makes a per cent or two, and stays what it is as long as a process
 * lives: so a process knows its own ratio far better than the next one will find it again. The
 * ratio is the median of the processes' medians, and its interval spans those; of a single process
 * it is its own. Pure: what the worker answered is added, process by process.
 */
#ifndef TL_MEASURE_FINAL_H
#define TL_MEASURE_FINAL_H

#include "lib/base/err.h"
#include "lib/io/json.h"
#include "lib/trial/duel.h"

enum { FINAL_PROCESSES = 9, FINAL_PAIRS_MAX = FINAL_PROCESSES * DUEL_MAX };

struct final {
	int processes;
	int is_duel; /* y is there: the library has an implementation */
	int n;	     /* pairs, of all processes */
	double x[FINAL_PAIRS_MAX], y[FINAL_PAIRS_MAX]; /* seconds, by pair */
	double process_ratio[FINAL_PROCESSES];	       /* y / x, of each */
	struct stat_median time, other_time, ratio;
};

/* Takes the samples of a worker's answer, and computes the medians anew. */
int final_add(struct final *f, const struct json_doc *answer, struct err *e);

#endif
