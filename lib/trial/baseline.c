/* The library's side of a trial (trial.h): which of its variants is the baseline. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/trial/verify.h"

enum {
	CALLS = 7,  /* of each variant, for a first look */
	FASTEST = 3 /* duel */
};

static const double CALLS_S = 0.05; /* a slow variant gets fewer */

/* A variant that is right. */
struct look {
	int variant;
	int is_late; /* its time holds what it takes to start its calls, for it cannot be captured
		      */
	struct variant_found found;
};

/* Verifies a variant. -1: it fails. */
static int check_variant(struct timed *x, struct variant_found *f, int *right, struct err *e)
{
	struct comparison c;
	double once;

	snprintf(f->impl, sizeof f->impl, "%s", baseline_name(x->baseline, x->variant));
	snprintf(f->layout, sizeof f->layout, "%s", baseline_layout(x->baseline, x->variant));
	if (timed_call(x, &once, e) < 0 ||
	    baseline_output(x->baseline, x->variant, x->t->tensor[TENSOR_DST].data, e) < 0)
		return -1;
	c = verify_output(x->t);
	f->error_l2 = c.l2;
	f->error_max = c.max;
	*right = verify_allows(x->t, &c);
	return 0;
}

static int look_at(struct timed *x, struct variant_found *f, struct err *e)
{
	double s[CALLS], spent = 0;
	int n = 0;

	if (timed_call(x, &s[0], e) < 0)
		return -1;
	timed_set_row(x, s[0]);
	while (n < 2 || (n < CALLS && spent < CALLS_S)) {
		if (timed_row(x, &s[n], e) < 0)
			return -1;
		spent += s[n++] * (x->row ? x->row : 1);
	}
	f->time = stat_median(s + 1, n - 1); /* the first one brings the caches back */
	return 0;
}

/* The fastest at first sight. */
struct ranking {
	int n;
	struct look look[FASTEST]; /* in order of their times */
};

static void keep(struct ranking *r, const struct look *l)
{
	int at = r->n < FASTEST ? r->n++ : FASTEST;

	for (; at > 0 && l->found.time.median < r->look[at - 1].found.time.median; at--)
		if (at < FASTEST)
			r->look[at] = r->look[at - 1];
	if (at < FASTEST)
		r->look[at] = *l;
}

/* The fastest of those whose rows are graphs, and of the others. Their times tell nothing of each
 * other: a duel between two of them does, in which both are started alike. */
struct rankings {
	struct ranking graphs, late;
};

static void keep_apart(struct rankings *r, const struct look *l)
{
	keep(l->is_late ? &r->late : &r->graphs, l);
}

static int is_own(const struct trial *t, const struct look *l)
{
	return !strcmp(l->found.layout, layout_name(t->w->layout));
}

/* At most so many are told. One that failed when it was timed counts more than one that is wrong.
 */
static void reject(struct baseline_found *b, const struct variant_found *f, const char *why)
{
	int at = b->nrejected;

	if (at == TRIAL_REJECTED && !why)
		return;
	at = at < TRIAL_REJECTED ? b->nrejected++ : TRIAL_REJECTED - 1;
	b->rejected[at] = *f;
	if (!why)
		return;
	snprintf(b->rejected[at].why, sizeof b->rejected[at].why, "%.190s", why);
	snprintf(b->why, sizeof b->why, "%.190s", why);
}

/* Did what failed last take the device along? Then all that follows fails, through no fault of its
 * own. */
static int is_dead_now(void)
{
	const enum status status = timed_failure(STATUS_FAILED);

	return status == STATUS_CRASH || status == STATUS_TIMEOUT;
}

/* Ranks all that are right, and those in the workload's own layout by themselves. 1: one of them
 * has taken the device along, and those behind it were not looked at. */
static int look_at_all(struct baseline *baseline, const struct trial *t, struct baseline_found *b,
		       struct rankings *all, struct rankings *own)
{
	struct err e = ERR_INIT;

	for (int i = 0; i < baseline_variants(baseline); i++) {
		struct timed x = {.t = t, .baseline = baseline, .variant = i};
		struct look l = {.variant = i};
		int right;

		errno = 0;
		if (check_variant(&x, &l.found, &right, &e) < 0) {
			if (is_dead_now()) {
				reject(b, &l.found, e.msg);
				return 1;
			}
			snprintf(b->why, sizeof b->why, "%.190s", e.msg);
			continue;
		}
		if (!right) {
			snprintf(b->why, sizeof b->why, "the library's result is wrong");
			reject(b, &l.found, NULL);
			b->wrong++;
			continue;
		}
		errno = 0;
		if (look_at(&x, &l.found, &e) < 0) {
			const int is_dead = is_dead_now();

			reject(b, &l.found, e.msg);
			if (is_dead)
				return 1;
			continue;
		}
		l.is_late = x.row && !x.row_is_graph;
		keep_apart(all, &l);
		if (is_own(t, &l))
			keep_apart(own, &l);
	}
	return 0;
}

/* The search for the best. */
struct hunt {
	struct baseline *baseline;
	const struct trial *t;
	struct baseline_found *b;
	int failed[4 * FASTEST], nfailed; /* variants */
	int is_dead;			  /* the device: no call ends well any more */
};

static int has_failed(const struct hunt *h, const struct look *l)
{
	int i = 0;

	while (i < h->nfailed && h->failed[i] != l->variant)
		i++;
	return i < h->nfailed;
}

/* A duel with the incumbent. Returns the one that failed, or NULL. */
static struct look *contest(struct hunt *h, struct look *challenger, struct look *incumbent,
			    struct duel *r)
{
	struct duellists d = {
		.x = {.t = h->t, .baseline = h->baseline, .variant = challenger->variant},
		.y = {.t = h->t, .baseline = h->baseline, .variant = incumbent->variant}};
	struct err e = ERR_INIT;
	struct look *failed;
	int rc;

	*r = (struct duel){0};
	errno = 0;
	rc = timed_choose_row(&d, &e);
	if (rc == 0)
		rc = duel_run(&h->t->rules, timed_pair, &d, r, &e);
	if (rc == 0)
		return NULL;
	h->is_dead = is_dead_now();
	failed = d.failed == &d.y ? incumbent : challenger;
	h->failed[h->nfailed++] = failed->variant;
	reject(h->b, &failed->found, e.msg);
	return failed;
}

/* The first is the incumbent, and duels with each of the others: the last incumbent. If an
 * incumbent fails, all is to be done anew without it, for others may have lost to it alone. *anew:
 * this happened. On a device that is dead the incumbent stays. */
static struct look *duel_all(struct hunt *h, struct rankings *fastest, int *anew)
{
	struct ranking *const ranking[] = {&fastest->graphs, &fastest->late};
	struct look *incumbent = NULL, *failed;
	struct duel r;

	*anew = 0;
	for (int i = 0; i < 2; i++)
		for (struct look *l = ranking[i]->look; l < ranking[i]->look + ranking[i]->n; l++) {
			if (has_failed(h, l) || (h->is_dead && incumbent))
				continue;
			if (!incumbent) {
				incumbent = l;
				continue;
			}
			failed = contest(h, l, incumbent, &r);
			*anew = failed && failed == incumbent;
			if (*anew)
				return NULL;
			if (failed)
				continue;
			if (r.end == DUEL_WON)
				incumbent = l;
		}
	return incumbent;
}

/* NULL: there are no variants, or all fail. */
static const struct look *duel_fastest(struct hunt *h, struct rankings *fastest)
{
	const struct look *best;
	int anew;

	do
		best = duel_all(h, fastest, &anew);
	while (anew);
	return best;
}

static void find_best(struct baseline *baseline, const struct trial *t, struct baseline_found *b,
		      struct rankings *all, struct rankings *own, int is_dead)
{
	struct hunt h = {.baseline = baseline, .t = t, .b = b, .is_dead = is_dead};
	const struct look *best = duel_fastest(&h, all), *own_best;

	if (!best)
		return;
	b->known = 1;
	b->best = best->found;
	own_best = is_own(t, best) ? NULL : duel_fastest(&h, own);
	if (!own_best)
		return;
	b->own_known = 1;
	b->own = own_best->found;
}

void trial_baseline(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct baseline_found *b = answer;
	struct rankings all = {0}, own = {0};
	struct err e = ERR_INIT;
	struct baseline *baseline = timed_baseline(t, NULL, 0, &e);

	if (!baseline) {
		b->failed = 1;
		snprintf(b->why, sizeof b->why, "%.190s", e.msg);
		return;
	}
	snprintf(b->why, sizeof b->why, "the library has no implementation");
	find_best(baseline, t, b, &all, &own, look_at_all(baseline, t, b, &all, &own));
}
