/* How a run shares out the time that it has: among the workloads whose candidates race, and between
 * races and finals.
 *
 * A final takes about as long as SPAN_FINAL candidates: two processes, each with data of its own,
 * and the look through the library's variants. What a candidate takes is measured while the run
 * goes on, so that these shares hold beside other programs, too.
 *
 * Times are seconds on the caller's clock; INFINITY: no limit. The functions are pure.
 *
 * A limit of time holds for the whole run. tl-prune keeps a part of it for the finals, a fifth at
 * most, and plans no more candidates than there is time for (lib/policy/pace.h). The yardstick is
 * what a candidate of this run took so far, with everything around it, so that the plan holds
 * beside other programs. It writes into the workload records when the time is over, so that a
 * pipeline needs no clock of its own. tl-measure gives each workload the same time for a
 * candidate; candidates that are left then are proposed again in the next round. The finals begin
 * with the operators on which most of the time depends (lib/measure/turns.h). The two processes
 * that an interval needs make as many pairs as go into 10 ms, and 8 at least, because most
 * verdicts are clear then; what is open gets all pairs. This limit is one of time, which does not
 * depend on what the pairs say. What still runs half a second after the end is killed and has no
 * result (ASKED_LATE): a true answer or a look through the library may take seconds.
 */
#ifndef TL_MEASURE_SPAN_H
#define TL_MEASURE_SPAN_H

#include <stdint.h>

enum { SPAN_FINAL = 5 };

/* Until when candidates race, if so many race and then so many finals follow. */
double span_races(double now, double until, int64_t candidates, int64_t finals);
/* Until when the next `own` of `all` candidates race. All have the same share of the time, and what
 * one workload leaves goes to those after it. */
double span_share(double now, double until, int64_t own, int64_t all);
/* How much of limit_s the finals get, where a candidate takes each_s: a fifth at most. A final has
 * a least time, too. */
double span_reserve(double limit_s, int64_t finals, double each_s);

#endif
