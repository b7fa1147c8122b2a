/* What models are made of: scores, features, boosters, schedules that travel. Features and
 * schedules are looked at on machines that are named here, whatever machine this is. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/io/field.h"
#include "lib/model/boost.h"
#include "lib/model/dataset.h"
#include "lib/features/features_blocks.h"
#include "lib/model/fit.h"
#include "lib/model/model.h"
#include "lib/draft/reach.h"
#include "lib/model/score.h"
#include "lib/search/schedule.h"
#include "lib/target/target.h"
#include "tests/tap.h"

static int is_near(double a, double b)
{
	return fabs(a - b) < 1e-9 * (1 + fabs(b));
}

/* ---- scores ---- */

static void test_score(void)
{
	const double latency[] = {4, 1, 2, 8}, good[] = {-4, -1, -2, -8}, bad[] = {4, 1, 2, 8};
	const double sorted[] = {1, 2, 4, 8};
	struct score s = {0}, worst = {0};

	ok(is_near(score_expected_best(sorted, 4, 1), 15.0 / 4), "one of four drawn: their mean");
	ok(is_near(score_expected_best(sorted, 4, 2), (3 * 1 + 2 * 2 + 1 * 4) / 6.0),
	   "the better of two: over all pairs");
	ok(is_near(score_expected_best(sorted, 4, 4), 1), "all of them: the best");
	score_add(&s, good, latency, 4, 3);
	ok(is_near(score_top(&s, 0), 1) && is_near(s.ndcg, 1) && is_near(s.spearman, 1) &&
		   is_near(s.pairwise, 1),
	   "the right order has full marks");
	score_add(&worst, bad, latency, 4, 1);
	ok(is_near(worst.ratio[0], 1.0 / 8) && is_near(worst.spearman, -1) &&
		   is_near(worst.pairwise, 0),
	   "and the wrong one none");
	ok(is_near(worst.ratio[1], 1), "the first five of four hold the best");
	score_add(&s, bad, latency, 4, 1);
	ok(is_near(score_top(&s, 0), (3 * 1 + 1.0) / (3 * 1 + 8)), "groups weigh by their counts");
	ok(is_near(s.worst[0], 1.0 / 8), "the worst is kept");
}

/* ---- features ---- */

static const char *const problems[] = {
	"mb1_ic64ih14_oc64oh14_kh1",	   "mb1_ic32ih28_oc48oh28_kh3ph1",
	"mb1_ic16ih30_oc40oh15_kh3sh2ph1", "mb1_ic3ih32_oc24oh32_kh5ph2",
	"mb1_ic64ih56_oc64oh56_kh1",	   "mb1_ic32ih14_oc40oh14_kh1 bf16"};
enum { PROBLEMS = sizeof problems / sizeof *problems, CANDIDATES = 60 };

/* The first has most that can differ from program to program. */
static const struct machine {
	const char *isa;
	int threads;
	int64_t l1d, l2, l3;
} machines[] = {
	{"avx512", 2, 32 << 10, 1 << 20, 8 << 20},
	{"avx2", 1, 48 << 10, 512 << 10, 32 << 20},
	{"scalar", 16, 16 << 10, 256 << 10, 2 << 20},
};

/* Of blocks of threads: products, split or not, and a depthwise convolution. */
static const char *const block_problems[] = {
	"mb1_ic64ih14_oc64oh14_kh1", "mb1_ic512ih7_oc512oh7_kh3ph1",
	"mb16_ic32ih28_oc48oh28_kh3ph1", "mb1_g32_ic32ih28_oc32oh28_kh3ph1"};
enum { BLOCK_PROBLEMS = sizeof block_problems / sizeof *block_problems };

static struct data_env env;

static void use_machine(const struct machine *m)
{
	if (target_isa_limits(m->isa, &env.limits) < 0)
		bail_out("%s is unknown", m->isa);
	env.limits.threads = m->threads;
	env.limits.l1d = m->l1d;
	env.limits.l2 = m->l2;
	env.limits.l3 = m->l3;
	env.caches = CACHES_WEIGHTS_COLD;
	features_rates(&env.limits, &env.rates);
}

/* text: a problem, and the element types if they are not f32. */
static void space_of(const char *text, struct workload *w, struct search_space *s)
{
	char prob[PROB_MAX], dtype[DTYPES_TEXT] = "f32";
	struct err e = ERR_INIT;

	if (sscanf(text, "%319s %15s", prob, dtype) < 1 ||
	    workload_from_text(w, "conv2d", prob, NULL, "bias,relu", &e) < 0 ||
	    workload_set_dtype(w, dtype, strlen(dtype), &e) < 0)
		bail_out("%s", e.msg);
	search_space_init(s, w, &env, NULL);
}

static int draw(const struct search_space *s, struct rng *rng, struct candidate *c)
{
	c->w = *s->w;
	for (int i = 0; i < 10000; i++)
		if (search_space_at(s, rng_below(rng, s->start[s->nalgos]), c)) {
			candidate_identify(c);
			return 1;
		}
	return 0;
}

/* Names features that are the same for all programs; returns how many. */
static int count_dead(const struct feature_list *l, const int varies[FEATURES])
{
	int dead = 0;

	for (int k = 0; k < l->n; k++) {
		/* Of a machine alone, or of shapes that are not among these. */
		int may = !strcmp(l->name[k], "conflicts") || !strncmp(l->name[k], "move_l2", 7) ||
			  !strcmp(l->name[k], "from_memory") || !strcmp(l->name[k], "from_l3") ||
			  strstr(l->name[k], "_l2") || !strcmp(l->name[k], "roof_compute") ||
			  !strcmp(l->name[k], "extra_l1") ||
			  /* No algorithm reads or writes so that these would differ. */
			  !strcmp(l->name[k], "banks_read") ||
			  !strcmp(l->name[k], "sectors_written");

		if (!varies[k] && !may) {
			printf("# %s never varies\n", l->name[k]);
			dead++;
		}
	}
	return dead;
}

static void test_features(const struct machine *m, const char *const *problem, int problems_n)
{
	const struct feature_list *l = features_list(env.limits.target);
	struct arena scratch = ARENA_INIT;
	int wild = 0, same = 1, known[FEATURES] = {0}, varies[FEATURES] = {0};
	float f[FEATURES], again[FEATURES], first[FEATURES];
	struct rng rng;
	double draft_s;

	rng_seed(&rng, 1, "features");
	for (int p = 0; p < problems_n; p++) {
		struct search_space s;
		struct workload w;

		space_of(problem[p], &w, &s);
		for (int i = 0; i < CANDIDATES; i++) {
			struct candidate c;

			if (!draw(&s, &rng, &c))
				bail_out("no candidate of %s", problem[p]);
			arena_reset(&scratch);
			if (candidate_features(&c, &env, &scratch, &draft_s, f, NULL) < 0)
				continue;
			arena_reset(&scratch);
			candidate_features(&c, &env, &scratch, &draft_s, again, NULL);
			same &= !memcmp(f, again, sizeof f);
			for (int k = l->n; k < FEATURES; k++)
				wild += !isnan(f[k]);
			for (int k = 0; k < l->n; k++) {
				wild += isinf(f[k]);
				if (isnan(f[k]))
					continue;
				if (!known[k]++)
					first[k] = f[k];
				varies[k] |= f[k] != first[k];
			}
		}
	}
	ok(!wild, "%s: no feature is infinite, or beyond the list", m->isa);
	ok(same, "the same candidate has the same features");
	if (m == machines || l == &features_blocks)
		ok(!count_dead(l, varies), "features differ from candidate to candidate");
	arena_free(&scratch);
}

static void test_lists(void)
{
	char threads[FEATURES_VERSION + 1], blocks[FEATURES_VERSION + 1];
	const struct target *cuda = target_find("cuda", 4);

	features_version(&features_threads, threads);
	features_version(&features_blocks, blocks);
	ok(!strcmp(threads, "896f874a"),
	   "the features of threads are those of the model that ships");
	ok(strlen(blocks) == 8 && strcmp(threads, blocks) != 0, "those of blocks are others");
	ok(features_find(blocks, 8) == &features_blocks && !features_find("00000000", 8) &&
		   !features_find(blocks, 7),
	   "a version tells the list");
	ok(features_list(target_default()) == &features_threads &&
		   features_list(cuda) == &features_blocks,
	   "and so does a target");
}

/* ---- features of blocks ---- */

static struct warp_count banks(int threads, int bytes, int apart, int by)
{
	int64_t at[WARP_THREADS];

	for (int t = 0; t < WARP_THREADS; t++)
		at[t] = t / by * apart;
	return warp_banks(at, threads, bytes, 4);
}

static struct warp_count sectors(int bytes, int apart, int from)
{
	int64_t at[WARP_THREADS];

	for (int t = 0; t < WARP_THREADS; t++)
		at[t] = from + t * apart;
	return warp_sectors(at, WARP_THREADS, bytes, 4);
}

static int counts(struct warp_count c, double done, double least)
{
	if (c.done != done || c.least != least)
		printf("# %g of at least %g\n", c.done, c.least);
	return c.done == done && c.least == least;
}

static void test_warps(void)
{
	ok(counts(banks(32, 4, 1, 1), 1, 1) && counts(banks(32, 4, 33, 1), 1, 1),
	   "words side by side, or 33 apart, are in banks of their own");
	ok(counts(banks(32, 4, 2, 1), 2, 1) && counts(banks(32, 4, 32, 1), 32, 1),
	   "words 2 apart take two turns, and 32 apart one for each thread");
	ok(counts(banks(32, 4, 0, 1), 1, 1) && counts(banks(32, 4, 32, 16), 2, 1),
	   "threads that want the same word get it together");
	ok(counts(banks(32, 16, 4, 1), 4, 4) && counts(banks(32, 16, 16, 1), 16, 4),
	   "a quarter of a warp reads vectors of four at a time");
	ok(counts(banks(16, 16, 4, 1), 2, 2), "a warp may have fewer threads");
	ok(counts(sectors(4, 1, 0), 4, 4) && counts(sectors(4, 1, 1), 5, 4),
	   "words side by side fill four sectors, or touch a fifth");
	ok(counts(sectors(4, 8, 0), 32, 4) && counts(sectors(4, 8, -5), 32, 4),
	   "words that lie apart have a sector each");
	ok(counts(sectors(16, 4, 0), 16, 16) && counts(sectors(16, 0, 0), 1, 1),
	   "so do vectors; a sector that all threads want is one");
}

/* 64 threads copy src to a block's memory, and read that transposed, or not. */
static void predict_copy(int64_t stride, int64_t apart, struct occupancy *o)
{
	struct arena a = ARENA_INIT;
	static struct nest n;
	struct occupancy phase[NEST_PHASES];
	int src, dst, memory, block, t, u;

	nest_init(&n, &a, "copy");
	src = nest_arg(&n, "src", TENSOR_SRC, 64 * 64 * stride, 0);
	dst = nest_arg(&n, "dst", TENSOR_DST, 64 * 64, 1);
	memory = nest_block(&n, "memory", 64 * apart);
	block = nest_for(&n, LOOP_PARALLEL, "b", af(0), af(64));
	t = nest_for_threads(&n, "t", 64);
	nest_store(&n, memory, af_var(t), NULL,
		   ex_load(&n, src, 1,
			   af_add(af_mul(af_var(block), 64 * stride), af_mul(af_var(t), stride)),
			   NULL));
	nest_close(&n);
	t = nest_for_threads(&n, "t", 64);
	u = nest_let(&n, "u", af_mul(af_var(t), apart)); /* a value of each thread */
	nest_store(&n, dst, af_add(af_mul(af_var(block), 64), af_var(t)), NULL,
		   ex_load(&n, memory, 1, af_var(u), NULL));
	nest_close_to(&n, 0);
	occupancy_predict(&n, &env.limits, phase);
	*o = phase[0];
	arena_free(&a);
}

static int is_twice(struct warp_count c, double done, double least)
{
	return counts(c, 2 * done, 2 * least); /* two warps */
}

/* 64 blocks of threads with a branch: in 4 turns of q they copy an element. */
static void predict_branch(int threads,
			   struct affine (*condition)(struct nest *n, int block, int q, int t),
			   int64_t end, int otherwise, struct occupancy *o)
{
	struct arena a = ARENA_INIT;
	static struct nest n;
	struct occupancy phase[NEST_PHASES];
	int src, dst, block, q, t;

	nest_init(&n, &a, "branch");
	src = nest_arg(&n, "src", TENSOR_SRC, 1024, 0);
	dst = nest_arg(&n, "dst", TENSOR_DST, 1024, 1);
	block = nest_for(&n, LOOP_PARALLEL, "b", af(0), af(64));
	q = nest_for(&n, LOOP_UNROLL, "q", af(0), af(4));
	t = nest_for_threads(&n, "t", threads);
	nest_if_less(&n, condition(&n, block, q, t), af(end));
	if (otherwise)
		nest_else(&n);
	nest_store(&n, dst, af_var(t), NULL, ex_load(&n, src, 1, af_var(t), NULL));
	nest_close_to(&n, 0);
	occupancy_predict(&n, &env.limits, phase);
	*o = phase[0];
	arena_free(&a);
}

static struct affine by_thread(struct nest *n, int block, int q, int t)
{
	(void)n, (void)block, (void)q;
	return af_var(t);
}

static struct affine by_turn(struct nest *n, int block, int q, int t)
{
	(void)n, (void)block, (void)t;
	return af_var(q);
}

static struct affine by_unit(struct nest *n, int block, int q, int t)
{
	(void)q;
	return af_var(nest_let(n, "u", af_add(af_mul(af_var(block), 256), af_var(t))));
}

static struct affine by_turn_and_thread(struct nest *n, int block, int q, int t)
{
	(void)n, (void)block;
	return af_add(af_mul(af_var(q), 64), af_var(t));
}

static struct affine by_column(struct nest *n, int block, int q, int t)
{
	(void)block, (void)q;
	return af_var(nest_let_mod(n, "column", af_var(t), 16));
}

static struct affine by_row(struct nest *n, int block, int q, int t)
{
	(void)block, (void)q;
	return af_var(nest_let_div(n, "row", af_var(t), 16));
}

/* A loop that has another number of turns in each thread: not known. */
static struct affine by_own_turn(struct nest *n, int block, int q, int t)
{
	(void)block, (void)q;
	return af_var(nest_for(n, LOOP_SERIAL, "i", af_var(t), af_add(af_var(t), af(1))));
}

static void test_branches(void)
{
	static const struct {
		const char *what;
		struct affine (*condition)(struct nest *n, int block, int q, int t);
		int64_t end;
		int threads, otherwise;
		double active, warps; /* of threads and warps, all turns together */
	} cases[] = {
		{"all threads", by_thread, 256, 256, 0, 1024, 32},
		{"37 of 256 threads", by_thread, 37, 256, 0, 4 * 37, 4 * 2},
		{"one thread", by_thread, 1, 256, 0, 4, 4},
		{"no thread", by_thread, 0, 256, 0, 0, 0},
		{"the other 219", by_thread, 37, 256, 1, 4 * 219, 4 * 7},
		{"97 of 100 threads", by_thread, 97, 100, 0, 4 * 97, 4 * 4},
		{"96 of 100 threads", by_thread, 96, 100, 0, 4 * 96, 4 * 3},
		{"5 of 24 threads", by_thread, 5, 24, 0, 4 * 5, 4},
		{"3 of 4 turns", by_turn, 3, 256, 0, 768, 24},
		{"no turn", by_turn, 0, 256, 0, 0, 0},
		{"40 of 64 blocks", by_unit, 40 * 256, 256, 0, 640, 20},
		{"fewer threads in each turn", by_turn_and_thread, 100, 64, 0, 64 + 36, 2 + 2},
		{"5 of 16 columns", by_column, 5, 256, 0, 4 * 80, 32},
		{"3 of 16 rows", by_row, 3, 256, 0, 4 * 48, 4 * 2},
		{"what is not known", by_own_turn, 0, 256, 0, 1024, 32},
		{"what is not known, otherwise", by_own_turn, 0, 256, 1, 0, 0},
	};
	struct occupancy o;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const int lanes = cases[i].threads < 32 ? cases[i].threads : 32;
		double issued = cases[i].warps * lanes;

		if (cases[i].threads == 100) /* its last warp counts as a fourth of 100 threads */
			issued = cases[i].warps * 25;
		predict_branch(cases[i].threads, cases[i].condition, cases[i].end,
			       cases[i].otherwise, &o);
		ok(is_near(o.global_bytes, 8 * cases[i].active) && is_near(o.accesses, 2 * issued),
		   "%s: %g bytes by threads, %g accesses by warps", cases[i].what, o.global_bytes,
		   o.accesses);
	}
	predict_branch(256, by_thread, 0, 0, &o);
	ok(o.instructions == 0 && o.sectors[OCCUPANCY_READ].done == 0,
	   "what no thread does takes no instruction and touches no sector");
}

/* Candidates whose products tensor cores compute. */
static void test_tensor_cores(void)
{
	struct arena scratch = ARENA_INIT;
	float f[FEATURES], least = INFINITY, share = INFINITY, issue = INFINITY, copied = 0;
	int n = 0, missing = 0;
	struct search_space s;
	struct workload w;
	struct rng rng;
	double draft_s;

	rng_seed(&rng, 3, "tensor cores");
	space_of(block_problems[2], &w, &s);
	for (int i = 0; i < 20 * CANDIDATES; i++) {
		struct candidate c;

		if (!draw(&s, &rng, &c) || strcmp(c.algo->name, "implicit_mma") != 0)
			continue;
		arena_reset(&scratch);
		if (candidate_features(&c, &env, &scratch, &draft_s, f, NULL) < 0)
			continue;
		n++;
		missing += isnan(f[BLOCK_FEATURE_waits]) || isnan(f[BLOCK_FEATURE_work_each]);
		least = fminf(least, f[BLOCK_FEATURE_waste]);
		share = fminf(share, f[BLOCK_FEATURE_mma_share]);
		issue = fminf(issue, f[BLOCK_FEATURE_mma_issue]);
		copied = fmaxf(copied, f[BLOCK_FEATURE_copied]);
	}
	ok(n > 20 && !missing && least >= 1 && least < 1.5F,
	   "%d candidates of tensor cores do at least the work there is: %g of it", n,
	   (double)least);
	ok(share >= 1 && issue > 0 && issue < 1 && copied > 0 && copied <= 1,
	   "tensor cores do it all, and some copy asynchronously");
	arena_free(&scratch);
}

/* 3 blocks share 5 tiles of 8 chunks, and have so many whole tiles each: the first one has a
 * stretch of 14 chunks, which are a tile and a part. */
static void test_shared_tiles(const char *prob, int whole)
{
	struct candidate c = {.algo = algo_find("implicit_mma", strlen("implicit_mma"))};
	const double chunks = 14 + 8 * whole, tile_bytes = 64 * 64 * sizeof(float);
	struct arena a = ARENA_INIT;
	struct occupancy phase[NEST_PHASES];
	struct err e = ERR_INIT;
	static struct nest n;
	int phases;

	if (workload_from_text(&c.w, "matmul", prob, NULL, NULL, &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < c.algo->nknobs; i++)
		c.knob[i] = strcmp(c.algo->knob[i].name, "stream_k") ? c.algo->knob[i].frozen : 3;
	nest_init(&n, &a, "kernel");
	if (candidate_build(&c, &n, &e) < 0)
		bail_out("%s", e.msg);
	phases = occupancy_predict(&n, &env.limits, phase);
	ok(phases == 2 && phase[0].blocks == 3 && is_near(phase[0].mma_fmas, chunks * 64 * 64 * 32),
	   "of a block that shares tiles %g chunks are counted, of %g",
	   phase[0].mma_fmas / (64 * 64 * 32), chunks);
	ok(is_near(phase[0].sectors[OCCUPANCY_WRITE].done * 32, (2 + whole) * tile_bytes),
	   "and its tiles, by what it writes");
	arena_free(&a);
}

static int is_runs(const struct runs *r, int n, int64_t elements)
{
	return r->n == n && runs_elements(r) == elements;
}

static void test_runs(void)
{
	struct runs r = {0};

	runs_add(&r, (struct interval){10, 19});
	runs_add(&r, (struct interval){30, 39});
	ok(is_runs(&r, 2, 20), "intervals that lie apart stay so");
	runs_add(&r, (struct interval){20, 24});
	ok(is_runs(&r, 2, 25) && r.at[0].high == 24, "one that touches another makes it longer");
	runs_add(&r, (struct interval){15, 34});
	ok(is_runs(&r, 1, 30), "one that overlaps both joins them");
	for (int i = 0; i < 2 * REACH_RUNS; i++)
		runs_add(&r, (struct interval){100 + 10 * i, 100 + 10 * i});
	ok(r.n < REACH_RUNS && r.at[0].low == 10 && r.at[r.n - 1].high == 90 + 20 * REACH_RUNS,
	   "where there is no room for more, they grow");
}

/* 64 threads load 3 elements each from their own one on, in so many rows. */
static double l2_bytes_of_taps(int64_t rows, int64_t row)
{
	struct arena a = ARENA_INIT;
	static struct nest n;
	struct occupancy phase[NEST_PHASES];
	int src, dst, t, i, j;

	nest_init(&n, &a, "taps");
	src = nest_arg(&n, "src", TENSOR_SRC, row * rows + 66, 0);
	dst = nest_arg(&n, "dst", TENSOR_DST, 64, 1);
	nest_for(&n, LOOP_PARALLEL, "b", af(0), af(1));
	t = nest_for_threads(&n, "t", 64);
	i = nest_for(&n, LOOP_SERIAL, "i", af(0), af(rows));
	nest_unroll_hint(&n, 1);
	j = nest_for(&n, LOOP_UNROLL, "j", af(0), af(3));
	nest_store(&n, dst, af_var(t), NULL,
		   ex_load(&n, src, 1, af_sum(af_mul(af_var(i), row), af_var(t), af_var(j)), NULL));
	nest_close_to(&n, 0);
	occupancy_predict(&n, &env.limits, phase);
	ok(is_near(phase[0].latencies, (double)rows), "each turn of a loop waits for memory");
	arena_free(&a);
	return phase[0].l2_bytes - 4.0 * 64 * 3 * (double)rows; /* without what is stored */
}

/* Seconds that the draft expects of a depthwise convolution. */
static double depthwise_seconds(int threads, int pixels, int rows)
{
	static const char *const names[] = {"threads", "pixels", "rows", "vl"};
	const int64_t values[] = {threads, pixels, rows, 4};
	struct candidate c = {.algo = algo_find("depthwise_threads", strlen("depthwise_threads"))};
	struct arena a = ARENA_INIT;
	struct occupancy phase[NEST_PHASES];
	struct err e = ERR_INIT;
	static struct nest n;

	if (workload_from_text(&c.w, "conv2d", "g96ic96ih56oc96oh56kh3ph1", "nhwc", "bias,relu6",
			       &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < c.algo->nknobs; i++) {
		c.knob[i] = c.algo->knob[i].frozen;
		for (int j = 0; j < 4; j++)
			if (!strcmp(c.algo->knob[i].name, names[j]))
				c.knob[i] = values[j];
	}
	nest_init(&n, &a, "kernel");
	if (candidate_build(&c, &n, &e) < 0)
		bail_out("%s", e.msg);
	occupancy_predict(&n, &env.limits, phase);
	arena_free(&a);
	return phase[0].seconds;
}

/* An H100 took 6.2 us with 19 blocks of 512 threads, and 4.7 us with 74 of 128. */
static void test_few_threads(void)
{
	const double few = depthwise_seconds(512, 8, 1), more = depthwise_seconds(128, 8, 1);
	const double many = depthwise_seconds(128, 2, 2);

	ok(few > 1.2 * more, "19 blocks leave processors idle: %.2f us, %.2f us with 74", few * 1e6,
	   more * 1e6);
	ok(more > 1.1 * many, "threads of four pixels are fast enough for 132: %.2f us",
	   many * 1e6);
}

static void test_blocks(void)
{
	static const struct machine gpu = {"sm_90", 132, 227 << 10, 50 << 20, 50 << 20};
	struct occupancy o;

	use_machine(&gpu);
	predict_copy(1, 1, &o);
	ok(is_twice(o.sectors[OCCUPANCY_READ], 4, 4) && is_twice(o.banks[OCCUPANCY_READ], 1, 1) &&
		   is_twice(o.sectors[OCCUPANCY_WRITE], 4, 4) &&
		   is_twice(o.banks[OCCUPANCY_WRITE], 1, 1),
	   "a copy in order has no conflict, and no sector twice");
	ok(o.accesses == 256 && o.waits == 2 && o.blocks == 64, "its counts are right");
	ok(is_near(o.busy, 64.0 / 132) && o.waves == 1 &&
		   is_near(o.threads_used, o.together * 64 / 2048.0),
	   "64 blocks leave places of 132 processors empty");
	predict_copy(4, 32, &o);
	ok(is_twice(o.sectors[OCCUPANCY_READ], 16, 4) && is_twice(o.banks[OCCUPANCY_READ], 32, 1),
	   "values apart cost sectors, and conflicts");
	test_branches();
	test_runs();
	ok(is_near(l2_bytes_of_taps(1, 0), 4 * 66), "what threads load again comes once");
	ok(is_near(l2_bytes_of_taps(5, 1000), 5 * 4 * 66), "rows that lie apart come once each");
	test_few_threads();
	test_features(&gpu, block_problems, BLOCK_PROBLEMS);
	test_tensor_cores();
	test_shared_tiles("64x256:256x320", 0);
	test_shared_tiles("64x256:256x896", 3);
}

/* ---- boosters ---- */

static void no_curvature(void *arg, const float *sum, float *grad, float *hess, size_t rows)
{
	(void)arg, (void)sum;
	for (size_t i = 0; i < rows; i++) {
		grad[i] = 1e38F;
		hess[i] = 1e-38F;
	}
}

static struct boost_params params(void)
{
	return (struct boost_params){.objective = "reg:squarederror",
				     .rounds = 20,
				     .depth = 3,
				     .eta = 0.5,
				     .min_child = 0,
				     .subsample = 1,
				     .colsample = 1,
				     .lambda = 0,
				     .seed = 1};
}

/* One feature of FEATURES tells; the others are missing. */
static void fill(float *x, float *label, int rows)
{
	for (int i = 0; i < rows; i++) {
		for (int k = 0; k < FEATURES; k++)
			x[i * FEATURES + k] = k ? NAN : (float)i;
		label[i] = i < rows / 2 ? -1.0F : 1.0F;
	}
}

enum { ROWS = 200 };

static void test_boost(void)
{
	static float x[ROWS * FEATURES], label[ROWS], out[ROWS], back[ROWS];
	const struct boost_data data = {x, ROWS, FEATURES, label, NULL, NULL};
	struct boost_params p = params();
	struct buf bytes = BUF_INIT;
	struct err e = ERR_INIT;
	struct trees *b, *loaded;
	int right = 0;

	fill(x, label, ROWS);
	b = boost_train(&p, &data, &e);
	if (!ok(b != NULL, "trees are trained %s", e.msg))
		return;
	trees_predict(b, x, ROWS, out);
	for (int i = 0; i < ROWS; i++)
		right += fabsf(out[i] - label[i]) < 0.1F;
	ok(right > ROWS * 9 / 10, "and learn: %d of %d", right, ROWS);
	trees_save(b, &bytes);
	loaded = trees_read(bytes.s, bytes.n, FEATURES, &e);
	trees_predict(loaded, x, ROWS, back);
	ok(!memcmp(out, back, sizeof out), "saved and loaded they say the same");
	trees_free(loaded);
	trees_free(b);
	p.depth = 40;
	ok(!boost_train(&p, &data, &e) && strstr(e.msg, "range"),
	   "a parameter out of range is told");
	label[3] = NAN;
	p = params();
	ok(!boost_train(&p, &data, &e) && strstr(e.msg, "not finite"),
	   "so is a label that is none");

	/* Trees whose leaves are no numbers. */
	label[3] = 0;
	p.gradient = no_curvature;
	p.rounds = 1;
	b = boost_train(&p, &data, &e);
	if (b || strstr(e.msg, "no trees"))
		ok(!b, "trees whose leaves are no numbers are refused: %s", e.msg);
	else
		skip("XGBoost itself refuses such trees: %s", e.msg);
	trees_free(b);
	buf_free(&bytes);
}

/* ---- what was seen ---- */

static void test_seen(void)
{
	static const char shorter[] = "{\"seen\":{\"least\":[0,0,1],\"most\":[0,0,2]}}";
	struct seen s = {0}, read = {0};
	struct json_doc d = JSON_DOC_INIT;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	float x[FEATURES];

	for (int i = 0; i < FEATURES; i++)
		x[i] = NAN;
	x[2] = 100;
	ok(seen_beyond(&s, x) == -1,
	   "of a model that does not say what it has seen nothing is beyond");
	x[2] = 1;
	x[3] = 7;
	seen_add(&s, x);
	x[2] = 11;
	seen_add(&s, x);
	x[2] = NAN;
	seen_add(&s, x);
	field_object(&text, NULL);
	seen_print(&s, &text);
	buf_ch(&text, '}');
	if (json_parse(&d, text.s, text.n, &e) < 0)
		bail_out("%s", e.msg);
	seen_read(&read, &d);
	x[3] = 70; /* it never varied */
	ok(seen_beyond(&read, x) == -1, "what is missing is not beyond");
	x[2] = 11.9F;
	ok(seen_beyond(&read, x) == -1, "nor what is near the range");
	x[2] = 12.1F;
	ok(seen_beyond(&read, x) == 2, "a feature over the range is");
	x[2] = -0.1F;
	ok(seen_beyond(&read, x) == 2, "and one under it");
	if (json_parse(&d, shorter, strlen(shorter), &e) < 0)
		bail_out("%s", e.msg);
	seen_read(&read, &d);
	ok(seen_beyond(&read, x) == 2, "a list without the last features tells of the others");
	json_free(&d);
	buf_free(&text);
}

/* ---- failures ---- */

/* In the first half of the rows none fails, in the second half all do. */
static void test_failure(void)
{
	static float x[ROWS * FEATURES], label[ROWS], log_odds[ROWS];
	static double alone[ROWS], both[ROWS];
	const struct boost_data data = {x, ROWS, FEATURES, label, NULL, NULL};
	struct boost_params p = params();
	struct model *m = model_new(&features_threads);
	struct err e = ERR_INIT;
	int right = 0;

	fill(x, label, ROWS);
	m->nstages = m->stage[0].n = 1;
	m->stage[0].bag[0] = boost_train(&p, &data, &e);
	if (!m->stage[0].bag[0])
		bail_out("%s", e.msg);
	model_predict(m, x, ROWS, alone, NULL);
	for (int i = 0; i < ROWS; i++)
		label[i] = i >= ROWS / 2;
	p.objective = "binary:logistic";
	m->failure = boost_train(&p, &data, &e);
	if (!m->failure)
		bail_out("%s", e.msg);
	trees_predict(m->failure, x, ROWS, log_odds);
	model_predict(m, x, ROWS, both, NULL);
	for (int i = 0; i < ROWS; i++) {
		const double p_failure = 1 / (1 + exp(-(double)log_odds[i]));

		right += (p_failure > 0.5) == (i >= ROWS / 2) &&
			 is_near(alone[i] - both[i], fmin(-log2(1 - p_failure), 10));
	}
	ok(right == ROWS, "a value falls by the chance to fail, and never rises: %d of %d", right,
	   ROWS);
	model_free(m);
}

/* ---- files ---- */

/* Each value is a number, and their sum is none. */
static void test_overflow(void)
{
	char path[] = "/tmp/tl-model-XXXXXX";
	const struct trees_node leaf = {3e38F, -1, 0};
	struct model *m = model_new(&features_threads);
	struct trees *t = trees_new(FEATURES, 0);
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	int fd = mkstemp(path);

	trees_add(t, &leaf, 1);
	trees_add(t, &leaf, 1);
	m->nstages = m->stage[0].n = 1;
	m->stage[0].bag[0] = t;
	model_print(m, "", &text);
	model_free(m);
	if (fd < 0 || write(fd, text.s, text.n) != (ssize_t)text.n || close(fd))
		bail_out("cannot write %s", path);
	m = model_load(path, &features_threads, &e);
	ok(!m && e.status == EXIT_INPUT && strstr(e.msg, "no number"),
	   "a model that answers with what is no number is refused: %s", e.msg);
	model_free(m);
	unlink(path);
	buf_free(&text);
}

/* ---- a portfolio for each instruction set ---- */

static int met(const char *isa)
{
	struct limits here = {.l1d = 32768, .l2 = 1 << 20};
	struct model *m = model_new(&features_threads);
	int n;

	for (int i = 0; i < 5; i++) {
		struct schedule *s = &m->portfolio[m->nportfolio++];

		s->algo = algo_find("gemm", 4);
		snprintf(s->isa, sizeof s->isa, i % 2 ? "avx2" : "avx512");
	}
	snprintf(here.isa, sizeof here.isa, "%s", isa);
	model_meet(m, &here);
	n = m->nportfolio;
	for (int i = 0; i < n && n < 5; i++)
		n = strcmp(m->portfolio[i].isa, isa) ? -1 : n;
	model_free(m);
	return n;
}

static void test_portfolio(void)
{
	ok(met("avx512") == 3 && met("avx2") == 2,
	   "of a portfolio the schedules for the machine's instruction set stay");
	ok(met("scalar") == 5, "or all, if there are none for it");
}

/* ---- types that a model learned from ---- */

static int knows(const struct model *m, const char *types)
{
	struct dtypes d;

	if (dtypes_parse(&d, types, strlen(types)))
		bail_out("%s are no types", types);
	return model_knows(m, &d);
}

static void test_types(void)
{
	struct limits home = {.isa = "avx512", .l1d = 32768, .l2 = 1 << 20}, other = home;
	struct model *m = model_new(&features_threads);
	float x[FEATURES];

	for (int i = 0; i < FEATURES; i++)
		x[i] = NAN;
	x[FEATURE_element] = 5;
	seen_add(&m->seen, x);
	ok(knows(m, "f32") && !knows(m, "bf16") && !knows(m, "u8:s8:u8"),
	   "a model that learned in single precision knows no other types");
	x[FEATURE_element] = 4;
	seen_add(&m->seen, x);
	m->machine[m->nmachines++] = (struct model_machine){"avx512", home.l1d, home.l2, 32 | 16};
	model_meet(m, &home);
	ok(knows(m, "f32") && knows(m, "bf16") && knows(m, "bf16:bf16:f32") &&
		   !knows(m, "u8:s8:u8"),
	   "one that learned from bf16, too, knows that");
	ok(!knows(m, "bf16:s8:bf16") && !knows(m, "f32:s8:f32"), "but not with narrower weights");
	other.l2 *= 2;
	model_meet(m, &other);
	ok(knows(m, "f32") && !knows(m, "bf16"),
	   "nor on another CPU, whose instructions may differ");
	model_free(m);
}

/* ---- a machine that a model did not learn from ---- */

static void test_abroad(void)
{
	static float x[ROWS * FEATURES], label[ROWS];
	const struct boost_data data = {x, ROWS, FEATURES, label, NULL, NULL};
	const struct boost_params p = params();
	struct limits home = {.isa = "avx2", .l1d = 32768, .l2 = 1 << 20}, other = home;
	struct model *m = model_new(&features_threads);
	double alone[2], home_values[2], shared[2], corrected[2];
	struct err e = ERR_INIT;

	fill(x, label, ROWS);
	for (int i = 0; i < 2; i++) {
		m->stage[i].n = 1;
		if (!(m->stage[i].bag[0] = boost_train(&p, &data, &e)))
			bail_out("%s", e.msg);
	}
	m->nstages = 1;
	x[FEATURE_draft] = 3; /* eight times the roofline's time; missing in the second row */
	x[FEATURE_cold] = 0;
	x[FEATURES + FEATURE_cold] = NAN;
	model_meet(m, &other);
	ok(is_near(m->draft_share, MODEL_HOME),
	   "a model that does not say where it learned is taken as at home");
	model_predict(m, x, 2, home_values, NULL);
	m->machine[m->nmachines++] = (struct model_machine){"avx2", home.l1d, home.l2, 32};
	model_share(m, 0);
	model_predict(m, x, 2, alone, NULL);
	model_meet(m, &home);
	model_predict(m, x, 2, shared, NULL);
	ok(is_near(shared[0], MODEL_HOME * -3 + (1 - MODEL_HOME) * alone[0]) &&
		   is_near(shared[0], home_values[0]),
	   "at home the draft has a small share: %g of %g and -3", shared[0], alone[0]);
	other.l2 *= 2;
	model_meet(m, &other);
	model_predict(m, x, 2, shared, NULL);
	ok(is_near(shared[0], MODEL_ABROAD * -3 + (1 - MODEL_ABROAD) * alone[0]),
	   "on another CPU it has: %g of %g and -3", shared[0], alone[0]);
	ok(is_near(shared[1], alone[1]), "but where it has no value");
	x[FEATURE_cold] = 2; /* cold operands make it four times as slow */
	model_predict(m, x, 2, corrected, NULL);
	ok(is_near(corrected[0], shared[0] - 2) && is_near(corrected[1], shared[1]),
	   "cold operands count in full, once");
	model_doubt(m, x, 1, corrected);
	ok(corrected[0] < -2 && corrected[0] > fmin(-5, shared[0] - 2) - 1e-6,
	   "also where the draft has its say: %g", corrected[0]);
	x[FEATURE_cold] = 0;
	m->nstages = 2;
	model_predict(m, x, 2, corrected, NULL);
	ok(is_near(corrected[0], shared[0] + alone[0]), "a correction is added as it is");
	snprintf(other.isa, sizeof other.isa, "avx512");
	other.l2 = home.l2;
	model_meet(m, &other);
	ok(m->draft_share > 0, "another instruction set is another machine, too");
	model_free(m);
}

/* ---- schedules ---- */

static void test_schedules(const struct machine *m)
{
	int fitted = 0, all = 0, own = 0, valid = 1, inverse = 1;
	struct rng rng;

	rng_seed(&rng, 2, "schedules");
	for (int p = 0; p < PROBLEMS; p++) {
		struct search_space from, to;
		struct workload here, there;

		space_of(problems[p], &there, &from);
		space_of(problems[(p + 1) % PROBLEMS], &here, &to);
		for (int i = 0; i < CANDIDATES; i++) {
			struct candidate c, f;
			struct schedule s;
			const char *why;
			uint64_t point;

			if (!draw(&from, &rng, &c))
				bail_out("no candidate of %s", problems[p]);
			inverse &= search_space_point(&from, &c, &point) &&
				   search_space_at(&from, point, &f) && f.algo == c.algo &&
				   !memcmp(f.knob, c.knob, sizeof *f.knob * (size_t)c.algo->nknobs);
			s.algo = c.algo;
			memset(s.knob, 0, sizeof s.knob);
			memcpy(s.knob, c.knob, sizeof *s.knob * (size_t)c.algo->nknobs);
			own += schedule_fit(&from, &s, &f) && !strcmp(f.id.s, c.id.s);
			all++;
			if (!schedule_fit(&to, &s, &f))
				continue;
			fitted++;
			valid &= algo_valid(f.algo, &f.w, f.knob, &why) &&
				 search_space_point(&to, &f, &point);
		}
	}
	ok(inverse, "%s: a candidate's point is the point that it is at", m->isa);
	ok(own == all, "a schedule fits its own workload as it is: %d of %d", own, all);
	ok(fitted > all / 3, "many fit another: %d of %d", fitted, all);
	ok(valid, "and are candidates of its space");
}

int main(void)
{
	test_score();
	test_boost();
	test_failure();
	test_overflow();
	test_seen();
	test_portfolio();
	test_types();
	test_abroad();
	test_lists();
	test_warps();
	test_blocks();
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		use_machine(&machines[i]);
		test_features(&machines[i], problems, PROBLEMS);
		test_schedules(&machines[i]);
	}
	return done_testing();
}
