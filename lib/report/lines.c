#include "lib/report/lines.h"

#include <math.h>
#include <stdlib.h>

#include "lib/io/table.h"

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

	if (json_parse(d, s->record, s->record_n, e))
		return err_in(e, "a result in the database");
	json_str(json_get(d, d->tok, "algo"), &r->arena, &l->algo);
	json_str(json_get(d, d->tok, "verdict"), &r->arena, &l->verdict);
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
		if (!i)
			l->tally = *t;
		if (fill_line(r, l, &m->result[i], e))
			return -1;
	}
	return 0;
}

const char *report_verdict(const struct report_line *l)
{
	switch (l->how) {
	case MATCH_EXACT:
		return l->verdict ? l->verdict : l->final ? "-" : "raced only";
	case MATCH_ENV:
		return "other env";
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
static int64_t measured(const struct store_tally *t)
{
	return t->results ? t->ok : t->measured;
}

static int64_t preempted(const struct store_tally *t)
{
	return t->results ? t->stopped : t->preempted;
}

/* Cells */

static void put_s(struct table *t, int col, double s, double unit, const char *none)
{
	if (isnan(s))
		table_cell(t, col, "%s", none);
	else if (unit == 1)
		table_cell(t, col, "%.9g", s);
	else
		table_cell(t, col, "%.1f", s * unit);
}

static void put_n(struct table *t, int col, int64_t n, const char *none)
{
	if (n < 0)
		table_cell(t, col, "%s", none);
	else
		table_cell(t, col, "%lld", (long long)n);
}

static void put_ratio(struct table *t, int col, double ratio, const char *none)
{
	if (isnan(ratio))
		table_cell(t, col, "%s", none);
	else
		table_cell(t, col, "%.2f", ratio);
}

/* Unknown stays unknown unless something is known to add. */
static void add_count(int64_t *sum, int64_t n)
{
	if (n >= 0)
		*sum = (*sum < 0 ? 0 : *sum) + n;
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
		add_count(&s.preempted, preempted(&l->tally));
		add_count(&s.measured, measured(&l->tally));
		if (isnan(l->baseline_s) || isnan(l->tuned_s)) {
			s.left_out++;
			continue;
		}
		s.before_s += n * l->baseline_s;
		s.after_s += n * l->tuned_s;
		s.best_s += n * fmin(l->baseline_s, l->tuned_s);
	}
	set_interval(r, &s);
	return s;
}

enum {
	T_OP,
	T_PROB,
	T_POST,
	T_COUNT,
	T_BASELINE,
	T_TUNED,
	T_RATIO,
	T_VERDICT,
	T_ALGO,
	T_GENERATED,
	T_BUILT,
	T_PREEMPTED,
	T_MEASURED,
	T_COLUMNS
};

static void text_line(struct table *t, const struct report_line *l, struct arena *a)
{
	table_row(t);
	if (!l->rank) {
		table_cell(t, T_OP, "%s", l->w.op->name);
		table_cell(t, T_PROB, "%s", report_problem(&l->w));
		table_cell(t, T_POST, "%s", report_posts(&l->w, a));
		table_cell(t, T_COUNT, "%lld", (long long)l->count);
		put_s(t, T_BASELINE, l->baseline_s, 1e6, "-");
		put_n(t, T_GENERATED, l->tally.drawn, "-");
		put_n(t, T_BUILT, l->tally.built, "-");
		put_n(t, T_PREEMPTED, preempted(&l->tally), "-");
		put_n(t, T_MEASURED, measured(&l->tally), "-");
	}
	put_s(t, T_TUNED, l->tuned_s, 1e6, "-");
	put_ratio(t, T_RATIO, l->ratio, "-");
	table_cell(t, T_VERDICT, "%s", report_verdict(l));
	if (!strcmp(report_verdict(l), "faster"))
		table_mark(t, T_VERDICT, TABLE_GOOD);
	if (!strcmp(report_verdict(l), "slower"))
		table_mark(t, T_VERDICT, TABLE_BAD);
	table_cell(t, T_ALGO, "%s", l->algo ? l->algo : "-");
}

static void text_total(struct table *t, const struct report_total *s, int any)
{
	table_row(t);
	table_cell(t, T_OP, "total");
	table_cell(t, T_PROB, "count x time");
	table_cell(t, T_COUNT, "%lld", (long long)s->count);
	put_s(t, T_BASELINE, any ? s->before_s : NAN, 1e6, "-");
	put_s(t, T_TUNED, any ? s->after_s : NAN, 1e6, "-");
	put_ratio(t, T_RATIO, any ? s->ratio : NAN, "-");
	put_n(t, T_GENERATED, s->generated, "-");
	put_n(t, T_BUILT, s->built, "-");
	put_n(t, T_PREEMPTED, s->preempted, "-");
	put_n(t, T_MEASURED, s->measured, "-");
}

void report_text(const struct report *r, int colors, struct buf *out)
{
	static const char *const head[T_COLUMNS] = {
		"op",	     "problem",	   "post",     ">count",    ">baseline us",
		">tuned us", ">ratio",	   "verdict",  "algorithm", ">generated",
		">built",    ">preempted", ">measured"};
	struct report_total s = report_sum(r);
	struct arena a = ARENA_INIT;
	struct table t;
	int64_t known = -s.left_out;

	table_init(&t, head, T_COLUMNS);
	t.colors = colors;
	for (int64_t i = 0; i < r->n; i++) {
		text_line(&t, &r->line[i], &a);
		known += !r->line[i].rank;
	}
	text_total(&t, &s, known > 0);
	table_text(&t, out);
	if (s.left_out)
		buf_fmt(out,
			"The sums of time leave out %lld of %lld workloads, of which not both "
			"times are known here.\n",
			(long long)s.left_out, (long long)(known + s.left_out));
	if (s.best_s < s.after_s)
		buf_fmt(out, "With the library's kernel where it is the faster one: %.1f us.\n",
			s.best_s * 1e6);
	buf_fmt(out, "Measuring took %.1f core-seconds.\n", s.core_s);
	table_free(&t);
	arena_free(&a);
}

enum {
	C_ID,
	C_OP,
	C_PROB,
	C_DTYPE,
	C_LAYOUT,
	C_POST,
	C_COUNT,
	C_RANK,
	C_BASELINE,
	C_TUNED,
	C_RATIO,
	C_VERDICT,
	C_MATCH,
	C_ALGO,
	C_CANDIDATE,
	C_GENERATED,
	C_BUILT,
	C_PREEMPTED,
	C_MEASURED,
	C_CORE,
	C_COLUMNS
};

static void csv_line(struct table *t, const struct report_line *l, struct arena *a)
{
	table_row(t);
	table_cell(t, C_ID, "%s", l->w.id.s);
	table_cell(t, C_OP, "%s", l->w.op->name);
	table_cell(t, C_PROB, "%s", l->w.prob);
	table_cell(t, C_DTYPE, "%s", dtype_name(l->w.dtype));
	table_cell(t, C_LAYOUT, "%s", layout_name(l->w.layout));
	table_cell(t, C_POST, "%s", report_posts(&l->w, a));
	table_cell(t, C_COUNT, "%lld", (long long)l->count);
	table_cell(t, C_RANK, "%d", l->rank + 1);
	put_s(t, C_BASELINE, l->baseline_s, 1, "");
	put_s(t, C_TUNED, l->tuned_s, 1, "");
	put_s(t, C_RATIO, l->ratio, 1, "");
	table_cell(t, C_VERDICT, "%s", l->verdict && l->how == MATCH_EXACT ? l->verdict : "");
	table_cell(t, C_MATCH, "%s", match_name(l->how));
	table_cell(t, C_ALGO, "%s", l->algo ? l->algo : "");
	table_cell(t, C_CANDIDATE, "%s", l->candidate_id ? l->candidate_id : "");
	if (l->rank)
		return;
	put_n(t, C_GENERATED, l->tally.drawn, "");
	put_n(t, C_BUILT, l->tally.built, "");
	put_n(t, C_PREEMPTED, preempted(&l->tally), "");
	put_n(t, C_MEASURED, measured(&l->tally), "");
	put_s(t, C_CORE, l->tally.core_s, 1, "");
}

void report_csv(const struct report *r, struct buf *out)
{
	static const char *const head[C_COLUMNS] = {
		"workload_id",	"op",	      "prob",	 "dtype",     "layout",	  "post",  "count",
		"rank",		"baseline_s", "tuned_s", "ratio",     "verdict",  "match", "algo",
		"candidate_id", "generated",  "built",	 "preempted", "measured", "core_s"};
	struct arena a = ARENA_INIT;
	struct table t;

	table_init(&t, head, C_COLUMNS);
	for (int64_t i = 0; i < r->n; i++)
		csv_line(&t, &r->line[i], &a);
	table_csv(&t, out);
	table_free(&t);
	arena_free(&a);
}

void report_free(struct report *r)
{
	arena_free(&r->arena);
	json_free(&r->doc);
	free(r->line);
	map_free(&r->sources);
}
