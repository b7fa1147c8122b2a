#include "lib/report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/history.h"

/* ---- rooflines ---- */

double figures_bytes(const struct workload *w)
{
	return (double)workload_bytes(w);
}

static double bandwidth_for(const struct machine *v, double bytes)
{
	int i = 0;

	while (i < LEVEL_MEM && !(bytes <= v->holds[i]))
		i++;
	return v->bandwidth[i];
}

double figures_roof_s(const struct figures *f, const struct workload *w)
{
	double bytes = figures_bytes(w);
	double flops_s = (double)w->flops / f->env.peak;
	double bytes_s = bytes / bandwidth_for(&f->env, bytes);

	return isnan(flops_s) || isnan(bytes_s) || !dtypes_are_f32(&w->dtype) ? NAN
	       : flops_s > bytes_s					      ? flops_s
									      : bytes_s;
}

/* ---- how it came about ---- */

/* A result that may have changed what is known of a workload. */
struct event {
	const struct store_result *r;
	const struct report_line *line;
	double core_s; /* 0 where another line has told of it */
};

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;
	int order = strcmp(a->r->at, b->r->at);

	if (!order)
		order = strcmp(a->r->candidate_id.s, b->r->candidate_id.s);
	return order ? order : a->r->final - b->r->final;
}

static int is_counted(const struct report_line *l)
{
	return !l->rank && !isnan(l->baseline_s) && !isnan(l->tuned_s);
}

/* The best time after r. One that won a race is as much faster than the best before as its duels
 * say; the final's time is that of the report's line. */
static double best_after(const struct store_result *r, const struct report_line *l, double best,
			 int known)
{
	if (r->status != STATUS_OK)
		return best;
	if (r->final)
		return l->tuned_s;
	if (!r->since)
		return best;
	return known && !isnan(r->ratio) ? best / r->ratio : r->latency_s;
}

/* Goes through the events in order. best and known: by line. */
static void make_moments(struct figures *f, const struct event *event, int64_t n, double *best,
			 char *known)
{
	double s = f->total.before_s, core_s = 0;

	f->moment = arena_array(&f->arena, struct moment, n + 1);
	f->moment[f->nmoments++] = (struct moment){0, s};
	for (int64_t i = 0; i < n; i++) {
		const struct report_line *l = event[i].line;
		int64_t k = l - f->lines->line;
		double after = best_after(event[i].r, l, best[k], known[k]);

		core_s += event[i].core_s;
		if (after != best[k]) {
			s += (double)l->count *
			     (fmin(after, l->baseline_s) - fmin(best[k], l->baseline_s));
			best[k] = after;
			known[k] = 1;
		}
		f->moment[f->nmoments++] = (struct moment){core_s, s};
	}
}

static int64_t take_events(const struct report *lines, const struct history *h, struct event *event)
{
	struct map seen = MAP_INIT;
	int64_t n = 0;

	for (int64_t i = 0; i < lines->n; i++) {
		const struct report_line *l = &lines->line[i];
		const struct history_item *it = history_get(h, l->w.id.s);
		int isnew;

		if (!it || !is_counted(l))
			continue;
		map_put(&seen, l->w.id.s, ID_HEX, &isnew);
		for (int64_t k = 0; k < it->n; k++) {
			double core_s = it->result[k].core_s;

			event[n++] = (struct event){&it->result[k], l,
						    isnew && !isnan(core_s) ? core_s : 0};
		}
	}
	map_free(&seen);
	return n;
}

static int64_t count_results(const struct report *lines, const struct history *h)
{
	int64_t n = 0;

	for (int64_t i = 0; i < lines->n; i++) {
		const struct history_item *it = history_get(h, lines->line[i].w.id.s);

		n += it ? it->n : 0;
	}
	return n;
}

static void order_moments(struct figures *f, const struct history *h)
{
	const struct report *lines = f->lines;
	struct event *event = xcalloc((size_t)count_results(lines, h) + 1, sizeof *event);
	double *best = xcalloc((size_t)lines->n + 1, sizeof *best);
	char *known = xcalloc((size_t)lines->n + 1, 1);
	int64_t n = take_events(lines, h, event);

	if (n)
		qsort(event, (size_t)n, sizeof *event, by_time);
	for (int64_t i = 0; i < lines->n; i++)
		best[i] = lines->line[i].baseline_s;
	make_moments(f, event, n, best, known);
	free(event);
	free(best);
	free(known);
}

/* ---- all ---- */

static int read_history(struct figures *f, struct store *s, struct err *e)
{
	struct history h = {.env = f->env.id};
	int rc = 0;

	for (int64_t i = 0; !rc && i < f->lines->n; i++)
		rc = history_add_workload(&h, s, f->lines->line[i].w.id.s, e);
	if (!rc) {
		history_finish(&h, NULL);
		f->first_at = h.first_at ? arena_strdup(&f->arena, h.first_at) : NULL;
		f->last_at = h.last_at ? arena_strdup(&f->arena, h.last_at) : NULL;
		order_moments(f, &h);
	}
	history_free(&h);
	return rc;
}

int figures_read(struct figures *f, struct store *s, const struct store_env *here,
		 const struct report *lines, struct err *e)
{
	const struct cost_which all = {NULL, NULL};

	*f = (struct figures){.lines = lines, .total = report_sum(lines)};
	if (machine_read(&f->env, here, &f->arena, e) || read_history(f, s, e))
		return -1;
	f->has_cost = cost_sum(s, &all, &f->cost, e);
	return f->has_cost < 0 ? -1 : 0;
}

void figures_free(struct figures *f)
{
	arena_free(&f->arena);
}
