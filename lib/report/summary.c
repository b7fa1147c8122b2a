#include "lib/report/summary.h"

#include <math.h>
#include <string.h>

#include "lib/report/saved.h"

const char *const summary_head[SUMMARY_COLUMNS] = {
	"problem",  "post-ops", ">count",   ">library",	 ">tuned",
	">speedup", "verdict",	">GFLOP/s", ">roofline", "algorithm",
};

void summary_time(double s, struct buf *out)
{
	if (isnan(s))
		buf_ch(out, '-');
	else if (s < 1e-3)
		buf_fmt(out, "%.*f us", s < 1e-4 ? 2 : 1, s * 1e6);
	else if (s < 1)
		buf_fmt(out, "%.2f ms", s * 1e3);
	else
		buf_fmt(out, "%.2f s", s);
}

void summary_of(const struct figures *f, struct buf *out)
{
	const struct map *m = &f->lines->sources;

	if (!m->n)
		buf_fmt(out, "%lld workloads", (long long)f->total.workloads);
	for (size_t i = 0; i < m->n; i++)
		buf_fmt(out, "%s%.*s",
			!i	       ? ""
			: i + 1 < m->n ? ", "
				       : " and ",
			(int)m->item[i].len, m->item[i].key);
}

static void put_ratio(double ratio, double lo, double hi, struct buf *out)
{
	if (isnan(ratio))
		buf_ch(out, '-');
	else
		buf_fmt(out, "%.2f", ratio);
	if (!isnan(lo) && !isnan(hi))
		buf_fmt(out, " (%.2f - %.2f)", lo, hi);
}

void summary_result(const struct figures *f, struct buf *out)
{
	const struct report_total *t = &f->total;

	if (t->left_out == t->workloads) {
		buf_str(out, "Of no workload both the library's time and a tuned kernel's are "
			     "known in this env.");
		return;
	}
	buf_str(out, "All operators, each as often as it occurs: ");
	summary_time(t->before_s, out);
	buf_str(out, " by the library's best, ");
	summary_time(t->after_s, out);
	buf_str(out, " by the tuned kernels: a speedup of ");
	put_ratio(t->ratio, t->ratio_lo, t->ratio_hi, out);
	buf_str(out, ". ");
	if (t->best_s < t->after_s) {
		buf_str(out, "With the library where it is the faster one: ");
		summary_time(t->best_s, out);
		buf_str(out, ". ");
	}
	buf_fmt(out,
		"Verdicts of %lld workloads: %lld faster, %lld the same, %lld slower, %lld "
		"undecided.",
		(long long)t->workloads, (long long)t->faster, (long long)t->same,
		(long long)t->slower, (long long)t->undecided);
	if (t->left_out)
		buf_fmt(out, " %lld have no time here and are left out of the sums.",
			(long long)t->left_out);
	if (t->weights_cold)
		buf_fmt(out, " %s", report_weights(t));
}

void summary_cost(const struct figures *f, struct buf *out)
{
	const struct cost_sum *c = &f->cost;

	if (!f->has_cost)
		return;
	buf_fmt(out,
		"%lld run%s took %.1f s on the clock and %.1f core-seconds. Of these, %.1f "
		"went into candidates that never were the best of their workload. ",
		(long long)c->whole, c->whole == 1 ? "" : "s", c->wall_s, cost_total(c),
		c->wasted_s);
	if (!isnan(c->energy_J))
		buf_fmt(out, "They took %.0f J. ", c->energy_J);
	for (int i = 0; i < SAVED_SENTENCES; i++)
		if (saved_sentence(c, (enum saved_sentence)i, out))
			buf_ch(out, ' ');
}

void summary_cell(const struct figures *f, const struct report_line *l, enum summary_column c,
		  struct arena *a, struct buf *out)
{
	const char *prob = report_problem(&l->w);
	double roof = figures_roof_s(f, &l->w);

	switch (c) {
	case SUMMARY_PROB:
		/* Convolutions are known by their dimensions; pools have the same ones. */
		if (l->w.op->layout == LAYOUT_AB || !l->w.op->is_product)
			buf_fmt(out, "%s ", l->w.op->name);
		buf_fmt(out, "%s%s", prob, report_dtype(&l->w, a));
		break;
	case SUMMARY_POST:
		buf_str(out, report_posts(&l->w, a));
		break;
	case SUMMARY_COUNT:
		buf_int(out, l->count);
		break;
	case SUMMARY_BEFORE:
		summary_time(l->baseline_s, out);
		break;
	case SUMMARY_AFTER:
		summary_time(l->tuned_s, out);
		break;
	case SUMMARY_RATIO:
		put_ratio(l->ratio, l->ratio_lo, l->ratio_hi, out);
		break;
	case SUMMARY_VERDICT:
		buf_str(out, report_verdict(l));
		break;
	case SUMMARY_GFLOPS:
		if (!isnan(l->tuned_s))
			buf_fmt(out, "%.1f", (double)l->w.flops / l->tuned_s / 1e9);
		break;
	case SUMMARY_ROOF:
		if (!isnan(roof) && !isnan(l->tuned_s))
			buf_fmt(out, "%.0f%%", 100 * roof / l->tuned_s);
		break;
	default:
		buf_str(out, l->algo ? l->algo : "-");
	}
}

const char *summary_env(const struct figures *f, int i, const char **name)
{
	const struct machine *v = &f->env;
	static const char *const names[] = {"env",	"CPU",	    "instructions",
					    "features", "compiler", "library"};
	const char *const text[] = {v->id, v->cpu, v->isa, v->features, v->cc, v->libs};

	if (i >= (int)(sizeof names / sizeof *names))
		return NULL;
	*name = names[i];
	return text[i];
}
