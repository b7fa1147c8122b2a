/* Opening, and batches. */
#include <stdlib.h>

#include "lib/store/db.h"
#include "lib/store/tally.h"
#include "lib/store/schema.h"

/* Which version of the tables is there? 0: none. */
static int read_about(struct store *s, struct about *a, struct err *e)
{
	if (s->backend->about(s, a, e))
		return -1;
	if (a->foreign)
		return err_set(e, "%s is a database of another program", s->path);
	s->replayed = a->replayed;
	s->version = a->version;
	if (a->version > SCHEMA_VERSION)
		return err_set(e, "%s was made by a newer version (schema %lld; this one knows %d)",
			       s->path, (long long)a->version, SCHEMA_VERSION);
	return 0;
}

/* A reader takes an older version as it is. */
static int is_enough(const struct about *a, enum store_mode mode)
{
	return a->version == SCHEMA_VERSION || (a->version && mode == STORE_READ);
}

static int make_steps(struct store *s, struct about *a, struct err *e)
{
	for (; a->version < SCHEMA_VERSION; a->version++)
		if (s->backend->create(s, schema_steps[a->version], e))
			return -1;
	s->version = a->version;
	return s->backend->set_about(s, a, e);
}

int open_tables(struct store *s, enum store_mode mode, struct err *e)
{
	struct about a;

	if (read_about(s, &a, e))
		return -1;
	if (is_enough(&a, mode))
		return 0;
	if (s->backend->is_readonly(s))
		return err_set(e, "the database %s is empty, and cannot be written", s->path);
	/* Another process may do it meanwhile: what counts is the version under the lock. */
	if (store_begin(s, e) || read_about(s, &a, e) ||
	    (a.version < SCHEMA_VERSION && make_steps(s, &a, e)))
		return -1;
	return store_commit(s, e);
}

struct store *store_open(const char *path, enum store_mode mode, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);

	s->backend = backend_of(path);
	s->path = xstrdup(path);
	if (!s->backend->check_name(path, e) && !s->backend->open(s, mode, e))
		return s;
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->nstmt; i++)
		s->backend->finish(&s->stmt[i]);
	s->backend->close(s); /* rolls back what is open */
	map_free(&s->workloads);
	map_free(&s->envs);
	map_free(&s->runs);
	map_free(&s->noted);
	tally_forget(s);
	arena_free(&s->scratch);
	buf_free(&s->text);
	door_free(&s->door);
	json_free(&s->door_doc);
	free(s->path);
	free(s);
}

int store_is_replayed(const struct store *s)
{
	return s->replayed;
}

/* 1: it holds results, or ends; 0; -1. */
static int holds_any(struct store *s, struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT (SELECT count(*) FROM (SELECT 1 FROM results LIMIT 1) AS r)"
				" + (SELECT count(*) FROM (SELECT 1 FROM ends LIMIT 1) AS n)",
				e);
	int any;

	if (!q || db_step(q, e) < 0)
		return -1;
	any = db_int(q, 0) > 0;
	db_reset(q);
	return any;
}

int store_make_replayed(struct store *s, struct err *e)
{
	const struct about a = {.version = SCHEMA_VERSION, .replayed = 1};
	int measured;

	if (store_begin(s, e) || (measured = holds_any(s, e)) < 0)
		goto fail;
	if (s->replayed)
		return store_commit(s, e);
	if (measured) {
		err_set(e,
			"the database %s holds what was measured; what is replayed wants one "
			"of its own",
			s->path);
		goto fail;
	}
	if (s->backend->set_about(s, &a, e) == 0 && store_commit(s, e) == 0) {
		s->replayed = 1;
		return 0;
	}
fail:
	store_rollback(s);
	return -1;
}

/* Batches */

/* After opening, another process may have settled which kind of results the database holds, and a
 * newer version may have changed the tables: it keeps what we would not. */
int store_begin(struct store *s, struct err *e)
{
	struct about a;

	if (s->backend->begin(s, e))
		return -1;
	s->in_batch = 1;
	return read_about(s, &a, e);
}

int store_is_lost(const struct store *s)
{
	return s->backend->is_lost(s);
}

double store_waited(const struct store *s)
{
	return s->waited;
}

int store_commit(struct store *s, struct err *e)
{
	if (tally_flush(s, e) || s->backend->commit(s, e))
		return -1;
	s->in_batch = 0;
	return 0;
}

void store_rollback(struct store *s)
{
	s->backend->rollback(s);
	s->in_batch = 0;
	tally_forget(s);
	map_free(&s->workloads);
	map_free(&s->envs);
	map_free(&s->runs);
	map_free(&s->noted);
}
