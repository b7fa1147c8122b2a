#include "lib/store/db.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/host/lock.h"
#include "lib/io/clock.h"
#include "lib/io/record.h"
#include "lib/store/row.h"

enum { SAID_S = 2 }; /* a program that waits longer tells its user */

/* ---- waiting for others ---- */

static void say_busy(struct store *s)
{
	struct buf sentence = BUF_INIT;

	if (s->busy_said)
		return;
	s->busy_said = 1;
	buf_fmt(&sentence, "others hold the database %s", s->path);
	lock_say(sentence.s);
	buf_free(&sentence);
}

int db_may_wait(struct store *s, double since)
{
	const double waited = clock_now() - since;

	s->waited = fmax(s->waited, waited);
	if (waited > DB_BUSY_S || rec_stopped())
		return 0;
	if (waited > SAID_S)
		say_busy(s);
	return 1;
}

int db_busy(struct store *s, const char *what, struct err *e)
{
	if (rec_stopped())
		return err_set(e, "%s", ""); /* the signal says it */
	return err_status(e, EXIT_BUSY, "cannot %s the database %s: others held it for %d seconds",
			  what, s->path, DB_BUSY_S);
}

/* ---- statements ---- */

struct stmt *db_sql(struct store *s, const char *sql, struct err *e)
{
	struct stmt *q = &s->stmt[s->nstmt];

	for (int i = 0; i < s->nstmt; i++)
		if (s->stmt[i].sql == sql)
			return &s->stmt[i];
	assert(s->nstmt < DB_STATEMENTS);
	*q = (struct stmt){.store = s, .sql = sql};
	if (s->backend->prepare(q, e))
		return NULL;
	s->nstmt++;
	return q;
}

int db_step(struct stmt *q, struct err *e)
{
	return q->store->backend->step(q, e);
}

int db_later(struct stmt *q, struct err *e)
{
	return q->store->backend->later(q, e);
}

void db_reset(struct stmt *q)
{
	q->store->backend->reset(q);
}

int db_insert(struct stmt *q, int64_t *num, struct err *e)
{
	int rc = db_step(q, e);

	if (rc <= 0)
		return rc;
	if (num)
		*num = db_int(q, 0);
	return db_step(q, e) < 0 ? -1 : 1;
}

/* ---- parameters ---- */

static void bind(struct stmt *q, int i, struct value v)
{
	q->store->backend->bind(q, i, &v);
}

void db_bind_null(struct stmt *q, int i)
{
	bind(q, i, (struct value){.type = VALUE_NULL});
}

void db_bind_int(struct stmt *q, int i, int64_t v)
{
	bind(q, i, (struct value){.type = VALUE_INTEGER, .integer = v});
}

void db_bind_num(struct stmt *q, int i, double v)
{
	bind(q, i, (struct value){.type = isnan(v) ? VALUE_NULL : VALUE_NUMBER, .number = v});
}

void db_bind_text(struct stmt *q, int i, const char *text)
{
	if (text)
		db_bind_string(q, i, text, strlen(text));
	else
		db_bind_null(q, i);
}

void db_bind_string(struct stmt *q, int i, const char *text, size_t n)
{
	bind(q, i, (struct value){.type = VALUE_TEXT, .p = text, .n = n});
}

void db_bind_bytes(struct stmt *q, int i, const void *p, size_t n)
{
	bind(q, i, (struct value){.type = VALUE_BYTES, .p = p, .n = n});
}

/* ---- columns ---- */

static struct value column(struct stmt *q, int i, enum value_type type)
{
	return q->store->backend->column(q, i, type);
}

int db_is_null(struct stmt *q, int i)
{
	return column(q, i, VALUE_INTEGER).type == VALUE_NULL;
}

int64_t db_int(struct stmt *q, int i)
{
	return column(q, i, VALUE_INTEGER).integer;
}

double db_num(struct stmt *q, int i)
{
	const struct value v = column(q, i, VALUE_NUMBER);

	return v.type == VALUE_NULL ? NAN : v.number;
}

int64_t db_sum(struct stmt *q, int i)
{
	const double v = db_num(q, i);

	return isnan(v) ? 0 : v < (double)JSON_MOST_INT ? (int64_t)v : JSON_MOST_INT;
}

const char *db_text(struct stmt *q, int i, struct arena *a)
{
	const struct value v = column(q, i, VALUE_TEXT);

	return v.type == VALUE_NULL ? NULL : arena_strndup(a, v.p, v.n);
}

int db_damaged(struct store *s, const char *what, struct err *e)
{
	return err_set(e, "the database %s is damaged: %s", s->path, what);
}

int db_id(struct stmt *q, int i, struct id *id, struct err *e)
{
	const struct value v = column(q, i, VALUE_BYTES);

	if (v.n == ID_HEX / 2) {
		row_hex(v.p, id);
		return 0;
	}
	db_reset(q);
	return db_damaged(q->store, "an id has the wrong length", e);
}

const char *db_given(struct stmt *q, int i, size_t *n, struct err *e)
{
	const struct value v = column(q, i, VALUE_TEXT);

	if (v.type == VALUE_NULL) {
		err_set(e, "the database %s is damaged: a row lacks its \"%s\"", q->store->path,
			q->store->backend->column_name(q, i));
		db_reset(q);
		return NULL;
	}
	if (n)
		*n = v.n;
	return v.p;
}

const char *db_given_copy(struct stmt *q, int i, struct arena *a, struct err *e)
{
	size_t n;
	const char *text = db_given(q, i, &n, e);

	return text ? arena_strndup(a, text, n) : NULL;
}

enum status db_status(struct stmt *q, int i, struct err *e)
{
	const char *name = db_given(q, i, NULL, e);
	enum status status = name ? status_find(name) : STATUS_NONE;

	if (name && !status) {
		err_set(e, "the database %s is damaged: \"%s\" is no status", q->store->path, name);
		db_reset(q);
	}
	return status;
}

int db_each(struct stmt *q, store_line_fn *line, void *arg, struct err *e)
{
	int rc;

	while ((rc = db_step(q, e)) > 0) {
		size_t n;
		const char *text = db_given(q, 0, &n, e);

		if (!text || line(arg, text, n, e)) {
			rc = -1;
			break;
		}
	}
	db_reset(q);
	return rc;
}

/* ---- row numbers ---- */

static int find_num(struct store *s, struct map *known, const char *sql, const char *id,
		    int64_t *num, struct err *e)
{
	struct stmt *q;
	int rc;

	*num = (intptr_t)map_get(known, id, strlen(id));
	if (*num)
		return 0;
	if (!(q = db_sql(s, sql, e)))
		return -1;
	db_bind_text(q, 1, id);
	rc = db_step(q, e);
	if (rc == 1) {
		*num = db_int(q, 0);
		*map_put(known, id, strlen(id), NULL) = (void *)(intptr_t)*num;
		db_reset(q);
	}
	return rc < 0 ? -1 : 0;
}

int db_workload(struct store *s, const char *id, int64_t *num, struct err *e)
{
	return find_num(s, &s->workloads, "SELECT num FROM workloads WHERE id = ?", id, num, e);
}

int db_env(struct store *s, const char *id, int64_t *num, struct err *e)
{
	return find_num(s, &s->envs, "SELECT num FROM envs WHERE id = ?", id, num, e);
}

int db_run(struct store *s, const char *id, int64_t *num, struct err *e)
{
	return find_num(s, &s->runs, "SELECT num FROM runs WHERE id = ?", id, num, e);
}
