#include "lib/measure/finals.h"

#include <math.h>
#include <stdlib.h>

#include "lib/io/clock.h"
#include "lib/measure/attempt.h"
#include "lib/measure/group.h"
#include "lib/measure/pause.h"
#include "lib/measure/turns.h"

/* A group's final on its way. */
struct entry {
	struct group *g;
	struct item *it;
	struct final f;
	struct verdict v;
	int begun, done;
	double last_s; /* what the last process took */
};

/* One more process, with a worker of its own. */
static int add_process(struct measure *m, struct entry *x, double limit_s, struct err *e)
{
	const double start = clock_now();
	int rc;

	standing_next(&m->standing, &x->g->w);
	worker_kill(&m->worker);
	x->v.pairs = FINAL_PAIRS;
	x->v.limit_s = limit_s;
	rc = attempt_run(m, x->g, x->it, &x->v, e);
	x->last_s = clock_now() - start;
	if (rc || x->v.said.status != STATUS_OK)
		return rc;
	return final_add(&x->f, &x->v.said, e);
}

static int begin(struct measure *m, struct entry *x, struct err *e)
{
	int rc = group_kernel(m, x->g, x->it, e);

	x->begun = 1;
	x->v = (struct verdict){.arena = &x->g->arena, .is_final = 1, .final = &x->f};
	if (rc == 0)
		rc = cache_wait(&m->cache, NULL, e);
	attempt_charge_build(x->g, x->it, &x->g->contest.n);
	if (rc == 0 && !attempt_settled(x->it, &x->v))
		rc = attempt_baseline(m, x->g, e);
	return rc;
}

static int put_final(struct measure *m, struct entry *x, struct err *e)
{
	int rc;

	x->done = 1;
	if (x->f.best.is_there)
		standing_ratio(&m->standing, &x->g->ahead, x->f.best.ratio.median);
	x->v.becomes_incumbent = x->v.said.status == STATUS_OK && !x->g->contest.is_fixed;
	rc = result_put(m, x->g, x->it, &x->v, e);
	if (rc == 0)
		rc = attempt_suspect(m, x->g, 0, e);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}

/* Whether one of its processes ended badly. */
static int has_failed(const struct entry *x)
{
	return x->v.said.status && x->v.said.status != STATUS_OK;
}

/* One process, and the result if it was the last. */
static int take_turn(struct measure *m, struct entry *x, double limit_s, struct err *e)
{
	int rc = x->begun ? 0 : begin(m, x, e);

	if (rc == 0 && !has_failed(x))
		rc = add_process(m, x, limit_s, e);
	if (rc || (!has_failed(x) && final_wants(&x->f, (int)m->rules.finals)))
		return rc;
	return put_final(m, x, e);
}

static void fill_turn(const struct measure *m, const struct entry *x, const struct turns_spent *s,
		      struct turn *t)
{
	const int asked = (int)m->rules.finals;
	const double time_s = x->f.processes ? x->f.time.median : x->g->time_s;

	*t = (struct turn){.processes = x->f.processes,
			   .owes = final_owes(&x->f, asked),
			   .wants = !x->done && final_wants(&x->f, asked) &&
				    turns_may_more(s, x->f.processes, asked, x->last_s),
			   .may_more = asked >= FINAL_LEAST,
			   .weight = (double)x->g->count * time_s,
			   .last_s = x->f.processes ? x->last_s : s->first_s};
}

static int take_turns(struct measure *m, struct entry *x, struct turn *t, int n, struct err *e)
{
	struct turns_spent spent = {0};
	int rc = 0, next = -1;

	while (rc == 0) {
		double start = clock_now();
		const double left_s = m->until - start;

		for (int i = 0; i < n; i++)
			fill_turn(m, &x[i], &spent, &t[i]);
		next = turns_next(t, n, next, left_s);
		if (next < 0)
			break;
		if ((rc = pause_for_others(m, e)))
			return rc;
		start = clock_now();
		rc = take_turn(m, &x[next], turns_limit(t, n, next, left_s), e);
		turns_add(&spent, t[next].processes, (int)m->rules.finals, clock_now() - start);
	}
	/* The time is over for these. */
	for (int i = 0; i < n && rc == 0; i++)
		if (x[i].f.processes && !x[i].done)
			rc = put_final(m, &x[i], e);
	return rc;
}

int finals_run(struct measure *m, struct group *first, const struct group *end, struct err *e)
{
	struct entry *x;
	struct turn *t;
	int n = 0, rc;

	for (const struct group *g = first; g != end; g = g->next)
		n += g->finalist != NULL;
	x = xcalloc((size_t)n + 1, sizeof *x);
	t = xcalloc((size_t)n + 1, sizeof *t);
	n = 0;
	for (struct group *g = first; g != end; g = g->next)
		if (g->finalist)
			x[n++] = (struct entry){.g = g, .it = g->finalist};
	if (n)
		standing_begin(&m->standing, "comparing with the library",
			       n * (m->rules.finals < FINAL_LEAST ? 1 : FINAL_LEAST));
	rc = take_turns(m, x, t, n, e);
	free(t);
	free(x);
	return rc;
}
