/* A final: a candidate against the library's best, in several processes.
 *
 * Where memory came to lie makes a per cent or two, and stays what it is as long as a process
 * lives: so a process knows its own ratio far better than the next one will find it again. The
 * ratio is the median of the processes' medians, and its interval spans those; of a single process
 * it is its own.
 *
 * What counts as a disturbed call is told from all processes: a neighbour's burst may cover one of
 * them from its first pair to its last. A process with few calm pairs does not count, and another
 * one takes its place, up to as many more as were asked for.
 *
 * Pure: what the worker answered is added, process by process.
 */
#ifndef TL_MEASURE_FINAL_H
#define TL_MEASURE_FINAL_H

#include "lib/base/err.h"
#include "lib/io/json.h"
#include "lib/trial/duel.h"

enum {
	FINAL_ASKED = 9,
	FINAL_PROCESSES = 2 * FINAL_ASKED,
	FINAL_PAIRS_MAX = FINAL_PROCESSES * DUEL_MAX
};

struct final {
	int processes; /* that were run; */
	int calm;      /* of these, the ones that count: all, where hardly any is calm */
	int is_duel;   /* y is there: the library has an implementation */
	int n;	       /* pairs, of all processes */
	double x[FINAL_PAIRS_MAX], y[FINAL_PAIRS_MAX]; /* seconds, by pair */
	int end[FINAL_PROCESSES];		       /* of each one's pairs */
	struct stat_median time, other_time, ratio;
};

/* Takes the samples of a worker's answer, and computes the medians anew. */
int final_add(struct final *f, const struct json_doc *answer, struct err *e);
/* Whether there are enough, when `asked` processes were asked for. */
int final_is_over(const struct final *f, int asked);

#endif
