#include "lib/trial/trial.h"

#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/trial/timed.h"
#include "lib/trial/verify.h"

enum { MIN_ROUNDS = 5, FINAL_BATCH = 5 /* calls a turn, the first one is not counted */ };

static const double FINAL_TIME_S = 0.3, RATIO_WIDTH = 0.01;
/* Before a round, with a machine that others disturb. */
static const double ROUND_WAIT_S = 0.1;

/* One turn: the first call brings the caches back, the others count; their median is the turn's
 * time. */
static int turn(struct timed *x, double *seconds, struct err *e)
{
	double s[FINAL_BATCH];

	for (int i = 0; i < FINAL_BATCH; i++)
		if (timed_call(x, &s[i], e) < 0)
			return -1;
	*seconds = stat_median(s + 1, FINAL_BATCH - 1).median;
	return 0;
}

/* Rounds of turns; a machine that neighbours disturb has times of its own, and ratios too. */
struct rounds {
	double time[ENTRANTS + 2][PROCESS_ROUNDS];
	int n;
};

/* Entrants that are right, then opponents: all who take turns. */
struct turns {
	const struct trial *t;
	struct timed x[ENTRANTS + 2];
	struct outcome *o[ENTRANTS];
	int nentrants, nopponents;
	struct rounds calm, disturbed;
	int is_calm; /* now */
	struct quiet quiet;
};

/* Enough rounds: the ratio is known to 1%, or far from 1. */
static int is_known(const double *candidate, const double *opponent, int n)
{
	double ratio[PROCESS_ROUNDS];
	struct stat_median m;

	for (int k = 0; k < n; k++)
		ratio[k] = opponent[k] / candidate[k];
	m = stat_median(ratio, n);
	return m.hi - m.lo < RATIO_WIDTH * m.median || outcome_is_far(&m);
}

static int are_known(const struct turns *a, const struct rounds *r)
{
	int i = 0;

	if (r->n < MIN_ROUNDS || !a->nopponents)
		return 0;
	while (i < a->nentrants && is_known(r->time[i], r->time[a->nentrants], r->n))
		i++;
	return i == a->nentrants;
}

/* Who follows whom changes from round to round. */
static int take_round(struct turns *a, struct err *e)
{
	int n = a->nentrants + a->nopponents, first = a->calm.n + a->disturbed.n;
	double time[ENTRANTS + 2];
	struct rounds *r;

	if (!a->is_calm)
		a->is_calm = timed_wait(a->t, &a->quiet, ROUND_WAIT_S);
	for (int i = 0; i < n; i++) {
		int who = (i + first) % n;

		if (turn(&a->x[who], &time[who], e) < 0)
			return -1;
	}
	r = a->is_calm ? &a->calm : &a->disturbed;
	a->is_calm = timed_look(a->t, &a->quiet);
	if (!a->is_calm)
		r = &a->disturbed;
	for (int i = 0; i < n; i++)
		r->time[i][r->n] = time[i];
	r->n++;
	return 0;
}

/* Of a machine that will not be ours soon, few do: they decide nothing that is not clear anyhow. */
static int are_enough(const struct turns *a)
{
	int hope = a->t->patience_s > 0 || quiet_hope(&a->quiet);
	int disturbed = hope ? PROCESS_ROUNDS : MIN_ROUNDS;

	return a->calm.n >= PROCESS_ROUNDS || a->disturbed.n >= disturbed || are_known(a, &a->calm);
}

/* Calm rounds are what counts, unless there are too few before time is up. */
static int take_turns(struct turns *a, struct err *e)
{
	double start = clock_now();
	double time_s = FINAL_TIME_S * (1 + a->nentrants) / 2 + a->t->patience_s;
	int in_time = 1;

	while (!are_enough(a) && (in_time || a->calm.n + a->disturbed.n < MIN_ROUNDS)) {
		if (take_round(a, e) < 0)
			return -1;
		in_time = clock_now() - start < time_s;
	}
	return 0;
}

static int is_calm(const struct turns *a)
{
	return a->calm.n >= MIN_ROUNDS;
}

/* The rounds that count. */
static struct rounds choose(const struct turns *a)
{
	struct rounds r = a->calm;

	for (int k = 0; k < a->disturbed.n && r.n < PROCESS_ROUNDS && !is_calm(a); k++) {
		for (int i = 0; i < a->nentrants + a->nopponents; i++)
			r.time[i][r.n] = a->disturbed.time[i][k];
		r.n++;
	}
	return r;
}

static void keep_turns(const struct turns *a, const struct rounds *r, int entrant)
{
	struct outcome *o = a->o[entrant];
	size_t bytes = (size_t)r->n * sizeof(double);

	o->n = r->n;
	o->is_calm = is_calm(a);
	o->nopponents = a->nopponents;
	o->quiet = a->quiet;
	memcpy(o->x, r->time[entrant], bytes);
	for (int i = 0; i < a->nopponents; i++)
		memcpy(o->turn[i], r->time[a->nentrants + i], bytes);
	outcome_judge_turns(o);
}

/* The opponents as the library offers them here. */
static int find_opponents(struct turns *a, struct ref *ref, struct err *e)
{
	const struct trial *t = a->t;

	for (int i = 0; i < t->nopponents; i++) {
		int v = 0;

		while (v < ref_variants(ref) &&
		       (strcmp(ref_name(ref, v), t->opponent[i].name) != 0 ||
			strcmp(ref_layout(ref, v), t->opponent[i].layout) != 0))
			v++;
		if (v == ref_variants(ref))
			return err_set(e, "the library no longer offers %s", t->opponent[i].name);
		a->x[a->nentrants + i] = (struct timed){.t = t, .ref = ref, .variant = v};
		a->nopponents++;
	}
	return 0;
}

static int time_alone(struct timed *x, struct outcome *o, struct err *e)
{
	const struct race_rules alone = {.budget_s = FINAL_TIME_S};
	struct race r = {0};

	if (race_run(&alone, timed_call, x, &r, e) < 0)
		return -1;
	outcome_keep_race(o, &r);
	return 0;
}

static int time_final(struct turns *a, struct err *e)
{
	struct rounds r;
	struct ref *ref;

	if (a->t->nopponents) {
		ref = timed_library(a->t, e);
		if (!ref || find_opponents(a, ref, e) < 0)
			return -1;
	} else if (a->nentrants == 1) {
		return time_alone(&a->x[0], a->o[0], e);
	}
	if (take_turns(a, e) < 0)
		return -1;
	r = choose(a);
	for (int i = 0; i < a->nentrants; i++)
		keep_turns(a, &r, i);
	return 0;
}

static void fail(const struct turns *a, const struct err *e)
{
	for (int i = 0; i < a->nentrants; i++) {
		a->o[i]->status = OUTCOME_FAILED;
		snprintf(a->o[i]->why, sizeof a->o[i]->why, "%.190s", e->msg);
	}
}

void trial_final(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct outcome *o = answer;
	struct turns a = {.t = t, .quiet = t->quiet};
	struct err e = ERR_INIT;
	double start, run_s;

	verify_ready(t);
	for (int i = 0; i < t->nentrants; i++) {
		struct timed *x = &a.x[a.nentrants];

		*x = (struct timed){.t = t, .in = &t->entrant[i]};
		if (verify(x, &o[i]) == 0)
			a.o[a.nentrants++] = &o[i];
	}
	if (!a.nentrants)
		return;
	start = clock_now();
	if (time_final(&a, &e) < 0) {
		fail(&a, &e);
		return;
	}
	run_s = (clock_now() - start) / a.nentrants;
	for (int i = 0; i < a.nentrants; i++) {
		a.o[i]->run_s = run_s;
		verify_again(&a.x[i], a.o[i]);
	}
}
