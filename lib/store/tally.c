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

static struct change *change_of(struct store *s, int64_t workload, int64_t env, enum status status)
{
	struct key k = {workload, env, status};
	void **place = map_put(&s->pending, (const char *)&k, sizeof k, NULL);

	if (!*place)
		*place = arena_new(&s->pending_arena, struct change);
	return *place;
}

/* More than 30 years are no measurement, and would overflow a sum. RECOUNT does it
 * alike. */
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
	sqlite3_stmt *q = db_sql(s,
				 "SELECT env, status FROM results WHERE workload = ?"
				 " AND candidate = ? AND num <> ?",
				 e);
	int rc;

	*best = STATUS_NONE;
	*elsewhere = 0;
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, r->workload);
	sqlite3_bind_blob(q, 2, r->candidate, ID_HEX / 2, SQLITE_STATIC);
	sqlite3_bind_int64(q, 3, r->num);
	while ((rc = db_step(s, q, e)) > 0) {
		enum status status = db_status(s, q, 1, e);

		if (!status)
			return -1;
		if (sqlite3_column_int64(q, 0) != r->env)
			*elsewhere = 1;
		else
			*best = better(*best, status);
	}
	return rc;
}

/* The candidate's best status was one and is another now; STATUS_NONE: it had no result. */
static void move_candidate(struct store *s, const struct tally_result *r, enum status from,
			   enum status to)
{
	if (from == to)
		return;
	if (from)
		change_of(s, r->workload, r->env, from)->candidates--;
	change_of(s, r->workload, r->env, to)->candidates++;
}

int tally_new(struct store *s, const struct tally_result *r, struct err *e)
{
	struct change *c = change_of(s, r->workload, r->env, r->status);
	enum status best;
	int elsewhere;

	if (others(s, r, &best, &elsewhere, e))
		return -1;
	c->results++;
	c->core_us += microseconds(r->core_s);
	move_candidate(s, r, best, better(best, r->status));
	if (!best && !elsewhere)
		change_of(s, r->workload, 0, STATUS_NONE)->candidates++;
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
	was = change_of(s, r->workload, r->env, status);
	was->results--;
	was->core_us -= microseconds(core_s);
	is = change_of(s, r->workload, r->env, r->status);
	is->results++;
	is->core_us += microseconds(r->core_s);
	move_candidate(s, r, better(best, status), better(best, r->status));
	return 0;
}

static int write_tally(struct store *s, const struct key *k, const struct change *c, struct err *e)
{
	sqlite3_stmt *q = db_sql(
		s,
		"INSERT INTO tallies(workload, env, status, results, candidates, core_us)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET results = results + ?4,"
		" candidates = candidates + ?5, core_us = core_us + ?6",
		e);

	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, k->workload);
	sqlite3_bind_int64(q, 2, k->env);
	db_bind_text(q, 3, status_name((enum status)k->status));
	sqlite3_bind_int64(q, 4, c->results);
	sqlite3_bind_int64(q, 5, c->candidates);
	sqlite3_bind_int64(q, 6, c->core_us);
	if (db_step(s, q, e) < 0)
		return -1;
	if (c->results >= 0)
		return 0;
	if (!(q = db_sql(s,
			 "DELETE FROM tallies WHERE workload = ? AND env = ? AND status = ?"
			 " AND results = 0",
			 e)))
		return -1;
	sqlite3_bind_int64(q, 1, k->workload);
	sqlite3_bind_int64(q, 2, k->env);
	db_bind_text(q, 3, status_name((enum status)k->status));
	return db_step(s, q, e);
}

static int write_candidates(struct store *s, const struct key *k, const struct change *c,
			    struct err *e)
{
	sqlite3_stmt *q =
		db_sql(s, "UPDATE workloads SET candidates = candidates + ?2 WHERE num = ?1", e);

	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, k->workload);
	sqlite3_bind_int64(q, 2, c->candidates);
	return db_step(s, q, e);
}

int tally_flush(struct store *s, struct err *e)
{
	for (size_t i = 0; i < s->pending.n; i++) {
		const struct change *c = s->pending.item[i].value;
		struct key k;

		if (!c->results && !c->candidates && !c->core_us)
			continue;
		memcpy(&k, s->pending.item[i].key, sizeof k);
		if (k.env ? write_tally(s, &k, c, e) : write_candidates(s, &k, c, e))
			return -1;
	}
	tally_forget(s);
	return 0;
}

void tally_forget(struct store *s)
{
	map_free(&s->pending);
	arena_free(&s->pending_arena);
}
