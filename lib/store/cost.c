#include "lib/store/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/record/schema.h"
#include "lib/store/db.h"
#include "lib/store/row.h"

/* ---- run records ---- */

static int read_number(const struct json_doc *d, const struct json *obj, const char *key,
		       int needed, double *out, struct err *e)
{
	const struct json *v = json_get(d, obj, key);

	*out = v ? NAN : 0;
	if ((!v || v->type == JSON_NULL) && !needed)
		return 0;
	if (json_num(v, out) || *out < 0 || *out > RECORD_MOST)
		return err_set(e, "\"%s\" is not a number from 0 to %g", key, RECORD_MOST);
	return 0;
}

int cost_read(struct cost_run *c, const struct json_doc *d, struct err *e)
{
	const struct json *cost = json_get(d, d->tok, "cost");

	*c = (struct cost_run){0};
	if (!cost || cost->type != JSON_OBJ)
		return err_set(e, "\"cost\" is not an object");
	if (read_number(d, d->tok, "wall_s", 1, &c->wall_s, e) ||
	    read_number(d, d->tok, "waited_s", 0, &c->waited_s, e) ||
	    read_number(d, d->tok, "cores", 1, &c->cores, e) ||
	    read_number(d, d->tok, "energy_J", 0, &c->energy_J, e))
		return -1;
	for (const struct json *k = json_first(d, cost); k; k = json_next(d, cost, k)) {
		enum cost which = cost_find(k->s, k->n);
		double v;

		if (json_num(k + 1, &v) || v < 0 || v > RECORD_MOST)
			return err_set(
				e, "the cost \"%.*s\" is not a number of core-seconds from 0 to %g",
				(int)(k->n < 40 ? k->n : 40), k->s, RECORD_MOST);
		*(which == COSTS ? &c->unknown_s : &c->core_s[which]) += v;
	}
	return 0;
}

/* ---- which runs ---- */

struct run {
	struct cost_run cost;
	const char *part_of; /* NULL: of none */
	const char *stop;    /* why its rounds ended; NULL: it does not tell */
};

struct chosen {
	struct map run; /* run id -> struct run */
	struct arena arena;
};

/* What is bound to it lives as long as c. */
static struct stmt *select_runs(struct store *s, const struct cost_which *which, struct chosen *c,
				struct err *e)
{
#define RUNS "SELECT run, record, part_of FROM costs WHERE "
	struct stmt *q;
	char now[25];

	if (which->run && !strcmp(which->run, "last"))
		return db_sql(s,
			      RUNS "coalesce(part_of, run) = (SELECT coalesce(part_of, run)"
				   " FROM costs ORDER BY at DESC, run DESC LIMIT 1)",
			      e);
	if (which->run)
		q = db_sql(s, RUNS "run = ?1 OR part_of = ?1", e);
	else if (which->since)
		q = db_sql(s,
			   RUNS
			   "coalesce((SELECT w.at FROM costs AS w WHERE w.run = costs.part_of),"
			   " at) BETWEEN ?1 AND ?2",
			   e);
	else
		return db_sql(s, RUNS "1 = 1", e);
	if (q)
		db_bind_text(q, 1, which->run ? which->run : which->since);
	if (q && !which->run) {
		rec_now(now);
		db_bind_text(q, 2, arena_strdup(&c->arena, now));
	}
	return q;
#undef RUNS
}

static int add_run(struct store *s, struct chosen *c, struct stmt *q, struct json_doc *d,
		   struct err *e)
{
	struct run *r = arena_new(&c->arena, struct run);
	const char *id = db_given(q, 0, NULL, e), *text;
	size_t n;

	if (!id || !(text = db_given(q, 1, &n, e)))
		return -1;
	if (json_parse(d, text, n, e) || cost_read(&r->cost, d, e))
		return err_in(e, "a run in the database %s", s->path);
	if (json_str(json_get(d, d->tok, "stop"), &c->arena, &r->stop))
		r->stop = NULL;
	r->part_of = db_text(q, 2, &c->arena);
	*map_put(&c->run, id, strlen(id), NULL) = r;
	return 0;
}

static void sum_runs(const struct chosen *c, struct cost_sum *sum)
{
	for (size_t k = 0; k < c->run.n; k++) {
		const struct run *r = c->run.item[k].value;
		const struct cost_run *x = &r->cost;

		sum->runs++;
		for (int i = 0; i < COSTS; i++)
			sum->core_s[i] += x->core_s[i];
		sum->unknown_s += x->unknown_s;
		sum->energy_J += x->energy_J;
		/* A part whose whole is not here, perhaps because it was killed, stands for itself.
		 */
		if (r->part_of && map_get(&c->run, r->part_of, strlen(r->part_of)))
			continue;
		sum->whole++;
		sum->wall_s += x->wall_s;
		sum->waited_s += x->waited_s;
		sum->held_s += x->wall_s * x->cores;
		snprintf(sum->stop, sizeof sum->stop, "%s",
			 sum->whole == 1 && r->stop ? r->stop : "");
	}
}

static int choose(struct store *s, const struct cost_which *which, struct chosen *c, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct stmt *q = select_runs(s, which, c, e);
	int rc;

	if (!q)
		return -1;
	while ((rc = db_step(q, e)) > 0)
		if (add_run(s, c, q, &d, e)) {
			db_reset(q);
			rc = -1;
			break;
		}
	json_free(&d);
	return rc;
}

/* ---- their results ---- */

/* What is needed of a result, in the order of time, of one workload and env at a time. */
struct tried {
	struct store_result r;
	int64_t num; /* its row; 0: not of these runs */
};

struct place {
	int64_t workload, env;
	struct tried *tried;
	int64_t n, cap;
	struct arena arena;
	struct json_doc doc; /* of a result's record */
	struct saver saver;  /* of all places so far */
};

/* The candidates that were the best when they came, or when they were timed again. */
static void find_useful(const struct place *p, struct map *useful)
{
	const struct store_result *best = NULL;
	struct map wrong = MAP_INIT;

	for (int64_t i = 0; i < p->n; i++)
		if (p->tried[i].r.status == STATUS_WRONG)
			*map_put(&wrong, p->tried[i].r.candidate_id.s, ID_HEX, NULL) = p->tried;
	for (int64_t i = 0; i < p->n; i++) {
		const struct store_result *r = &p->tried[i].r;

		if (r->status != STATUS_OK || map_get(&wrong, r->candidate_id.s, ID_HEX) ||
		    !store_better(r, best))
			continue;
		best = r;
		*map_put(useful, r->candidate_id.s, ID_HEX, NULL) = p->tried;
	}
	map_free(&wrong);
}

/* The core-seconds of a result, and those that are its candidate's own. */
static int take_cost(struct store *s, struct place *p, const struct tried *t,
		     const struct chosen *c, double *core_s, double *own_s, struct err *e)
{
	const struct run *run = map_get(&c->run, t->r.run, strlen(t->r.run));
	struct json_doc *d = &p->doc;
	struct stmt *q = db_sql(s, "SELECT record FROM records WHERE num = ?", e);
	const struct json *cost;
	double shared_s = 0;
	const char *text;
	size_t n;
	int rc;

	*core_s = *own_s = 0;
	if (!q)
		return -1;
	if (!run)
		return db_damaged(s, "a result has no run", e);
	db_bind_int(q, 1, t->num);
	if ((rc = db_step(q, e)) < 0)
		return -1;
	if (!rc)
		return db_damaged(s, "a result has no record", e);
	if (!(text = db_given(q, 0, &n, e)))
		return -1;
	if (json_parse(d, text, n, e)) {
		db_reset(q);
		return err_in(e, "a result in the database %s", s->path);
	}
	cost = json_get(d, d->tok, "cost");
	*core_s = isnan(t->r.core_s) ? 0 : t->r.core_s;
	json_num(json_get(d, cost, "baseline_s"), &shared_s);
	*own_s = *core_s - shared_s * run->cost.cores;
	saver_take(&p->saver, &t->r, *own_s, d);
	db_reset(q);
	return 0;
}

static void count(const struct store_result *r, struct map *seen, struct cost_sum *sum)
{
	int isnew;

	sum->results++;
	map_put(seen, r->candidate_id.s, ID_HEX, &isnew);
	if (!isnew)
		return;
	sum->candidates++;
	if (r->status == STATUS_OK)
		sum->measured++;
	else if (r->status == STATUS_PREEMPTED)
		sum->preempted++;
	else
		sum->failed++;
}

static int sum_place(struct store *s, struct place *p, const struct chosen *c, struct cost_sum *sum,
		     struct err *e)
{
	struct map useful = MAP_INIT, seen = MAP_INIT;
	int rc = 0;

	find_useful(p, &useful);
	for (int64_t i = 0; i < p->n && !rc; i++) {
		const struct tried *t = &p->tried[i];
		double core_s, own_s;

		if (!t->num)
			continue;
		rc = take_cost(s, p, t, c, &core_s, &own_s, e);
		if (rc)
			break;
		count(&t->r, &seen, sum);
		sum->results_s += core_s;
		if (!map_get(&useful, t->r.candidate_id.s, ID_HEX) && own_s > 0)
			sum->wasted_s += own_s;
	}
	saver_end_place(&p->saver);
	map_free(&useful);
	map_free(&seen);
	return rc;
}

static int take_row(struct place *p, struct stmt *q, struct err *e)
{
	const char *run = db_given_copy(q, 4, &p->arena, e);
	enum status status;
	struct tried *t;
	struct id id;

	if (!run || !(status = db_status(q, 5, e)) || db_id(q, 2, &id, e))
		return -1;

	if (p->n == p->cap) {
		p->cap = p->cap * 2 + 64;
		p->tried = xrealloc(p->tried, (size_t)p->cap * sizeof *p->tried);
	}
	t = &p->tried[p->n++];
	*t = (struct tried){.r = {.candidate_id = id,
				  .run = run,
				  .status = status,
				  .final = (int)db_int(q, 6),
				  .latency_s = db_num(q, 7),
				  .core_s = db_num(q, 8),
				  .since = db_text(q, 10, &p->arena)},
			    .num = db_int(q, 3) ? db_int(q, 9) : 0};
	return 0;
}

/* All results of the workloads and envs that these runs had to do with. */
static struct stmt *select_results(struct store *s, const char *runs, struct err *e)
{
	struct stmt *q = db_sql(
		s,
		"WITH chosen AS (SELECT num FROM runs WHERE id IN (SELECT value FROM "
		"json_each(?))),"
		" place AS (SELECT DISTINCT workload, env FROM results"
		" WHERE run IN (SELECT num FROM chosen))"
		" SELECT results.workload, results.env, candidate, CASE WHEN run IN (SELECT num FROM chosen) THEN 1 ELSE 0 END, runs.id, status,"
		" final, latency_s, core_s, results.num, since FROM place"
		" JOIN results ON results.workload = place.workload AND results.env = place.env"
		" JOIN runs ON runs.num = run"
		" ORDER BY results.workload, results.env, at, runs.id, candidate, final",
		e);

	if (q)
		db_bind_text(q, 1, runs);
	return q;
}

static int sum_results(struct store *s, const struct chosen *c, struct cost_sum *sum, struct err *e)
{
	struct place p = {.doc = JSON_DOC_INIT};
	struct buf runs = BUF_INIT;
	struct stmt *q;
	int rc = -1;

	buf_ch(&runs, '[');
	for (size_t i = 0; i < c->run.n; i++) {
		buf_str(&runs, i ? "," : "");
		buf_json(&runs, c->run.item[i].key, c->run.item[i].len);
	}
	buf_ch(&runs, ']');
	q = select_results(s, runs.s, e);
	while (q && (rc = db_step(q, e)) > 0) {
		int64_t workload = db_int(q, 0), env = db_int(q, 1);

		if (p.n && (p.workload != workload || p.env != env)) {
			if (sum_place(s, &p, c, sum, e)) {
				rc = -1;
				break;
			}
			p.n = 0;
			arena_reset(&p.arena);
		}
		p.workload = workload;
		p.env = env;
		if ((rc = take_row(&p, q, e)) < 0)
			break;
	}
	if (rc == 0)
		rc = sum_place(s, &p, c, sum, e);
	if (q)
		db_reset(q);
	if (rc == 0)
		rc = saver_finish(&p.saver, s, runs.s, e);
	sum->saved = p.saver.sum;
	saver_free(&p.saver);
	buf_free(&runs);
	json_free(&p.doc);
	free(p.tried);
	arena_free(&p.arena);
	return rc;
}

int cost_sum(struct store *s, const struct cost_which *which, struct cost_sum *sum, struct err *e)
{
	struct chosen c = {0};
	int rc;

	*sum = (struct cost_sum){0};
	rc = choose(s, which, &c, e);
	sum_runs(&c, sum);
	if (rc == 0 && sum->runs)
		rc = sum_results(s, &c, sum, e);
	map_free(&c.run);
	arena_free(&c.arena);
	return rc < 0 ? -1 : sum->runs > 0;
}

int cost_waited(struct store *s, const char *run, double *waited_s, struct err *e)
{
	const struct cost_which which = {.run = run};
	struct chosen c = {0};
	int rc = choose(s, &which, &c, e);

	*waited_s = 0;
	for (size_t k = 0; k < c.run.n; k++) {
		const struct run *r = c.run.item[k].value;

		if (r->part_of)
			*waited_s += r->cost.waited_s;
	}
	map_free(&c.run);
	arena_free(&c.arena);
	return rc < 0 ? -1 : 0;
}

double cost_total(const struct cost_sum *sum)
{
	double total = sum->unknown_s;

	for (int i = 0; i < COSTS; i++)
		total += sum->core_s[i];
	return total;
}
