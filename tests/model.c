/* What models are made of: scores, features, boosters, schedules that travel. Features and
 * schedules are looked at on machines that are named here, whatever machine this is. */
#include <math.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/model/boost.h"
#include "lib/model/dataset.h"
#include "lib/model/fit.h"
#include "lib/model/model.h"
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

static const char *const problems[] = {"mb1_ic64ih14_oc64oh14_kh1", "mb1_ic32ih28_oc48oh28_kh3ph1",
				       "mb1_ic16ih30_oc40oh15_kh3sh2ph1",
				       "mb1_ic3ih32_oc24oh32_kh5ph2"};
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

static struct data_env env;

static void use_machine(const struct machine *m)
{
	if (target_isa_limits(m->isa, &env.limits) < 0)
		bail_out("%s is unknown", m->isa);
	env.limits.threads = m->threads;
	env.limits.l1d = m->l1d;
	env.limits.l2 = m->l2;
	env.limits.l3 = m->l3;
	features_rates(&env.limits, &env.rates);
}

static void space_of(const char *prob, struct workload *w, struct search_space *s)
{
	struct err e = ERR_INIT;

	if (workload_from_text(w, "conv2d", prob, NULL, "bias,relu", &e) < 0)
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
static int count_dead(const int varies[FEATURES])
{
	int dead = 0;

	for (int k = 0; k < FEATURES; k++) {
		/* Of a machine alone, or of shapes that are not among these. */
		int may = !strcmp(feature_name[k], "conflicts") ||
			  !strncmp(feature_name[k], "move_l2", 7) ||
			  !strcmp(feature_name[k], "from_memory") ||
			  !strcmp(feature_name[k], "from_l3") || strstr(feature_name[k], "_l2") ||
			  !strcmp(feature_name[k], "roof_compute") ||
			  !strcmp(feature_name[k], "extra_l1");

		if (!varies[k] && !may) {
			printf("# %s never varies\n", feature_name[k]);
			dead++;
		}
	}
	return dead;
}

static void test_features(const struct machine *m)
{
	struct arena scratch = ARENA_INIT;
	int wild = 0, same = 1, known[FEATURES] = {0}, varies[FEATURES] = {0};
	float f[FEATURES], again[FEATURES], first[FEATURES];
	struct rng rng;
	double draft_s;

	rng_seed(&rng, 1, "features");
	for (int p = 0; p < PROBLEMS; p++) {
		struct search_space s;
		struct workload w;

		space_of(problems[p], &w, &s);
		for (int i = 0; i < CANDIDATES; i++) {
			struct candidate c;

			if (!draw(&s, &rng, &c))
				bail_out("no candidate of %s", problems[p]);
			arena_reset(&scratch);
			if (candidate_features(&c, &env, &scratch, &draft_s, f, NULL) < 0)
				continue;
			arena_reset(&scratch);
			candidate_features(&c, &env, &scratch, &draft_s, again, NULL);
			same &= !memcmp(f, again, sizeof f);
			for (int k = 0; k < FEATURES; k++) {
				wild += isinf(f[k]);
				if (isnan(f[k]))
					continue;
				if (!known[k]++)
					first[k] = f[k];
				varies[k] |= f[k] != first[k];
			}
		}
	}
	ok(!wild, "%s: no feature is infinite", m->isa);
	ok(same, "the same candidate has the same features");
	if (m == machines)
		ok(!count_dead(varies), "features differ from candidate to candidate");
	arena_free(&scratch);
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

static void test_boost(const char *dir)
{
	static float x[ROWS * FEATURES], label[ROWS], out[ROWS], back[ROWS];
	const struct boost_data data = {x, ROWS, FEATURES, label, NULL, NULL};
	struct boost_params p = params();
	struct buf bytes = BUF_INIT, text = BUF_INIT;
	struct err e = ERR_INIT;
	struct boost *b, *loaded;
	char path[256];
	int right = 0;

	fill(x, label, ROWS);
	b = boost_train(&p, &data, &e);
	if (!ok(b != NULL, "trees are trained %s", e.msg))
		return;
	boost_predict(b, x, ROWS, FEATURES, out, &e);
	for (int i = 0; i < ROWS; i++)
		right += fabsf(out[i] - label[i]) < 0.1F;
	ok(right > ROWS * 9 / 10, "and learn: %d of %d", right, ROWS);
	boost_save(b, &bytes, &e);
	loaded = boost_load(bytes.s, bytes.n, &e);
	boost_predict(loaded, x, ROWS, FEATURES, back, &e);
	ok(!memcmp(out, back, sizeof out), "saved and loaded they say the same");
	boost_free(loaded);
	boost_free(b);
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
	if (b) {
		struct model *m = model_new();
		FILE *f;

		m->nstages = m->stage[0].n = 1;
		m->stage[0].bag[0] = b;
		model_print(m, "", &text, &e);
		model_free(m);
		snprintf(path, sizeof path, "%s/model", dir);
		f = fopen(path, "we");
		if (!f || fwrite(text.s, 1, text.n, f) != text.n || fclose(f))
			bail_out("cannot write %s", path);
		m = model_load(path, &e);
		ok(!m && e.status == EXIT_INPUT && strstr(e.msg, "no number"),
		   "a model that answers with what is no number is refused: %s", e.msg);
		model_free(m);
		remove(path);
	} else {
		skip("XGBoost itself refuses such trees: %s", e.msg);
	}
	buf_free(&bytes);
	buf_free(&text);
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
	char dir[] = "/tmp/tl-model-XXXXXX";

	if (!mkdtemp(dir))
		bail_out("no folder under /tmp");
	test_score();
	test_boost(dir);
	ok(strlen(features_version()) == 8, "features have a version");
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		use_machine(&machines[i]);
		test_features(&machines[i]);
		test_schedules(&machines[i]);
	}
	remove(dir);
	return done_testing();
}
