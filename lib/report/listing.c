#include "lib/report/listing.h"

#include <math.h>
#include <string.h>

/* ---- cells ---- */

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

/* Returns the share of the machine's peak, which is that of single precision. NAN: one of both is
 * not known, or the operations are of other types. */
static double peak_share(const struct report *r, int is_single, double flops, double s)
{
	return r->peak > 0 && is_single ? flops / s / r->peak : NAN;
}

/* ---- the table ---- */

enum {
	T_OP,
	T_PROB,
	T_POST,
	T_COUNT,
	T_BASELINE,
	T_TUNED,
	T_RATIO,
	T_VERDICT,
	T_GFLOPS,
	T_PEAK,
	T_ALGO,
	T_GENERATED,
	T_BUILT,
	T_PREEMPTED,
	T_MEASURED,
	T_COLUMNS
};

/* Which columns a narrow table does without, the first of these first. */
static const signed char leave[] = {T_GENERATED, T_PREEMPTED, T_BUILT,	T_MEASURED, T_ALGO, T_POST,
				    T_COUNT,	 T_OP,	      T_GFLOPS, T_PEAK,	    -1};

/* What the envs of answers differ by, each sentence once. */
struct notes {
	struct map map;
};

/* The number of a note, from 1. */
static int note(struct notes *n, const char *why)
{
	size_t i = 0;

	map_put(&n->map, why, strlen(why), NULL);
	while (n->map.item[i].len != strlen(why) || memcmp(n->map.item[i].key, why, strlen(why)))
		i++;
	return (int)i + 1;
}

static void put_verdict(struct table *t, const struct report_line *l, struct notes *notes)
{
	const char *verdict = report_verdict(l);

	if (l->how == MATCH_ENV && l->why)
		table_cell(t, T_VERDICT, "%s [%d]", verdict, note(notes, l->why));
	else
		table_cell(t, T_VERDICT, "%s", verdict);
	if (!strcmp(verdict, "faster"))
		table_mark(t, T_VERDICT, TABLE_GOOD);
	if (!strcmp(verdict, "slower"))
		table_mark(t, T_VERDICT, TABLE_BAD);
}

static void put_speed(struct table *t, const struct report *r, int is_single, double flops,
		      double s)
{
	double share = peak_share(r, is_single, flops, s);

	if (isnan(s))
		table_cell(t, T_GFLOPS, "-");
	else
		table_cell(t, T_GFLOPS, "%.1f", flops / s / 1e9);
	if (isnan(share))
		table_cell(t, T_PEAK, "-");
	else
		table_cell(t, T_PEAK, "%.0f%%", 100 * share);
}

static void text_line(struct table *t, const struct report *r, const struct report_line *l,
		      struct notes *notes, struct arena *a)
{
	table_row(t);
	if (!l->rank) {
		table_cell(t, T_OP, "%s", l->w.op->name);
		table_cell(t, T_PROB, "%s%s", report_problem(&l->w), report_dtype(&l->w, a));
		table_cell(t, T_POST, "%s", report_posts(&l->w, a));
		table_cell(t, T_COUNT, "%lld", (long long)l->count);
		put_s(t, T_BASELINE, l->baseline_s, 1e6, "-");
		put_n(t, T_GENERATED, l->tally.drawn, "-");
		put_n(t, T_BUILT, l->tally.built, "-");
		put_n(t, T_PREEMPTED, report_preempted(&l->tally), "-");
		put_n(t, T_MEASURED, report_measured(&l->tally), "-");
	}
	put_s(t, T_TUNED, l->tuned_s, 1e6, "-");
	put_ratio(t, T_RATIO, l->ratio, "-");
	put_verdict(t, l, notes);
	put_speed(t, r, dtypes_are_f32(&l->w.dtype), (double)l->w.flops, l->tuned_s);
	table_cell(t, T_ALGO, "%s", l->algo ? l->algo : "-");
}

static void text_total(struct table *t, const struct report *r, const struct report_total *s,
		       int any)
{
	table_row(t);
	table_cell(t, T_OP, "total");
	table_cell(t, T_PROB, "count x time");
	table_cell(t, T_COUNT, "%lld", (long long)s->count);
	put_s(t, T_BASELINE, any ? s->before_s : NAN, 1e6, "-");
	put_s(t, T_TUNED, any ? s->after_s : NAN, 1e6, "-");
	put_ratio(t, T_RATIO, any ? s->ratio : NAN, "-");
	put_speed(t, r, !s->other_types, s->flops, any ? s->after_s : NAN);
	put_n(t, T_GENERATED, s->generated, "-");
	put_n(t, T_BUILT, s->built, "-");
	put_n(t, T_PREEMPTED, s->preempted, "-");
	put_n(t, T_MEASURED, s->measured, "-");
}

/* Below the table. */
static void text_notes(const struct table_look *look, const struct report_total *s, int64_t known,
		       const struct notes *notes, int left, struct buf *out)
{
	table_note(look, out,
		   "Times are in us. A ratio is the library's time over the tuned kernel's, of "
		   "calls in pairs; of a kernel that was raced only, it is of times taken apart.");
	if (s->weights_cold)
		table_note(look, out, "%s", report_weights(s));
	for (size_t i = 0; i < notes->map.n; i++)
		table_note(look, out, "[%zu] %.*s.", i + 1, (int)notes->map.item[i].len,
			   notes->map.item[i].key);
	if (s->left_out)
		table_note(look, out,
			   "The sums of time leave out %lld of %lld workloads, of which not both "
			   "times are known here.",
			   (long long)s->left_out, (long long)(known + s->left_out));
	if (s->best_s < s->after_s)
		table_note(look, out,
			   "With the library's kernel where it is the faster one: %.1f us.",
			   s->best_s * 1e6);
	table_note(look, out, "Measuring took %.1f core-seconds.", s->core_s);
	if (left)
		table_note(look, out, "%d more column%s with --wide.", left, left == 1 ? "" : "s");
}

void listing_text(const struct report *r, const struct table_look *look, struct buf *out)
{
	static const char *const head[T_COLUMNS] = {
		"op",	     "problem",	   "post",    ">count",	    ">library",
		">tuned",    ">ratio",	   "verdict", ">GFLOP/s",   ">peak",
		"algorithm", ">generated", ">built",  ">preempted", ">measured"};
	struct report_total s = report_sum(r);
	struct notes notes = {MAP_INIT};
	struct arena a = ARENA_INIT;
	struct table t;
	int64_t known = -s.left_out;
	int left;

	table_init(&t, head, T_COLUMNS);
	t.look = *look;
	t.leave = leave;
	t.shorten = T_PROB;
	for (int64_t i = 0; i < r->n; i++) {
		text_line(&t, r, &r->line[i], &notes, &a);
		known += !r->line[i].rank;
	}
	text_total(&t, r, &s, known > 0);
	left = table_text(&t, out);
	text_notes(look, &s, known, &notes, left, out);
	table_free(&t);
	map_free(&notes.map);
	arena_free(&a);
}

/* ---- CSV ---- */

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
	C_FLOPS,
	C_PEAK,
	C_COLUMNS
};

static void csv_line(struct table *t, const struct report *r, const struct report_line *l,
		     struct arena *a)
{
	table_row(t);
	table_cell(t, C_ID, "%s", l->w.id.s);
	table_cell(t, C_OP, "%s", l->w.op->name);
	table_cell(t, C_PROB, "%s", l->w.prob);
	table_cell(t, C_DTYPE, "%s", l->w.dtype_text);
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
	put_s(t, C_FLOPS, (double)l->w.flops / l->tuned_s, 1, "");
	put_s(t, C_PEAK, peak_share(r, dtypes_are_f32(&l->w.dtype), (double)l->w.flops, l->tuned_s),
	      1, "");
	if (l->rank)
		return;
	put_n(t, C_GENERATED, l->tally.drawn, "");
	put_n(t, C_BUILT, l->tally.built, "");
	put_n(t, C_PREEMPTED, report_preempted(&l->tally), "");
	put_n(t, C_MEASURED, report_measured(&l->tally), "");
	put_s(t, C_CORE, l->tally.core_s, 1, "");
}

void listing_csv(const struct report *r, struct buf *out)
{
	static const char *const head[C_COLUMNS] = {
		"workload_id", "op",	 "prob",	 "dtype",     "layout", "post",
		"count",       "rank",	 "baseline_s",	 "tuned_s",   "ratio",	"verdict",
		"match",       "algo",	 "candidate_id", "generated", "built",	"preempted",
		"measured",    "core_s", "flops_s",	 "peak_share"};
	struct arena a = ARENA_INIT;
	struct table t;

	table_init(&t, head, C_COLUMNS);
	for (int64_t i = 0; i < r->n; i++)
		csv_line(&t, r, &r->line[i], &a);
	table_csv(&t, out);
	table_free(&t);
	arena_free(&a);
}
