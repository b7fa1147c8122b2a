/* curves < TSV > SVG: draws what policies of tuning reach against what they cost, from the curves
 * of bench/tune.sh: lines of network, policy, seed, core-seconds, and loss against the best.
 *
 * A policy's line is the mean loss of its runs. A run keeps its last loss after its end. The first
 * policy is drawn as ours.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/report/axis.h"
#include "lib/report/svg.h"

enum { WIDTH = 560, HEIGHT = 300, LEFT = 48, RIGHT = 130, TOP = 14, BOTTOM = 40 };
enum { RUNS = 2048, POLICIES = 12, STEPS = 200, NAME = 64 };

static const double FIRST_S = 5, MOST_LOSS = 0.4;

/* A run's losses, from its beginning on. */
struct run {
	char network[NAME], policy[NAME];
	int seed, n;
	double *core_s, *loss;
};

static struct run run[RUNS];
static int nruns;

static struct run *find_run(const char *network, const char *policy, int seed)
{
	for (int i = 0; i < nruns; i++)
		if (run[i].seed == seed && !strcmp(run[i].network, network) &&
		    !strcmp(run[i].policy, policy))
			return &run[i];
	if (nruns == RUNS)
		return NULL;
	snprintf(run[nruns].network, NAME, "%s", network);
	snprintf(run[nruns].policy, NAME, "%s", policy);
	run[nruns].seed = seed;
	return &run[nruns++];
}

static int read_runs(FILE *f)
{
	char line[512], network[NAME], policy[NAME];
	double core_s, loss;
	struct run *r;
	int seed;

	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%63[^\t]\t%63[^\t]\t%d\t%lf\t%lf", network, policy, &seed,
			   &core_s, &loss) != 5 ||
		    !(r = find_run(network, policy, seed)))
			return -1;
		r->core_s = xrealloc(r->core_s, sizeof *r->core_s * (size_t)(r->n + 1));
		r->loss = xrealloc(r->loss, sizeof *r->loss * (size_t)(r->n + 1));
		r->core_s[r->n] = core_s;
		r->loss[r->n++] = loss;
	}
	return nruns ? 0 : -1;
}

static double loss_at(const struct run *r, double core_s)
{
	int i = 0;

	while (i + 1 < r->n && r->core_s[i + 1] <= core_s)
		i++;
	return r->loss[i];
}

/* The mean of a policy's runs. */
static double mean_at(const char *policy, double core_s)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < nruns; i++)
		if (!strcmp(run[i].policy, policy)) {
			sum += loss_at(&run[i], core_s);
			n++;
		}
	return sum / n;
}

/* Where the longest of its runs ended. */
static double end_of(const char *policy)
{
	double end = FIRST_S;

	for (int i = 0; i < nruns; i++)
		if (!strcmp(run[i].policy, policy))
			end = fmax(end, run[i].core_s[run[i].n - 1]);
	return end;
}

static void grid(const struct axis *x, const struct axis *y, struct buf *out)
{
	char text[32];

	for (double t = NAN; axis_tick(x, t, &t);) {
		svg_line(out, axis_at(x, t), y->from, axis_at(x, t), y->to, "grid");
		snprintf(text, sizeof text, "%g", t);
		svg_text(out, axis_at(x, t), y->from + 14, SVG_MIDDLE, "faint", text);
	}
	for (double t = NAN; axis_tick(y, t, &t);) {
		svg_line(out, x->from, axis_at(y, t), x->to, axis_at(y, t), "grid");
		snprintf(text, sizeof text, "%g%%", t);
		svg_text(out, x->from - 5, axis_at(y, t) + 4, SVG_END, "faint", text);
	}
	svg_text(
		out, (x->from + x->to) / 2, y->from + 30, SVG_MIDDLE, "faint",
		"loss against the best of all runs, by core-seconds of tuning, everything included");
}

/* The label stands at the right, below the one before it, and a line leads to it. */
static void draw(const char *policy, int is_ours, const struct axis *x, const struct axis *y,
		 double *below, struct buf *out)
{
	const double end = end_of(policy), most = 100 * MOST_LOSS;
	double at = 0;

	svg_path_open(out, is_ours ? "tuned" : "roof");
	for (int i = 0; i <= STEPS; i++) {
		double core_s = FIRST_S * pow(end / FIRST_S, (double)i / STEPS);

		at = axis_at(y, fmin(100 * mean_at(policy, core_s), most));
		svg_path_to(out, axis_at(x, core_s), at);
	}
	svg_path_close(out);
	svg_circle(out, axis_at(x, end), at, 3, is_ours ? "tuned" : "baseline", policy);
	*below = fmax(*below + 14, at - 40);
	svg_line(out, axis_at(x, end) + 4, at, x->to + 5, *below - 4, "grid");
	svg_text(out, x->to + 8, *below, SVG_START, is_ours ? "" : "faint", policy);
}

static int by_end(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	double s = mean_at(*x, INFINITY), t = mean_at(*y, INFINITY);

	return (s < t) - (s > t); /* the highest first */
}

int main(void)
{
	const char *policy[POLICIES], *ours;
	double most = FIRST_S, below = -INFINITY;
	struct buf out = BUF_INIT;
	struct axis x, y;
	int n = 0;

	if (read_runs(stdin)) {
		fprintf(stderr, "curves: these are no curves of make bench-tune\n");
		return 3;
	}
	for (int i = 0; i < nruns; i++) {
		int k = 0;

		while (k < n && strcmp(policy[k], run[i].policy) != 0)
			k++;
		if (k == n && n < POLICIES)
			policy[n++] = run[i].policy;
		most = fmax(most, end_of(run[i].policy));
	}
	ours = policy[0];
	qsort(policy, (size_t)n, sizeof *policy, by_end);
	x = axis_log(FIRST_S, most, LEFT, WIDTH - RIGHT);
	y = axis_linear(0, 100 * MOST_LOSS, HEIGHT - BOTTOM, TOP);
	svg_open(&out, WIDTH, HEIGHT, "What tuning costs, and what it reaches", 1);
	grid(&x, &y, &out);
	for (int i = 0; i < n; i++)
		draw(policy[i], policy[i] == ours, &x, &y, &below, &out);
	svg_close(&out);
	fwrite(out.s, 1, out.n, stdout);
	buf_free(&out);
	for (int i = 0; i < nruns; i++) {
		free(run[i].core_s);
		free(run[i].loss);
	}
	return ferror(stdout) || fflush(stdout);
}
