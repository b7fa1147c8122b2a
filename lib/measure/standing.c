#include "lib/measure/standing.h"

#include <math.h>
#include <stdio.h>

#include "lib/io/clock.h"

void standing_begin(struct standing *s, const char *what, int64_t all)
{
	const struct progress before = s->shown;

	s->shown = (struct progress){
		.what = what,
		.started = clock_now(),
		.all = all,
		.better = before.better,
		.ratio = before.ratio,
	};
}

void standing_next(struct standing *s, const struct workload *w)
{
	char detail[PROB_MAX + 32];

	if (s->shown.all <= s->shown.done) /* more came than was known of */
		s->shown.all = s->shown.done + 1;
	snprintf(detail, sizeof detail, "%s %s", w->op->name, w->prob);
	progress_show(&s->shown, detail);
	s->shown.done++;
}

void standing_ratio(struct standing *s, double *of, double ratio)
{
	if (!(ratio > 0) || isinf(ratio))
		return;
	if (*of > 0)
		s->sum -= log(*of);
	else
		s->known++;
	s->sum += log(ratio);
	*of = ratio;
	s->shown.ratio = exp(s->sum / (double)s->known);
}

void standing_better(struct standing *s, double *of, double by)
{
	s->shown.better++;
	if (*of > 0)
		standing_ratio(s, of, *of * by);
}
