#include "lib/store/tally.h"

#include <math.h>
#include <string.h>

#include "lib/store/db.h"

/* A row of the table tallies, or (env 0) a workload's number of candidates. No padding: its bytes
 * are the map's key. */
struct key {
	int64_t workload, env, status;
};

struct change {
	int64_t results, candidates, core_us;
};

static struct change *change_of(struct tallies *t, int64_t workload, int64_t env,
				enum status status)
{
	struct key k = {workload, env, status};
	void **place = map_put(&t->count, (const char *)&k, sizeof k, NULL);

	if (!*place)
		*place = arena_new(&t->arena, struct change);
	return *place;
}

static void drop(struct tallies *t)
{
	map_free(&t->count);
	arena_free(&t->arena);
}

/* More than 30 years are no measurement, and would overflow a sum. */
static int64_t microseconds(double core_s)
{
	return isnan(core_s) ? 0 : (int64_t)(fmin(core_s, 1e9) * 1e6 + 0.5);
}

static enum status better(enum status a, enum status b)
{
	return a && a < b ? a : b;
}

/* The best status among the candidate's other results in this env, STATUS_NONE if there are none,
 * and whether it has results in other envs. */
static int others(struct store *s, const struct tally_result *r, enum status *best, int *elsewhere,
		  struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT env, status FROM results WHERE workload = ?"
				" AND candidate = ? AND num <> ?",
				e);
	int rc;

	*best = STATUS_NONE;
	*elsewhere = 0;
	if (!q)
		return -1;
	db_bind_int(q, 1, r->workload);
	db_bind_bytes(q, 2, r->candidate, ID_HEX / 2);
	db_bind_int(q, 3, r->num);
	while ((rc = db_step(q, e)) > 0) {
		enum status status = db_status(q, 1, e);

		if (!status)
			return -1;
		if (db_int(q, 0) != r->env)
			*elsewhere = 1;
		else
			*best = better(*best, status);
	}
	return rc;
}

/* The candidate's best status was one and is another now; STATUS_NONE: it had no result. */
static void move_candidate(struct tallies *t, const struct tally_result *r, enum status from,
			   enum status to)
{
	if (from == to)
		return;
	if (from)
		change_of(t, r->workload, r->env, from)->candidates--;
	change_of(t, r->workload, r->env, to)->candidates++;
}

/* A result whose candidate had `best` as its best status in this env, and results in other envs or
 * not. */
static void add(struct tallies *t, const struct tally_result *r, enum status best, int elsewhere)
{
	struct change *c = change_of(t, r->workload, r->env, r->status);

	c->results++;
	c->core_us += microseconds(r->core_s);
	move_candidate(t, r, best, better(best, r->status));
	if (!best && !elsewhere)
		change_of(t, r->workload, 0, STATUS_NONE)->candidates++;
}

int tally_new(struct store *s, const struct tally_result *r, struct err *e)
{
	enum status best;
	int elsewhere;

	if (others(s, r, &best, &elsewhere, e))
		return -1;
	add(&s->pending, r, best, elsewhere);
	return 0;
}

int tally_changed(struct store *s, const struct tally_result *r, enum status status, double core_s,
		  struct err *e)
{
	struct change *was, *is;
	enum status best;
	int elsewhere;

	if (others(s, r, &best, &elsewhere, e))
		return -1;
	was = change_of(&s->pending, r->workload, r->env, status);
	was->results--;
	was->core_us -= microseconds(core_s);
	is = change_of(&s->pending, r->workload, r->env, r->status);
	is->results++;
	is->core_us += microseconds(r->core_s);
	move_candidate(&s->pending, r, better(best, status), better(best, r->status));
	return 0;
}

static int write_tally(struct store *s, const struct key *k, const struct change *c, struct err *e)
{
	struct stmt *q =
		db_sql(s,
		       "INSERT INTO tallies(workload, env, status, results, candidates, core_us)"
		       " VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(workload, env, status) DO UPDATE SET"
		       " results = tallies.results + excluded.results,"
		       " candidates = tallies.candidates + excluded.candidates,"
		       " core_us = tallies.core_us + excluded.core_us",
		       e);

	if (!q)
		return -1;
	db_bind_int(q, 1, k->workload);
	db_bind_int(q, 2, k->env);
	db_bind_text(q, 3, status_name((enum status)k->status));
	db_bind_int(q, 4, c->results);
	db_bind_int(q, 5, c->candidates);
	db_bind_int(q, 6, c->core_us);
	if (db_step(q, e) < 0)
		return -1;
	if (c->results >= 0)
		return 0;
	if (!(q = db_sql(s,
			 "DELETE FROM tallies WHERE workload = ? AND env = ? AND status = ?"
			 " AND results = 0",
			 e)))
		return -1;
	db_bind_int(q, 1, k->workload);
	db_bind_int(q, 2, k->env);
	db_bind_text(q, 3, status_name((enum status)k->status));
	return db_step(q, e);
}

static int write_candidates(struct store *s, const struct key *k, const struct change *c,
			    struct err *e)
{
	struct stmt *q =
		db_sql(s, "UPDATE workloads SET candidates = candidates + ?2 WHERE num = ?1", e);

	if (!q)
		return -1;
	db_bind_int(q, 1, k->workload);
	db_bind_int(q, 2, c->candidates);
	return db_step(q, e);
}

int tally_flush(struct store *s, struct err *e)
{
	const struct map *all = &s->pending.count;

	for (size_t i = 0; i < all->n; i++) {
		const struct change *c = all->item[i].value;
		struct key k;

		if (!c->results && !c->candidates && !c->core_us)
			continue;
		memcpy(&k, all->item[i].key, sizeof k);
		if (k.env ? write_tally(s, &k, c, e) : write_candidates(s, &k, c, e))
			return -1;
	}
	tally_forget(s);
	return 0;
}

void tally_forget(struct store *s)
{
	drop(&s->pending);
}

/* ---- counting anew ---- */

/* Counts all results of a workload. A candidate's results come together, and of these each env's.
 */
static int count_results(struct store *s, int64_t workload, struct tallies *t, struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT candidate, env, status, core_s FROM results"
				" WHERE workload = ? ORDER BY candidate, env",
				e);
	struct tally_result r = {.workload = workload};
	struct id last = {""}, id;
	enum status best = STATUS_NONE;
	int rc;

	if (!q)
		return -1;
	db_bind_int(q, 1, workload);
	while ((rc = db_step(q, e)) > 0) {
		const int64_t env = db_int(q, 1);
		int again;

		if (db_id(q, 0, &id, e) || !(r.status = db_status(q, 2, e)))
			return -1;
		again = !strcmp(id.s, last.s);
		if (!again || env != r.env)
			best = STATUS_NONE;
		last = id;
		r.env = env;
		r.core_s = db_num(q, 3);
		add(t, &r, best, again);
		best = better(best, r.status);
	}
	return rc;
}

/* Takes away what the tables say. */
static int subtract(struct store *s, int64_t workload, struct tallies *t, struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT env, status, results, candidates, core_us FROM tallies"
				" WHERE workload = ?",
				e);
	struct stmt *total = db_sql(s, "SELECT candidates FROM workloads WHERE num = ?", e);
	int rc;

	if (!q || !total)
		return -1;
	db_bind_int(q, 1, workload);
	while ((rc = db_step(q, e)) > 0) {
		const char *status = db_given(q, 1, NULL, e);
		struct change *c;

		if (!status)
			return -1;
		c = change_of(t, workload, db_int(q, 0), status_find(status));
		c->results -= db_int(q, 2);
		c->candidates -= db_int(q, 3);
		c->core_us -= db_int(q, 4);
	}
	if (rc < 0)
		return -1;
	db_bind_int(total, 1, workload);
	if (db_step(total, e) < 0)
		return -1;
	change_of(t, workload, 0, STATUS_NONE)->candidates -= db_int(total, 0);
	db_reset(total);
	return 0;
}

int tally_holds(struct store *s, int64_t workload, struct err *e)
{
	struct tallies t = {0};
	int rc = count_results(s, workload, &t, e) || subtract(s, workload, &t, e) ? -1 : 1;

	for (size_t i = 0; i < t.count.n && rc == 1; i++) {
		const struct change *c = t.count.item[i].value;

		rc = !c->results && !c->candidates && !c->core_us;
	}
	drop(&t);
	return rc;
}
