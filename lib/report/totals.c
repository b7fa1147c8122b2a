#include "lib/report/totals.h"

#include <math.h>
#include <stdio.h>

#include "lib/io/field.h"
#include "lib/record/schema.h"
#include "lib/report/saved.h"

void totals_table(struct table *t, enum output_form form, const struct table_look *look,
		  struct buf *b)
{
	t->look = *look;
	if (form == OUTPUT_CSV)
		table_csv(t, b);
	else
		table_text(t, b);
	table_free(t);
}

/* ---- statistics ---- */

static void stats_record(const struct store_stats *s, struct buf *b)
{
	field_record(b, "stats");
	field_integer(b, "workloads", s->workloads);
	field_integer(b, "sources", s->sources);
	field_integer(b, "candidates", s->candidates);
	field_integer(b, "results", s->results);
	field_object(b, "status");
	for (int i = 0; i < s->nstatus; i++)
		field_integer(b, s->status[i].name, s->status[i].n);
	buf_ch(b, '}');
	field_integer(b, "envs", s->envs);
	field_integer(b, "runs", s->runs);
	field_number(b, "core_s", s->core_s);
	buf_ch(b, '}');
}

static void stats_table(const struct store_stats *s, enum output_form form,
			const struct table_look *look, struct buf *b)
{
	static const char *const head[] = {"what", ">number"};
	const struct {
		const char *what;
		int64_t n;
	} line[] = {{"workloads", s->workloads},
		    {"places in models", s->sources},
		    {"envs", s->envs},
		    {"runs", s->runs},
		    {"candidates", s->candidates},
		    {"results", s->results}};
	struct table t;

	table_init(&t, head, 2);
	for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
		table_row(&t);
		table_cell(&t, 0, "%s", line[i].what);
		table_cell(&t, 1, "%lld", (long long)line[i].n);
	}
	for (int i = 0; i < s->nstatus; i++) {
		table_row(&t);
		table_cell(&t, 0, "results %s", s->status[i].name);
		table_cell(&t, 1, "%lld", (long long)s->status[i].n);
	}
	table_row(&t);
	table_cell(&t, 0, "core-seconds");
	table_cell(&t, 1, "%.1f", s->core_s);
	totals_table(&t, form, look, b);
}

void totals_stats(const struct store_stats *s, enum output_form form, const struct table_look *look,
		  struct buf *b)
{
	if (form == OUTPUT_RECORD)
		stats_record(s, b);
	else
		stats_table(s, form, look, b);
}

/* ---- costs ---- */

/* Sums of quantities end where a record's numbers do. */
static void field_sum(struct buf *b, const char *key, double sum)
{
	field_number(b, key, fmin(sum, RECORD_MOST));
}

static void saved_record(const struct savings *s, struct buf *b)
{
	field_object(b, "saved");
	field_integer(b, "races", s->races);
	field_integer(b, "stopped", s->stopped);
	field_integer(b, "estimated", s->estimated);
	field_sum(b, "stopped_core_s", s->stopped_s);
	field_integer(b, "proposed", s->proposed);
	field_integer(b, "passed_on", s->passed_on);
	field_integer(b, "kernels", s->kernels);
	field_integer(b, "built", s->built);
	field_sum(b, "cached_core_s", s->cached_s);
	buf_ch(b, '}');
}

static void cost_record(const struct cost_sum *s, struct buf *b)
{
	field_record(b, "cost");
	field_integer(b, "runs", s->whole);
	field_integer(b, "parts", s->runs - s->whole);
	field_sum(b, "wall_s", s->wall_s);
	if (s->waited_s > 0)
		field_sum(b, "waited_s", s->waited_s);
	field_sum(b, "held_core_s", s->held_s);
	field_sum(b, "sum_core_s", cost_total(s));
	field_object(b, "cost");
	for (int i = 0; i < COSTS; i++)
		field_sum(b, cost_name((enum cost)i), s->core_s[i]);
	if (s->unknown_s > 0)
		field_sum(b, "unknown", s->unknown_s);
	buf_ch(b, '}');
	field_sum(b, "wasted_core_s", s->wasted_s);
	field_sum(b, "results_core_s", s->results_s);
	field_integer(b, "results", s->results);
	field_integer(b, "candidates", s->candidates);
	field_integer(b, "measured", s->measured);
	field_integer(b, "preempted", s->preempted);
	field_integer(b, "failed", s->failed);
	saved_record(&s->saved, b);
	if (s->stop[0])
		field_text(b, "stop", s->stop);
	if (isnan(s->energy_J))
		field_null(b, "energy_J", "not all of the runs could read it");
	else
		field_sum(b, "energy_J", s->energy_J);
	buf_ch(b, '}');
}

static void cost_line(struct table *t, const char *what, double core_s, double of,
		      enum output_form form)
{
	table_row(t);
	table_cell(t, 0, "%s", what);
	table_cell(t, 1, form == OUTPUT_CSV ? "%.9g" : "%.2f", core_s);
	if (of > 0)
		table_cell(t, 2, form == OUTPUT_CSV ? "%.9g" : "%.1f", 100 * core_s / of);
}

static void cost_note(const struct cost_sum *s, const struct table_look *look, struct buf *b)
{
	const double held = s->held_s;
	char each[64] = "";

	table_note(look, b,
		   "The purposes sum to %.2f%% of %.2f core-seconds, what %lld run%s held in %.2f "
		   "s.",
		   held > 0 ? 100 * cost_total(s) / held : 0, held, (long long)s->whole,
		   s->whole == 1 ? "" : "s", s->wall_s);
	if (s->candidates)
		snprintf(each, sizeof each, "; %.3g core-seconds each",
			 held / (double)s->candidates);
	table_note(look, b, "%lld candidates: %lld measured, %lld preempted, %lld failed%s.",
		   (long long)s->candidates, (long long)s->measured, (long long)s->preempted,
		   (long long)s->failed, each);
	table_note(look, b, "Their results tell of %.2f core-seconds.", s->results_s);
	for (int i = 0; i < SAVED_SENTENCES; i++) {
		struct buf sentence = BUF_INIT;

		if (saved_sentence(s, (enum saved_sentence)i, &sentence))
			table_note(look, b, "%s", sentence.s);
		buf_free(&sentence);
	}
}

static void cost_table(const struct cost_sum *s, enum output_form form,
		       const struct table_look *look, struct buf *b)
{
	static const char *const head[] = {"purpose", ">core-seconds", ">%"};
	struct table t;

	table_init(&t, head, 3);
	for (int i = 0; i < COSTS; i++)
		cost_line(&t, cost_name((enum cost)i), s->core_s[i], s->held_s, form);
	if (s->unknown_s > 0)
		cost_line(&t, "not known here", s->unknown_s, s->held_s, form);
	cost_line(&t, "sum", cost_total(s), s->held_s, form);
	cost_line(&t, "wasted of these", s->wasted_s, s->held_s, form);
	totals_table(&t, form, look, b);
	if (form == OUTPUT_TEXT)
		cost_note(s, look, b);
}

void totals_cost(const struct cost_sum *s, enum output_form form, const struct table_look *look,
		 struct buf *b)
{
	if (form == OUTPUT_RECORD)
		cost_record(s, b);
	else
		cost_table(s, form, look, b);
}
