#include "lib/store/renew.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/store/db.h"
#include "lib/store/tally.h"

/* An env of an older version. */
struct old_env {
	int64_t num;
	const char *was, *today; /* ids */
	const char *json;	 /* of today; NULL: the row of today's id has it */
	struct old_env *next;
};

/* renewed(record, id): what the record is today, in the env with this id. */
static void renewed(sqlite3_context *c, int n, sqlite3_value **v)
{
	const char *record = (const char *)sqlite3_value_text(v[0]);
	const char *id = (const char *)sqlite3_value_text(v[1]);
	struct json_doc d = JSON_DOC_INIT;
	struct buf env = BUF_INIT, out = BUF_INIT;
	struct err ignored = ERR_INIT;
	struct id own;

	(void)n;
	if (!record || !id) {
		sqlite3_result_error_nomem(c);
		return;
	}
	buf_str(&out, record);
	if (json_parse(&d, record, strlen(record), &ignored) == 0) {
		int old = envid_renew(&d, json_get(&d, d.tok, "env"), &own, &env);

		envid_rewrite(&d, id, old ? env.s : NULL, &out);
	}
	sqlite3_result_text(c, out.s, (int)out.n, SQLITE_TRANSIENT);
	json_free(&d);
	buf_free(&env);
	buf_free(&out);
}

/* An env whose object was not noted is what one of its records says. */
static int find_old(struct store *s, struct arena *a, struct old_env **last, struct err *e)
{
	sqlite3_stmt *q =
		db_sql(s,
		       "SELECT num, id, ifnull('{\"env\":' || env || '}',"
		       " (SELECT record FROM results JOIN records USING(num)"
		       " WHERE results.env = envs.num AND instr(record, '\"class\"') LIMIT 1))"
		       " AS told FROM envs WHERE told NOT NULL ORDER BY num",
		       e);
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;
	struct buf env = BUF_INIT;
	struct id id;
	int rc = -1;

	while (q && (rc = db_step(s, q, e)) > 0) {
		const char *text = db_text(q, 2, a);
		struct old_env *v;

		if (json_parse(&d, text, strlen(text), &ignored) ||
		    !envid_renew(&d, json_get(&d, d.tok, "env"), &id, &env))
			continue;
		*last = v = arena_new(a, struct old_env);
		last = &v->next;
		v->num = sqlite3_column_int64(q, 0);
		if (!(v->was = db_given_copy(s, q, 1, a, e))) {
			rc = -1;
			break;
		}
		v->today = arena_strdup(a, id.s);
		v->json = arena_strdup(a, env.s);
	}
	json_free(&d);
	buf_free(&env);
	return rc;
}

/* Formats as sqlite3_mprintf() does. */
static int script(struct store *s, struct err *e, const char *fmt, ...)
{
	va_list ap;
	char *sql;
	int rc;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (!sql)
		die_no_memory();
	rc = db_exec(s, sql, e);
	sqlite3_free(sql);
	return rc;
}

/* Into the env that is there already. A candidate's runs are few, so the first statement reads
 * little of the index. */
static int merge(struct store *s, const struct old_env *v, long long into, struct err *e)
{
	const long long num = v->num;

	return script(s, e,
		      "DELETE FROM results WHERE num IN (SELECT"
		      " CASE WHEN (a.at, x.record) > (b.at, y.record) THEN b.num ELSE a.num END"
		      " FROM results a JOIN results b USING(workload, candidate, run, final)"
		      " JOIN records x ON x.num = a.num JOIN records y ON y.num = b.num"
		      " WHERE a.env = %lld AND b.env = %lld);"
		      "UPDATE results SET env = %lld WHERE env = %lld;"
		      "UPDATE runs SET env = %lld WHERE env = %lld;"
		      "UPDATE envs SET env = ifnull(env, %Q) WHERE num = %lld;"
		      "DELETE FROM envs WHERE num = %lld",
		      num, into, into, num, into, num, v->json, into, num);
}

static int note(struct store *s, const char *was, const char *today, struct err *e)
{
	return script(s, e, "INSERT OR IGNORE INTO envs_before(id, today) VALUES(%Q, %Q)", was,
		      today);
}

static int renew(struct store *s, const struct old_env *v, struct err *e)
{
	int64_t into;

	if (db_env(s, v->today, &into, e))
		return -1;
	if (into == v->num)
		return 0;
	if (script(s, e,
		   "UPDATE records SET record = renewed(record, %Q)"
		   " WHERE num IN (SELECT num FROM results WHERE env = %lld)",
		   v->today, (long long)v->num))
		return -1;
	if (into)
		return merge(s, v, into, e);
	return script(s, e, "UPDATE envs SET id = %Q, env = %Q WHERE num = %lld", v->today, v->json,
		      (long long)v->num);
}

static int renew_all(struct store *s, const struct old_env *first, struct err *e)
{
	int rc = tally_flush(s, e);

	if (rc == 0 && sqlite3_create_function(s->db, "renewed", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
					       NULL, renewed, NULL, NULL))
		rc = db_fail(s, "use", e);
	for (const struct old_env *v = first; v && rc == 0; v = v->next)
		rc = note(s, v->was, v->today, e) || renew(s, v, e) ? -1 : 0;
	if (rc == 0)
		rc = db_exec(s,
			     "DELETE FROM records WHERE num NOT IN (SELECT num FROM results);"
			     "DELETE FROM tallies;"
			     "INSERT INTO tallies" RECOUNT(""),
			     e);
	map_free(&s->envs); /* rows were removed */
	return rc;
}

int renew_envs(struct store *s, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct old_env *first = NULL;
	int rc = find_old(s, &a, &first, e);

	if (rc == 0 && first)
		rc = renew_all(s, first, e);
	arena_free(&a);
	return rc;
}

int renew_look_up(struct store *s, const struct json *was, struct err *e)
{
	const char *today;
	sqlite3_stmt *q;
	int rc;

	if (!was || envids_today(&s->envids, was))
		return 0;
	if (!(q = db_sql(s, "SELECT today FROM envs_before WHERE id = ?", e)))
		return -1;
	sqlite3_bind_text(q, 1, was->s, (int)was->n, SQLITE_STATIC);
	if ((rc = db_step(s, q, e)) > 0) {
		if (!(today = db_given(s, q, 0, NULL, e)))
			return -1;
		envids_learn(&s->envids, was, today);
		sqlite3_reset(q);
	}
	return rc < 0 ? -1 : 0;
}

int renew_learned(struct store *s, const struct json *was, struct err *e)
{
	struct old_env v = {.was = arena_strndup(&s->scratch, was->s, was->n),
			    .today = envids_today(&s->envids, was)};

	if (db_env(s, v.was, &v.num, e))
		return -1;
	return v.num ? renew_all(s, &v, e) : note(s, v.was, v.today, e);
}
