#include "lib/store/units.h"

#include <math.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/io/record.h"
#include "lib/store/db.h"
#include "lib/store/row.h"

enum { OPEN, LEASED, DONE }; /* the column "state" */

static const char *const owned[] = {"unit", "claim", NULL};
/* The time of the round that made the unit is not the unit's: it may be taken at any time. */
static const char *const opened[] = {"unit", "claim", "until", NULL};

/* ---- opening ---- */

/* The id of a workload's unit. */
static int unit_id(const struct json_doc *d, const char *workload_id, const char *env_id,
		   struct id *id, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "round");
	struct buf text = BUF_INIT;
	int64_t round = 0;

	if (v && (json_int(v, &round) || round < 0))
		return err_set(e, "\"round\" is not a count");
	buf_fmt(&text, "%s %s %lld", workload_id, env_id ? env_id : "any", (long long)round);
	hash_id(id, text.s, text.n);
	buf_free(&text);
	return 0;
}

/* Has the workload a unit in this env that is not done? 1; 0; -1. */
static int has_open(struct store *s, int64_t workload, const char *env_id, struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT count(*) FROM units"
				" WHERE workload = ? AND state < 2 AND coalesce(env, '') = ?",
				e);
	int any;

	if (!q)
		return -1;
	db_bind_int(q, 1, workload);
	db_bind_text(q, 2, env_id ? env_id : "");
	if (db_step(q, e) < 0)
		return -1;
	any = db_int(q, 0) > 0;
	db_reset(q);
	return any;
}

enum store_put units_open(struct store *s, const struct json_doc *d, const char *env_id,
			  struct err *e)
{
	struct stmt *q = db_sql(s,
				"INSERT INTO units(id, workload, env, record, state, taken)"
				" VALUES(?, ?, ?, ?, 0, 0) ON CONFLICT DO NOTHING RETURNING num",
				e);
	struct buf none = BUF_INIT;
	const char *workload_id;
	int64_t workload;
	struct id id;
	int there;

	if (!q)
		return STORE_FAILED;
	if (row_id(d, d->tok, "workload_id", &s->scratch, &workload_id, e) ||
	    unit_id(d, workload_id, env_id, &id, e))
		return STORE_BAD;
	if (db_workload(s, workload_id, &workload, e) ||
	    (there = has_open(s, workload, env_id, e)) < 0)
		return STORE_FAILED;
	if (there)
		return STORE_KNOWN;
	buf_ch(&none, '{');
	buf_clear(&s->text);
	field_rewrite(d, &none, opened, &s->text);
	buf_free(&none);
	db_bind_text(q, 1, id.s);
	db_bind_int(q, 2, workload);
	db_bind_text(q, 3, env_id);
	db_bind_string(q, 4, s->text.s, s->text.n);
	there = db_insert(q, NULL, e);
	return there < 0 ? STORE_FAILED : there ? STORE_NEW : STORE_KNOWN;
}

/* ---- ends ---- */

/* Was the group broken off, so that its unit is not done? */
static int is_broken_off(const struct json_doc *d)
{
	const struct json *why = json_get(d, d->tok, "why");

	return json_is(why, "stopped") || json_is(why, "out of time");
}

static int set_done(struct store *s, const char *unit, int64_t workload, struct err *e)
{
	struct stmt *q = db_sql(s,
				"UPDATE units SET state = 2, lease_end = clock_s()"
				" WHERE id = ? AND workload = ? AND state < 2",
				e);

	if (!q)
		return -1;
	db_bind_text(q, 1, unit);
	db_bind_int(q, 2, workload);
	return db_step(q, e) < 0 ? -1 : 0;
}

static int open_again(struct store *s, const char *unit, const char *claim, struct err *e)
{
	struct stmt *q =
		db_sql(s, "UPDATE units SET state = 0 WHERE id = ? AND claim = ? AND state = 1", e);

	if (!q)
		return -1;
	db_bind_text(q, 1, unit);
	db_bind_text(q, 2, claim);
	return db_step(q, e) < 0 ? -1 : 0;
}

int units_end(struct store *s, const struct json_doc *d, const char *workload_id, struct err *e)
{
	const char *unit = NULL, *claim = "";
	int64_t workload;

	json_str(json_get(d, d->tok, "unit"), &s->scratch, &unit);
	json_str(json_get(d, d->tok, "claim"), &s->scratch, &claim);
	if (!unit)
		return 0;
	if (is_broken_off(d))
		return open_again(s, unit, claim, e);
	return db_workload(s, workload_id, &workload, e) || set_done(s, unit, workload, e) ? -1 : 0;
}

/* ---- claims ---- */

/* The unit's record with what a taker must know. It keeps a time of its own that is earlier. */
static int take_line(struct stmt *q, const char *claim, const char *until, struct json_doc *d,
		     struct buf *out, struct err *e)
{
	struct buf set = BUF_INIT;
	const char *unit = db_given(q, 0, NULL, e), *text;
	const struct json *own;
	char earlier[40] = "";
	size_t n;

	if (!unit || !(text = db_given(q, 1, &n, e)))
		return -1;
	if (json_parse(d, text, n, e))
		return err_in(e, "a unit in the database %s", q->store->path);
	own = json_get(d, d->tok, "until");
	if (own && own->type == JSON_STR && own->n < sizeof earlier)
		memcpy(earlier, own->s, own->n);
	buf_ch(&set, '{');
	field_text(&set, "unit", unit);
	field_text(&set, "claim", claim);
	field_text(&set, "until", *earlier && strcmp(earlier, until) < 0 ? earlier : until);
	field_rewrite(d, &set, owned, out);
	buf_ch(out, '\n');
	buf_free(&set);
	return 0;
}

/* Lapsed units come first. Each kind has an index of its own, so that a claim does not pass over
 * all that are leased. */
static struct stmt *bind_claim(struct store *s, const struct units_taker *t, const char *claim,
			       int64_t n, struct err *e)
{
	struct stmt *q = db_sql(
		s,
		"WITH chosen AS MATERIALIZED ("
		" SELECT num FROM (SELECT num FROM units WHERE state = 1 AND lease_end < clock_s()"
		"  AND (env IS NULL OR env = ?1) ORDER BY lease_end LIMIT ?2 /* SKIP LOCKED */) AS lapsed"
		" UNION ALL"
		" SELECT num FROM (SELECT num FROM units WHERE state = 0"
		"  AND (env IS NULL OR env = ?1) ORDER BY num LIMIT ?2 /* SKIP LOCKED */) AS open"
		" LIMIT ?2)"
		" UPDATE units SET state = 1, claim = ?3, holder = ?4, lease_end = clock_s() + ?5,"
		" taken = taken + 1 WHERE num IN (SELECT num FROM chosen) RETURNING id, record",
		e);

	if (!q)
		return NULL;
	db_bind_text(q, 1, t->env_id);
	db_bind_int(q, 2, n);
	db_bind_text(q, 3, claim);
	db_bind_text(q, 4, t->holder);
	db_bind_num(q, 5, t->lease_s);
	return q;
}

int64_t units_claim(struct store *s, const struct units_taker *t, int64_t n, store_line_fn *line,
		    void *arg, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf lines = BUF_INIT;
	int64_t taken = 0, ms;
	char until[25];
	struct id claim;
	struct stmt *q;
	int rc = -1;

	rec_run_id(&claim);
	rec_now(until);
	if (!(q = bind_claim(s, t, claim.s, n, e)))
		return -1;
	/* By this machine's clock the lease ends before it does by the database's. */
	if (!rec_time_read(until, &ms))
		rec_time(ms + (int64_t)(t->lease_s * 1000), until);
	while ((rc = db_step(q, e)) > 0) {
		if (take_line(q, claim.s, until, &d, &lines, e)) {
			db_reset(q);
			rc = -1;
			break;
		}
		taken++;
	}
	for (const char *p = lines.s, *nl; rc == 0 && p && p < lines.s + lines.n; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(lines.s + lines.n - p));
		rc = line(arg, p, (size_t)(nl - p), e);
	}
	json_free(&d);
	buf_free(&lines);
	return rc < 0 ? -1 : taken;
}

static int64_t count_rows(struct stmt *q, struct err *e)
{
	int64_t n = 0;
	int rc;

	while ((rc = db_step(q, e)) > 0)
		n++;
	return rc < 0 ? -1 : n;
}

int64_t units_renew(struct store *s, const char *claim, double lease_s, struct err *e)
{
	struct stmt *q = db_sql(s,
				"UPDATE units SET lease_end = clock_s() + ?1"
				" WHERE claim = ?2 AND state = 1 RETURNING num",
				e);

	if (!q)
		return -1;
	db_bind_num(q, 1, lease_s);
	db_bind_text(q, 2, claim);
	return count_rows(q, e);
}

int64_t units_release(struct store *s, const char *claim, struct err *e)
{
	struct stmt *q = db_sql(
		s, "UPDATE units SET state = 0 WHERE claim = ? AND state = 1 RETURNING num", e);

	if (!q)
		return -1;
	db_bind_text(q, 1, claim);
	return count_rows(q, e);
}

/* ---- counts ---- */

/* Version 1 had no units. */
static int has_units(const struct store *s)
{
	return s->version > 1;
}

enum { LATELY_S = 3600 };

static int count_units(struct store *s, struct arena *a, struct units_count **count, int *n,
		       struct err *e)
{
	struct stmt *q = db_sql(
		s,
		"SELECT env, count(*) FILTER(WHERE state = 0),"
		" count(*) FILTER(WHERE state = 1 AND lease_end >= clock_s()),"
		" count(*) FILTER(WHERE state = 1 AND lease_end < clock_s()),"
		" count(*) FILTER(WHERE state = 2),"
		" count(*) FILTER(WHERE state = 2 AND lease_end > clock_s() - ?1),"
		" clock_s() - min(lease_end) FILTER(WHERE state = 2 AND lease_end > clock_s() - ?1)"
		" FROM units GROUP BY env ORDER BY env IS NOT NULL, env",
		e);
	int rc;

	if (!q)
		return -1;
	db_bind_num(q, 1, LATELY_S);
	while ((rc = db_step(q, e)) > 0) {
		struct units_count *c = arena_add(a, count, n, sizeof *c);

		*c = (struct units_count){
			db_text(q, 0, a), db_int(q, 1), db_int(q, 2), db_int(q, 3),
			db_int(q, 4),	  db_int(q, 5), NAN};
		if (c->lately)
			c->rate = (double)c->lately / fmax(db_num(q, 6), 1);
	}
	return rc;
}

static int find_holders(struct store *s, struct arena *a, struct units_holder **holder, int *n,
			struct err *e)
{
	struct stmt *q = db_sql(s,
				"SELECT holder, count(*) FILTER(WHERE lease_end >= clock_s()),"
				" count(*) FILTER(WHERE lease_end < clock_s()),"
				" clock_s() - min(lease_end) FROM units WHERE state = 1"
				" GROUP BY holder ORDER BY holder",
				e);
	int rc;

	if (!q)
		return -1;
	while ((rc = db_step(q, e)) > 0) {
		struct units_holder *h = arena_add(a, holder, n, sizeof *h);

		*h = (struct units_holder){db_given_copy(q, 0, a, e), db_int(q, 1), db_int(q, 2),
					   fmax(db_num(q, 3), 0)};
		if (!h->name)
			return -1;
	}
	return rc;
}

int units_count(struct store *s, struct arena *a, struct units_count **count, int *n, struct err *e)
{
	*count = NULL;
	*n = 0;
	return has_units(s) ? count_units(s, a, count, n, e) : 0;
}

int units_holders(struct store *s, struct arena *a, struct units_holder **holder, int *n,
		  struct err *e)
{
	*holder = NULL;
	*n = 0;
	return has_units(s) ? find_holders(s, a, holder, n, e) : 0;
}
