#include "lib/measure/turns.h"

#include <math.h>

#include "lib/measure/final.h"

/* Each timed call has a warm-up call, and a process has to start, to make data and to verify. */
static const double TIMED = 0.25;
/* The timed calls of a process that is owed take so long. */
static const double OWED_S = 0.01;

static const double MORE = 0.5; /* of the time of those that were asked for */

void turns_add(struct turns_spent *s, int processes, int asked, double took_s)
{
	if (!processes)
		s->first_s = fmax(s->first_s, took_s);
	if (processes < asked)
		s->asked_s += took_s;
	else
		s->more_s += took_s;
}

int turns_may_more(const struct turns_spent *s, int processes, int asked, double last_s)
{
	return processes < asked || s->more_s + last_s <= MORE * s->asked_s;
}

/* Returns how long the processes take that are owed, as far as is known. */
static double owed_s(const struct turn *t, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		if (t[i].wants && t[i].owes)
			s += (FINAL_LEAST - t[i].processes) * t[i].last_s;
	return s;
}

/* Where not all can have what they owe, those that were begun are first: one process alone says
 * little. */
static int is_before(const struct turn *a, const struct turn *b, int is_short)
{
	if (a->owes != b->owes)
		return a->owes;
	if (a->owes && a->processes != b->processes)
		return (a->processes < b->processes) != is_short;
	return a->weight / (a->processes + 1) > b->weight / (b->processes + 1);
}

static int fits(const struct turn *t, double left_s)
{
	return t->wants && left_s > 0 && t->last_s <= left_s;
}

int turns_next(const struct turn *t, int n, int last, double left_s)
{
	const int is_short = owed_s(t, n) > left_s;
	int next = -1;

	/* There may be no time for it behind another one. */
	if (is_short && last >= 0 && t[last].owes && fits(&t[last], left_s) &&
	    2 * t[last].last_s > left_s)
		return last;
	for (int i = 0; i < n; i++) {
		if (i == last || !fits(&t[i], left_s))
			continue;
		if (next < 0 || is_before(&t[i], &t[next], is_short))
			next = i;
	}
	if (next < 0 && last >= 0 && fits(&t[last], left_s))
		next = last;
	return next;
}

double turns_limit(const struct turn *t, int n, int next, double left_s)
{
	const double most = t[next].owes && t[next].may_more ? OWED_S : INFINITY;
	int owed = 0;

	if (isinf(left_s))
		return isinf(most) ? 0 : most;
	for (int i = 0; i < n; i++)
		if (t[i].wants && t[i].owes)
			owed += FINAL_LEAST - t[i].processes;
	return fmin(most, fmax(TIMED * left_s / (owed > 1 ? owed : 1), 1e-9));
}
