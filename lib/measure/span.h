/* How a run shares out the time that it has: among the workloads whose candidates race, and between
 * races and finals.
 *
 * A final takes about as long as SPAN_FINAL candidates: two processes, each with data of its own,
 * and the look through the library's variants. What a candidate takes is measured while the run
 * goes on, so that these shares hold beside other programs, too.
 *
 * Times are seconds on the caller's clock; INFINITY: no limit. The functions are pure.
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
/* How much of limit_s the finals get, where a candidate takes each_s: a fifth at most. */
double span_reserve(double limit_s, int64_t finals, double each_s);

#endif
