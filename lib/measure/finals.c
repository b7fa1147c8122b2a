#include "lib/measure/finals.h"

#include <stdlib.h>

#include "lib/measure/attempt.h"
#include "lib/measure/group.h"

/* A group's final on its way. */
struct entry {
	struct group *g;
	struct item *it;
	struct final f;
	struct verdict v;
	int done;
};

/* One more process, with a worker of its own. */
static int add_process(struct measure *m, struct entry *x, struct err *e)
{
	int rc;

	standing_next(&m->standing, &x->g->w);
	worker_kill(&m->worker);
	x->v.pairs = FINAL_PAIRS;
	rc = attempt_run(m, x->g, x->it, &x->v, e);
	if (rc || !x->v.answer || x->v.status != STATUS_OK)
		return rc;
	return final_add(&x->f, x->v.answer, e);
}

static int begin(struct measure *m, struct entry *x, struct err *e)
{
	int rc = group_kernel(m, x->g, x->it, e);

	x->v = (struct verdict){.is_final = 1, .final = &x->f};
	if (rc == 0)
		rc = cache_wait(&m->cache, NULL, e);
	attempt_charge_build(x->g, x->it, &x->g->contest.n);
	if (rc == 0 && !attempt_settled(x->it, &x->v))
		rc = attempt_opponent(m, x->g, e);
	return rc;
}

static int put_final(struct measure *m, struct entry *x, struct err *e)
{
	int rc;

	x->v.is_incumbent = x->v.status == STATUS_OK && !x->g->contest.is_fixed;
	rc = result_put(m, x->g, x->it, &x->v, e);
	return rc ? rc : attempt_suspect(m, x->g, 0, e);
}

/* Whether a final has all its processes, or one of them ended badly. */
static int is_over(const struct measure *m, const struct entry *x)
{
	return (x->v.status && x->v.status != STATUS_OK) ||
	       !final_wants(&x->f, (int)m->rules.finals);
}

/* One process, and the result if it was the last. */
static int take_turn(struct measure *m, struct entry *x, int round, struct err *e)
{
	int rc = round ? 0 : begin(m, x, e);

	if (rc == 0 && !is_over(m, x))
		rc = add_process(m, x, e);
	if (rc || !is_over(m, x))
		return rc;
	x->done = 1;
	if (x->f.best.is_there)
		standing_ratio(&m->standing, &x->g->ahead, x->f.best.ratio.median);
	rc = put_final(m, x, e);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}

static int take_turns(struct measure *m, struct entry *x, int n, struct err *e)
{
	int rc = 0, left = n;

	for (int round = 0; left && rc == 0; round++) {
		left = 0;
		for (int i = 0; i < n && rc == 0; i++) {
			rc = x[i].done ? 0 : take_turn(m, &x[i], round, e);
			left += !x[i].done;
		}
	}
	return rc;
}

int finals_run(struct measure *m, struct group *first, const struct group *end, struct err *e)
{
	struct entry *x;
	int n = 0, rc;

	for (const struct group *g = first; g != end; g = g->next)
		n += g->finalist != NULL;
	x = xcalloc((size_t)n + 1, sizeof *x);
	n = 0;
	for (struct group *g = first; g != end; g = g->next)
		if (g->finalist)
			x[n++] = (struct entry){.g = g, .it = g->finalist};
	if (n)
		standing_begin(&m->standing, "comparing with the library", n * m->rules.finals);
	rc = take_turns(m, x, n, e);
	free(x);
	return rc;
}
