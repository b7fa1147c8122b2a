/* rank MODEL FILE...: how well a model ranks the recorded spaces in FILE, which it must not have
 * learned from.
 *
 * Prints a record a workload and one for all: for the model, the draft and candidates drawn at
 * random, what the fastest of the first 1, 5 and 8 reach of the best's speed ("top1", ...: the sum
 * of the best times over that of the chosen ones, each times the workload's count; "mean1", ...:
 * the mean of the ratios), and which share of the way from random to the best the model goes
 * ("closed1", ...). "lost32": the share of the best's speed that is lost when only the first 32 are
 * measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tops.h"
#include "lib/extract/read/lines.h"
#include "lib/model/dataset.h"
#include "lib/model/model.h"
#include "lib/target/target.h"

enum { KEPT = 32 };

static struct dataset data;

static int take(void *arg, const char *line, size_t n, struct err *why)
{
	(void)arg;
	return dataset_add(&data, line, n, why);
}

static void say(void *arg, const char *sentence)
{
	(void)arg;
	fprintf(stderr, "rank: %s\n", sentence);
}

struct totals {
	struct score model, draft;
	double kept_s; /* sum of count x the fastest of the first KEPT */
};

static void print(const struct totals *t)
{
	const struct score *m = &t->model;

	tops_print("model", m, 0);
	tops_print("draft", &t->draft, 0);
	tops_print("random", m, 1);
	for (int k = 0; k < SCORE_TOPS; k++)
		printf(",\"closed%d\":%.4f", score_tops[k],
		       (m->random_s[k] - m->chosen_s[k]) / (m->random_s[k] - m->best_s));
	printf(",\"lost%d\":%.5f}\n", KEPT, 1 - m->best_s / t->kept_s);
}

struct item {
	double value, latency;
};

static int best_first(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return (a->value < b->value) - (a->value > b->value);
}

static double fastest_of_first(const double *value, const double *latency, int64_t n)
{
	struct item *item = xmalloc(sizeof *item * (size_t)(n + 1));
	double best = INFINITY;

	for (int64_t i = 0; i < n; i++)
		item[i] = (struct item){value[i], latency[i]};
	qsort(item, (size_t)n, sizeof *item, best_first);
	for (int64_t i = 0; i < n && i < KEPT; i++)
		best = fmin(best, item[i].latency);
	free(item);
	return best;
}

static void rank_group(const struct model *m, const struct data_group *g, double count,
		       struct totals *t)
{
	size_t room = (size_t)g->n + 1;
	float *x = xmalloc(sizeof *x * FEATURES * room);
	double *value = xmalloc(sizeof *value * room), *draft = xmalloc(sizeof *draft * room);
	double *latency = xmalloc(sizeof *latency * room);
	const int64_t n = tops_gather(g, x, latency, draft);

	model_predict(m, x, (size_t)n, value, NULL);
	if (n > 1) {
		score_add(&t->model, value, latency, n, count);
		score_add(&t->draft, draft, latency, n, count);
		t->kept_s += count * fastest_of_first(value, latency, n);
	}
	free(latency);
	free(draft);
	free(value);
	free(x);
}

static int rank_all(const struct model *m, struct err *e)
{
	struct totals all = {.kept_s = 0};
	int64_t candidates = 0;

	for (size_t i = 0; i < data.groups.n; i++) {
		const struct data_group *g = dataset_group(&data, i);
		const struct data_use *u = dataset_use(&data, &g->w);
		double count = u && u->count ? (double)u->count : 1;
		struct totals one = {.kept_s = 0};

		rank_group(m, g, count, &one);
		rank_group(m, g, count, &all);
		candidates += g->n;
		printf("{\"tl\":1,\"type\":\"rank\",\"prob\":\"%s\",\"count\":%g,"
		       "\"candidates\":%lld,\"best_s\":%.5g,\"baseline_s\":%.5g",
		       g->w.prob, count, (long long)g->n, g->best_s, g->native_s);
		print(&one);
	}
	if (!all.model.groups)
		return err_set(e, "there is nothing to rank");
	printf("{\"tl\":1,\"type\":\"rank\",\"workloads\":%lld,\"candidates\":%lld,\"model_id\":"
	       "\"%s\"",
	       (long long)all.model.groups, (long long)candidates, m->id.s);
	print(&all);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t bad = 0;
	const struct lines lines = {take, say, NULL, &bad};
	struct err e = ERR_INIT;
	struct limits here;
	struct model *m;

	if (argc < 3) {
		fprintf(stderr, "usage: rank MODEL FILE...\n");
		return 2;
	}
	m = model_load(argv[1], &features_threads, &e);
	if (m)
		model_share(m, MODEL_HOME);
	if (m && target_default()->limits(&here, &e) == 0) {
		dataset_open(&data, target_default(), &here);
		for (int i = 2; i < argc && !*e.msg; i++)
			lines_each(argv[i], &lines, &e);
		if (!*e.msg && dataset_finish(&data, &e) == 0)
			rank_all(m, &e);
		dataset_close(&data);
	}
	model_free(m);
	if (*e.msg)
		fprintf(stderr, "rank: %s\n", e.msg);
	return *e.msg ? 3 : 0;
}
