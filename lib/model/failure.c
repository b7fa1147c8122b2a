#include "lib/model/failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/model/automl.h"
#include "lib/model/boost.h"

enum { FEW = 20 };

static const double CERTAIN = 10; /* penalty of what will fail */

struct cases {
	size_t n, cap, failed;
	float *x, *label;
};

/* What the folds said of candidates that were held out. */
struct judged {
	double log_odds;
	int failed;
};

static void add_case(struct cases *c, const struct data_row *r)
{
	if (c->n == c->cap) {
		c->cap = c->cap * 2 + 4096;
		c->x = xrealloc(c->x, sizeof *c->x * FEATURES * c->cap);
		c->label = xrealloc(c->label, sizeof *c->label * c->cap);
	}
	memcpy(c->x + c->n * FEATURES, r->f, sizeof *c->x * FEATURES);
	c->label[c->n++] = (float)r->failed;
	c->failed += (size_t)r->failed;
}

/* The groups of one fold, or (out = 1) all others; fold -1: all. */
static struct cases gather(const struct dataset *d, const char *use, uint64_t seed, int fold,
			   int out)
{
	struct cases c = {0};

	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);

		if (!use[i])
			continue;
		if (fold >= 0 &&
		    (automl_fold(d, g, AUTOML_FAMILY, seed, AUTOML_FOLDS) == fold) == out)
			continue;
		for (int64_t k = 0; k < g->n; k++)
			add_case(&c, &g->row[k]);
	}
	return c;
}

static void cases_free(struct cases *c)
{
	free(c->x);
	free(c->label);
}

static int is_enough(const struct cases *c)
{
	return c->failed >= FEW && c->n - c->failed >= FEW;
}

static struct trees *learn(const struct cases *c, uint64_t seed, struct err *e)
{
	const struct boost_params p = {
		.objective = "binary:logistic",
		.rounds = 60,
		.depth = 4,
		.eta = 0.2,
		.min_child = 1,
		.subsample = 0.8,
		.colsample = 0.5,
		.lambda = 1,
		.seed = seed,
	};
	const struct boost_data data = {c->x, c->n, FEATURES, c->label, NULL, NULL};

	return boost_train(&p, &data, e);
}

/* Learns without one fold and judges that. Returns how many it judged, or -1. */
static int64_t judge_fold(const struct dataset *d, const char *use, uint64_t seed, int fold,
			  struct judged *to, struct err *e)
{
	struct cases others = gather(d, use, seed, fold, 1);
	struct cases held = gather(d, use, seed, fold, 0);
	struct trees *t = is_enough(&others) ? learn(&others, seed, e) : NULL;
	int64_t n = is_enough(&others) && !t ? -1 : 0;
	float *log_odds = xmalloc(sizeof *log_odds * (held.n + 1));

	if (t) {
		trees_predict(t, held.x, held.n, log_odds);
		for (size_t i = 0; i < held.n; i++)
			to[n++] = (struct judged){(double)log_odds[i], held.label[i] > 0};
	}
	trees_free(t);
	free(log_odds);
	cases_free(&held);
	cases_free(&others);
	return n;
}

static int rising(const void *pa, const void *pb)
{
	const struct judged *a = pa, *b = pb;

	return (a->log_odds > b->log_odds) - (a->log_odds < b->log_odds);
}

/* The share of pairs of one that failed and one that did not in which the former was thought the
 * more likely to; equals count half. NaN: there is no such pair. */
static double area(struct judged *j, int64_t n)
{
	double below = 0, pairs = 0, failed = 0;

	qsort(j, (size_t)n, sizeof *j, rising);
	for (int64_t i = 0, end; i < n; i = end) {
		double good = 0, bad = 0;

		for (end = i; end < n && j[end].log_odds <= j[i].log_odds; end++) {
			bad += j[end].failed;
			good += !j[end].failed;
		}
		pairs += bad * (below + good / 2);
		below += good;
		failed += bad;
	}
	return pairs / (failed * below);
}

static int print_card(const struct dataset *d, const char *use, uint64_t seed,
		      const struct cases *all, struct buf *card, struct err *e)
{
	struct judged *j = xmalloc(sizeof *j * (all->n + 1));
	int64_t n = 0, more = 0;

	for (int fold = 0; fold < AUTOML_FOLDS && more >= 0; fold++, n += more)
		more = judge_fold(d, use, seed, fold, j + n, e);
	if (more >= 0) {
		field_object(card, "failure");
		field_integer(card, "candidates", (int64_t)all->n);
		field_integer(card, "failed", (int64_t)all->failed);
		field_number(card, "auc", n ? area(j, n) : NAN);
		buf_ch(card, '}');
	}
	free(j);
	return more < 0 ? -1 : 0;
}

int failure_train(const struct dataset *d, const char *use, uint64_t seed, struct trees **out,
		  struct buf *card, struct err *e)
{
	struct cases all = gather(d, use, seed, -1, 1);
	int rc = 0;

	*out = NULL;
	if (is_enough(&all)) {
		*out = learn(&all, seed, e);
		rc = *out ? print_card(d, use, seed, &all, card, e) : -1;
	} else {
		field_json(card, "failure", "null");
	}
	cases_free(&all);
	return rc;
}

double failure_penalty(double log_odds)
{
	return fmin(log2(1 + exp(log_odds)), CERTAIN); /* -log2(1 - p) */
}
