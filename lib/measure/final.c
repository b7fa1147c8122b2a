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

static struct stat_median median_of(const double *x, int n)
{
	double copy[FINAL_PAIRS_MAX];

	memcpy(copy, x, (size_t)n * sizeof *x);
	return stat_series(copy, n, Z);
}

/* Of the pairs of the last process. */
static struct stat_median last_ratio(const struct final *f, int n)
{
	struct duel d = {.n = n};

	memcpy(d.x, f->x + f->n - n, (size_t)n * sizeof *d.x);
	memcpy(d.y, f->y + f->n - n, (size_t)n * sizeof *d.y);
	return duel_ratio(&d);
}

static void add_ratio(struct final *f, struct stat_median own)
{
	f->process_ratio[f->processes - 1] = own.median;
	f->ratio = f->processes > 1 ? stat_mean(f->process_ratio, f->processes) : own;
	f->ratio.n = f->n;
}

int final_add(struct final *f, const struct json_doc *answer, struct err *e)
{
	int n = f->processes < FINAL_PROCESSES ? take(answer, "samples_s", f->x, f->n) : -1;

	f->is_duel = json_get(answer, answer->tok, "other_samples_s") != NULL;
	if (n < 1 || n > DUEL_MAX ||
	    (f->is_duel && take(answer, "other_samples_s", f->y, f->n) != n))
		return err_set(e, "the worker's answer has no samples");
	f->n += n;
	f->processes++;
	f->time = median_of(f->x, f->n);
	if (!f->is_duel)
		return 0;
	f->other_time = median_of(f->y, f->n);
	add_ratio(f, last_ratio(f, n));
	return 0;
}

int final_wants(const struct final *f, int asked)
{
	if (f->processes < asked)
		return FINAL_PAIRS;
	if (!f->is_duel || asked < 2 || f->processes >= FINAL_MORE * asked ||
	    stat_verdict(f->ratio) != STAT_UNDECIDED)
		return 0;
	return FINAL_SHORT_PAIRS;
}
