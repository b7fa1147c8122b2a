/* The worker's side of measuring: one workload's data, its true answer, the baseline, and
 * candidates run beside them.
 *
 * Verify, then time. Data are random and the same for the candidate and the baseline; the output is
 * poisoned before the run that is verified. Weights are packed off the clock, once for all
 * candidates that want the same packing. Runs in the process that owns the OpenMP team; kernels run
 * here, so that a bad one takes this process with it.
 */
#ifndef TL_MEASURE_SESSION_H
#define TL_MEASURE_SESSION_H

#include "lib/algo/candidate.h"
#include "lib/measure/stat.h"

struct session;

/* naive: the compiled naive nest. The true answer is computed here, in double precision. */
struct session *session_open(const struct workload *w, const char *naive, int threads,
			     uint64_t seed, struct err *e);
void session_close(struct session *s);

/* Times every variant that the library offers and keeps the best; and, where that is a Winograd
 * one, the best of the others as well, which do the same arithmetic as a direct candidate. */
struct baseline_best {
	const char *impl, *layout; /* NULL: none that is right */
	struct stat_median time;   /* seconds */
};
struct baseline {
	struct baseline_best best, direct; /* direct.impl is NULL if best is direct itself */
	const char *why;		   /* where best.impl is NULL */
};
int session_baseline(struct session *s, struct baseline *b, struct err *e);

struct outcome {
	const char *status; /* "ok", "preempted", "wrong", "unsupported" */
	char why[200];
	struct stat_median time; /* seconds; preempted: time.median is the lower bound */
	double error_l2, error_max;
	double verify_s, run_s;
	/* session_final() only */
	int has_baseline, has_direct;
	struct stat_median baseline, ratio;	 /* ratio: baseline / candidate, paired */
	struct stat_median direct, direct_ratio; /* the same against the best direct variant */
};

/* Verifies a candidate and races it against limit_s, the incumbent's time (0: none): stops as soon
 * as it has clearly lost. -1 only where the worker cannot go on. */
int session_race(struct session *s, const struct candidate *c, const char *object, double limit_s,
		 double max_error, struct outcome *o, struct err *e);
/* Times a candidate in turns with the baseline. */
int session_final(struct session *s, const struct candidate *c, const char *object,
		  double max_error, struct outcome *o, struct err *e);

#endif
