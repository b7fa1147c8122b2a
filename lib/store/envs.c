/* Envs: those that have results, and the one to answer for. */
#include <string.h>

#include "lib/host/env.h"
#include "lib/store/db.h"

/* A row of an id and what is known of the env. */
static int take_env(struct store *s, sqlite3_stmt *q, struct arena *a, struct store_env *env,
		    struct err *e)
{
	if (!(env->id = db_given_copy(s, q, 0, a, e)))
		return -1;
	env->json = db_text(q, 1, a);
	return 0;
}

/* By the last run that began in each. */
int store_envs(struct store *s, struct arena *a, struct store_env **env, int *n, struct err *e)
{
	int cap = 0, rc;
	sqlite3_stmt *q = db_sql(s,
				 "SELECT id, env, (SELECT max(runs.num) FROM runs"
				 " WHERE runs.env = envs.num) AS last FROM envs"
				 " WHERE last NOT NULL ORDER BY last DESC, id",
				 e);

	*env = NULL;
	*n = 0;
	if (!q)
		return -1;
	while ((rc = db_step(s, q, e)) > 0) {
		if (*n == cap) {
			struct store_env *more = arena_array(a, struct store_env, cap * 2 + 8);

			if (*n)
				memcpy(more, *env, (size_t)*n * sizeof *more);
			*env = more;
			cap = cap * 2 + 8;
		}
		if (take_env(s, q, a, &(*env)[(*n)++], e))
			return -1;
	}
	return rc;
}

/* Enough hexadecimal digits to mean one env. */
static int is_prefix(const char *id)
{
	const size_t n = strlen(id);

	return n >= ID_PREFIX && n < ID_HEX && hash_is_hex(id, n);
}

static int env_given(struct store *s, const char *id, struct arena *a, struct store_env *env,
		     struct err *e)
{
	sqlite3_stmt *q;
	int rc;

	*env = (struct store_env){.id = arena_strdup(a, id)};
	if (!s)
		return 1;
	/* By its id, or by the first digits that no other has. */
	q = db_sql(s,
		   "SELECT id, env FROM envs WHERE id = ?1 OR (?2 AND substr(id, 1, length(?1)) ="
		   " ?1 AND (SELECT count(*) FROM envs WHERE substr(id, 1, length(?1)) = ?1) = 1)"
		   " ORDER BY id <> ?1",
		   e);
	if (!q)
		return -1;
	db_bind_text(q, 1, id);
	sqlite3_bind_int(q, 2, is_prefix(id));
	if ((rc = db_step(s, q, e)) < 0)
		return -1;
	if (rc) { /* else nothing was measured there yet */
		if (take_env(s, q, a, env, e))
			return -1;
	}
	sqlite3_reset(q);
	return 1;
}

static int env_latest(struct store *s, struct arena *a, struct store_env *env, struct err *e)
{
	sqlite3_stmt *q;
	int rc;

	*env = (struct store_env){0};
	if (!s)
		return 0;
	q = db_sql(s,
		   "SELECT id, envs.env FROM envs JOIN results ON results.env = envs.num"
		   " ORDER BY results.num DESC LIMIT 1",
		   e);
	if (!q || (rc = db_step(s, q, e)) < 0)
		return -1;
	if (rc) {
		if (take_env(s, q, a, env, e))
			return -1;
	}
	sqlite3_reset(q);
	return rc;
}

int store_env_here(struct store *s, const struct target *target, const char *given, struct arena *a,
		   struct store_env *env, struct err *e)
{
	struct env here = {0};
	struct err why = ERR_INIT;
	int rc;

	if (given)
		return env_given(s, given, a, env, e);
	rc = env_here(&here, target, &why);
	if (rc == 0) {
		*env = (struct store_env){arena_strdup(a, here.id.s),
					  arena_strndup(a, here.json.s, here.json.n), NULL};
		env_free(&here);
		return 1;
	}
	env_free(&here);
	if (rc < 0) {
		*e = why;
		return -1;
	}
	rc = env_latest(s, a, env, e);
	if (rc > 0)
		env->doubt = arena_strdup(a, why.msg);
	return rc;
}

/* All envs by one scan of the results, which no index orders by env and time. */
int store_env_counts(struct store *s, struct arena *a, struct store_env_count **count, int *n,
		     struct err *e)
{
	sqlite3_stmt *q = db_sql(s,
				 "SELECT envs.id, count(*), max(at),"
				 " (SELECT count(DISTINCT workload) FROM tallies"
				 "  WHERE tallies.env = envs.num)"
				 " FROM results JOIN envs ON envs.num = results.env"
				 " GROUP BY results.env",
				 e);
	int cap = 0, rc;

	*count = NULL;
	*n = 0;
	if (!q)
		return -1;
	while ((rc = db_step(s, q, e)) > 0) {
		if (*n == cap) {
			struct store_env_count *more =
				arena_array(a, struct store_env_count, cap * 2 + 8);

			if (*n)
				memcpy(more, *count, (size_t)*n * sizeof *more);
			*count = more;
			cap = cap * 2 + 8;
		}
		(*count)[*n] = (struct store_env_count){
			.id = db_given_copy(s, q, 0, a, e),
			.results = sqlite3_column_int64(q, 1),
			.workloads = sqlite3_column_int64(q, 3),
		};
		if (!(*count)[*n].id || !((*count)[*n].newest = db_given_copy(s, q, 2, a, e)))
			return -1;
		++*n;
	}
	return rc;
}
