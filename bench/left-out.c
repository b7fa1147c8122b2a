/* left-out MODEL FILE... [-- FILE...]: what a cost model is worth on a CPU that it has not learned
 * from, by the recorded spaces in FILE. The folder that a file is in names its CPU.
 *
 * Each CPU is left out in turn, with all of its instruction sets. A model learns from the other
 * CPUs and ranks what was recorded on this one. The workloads' families are also held out, in
 * folds, so that the model knows neither the CPU nor the workload. Files after -- are of test
 * networks: no model learns from them.
 *
 * Prints a record for each CPU, instruction set, threads, state of the caches and kind of networks
 * ("held-out" or "test"). It has the scores of rank (top1, ...) by
 * - the draft;
 * - MODEL (which may have learned from this very CPU; "-": none);
 * - the model that was left out ("left_out");
 * - that model with the draft's share of model_meet() ("shared");
 * - the same by model_cautious(), among the algorithms that a prediction may choose ("predicted").
 *   The best may be of another one;
 * - the same as "shared" after a first round of tuning ("adapted"): 8 candidates of 12 workloads,
 *   half of them its first choices, teach it by adapt_model(). These are of families that are not
 *   ranked.
 * And for each ("reach") how many candidates of a workload must be measured in that order until one
 * is within 1% of the best that is recorded: the mean over workloads by their count. "random" is
 * the mean over all orders.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tops.h"
#include "lib/extract/read/lines.h"
#include "lib/model/adapt.h"
#include "lib/model/train.h"
#include "lib/target/target.h"

enum { FOLDS = 4, BAG = 3, CPUS = 16, SETS = 32, TEST = FOLDS };
static const double CLOSE = 1.01;  /* times the best */
static const double ABROAD = 3.3;  /* the scale of deviations there, as the card that ships says */
enum { TEACHING = 12, FIRST = 8 }; /* workloads of a first round, candidates of each */

enum by { BY_DRAFT, BY_MODEL, BY_LEFT_OUT, BY_SHARED, BY_PREDICTED, BY_ADAPTED, BYS };
static const char *const by_name[BYS] = {"draft",  "model",	"left_out",
					 "shared", "predicted", "adapted"};

/* Both kinds of networks in all envs. */
struct recorded {
	struct dataset data;
	const char *kind;
	struct map cpu; /* by env's id */
};

/* Figures are printed of this: an env's groups of one kind. */
struct set {
	const struct recorded *from;
	const struct data_env *env;
	const char *cpu;
	struct score score[BYS];
	double reach[BYS + 1], weight[BYS + 1]; /* of random orders at last */
};

static struct {
	struct recorded learned, test;
	struct arena arena;
	int ncpus, nsets;
	const char *cpu[CPUS];
	struct set set[SETS];
	struct model *model; /* NULL: none */
} all;

/* ---- reading ---- */

static int take(void *arg, const char *line, size_t n, struct err *why)
{
	struct recorded *r = arg;

	return dataset_add(&r->data, line, n, why);
}

static void say(void *arg, const char *sentence)
{
	(void)arg;
	fprintf(stderr, "left-out: %s\n", sentence);
}

/* The name of the folder. */
static const char *cpu_of(const char *path)
{
	const char *end = strrchr(path, '/'), *start = end;

	while (start && start > path && start[-1] != '/')
		start--;
	return end && end > start ? arena_strndup(&all.arena, start, (size_t)(end - start)) : ".";
}

static const char *known_cpu(const char *name, struct err *e)
{
	for (int i = 0; i < all.ncpus; i++)
		if (!strcmp(all.cpu[i], name))
			return all.cpu[i];
	if (all.ncpus == CPUS) {
		err_set(e, "there are more than %d CPUs", CPUS);
		return NULL;
	}
	return all.cpu[all.ncpus++] = name;
}

static struct set *set_of(const struct recorded *r, const struct data_env *env)
{
	for (int i = 0; i < all.nsets; i++)
		if (all.set[i].from == r && all.set[i].env == env)
			return &all.set[i];
	return NULL;
}

static int read_file(struct recorded *r, const char *path, struct err *e)
{
	int64_t bad = 0;
	const struct lines lines = {take, say, r, &bad};
	const char *cpu = known_cpu(cpu_of(path), e);

	if (!cpu || lines_each(path, &lines, e) < 0)
		return -1;
	for (size_t i = 0; i < r->data.envs.n; i++) {
		const struct data_env *env = r->data.envs.item[i].value;

		if (!env->known)
			return err_set(e, "%s does not say of what machine it is", path);
		if (set_of(r, env))
			continue;
		*map_put(&r->cpu, env->id, strlen(env->id), NULL) = (void *)(intptr_t)cpu;
		if (all.nsets == SETS)
			return err_set(e, "there are more than %d envs", SETS);
		all.set[all.nsets++] = (struct set){.from = r, .env = env, .cpu = cpu};
	}
	return 0;
}

static int read_all(char **files, struct err *e)
{
	struct recorded *r = &all.learned;
	int rc = 0;

	for (; *files && rc == 0; files++)
		if (!strcmp(*files, "--"))
			r = &all.test;
		else
			rc = read_file(r, *files, e);
	if (rc == 0)
		rc = dataset_finish(&all.learned.data, e);
	return rc ? rc : dataset_finish(&all.test.data, e);
}

/* ---- ranking ---- */

struct valued {
	double value;
	int64_t row;
};

static int by_value(const void *a, const void *b)
{
	const double x = ((const struct valued *)a)->value, y = ((const struct valued *)b)->value;

	return (x < y) - (x > y);
}

static double least_of(const double *x, int64_t n)
{
	double least = INFINITY;

	for (int64_t i = 0; i < n; i++)
		least = fmin(least, x[i]);
	return least;
}

static int is_of(const struct recorded *r, const struct data_group *g, const char *cpu)
{
	return map_get(&r->cpu, g->env->id, strlen(g->env->id)) == cpu;
}

static int fold_of(const struct recorded *r, const struct data_group *g)
{
	return r == &all.test ? TEST : automl_fold(&r->data, g, AUTOML_FAMILY, 1, FOLDS);
}

/* Makes them the values by which a prediction chooses (model_cautious()). */
static void weigh(const struct data_group *g, const double *deviation, double *value)
{
	int64_t k = 0;

	for (int64_t i = 0; i < g->n; i++) {
		if (!(g->row[i].latency_s > 0))
			continue;
		if (g->row[i].algo->uneven)
			value[k] = -INFINITY;
		value[k] = model_cautious(value[k], ABROAD * deviation[k]);
		k++;
	}
}

/* How many rows must be measured, those of large values first, until one is close to the best. */
static int64_t reach_of(const double *value, const double *latency, int64_t n)
{
	struct valued *v = xmalloc(sizeof *v * (size_t)n);
	const double close = CLOSE * least_of(latency, n);
	int64_t k = 0;

	for (int64_t i = 0; i < n; i++)
		v[i] = (struct valued){value[i], i};
	qsort(v, (size_t)n, sizeof *v, by_value);
	while (k + 1 < n && latency[v[k].row] > close)
		k++;
	free(v);
	return k + 1;
}

/* The mean of the same over all orders: of n rows, those that are close cut the others into equal
 * parts. */
static double reach_random(const double *latency, int64_t n)
{
	const double close = CLOSE * least_of(latency, n);
	int64_t m = 0;

	for (int64_t i = 0; i < n; i++)
		m += latency[i] <= close;
	return (double)(n + 1) / (double)(m + 1);
}

static void add_reach(struct set *s, enum by by, double reach, double count)
{
	s->reach[by] += count * reach;
	s->weight[by] += count;
}

/* m NULL: by the draft. */
static void score_group(const struct recorded *r, const struct data_group *g, enum by by,
			const struct model *m)
{
	const struct data_use *u = dataset_use(&r->data, &g->w);
	const double count = u && u->count ? (double)u->count : 1;
	const size_t room = (size_t)g->n + 1;
	float *x = xmalloc(sizeof *x * FEATURES * room);
	double *latency = xmalloc(sizeof *latency * room), *value = xmalloc(sizeof *value * room);
	double *deviation = xmalloc(sizeof *deviation * room);
	const int64_t n = tops_gather(g, x, latency, value);

	if (m)
		model_predict(m, x, (size_t)n, value, deviation);
	if (by == BY_PREDICTED)
		weigh(g, deviation, value);
	if (n > 1) {
		struct set *s = set_of(r, g->env);

		score_add(&s->score[by], value, latency, n, count);
		add_reach(s, by, (double)reach_of(value, latency, n), count);
		if (by == BY_DRAFT)
			add_reach(s, BYS, reach_random(latency, n), count);
	}
	free(deviation);
	free(value);
	free(latency);
	free(x);
}

static void rank_group(const struct recorded *r, const struct data_group *g, struct model *left_out)
{
	score_group(r, g, BY_DRAFT, NULL);
	if (all.model)
		score_group(r, g, BY_MODEL, all.model);
	score_group(r, g, BY_LEFT_OUT, left_out);
	model_share(left_out, MODEL_ABROAD);
	score_group(r, g, BY_SHARED, left_out);
	score_group(r, g, BY_PREDICTED, left_out);
	model_share(left_out, 0);
}

/* ---- a first round of tuning ---- */

/* Adds the group to the dataset with FIRST candidates alone. */
static void add_first(struct dataset *d, const struct data_group *g, const struct model *m,
		      struct rng *rng)
{
	struct valued *v = xmalloc(sizeof *v * (size_t)(g->n + 1));
	struct data_group *to = arena_new(&d->arena, struct data_group);
	int64_t n = 0;

	for (int64_t i = 0; i < g->n; i++)
		if (g->row[i].latency_s > 0) {
			v[n].row = i;
			model_predict(m, g->row[i].f, 1, &v[n++].value, NULL);
		}
	qsort(v, (size_t)n, sizeof *v, by_value);
	for (int64_t i = FIRST / 2; i < FIRST && i < n; i++) { /* and as many at random */
		const int64_t k = i + (int64_t)rng_below(rng, (uint64_t)(n - i));
		const struct valued other = v[k];

		v[k] = v[i];
		v[i] = other;
	}
	*to = *g;
	memset(&to->ids, 0, sizeof to->ids);
	to->n = n < FIRST ? n : FIRST;
	to->row = xmalloc(sizeof *to->row * FIRST);
	for (int64_t i = 0; i < to->n; i++)
		to->row[i] = g->row[v[i].row];
	*map_put(&d->groups, g->w.id.s, ID_HEX, NULL) = to;
	free(v);
}

/* Fills the dataset with a first round on the set's machine, of families outside of the fold. */
static void first_round(const struct set *s, int fold, const struct model *m, struct dataset *d)
{
	const struct dataset *from = &all.learned.data;
	struct rng rng;

	rng_seed(&rng, (uint64_t)fold, s->env->id);
	dataset_open(d, target_default(), &s->env->limits);
	for (int left = 100 * TEACHING; left && d->groups.n < TEACHING; left--) {
		const struct data_group *g = dataset_group(from, rng_below(&rng, from->groups.n));

		if (!strcmp(g->env->id, s->env->id) && g->env->caches == s->env->caches &&
		    fold_of(&all.learned, g) != fold && !map_get(&d->groups, g->w.id.s, ID_HEX))
			add_first(d, g, m, &rng);
	}
}

/* It undoes what the adaptation changed in the model. */
static int rank_adapted(const struct set *s, int fold, struct model *m, struct err *e)
{
	const struct recorded *r = s->from;
	const int stages = m->nstages;
	struct adaption found;
	struct dataset d;
	int rc;

	model_share(m, MODEL_ABROAD);
	first_round(s, fold, m, &d);
	rc = adapt_model(m, &d, &found, e);
	for (size_t i = 0; i < r->data.groups.n && rc == 0; i++) {
		const struct data_group *g = dataset_group(&r->data, i);

		if (g->env == s->env && fold_of(r, g) == fold)
			score_group(r, g, BY_ADAPTED, found.what == ADAPTED_USELESS ? NULL : m);
	}
	while (m->nstages > stages)
		trees_free(m->stage[--m->nstages].bag[0]);
	model_share(m, 0);
	dataset_close(&d);
	return rc;
}

static int rank_fold(const struct recorded *r, const char *cpu, int fold, struct model *m,
		     struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < r->data.groups.n; i++) {
		const struct data_group *g = dataset_group(&r->data, i);

		if (is_of(r, g, cpu) && fold_of(r, g) == fold)
			rank_group(r, g, m);
	}
	for (int i = 0; i < all.nsets && rc == 0; i++)
		if (all.set[i].from == r && all.set[i].cpu == cpu)
			rc = rank_adapted(&all.set[i], fold, m, e);
	return rc;
}

/* Learns from the other CPUs, without the families of the fold; ranks those of this CPU. */
static int leave_out(const char *cpu, int fold, struct err *e)
{
	const struct recorded *from = &all.learned;
	struct model *m = model_new(dataset_features(&from->data));
	char *use = xcalloc(from->data.groups.n + 1, 1);
	struct automl chosen = {.members = 1};
	int rc;

	automl_default(&chosen.member[0], 1);
	for (size_t i = 0; i < from->data.groups.n; i++) {
		const struct data_group *g = dataset_group(&from->data, i);

		use[i] = g->best_s > 0 && !is_of(from, g, cpu) && fold_of(from, g) != fold;
	}
	rc = train_bag(&from->data, use, &chosen, BAG, &m->stage[0], e);
	m->nstages = 1;
	m->scale = 1;
	if (rc == 0)
		rc = rank_fold(fold == TEST ? &all.test : from, cpu, fold, m, e);
	free(use);
	model_free(m);
	return rc;
}

static int leave_out_all(struct err *e)
{
	int rc = 0;

	for (int i = 0; i < all.ncpus && rc == 0; i++) {
		fprintf(stderr, "leaving out %s\n", all.cpu[i]);
		for (int fold = 0; fold <= TEST && rc == 0; fold++)
			if (fold != TEST || all.test.data.groups.n)
				rc = leave_out(all.cpu[i], fold, e);
	}
	return rc;
}

static void print(const struct set *s)
{
	if (!s->score[BY_DRAFT].groups)
		return;
	printf("{\"tl\":1,\"type\":\"left-out\",\"cpu\":\"%s\",\"isa\":\"%s\",\"threads\":%d,\"cache\":\"%s\","
	       "\"networks\":\"%s\",\"workloads\":%lld",
	       s->cpu, s->env->limits.isa, s->env->limits.threads, caches_name(s->env->caches),
	       s->from->kind, (long long)s->score[BY_DRAFT].groups);
	for (int i = 0; i < BYS; i++)
		if (s->score[i].groups)
			tops_print(by_name[i], &s->score[i], 0);
	tops_print("random", &s->score[BY_DRAFT], 1);
	printf(",\"reach\":{");
	for (int i = 0; i <= BYS; i++)
		if (s->weight[i] > 0)
			printf("%s\"%s\":%.2f", i ? "," : "", i < BYS ? by_name[i] : "random",
			       s->reach[i] / s->weight[i]);
	printf("}}\n");
}

static void free_recorded(struct recorded *r)
{
	map_free(&r->cpu);
	dataset_close(&r->data);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct limits here;

	if (argc < 3) {
		fprintf(stderr, "usage: left-out MODEL FILE... [-- FILE...]\n");
		return 2;
	}
	all.learned.kind = "held-out";
	all.test.kind = "test";
	if (target_default()->limits(&here, &e) == 0) {
		dataset_open(&all.learned.data, target_default(), &here);
		dataset_open(&all.test.data, target_default(), &here);
		if (strcmp(argv[1], "-") != 0)
			all.model = model_load(argv[1], &features_threads, &e);
		if (!*e.msg && read_all(argv + 2, &e) == 0 && leave_out_all(&e) == 0)
			for (int i = 0; i < all.nsets; i++)
				print(&all.set[i]);
		free_recorded(&all.learned);
		free_recorded(&all.test);
	}
	model_free(all.model);
	arena_free(&all.arena);
	if (*e.msg)
		fprintf(stderr, "left-out: %s\n", e.msg);
	return *e.msg ? 3 : 0;
}
