/* A final: a candidate against the baseline, the library's best, in several processes.
 *
 * The ratio of one process depends on its place in memory and on the moment. Another process
 * differs by a per cent or two, however many pairs each has: those that every final owes may have
 * few. So the ratio is the geometric mean of
 * the processes' medians, and its 95% interval is Student's t of their logarithms; with a single
 * process it is that one's interval. A final is sequential: it ends after FINAL_LEAST processes if
 * the interval is far from a tie, after the requested ones if the verdict is decided, and else goes
 * on until it is, while the caller has time for it (lib/measure/finals.c), up to FINAL_MORE times
 * as many in all. Looking so often costs little: tests/final.c simulates how many ties are then
 * called faster or slower.
 *
 * The library's best may have another layout than the workload. Then its best in the workload's
 * layout is called in the same turns. Its ratio to the candidate is recorded, too, but decides
 * nothing.
 *
 * The functions are pure: the caller adds the worker's answers, process by process.
 *
 * Finals. The best candidate of a workload duels with the library, in two processes or more (the
 * addresses of memory make a per cent or two, for as long as a process lives). Both read the same
 * source, if the library reads the source in its layout: two copies would make a final move more
 * data than a race does, and winners of races would lose it. The processes of all workloads take
 * turns (lib/measure/finals.h), because a neighbour's burst may last as long as several processes
 * of one workload. A final is sequential: far from a tie two processes decide it, else three or as
 * many more as it takes; 32 pairs of calls in each process gave the same verdicts as 100. The
 * interval is that of Student's t over processes. Before the final, tl-tune lets the last two
 * former incumbents duel with the best once more (tl-prune --finals), because other load on the
 * machine may have decided their duels. All pairs that were asked for are made, and the verdict
 * follows from the interval of their ratios: faster and slower mean by more than 1%. A tie may
 * stay open for ever, so processes beyond those that were asked for take half as much time as
 * these, in all. A winner that was picked from noise is a defect.
 */
#ifndef TL_MEASURE_FINAL_H
#define TL_MEASURE_FINAL_H

#include "lib/base/err.h"
#include "lib/trial/duel.h"

enum {
	FINAL_ASKED = 9, /* most processes that can be requested */
	FINAL_MORE = 12,
	FINAL_PROCESSES = FINAL_ASKED * FINAL_MORE,
	FINAL_LEAST = 2,  /* processes that an interval needs */
	FINAL_PAIRS = 32, /* of a process; 100 gave the same verdicts */
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
	int row;		   /* calls in a row, the fewest of a process; 0: single calls */
	int row_is_graph;	   /* of all processes */
	double s[FINAL_PAIRS_MAX]; /* the candidate's seconds, by pair */
	struct stat_median time;
	struct final_rival best; /* of all that the library has */
	struct final_rival own;	 /* in the workload's own layout, where best is in another */
};

/* Takes the samples of a process, as a worker says them: the duel is with the baseline. The
 * medians are computed anew. */
int final_add(struct final *f, const struct result *process, struct err *e);
/* Does it need another process, if `asked` processes were requested? */
int final_wants(const struct final *f, int asked);
/* Has it less than the processes that an interval needs? */
int final_owes(const struct final *f, int asked);

#endif
