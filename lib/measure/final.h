/* A final: a candidate against the library's best, in several processes.
 *
 * Where memory came to lie makes a per cent or two, and stays what it is as long as a process
 * lives; so a verdict is over the pairs of at least three. Pure: what the worker answered is added,
 * process by process.
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
	struct stat_median time, other_time, ratio;    /* ratio: y / x */
};

/* Takes the samples of a worker's answer, and computes the medians anew. */
int final_add(struct final *f, const struct json_doc *answer, struct err *e);

#endif
