/* Envs: those that have results, and the one to answer for. */
#include <string.h>

#include "lib/host/env.h"
#include "lib/store/db.h"

/* A row of an id and what is known of the env. */
static int take_env(struct stmt *q, struct arena *a, struct store_env *env, struct err *e)
{
	if (!(env->id = db_given_copy(q, 0, a, e)))
		return -1;
	env->json = db_text(q, 1, a);
	return 0;
}

/* By the last run that began in each. */
int store_envs(struct store *s, struct arena *a, struct store_env **env, int *n, struct err *e)
{
	int rc;
	struct stmt *q = db_sql(s,
				"SELECT envs.id, envs.env, max(runs.num) AS latest FROM envs"
				" JOIN runs ON runs.env = envs.num GROUP BY envs.num"
				" ORDER BY latest DESC, envs.id",
				e);

	*env = NULL;
	*n = 0;
	if (!q)
		return -1;
	while ((rc = db_step(q, e)) > 0) {
		struct store_env x = {0};

		if (take_env(q, a, &x, e))
			return -1;
		*(struct store_env *)arena_add(a, env, n, sizeof x) = x;
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
	struct stmt *q;
	int rc;

	*env = (struct store_env){.id = arena_strdup(a, id)};
	if (!s)
		return 1;
	/* By its id, or by the first digits that no other has. */
	q = db_sql(
		s,
		"SELECT id, env FROM envs WHERE id = ?1 OR (?2 > 0 AND substr(id, 1, length(?1)) ="
		" ?1 AND (SELECT count(*) FROM envs WHERE substr(id, 1, length(?1)) = ?1) = 1)"
		" ORDER BY id <> ?1",
		e);
	if (!q)
		return -1;
	db_bind_text(q, 1, id);
	db_bind_int(q, 2, is_prefix(id));
	if ((rc = db_step(q, e)) < 0)
		return -1;
	if (rc) { /* else nothing was measured there yet */
		if (take_env(q, a, env, e))
			return -1;
	}
	db_reset(q);
	return 1;
}

static int env_latest(struct store *s, struct arena *a, struct store_env *env, struct err *e)
{
	struct stmt *q;
	int rc;

	*env = (struct store_env){0};
	if (!s)
		return 0;
	q = db_sql(s,
		   "SELECT id, envs.env FROM envs JOIN results ON results.env = envs.num"
		   " ORDER BY results.num DESC LIMIT 1",
		   e);
	if (!q || (rc = db_step(q, e)) < 0)
		return -1;
	if (rc) {
		if (take_env(q, a, env, e))
			return -1;
	}
	db_reset(q);
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
	struct stmt *q = db_sql(s,
				"SELECT envs.id, count(*), max(at),"
				" (SELECT count(DISTINCT workload) FROM tallies"
				"  WHERE tallies.env = envs.num)"
				" FROM results JOIN envs ON envs.num = results.env"
				" GROUP BY envs.num",
				e);
	int rc;

	*count = NULL;
	*n = 0;
	if (!q)
		return -1;
	while ((rc = db_step(q, e)) > 0) {
		struct store_env_count c = {
			.id = db_given_copy(q, 0, a, e),
			.results = db_int(q, 1),
			.workloads = db_int(q, 3),
		};

		if (!c.id || !(c.newest = db_given_copy(q, 2, a, e)))
			return -1;
		*(struct store_env_count *)arena_add(a, count, n, sizeof c) = c;
	}
	return rc;
}
