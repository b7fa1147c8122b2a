/* Looking things up. */
#include <math.h>
#include <stdlib.h>

#include "lib/store/db.h"
#include "lib/store/incumbent.h"
#include "lib/store/row.h"
#include "lib/store/tally.h"

/* Results */

int store_better(const struct store_result *a, const struct store_result *b)
{
	int order = b ? strcmp(a->since ? a->since : "", b->since ? b->since : "") : 0;

	if (order)
		return order > 0;
	if (!b || a->final != b->final)
		return !b || a->final;
	if (a->latency_s != b->latency_s)
		return a->latency_s < b->latency_s;
	return strcmp(a->candidate_id.s, b->candidate_id.s) < 0;
}

/* The candidate of an ok result may have been found wrong by another measurement in the same env.
 */
#define BELIEVED                                                                                   \
	" status = 'ok' AND NOT EXISTS(SELECT 1 FROM results AS other"                             \
	" WHERE other.workload = results.workload AND other.candidate = results.candidate"         \
	" AND other.env = results.env AND other.status = 'wrong')"

#define RESULT_COLUMNS                                                                             \
	" candidate, runs.id, status, at, final, latency_s, baseline_s, core_s, since, ratio"

static int result_from_row(struct stmt *q, struct arena *a, struct store_result *r, struct err *e)
{
	if (db_id(q, 0, &r->candidate_id, e) || !(r->run = db_given_copy(q, 1, a, e)) ||
	    !(r->status = db_status(q, 2, e)) || !(r->at = db_given_copy(q, 3, a, e)))
		return -1;
	r->final = (int)db_int(q, 4);
	r->latency_s = db_num(q, 5);
	r->baseline_s = db_num(q, 6);
	r->core_s = db_num(q, 7);
	r->since = db_text(q, 8, a);
	r->ratio = db_num(q, 9);
	r->record = NULL;
	r->record_n = 0;
	return 0;
}

/* Binds the row numbers of a workload and an env to parameters 1 and 2. 0: one is unknown. */
static int bind_where(struct store *s, struct stmt *q, const char *workload_id, const char *env_id,
		      struct err *e)
{
	int64_t workload, env;

	if (db_workload(s, workload_id, &workload, e) || db_env(s, env_id, &env, e))
		return -1;
	db_bind_int(q, 1, workload);
	db_bind_int(q, 2, env);
	return workload && env;
}

/* An array in an arena that grows by doubling. */
static struct store_result *grow(struct arena *a, struct store_result *r, int64_t n, int64_t *cap)
{
	struct store_result *more = r;

	if (n == *cap) {
		*cap = *cap * 2 + 16;
		more = arena_array(a, struct store_result, *cap);
		if (n)
			memcpy(more, r, (size_t)n * sizeof *r);
	}
	return more;
}

static int with_record(struct store *s, int64_t num, struct arena *a, struct store_result *r,
		       struct err *e)
{
	struct stmt *q = db_sql(s, "SELECT record FROM records WHERE num = ?", e);
	const char *text;
	int rc;

	if (!q)
		return -1;
	db_bind_int(q, 1, num);
	rc = db_step(q, e);
	if (rc < 0)
		return -1;
	if (!rc)
		return db_damaged(s, "a result has no record", e);
	if (!(text = db_given(q, 0, &r->record_n, e)))
		return -1;
	r->record = arena_strndup(a, text, r->record_n);
	db_reset(q);
	return 0;
}

/* Does the record of a result pass the door, is it that of its row, and may its algorithm be used
 * (lib/space/strict.h)? 1; 0: no, and the result is not to be used. */
static int is_believed(struct store *s, const char *workload_id, const char *env_id,
		       const struct store_result *r)
{
	struct err why = ERR_INIT;
	struct json_doc *d = &s->door_doc;
	struct candidate c;

	if (door_result_text(&s->door, r->record, r->record_n, d, &c, &why) == 0 &&
	    (strcmp(c.id.s, r->candidate_id.s) != 0 || strcmp(c.w.id.s, workload_id) != 0 ||
	     !json_is(json_get(d, d->tok, "env_id"), env_id) || status_get(d, d->tok) != r->status))
		err_set(&why,
			"the database %s is damaged: it keeps a result where another one "
			"belongs",
			s->path);
	if (*why.msg)
		door_refuse(&s->refused, &why);
	return !*why.msg && algo_is_allowed(c.algo);
}

int store_record(struct store *s, const char *workload_id, const char *env_id, struct arena *a,
		 struct store_result *r, struct err *e)
{
	unsigned char candidate[ID_HEX / 2];
	struct stmt *q;
	int64_t num;
	int rc;

	if (r->record)
		return 1;
	q = db_sql(s,
		   "SELECT results.num FROM results JOIN runs ON runs.num = run"
		   " WHERE workload = ? AND results.env = ? AND candidate = ?"
		   " AND runs.id = ? AND final = ?",
		   e);
	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) < 0)
		return -1;
	row_unhex(r->candidate_id.s, candidate);
	db_bind_bytes(q, 3, candidate, sizeof candidate);
	db_bind_text(q, 4, r->run);
	db_bind_int(q, 5, r->final);
	if ((rc = db_step(q, e)) < 0)
		return -1;
	if (!rc)
		return err_set(e, "the database %s no longer has a result that it had", s->path);
	num = db_int(q, 0);
	db_reset(q);
	if (with_record(s, num, a, r, e) < 0)
		return -1;
	if (is_believed(s, workload_id, env_id, r))
		return 1;
	r->record = NULL;
	return 0;
}

/* Results in the order of `at`. */
struct winners {
	struct store_result *r;
	int64_t n, cap;
};

/* All that became the best known. */
static int find_winners(struct store *s, const char *workload_id, const char *env_id,
			struct arena *a, struct winners *w, struct err *e)
{
	struct stmt *q =
		db_sql(s,
		       "SELECT" RESULT_COLUMNS " FROM results JOIN runs ON runs.num = run"
		       " WHERE workload = ? AND results.env = ? AND since IS NOT NULL AND" BELIEVED
		       " ORDER BY since, runs.id, candidate, final",
		       e);
	int rc;

	*w = (struct winners){NULL, 0, 0};
	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) <= 0)
		return q ? rc : -1;
	while ((rc = db_step(q, e)) > 0) {
		w->r = grow(a, w->r, w->n, &w->cap);
		if (result_from_row(q, a, &w->r[w->n], e) < 0) {
			db_reset(q);
			return -1;
		}
		w->n++;
	}
	return rc;
}

/* The best known, where duels say which that is: its result, with its record. 1; 0: none do. One
 * that does not pass the door is taken out, and the others decide. */
static int find_incumbent(struct store *s, const char *workload_id, const char *env_id,
			  struct arena *a, struct store_result *r, struct err *e)
{
	struct winners w;
	int rc = find_winners(s, workload_id, env_id, a, &w, e);

	while (rc == 0 && w.n) {
		struct incumbent h = {NULL, NULL, NULL};
		int64_t found;

		for (int64_t i = 0; i < w.n; i++)
			incumbent_feed(&h, &w.r[i]);
		found = incumbent_found(&h) - w.r;
		*r = w.r[found];
		rc = store_record(s, workload_id, env_id, a, r, e);
		if (rc == 0)
			memmove(&w.r[found], &w.r[found + 1],
				(size_t)(--w.n - found) * sizeof *w.r);
	}
	return rc;
}

int store_top(struct store *s, const char *workload_id, const char *env_id, int64_t n,
	      struct arena *a, struct store_result **out, int64_t *nout, struct err *e)
{
	struct store_result r;
	int64_t cap = 0;
	struct map known = MAP_INIT;
	int rc, isnew;
	struct stmt *q =
		db_sql(s,
		       "SELECT" RESULT_COLUMNS ", results.num FROM results"
		       " JOIN runs ON runs.num = run"
		       " WHERE workload = ? AND results.env = ? AND" BELIEVED
		       " ORDER BY since DESC NULLS LAST, final DESC, latency_s, candidate, runs.id",
		       e);

	*out = NULL;
	*nout = 0;
	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) < 0)
		return -1;
	if (!rc || n <= 0)
		return 0;
	if ((rc = find_incumbent(s, workload_id, env_id, a, &r, e)) < 0)
		return -1;
	if (rc) {
		map_put(&known, r.candidate_id.s, ID_HEX, &isnew);
		*out = grow(a, *out, *nout, &cap);
		(*out)[(*nout)++] = r;
	}
	while (*nout < n && (rc = db_step(q, e)) > 0 && !(rc = result_from_row(q, a, &r, e))) {
		map_put(&known, r.candidate_id.s, ID_HEX, &isnew);
		if (!isnew)
			continue;
		if ((rc = with_record(s, db_int(q, 10), a, &r, e)))
			break;
		if (!is_believed(s, workload_id, env_id, &r))
			continue;
		*out = grow(a, *out, *nout, &cap);
		(*out)[(*nout)++] = r;
	}
	db_reset(q);
	map_free(&known);
	return rc < 0 ? -1 : *nout > 0;
}

int store_history(struct store *s, const char *workload_id, const char *env_id, struct arena *a,
		  struct store_result **out, int64_t *nout, struct err *e)
{
	int64_t cap = 0;
	int rc;
	struct stmt *q = db_sql(s,
				"SELECT" RESULT_COLUMNS " FROM results JOIN runs ON runs.num = run"
				" WHERE workload = ? AND results.env = ?"
				" ORDER BY at, runs.id, candidate, final",
				e);

	*out = NULL;
	*nout = 0;
	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) < 0)
		return -1;
	if (!rc)
		return 0;
	while ((rc = db_step(q, e)) > 0) {
		*out = grow(a, *out, *nout, &cap);
		if (result_from_row(q, a, &(*out)[*nout], e)) {
			db_reset(q);
			return -1;
		}
		++*nout;
	}
	return rc < 0 ? -1 : *nout > 0;
}

/* Choices */

static int is_chosen(struct store *s, const struct store_choice *c, const char *workload_id)
{
	struct err why = ERR_INIT;
	struct json_doc *d = &s->door_doc;

	if (json_parse(d, c->record, c->record_n, &why) == 0 &&
	    door_record(&s->door, d, &why) == 0 &&
	    (!json_is(json_get(d, d->tok, "type"), "choice") ||
	     !json_is(json_get(d, d->tok, "candidate_id"), c->candidate_id.s) ||
	     !json_is(json_get(d, json_get(d, d->tok, "workload"), "workload_id"), workload_id)))
		err_set(&why, "the database %s is damaged: it keeps another record as a choice",
			s->path);
	if (*why.msg)
		door_refuse(&s->refused, &why);
	return !*why.msg;
}

int store_choice(struct store *s, const char *network_id, const char *workload_id,
		 const char *env_id, struct arena *a, struct store_choice *out, struct err *e)
{
	struct stmt *q;
	const char *text;
	int rc;

	if (s->version < 3) /* it had none */
		return 0;
	q = db_sql(s,
		   "SELECT candidate, record FROM choices WHERE workload = ?1 AND env = ?2"
		   " AND network = ?3 AND NOT EXISTS(SELECT 1 FROM results WHERE"
		   " results.workload = choices.workload AND results.env = choices.env AND"
		   " results.candidate = choices.candidate AND status = 'wrong')",
		   e);
	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) <= 0)
		return q ? rc : -1;
	db_bind_text(q, 3, network_id);
	if ((rc = db_step(q, e)) <= 0)
		return rc;
	if (db_id(q, 0, &out->candidate_id, e) || !(text = db_given(q, 1, &out->record_n, e)))
		return -1;
	out->record = arena_strndup(a, text, out->record_n);
	db_reset(q);
	return is_chosen(s, out, workload_id);
}

/* Workloads */

/* 1; 0: the row holds no workload of this version, and is passed over. */
static int workload_from_row(struct store *s, struct stmt *q, struct json_doc *d,
			     struct workload *w, struct err *e)
{
	const char *text = db_given(q, 0, NULL, e), *id;
	struct err why = ERR_INIT;

	if (!text || !(id = db_given(q, 1, NULL, e)))
		return -1;
	buf_clear(&s->text);
	buf_fmt(&s->text, "{%s}", text);
	if (json_parse(d, s->text.s, s->text.n, &why) || workload_from_json(w, d, d->tok, &why) ||
	    (strcmp(w->id.s, id) != 0 &&
	     err_set(&why, "its id is not %s, as its fields make it", w->id.s))) {
		err_in(&why, "a workload in the database %s", s->path);
		door_refuse(&s->refused, &why);
		return 0;
	}
	return 1;
}

int store_workloads(struct store *s, const char *op, const char *env_id, struct arena *a,
		    struct workload **out, int64_t *nout, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	int64_t env = 0, cap = 0;
	struct stmt *q;
	int rc;

	*out = NULL;
	*nout = 0;
	if (env_id && db_env(s, env_id, &env, e))
		return -1;
	if (env_id && !env)
		return 0;
	q = env_id ? db_sql(s,
			    "SELECT record, id FROM workloads WHERE op = ?1 AND EXISTS(SELECT 1 FROM"
			    " results WHERE workload = workloads.num AND env = ?2 AND" BELIEVED
			    ") ORDER BY id",
			    e)
		   : db_sql(s,
			    "SELECT record, id FROM workloads WHERE op = ?1 AND EXISTS(SELECT 1 FROM"
			    " results WHERE workload = workloads.num AND" BELIEVED ") ORDER BY id",
			    e);
	if (!q)
		return -1;
	db_bind_text(q, 1, op);
	if (env_id)
		db_bind_int(q, 2, env);
	while ((rc = db_step(q, e)) > 0) {
		if (*nout == cap) {
			struct workload *more;

			cap = cap * 2 + 16;
			more = arena_array(a, struct workload, cap);
			if (*nout)
				memcpy(more, *out, (size_t)*nout * sizeof *more);
			*out = more;
		}
		if ((rc = workload_from_row(s, q, &d, &(*out)[*nout], e)) < 0)
			break;
		*nout += rc;
	}
	json_free(&d);
	return rc < 0 ? -1 : *nout > 0;
}

int store_sources(struct store *s, const char *workload_id, int64_t *n, struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT count(*) FROM sources JOIN workloads ON num = workload"
				" WHERE id = ?",
				e);
	int rc;

	*n = 0;
	if (!q)
		return -1;
	db_bind_text(q, 1, workload_id);
	if ((rc = db_step(q, e)) < 0)
		return -1;
	*n = db_int(q, 0);
	db_reset(q);
	return *n > 0;
}

/* Counts */

static int64_t sum_or_unknown(struct stmt *q, int i)
{
	return db_is_null(q, i) ? -1 : db_sum(q, i);
}

static int tally_results(struct store *s, const char *workload_id, const char *env_id,
			 struct store_tally *t, struct err *e)
{
	int rc;
	struct stmt *q = db_sql(s,
				"SELECT sum(results), sum(candidates) FILTER(WHERE status = 'ok'),"
				" sum(candidates) FILTER(WHERE status = 'preempted'),"
				" sum(core_us * 1.0)"
				" FROM tallies WHERE workload = ? AND env = ?",
				e);

	if (tally_flush(s, e) || !q || (rc = bind_where(s, q, workload_id, env_id, e)) < 0)
		return -1;
	if (!rc)
		return 0;
	if (db_step(q, e) < 0)
		return -1;
	t->results = db_int(q, 0);
	t->ok = db_int(q, 1);
	t->stopped = db_int(q, 2);
	t->core_s = db_is_null(q, 3) ? 0 : db_num(q, 3) / 1e6;
	db_reset(q);
	return 0;
}

/* A run whose env is not known, because it brought no result, counts everywhere. */
static int tally_ends(struct store *s, const char *workload_id, const char *env_id,
		      struct store_tally *t, struct err *e)
{
	int64_t *const count[] = {&t->drawn,	 &t->kept,   &t->refused, &t->measured,
				  &t->preempted, &t->failed, &t->built};
	int rc;
	struct stmt *q = db_sql(s,
				"SELECT sum(drawn * 1.0), sum(kept * 1.0), sum(refused * 1.0),"
				" sum(measured * 1.0), sum(preempted * 1.0), sum(failed * 1.0),"
				" sum(built * 1.0) FROM ends"
				" JOIN runs ON runs.num = run"
				" WHERE workload = ?1 AND (env = ?2 OR env IS NULL)",
				e);

	if (!q || (rc = bind_where(s, q, workload_id, env_id, e)) < 0)
		return -1;
	if ((rc = db_step(q, e)) < 0)
		return -1;
	for (int i = 0; i < 7; i++)
		*count[i] = sum_or_unknown(q, i);
	db_reset(q);
	q = db_sql(s,
		   "SELECT measured + coalesce(preempted, 0) + coalesce(failed, 0) + "
		   " instr(record, '\"known\":') FROM ends"
		   " JOIN runs ON runs.num = run"
		   " WHERE workload = ?1 AND (env = ?2 OR env IS NULL)"
		   " AND instr(record, '\"why\":\"stopped\"') = 0"
		   " AND instr(record, '\"why\":\"out of time\"') = 0"
		   " ORDER BY ends.num DESC LIMIT 1",
		   e);
	if (!q || bind_where(s, q, workload_id, env_id, e) < 0)
		return -1;
	if ((rc = db_step(q, e)) < 0)
		return -1;
	t->exhausted = rc && !db_is_null(q, 0) && !db_int(q, 0);
	db_reset(q);
	return 0;
}

int store_tally(struct store *s, const char *workload_id, const char *env_id, struct store_tally *t,
		struct err *e)
{
	*t = (struct store_tally){0};
	if (tally_results(s, workload_id, env_id, t, e) || tally_ends(s, workload_id, env_id, t, e))
		return -1;
	return t->results > 0;
}

static int one_number(struct store *s, const char *sql, int64_t *n, struct err *e)
{
	struct stmt *q = db_sql(s, sql, e);

	if (!q || db_step(q, e) < 0)
		return -1;
	*n = db_int(q, 0);
	db_reset(q);
	return 0;
}

const struct door_refused *store_refused(const struct store *s)
{
	static const struct door_refused none;

	return s ? &s->refused : &none;
}

int store_stats(struct store *s, struct arena *a, struct store_stats *st, struct err *e)
{
	struct stmt *q;
	int rc;

	*st = (struct store_stats){0};
	if (one_number(s, "SELECT count(*) FROM workloads", &st->workloads, e) ||
	    one_number(s, "SELECT count(*) FROM sources", &st->sources, e) ||
	    one_number(s, "SELECT count(*) FROM envs", &st->envs, e) ||
	    one_number(s, "SELECT count(*) FROM runs", &st->runs, e) ||
	    one_number(s, "SELECT count(*) FROM ends", &st->ends, e) ||
	    one_number(s, "SELECT sum(candidates) FROM workloads", &st->candidates, e))
		return -1;
	q = db_sql(s,
		   "SELECT status, sum(results), sum(core_us * 1.0) FROM tallies"
		   " GROUP BY 1 ORDER BY 1",
		   e);
	if (!q)
		return -1;
	while ((rc = db_step(q, e)) > 0) {
		int i = st->nstatus;

		st->results += db_int(q, 1);
		st->core_s += db_num(q, 2) / 1e6;
		if (i == sizeof st->status / sizeof *st->status)
			continue;
		if (!(st->status[i].name = db_given_copy(q, 0, a, e)))
			return -1;
		st->status[i].n = db_int(q, 1);
		st->nstatus++;
	}
	return rc;
}
