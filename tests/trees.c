/* Trees of model files that were damaged, or made to harm: they are refused, or predict what they
 * predict, and never crash the program or hang it.
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
#include "lib/model/features.h"
#include "lib/model/model.h"
#include "lib/model/trees.h"
#include "tests/tap.h"

enum { ROWS = 64, COLUMNS = 5, SAMPLE = 1500 };

static float x[ROWS * COLUMNS];

static struct boost *train(int columns, float *rows, const char *objective)
{
	float label[ROWS];
	const struct boost_data data = {rows, ROWS, (size_t)columns, label, NULL, NULL};
	const struct boost_params p = {.objective = objective,
				       .rounds = 4,
				       .depth = 3,
				       .eta = 0.5,
				       .subsample = 1,
				       .colsample = 1,
				       .seed = 1};
	struct err e = ERR_INIT;
	struct boost *b;

	for (int i = 0; i < ROWS; i++) {
		for (int k = 0; k < columns; k++)
			rows[i * columns + k] =
				k % 2 && i % 7 == 0 ? NAN : (float)(i * (k + 3) % 17);
		label[i] = i % 5 < 2;
	}
	b = boost_train(&p, &data, &e);
	if (!b)
		bail_out("%s", e.msg);
	return b;
}

static void save(struct boost *b, struct buf *out)
{
	struct err e = ERR_INIT;

	if (boost_save(b, out, &e) < 0)
		bail_out("%s", e.msg);
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

/* ---- what XGBoost wrote ---- */

static int predicts_the_same(struct boost *a, struct boost *b)
{
	float of_a[ROWS], of_b[ROWS];
	struct err e = ERR_INIT;

	return a && b && boost_predict(a, x, ROWS, COLUMNS, of_a, &e) == 0 &&
	       boost_predict(b, x, ROWS, COLUMNS, of_b, &e) == 0 &&
	       !memcmp(of_a, of_b, sizeof of_a);
}

static void test_same(const char *objective)
{
	struct buf bytes = BUF_INIT, anew = BUF_INIT, again = BUF_INIT;
	struct boost *b = train(COLUMNS, x, objective), *loaded;
	struct err e = ERR_INIT;
	int rc;

	save(b, &bytes);
	loaded = boost_load(bytes.s, bytes.n, COLUMNS, &e);
	ok(predicts_the_same(b, loaded), "%s: what is loaded predicts the same %s", objective,
	   e.msg);
	rc = trees_write_anew(bytes.s, bytes.n, COLUMNS, &anew, &e);
	if (rc == 0)
		rc = trees_write_anew(anew.s, anew.n, COLUMNS, &again, &e);
	ok(rc == 0 && anew.n == again.n && !memcmp(anew.s, again.s, anew.n),
	   "what is written anew is read, and written the same");
	buf_clear(&again);
	if (loaded)
		save(loaded, &again);
	ok(again.n == bytes.n && !memcmp(again.s, bytes.s, bytes.n),
	   "nothing of it is lost: XGBoost saves the same again");
	boost_free(loaded);
	boost_free(b);
	buf_free(&bytes);
	buf_free(&anew);
	buf_free(&again);
}

/* ---- made to harm ---- */

/* Where the elements of an array of the first tree begin. */
static size_t elements(const struct buf *b, const char *name)
{
	const char *at = memmem(b->s, b->n, name, strlen(name));

	if (!at)
		bail_out("there is no %s", name);
	return (size_t)(at - b->s) + strlen(name) + strlen("[$l#L") + 8;
}

static void put_int(struct buf *b, const char *name, int node, uint32_t value)
{
	unsigned char *to = (unsigned char *)b->s + elements(b, name) + 4 * node;

	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static int refused(const struct buf *b, const char *why)
{
	struct err e = ERR_INIT;
	struct boost *loaded = boost_load(b->s, b->n, COLUMNS, &e);
	int right = !loaded && strstr(e.msg, why) != NULL;

	if (!right)
		diag("%s, not %s", loaded ? "it loads" : e.msg, why);
	boost_free(loaded);
	return right;
}

static void test_hostile(void)
{
	static const struct {
		const char *name;
		int node;
		uint32_t value;
		const char *why, *what;
	} cases[] = {
		{"left_children", 0, 1000, "not there", "a child behind the last node"},
		{"right_children", 0, 0x7fffffff, "not there", "a child far behind it"},
		{"left_children", 0, 0x80000000, "cannot be read", "a child before the first"},
		{"left_children", 0, 0, "not there", "a root that is its own child"},
		{"left_children", 1, 1, "ancestor", "a node that is its own child"},
		{"right_children", 2, 1, "ancestor", "a node that two lead to"},
		{"left_children", 0, 0xffffffff, "not there", "half a split"},
		{"split_indices", 0, COLUMNS, "feature", "a feature that no row has"},
		{"split_conditions", 0, 0x7fc00000, "no number", "a NaN"},
	};
	struct buf bytes = BUF_INIT, bad = BUF_INIT;
	struct boost *b = train(COLUMNS, x, "reg:squarederror");

	save(b, &bytes);
	boost_free(b);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		buf_clear(&bad);
		buf_add(&bad, bytes.s, bytes.n);
		put_int(&bad, cases[i].name, cases[i].node, cases[i].value);
		ok(refused(&bad, cases[i].why), "%s is refused", cases[i].what);
	}
	buf_clear(&bad);
	buf_add(&bad, bytes.s, bytes.n);
	bad.s[elements(&bad, "split_type")] = 1;
	ok(refused(&bad, "categories"), "categories are refused");
	buf_clear(&bad);
	buf_str(&bad, "{\"learner\":{}}");
	ok(refused(&bad, "no trees"), "so is a model as text");
	buf_clear(&bad);
	for (int i = 0; i < 100000; i++)
		buf_str(&bad, "[");
	ok(refused(&bad, "no trees"), "so are a hundred thousand brackets");
	buf_free(&bytes);
	buf_free(&bad);
}

/* ---- damaged ---- */

static void test_cut(void)
{
	struct buf bytes = BUF_INIT;
	struct boost *b = train(COLUMNS, x, "binary:logistic");
	size_t loaded = 0;

	save(b, &bytes);
	boost_free(b);
	for (size_t n = 0; n < bytes.n; n += 7) {
		char *part = xmalloc(n + 1); /* so that a sanitizer sees what reads beyond */
		struct buf out = BUF_INIT;
		struct err e = ERR_INIT;

		memcpy(part, bytes.s, n);
		part = xrealloc(part, n ? n : 1);
		loaded += trees_write_anew(part, n, COLUMNS, &out, &e) == 0;
		buf_free(&out);
		free(part);
	}
	ok(loaded == 0, "trees that were cut off anywhere are refused");
	buf_free(&bytes);
}

static void test_flips(void)
{
	struct buf bytes = BUF_INIT;
	struct boost *b = train(COLUMNS, x, "reg:squarederror");
	int n, lost = 0, refusals = 0;
	struct rng rng;
	float out[ROWS];

	save(b, &bytes);
	boost_free(b);
	rng_seed(&rng, 1, "flips");
	n = flips((int)bytes.n * 8);
	for (int i = 0; i < n; i++) {
		size_t at = bit(&rng, i, n, bytes.n);
		struct err e = ERR_INIT;
		struct boost *loaded;

		bytes.s[at / 8] ^= (char)(1 << at % 8);
		loaded = boost_load(bytes.s, bytes.n, COLUMNS, &e);
		bytes.s[at / 8] ^= (char)(1 << at % 8);
		refusals += !loaded;
		lost += loaded ? boost_predict(loaded, x, ROWS, COLUMNS, out, &e) < 0 : !*e.msg;
		boost_free(loaded);
	}
	ok(lost == 0 && refusals > n / 10,
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
	if (model_print(m, "", &text, &e) < 0)
		bail_out("%s", e.msg);
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
	test_same("reg:squarederror");
	test_same("binary:logistic");
	test_hostile();
	test_cut();
	test_flips();
	test_file(dir);
	rmdir(dir);
	return done_testing();
}
