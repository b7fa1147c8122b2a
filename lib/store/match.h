/* The best that is known for a workload: exact; of the same workload in another env; or of the
 * nearest workload, whose candidates are valid for this one, too.
 *
 * Nearest: the same operator and element type, and the least distance, which is the square root of
 * the sum over all dimensions of log2((a+1)/(b+1))^2, of 1 for another layout or right side, and of
 * 1/16 for each post-op that only one of them has. This env's workloads are asked first; seconds of
 * another env are never taken for this one's.
 * Of other envs the one of this hardware goes first: its results are stale, those of others foreign
 * (lib/host/env.h).
 */
#ifndef TL_STORE_MATCH_H
#define TL_STORE_MATCH_H

#include "lib/store/store.h"

enum match_how { MATCH_NONE, MATCH_EXACT, MATCH_ENV, MATCH_NEAREST };

struct match {
	enum match_how how;
	const char *why;    /* not exact: a sentence that says what differs */
	int stale, foreign; /* how is env: another compiler or library on this hardware, or other
			       hardware */
	int64_t n;
	struct store_result *result; /* best first */
};

const char *match_name(enum match_how how); /* "none", "exact", "env", "nearest" */
double match_distance(const struct workload *a, const struct workload *b);

struct matcher;
/* here: the env to answer for; it must outlive the matcher. */
struct matcher *matcher_open(struct store *s, const struct store_env *here);
void matcher_close(struct matcher *m);
/* The best `top` candidates. Texts live in a. */
int match_find(struct matcher *m, const struct workload *w, int64_t top, struct arena *a,
	       struct match *out, struct err *e);

#endif
