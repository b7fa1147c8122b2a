#include "lib/measure/turns.h"

#include <math.h>

#include "lib/measure/final.h"

/* Each timed call has a warm-up call, and a process has to start, to make data and to verify. */
static const double TIMED = 0.25;
/* The timed calls of a process that is owed take so long. */
static const double OWED_S = 0.01;

static int is_before(const struct turn *a, const struct turn *b)
{
	if (a->owes != b->owes)
		return a->owes;
	if (a->owes && a->processes != b->processes)
		return a->processes < b->processes;
	return a->weight / (a->processes + 1) > b->weight / (b->processes + 1);
}

int turns_next(const struct turn *t, int n, int last, double left_s)
{
	int next = -1;

	for (int i = 0; i < n; i++) {
		if (!t[i].wants || i == last || left_s <= 0 || t[i].last_s > left_s)
			continue;
		if (next < 0 || is_before(&t[i], &t[next]))
			next = i;
	}
	if (next < 0 && last >= 0 && t[last].wants && left_s > 0 && t[last].last_s <= left_s)
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
