/* Prints scores (lib/model/score.h) as the benches of models do. */
#ifndef TL_BENCH_TOPS_H
#define TL_BENCH_TOPS_H

#include <stdio.h>

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

#endif
