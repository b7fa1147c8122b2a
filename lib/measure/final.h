/* A final: a candidate against the library's best, in several processes.
 *
 * What a process finds holds for its place in memory and for its moment, and another one finds
 * something that is a per cent or two away, however many pairs each has. So the ratio is the
 * geometric mean of the processes' medians, and its 95% interval is Student's t of their
 * logarithms; of a single process, its own. Where the processes that were asked for leave the
 * verdict undecided, shorter ones follow, up to MORE times as many in all.
 *
 * Where the library's best is in another layout than the workload's, its best in that one is called
 * in the same turns; its ratio to the candidate is told in the same way, and decides nothing.
 *
 * Pure: what the worker answered is added, process by process.
 */
#ifndef TL_MEASURE_FINAL_H
#define TL_MEASURE_FINAL_H

#include "lib/base/err.h"
#include "lib/io/json.h"
#include "lib/trial/duel.h"

enum {
	FINAL_ASKED = 9, /* processes, at most */
	FINAL_MORE = 12,
	FINAL_PROCESSES = FINAL_ASKED * FINAL_MORE,
	FINAL_PAIRS = 100,	/* of a process that was asked for */
	FINAL_SHORT_PAIRS = 32, /* of one that follows */
	FINAL_PAIRS_MAX = FINAL_PROCESSES * FINAL_PAIRS
};

/* One of the library's variants in the turns of a final. */
struct final_rival {
	int is_there;			       /* 0: all else is meaningless */
	double s[FINAL_PAIRS_MAX];	       /* seconds, by pair */
	double process_ratio[FINAL_PROCESSES]; /* s over the candidate's, of each process */
	struct stat_median time, ratio;
};

struct final {
	int processes;
	int n;			   /* pairs, of all processes */
	double s[FINAL_PAIRS_MAX]; /* the candidate's seconds, by pair */
	struct stat_median time;
	struct final_rival best; /* of all that the library has */
	struct final_rival own;	 /* in the workload's own layout, where best is in another */
};

/* Takes the samples of a worker's answer, and computes the medians anew. */
int final_add(struct final *f, const struct json_doc *answer, struct err *e);
/* How many pairs the next process makes, when `asked` processes were asked for; 0: it is over. */
int final_wants(const struct final *f, int asked);

#endif
