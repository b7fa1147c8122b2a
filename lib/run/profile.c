#include "lib/run/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/io/table.h"
#include "lib/io/terminal.h"
#include "lib/trial/stat.h"

static double median_of(const struct plan *p, const double *ended, int runs, int step)
{
	double *x = xcalloc((size_t)runs, sizeof *x), r;

	for (int i = 0; i < runs; i++) {
		const double *run = ended + (size_t)i * (size_t)(p->nstep + 1);

		x[i] = run[step + 1] - run[step];
	}
	r = stat_median(x, runs).median;
	free(x);
	return r;
}

void profile_table(const struct plan *p, const double *ended, int runs, struct buf *out)
{
	double *each = xcalloc((size_t)p->nstep + 1, sizeof *each), all = 0;

	for (int i = 0; i < p->nstep; i++)
		if (step_is_live(&p->step[i]))
			all += each[i] = median_of(p, ended, runs, i);
	buf_fmt(out, "%10s %6s %9s  %-9s %s\n", "us", "share", "alone", "kernel", "operator");
	for (int i = 0; i < p->nstep; i++) {
		const struct step *s = &p->step[i];

		if (!step_is_live(s))
			continue;
		buf_fmt(out, "%10.1f %5.1f%% ", each[i] * 1e6, 100 * each[i] / all);
		if (isnan(s->predicted_s))
			buf_fmt(out, "%9s", "");
		else
			buf_fmt(out, "%9.1f", s->predicted_s * 1e6);
		buf_fmt(out, "  %-9s %s ", s->match ? s->match : "", s->what);
		terminal_text(s->name, strlen(s->name), out);
		if (s->workload)
			buf_fmt(out, " %s %s%s%s", s->candidate->algo->name, s->workload->prob,
				dtypes_are_f32(&s->workload->dtype) ? "" : " ",
				dtypes_are_f32(&s->workload->dtype) ? "" : s->workload->dtype_text);
		buf_ch(out, '\n');
	}
	buf_fmt(out, "%10.1f 100.0%%            %s\n", all * 1e6, "all");
	free(each);
}

void profile_trace(const struct plan *p, const double *ended, struct buf *out)
{
	const char *comma = "";

	buf_str(out, "[");
	for (int i = 0; i < p->nstep; i++) {
		const struct step *s = &p->step[i];

		if (!step_is_live(s))
			continue;
		buf_fmt(out, "%s\n{", comma);
		field_text(out, "ph", "X");
		field_integer(out, "pid", 1);
		field_integer(out, "tid", 1);
		field_fmt(out, "ts", "%.3f", (ended[i] - ended[0]) * 1e6);
		field_fmt(out, "dur", "%.3f", (ended[i + 1] - ended[i]) * 1e6);
		field_text(out, "cat", s->what);
		field_text(out, "name", s->name);
		if (s->workload) {
			field_object(out, "args");
			field_text(out, "workload", s->workload->id.s);
			field_text(out, "prob", s->workload->prob);
			if (!dtypes_are_f32(&s->workload->dtype))
				field_text(out, "dtype", s->workload->dtype_text);
			field_text(out, "algo", s->candidate->algo->name);
			buf_ch(out, '}');
		}
		buf_ch(out, '}');
		comma = ",";
	}
	buf_str(out, "\n]\n");
}

double profile_predicted(const struct plan *p, int *known, int *all)
{
	double sum = 0;

	*known = *all = 0;
	for (int i = 0; i < p->nstep; i++) {
		if (!p->step[i].workload)
			continue;
		++*all;
		if (isnan(p->step[i].predicted_s))
			continue;
		++*known;
		sum += p->step[i].predicted_s;
	}
	return sum;
}
