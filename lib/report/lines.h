/* Holds a line for each workload of a list: the times of the baseline and of the best
 * candidate, what was generated, built and measured for it, and the sum over the list, weighed by
 * count. Only exact answers have times: those of another env or workload are named as such. A
 * line's times, ratio and verdict are of one result. Every figure comes from the database; what is
 * unknown is "-" (empty in CSV).
 */
#ifndef TL_REPORT_LINES_H
#define TL_REPORT_LINES_H

#include "lib/answer/match.h"
#include "lib/base/map.h"

struct report_line {
	struct workload w;
	int64_t count;
	enum match_how how;
	int stale, foreign; /* how is MATCH_ENV: see lib/answer/match.h */
	const char *why;    /* not exact: what differs; else NULL */
	int rank;	    /* 0 for the best; further candidates repeat the workload */
	int final;	    /* stage: its ratio was measured in pairs */
	int weights_cold;   /* its times are with weights from memory, as in a network */
	const char *algo, *verdict, *candidate_id; /* NULL if not known */
	double baseline_s, tuned_s, ratio;	   /* NAN if not known */
	double ratio_lo, ratio_hi;		   /* its 95% interval; NAN without pairs */
	struct store_tally tally;
};

struct report {
	struct arena arena;
	struct json_doc doc;
	struct report_line *line;
	int64_t n, cap;
	struct map sources; /* names of models that the workloads are from */
	double peak;	    /* FLOP/s of the machine by its env's probe; 0: not known */
};

/* Sums over the list, of the best candidates. Times only where both are known, so that the two sums
 * are of the same work. Counts are -1 where no workload knows them. */
struct report_total {
	int64_t workloads, count, left_out, generated, built, preempted, measured;
	double before_s, after_s, core_s;
	double flops;	     /* of the same work */
	int64_t other_types; /* workloads among these that are not in single precision */
	double best_s;	     /* with the library's kernel where that is the faster one */
	/* before_s / after_s, with an interval where all lines have one: their intervals are taken
	 * for independent, so logarithms add up by squares, each weighed by its share of after_s.
	 */
	double ratio, ratio_lo, ratio_hi;
	int64_t faster, same, slower, undecided; /* verdicts of workloads */
	int64_t weights_cold; /* workloads whose times are with weights from memory */
};

/* Adds the names of the models that a workload record has sources in. */
void report_add_sources(struct report *r, const struct json_doc *d);
/* Adds the lines of one workload. */
int report_add(struct report *r, const struct workload *w, int64_t count, const struct match *m,
	       const struct store_tally *t, struct err *e);
struct report_total report_sum(const struct report *r);
/* Says where the weights were when calls were timed; "" if they were where the last call left them.
 */
const char *report_weights(const struct report_total *s);
/* "faster" and the like, or why there is no verdict. */
const char *report_verdict(const struct report_line *l);
/* The problem without a batch of one, which says nothing to a reader. */
const char *report_problem(const struct workload *w);
/* " bf16", or "" for single precision, which is not said. */
const char *report_dtype(const struct workload *w, struct arena *a);
/* Post-ops with commas between them. */
const char *report_posts(const struct workload *w, struct arena *a);
/* Counted from the results: of a run that was killed there are results, but no end record. */
int64_t report_measured(const struct store_tally *t);
int64_t report_preempted(const struct store_tally *t);
void report_free(struct report *r);

#endif
