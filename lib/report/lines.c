#include "lib/report/lines.h"

#include <math.h>
#include <stdlib.h>
static struct report_line *add_line(struct report *r, const struct workload *w, int64_t count,
				    enum match_how how)
{
	struct report_line *l;

	if (r->n == r->cap) {
		r->cap = r->cap * 2 + 16;
		r->line = xrealloc(r->line, (size_t)r->cap * sizeof *r->line);
	}
	l = &r->line[r->n++];
	*l = (struct report_line){.w = *w, .count = count, .how = how};
	l->baseline_s = l->tuned_s = l->ratio = l->ratio_lo = l->ratio_hi = NAN;
	return l;
}

/* The paired measurement's ratio with its interval: 1; 0: there was none. */
static int read_ratio(const struct json_doc *d, struct report_line *l)
{
	const struct json *ratio = json_get(d, d->tok, "ratio");
	const struct json *ci = json_get(d, ratio, "ci"), *lo, *hi;

	if (json_num(json_get(d, ratio, "median"), &l->ratio))
		return 0;
	if (ci && ci->type == JSON_ARR && ci->size == 2) {
		lo = json_first(d, ci);
		hi = json_next(d, ci, lo);
		json_num(lo, &l->ratio_lo);
		json_num(hi, &l->ratio_hi);
	}
	return 1;
}

/* The verdict and the ratio are those of the paired measurement, if there was one. */
static int fill_line(struct report *r, struct report_line *l, const struct store_result *s,
		     struct err *e)
{
	struct json_doc *d = &r->doc;
	const char *cache = NULL;

	if (json_parse(d, s->record, s->record_n, e))
		return err_in(e, "a result in the database");
	json_str(json_get(d, d->tok, "algo"), &r->arena, &l->algo);
	json_str(json_get(d, d->tok, "verdict"), &r->arena, &l->verdict);
	json_str(json_get(d, d->tok, "cache"), &r->arena, &cache);
	l->weights_cold = cache && !strcmp(cache, "weights-cold");
	l->candidate_id = arena_strdup(&r->arena, s->candidate_id.s);
	l->final = s->final;
	if (l->how != MATCH_EXACT)
		return 0;
	l->baseline_s = s->baseline_s;
	l->tuned_s = s->latency_s;
	if (read_ratio(d, l))
		l->tuned_s = s->baseline_s / l->ratio; /* the two times differ as the pairs do */
	else
		l->ratio = s->baseline_s / s->latency_s;
	return 0;
}

/* A source is MODEL:HASH:NAME; of files without a hash, the file. */
void report_add_sources(struct report *r, const struct json_doc *d)
{
	const struct json *list = json_get(d, d->tok, "source"), *v;

	if (!list || list->type != JSON_ARR)
		return;
	for (v = json_first(d, list); v; v = json_next(d, list, v)) {
		const char *text;
		size_t n;

		if (json_str(v, &r->arena, &text))
			continue;
		n = strcspn(text, ":");
		if (n)
			map_put(&r->sources, text, n, NULL);
	}
}

int report_add(struct report *r, const struct workload *w, int64_t count, const struct match *m,
	       const struct store_tally *t, struct err *e)
{
	struct report_line *l;

	if (!m->n) {
		l = add_line(r, w, count, MATCH_NONE);
		l->tally = *t;
	}
	for (int64_t i = 0; i < m->n; i++) {
		l = add_line(r, w, count, m->how);
		l->rank = (int)i;
		l->stale = m->stale;
		l->foreign = m->foreign;
		l->why = m->why ? arena_strdup(&r->arena, m->why) : NULL;
		if (!i)
			l->tally = *t;
		if (fill_line(r, l, &m->result[i], e))
			return -1;
	}
	return 0;
}

const char *report_weights(const struct report_total *s)
{
	if (!s->weights_cold)
		return "";
	return s->weights_cold == s->workloads - s->left_out
		       ? "Weights came from memory before each timed call, as in a network."
		       : "Weights came from memory before some of the timed calls, and from the "
			 "caches before others: these times cannot be compared.";
}

const char *report_verdict(const struct report_line *l)
{
	switch (l->how) {
	case MATCH_EXACT:
		return l->verdict ? l->verdict : l->final ? "-" : "raced only";
	case MATCH_ENV:
		return l->stale ? "stale" : l->foreign ? "foreign" : "other env";
	case MATCH_NEAREST:
		return "nearest";
	default:
		return "unknown";
	}
}

const char *report_problem(const struct workload *w)
{
	if (!strncmp(w->prob, "mb1_", 4))
		return w->prob + 4;
	return strncmp(w->prob, "mb1g", 4) ? w->prob : w->prob + 3;
}

const char *report_dtype(const struct workload *w, struct arena *a)
{
	return dtypes_are_f32(&w->dtype) ? "" : arena_printf(a, " %s", w->dtype_text);
}

const char *report_posts(const struct workload *w, struct arena *a)
{
	struct buf b = BUF_INIT;
	const char *text;

	workload_posts(w, &b);
	text = arena_strndup(a, b.s, b.n);
	buf_free(&b);
	return text;
}

/* Counted from the results: of a run that was killed there are results, but no end record. */
int64_t report_measured(const struct store_tally *t)
{
	return t->results ? t->ok : t->measured;
}

int64_t report_preempted(const struct store_tally *t)
{
	return t->results ? t->stopped : t->preempted;
}

/* Unknown stays unknown unless something is known to add. Sums end with the largest number of a
 * record. */
static void add_count(int64_t *sum, int64_t n)
{
	const int64_t was = *sum < 0 ? 0 : *sum;

	if (n >= 0)
		*sum = n < JSON_MOST_INT - was ? was + n : JSON_MOST_INT;
}

static void add_verdict(struct report_total *s, const struct report_line *l)
{
	const char *v = l->how == MATCH_EXACT && l->verdict ? l->verdict : "";

	s->faster += !strcmp(v, "faster");
	s->same += !strcmp(v, "same");
	s->slower += !strcmp(v, "slower");
	s->undecided += !strcmp(v, "undecided");
}

static void set_interval(const struct report *r, struct report_total *s)
{
	double squares = 0;

	s->ratio = s->before_s / s->after_s;
	for (int64_t i = 0; i < r->n; i++) {
		const struct report_line *l = &r->line[i];
		double share = (double)l->count * l->tuned_s / s->after_s;
		double half = log(l->ratio_hi / l->ratio_lo) / 2;

		if (!l->rank && !isnan(l->baseline_s) && !isnan(l->tuned_s))
			squares += share * half * share * half;
	}
	s->ratio_lo = s->ratio / exp(sqrt(squares));
	s->ratio_hi = s->ratio * exp(sqrt(squares));
}

struct report_total report_sum(const struct report *r)
{
	struct report_total s = {.generated = -1, .built = -1, .preempted = -1, .measured = -1};

	for (int64_t i = 0; i < r->n; i++) {
		const struct report_line *l = &r->line[i];
		double n = (double)l->count;

		if (l->rank)
			continue;
		s.workloads++;
		s.count += l->count;
		s.core_s += l->tally.core_s;
		add_verdict(&s, l);
		add_count(&s.generated, l->tally.drawn);
		add_count(&s.built, l->tally.built);
		add_count(&s.preempted, report_preempted(&l->tally));
		add_count(&s.measured, report_measured(&l->tally));
		if (isnan(l->baseline_s) || isnan(l->tuned_s)) {
			s.left_out++;
			continue;
		}
		s.weights_cold += l->weights_cold;
		s.before_s += n * l->baseline_s;
		s.after_s += n * l->tuned_s;
		s.flops += n * (double)l->w.flops;
		s.other_types += !dtypes_are_f32(&l->w.dtype);
		s.best_s += n * fmin(l->baseline_s, l->tuned_s);
	}
	set_interval(r, &s);
	return s;
}

void report_free(struct report *r)
{
	arena_free(&r->arena);
	json_free(&r->doc);
	free(r->line);
	map_free(&r->sources);
}
