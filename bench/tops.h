/* The benches of models share this: what is scored (lib/model/score.h), and how scores are printed.
 */
#ifndef TL_BENCH_TOPS_H
#define TL_BENCH_TOPS_H

#include <stdio.h>
#include <string.h>

#include "lib/model/dataset.h"
#include "lib/model/score.h"

/* ,"NAME":{...}: of random candidates instead of the ranked ones, if random is not 0. */
static inline void tops_print(const char *name, const struct score *s, int random)
{
	printf(",\"%s\":{", name);
	for (int k = 0; k < SCORE_TOPS; k++) {
		double mean = random ? s->random_ratio[k] : s->ratio[k];

		printf("%s\"top%d\":%.4f,\"mean%d\":%.4f", k ? "," : "", score_tops[k],
		       random ? score_random(s, k) : score_top(s, k), score_tops[k],
		       mean / (double)s->groups);
		if (!random)
			printf(",\"worst%d\":%.4f", score_tops[k], s->worst[k]);
	}
	if (!random)
		printf(",\"ndcg8\":%.4f,\"spearman\":%.4f,\"pairwise\":%.4f",
		       s->ndcg / (double)s->groups, s->spearman / (double)s->groups,
		       s->pairwise / (double)s->groups);
	printf("}");
}

/* Takes the rows of a group that have a time: FEATURES of each, its time, and a value that is the
 * greater the faster the draft thinks it. Returns how many these are. */
static inline int64_t tops_gather(const struct data_group *g, float *x, double *latency,
				  double *draft)
{
	int64_t n = 0;

	for (int64_t i = 0; i < g->n; i++) {
		const struct data_row *r = &g->row[i];

		if (!(r->latency_s > 0))
			continue;
		memcpy(x + n * FEATURES, r->f, sizeof *x * FEATURES);
		latency[n] = r->latency_s;
		draft[n++] = -r->draft_s;
	}
	return n;
}

#endif
