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

int final_add(struct final *f, const struct json_doc *answer, struct err *e)
{
	double ratio[FINAL_PAIRS_MAX];
	int n = take(answer, "samples_s", f->x, f->n);

	f->is_duel = json_get(answer, answer->tok, "other_samples_s") != NULL;
	if (n < 1 || (f->is_duel && take(answer, "other_samples_s", f->y, f->n) != n))
		return err_set(e, "the worker's answer has no samples");
	f->n += n;
	f->processes++;
	f->time = median_of(f->x, f->n);
	if (!f->is_duel)
		return 0;
	f->other_time = median_of(f->y, f->n);
	for (int i = 0; i < f->n; i++)
		ratio[i] = f->y[i] / f->x[i];
	f->ratio = stat_series(ratio, f->n, Z);
	return 0;
}
