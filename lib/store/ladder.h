/* Zero-shot: a schedule for a workload that nobody has measured here, at once.
 *
 * The ladder: what is known of the same problem in another env, or of the nearest workload, fitted;
 * the portfolio, fitted; and what a model breeds out of all of these and of the whole space
 * (lib/search/guided.c). With a model they compete by its value, and the answer says on which rung
 * the winner stood. Without one the first rung that has anything answers, and at the bottom the
 * best by the analytic draft.
 */
#ifndef TL_STORE_LADDER_H
#define TL_STORE_LADDER_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"
#include "lib/store/match.h"

enum rung { RUNG_ENV, RUNG_NEAREST, RUNG_PORTFOLIO, RUNG_MODEL, RUNG_DEFAULT };
const char *rung_name(enum rung r); /* "env", "nearest", "portfolio", "model", "default" */

struct ladder {
	const struct data_env *env;
	const struct model *model; /* NULL: none */
	uint64_t seed;
};

struct climbed {
	enum rung rung;
	struct candidate candidate;
	double draft_s, value, deviation; /* the last two by the model, else NAN */
	/* That the model is off by less than 10% where it compares this with the next best: 0 to
	 * 1; NAN without a model. */
	double confidence;
};

/* m: what is known elsewhere, best first, or NULL. 1; 0: no algorithm applies; -1. */
int ladder_climb(const struct ladder *l, const struct workload *w, const struct match *m,
		 struct climbed *out, struct err *e);

#endif
