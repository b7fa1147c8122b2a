/* Which of a library's variants is the baseline (lib/trial/baseline.c), and how rows of calls are
 * started (lib/trial/timed.h): with a library whose variants take the time that they are told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trial/verify.h"
#include "tests/tap.h"

enum { VALUES = 4, MOST = 8 };

static const double GAP_S = 30e-6; /* between calls that this machine starts */

/* A variant. */
struct told {
	const char *name, *layout;
	double seconds;		  /* of a call, by a device that has it already */
	int waits;		  /* it cannot be captured */
	int calls;		  /* of its last row */
	int captured;		  /* calls of its row, if it is captured */
	int fails_at;		  /* the row or call that fails, from 1; 0: none */
	const char *fails_behind; /* it fails when this one was called just before */
	int kills;		  /* the device with it */
	int made;		  /* rows and calls */
};

static struct told *told;
static int ntold;
static double last_s;
static int is_dead;
static const char *last = ""; /* called */

static struct baseline *open_told(const struct workload *w, const struct baseline_data *data,
				  const struct baseline_choice *only, int n, struct err *e)
{
	static struct baseline r;
	extern const struct library library_told;

	(void)w, (void)data, (void)only, (void)n, (void)e;
	r.of = &library_told;
	return &r;
}

static int variants(const struct baseline *r)
{
	(void)r;
	return ntold;
}

static const char *name(const struct baseline *r, int variant)
{
	(void)r;
	return told[variant].name;
}

static const char *layout(const struct baseline *r, int variant)
{
	(void)r;
	return told[variant].layout;
}

static int capture(struct baseline *r, int variant, int calls)
{
	struct told *v = &told[variant];

	(void)r;
	v->captured = calls > 1 && !v->waits ? calls : 0;
	return v->captured > 0;
}

static int row(struct baseline *r, int variant, int calls, struct err *e)
{
	struct told *v = &told[variant];

	(void)r;
	v->made++;
	if (is_dead || (v->fails_at && v->made >= v->fails_at) ||
	    (v->fails_behind && !strcmp(v->fails_behind, last))) {
		is_dead |= v->kills;
		errno = is_dead ? EFAULT : EIO;
		return err_set(e, "%s fails", v->name);
	}
	last = v->name;
	v->calls = calls;
	last_s = v->seconds + (calls > 1 && v->captured == calls ? 0 : GAP_S);
	return 0;
}

static int run(struct baseline *r, int variant, struct err *e)
{
	return row(r, variant, 1, e);
}

static double seconds(const struct baseline *r)
{
	(void)r;
	return last_s;
}

static int output(struct baseline *r, int variant, float *dst, struct err *e)
{
	(void)r, (void)variant, (void)e;
	memset(dst, 0, VALUES * sizeof *dst);
	return 0;
}

const struct library library_told = {
	.open = open_told,
	.variants = variants,
	.name = name,
	.layout = layout,
	.capture = capture,
	.run = run,
	.row = row,
	.seconds = seconds,
	.output = output,
};

/* No kernel runs: only that the target has rows matters. */
static int kernel_row(const struct kernel *k, const long *params, int calls, struct err *e)
{
	(void)k, (void)params, (void)calls;
	return err_set(e, "there is no kernel");
}

/* ---- the baseline ---- */

static struct baseline_found *find(struct told *v, int n)
{
	static const float zero[VALUES];
	static const struct runner runner = {.is_device = 1, .row = kernel_row};
	struct fence tensor[TENSOR_ROLES] = {{.map = NULL}};
	const struct workload w = {.layout = LAYOUT_NHWC};
	struct trial t = {.w = &w,
			  .runner = &runner,
			  .compared = &library_told,
			  .tensor = tensor,
			  .expected = zero,
			  .max_error = 1e-5,
			  .rules = {DUEL_RACE, 0.01, 0}};
	struct baseline_found *b = calloc(1, sizeof *b);

	told = v;
	ntold = n;
	is_dead = 0;
	last = "";
	fence_open(&tensor[TENSOR_DST], "the output", VALUES, sizeof(float));
	trial_baseline(&t, b);
	fence_close(&tensor[TENSOR_DST]);
	return b;
}

static void is_best(struct told *v, int n, const char *want, const char *what)
{
	struct baseline_found *b = find(v, n);

	ok(b->known && !strcmp(b->best.impl, want), "%s: %s%s", what, b->best.impl,
	   b->known ? "" : b->why);
	free(b);
}

static void check_baseline(void)
{
	static struct told plain[] = {{"a", "nhwc", .seconds = 30e-6},
				      {"b", "nhwc", .seconds = 20e-6},
				      {"c", "nhwc", .seconds = 25e-6}};
	static struct told late[] = {{"a", "nhwc", .seconds = 20e-6},
				     {"b", "nhwc", .seconds = 21e-6},
				     {"c", "nhwc", .seconds = 22e-6},
				     {"d", "nhwc", .seconds = 23e-6},
				     {"late", "nhwc", .seconds = 10e-6, .waits = 1}};
	static struct told slow[] = {{"a", "nhwc", .seconds = 20e-6},
				     {"late", "nhwc", .seconds = 24e-6, .waits = 1}};

	is_best(plain, 3, "b", "the fastest is the baseline");
	is_best(late, 5, "late",
		"also if it waits in its calls, and behind gaps looks slower than three others");
	is_best(slow, 2, "a", "one that waits, and is slower, is not");
}

/* Variants that are right, and fail later. `why` is that of the one that is told. */
static void fails(struct told *v, int n, const char *want, const char *failed, const char *what)
{
	struct baseline_found *b = find(v, n);
	char why[20] = "";

	if (failed)
		snprintf(why, sizeof why, "%s fails", failed);
	ok(b->known == (want != NULL) && (!want || !strcmp(b->best.impl, want)), "%s: %s", what,
	   b->known ? b->best.impl : b->why);
	ok(b->nrejected == 1 && !b->wrong && !strcmp(b->rejected[0].impl, failed) &&
		   !strcmp(b->rejected[0].why, why),
	   "which is told: %s", b->rejected[0].why);
	free(b);
}

static void check_failures(void)
{
	static struct told incumbent[] = {{"a", "nhwc", .seconds = 20e-6, .fails_behind = "c"},
					  {"c", "nhwc", .seconds = 24e-6},
					  {"b", "nhwc", .seconds = 22e-6}};
	static struct told loser[] = {{"a", "nhwc", .seconds = 20e-6},
				      {"b", "nhwc", .seconds = 22e-6, .fails_at = 13}};
	static struct told later[] = {{"a", "nhwc", .seconds = 20e-6},
				      {"b", "nhwc", .seconds = 10e-6, .fails_at = 3}};
	static struct told deadly[] = {
		{"a", "nhwc", .seconds = 20e-6, .fails_behind = "b", .kills = 1},
		{"b", "nhwc", .seconds = 22e-6},
		{"c", "nhwc", .seconds = 21e-6}};
	static struct told early[] = {{"a", "nhwc", .seconds = 22e-6},
				      {"b", "nhwc", .seconds = 20e-6},
				      {"c", "nhwc", .seconds = 10e-6, .fails_at = 1, .kills = 1},
				      {"d", "nhwc", .seconds = 5e-6}};
	static struct told only[] = {{"a", "nhwc", .seconds = 20e-6, .fails_at = 3}};
	static struct told other[] = {{"a", "preferred", .seconds = 20e-6},
				      {"b", "nhwc", .seconds = 22e-6, .fails_at = 13},
				      {"c", "nhwc", .seconds = 30e-6}};
	struct baseline_found *b;

	fails(incumbent, 3, "b", "a",
	      "an incumbent that fails is not the best, but one that had lost to it may be");
	fails(loser, 2, "a", "b", "a challenger that fails is out");
	fails(later, 2, "a", "b", "one that fails before the duels has none");
	fails(deadly, 3, "c", "a",
	      "where the incumbent takes the device along, the next of the first look is it");
	fails(early, 4, "b", "c",
	      "where one takes the device along at once, the fastest before it is the baseline");
	fails(only, 1, NULL, "a", "there is no baseline where the only one fails");
	b = find(other, 3);
	ok(b->known && !strcmp(b->best.impl, "a") && b->own_known && !strcmp(b->own.impl, "c"),
	   "what failed is not the best in the workload's own layout either: %s", b->own.impl);
	free(b);
}

/* ---- rows ---- */

static void check_rows(void)
{
	static const struct runner runner = {.is_device = 1, .row = kernel_row};
	static struct told v[] = {{"a", "nhwc", .seconds = 20e-6},
				  {"b", "nhwc", .seconds = 25e-6},
				  {"late", "nhwc", .seconds = 10e-6, .waits = 1}};
	const struct trial t = {.runner = &runner};
	struct baseline r = {&library_told};
	struct err e = ERR_INIT;
	double x, y;

	told = v;
	ntold = 3;
	for (int own = 0; own < 2; own++)
		for (int other = 1; other < 3; other++) {
			struct duellists d = {
				.x = {.t = &t, .baseline = &r, .variant = 0},
				.y = {.t = &t, .baseline = &r, .variant = other},
				.own = {.t = &t, .baseline = own ? &r : NULL, .variant = 2}};
			const int gaps = own || other == 2;
			const double gap = gaps ? GAP_S : 0;

			if (timed_choose_row(&d, &e) < 0 || timed_pair(&d, 0, &x, &y, &e) < 0)
				bail_out("%s", e.msg);
			ok(v[0].calls > 1 && v[0].calls == v[other].calls &&
				   d.x.row_is_graph == !gaps && d.y.row_is_graph == !gaps,
			   "rows of %d calls of a and %s%s, %s", v[0].calls, v[other].name,
			   own ? ", beside one that waits" : "",
			   gaps ? "which this machine starts" : "which are graphs");
			ok(x == v[0].seconds + gap && y == v[other].seconds + gap,
			   "both have %s gaps", gaps ? "the same" : "no");
		}
}

/* ---- pairs ---- */

enum { EVEN_PAIRS = 384 }; /* then one is ahead, and has won at the last look, after DUEL_MAX */

static int pair_calls; /* of the incumbent: two in a pair */

static int run_nothing(const struct kernel *k, const long *params, void *const *buffers,
		       int threads, struct err *e)
{
	(void)params, (void)buffers, (void)threads, (void)e;
	pair_calls += k->handle != NULL;
	return 0;
}

static double scripted_seconds(const struct kernel *k)
{
	const int pair = (pair_calls - 1) / 2;

	if (!k->handle)
		return 1e-3;
	return pair >= EVEN_PAIRS || pair & 1 ? 1.06e-3 : 0.95e-3;
}

/* A race makes as many pairs again when it looks again; what a final keeps of each pair has no room
 * for them. */
static void check_pairs(void)
{
	static struct duellists d;
	static struct duel duel;
	static const struct runner runner = {.run = run_nothing, .seconds = scripted_seconds};
	const struct trial t = {.runner = &runner, .caches = CACHES_WARM};
	const struct entrant in = {.threads = 1};
	const struct duel_rules rules = {DUEL_RACE, 1e9, 0, 0};
	struct err e = ERR_INIT;
	int rc;

	d.x = (struct timed){.t = &t, .in = &in};
	d.y = (struct timed){.t = &t, .in = &in, .kernel.handle = &duel};
	rc = duel_run(&rules, timed_pair, &d, &duel, &e);
	ok(rc == 0 && duel.end == DUEL_WON && duel.first.n == DUEL_MAX && duel.n == DUEL_MAX &&
		   d.npairs == 2 * DUEL_MAX,
	   "a race of %d pairs, which wins and looks again", d.npairs);
}

int main(void)
{
	check_baseline();
	check_failures();
	check_rows();
	check_pairs();
	return done_testing();
}
