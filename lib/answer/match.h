/* Finds the best known results for a workload, in this order: of the workload itself in this env
 * (exact); of the workload in another env; of the nearest workload whose candidates are valid for
 * this one, too.
 *
 * The nearest workload has the same operator and element type, and the least distance. The distance
 * is the square root of a sum: log2((a+1)/(b+1))^2 for each dimension, 1 for another layout or
 * right side, and 1/16 for each post-op that only one of them has. Workloads of this env come
 * first. Times of another env are never taken for times of this one. Of the other envs, those of
 * this hardware come first: their results are stale, and results of other hardware are foreign
 * (lib/host/env.h).
 */
#ifndef TL_ANSWER_MATCH_H
#define TL_ANSWER_MATCH_H

#include "lib/store/store.h"

enum match_how { MATCH_NONE, MATCH_EXACT, MATCH_ENV, MATCH_NEAREST };

struct match {
	enum match_how how;
	const char *why;    /* not exact: a sentence that says what differs */
	int stale, foreign; /* how is env: another compiler or library on this hardware, or other
			       hardware */
	int alike; /* how is nearest: measured in this env, and the post-ops alone differ */
	int64_t n;
	struct store_result *result; /* best first */
};

const char *match_name(enum match_how how); /* "none", "exact", "env", "nearest" */
double match_distance(const struct workload *a, const struct workload *b);

struct matcher;
/* here: the env to answer for; it must outlive the matcher. */
struct matcher *matcher_open(struct store *s, const struct store_env *here);
void matcher_close(struct matcher *m);
/* Finds the best `top` candidates. Texts live in a. alike_first: what was measured in this env for
 * a workload that differs in post-ops alone comes before other envs, and before nearer workloads.
 */
int match_find(struct matcher *m, const struct workload *w, int alike_first, int64_t top,
	       struct arena *a, struct match *out, struct err *e);
/* Finds the nearest other workloads that have a result in this env, nearest first, at most `most`
 * and MATCH_NEAR of them, into near[]. They live as long as the matcher. Returns how many, or -1.
 */
enum { MATCH_NEAR = 16 };
int match_near(struct matcher *m, const struct workload *w, int most, const struct workload **near,
	       struct err *e);

#endif
