#include "lib/report/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int series_has_times(const struct report_line *l)
{
	return !l->rank && !isnan(l->baseline_s) && !isnan(l->tuned_s);
}

int64_t series_count(const struct figures *f)
{
	int64_t n = 0;

	for (int64_t i = 0; i < f->lines->n; i++)
		n += series_has_times(&f->lines->line[i]);
	return n;
}

static int by_before(const void *pa, const void *pb)
{
	const struct operator_times *a = pa, *b = pb;

	if (a->before_s != b->before_s)
		return a->before_s < b->before_s ? 1 : -1;
	return strcmp(a->line->w.id.s, b->line->w.id.s);
}

int64_t series_operators(const struct figures *f, struct operator_times *o)
{
	int64_t n = 0;

	for (int64_t i = 0; i < f->lines->n; i++) {
		const struct report_line *l = &f->lines->line[i];

		if (series_has_times(l))
			o[n++] = (struct operator_times){l, (double)l->count * l->baseline_s,
							 (double)l->count * l->tuned_s};
	}
	qsort(o, (size_t)n, sizeof *o, by_before);
	return n < SERIES_OPERATORS ? n : SERIES_OPERATORS;
}

void series_name(const struct report_line *l, char name[SERIES_NAME])
{
	const char *prob = report_problem(&l->w);
	char times[24] = "";

	if (l->count > 1)
		snprintf(times, sizeof times, "%lld x ", (long long)l->count);
	snprintf(name, SERIES_NAME, "%s%.30s%s", times, prob, strlen(prob) > 30 ? ".." : "");
}

int series_shares(const struct figures *f, struct share s[SERIES_SHARES])
{
	int n = 0;

	for (int i = 0; i < COSTS; i++)
		if (f->cost.core_s[i] > 0)
			s[n++] = (struct share){cost_name((enum cost)i), 0, f->cost.core_s[i]};
	if (f->cost.saved.stopped_s > 0)
		s[n++] = (struct share){"saved by preempting", 1, f->cost.saved.stopped_s};
	if (f->cost.saved.cached_s > 0)
		s[n++] = (struct share){"saved by the cache", 1, f->cost.saved.cached_s};
	return n;
}
