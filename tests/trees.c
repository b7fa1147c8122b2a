/* Trees predict what XGBoost says of them. Those of model files that were damaged, or made to harm,
 * are refused, or predict what they predict, and never crash the program or hang it.
 *
 * A sample of flipped bits is tried; TL_TEST_FLIPS=N tries so many of each kind, 0 all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/model/boost.h"
#include "lib/features/features.h"
#include "lib/model/model.h"
#include "lib/model/trained.h"
#include "lib/model/trees.h"
#include "tests/tap.h"

enum { ROWS = 64, COLUMNS = 5, SAMPLE = 1500 };

static float x[ROWS * COLUMNS];

static void fill(int columns, float *rows, float *label)
{
	for (int i = 0; i < ROWS; i++) {
		for (int k = 0; k < columns; k++)
			rows[i * columns + k] =
				k % 2 && i % 7 == 0 ? NAN : (float)(i * (k + 3) % 17);
		label[i] = i % 5 < 2;
	}
}

static struct boost_params params(const char *objective)
{
	return (struct boost_params){.objective = objective,
				     .rounds = 4,
				     .depth = 3,
				     .eta = 0.5,
				     .subsample = 1,
				     .colsample = 1,
				     .seed = 1};
}

static struct trees *train(int columns, float *rows, const char *objective)
{
	float label[ROWS];
	const struct boost_data data = {rows, ROWS, (size_t)columns, label, NULL, NULL};
	const struct boost_params p = params(objective);
	struct err e = ERR_INIT;
	struct trees *t;

	fill(columns, rows, label);
	t = boost_train(&p, &data, &e);
	if (!t)
		bail_out("%s", e.msg);
	return t;
}

static int flips(int all)
{
	const char *told = getenv("TL_TEST_FLIPS");
	int n = told && *told ? atoi(told) : SAMPLE;

	return n > 0 && n < all ? n : all;
}

/* Flip i of n among all bits of so many bytes: all, or drawn. */
static size_t bit(struct rng *rng, int i, int n, size_t bytes)
{
	return (size_t)n == 8 * bytes ? (size_t)i : (size_t)rng_below(rng, 8 * bytes);
}

/* ---- what XGBoost says ---- */

struct heard {
	int rounds;
	float label[ROWS], sum[ROWS]; /* before the last round */
};

/* Tells XGBoost to minimise squares, and remembers the sums that XGBoost tells. */
static void listen(void *arg, const float *sum, float *grad, float *hess, size_t rows)
{
	struct heard *h = arg;

	h->rounds++;
	for (size_t i = 0; i < rows; i++) {
		h->sum[i] = sum[i];
		grad[i] = sum[i] - h->label[i];
		hess[i] = 1;
	}
}

/* XGBoost tells the sums of all trees but the last when it is asked for one more round. */
static void test_sums(const char *objective)
{
	struct heard heard = {0}, fewer = {0};
	const struct boost_data data = {x, ROWS, COLUMNS, heard.label, NULL, NULL};
	struct boost_params p = params(objective);
	struct err e = ERR_INIT;
	struct trees *t;
	float out[ROWS];

	fill(COLUMNS, x, heard.label);
	memcpy(fewer.label, heard.label, sizeof fewer.label);
	p.gradient = listen;
	p.arg = &heard;
	p.rounds = 41;
	t = boost_train(&p, &data, &e);
	trees_free(t);
	p.arg = &fewer;
	p.rounds--;
	t = boost_train(&p, &data, &e);
	if (!t)
		bail_out("%s", e.msg);
	trees_predict(t, x, ROWS, out);
	ok(heard.rounds == 41 && fewer.rounds == 40 && !memcmp(out, heard.sum, sizeof out),
	   "%s: the sums are XGBoost's, to the last bit", objective);
	trees_free(t);
}

/* ---- what XGBoost wrote ---- */

/* The model has two trees. In the first the right child of the root comes first, and node 3 belongs
 * to neither child. */
#define MODEL(base, objective, left, right)                                                        \
	"{\"learner\":{\"gradient_booster\":{\"model\":{\"trees\":["                               \
	"{\"left_children\":[" left ",-1,-1,-1],\"right_children\":[" right ",-1,-1,-1],"          \
	"\"split_indices\":[4,0,0,0],\"split_conditions\":[2.5,10,20,30],"                         \
	"\"default_left\":[false,false,false,false]},"                                             \
	"{\"left_children\":[-1],\"right_children\":[-1],\"split_indices\":[0],"                   \
	"\"split_conditions\":[100],\"default_left\":[0]}]},\"name\":\"gbtree\"},"                 \
	"\"learner_model_param\":{\"base_score\":\"" base "\"},"                                   \
	"\"objective\":{\"name\":\"" objective "\"}},\"version\":[1,7,4]}"

static struct trees *read_model(const char *text)
{
	struct err e = ERR_INIT;

	return trained_read(text, strlen(text), COLUMNS, &e);
}

/* Predicts three rows: the last feature of the first is 2, that of the second is 2.5, and the third
 * row lacks it. Returns whether the sums are the base and 120, 110 and 110. */
static int sums_are(const char *text, double base)
{
	const float rows[3 * COLUMNS] = {[4] = 2, [9] = 2.5F, [14] = NAN};
	struct trees *t = read_model(text);
	float out[3];

	if (!t)
		return 0;
	trees_predict(t, rows, 3, out);
	trees_free(t);
	return fabs((double)out[0] - base - 120) < 1e-4 &&
	       fabs((double)out[1] - base - 110) < 1e-4 && fabs((double)out[2] - base - 110) < 1e-4;
}

static void test_trained(void)
{
	static const char *const bad[] = {
		MODEL("5E-1", "reg:squarederror", "2", "9"),
		MODEL("5E-1", "reg:squarederror", "0", "1"),
		MODEL("5E-1", "reg:squarederror", "2", "-1"),
		MODEL("5E-1", "rank:pairwise", "2", "1"),
		MODEL("1", "binary:logistic", "2", "1"),
		MODEL("5E-1x", "reg:squarederror", "2", "1"),
		MODEL("[5E-1,2E-1]", "reg:squarederror", "2", "1"),
		"{\"learner\":{}}",
		"[]",
		"",
	};
	int refused = 0, n = sizeof bad / sizeof *bad;

	ok(sums_are(MODEL("7E-1", "reg:squarederror", "2", "1"), 0.7),
	   "the children of a node may be anywhere");
	ok(sums_are(MODEL("[7E-1]", "binary:logistic", "2", "1"), -log(1 / 0.7 - 1)),
	   "the base is that of the sums");
	for (int i = 0; i < n; i++) {
		struct trees *t = read_model(bad[i]);

		refused += !t;
		trees_free(t);
	}
	ok(refused == n, "%d of %d models that are none are refused", refused, n);
}

/* ---- as bytes ---- */

static void test_saved(const char *objective)
{
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	struct trees *t = train(COLUMNS, x, objective), *loaded;
	float of_t[ROWS], of_loaded[ROWS];
	struct err e = ERR_INIT;

	trees_save(t, &bytes);
	loaded = trees_read(bytes.s, bytes.n, COLUMNS, &e);
	if (!loaded)
		bail_out("%s", e.msg);
	trees_predict(t, x, ROWS, of_t);
	trees_predict(loaded, x, ROWS, of_loaded);
	trees_save(loaded, &again);
	ok(!memcmp(of_t, of_loaded, sizeof of_t) && again.n == bytes.n &&
		   !memcmp(again.s, bytes.s, bytes.n),
	   "%s: what is saved is read, predicts the same, and is saved the same", objective);
	trees_free(loaded);
	trees_free(t);
	buf_free(&bytes);
	buf_free(&again);
}

static const char *fault_of(const struct trees_node *node, int n)
{
	struct trees *t = trees_new(COLUMNS, 0);
	const char *fault = trees_add(t, node, n);

	trees_free(t);
	return fault ? fault : "";
}

static void test_faults(void)
{
	const struct trees_node good[] = {{1, 0, 0}, {2, -1, 0}, {3, -1, 0}, {4, -1, 0}};
	const struct trees_node far[] = {{1, COLUMNS, 0}, {2, -1, 0}, {3, -1, 0}};
	const struct trees_node none[] = {{1, 0, 0}, {NAN, -1, 0}, {3, -1, 0}};

	ok(!*fault_of(good, 3), "a split with two leaves is a tree");
	ok(strstr(fault_of(good, 2), "not there") != NULL, "one of them alone is refused");
	ok(strstr(fault_of(good, 4), "none leads to") != NULL, "so is one too many");
	ok(strstr(fault_of(far, 3), "feature") != NULL, "and a feature that no row has");
	ok(strstr(fault_of(none, 3), "no number") != NULL, "and a NaN");
	ok(strstr(fault_of(good, 0), "large") != NULL, "and no node at all");
}

/* ---- damaged ---- */

/* A part is refused, or ends with a whole tree. */
static void test_cut(void)
{
	struct buf bytes = BUF_INIT;
	struct trees *b = train(COLUMNS, x, "binary:logistic");
	int taken = 0;

	trees_save(b, &bytes);
	trees_free(b);
	for (size_t n = 0; n < bytes.n; n++) {
		char *part = xmalloc(n + 1); /* so that a sanitizer sees what reads beyond */
		struct err e = ERR_INIT;
		struct trees *t;

		memcpy(part, bytes.s, n);
		part = xrealloc(part, n ? n : 1);
		t = trees_read(part, n, COLUMNS, &e);
		taken += t != NULL;
		trees_free(t);
		free(part);
	}
	ok(taken == 3, "trees that were cut off within a tree are refused: %d parts are none",
	   (int)bytes.n - taken);
	buf_free(&bytes);
}

static void test_flips(void)
{
	struct buf bytes = BUF_INIT;
	struct trees *b = train(COLUMNS, x, "reg:squarederror");
	int n, lost = 0, refusals = 0;
	struct rng rng;
	float out[ROWS];

	trees_save(b, &bytes);
	trees_free(b);
	rng_seed(&rng, 1, "flips");
	n = flips((int)bytes.n * 8);
	for (int i = 0; i < n; i++) {
		size_t at = bit(&rng, i, n, bytes.n);
		struct err e = ERR_INIT;
		struct trees *loaded;

		bytes.s[at / 8] ^= (char)(1 << at % 8);
		loaded = trees_read(bytes.s, bytes.n, COLUMNS, &e);
		bytes.s[at / 8] ^= (char)(1 << at % 8);
		refusals += !loaded;
		lost += !loaded && !*e.msg;
		if (loaded)
			trees_predict(loaded, x, ROWS, out);
		trees_free(loaded);
	}
	ok(lost == 0 && refusals > n / 20,
	   "of %d flipped bits, %d are refused with the reason, and the others predict", n,
	   refusals);
	buf_free(&bytes);
}

/* The whole file has a hash, so no flip at all may get through. */
static void test_file(const char *dir)
{
	static float rows[ROWS * FEATURES];
	struct model *m = model_new(&features_threads);
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	struct rng rng;
	char path[256];
	int n, taken = 0;

	m->nstages = m->stage[0].n = 1;
	m->stage[0].bag[0] = train(FEATURES, rows, "reg:squarederror");
	model_print(m, "", &text);
	model_free(m);
	snprintf(path, sizeof path, "%s/model", dir);
	rng_seed(&rng, 1, "file");
	n = flips((int)text.n * 8);
	for (int i = -1; i < n; i++) {
		size_t at = i < 0 ? 0 : bit(&rng, i, n, text.n);
		FILE *f = fopen(path, "we");

		text.s[at / 8] ^= (char)(i < 0 ? 0 : 1 << at % 8);
		if (!f || fwrite(text.s, 1, text.n, f) != text.n || fclose(f))
			bail_out("cannot write %s", path);
		text.s[at / 8] ^= (char)(i < 0 ? 0 : 1 << at % 8);
		m = model_load(path, &features_threads, &e);
		if (i < 0 && !m)
			bail_out("%s", e.msg);
		taken += i >= 0 && m;
		model_free(m);
	}
	ok(taken == 0, "no model file with one of %d flipped bits is taken", n);
	buf_free(&text);
	unlink(path);
}

int main(void)
{
	char dir[] = "/tmp/tl-test-trees-XXXXXX";

	if (!mkdtemp(dir))
		bail_out("no folder under /tmp");
	test_sums("reg:squarederror");
	test_sums("binary:logistic");
	test_saved("reg:squarederror");
	test_saved("binary:logistic");
	test_trained();
	test_faults();
	test_cut();
	test_flips();
	test_file(dir);
	rmdir(dir);
	return done_testing();
}
