/* The guided search finds what the draft likes in spaces most of whose points make no program: of
 * a convolution by tile registers one in 300 does. What it finds is as good as the best of many
 * points at random, for each seed. With a model it finds what the model values as much as the best
 * of many points, whichever algorithm that is of. */
#include <stdlib.h>

#include "lib/base/rng.h"
#include "lib/search/scored.h"
#include "lib/search/search.h"
#include "lib/space/isa.h"
#include "lib/target/target.h"
#include "tests/tap.h"

enum { POINTS = 200000, VALUED = 20000, SEEDS = 4 };

static struct data_env env_of(const char *isa, int64_t l2, int64_t l3)
{
	struct data_env env = {0};

	if (isa_limits(isa, &env.limits) < 0)
		bail_out("no such instruction set");
	env.limits.target = target_default();
	env.limits.threads = 2;
	env.limits.l1d = 48 << 10;
	env.limits.l2 = l2;
	env.limits.l3 = l3;
	features_rates(&env.limits, &env.rates);
	return env;
}

/* Makes a machine as a Granite Rapids is. */
static struct data_env env_of_tiles(void)
{
	struct data_env env = env_of("avx512_amx", 2 << 20, 64 << 20);

	env.limits.hz = 3.6e9;
	return env;
}

/* Returns the least time that the draft predicts of so many points at random. */
static double best_at_random(const struct search_space *s)
{
	uint64_t *point = xmalloc(sizeof *point * POINTS);
	double *draft_s = xmalloc(sizeof *draft_s * POINTS), best = 1;
	struct rng rng;
	int n;

	rng_seed(&rng, 7, "guided");
	for (int i = 0; i < POINTS; i++)
		point[i] = rng_below(&rng, s->start[s->nalgos]);
	n = search_space_drafts(s, point, POINTS, draft_s, NULL);
	for (int i = 0; i < n; i++)
		best = draft_s[i] < best ? draft_s[i] : best;
	free(draft_s);
	free(point);
	return best;
}

static double found(const struct search_space *s, uint64_t seed)
{
	struct candidate c;
	double draft_s;
	uint64_t point;

	if (search_guided_drafted(s, seed, &c, 1) != 1 || !search_space_point(s, &c, &point) ||
	    search_space_drafts(s, &point, 1, &draft_s, NULL) != 1)
		bail_out("the search found nothing");
	return draft_s;
}

static void check(const char *prob, const char *dtype)
{
	static struct search_space s;
	const struct data_env env = env_of_tiles();
	struct err e = ERR_INIT;
	struct workload w;
	double best;

	if (workload_from_text(&w, "conv2d", prob, "nhwc", "bias,relu", &e) < 0 ||
	    workload_set_dtype(&w, dtype, strlen(dtype), &e) < 0)
		bail_out("%s: %s", prob, e.msg);
	search_space_init(&s, &w, &env, NULL);
	best = best_at_random(&s);
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		ok(found(&s, seed) < 1.15 * best, "%s %s, seed %d: %.3g s, at random %.3g s", prob,
		   dtype, (int)seed, found(&s, seed), best);
}

/* Makes a machine as a Zen 5 is, with cold weights. */
static struct data_env env_with_model(void)
{
	struct data_env env = env_of("avx512_bf16", 1 << 20, 32 << 20);

	env.caches = CACHES_WEIGHTS_COLD;
	return env;
}

static double best_value(const struct search_space *s)
{
	uint64_t *point = xmalloc(sizeof *point * VALUED);
	double *value = xmalloc(sizeof *value * VALUED), best;
	struct rng rng;
	int n;

	rng_seed(&rng, 7, "valued");
	for (int i = 0; i < VALUED; i++)
		point[i] = rng_below(&rng, s->start[s->nalgos]);
	n = scored_values(s, point, VALUED, value, NULL);
	best = value[0];
	for (int i = 0; i < n; i++)
		best = value[i] > best ? value[i] : best;
	free(value);
	free(point);
	return best;
}

static double value_found(const struct search_space *s, uint64_t seed)
{
	struct arena a = ARENA_INIT;
	void *search = search_guided.start(s, seed, 0, &a);
	double value;
	uint64_t point;

	if (search_guided.propose(search, &point) != 1 ||
	    scored_values(s, &point, 1, &value, NULL) != 1)
		bail_out("the search found nothing");
	search_guided.stop(search);
	arena_free(&a);
	return value;
}

static void check_values(const struct model *m, const char *prob)
{
	static struct search_space s;
	const struct data_env env = env_with_model();
	struct err e = ERR_INIT;
	struct workload w;
	double best;

	if (workload_from_text(&w, "conv2d", prob, "nhwc", "bias,relu", &e) < 0)
		bail_out("%s: %s", prob, e.msg);
	search_space_init_even(&s, &w, &env);
	s.model = m;
	best = best_value(&s);
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		ok(value_found(&s, seed) > best - 0.1,
		   "%s, seed %d: %.3f by the model, at random %.3f", prob, (int)seed,
		   value_found(&s, seed), best);
}

int main(void)
{
	struct err e = ERR_INIT;
	struct model *m = model_load("share/models/cpu.model", &features_threads, &e);

	if (!m)
		bail_out("%s", e.msg);
	model_share(m, MODEL_HOME);
	check_values(m, "ic512ih7oc512oh7kh3ph1");
	check_values(m, "ic128ih28oc128oh28kh3ph1");
	check_values(m, "ic256ih14oc1024oh14kh1");
	model_free(m);
	check("ic160ih17iw17oc160oh17ow17kh1kw7ph0pw3", "bf16");
	check("ic160ih17iw17oc160oh17ow17kh1kw7ph0pw3", "u8:s8:u8");
	check("ic96ih35oc96oh35kh3ph1", "bf16");
	return done_testing();
}
