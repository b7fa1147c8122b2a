/* The figures of a tuning report: what is known of a list of workloads and of the env that they
 * were measured in, how it came about, and what it cost.
 */
#ifndef TL_REPORT_FIGURES_H
#define TL_REPORT_FIGURES_H

#include "lib/report/lines.h"
#include "lib/report/machine.h"
#include "lib/store/cost.h"

/* The list's time by what was known at some moment, workloads weighed by count; with the
 * baseline's time where that is less, or nothing else was known. */
struct moment {
	double core_s; /* spent on candidates until then */
	double s;
};

struct figures {
	struct arena arena;
	const struct report *lines;
	struct report_total total;
	struct machine env;
	struct moment *moment;
	int64_t nmoments;
	const char *first_at, *last_at; /* of the results; NULL: there are none */
	/* Of all runs that the database knows, whatever they tuned. */
	struct cost_sum cost;
	int has_cost;
};

/* s: the database; here: the env that the lines answer for; both, and the lines, outlive the
 * figures. */
int figures_read(struct figures *f, struct store *s, const struct store_env *here,
		 const struct report *lines, struct err *e);
void figures_free(struct figures *f);

/* Bytes of all operands, each once; a residual is read, and the output written in its place. */
double figures_bytes(const struct workload *w);
/* The least time by the roofline: flops over the peak or bytes over the bandwidth of the smallest
 * cache that holds them all (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
 * NAN without a probe. */
double figures_roof_s(const struct figures *f, const struct workload *w);

#endif
