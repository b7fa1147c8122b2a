/* Zero-shot prediction: a schedule for a workload that was never measured on this machine.
 *
 * The candidates come from these origins:
 * - the best schedules of the same problem in another env, or of the nearest workload;
 * - the portfolio of the model;
 * - a search inside the model, which starts from all of these (lib/search/guided.c).
 * Schedules of other workloads are first fitted to this one. Algorithms that compute channels in
 * different ways are left out: where a network compares channels, an answer must not hinge on a
 * guess about speed. With a model, the answer is the first by model_cautious() among the best of
 * the search; where that lies beyond what the model has seen, model and draft count half each, and
 * the best by both is the answer. Without a model, the answer is the first schedule that fits; if
 * none does, it is the candidate that the analytic draft expects to be the fastest. With a model,
 * too, the first that fits is the answer where it was measured in this env and the post-ops alone
 * differ: the model's favourite was measured there, or something better was. It is not where the
 * model expects less than half of the favourite's speed: then only bad ones were measured.
 *
 * Zero-shot (tl-query --predict): known results from elsewhere and the portfolio, fitted to the
 * workload, are the parents of an evolutionary search by the model. The candidate with the best
 * value is the answer, where values are weighed by their deviations, and what the draft puts far
 * behind is left out: the best of hundreds of values is likely to be one that the model gets
 * wrong. As long as a model is on trial, tl-filter gives what it would choose in this way a place
 * in the first round. A model says the range of each feature that it has learned from
 * (lib/model/seen.h). Where its favourite lies beyond, trees know no better than the end of the
 * range: model and draft then count half each, and the confidence is null, with the feature. The
 * answer names its origin. An algorithm that says it is uneven (lib/algo/algo.h) is left out,
 * which is strassen alone: it computes half of the channels another way, and where a network
 * compares channels of equal weights whose sums are 1e10 (ONNX's light_squeezenet), rounding would
 * decide. Who tunes may choose it.
 */
#ifndef TL_ANSWER_ZERO_SHOT_H
#define TL_ANSWER_ZERO_SHOT_H

#include "lib/answer/match.h"
#include "lib/features/candidate_features.h"
#include "lib/model/model.h"

/* Where an answer came from: the "match" of a record. */
enum origin { ORIGIN_ENV, ORIGIN_NEAREST, ORIGIN_PORTFOLIO, ORIGIN_MODEL, ORIGIN_DEFAULT };
const char *origin_name(enum origin o); /* "env", "nearest", "portfolio", "model", "default" */

/* What a prediction is made with. */
struct zero_shot {
	const struct data_env *env;
	const struct model *model; /* NULL: none */
	uint64_t seed;
	int one_thread; /* others predict beside it: it starts no threads of its own */
};

struct zero_shot_answer {
	enum origin origin;
	struct candidate candidate;
	double draft_s;		 /* the analytic draft's time */
	double value, deviation; /* the model's; NAN without a model */
	/* The probability, 0 to 1, that the model is off by less than 10% when it compares this
	 * candidate with the next best one. NAN without a model, or if its own favourite lies
	 * beyond what it has seen: */
	double confidence;
	const char *beyond; /* the favourite's feature furthest out of its range; NULL: none is */
};

/* m: results of other envs or other workloads, best first, or NULL. Returns 1; 0 if no algorithm
 * applies; -1 on an error. */
int zero_shot_find(const struct zero_shot *z, const struct workload *w, const struct match *m,
		   struct zero_shot_answer *out, struct err *e);

#endif
