#include "lib/report/across.h"

#include <math.h>
#include <stdlib.h>

#include "lib/report/lines.h"
#include "lib/report/machine.h"

int across_open(struct across *x, struct store *db, struct err *e)
{
	struct store_env_count *count;
	struct store_env *env;
	int nenv, ncount;

	*x = (struct across){.db = db};
	if (store_envs(db, &x->arena, &env, &nenv, e) ||
	    store_env_counts(db, &x->arena, &count, &ncount, e))
		return -1;
	x->env = arena_array(&x->arena, struct store_env, nenv + 1);
	for (int i = 0; i < nenv; i++)
		for (int k = 0; k < ncount; k++)
			if (!strcmp(count[k].id, env[i].id) && count[k].results)
				x->env[x->nenv++] = env[i];
	return 0;
}

static int look_up(struct across *x, const struct workload *w, int env, struct across_time *t,
		   struct err *e)
{
	struct arena a = ARENA_INIT;
	struct store_result *best;
	int64_t n;
	int rc = store_top(x->db, w->id.s, x->env[env].id, 1, &a, &best, &n, e);

	*t = (struct across_time){NAN, NAN};
	if (rc >= 0 && n) {
		t->s = best->latency_s;
		t->baseline_s = isnan(best->ratio) ? best->baseline_s : best->ratio * t->s;
	}
	arena_free(&a);
	return rc < 0 ? -1 : n > 0;
}

int across_add(struct across *x, const struct workload *w, int64_t count, struct err *e)
{
	struct across_line *l;
	int known = 0;

	if (x->n == x->cap) {
		x->cap = x->cap * 2 + 16;
		x->line = xrealloc(x->line, (size_t)x->cap * sizeof *x->line);
	}
	l = &x->line[x->n++];
	*l = (struct across_line){*w, count,
				  arena_array(&x->arena, struct across_time, x->nenv + 1)};
	for (int i = 0; i < x->nenv; i++) {
		int rc = look_up(x, w, i, &l->time[i], e);

		if (rc < 0)
			return -1;
		known |= rc;
	}
	return known;
}

/* ---- forms ---- */

enum { ID_SHOWN = 8 };

enum { A_OP, A_PROB, A_COUNT, A_ENVS };

static int is_best(const struct across_line *l, int env, int nenv)
{
	for (int i = 0; i < nenv; i++)
		if (l->time[i].s < l->time[env].s)
			return 0;
	return !isnan(l->time[env].s);
}

static void put_line(struct table *t, struct across *x, const struct across_line *l, int nenv)
{
	table_row(t);
	table_cell(t, A_OP, "%s", l->w.op->name);
	table_cell(t, A_PROB, "%s%s", report_problem(&l->w), report_dtype(&l->w, &x->arena));
	table_cell(t, A_COUNT, "%lld", (long long)l->count);
	for (int i = 0; i < nenv; i++) {
		table_cell(t, A_ENVS + i, isnan(l->time[i].s) ? "-" : "%.1f", l->time[i].s * 1e6);
		if (nenv > 1 && is_best(l, i, nenv))
			table_mark(t, A_ENVS + i, TABLE_GOOD);
	}
}

/* Sums only the workloads that all envs know, so that the sums are of the same work. */
static void put_total(struct table *t, const struct across *x, int nenv)
{
	double sum[ACROSS_ENVS] = {0};
	int64_t n = 0, count = 0;

	for (int64_t k = 0; k < x->n; k++) {
		const struct across_line *l = &x->line[k];
		int known = 0;

		for (int i = 0; i < nenv; i++)
			known += !isnan(l->time[i].s);
		if (known < nenv)
			continue;
		n++;
		count += l->count;
		for (int i = 0; i < nenv; i++)
			sum[i] += (double)l->count * l->time[i].s;
	}
	table_row(t);
	table_cell(t, A_OP, "total");
	table_cell(t, A_PROB, "of %lld known to all", (long long)n);
	table_cell(t, A_COUNT, "%lld", (long long)count);
	for (int i = 0; i < nenv; i++)
		table_cell(t, A_ENVS + i, "%.1f", sum[i] * 1e6);
}

/* "7f3a12cd: AMD EPYC, avx512, 2 threads, gcc 12.2.0, onednn 2.6.3." */
static int put_notes(struct across *x, int nenv, const struct table_look *look, struct buf *out,
		     struct err *e)
{
	for (int i = 0; i < nenv; i++) {
		struct machine m;

		if (machine_read(&m, &x->env[i], &x->arena, e))
			return -1;
		table_note(look, out, "%.*s: %s, %s, %lld threads, %s, %s.", ID_SHOWN, x->env[i].id,
			   m.cpu, m.isa, (long long)m.threads, m.cc, m.libs);
	}
	return 0;
}

static int put_text(struct across *x, const struct table_look *look, struct buf *out, struct err *e)
{
	const int nenv = x->nenv < ACROSS_ENVS ? x->nenv : ACROSS_ENVS;
	const char *head[A_ENVS + ACROSS_ENVS] = {"op", "problem", ">count"};
	struct table t;

	for (int i = 0; i < nenv; i++)
		head[A_ENVS + i] = arena_printf(&x->arena, ">%.*s us", ID_SHOWN, x->env[i].id);
	table_init(&t, head, A_ENVS + nenv);
	t.look = *look;
	t.shorten = A_PROB;
	for (int64_t i = 0; i < x->n; i++)
		put_line(&t, x, &x->line[i], nenv);
	if (nenv)
		put_total(&t, x, nenv);
	table_text(&t, out);
	table_free(&t);
	if (nenv < x->nenv)
		table_note(look, out, "%d more envs are in --csv.", x->nenv - nenv);
	return put_notes(x, nenv, look, out, e);
}

static void put_csv(struct across *x, struct buf *out)
{
	static const char *const head[] = {"workload_id", "op",	     "prob",	  "count",
					   "env_id",	  "tuned_s", "baseline_s"};
	struct table t;

	table_init(&t, head, 7);
	for (int64_t k = 0; k < x->n; k++)
		for (int i = 0; i < x->nenv; i++) {
			const struct across_line *l = &x->line[k];

			if (isnan(l->time[i].s))
				continue;
			table_row(&t);
			table_cell(&t, 0, "%s", l->w.id.s);
			table_cell(&t, 1, "%s", l->w.op->name);
			table_cell(&t, 2, "%s", l->w.prob);
			table_cell(&t, 3, "%lld", (long long)l->count);
			table_cell(&t, 4, "%s", x->env[i].id);
			table_cell(&t, 5, "%.9g", l->time[i].s);
			if (!isnan(l->time[i].baseline_s))
				table_cell(&t, 6, "%.9g", l->time[i].baseline_s);
		}
	table_csv(&t, out);
	table_free(&t);
}

int across_put(struct across *x, enum output_form form, const struct table_look *look,
	       struct buf *out, struct err *e)
{
	if (form != OUTPUT_CSV)
		return put_text(x, look, out, e);
	put_csv(x, out);
	return 0;
}

void across_free(struct across *x)
{
	free(x->line);
	arena_free(&x->arena);
}
