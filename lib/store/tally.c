#include "lib/store/tally.h"

#include <math.h>
#include <string.h>

#include "lib/store/db.h"
#include "lib/store/row.h"

/* A row of the table tallies, or (env 0) a workload's number of candidates. No padding: its bytes
 * are the map's key. */
struct key {
	int64_t workload, env, rank;
};

struct change {
	int64_t results, candidates, core_us;
};

static struct change *change_of(struct store *s, int64_t workload, int64_t env, int rank)
{
	struct key k = {workload, env, rank};
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

/* The best rank among the candidate's other results in this env, -1 if there are none, and whether
 * it has results in other envs. */
static int others(struct store *s, const struct tally_result *r, int *best, int *elsewhere,
		  struct err *e)
{
	sqlite3_stmt *q = db_sql(s,
				 "SELECT env, status FROM results WHERE workload = ?"
				 " AND candidate = ? AND num <> ?",
				 e);
	int rc;

	*best = -1;
	*elsewhere = 0;
	if (!q)
		return -1;
	sqlite3_bind_int64(q, 1, r->workload);
	sqlite3_bind_blob(q, 2, r->candidate, ID_HEX / 2, SQLITE_STATIC);
	sqlite3_bind_int64(q, 3, r->num);
	while ((rc = db_step(s, q, e)) > 0) {
		const char *status = db_given(s, q, 1, NULL, e);
		int rank = status ? row_rank(status) : -1;

		if (!status)
			return -1;
		if (rank < 0) {
			err_set(e, "the database %s is damaged: \"%s\" is no status", s->path,
				status);
			sqlite3_reset(q);
			return -1;
		}
		if (sqlite3_column_int64(q, 0) != r->env)
			*elsewhere = 1;
		else if (*best < 0 || rank < *best)
			*best = rank;
	}
	return rc;
}

/* The candidate's best rank was one and is another now; -1: it had no result. */
static void move_candidate(struct store *s, const struct tally_result *r, int from, int to)
{
	if (from == to)
		return;
	if (from >= 0)
		change_of(s, r->workload, r->env, from)->candidates--;
	change_of(s, r->workload, r->env, to)->candidates++;
}

static int better(int a, int b)
{
	return a >= 0 && a < b ? a : b;
}

int tally_new(struct store *s, const struct tally_result *r, struct err *e)
{
	struct change *c = change_of(s, r->workload, r->env, r->rank);
	int best, elsewhere;

	if (others(s, r, &best, &elsewhere, e))
		return -1;
	c->results++;
	c->core_us += microseconds(r->core_s);
	move_candidate(s, r, best, better(best, r->rank));
	if (best < 0 && !elsewhere)
		change_of(s, r->workload, 0, 0)->candidates++;
	return 0;
}

int tally_changed(struct store *s, const struct tally_result *r, int rank, double core_s,
		  struct err *e)
{
	struct change *was, *is;
	int best, elsewhere;

	if (others(s, r, &best, &elsewhere, e))
		return -1;
	was = change_of(s, r->workload, r->env, rank);
	was->results--;
	was->core_us -= microseconds(core_s);
	is = change_of(s, r->workload, r->env, r->rank);
	is->results++;
	is->core_us += microseconds(r->core_s);
	move_candidate(s, r, better(best, rank), better(best, r->rank));
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
	db_bind_text(q, 3, row_status((int)k->rank));
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
	db_bind_text(q, 3, row_status((int)k->rank));
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
