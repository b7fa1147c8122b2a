#include "lib/model/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

enum { NDCG_K = 8, PAIRS = 20000 };

const int score_tops[SCORE_TOPS] = {1, 5, 8};

struct item {
	double value;
	int64_t i;
};

static int rising(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* Indices in order of value, the lowest first. */
static struct item *sorted(const double *value, int64_t n, double sign)
{
	struct item *item = xmalloc(sizeof *item * (size_t)n);

	for (int64_t i = 0; i < n; i++)
		item[i] = (struct item){sign * value[i], i};
	qsort(item, (size_t)n, sizeof *item, rising);
	return item;
}

double score_expected_best(const double *latency, int64_t n, int64_t k)
{
	double sum = 0, p = (double)k / (double)n; /* that the first is drawn */

	if (k >= n)
		return latency[0];
	/* That the i-th is the first drawn: none before it, and it. */
	for (int64_t i = 0; i + k <= n; i++) {
		sum += p * latency[i];
		p *= (double)(n - k - i) / (double)(n - 1 - i);
	}
	return sum;
}

/* Ranks; what is equal shares the mean of its ranks. */
static double *ranks(const double *value, int64_t n)
{
	struct item *item = sorted(value, n, 1);
	double *rank = xmalloc(sizeof *rank * (size_t)n);

	for (int64_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && item[j].value == item[i].value; j++)
			;
		for (int64_t k = i; k < j; k++)
			rank[item[k].i] = (double)(i + j - 1) / 2;
	}
	free(item);
	return rank;
}

double score_spearman(const double *a, const double *b, int64_t n)
{
	double *x = ranks(a, n), *y = ranks(b, n), mean = (double)(n - 1) / 2;
	double xy = 0, xx = 0, yy = 0;

	for (int64_t i = 0; i < n; i++) {
		xy += (x[i] - mean) * (y[i] - mean);
		xx += (x[i] - mean) * (x[i] - mean);
		yy += (y[i] - mean) * (y[i] - mean);
	}
	free(x);
	free(y);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* Jarvelin and Kekalainen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20, 2002;
 * the gain of a candidate is its speed over the best's. */
static double ndcg(const struct item *chosen, const double *latency, const double *best, int64_t n)
{
	double got = 0, ideal = 0;

	for (int64_t i = 0; i < NDCG_K && i < n; i++) {
		got += best[0] / latency[chosen[i].i] / log2((double)i + 2);
		ideal += best[0] / best[i] / log2((double)i + 2);
	}
	return got / ideal;
}

/* Returns how many of the pairs that it draws are in the right order. */
static double pairwise(const double *value, const double *latency, int64_t n)
{
	struct rng rng;
	int64_t right = 0, all = 0;

	rng_seed(&rng, 1, "pairs");
	for (int k = 0; k < PAIRS; k++) {
		int64_t i = (int64_t)rng_below(&rng, (uint64_t)n);
		int64_t j = (int64_t)rng_below(&rng, (uint64_t)n);

		if (latency[i] == latency[j])
			continue;
		all++;
		right += (latency[i] < latency[j]) == (value[i] > value[j]);
	}
	return all ? (double)right / (double)all : 1;
}

void score_add(struct score *s, const double *value, const double *latency, int64_t n, double count)
{
	struct item *chosen, *order;
	double *best;

	if (n < 2)
		return;
	chosen = sorted(value, n, -1);
	order = sorted(latency, n, 1);
	best = xmalloc(sizeof *best * (size_t)n);
	for (int64_t i = 0; i < n; i++)
		best[i] = order[i].value;
	s->best_s += count * best[0];
	for (int t = 0; t < SCORE_TOPS; t++) {
		double first = INFINITY, random = score_expected_best(best, n, score_tops[t]);

		for (int64_t i = 0; i < score_tops[t] && i < n; i++)
			first = fmin(first, latency[chosen[i].i]);
		s->chosen_s[t] += count * first;
		s->random_s[t] += count * random;
		s->ratio[t] += best[0] / first;
		s->random_ratio[t] += best[0] / random;
		if (!s->groups || best[0] / first < s->worst[t])
			s->worst[t] = best[0] / first;
	}
	s->ndcg += ndcg(chosen, latency, best, n);
	s->pairwise += pairwise(value, latency, n);
	for (int64_t i = 0; i < n; i++) /* fast is good: the ranks of the negative */
		best[i] = -latency[i];
	s->spearman += score_spearman(value, best, n);
	s->chance += 1 / (double)(n - 1);
	s->groups++;
	free(best);
	free(order);
	free(chosen);
}

double score_top(const struct score *s, int i)
{
	return s->chosen_s[i] > 0 ? s->best_s / s->chosen_s[i] : 0;
}

double score_random(const struct score *s, int i)
{
	return s->random_s[i] > 0 ? s->best_s / s->random_s[i] : 0;
}

double score_above_chance(const struct score *s)
{
	return s->chance > 0 ? s->spearman / sqrt(s->chance) : 0;
}
