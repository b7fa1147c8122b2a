/* PostgreSQL, by libpq, which is loaded when such a database is opened. The tables are in a schema
 * of their own, "tl". Writers take turns by a lock of the database, so that row numbers grow in the
 * order of commits, as in a file. */
#include <assert.h>
#include <dlfcn.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/record.h"
#include "lib/store/db.h"

enum {
	PARAMETERS = 16,
	POLL_MS = 100,
	DEAF_S = 10, /* a program that was told to stop waits no longer for an answer */
};

/* ---- the library ---- */

#define FUNCTIONS(X)                                                                               \
	X(PQconnectdbParams)                                                                       \
	X(PQstatus)                                                                                \
	X(PQerrorMessage)                                                                          \
	X(PQfinish)                                                                                \
	X(PQsocket)                                                                                \
	X(PQparameterStatus)                                                                       \
	X(PQsetNoticeProcessor)                                                                    \
	X(PQsendQuery)                                                                             \
	X(PQsendPrepare)                                                                           \
	X(PQsendQueryPrepared)                                                                     \
	X(PQenterPipelineMode)                                                                     \
	X(PQpipelineSync)                                                                          \
	X(PQexitPipelineMode)                                                                      \
	X(PQconsumeInput)                                                                          \
	X(PQisBusy)                                                                                \
	X(PQgetResult)                                                                             \
	X(PQgetCancel)                                                                             \
	X(PQcancel)                                                                                \
	X(PQfreeCancel)                                                                            \
	X(PQresultStatus)                                                                          \
	X(PQresultErrorField)                                                                      \
	X(PQcmdStatus)                                                                             \
	X(PQntuples)                                                                               \
	X(PQnfields)                                                                               \
	X(PQfname)                                                                                 \
	X(PQgetvalue)                                                                              \
	X(PQgetlength)                                                                             \
	X(PQgetisnull)                                                                             \
	X(PQclear)

#define MEMBER(name) __typeof__(name) *name;
static struct {
	void *handle;
	FUNCTIONS(MEMBER)
} pq;
#undef MEMBER

static int load(struct err *e)
{
	if (pq.handle)
		return 0;
	pq.handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!pq.handle)
		return err_set(e, "PostgreSQL's library cannot be loaded: %s", dlerror());
#define FIND(name)                                                                                 \
	if (!(*(void **)&pq.name = dlsym(pq.handle, #name)))                                       \
		return err_set(e, "PostgreSQL's library lacks " #name);
	FUNCTIONS(FIND)
#undef FIND
	return 0;
}

/* ---- names ---- */

static const char *const schemes[] = {"postgresql://", "postgres://"};

static const char *behind_scheme(const char *name)
{
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (!strncmp(name, schemes[i], strlen(schemes[i])))
			return name + strlen(schemes[i]);
	return NULL;
}

static int takes(const char *name)
{
	return behind_scheme(name) != NULL;
}

static int check_name(const char *name, struct err *e)
{
	(void)name; /* libpq looks closely at it, when it connects */
	(void)e;
	return 0;
}

static int is_there(const char *name, struct err *e)
{
	(void)name; /* open() finds out */
	(void)e;
	return 1;
}

/* The name without passwords, for sentences. */
static char *without_passwords(const char *name)
{
	char *out = xstrdup(name), *host = out + (behind_scheme(name) - name);
	char *at = host + strcspn(host, "/?"), *colon, *value;

	while (at > host && *at != '@')
		at--;
	if (*at == '@' && (colon = memchr(host, ':', (size_t)(at - host))))
		memmove(colon, at, strlen(at) + 1);
	while ((value = strstr(out, "password="))) {
		const size_t n = strcspn(value, "&");

		memmove(value, value + n, strlen(value + n) + 1);
	}
	return out;
}

/* ---- connection ---- */

struct connection {
	PGconn *c;
	int has_about; /* the table is there */
	int statements;
	int later; /* how many were sent whose answers were not read yet (later()) */
};

static struct connection *of(const struct store *s)
{
	return s->own;
}

static void one_line(struct buf *out, const char *text)
{
	while (strchr(" \n\t", *text) && *text)
		text++;
	buf_add(out, text, strcspn(text, "\n"));
}

/* "cannot WHAT the database NAME: ...", by what the server or the library says. Returns -1, and
 * frees the result. */
static int fail(struct store *s, const char *what, PGresult *r, struct err *e)
{
	const char *state = r ? pq.PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	const char *why = r ? pq.PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	struct buf line = BUF_INIT;
	int rc;

	if (state && !strcmp(state, "57014")) { /* it was cancelled, see await_answer() */
		rc = db_busy(s, what, e);
	} else {
		one_line(&line, why && *why ? why : pq.PQerrorMessage(of(s)->c));
		rc = err_set(e, "cannot %s the database %s: %s", what, s->path,
			     line.n ? line.s : "it does not answer");
	}
	buf_free(&line);
	pq.PQclear(r);
	return rc;
}

static void cancel(struct store *s)
{
	char why[256];
	PGcancel *order = pq.PQgetCancel(of(s)->c);

	if (order) {
		pq.PQcancel(order, why, sizeof why);
		pq.PQfreeCancel(order);
	}
}

static int is_good(const PGresult *r)
{
	const ExecStatusType status = pq.PQresultStatus(r);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Waits until an answer is here. What may wait for other writers waits as long as it may. -1: the
 * server does not answer a program that was told to stop. */
static int await_answer(struct store *s, int may_wait)
{
	PGconn *c = of(s)->c;
	const double since = clock_now();
	int cancelled = 0;

	while (pq.PQconsumeInput(c) && pq.PQisBusy(c)) {
		struct pollfd p = {.fd = pq.PQsocket(c), .events = POLLIN};

		if (poll(&p, 1, POLL_MS) > 0)
			continue;
		if (rec_stopped() && clock_now() - since > DEAF_S)
			return -1;
		if (may_wait && !cancelled && !db_may_wait(s, since)) {
			cancel(s);
			cancelled = 1;
		}
	}
	return 0;
}

/* Returns the one of two answers that counts: the first that tells of a failure, or else the later
 * one. It frees the other one. */
static PGresult *choose(PGresult *r, PGresult *next)
{
	PGresult *other = !r || is_good(r) ? r : next;

	r = other == next ? r : next;
	pq.PQclear(other);
	return r;
}

/* The answer to what was sent. NULL: the connection failed, or the server does not answer. */
static PGresult *wait_for(struct store *s, int may_wait)
{
	PGresult *r = NULL, *next;

	if (await_answer(s, may_wait))
		return NULL;
	while ((next = pq.PQgetResult(of(s)->c)))
		r = choose(r, next);
	return r;
}

/* The answers to n statements that were sent one behind the other, as above. */
static PGresult *collect(struct store *s, int n)
{
	PGconn *c = of(s)->c;
	PGresult *r = NULL, *sync;

	of(s)->later = 0;
	if (!pq.PQpipelineSync(c))
		return NULL;
	for (int i = 0; i < n; i++) {
		PGresult *next = wait_for(s, 0);

		if (!next) {
			pq.PQclear(r);
			return NULL;
		}
		r = i ? choose(r, next) : next;
	}
	if (await_answer(s, 0) == 0 && (sync = pq.PQgetResult(c)))
		pq.PQclear(sync);
	pq.PQexitPipelineMode(c);
	return r;
}

/* Reads the answers to what later() sent. */
static int settle(struct store *s, struct err *e)
{
	PGresult *r;

	if (!of(s)->later)
		return 0;
	r = collect(s, of(s)->later);
	if (!is_good(r))
		return fail(s, "write", r, e);
	pq.PQclear(r);
	return 0;
}

/* Runs a script. It ends at a statement that fails. */
static int run(struct store *s, const char *sql, int may_wait, const char *what, struct err *e)
{
	PGresult *r;

	if (settle(s, e))
		return -1;
	r = pq.PQsendQuery(of(s)->c, sql) ? wait_for(s, may_wait) : NULL;
	if (!is_good(r))
		return fail(s, what, r, e);
	pq.PQclear(r);
	return 0;
}

/* ---- SQLite's words ---- */

static const char *const words[][2] = {
	{"INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
	{"INTEGER", "BIGINT"},
	{"REAL", "DOUBLE PRECISION"},
	{"TEXT", "TEXT COLLATE \"C\""},
	{"BLOB", "BYTEA"},
	{"STRICT, WITHOUT ROWID", ""},
	{"STRICT", ""},
	{"json_each", "json_array_elements_text"},
	{"instr", "strpos"},
	{"clock_s()", "extract(epoch FROM statement_timestamp())::double precision"},
	{"/* SKIP LOCKED */", "FOR UPDATE SKIP LOCKED"},
};

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The length of a word at the place in a text that the table has, and its translation; or 0. */
static size_t find_word(const char *at, const char **translation)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const size_t n = strlen(words[i][0]);

		if (strncmp(at, words[i][0], n) != 0 || is_letter(at[n]))
			continue;
		*translation = words[i][1];
		return n;
	}
	return 0;
}

static void translate(const char *sql, struct buf *out)
{
	int parameter = 0;

	for (const char *at = sql; *at;) {
		const char *word = NULL;
		const size_t n = at > sql && is_letter(at[-1]) ? 0 : find_word(at, &word);

		if (n) {
			buf_str(out, word);
			at += n;
		} else if (*at == '?') {
			at++;
			buf_ch(out, '$');
			if (*at < '0' || *at > '9')
				buf_fmt(out, "%d", ++parameter);
		} else {
			buf_ch(out, *at++);
		}
	}
}

/* ---- statements ---- */

struct parameter {
	const char *value;
	int length, is_binary;
	char text[32]; /* of a number */
};

struct own {
	char name[16];
	struct parameter parameter[PARAMETERS];
	int parameters;
	PGresult *rows;
	int row;
	unsigned char bytes[64];
};

static int prepare(struct stmt *q, struct err *e)
{
	struct store *s = q->store;
	struct own *o;
	struct buf sql = BUF_INIT;
	PGresult *r;
	int rc = 0;

	if (settle(s, e))
		return -1;
	o = xcalloc(1, sizeof *o);
	snprintf(o->name, sizeof o->name, "tl%d", of(s)->statements++);
	translate(q->sql, &sql);
	r = pq.PQsendPrepare(of(s)->c, o->name, sql.s, 0, NULL) ? wait_for(s, 0) : NULL;
	if (is_good(r))
		pq.PQclear(r);
	else
		rc = fail(s, "use", r, e);
	buf_free(&sql);
	q->own = o;
	if (rc)
		free(o);
	return rc;
}

static void reset(struct stmt *q)
{
	struct own *o = q->own;

	pq.PQclear(o->rows);
	o->rows = NULL;
}

static void finish(struct stmt *q)
{
	reset(q);
	free(q->own);
}

static void bind(struct stmt *q, int i, const struct value *v)
{
	struct own *o = q->own;
	struct parameter *p = &o->parameter[i - 1];

	assert(i <= PARAMETERS);
	if (i > o->parameters)
		o->parameters = i;
	*p = (struct parameter){0};
	switch (v->type) {
	case VALUE_NULL:
		return;
	case VALUE_INTEGER:
		snprintf(p->text, sizeof p->text, "%lld", (long long)v->integer);
		break;
	case VALUE_NUMBER:
		snprintf(p->text, sizeof p->text, "%.17g", v->number);
		break;
	case VALUE_TEXT:
	case VALUE_BYTES:
		p->value = v->p ? v->p : "";
		p->length = (int)v->n;
		p->is_binary = 1;
		return;
	}
	p->value = p->text;
}

/* Sends a statement with its parameters. 0: the connection failed. */
static int send(struct stmt *q)
{
	struct own *o = q->own;
	const char *value[PARAMETERS];
	int length[PARAMETERS], is_binary[PARAMETERS];

	for (int i = 0; i < o->parameters; i++) {
		value[i] = o->parameter[i].value;
		length[i] = o->parameter[i].length;
		is_binary[i] = o->parameter[i].is_binary;
	}
	return pq.PQsendQueryPrepared(of(q->store)->c, o->name, o->parameters, value, length,
				      is_binary, 0);
}

static int execute(struct stmt *q, struct err *e)
{
	struct own *o = q->own;
	struct store *s = q->store;
	const int later = of(s)->later;
	PGresult *r = !send(q) ? NULL : later ? collect(s, later + 1) : wait_for(s, 0);

	if (!is_good(r))
		return fail(s, "use", r, e);
	o->rows = r;
	o->row = -1;
	return 0;
}

/* The answer is read with that of the next statement, so that nobody waits for it. */
static int later(struct stmt *q, struct err *e)
{
	struct connection *c = of(q->store);

	if ((!c->later && !pq.PQenterPipelineMode(c->c)) || !send(q))
		return fail(q->store, "write", NULL, e);
	c->later++;
	return 0;
}

static int step(struct stmt *q, struct err *e)
{
	struct own *o = q->own;

	if (!o->rows && execute(q, e))
		return -1;
	if (++o->row < pq.PQntuples(o->rows))
		return 1;
	reset(q);
	return 0;
}

static unsigned hex_digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Bytes come as \x and hexadecimal digits. */
static void read_bytes(struct own *o, const char *text, size_t n, struct value *v)
{
	if (n < 2 || n / 2 - 1 > sizeof o->bytes)
		return;
	v->p = o->bytes;
	v->n = n / 2 - 1;
	for (size_t i = 0; i < v->n; i++)
		o->bytes[i] = (unsigned char)(hex_digit(text[2 * i + 2]) << 4 |
					      hex_digit(text[2 * i + 3]));
}

static struct value column(struct stmt *q, int i, enum value_type type)
{
	struct own *o = q->own;
	struct value v = {.type = type};
	const char *text;
	size_t n;

	if (!o->rows || pq.PQgetisnull(o->rows, o->row, i))
		return (struct value){.type = VALUE_NULL};
	text = pq.PQgetvalue(o->rows, o->row, i);
	n = (size_t)pq.PQgetlength(o->rows, o->row, i);
	switch (type) {
	case VALUE_NULL:
		break;
	case VALUE_INTEGER:
		v.integer = strtoll(text, NULL, 10);
		break;
	case VALUE_NUMBER:
		v.number = strtod(text, NULL);
		break;
	case VALUE_TEXT:
		v.p = text;
		v.n = n;
		break;
	case VALUE_BYTES:
		read_bytes(o, text, n, &v);
		break;
	}
	return v;
}

static const char *column_name(struct stmt *q, int i)
{
	struct own *o = q->own;

	return o->rows ? pq.PQfname(o->rows, i) : "?";
}

/* ---- what the database says of itself ---- */

/* A row of two numbers. */
static int two_numbers(struct store *s, const char *sql, int64_t n[2], struct err *e)
{
	PGresult *r;

	if (settle(s, e))
		return -1;
	r = pq.PQsendQuery(of(s)->c, sql) ? wait_for(s, 0) : NULL;
	if (!is_good(r))
		return fail(s, "use", r, e);
	for (int i = 0; i < 2; i++)
		n[i] = pq.PQntuples(r) ? strtoll(pq.PQgetvalue(r, 0, i), NULL, 10) : 0;
	pq.PQclear(r);
	return 0;
}

/* A schema of this name without that table belongs to someone else. */
static int about(struct store *s, struct about *a, struct err *e)
{
	int64_t n[2];

	*a = (struct about){0};
	if (!of(s)->has_about) {
		if (two_numbers(s,
				"SELECT count(*) FILTER(WHERE relname = 'about'), count(*)"
				" FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n"
				" ON n.oid = relnamespace WHERE nspname = 'tl'",
				n, e))
			return -1;
		of(s)->has_about = n[0] > 0;
		a->foreign = !n[0] && n[1];
	}
	if (!of(s)->has_about)
		return 0;
	if (two_numbers(s, "SELECT version, replayed FROM about", n, e))
		return -1;
	a->version = n[0];
	a->replayed = n[1] != 0;
	return 0;
}

static int set_about(struct store *s, const struct about *a, struct err *e)
{
	char sql[128];

	snprintf(sql, sizeof sql, "DELETE FROM about; INSERT INTO about VALUES(%lld, %d)",
		 (long long)a->version, a->replayed);
	return run(s, sql, 0, "write", e);
}

static int create(struct store *s, const char *tables, struct err *e)
{
	struct buf sql = BUF_INIT;
	int rc;

	buf_str(&sql,
		"CREATE SCHEMA IF NOT EXISTS tl;"
		"CREATE TABLE IF NOT EXISTS about(version BIGINT NOT NULL, replayed BIGINT NOT NULL);");
	translate(tables, &sql);
	rc = run(s, sql.s, 0, "make the tables of", e);
	of(s)->has_about = !rc;
	buf_free(&sql);
	return rc;
}

static int is_readonly(struct store *s)
{
	(void)s; /* writing will fail */
	return 0;
}

static int inspect(struct store *s, struct buf *report, struct err *e)
{
	(void)s; /* that is for its administrator: pg_amcheck, pg_checksums */
	(void)report;
	(void)e;
	return 0;
}

/* ---- opening ---- */

static void say_nothing(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static int open_uri(struct store *s, enum store_mode mode, struct err *e)
{
	/* Where a name is given twice, the later one counts: the address overrides. */
	const char *const names[] = {
		"connect_timeout",     "tcp_user_timeout", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "fallback_application_name",
		"client_encoding",     "dbname",	   NULL};
	const char *const values[] = {"10",	      "30000", "15",	"5", "3",
				      "tensor-lathe", "UTF8",  s->path, NULL};
	const char *encoding;
	char *uri = s->path;

	s->own = xcalloc(1, sizeof(struct connection));
	s->path = without_passwords(uri);
	if (load(e)) {
		free(uri);
		return -1;
	}
	of(s)->c = pq.PQconnectdbParams(names, values, 1);
	if (!of(s)->c)
		die_no_memory();
	if (pq.PQstatus(of(s)->c) != CONNECTION_OK) {
		/* libpq repeats an address that makes no sense to it, with its password. */
		if (strstr(pq.PQerrorMessage(of(s)->c), uri))
			err_set(e, "cannot open the database %s: this is no address", s->path);
		else
			fail(s, "open", NULL, e);
		free(uri);
		return -1;
	}
	free(uri);
	pq.PQsetNoticeProcessor(of(s)->c, say_nothing, NULL);
	encoding = pq.PQparameterStatus(of(s)->c, "server_encoding");
	if (!encoding || strcmp(encoding, "UTF8") != 0)
		return err_set(e, "the database %s has the encoding %s, and must have UTF8",
			       s->path, encoding ? encoding : "that is not known");
	if (run(s, "SET search_path TO tl; SET synchronous_commit TO on", 0, "open", e) ||
	    open_tables(s, mode, e))
		return -1;
	return mode == STORE_READ ? run(s, "SET default_transaction_read_only TO on", 0, "open", e)
				  : 0;
}

static void close_connection(struct store *s)
{
	if (s->own && of(s)->c)
		pq.PQfinish(of(s)->c);
	free(s->own);
}

static int is_lost(const struct store *s)
{
	return pq.PQstatus(of(s)->c) != CONNECTION_OK;
}

/* ---- batches ---- */

/* The number is "TLdb". Locks of this kind are each database's own. */
static int begin(struct store *s, struct err *e)
{
	return run(s, "BEGIN", 0, "write", e) ||
			       run(s, "SELECT pg_advisory_xact_lock(1414292578)", 1, "write", e)
		       ? -1
		       : 0;
}

static int commit(struct store *s, struct err *e)
{
	PGresult *r;

	if (settle(s, e))
		return -1;
	r = pq.PQsendQuery(of(s)->c, "COMMIT") ? wait_for(s, 0) : NULL;
	/* A batch in which something failed ends in a rollback, and that is no failure to the
	 * server. */
	if (!is_good(r) || strcmp(pq.PQcmdStatus(r), "COMMIT") != 0)
		return fail(s, "write", r, e);
	pq.PQclear(r);
	return 0;
}

static void rollback(struct store *s)
{
	struct err ignored = ERR_INIT;

	run(s, "ROLLBACK", 0, "write", &ignored);
}

const struct backend postgresql = {
	.takes = takes,
	.check_name = check_name,
	.is_there = is_there,
	.without_passwords = without_passwords,
	.open = open_uri,
	.close = close_connection,
	.is_lost = is_lost,
	.begin = begin,
	.commit = commit,
	.rollback = rollback,
	.create = create,
	.about = about,
	.set_about = set_about,
	.is_readonly = is_readonly,
	.inspect = inspect,
	.prepare = prepare,
	.finish = finish,
	.bind = bind,
	.step = step,
	.later = later,
	.reset = reset,
	.column = column,
	.column_name = column_name,
};
