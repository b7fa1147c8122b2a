#include "lib/measure/final.h"

#include <string.h>

static const double Z = 1.96;

/* Appends a list of seconds to x, in which there are n: how many, or -1. */
static int take(const struct json_doc *d, const char *key, double *x, int n)
{
	const struct json *list = json_get(d, d->tok, key);
	int more = 0;

	if (!list || list->type != JSON_ARR || list->size > (int64_t)(FINAL_PAIRS_MAX - n))
		return -1;
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v))
		if (json_num(v, &x[n + more++]) < 0 || !(x[n + more - 1] > 0))
			return -1;
	return more;
}

static int start_of(const struct final *f, int process)
{
	return process ? f->end[process - 1] : 0;
}

/* Of the calmest process. */
static double limit(const struct final *f, const double *x)
{
	double least = 0;

	for (int p = 0; p < f->processes; p++) {
		int at = start_of(f, p);
		double l = duel_limit(x + at, f->end[p] - at);

		least = p == 0 || l < least ? l : least;
	}
	return least;
}

/* What is calm in a final. */
struct calm {
	double x, y; /* limits; y is that of x where there is no duel */
	int count_all;
};

static int pair_is_calm(const struct final *f, const struct calm *c, int i)
{
	return c->count_all || (f->x[i] <= c->x && (!f->is_duel || f->y[i] <= c->y));
}

static int process_is_calm(const struct final *f, const struct calm *c, int p)
{
	int n = 0;

	for (int i = start_of(f, p); i < f->end[p]; i++)
		n += pair_is_calm(f, c, i);
	return 2 * n >= f->end[p] - start_of(f, p);
}

static int count_calm(const struct final *f, const struct calm *c)
{
	int n = 0;

	for (int p = 0; p < f->processes; p++)
		n += process_is_calm(f, c, p);
	return n;
}

enum what { X, Y, RATIO };

/* Of the calm pairs of the calm processes from `first` to before `last`: their median. */
static struct stat_median median_of(const struct final *f, const struct calm *c, int first,
				    int last, enum what what)
{
	double v[FINAL_PAIRS_MAX];
	int n = 0;

	for (int p = first; p < last; p++) {
		if (!process_is_calm(f, c, p))
			continue;
		for (int i = start_of(f, p); i < f->end[p]; i++)
			if (pair_is_calm(f, c, i))
				v[n++] = what == X   ? f->x[i]
					 : what == Y ? f->y[i]
						     : f->y[i] / f->x[i];
	}
	return stat_series(v, n, Z);
}

/* From the least to the greatest of the processes' medians. */
static struct stat_median spread(const struct final *f, const struct calm *c)
{
	struct stat_median own = {0}, all;
	double median[FINAL_PROCESSES];
	int n = 0, pairs = 0;

	for (int p = 0; p < f->processes; p++) {
		if (!process_is_calm(f, c, p))
			continue;
		own = median_of(f, c, p, p + 1, RATIO);
		median[n++] = own.median;
		pairs += own.n;
	}
	if (n == 1)
		return own;
	all = stat_median(median, n);
	all.lo = median[0]; /* they are in order now */
	all.hi = median[n - 1];
	all.n = pairs;
	return all;
}

static void summarise(struct final *f)
{
	struct calm c = {limit(f, f->x), limit(f, f->is_duel ? f->y : f->x), 0};

	f->calm = count_calm(f, &c);
	if (2 * f->calm < f->processes) {
		c.count_all = 1;
		f->calm = f->processes;
	}
	f->time = median_of(f, &c, 0, f->processes, X);
	if (!f->is_duel)
		return;
	f->other_time = median_of(f, &c, 0, f->processes, Y);
	f->ratio = spread(f, &c);
}

int final_add(struct final *f, const struct json_doc *answer, struct err *e)
{
	int n = f->processes < FINAL_PROCESSES ? take(answer, "samples_s", f->x, f->n) : -1;

	f->is_duel = json_get(answer, answer->tok, "other_samples_s") != NULL;
	if (n < 1 || (f->is_duel && take(answer, "other_samples_s", f->y, f->n) != n))
		return err_set(e, "the worker's answer has no samples");
	f->n += n;
	f->end[f->processes++] = f->n;
	summarise(f);
	return 0;
}

int final_is_over(const struct final *f, int asked)
{
	return f->processes >= asked && (f->calm >= asked || f->processes >= 2 * asked);
}
