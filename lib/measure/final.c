#include "lib/measure/final.h"

#include <string.h>

#include "lib/trial/outcome.h"

static const double Z = 1.96;
static const double CLEAR = 0.03; /* from a tie: no more processes are needed */

/* Appends a list of seconds to x, in which there are n: how many, or -1. */
static int take(const struct numbers *list, double *x, int n)
{
	if (list->n > FINAL_PAIRS_MAX - n)
		return -1;
	for (int i = 0; i < list->n; i++)
		if (!((x[n + i] = list->v[i]) > 0))
			return -1;
	return list->n;
}

static struct stat_median median_of(const double *x, int n)
{
	double copy[FINAL_PAIRS_MAX];

	memcpy(copy, x, (size_t)n * sizeof *x);
	return stat_series(copy, n, Z);
}

/* Of the pairs of the last process. */
static struct stat_median last_ratio(const struct final *f, const struct final_rival *r, int n)
{
	struct duel d = {.n = n};

	memcpy(d.x, f->s + f->n - n, (size_t)n * sizeof *d.x);
	memcpy(d.y, r->s + f->n - n, (size_t)n * sizeof *d.y);
	return duel_ratio(&d);
}

/* n more samples are there. */
static void add_ratio(const struct final *f, struct final_rival *r, int n)
{
	struct stat_median last;

	if (!r->is_there)
		return;
	last = last_ratio(f, r, n);
	r->time = median_of(r->s, f->n);
	r->process_ratio[f->processes - 1] = last.median;
	r->ratio = f->processes > 1 ? stat_mean(r->process_ratio, f->processes) : last;
	r->ratio.n = f->n;
}

/* Appends the samples of a process to those of n pairs, as many as the candidate has. A rival that
 * was in the first process is in each. */
static int take_rival(struct final_rival *r, int is_there, const struct numbers *samples,
		      const struct final *f, int n)
{
	if (f->processes && is_there != r->is_there)
		return -1;
	r->is_there = is_there;
	return is_there && take(samples, r->s, f->n) != n ? -1 : 0;
}

static void take_row(struct final *f, const struct result *process)
{
	const int is_graph = process->row_by && !strcmp(process->row_by, "graph");
	const int64_t row = process->row > OUTCOME_ROW ? 0 : process->row;

	if (!f->processes || row < f->row)
		f->row = (int)row;
	f->row_is_graph = (!f->processes || f->row_is_graph) && is_graph;
}

int final_add(struct final *f, const struct result *process, struct err *e)
{
	const struct result_duel *duel = &process->duel;
	const struct result_rival *own = &process->baseline.own_layout;
	int n = f->processes < FINAL_PROCESSES ? take(&process->samples_s, f->s, f->n) : -1;

	if (n < 1 || n > DUEL_MAX ||
	    take_rival(&f->best, duel->is_there, &duel->samples_s, f, n) < 0 ||
	    take_rival(&f->own, own->is_there, &own->samples_s, f, n) < 0)
		return err_set(e, "the worker's answer has no samples");
	f->n += n;
	take_row(f, process);
	f->processes++;
	f->time = median_of(f->s, f->n);
	add_ratio(f, &f->best, n);
	add_ratio(f, &f->own, n);
	return 0;
}

int final_owes(const struct final *f, int asked)
{
	return f->processes < (asked < FINAL_LEAST ? asked : FINAL_LEAST);
}

static int is_clear(struct stat_median ratio)
{
	return ratio.lo > 1 + CLEAR || ratio.hi < 1 - CLEAR;
}

int final_wants(const struct final *f, int asked)
{
	if (final_owes(f, asked))
		return 1;
	if (!f->best.is_there || asked < FINAL_LEAST || f->processes >= FINAL_MORE * asked)
		return 0;
	return f->processes < asked ? !is_clear(f->best.ratio)
				    : stat_verdict(f->best.ratio) == STAT_UNDECIDED;
}
