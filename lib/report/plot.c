#include "lib/report/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/axis.h"
#include "lib/report/series.h"
#include "lib/report/svg.h"

/* As wide as a phone; pages stretch it. */
enum { WIDTH = 420, HEIGHT = 270, LEFT = 46, RIGHT = 12, TOP = 12, BOTTOM = 40 };
enum { LABEL = 64 };

/* ---- frames ---- */

static void number(char label[LABEL], double v)
{
	if (v >= 1e6)
		snprintf(label, LABEL, "%.3gM", v / 1e6);
	else if (v >= 1e4)
		snprintf(label, LABEL, "%.3gk", v / 1e3);
	else
		snprintf(label, LABEL, v >= 1e3 ? "%.0f" : "%.3g", v);
}

/* The number of a tick of a horizontal axis, below it and inside the drawing. */
static void tick_label(struct buf *out, double x, double y, const char *label)
{
	enum { ROOM = 20 };
	int is_last = x > WIDTH - ROOM;

	svg_text(out, is_last ? WIDTH : x, y, is_last ? SVG_END : SVG_MIDDLE, "faint", label);
}

/* The axes' lines, their ticks and names. */
static void frame(struct buf *out, const struct axis *x, const struct axis *y, const char *x_name,
		  const char *y_name)
{
	char label[LABEL];

	for (double last = NAN, v; axis_tick(x, last, &v); last = v) {
		number(label, v);
		svg_line(out, axis_at(x, v), y->from, axis_at(x, v), y->to, "grid");
		tick_label(out, axis_at(x, v), y->from + 13, label);
	}
	for (double last = NAN, v; axis_tick(y, last, &v); last = v) {
		number(label, v);
		svg_line(out, x->from, axis_at(y, v), x->to, axis_at(y, v), "grid");
		svg_text(out, x->from - 4, axis_at(y, v) + 4, SVG_END, "faint", label);
	}
	svg_line(out, x->from, y->from, x->to, y->from, "axis");
	svg_line(out, x->from, y->from, x->from, y->to, "axis");
	svg_text(out, x->to, y->from + 30, SVG_END, "name", x_name);
	svg_text(out, x->from + 4, y->to + 4, SVG_START, "name", y_name);
}

/* ---- convergence ---- */

static void convergence(const struct figures *f, struct buf *out)
{
	const struct moment *last = &f->moment[f->nmoments - 1];
	double least = f->total.before_s, most = least;
	struct axis x, y;

	for (int64_t i = 0; i < f->nmoments; i++) {
		least = fmin(least, f->moment[i].s);
		most = fmax(most, f->moment[i].s);
	}
	x = axis_linear(0, last->core_s, LEFT, WIDTH - RIGHT);
	y = axis_linear(0.9 * least * 1e3, most * 1e3, HEIGHT - BOTTOM, TOP);
	frame(out, &x, &y, "core-seconds spent on candidates", "ms, all operators");
	svg_line(out, x.from, axis_at(&y, f->total.before_s * 1e3), x.to,
		 axis_at(&y, f->total.before_s * 1e3), "baseline");
	svg_text(out, x.to, axis_at(&y, f->total.before_s * 1e3) - 4, SVG_END, "faint",
		 "the library");
	svg_path_open(out, "tuned");
	for (int64_t i = 0; i < f->nmoments; i++) {
		if (i)
			svg_path_to(out, axis_at(&x, f->moment[i].core_s),
				    axis_at(&y, f->moment[i - 1].s * 1e3));
		svg_path_to(out, axis_at(&x, f->moment[i].core_s),
			    axis_at(&y, f->moment[i].s * 1e3));
	}
	svg_path_close(out);
}

/* ---- the roofline ---- */

static void point(struct buf *out, const struct axis *x, const struct axis *y,
		  const struct report_line *l, double s, const char *class)
{
	double gflops = (double)l->w.flops / s / 1e9;
	char hint[PROB_MAX + LABEL];

	snprintf(hint, sizeof hint, "%s: %.3g GFLOP/s", l->w.prob, gflops);
	svg_circle(out, axis_at(x, (double)l->w.flops / figures_bytes(&l->w)), axis_at(y, gflops),
		   3.2, class, hint);
}

/* A slope of bandwidth up to the peak, then the peak. Its name stands so many times as far as its
 * foot. */
static void roof(struct buf *out, const struct axis *x, const struct axis *y, double bandwidth,
		 double peak, const char *name, double behind)
{
	double from = fmax(x->lo, y->lo * 1e9 / bandwidth), knee = peak / bandwidth;
	double at = fmin(from * behind, knee);

	if (isnan(bandwidth) || knee <= from)
		return;
	svg_path_open(out, "roof");
	svg_path_to(out, axis_at(x, from), axis_at(y, from * bandwidth / 1e9));
	svg_path_to(out, axis_at(x, fmin(knee, x->hi)),
		    axis_at(y, fmin(knee, x->hi) * bandwidth / 1e9));
	if (knee < x->hi)
		svg_path_to(out, x->to, axis_at(y, peak / 1e9));
	svg_path_close(out);
	svg_text(out, axis_at(x, at) + 5, axis_at(y, at * bandwidth / 1e9) + 2, SVG_START, "small",
		 name);
}

static void roofline(const struct figures *f, struct buf *out)
{
	static const char *const name[LEVELS] = {"L1", "L2", "L3", "memory"};
	double least = INFINITY, most = f->env.peak / 1e9, from = INFINITY, to = 0;
	struct axis x, y;

	for (int64_t i = 0; i < f->lines->n; i++) {
		const struct report_line *l = &f->lines->line[i];
		double flops = (double)l->w.flops, intensity = flops / figures_bytes(&l->w);

		if (!series_has_times(l))
			continue;
		least = fmin(least, flops / 1e9 / fmax(l->baseline_s, l->tuned_s));
		most = fmax(most, flops / 1e9 / fmin(l->baseline_s, l->tuned_s));
		from = fmin(from, intensity);
		to = fmax(to, intensity);
	}
	x = axis_log(from, to, LEFT, WIDTH - RIGHT);
	y = axis_log(least, most, HEIGHT - BOTTOM, TOP);
	frame(out, &x, &y, "FLOP a byte of operands", "GFLOP/s");
	for (int i = LEVEL_L2; i < LEVELS; i++)
		roof(out, &x, &y, f->env.bandwidth[i], f->env.peak, name[i], pow(2, i));
	for (int64_t i = 0; i < f->lines->n; i++)
		if (series_has_times(&f->lines->line[i]))
			point(out, &x, &y, &f->lines->line[i], f->lines->line[i].baseline_s,
			      "baseline");
	for (int64_t i = 0; i < f->lines->n; i++)
		if (series_has_times(&f->lines->line[i]))
			point(out, &x, &y, &f->lines->line[i], f->lines->line[i].tuned_s, "tuned");
}

/* ---- bars ---- */

enum { ROW = 24, BAR = 8, NAMES = 190 };

static void draw_bar(struct buf *out, const struct axis *x, const struct operator_times *b,
		     double top)
{
	char name[SERIES_NAME], hint[LABEL];

	series_name(b->line, name);
	svg_text(out, x->from - 4, top + 13, SVG_END, "small", name);
	snprintf(hint, sizeof hint, "the library: %.4g us", b->before_s * 1e6);
	svg_rect(out, x->from, top + 2, axis_at(x, b->before_s * 1e6) - x->from, BAR, "baseline",
		 hint);
	snprintf(hint, sizeof hint, "tuned: %.4g us", b->after_s * 1e6);
	svg_rect(out, x->from, top + 2 + BAR, axis_at(x, b->after_s * 1e6) - x->from, BAR, "tuned",
		 hint);
	snprintf(hint, sizeof hint, "%.2f", b->line->ratio);
	svg_text(out, axis_at(x, fmax(b->before_s, b->after_s) * 1e6) + 4, top + 14, SVG_START,
		 "small", hint);
}

static int operators_height(const struct figures *f)
{
	int64_t n = series_count(f);

	return (int)(n < SERIES_OPERATORS ? n : SERIES_OPERATORS) * ROW + BOTTOM;
}

static void operators(const struct figures *f, struct buf *out)
{
	struct operator_times *bar = xcalloc((size_t)f->lines->n + 1, sizeof *bar);
	int64_t n = series_operators(f, bar);
	struct axis x = axis_linear(0, bar[0].before_s * 1e6 * 1.05, NAMES, WIDTH - 30);
	double bottom = (double)n * ROW + 4;
	char label[LABEL];

	for (double last = NAN, v; axis_tick(&x, last, &v); last = v) {
		number(label, v);
		svg_line(out, axis_at(&x, v), 0, axis_at(&x, v), bottom, "grid");
		tick_label(out, axis_at(&x, v), bottom + 13, label);
	}
	for (int64_t i = 0; i < n; i++)
		draw_bar(out, &x, &bar[i], (double)i * ROW);
	svg_text(out, WIDTH - 30, bottom + 28, SVG_END, "name", "us, count x time");
	free(bar);
}

/* ---- what was spent and saved ---- */

enum { SHARE_ROW = 18 };

static int savings_height(const struct figures *f)
{
	struct share s[SERIES_SHARES];

	return series_shares(f, s) * SHARE_ROW + BOTTOM;
}

/* By logarithm: what is saved may be a hundred times what was spent. */
static void savings(const struct figures *f, struct buf *out)
{
	struct share s[SERIES_SHARES];
	int n = series_shares(f, s);
	double most = 0, least = INFINITY, bottom = n * SHARE_ROW + 4;
	char label[LABEL];
	struct axis x;

	for (int i = 0; i < n; i++) {
		most = fmax(most, s[i].core_s);
		least = fmin(least, s[i].core_s);
	}
	x = axis_log(fmax(least, most / 1e6), most, 132, WIDTH - 50);
	for (double last = NAN, v; axis_tick(&x, last, &v); last = v) {
		number(label, v);
		svg_line(out, axis_at(&x, v), 0, axis_at(&x, v), bottom, "grid");
		tick_label(out, axis_at(&x, v), bottom + 13, label);
	}
	for (int i = 0; i < n; i++) {
		double end = axis_at(&x, fmax(s[i].core_s, x.lo));

		number(label, s[i].core_s);
		svg_text(out, x.from - 4, i * SHARE_ROW + 13, SVG_END, "name", s[i].name);
		svg_rect(out, x.from, i * SHARE_ROW + 4, end - x.from, SHARE_ROW - 6,
			 s[i].saved ? "saved" : "tuned", NULL);
		svg_text(out, end + 4, i * SHARE_ROW + 13, SVG_START, "faint", label);
	}
	svg_text(out, WIDTH - 50, bottom + 28, SVG_END, "name", "core-seconds");
}

/* ---- all of them ---- */

static const struct {
	const char *name, *title, *caption;
	void (*draw)(const struct figures *f, struct buf *out);
} plot[PLOTS] = {
	[PLOT_OPERATORS] = {"operators", "Operators before and after",
			    "The operators that take longest, by the library's best (grey) and by "
			    "the tuned kernel (blue), with the ratio of the two.",
			    operators},
	[PLOT_CONVERGENCE] = {"convergence", "Convergence",
			      "Time of all operators by the best kernels known, while candidates "
			      "were measured; with the library's where that is faster, or nothing "
			      "else is known yet.",
			      convergence},
	[PLOT_ROOFLINE] =
		{"roofline", "Roofline",
		 "Speed over arithmetic intensity: tuned kernels (filled), the library "
		 "(hollow), and what the machine can do at most by its probe. Winograd and "
		 "Strassen need fewer operations, and may pass it.",
		 roofline},
	[PLOT_SAVINGS] =
		{"savings", "Spent and saved",
		 "Core-seconds by purpose, of all runs in the database, and what preempting "
		 "and the build cache saved by estimate.",
		 savings},
};

enum plot plot_find(const char *name)
{
	int p = 0;

	while (p < PLOTS && strcmp(plot[p].name, name) != 0)
		p++;
	return (enum plot)p;
}

const char *plot_title(enum plot p)
{
	return plot[p].title;
}

const char *plot_caption(enum plot p)
{
	return plot[p].caption;
}

const char *plot_lacks(enum plot p, const struct figures *f)
{
	struct share s[SERIES_SHARES];

	if (p == PLOT_SAVINGS)
		return f->has_cost && series_shares(f, s) ? NULL
							  : "the database knows of no run's cost";
	if (!series_count(f))
		return "no workload has both times, its own and the library's, in this env";
	if (p == PLOT_ROOFLINE && isnan(f->env.peak))
		return "the env was not probed";
	if (p == PLOT_CONVERGENCE && f->nmoments < 2)
		return "the database knows of no results";
	return NULL;
}

void plot_svg(enum plot p, const struct figures *f, int alone, struct buf *out)
{
	int height = p == PLOT_OPERATORS ? operators_height(f)
		     : p == PLOT_SAVINGS ? savings_height(f)
					 : HEIGHT;

	svg_open(out, WIDTH, height, plot[p].title, alone);
	plot[p].draw(f, out);
	svg_close(out);
}
