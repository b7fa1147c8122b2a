/* Storing records: what store.h says of keys and of replays happens here. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/cost.h"
#include "lib/store/db.h"
#include "lib/store/tally.h"
#include "lib/store/row.h"
#include "lib/store/units.h"

/* A result with its row numbers. */
struct numbered {
	struct row row;
	int64_t workload, env, run_num;
};

/* A prepared statement, or out of the function with the database's failure. */
#define SQL_OR_FAIL(q, s, sql, e)                                                                  \
	do {                                                                                       \
		(q) = db_sql((s), (sql), (e));                                                     \
		if (!(q))                                                                          \
			return STORE_FAILED;                                                       \
	} while (0)

/* Runs a statement that inserts a row, if it is not there, and returns a column of it. */
static enum store_put was_inserted(struct stmt *q, struct err *e)
{
	const int isnew = db_insert(q, NULL, e);

	return isnew < 0 ? STORE_FAILED : isnew ? STORE_NEW : STORE_KNOWN;
}

/* Interning. Each gives the row's number, made if the id is new. */

static enum store_put run_insert(struct stmt *q, struct map *known, const char *id, int64_t *num,
				 struct err *e)
{
	if (db_insert(q, num, e) < 0)
		return STORE_FAILED;
	*map_put(known, id, strlen(id), NULL) = (void *)(intptr_t)*num;
	return STORE_NEW;
}

/* obj has the fields of the workload, whose id was read already. Only a workload that is new is
 * looked at closely: its id must be what its fields make. */
static enum store_put intern_workload(struct store *s, const char *id, const struct json_doc *d,
				      const struct json *obj, int64_t *num, struct err *e)
{
	struct workload w;
	struct buf post = BUF_INIT;
	enum store_put rc;
	struct stmt *q;

	if (db_workload(s, id, num, e))
		return STORE_FAILED;
	if (*num)
		return STORE_KNOWN;
	if (workload_from_json(&w, d, obj, e))
		return STORE_BAD;
	SQL_OR_FAIL(q, s,
		    "INSERT INTO workloads(id, op, prob, dtype, layout, post, flops, record)"
		    " VALUES(?, ?, ?, ?, ?, ?, ?, ?) RETURNING num",
		    e);
	buf_clear(&s->text);
	workload_fields(&w, &s->text);
	workload_posts(&w, &post);
	db_bind_text(q, 1, id);
	db_bind_text(q, 2, w.op->name);
	db_bind_text(q, 3, w.prob);
	db_bind_text(q, 4, w.dtype_text);
	db_bind_text(q, 5, layout_name(w.layout));
	db_bind_text(q, 6, post.s);
	db_bind_int(q, 7, w.flops);
	db_bind_text(q, 8, s->text.s);
	rc = run_insert(q, &s->workloads, id, num, e);
	buf_free(&post);
	return rc;
}

/* insert: a literal. find: of the row's number, which is 0 if there is none. */
static enum store_put intern(struct store *s, const char *id, int64_t *num, struct map *known,
			     int (*find)(struct store *, const char *, int64_t *, struct err *),
			     const char *insert, struct err *e)
{
	struct stmt *q;

	if (find(s, id, num, e))
		return STORE_FAILED;
	if (*num)
		return STORE_KNOWN;
	SQL_OR_FAIL(q, s, insert, e);
	db_bind_text(q, 1, id);
	return run_insert(q, known, id, num, e);
}

static enum store_put intern_env(struct store *s, const char *id, int64_t *num, struct err *e)
{
	return intern(s, id, num, &s->envs, db_env, "INSERT INTO envs(id) VALUES(?) RETURNING num",
		      e);
}

static enum store_put intern_run(struct store *s, const char *id, int64_t *num, struct err *e)
{
	return intern(s, id, num, &s->runs, db_run, "INSERT INTO runs(id) VALUES(?) RETURNING num",
		      e);
}

/* An end record may come before the results of its run, and a result without "env" before one with
 * it. Looked at once for each run. */
static enum store_put note_env(struct store *s, const struct numbered *w, const struct json *env,
			       struct err *e)
{
	struct stmt *q;
	int isnew;

	*map_put(&s->noted, w->row.r.run, strlen(w->row.r.run), &isnew) = s;
	if (!isnew)
		return STORE_KNOWN;
	SQL_OR_FAIL(q, s, "UPDATE runs SET env = ? WHERE num = ? AND env IS NULL", e);
	db_bind_int(q, 1, w->env);
	db_bind_int(q, 2, w->run_num);
	if (db_step(q, e) < 0)
		return STORE_FAILED;
	if (!env || env->type != JSON_OBJ)
		return STORE_KNOWN;
	SQL_OR_FAIL(q, s, "UPDATE envs SET env = ? WHERE num = ? AND env IS NULL", e);
	db_bind_string(q, 1, env->s, env->n);
	db_bind_int(q, 2, w->env);
	return db_step(q, e) < 0 ? STORE_FAILED : STORE_KNOWN;
}

/* Results */

static void bind_key(struct stmt *q, const struct numbered *w)
{
	db_bind_int(q, 1, w->workload);
	db_bind_bytes(q, 2, w->row.candidate, sizeof w->row.candidate);
	db_bind_int(q, 3, w->env);
	db_bind_int(q, 4, w->run_num);
	db_bind_int(q, 5, w->row.r.stage == STAGE_FINAL);
}

static void bind_values(struct stmt *q, int i, const struct numbered *w)
{
	db_bind_text(q, i, status_name(w->row.r.status));
	db_bind_num(q, i + 1, w->row.r.latency_s);
	db_bind_num(q, i + 2, w->row.r.baseline.latency_s);
	db_bind_num(q, i + 3, w->row.r.cost.core_s);
	db_bind_text(q, i + 4, w->row.r.at);
	db_bind_text(q, i + 5, w->row.since); /* NULL where it is */
	db_bind_num(q, i + 6, w->row.ratio);
}

static enum store_put put_text(struct stmt *q, int64_t num, const struct rec *r, struct err *e)
{
	db_bind_int(q, 1, num);
	db_bind_string(q, 2, r->s, r->n);
	return db_later(q, e) < 0 ? STORE_FAILED : STORE_NEW;
}

static struct tally_result to_tally(const struct numbered *w, int64_t num)
{
	return (struct tally_result){
		num, w->workload, w->env, w->row.candidate, w->row.r.status, w->row.r.cost.core_s};
}

/* Of two records with the same key the later by "at", and then by its bytes, is kept, so that two
 * databases merged either way end up the same. 1: r is; 0; -1: the database is damaged. The other
 * one's time is in column i of the row, its record in the next. */
static int is_later(const struct rec *r, const char *at, struct stmt *old, int i, struct err *e)
{
	const char *old_at = db_given(old, i, NULL, e), *text;
	size_t n;
	int order;

	if (!old_at || !(text = db_given(old, i + 1, &n, e)))
		return -1;
	order = strcmp(at, old_at);
	if (!order)
		order = memcmp(r->s, text, n < r->n ? n : r->n);
	if (!order)
		order = (r->n > n) - (r->n < n);
	return order > 0;
}

/* The key is there already. */
static enum store_put put_again(struct store *s, const struct numbered *w, const struct rec *r,
				struct err *e)
{
	struct stmt *q;
	struct tally_result t;
	enum status status;
	double core_s;
	int64_t num;
	int later;

	SQL_OR_FAIL(
		q, s,
		"SELECT num, at, record, status, core_s FROM results JOIN records USING(num) WHERE"
		" workload = ? AND candidate = ? AND env = ? AND run = ? AND final = ?",
		e);
	bind_key(q, w);
	if (db_step(q, e) != 1)
		return db_damaged(s, "a result has no record", e), STORE_FAILED;
	num = db_int(q, 0);
	if ((later = is_later(r, w->row.r.at, q, 1, e)) < 0 || !(status = db_status(q, 3, e)))
		return STORE_FAILED;
	core_s = db_num(q, 4);
	db_reset(q);
	if (!later)
		return STORE_KNOWN;
	SQL_OR_FAIL(q, s,
		    "UPDATE results SET status = ?2, latency_s = ?3, baseline_s = ?4, core_s = ?5,"
		    " at = ?6, since = ?7, ratio = ?8 WHERE num = ?1",
		    e);
	db_bind_int(q, 1, num);
	bind_values(q, 2, w);
	t = to_tally(w, num);
	if (db_step(q, e) < 0 || tally_changed(s, &t, status, core_s, e))
		return STORE_FAILED;
	SQL_OR_FAIL(q, s, "UPDATE records SET record = ?2 WHERE num = ?1", e);
	return put_text(q, num, r, e);
}

static enum store_put put_result(struct store *s, const struct rec *r, const struct json_doc *d,
				 struct err *e)
{
	struct numbered w;
	struct tally_result t;
	enum store_put rc;
	struct stmt *q;
	int64_t num;
	int isnew;

	if (row_from_json(&w.row, d, &s->scratch, e))
		return STORE_BAD;
	rc = intern_workload(s, w.row.r.workload_id, d, json_get(d, d->tok, "workload"),
			     &w.workload, e);
	if (rc < 0)
		return rc;
	if ((rc = intern_env(s, w.row.r.env_id, &w.env, e)) < 0)
		return rc;
	if ((rc = intern_run(s, w.row.r.run, &w.run_num, e)) < 0)
		return rc;
	SQL_OR_FAIL(q, s,
		    "INSERT INTO results(workload, candidate, env, run, final, status, latency_s,"
		    " baseline_s, core_s, at, since, ratio)"
		    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		    " ON CONFLICT DO NOTHING RETURNING num",
		    e);
	bind_key(q, &w);
	bind_values(q, 6, &w);
	if ((isnew = db_insert(q, &num, e)) < 0)
		return STORE_FAILED;
	if (!isnew)
		return put_again(s, &w, r, e);
	t = to_tally(&w, num);
	SQL_OR_FAIL(q, s, "INSERT INTO records(num, record) VALUES(?, ?)", e);
	if (put_text(q, t.num, r, e) < 0 || tally_new(s, &t, e))
		return STORE_FAILED;
	return note_env(s, &w, json_get(d, d->tok, "env"), e) < 0 ? STORE_FAILED : STORE_NEW;
}

/* Workloads: the union of the sources is kept, from which the count follows. */

static enum store_put put_source(struct store *s, int64_t workload, const char *source,
				 struct err *e)
{
	struct stmt *q;

	SQL_OR_FAIL(q, s,
		    "INSERT INTO sources(workload, source) VALUES(?, ?) ON CONFLICT DO NOTHING"
		    " RETURNING workload",
		    e);
	db_bind_int(q, 1, workload);
	db_bind_text(q, 2, source);
	return was_inserted(q, e);
}

static int check_sources(struct store *s, const struct json_doc *d, const struct json *list,
			 struct err *e)
{
	const char *text;

	if (list && list->type != JSON_ARR)
		return err_set(e, "\"source\" is not a list");
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v))
		if (json_str(v, &s->scratch, &text))
			return err_set(e, "\"source\" is not a list of texts");
	return 0;
}

static enum store_put put_workload(struct store *s, const struct json_doc *d, struct err *e)
{
	const struct json *list = json_get(d, d->tok, "source");
	const char *id, *text;
	enum store_put rc, one;
	int64_t num;

	if (row_id(d, d->tok, "workload_id", &s->scratch, &id, e) || check_sources(s, d, list, e))
		return STORE_BAD;
	if ((rc = intern_workload(s, id, d, d->tok, &num, e)) < 0)
		return rc;
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v)) {
		json_str(v, &s->scratch, &text);
		if ((one = put_source(s, num, text, e)) < 0)
			return one;
		if (one == STORE_NEW)
			rc = STORE_NEW;
	}
	return rc;
}

/* Ends */

static const char *const end_counts[] = {"drawn",     "kept",	"refused", "measured",
					 "preempted", "failed", "built"};
enum { END_COUNTS = sizeof end_counts / sizeof *end_counts };

static int bind_counts(struct stmt *q, int at, const struct json_doc *d, struct err *e)
{
	for (int i = 0; i < END_COUNTS; i++) {
		const struct json *v = json_get(d, d->tok, end_counts[i]);
		int64_t n;

		db_bind_null(q, at + i);
		if (!v || v->type == JSON_NULL)
			continue;
		if (json_int(v, &n) || n < 0)
			return err_set(e, "\"%s\" is not a count", end_counts[i]);
		db_bind_int(q, at + i, n);
	}
	return 0;
}

static enum store_put put_end(struct store *s, const struct rec *r, const struct json_doc *d,
			      struct err *e)
{
	const struct json *run = json_get(d, d->tok, "run");
	const char *id, *run_id;
	int64_t workload, run_num;
	unsigned char key[ID_HEX / 2];
	struct id hash;
	struct stmt *q;

	if (row_id(d, d->tok, "workload_id", &s->scratch, &id, e))
		return STORE_BAD;
	if (units_end(s, d, id, e))
		return STORE_FAILED;
	if (!run || run->type == JSON_NULL)
		return STORE_KNOWN;
	if (row_text(d, d->tok, "run", &s->scratch, &run_id, e))
		return STORE_BAD;
	if (db_workload(s, id, &workload, e))
		return STORE_FAILED;
	if (!workload)
		return err_set(e, "this ends a workload of which nothing came before"), STORE_BAD;
	SQL_OR_FAIL(q, s,
		    "INSERT INTO ends(workload, run, key, record, drawn, kept, refused, measured,"
		    " preempted, failed, built) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		    " ON CONFLICT DO NOTHING RETURNING num",
		    e);
	if (bind_counts(q, 5, d, e))
		return STORE_BAD;
	if (intern_run(s, run_id, &run_num, e) < 0)
		return STORE_FAILED;
	buf_clear(&s->text);
	json_canonical(d, d->tok, &s->text);
	hash_id(&hash, s->text.s, s->text.n);
	row_unhex(hash.s, key);
	db_bind_int(q, 1, workload);
	db_bind_int(q, 2, run_num);
	db_bind_bytes(q, 3, key, sizeof key);
	db_bind_string(q, 4, r->s, r->n);
	return was_inserted(q, e);
}

/* Runs */

static enum store_put put_run(struct store *s, const struct rec *r, const struct json_doc *d,
			      struct err *e)
{
	const struct json *whole = json_get(d, d->tok, "part_of");
	const char *run, *at, *part_of = NULL;
	struct cost_run c;
	struct stmt *q;
	int rc;

	if (row_text(d, d->tok, "run", &s->scratch, &run, e) ||
	    row_text(d, d->tok, "at", &s->scratch, &at, e) ||
	    (whole && row_text(d, d->tok, "part_of", &s->scratch, &part_of, e)) ||
	    cost_read(&c, d, e))
		return STORE_BAD;
	SQL_OR_FAIL(q, s, "SELECT at, record FROM costs WHERE run = ?", e);
	db_bind_text(q, 1, run);
	if ((rc = db_step(q, e)) < 0)
		return STORE_FAILED;
	if (rc) {
		rc = is_later(r, at, q, 0, e);
		db_reset(q);
		if (rc <= 0)
			return rc < 0 ? STORE_FAILED : STORE_KNOWN;
	}
	SQL_OR_FAIL(q, s,
		    "INSERT INTO costs(run, part_of, at, record) VALUES(?1, ?2, ?3, ?4)"
		    " ON CONFLICT(run) DO UPDATE SET part_of = ?2, at = ?3, record = ?4",
		    e);
	db_bind_text(q, 1, run);
	db_bind_text(q, 2, part_of);
	db_bind_text(q, 3, at);
	db_bind_string(q, 4, r->s, r->n);
	return db_step(q, e) < 0 ? STORE_FAILED : STORE_NEW;
}

/* Choices */

struct choice_key {
	int64_t workload, env;
	const char *network;
	unsigned char candidate[ID_HEX / 2];
	const char *at;
};

static enum store_put read_choice(struct store *s, const struct json_doc *d, struct choice_key *k,
				  struct err *e)
{
	const struct json *w = json_get(d, d->tok, "workload");
	const char *id, *env, *candidate;
	enum store_put rc;

	if (row_id(d, w, "workload_id", &s->scratch, &id, e) ||
	    row_id(d, d->tok, "candidate_id", &s->scratch, &candidate, e) ||
	    row_id(d, d->tok, "env_id", &s->scratch, &env, e) ||
	    row_id(d, d->tok, "network", &s->scratch, &k->network, e) ||
	    row_text(d, d->tok, "at", &s->scratch, &k->at, e))
		return STORE_BAD;
	row_unhex(candidate, k->candidate);
	rc = intern_workload(s, id, d, w, &k->workload, e);
	return rc < 0 ? rc : intern_env(s, env, &k->env, e);
}

static enum store_put put_choice(struct store *s, const struct rec *r, const struct json_doc *d,
				 struct err *e)
{
	struct choice_key k;
	enum store_put put = read_choice(s, d, &k, e);
	struct stmt *q;
	int rc;

	if (put < 0)
		return put;
	SQL_OR_FAIL(q, s,
		    "SELECT at, record FROM choices WHERE workload = ? AND env = ? AND network = ?",
		    e);
	db_bind_int(q, 1, k.workload);
	db_bind_int(q, 2, k.env);
	db_bind_text(q, 3, k.network);
	if ((rc = db_step(q, e)) < 0)
		return STORE_FAILED;
	if (rc) {
		rc = is_later(r, k.at, q, 0, e);
		db_reset(q);
		if (rc <= 0)
			return rc < 0 ? STORE_FAILED : STORE_KNOWN;
	}
	SQL_OR_FAIL(q, s,
		    "INSERT INTO choices(workload, env, network, candidate, at, record)"
		    " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(workload, env, network)"
		    " DO UPDATE SET candidate = ?4, at = ?5, record = ?6",
		    e);
	db_bind_int(q, 1, k.workload);
	db_bind_int(q, 2, k.env);
	db_bind_text(q, 3, k.network);
	db_bind_bytes(q, 4, k.candidate, sizeof k.candidate);
	db_bind_text(q, 5, k.at);
	db_bind_string(q, 6, r->s, r->n);
	return db_step(q, e) < 0 ? STORE_FAILED : STORE_NEW;
}

/* A record of the other kind than the database's would be a lie in it. */
static int is_misplaced(const struct store *s, const struct rec *r, const struct json_doc *d,
			struct err *e)
{
	int replayed = 0;

	json_bool(json_get(d, d->tok, "replayed"), &replayed);
	/* A loop over replays has paid for its own part of them. */
	if (replayed == s->replayed || (r->type == REC_RUN && !replayed))
		return 0;
	err_set(e,
		replayed ? "this was replayed, and the database %s is for what was measured "
			   "(tl-store --replayed makes one)"
			 : "this was measured, and the database %s is for what was replayed",
		s->path);
	return 1;
}

enum store_put store_put(struct store *s, const struct rec *r, const struct json_doc *d,
			 struct err *e)
{
	assert(s->in_batch);
	arena_reset(&s->scratch);
	if ((r->type == REC_RESULT || r->type == REC_END || r->type == REC_RUN ||
	     r->type == REC_CHOICE) &&
	    is_misplaced(s, r, d, e))
		return STORE_BAD;
	if (door_record(&s->door, d, e) < 0)
		return STORE_BAD;
	switch (r->type) {
	case REC_WORKLOAD:
		return put_workload(s, d, e);
	case REC_RESULT:
		return put_result(s, r, d, e);
	case REC_END:
		return put_end(s, r, d, e);
	case REC_RUN:
		return put_run(s, r, d, e);
	case REC_CHOICE:
		return put_choice(s, r, d, e);
	default:
		return STORE_KNOWN;
	}
}
