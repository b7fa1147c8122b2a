/* One SQLite file with a rollback journal, synced at each commit. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/store/db.h"
#include "lib/store/pages.h"

enum {
	APPLICATION_ID = 0x544c6462, /* "TLdb" */
	REPLAYED_ID = 0x544c7270,    /* "TLrp": holds replayed results */
	CACHE_KIB = 128 * 1024,
};
static const double GAP_S = 0.006; /* longer than any wait of on_busy() */

struct connection {
	sqlite3 *db;
	double busy_since; /* clock_now() of the first refusal in a row */
	double committed;  /* clock_now() of the last commit; 0: none yet */
};

static sqlite3 *db_of(const struct store *s)
{
	return ((struct connection *)s->own)->db;
}

/* ---- names ---- */

static int takes(const char *name)
{
	(void)name; /* what no other kind takes */
	return 1;
}

/* SQLite takes some names for something else than a file's. */
static int check_name(const char *path, struct err *e)
{
	const char *scheme = strstr(path, "://");

	if (!*path)
		return err_status(e, EXIT_USAGE, "the name of the database is empty");
	if (!strncmp(path, "file:", 5) || *path == ':')
		return err_status(e, EXIT_USAGE,
				  "\"%s\" is no file's name for a database; ./%s would be one",
				  path, path);
	if (scheme && strcspn(path, "/") > (size_t)(scheme - path))
		return err_status(e, EXIT_USAGE,
				  "\"%.*s\" is no kind of database that is known: it is a file, or "
				  "postgresql://HOST/NAME",
				  (int)(scheme - path), path);
	return 0;
}

static int is_there(const char *path, struct err *e)
{
	if (!access(path, F_OK))
		return 1;
	return errno == ENOENT || errno == ENOTDIR
		       ? 0
		       : err_sys(e, "cannot look for the database %s", path);
}

static char *without_passwords(const char *path)
{
	(void)path;
	return NULL;
}

/* ---- failures ---- */

/* Fills e with what SQLite says went wrong, "cannot WHAT PATH: ...". Returns -1. */
static int fail(struct store *s, const char *what, struct err *e)
{
	sqlite3 *db = db_of(s);
	int rc = sqlite3_errcode(db) & 0xff, system = sqlite3_system_errno(db);

	/* A failed commit keeps it to itself, and a failed read may be told as damage. */
	if (db && ((rc == SQLITE_IOERR && !system) || rc == SQLITE_CORRUPT))
		sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);

	if (rc == SQLITE_NOMEM)
		die_no_memory();
	if (db && sqlite3_extended_errcode(db) == SQLITE_IOERR_DATA)
		return db_damaged(s, "a page is not as it was written", e);
	if (db && sqlite3_extended_errcode(db) == SQLITE_READONLY_DBMOVED)
		return err_set(e,
			       "cannot %s the database %s: its file was moved or removed meanwhile",
			       what, s->path);
	if (rc == SQLITE_BUSY)
		return db_busy(s, what, e);
	if (system && (rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN || rc == SQLITE_CORRUPT))
		return err_set(e, "cannot %s the database %s: %s (%s)", what, s->path,
			       sqlite3_errmsg(db), strerror(system));
	return err_set(e, "cannot %s the database %s: %s", what, s->path, sqlite3_errmsg(db));
}

/* ---- statements ---- */

static int run(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(db_of(s), sql, NULL, NULL, NULL) ? fail(s, "use", e) : 0;
}

static int prepare(struct stmt *q, struct err *e)
{
	sqlite3_stmt *own;

	if (sqlite3_prepare_v3(db_of(q->store), q->sql, -1, SQLITE_PREPARE_PERSISTENT, &own, NULL))
		return fail(q->store, "use", e);
	q->own = own;
	return 0;
}

static void finish(struct stmt *q)
{
	sqlite3_finalize(q->own);
}

static void bind(struct stmt *q, int i, const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		sqlite3_bind_null(q->own, i);
		break;
	case VALUE_INTEGER:
		sqlite3_bind_int64(q->own, i, v->integer);
		break;
	case VALUE_NUMBER:
		sqlite3_bind_double(q->own, i, v->number);
		break;
	case VALUE_TEXT:
		sqlite3_bind_text(q->own, i, v->p, (int)v->n, SQLITE_STATIC);
		break;
	case VALUE_BYTES:
		sqlite3_bind_blob(q->own, i, v->p, (int)v->n, SQLITE_STATIC);
		break;
	}
}

static void reset(struct stmt *q)
{
	sqlite3_reset(q->own);
}

static int step(struct stmt *q, struct err *e)
{
	int rc = sqlite3_step(q->own);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		fail(q->store, sqlite3_stmt_readonly(q->own) ? "read" : "write", e);
	reset(q);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int later(struct stmt *q, struct err *e)
{
	return step(q, e) < 0 ? -1 : 0;
}

static struct value column(struct stmt *q, int i, enum value_type type)
{
	struct value v = {.type = type};

	if (sqlite3_column_type(q->own, i) == SQLITE_NULL)
		return (struct value){.type = VALUE_NULL};
	switch (type) {
	case VALUE_NULL:
		break;
	case VALUE_INTEGER:
		v.integer = sqlite3_column_int64(q->own, i);
		break;
	case VALUE_NUMBER:
		v.number = sqlite3_column_double(q->own, i);
		break;
	case VALUE_TEXT:
		if (!(v.p = sqlite3_column_text(q->own, i)))
			die_no_memory();
		v.n = (size_t)sqlite3_column_bytes(q->own, i);
		break;
	case VALUE_BYTES:
		v.p = sqlite3_column_blob(q->own, i);
		v.n = (size_t)sqlite3_column_bytes(q->own, i);
		break;
	}
	return v;
}

static const char *column_name(struct stmt *q, int i)
{
	return sqlite3_column_name(q->own, i);
}

/* ---- what the file says of itself ---- */

static int pragma_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(db_of(s), sql, -1, &q, NULL))
		return fail(s, "open", e);
	if (sqlite3_step(q) != SQLITE_ROW) {
		fail(s, "open", e);
		sqlite3_finalize(q);
		return -1;
	}
	*v = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return 0;
}

static int set_pragma(struct store *s, const char *name, int64_t v, struct err *e)
{
	char sql[64];

	snprintf(sql, sizeof sql, "PRAGMA %s = %lld", name, (long long)v);
	return run(s, sql, e);
}

static int read_about(struct store *s, struct about *a, struct err *e)
{
	int64_t application, tables;

	if (pragma_int(s, "PRAGMA application_id", &application, e) ||
	    pragma_int(s, "PRAGMA user_version", &a->version, e) ||
	    pragma_int(s, "SELECT count(*) FROM sqlite_schema", &tables, e))
		return -1;
	a->replayed = application == REPLAYED_ID;
	a->foreign = application != APPLICATION_ID && !a->replayed &&
		     (application || a->version || tables);
	return 0;
}

/* In a transaction, or another process may make the tables between two looks. */
static int about(struct store *s, struct about *a, struct err *e)
{
	if (!sqlite3_get_autocommit(db_of(s)))
		return read_about(s, a, e);
	return run(s, "BEGIN", e) || read_about(s, a, e) ? -1 : run(s, "COMMIT", e);
}

static int set_about(struct store *s, const struct about *a, struct err *e)
{
	return set_pragma(s, "application_id", a->replayed ? REPLAYED_ID : APPLICATION_ID, e) ||
			       set_pragma(s, "user_version", a->version, e)
		       ? -1
		       : 0;
}

static int is_readonly(struct store *s)
{
	return sqlite3_db_readonly(db_of(s), "main") == 1;
}

/* Adds a line to the report for each row of the query, but for one that says ok. */
static int report_rows(struct store *s, const char *sql, const char *before, const char *behind,
		       struct buf *report, struct err *e)
{
	struct stmt *q = db_sql(s, sql, e);
	int rc;

	if (!q)
		return -1;
	while ((rc = step(q, e)) > 0) {
		const char *text = db_given(q, 0, NULL, e);

		if (!text)
			return -1;
		if (strcmp(text, "ok") != 0)
			buf_fmt(report, "%s%s%s\n", before, text, behind);
	}
	return rc;
}

static int inspect(struct store *s, struct buf *report, struct err *e)
{
	return report_rows(s, "PRAGMA integrity_check(20)", "", "", report, e) ||
			       report_rows(s, "PRAGMA foreign_key_check", "table ",
					   " has a row without its parent", report, e)
		       ? -1
		       : 0;
}

/* ---- opening ---- */

/* Others hold the file: wait a few milliseconds, not the same for everyone. SQLite's own waits grow
 * to 100 ms, in which a writer that works in batches, one after the other, would leave no gap long
 * enough to be found. */
static int on_busy(void *arg, int times)
{
	struct store *s = arg;
	struct connection *c = s->own;
	unsigned mix = ((unsigned)getpid() * 2654435761u + (unsigned)times * 40503u) >> 13;
	struct timespec t = {0, 500000 + (long)(mix % 4096) * 1000};

	if (!times)
		c->busy_since = clock_now();
	if (!db_may_wait(s, c->busy_since))
		return 0;
	nanosleep(&t, NULL);
	return 1;
}

/* The database's clock is this machine's. */
static void clock_s(sqlite3_context *c, int n, sqlite3_value **arg)
{
	struct timespec t;

	(void)n;
	(void)arg;
	clock_gettime(CLOCK_REALTIME, &t);
	sqlite3_result_double(c, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
}

/* journal_mode: never WAL, which SQLite before 3.51.3 can corrupt when writers and checkpoints
 * meet. Of the rollback journals TRUNCATE is the one whose end of commit is synced by
 * synchronous=FULL, so that what was passed on survives a power cut. */
static int configure(struct store *s, enum store_mode mode, struct err *e)
{
	static const char journal[] = "PRAGMA journal_mode = TRUNCATE";
	sqlite3_stmt *q;
	int rc;

	sqlite3_busy_handler(db_of(s), on_busy, s);
	sqlite3_create_function(db_of(s), "clock_s", 0, SQLITE_UTF8, NULL, clock_s, NULL, NULL);
	sqlite3_extended_result_codes(db_of(s), 1);
	if (sqlite3_prepare_v2(db_of(s), journal, -1, &q, NULL))
		return fail(s, "open", e);
	rc = sqlite3_step(q) == SQLITE_ROW &&
	     !strcmp((const char *)sqlite3_column_text(q, 0), "truncate");
	sqlite3_finalize(q);
	if (!rc)
		return sqlite3_errcode(db_of(s))
			       ? fail(s, "open", e)
			       : err_set(e, "%s cannot be given a rollback journal", s->path);
	if (run(s, "PRAGMA synchronous = FULL", e) || set_pragma(s, "cache_size", -CACHE_KIB, e) ||
	    open_tables(s, mode, e))
		return -1;
	/* A batch that outgrew the cache would lock readers out before its commit. */
	return run(s, mode == STORE_READ ? "PRAGMA query_only = ON" : "PRAGMA cache_spill = OFF",
		   e);
}

/* Explains a failure to open. A killed writer leaves its journal beside the database, and the next
 * process that opens the database rolls it back. A process without the permission fails, and this
 * says why. It is called only after a failure, because a journal in use is no reason to fail. */
static void explain_journal(struct store *s, struct err *e)
{
	struct buf journal = BUF_INIT, folder = BUF_INIT;
	const char *slash = strrchr(s->path, '/');
	struct stat st;

	buf_fmt(&journal, "%s-journal", s->path);
	buf_fmt(&folder, "%.*s", slash ? (int)(slash - s->path + 1) : 1, slash ? s->path : ".");
	if (e->status != EXIT_BUSY && !stat(journal.s, &st) && st.st_size &&
	    (access(s->path, W_OK) || access(journal.s, R_OK | W_OK) || access(folder.s, W_OK)))
		err_set(e,
			"the database %s was left half written by a writer that was killed; only "
			"who may write it, %s and their folder can open it next",
			s->path, journal.s);
	buf_free(&journal);
	buf_free(&folder);
}

static int connect_file(struct store *s, enum store_mode mode, struct err *e)
{
	struct connection *c = xcalloc(1, sizeof *c);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	const char *vfs;

	s->own = c;
	if (file_check("the database", s->path, e))
		return -1;
	/* Reading may have to roll back what a killed writer left, so it opens for writing, too;
	 * SQLite opens a file without write permission for reading only. */
	if (mode == STORE_WRITE)
		flags |= SQLITE_OPEN_CREATE;
	else if (access(s->path, R_OK))
		return err_sys(e, "cannot read the database %s", s->path);
	/* NULL would mean SQLite's own layer, whose pages count as damaged. It fails only where
	 * SQLite finds no memory to begin. */
	vfs = pages_vfs();
	if (!vfs)
		die_no_memory();
	if (sqlite3_open_v2(s->path, &c->db, flags, vfs))
		return fail(s, "open", e);
	pages_reserve(c->db);
	/* SQLite opens for reading a file that it cannot open for writing. */
	if (mode != STORE_WRITE || !is_readonly(s))
		return 0;
	return access(s->path, W_OK)
		       ? err_sys(e, "cannot write the database %s", s->path)
		       : err_set(e, "cannot open the database %s for writing", s->path);
}

static int open_file(struct store *s, enum store_mode mode, struct err *e)
{
	if (connect_file(s, mode, e))
		return -1;
	if (!configure(s, mode, e))
		return 0;
	explain_journal(s, e);
	return -1;
}

static int is_lost(const struct store *s)
{
	(void)s;
	return 0;
}

static void close_file(struct store *s)
{
	if (s->own)
		sqlite3_close(db_of(s));
	free(s->own);
}

/* ---- batches ---- */

/* A process that waits for the database tries every few milliseconds (on_busy). It would never find
 * the lock free if another writer began again right after each commit, so this leaves a gap. */
static int begin(struct store *s, struct err *e)
{
	const struct connection *c = s->own;
	const double left = c->committed + GAP_S - clock_now();

	if (left > 0)
		nanosleep(&(struct timespec){0, (long)(left * 1e9)}, NULL);
	return run(s, "BEGIN IMMEDIATE", e);
}

static int commit(struct store *s, struct err *e)
{
	struct connection *c = s->own;

	if (sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL))
		return fail(s, "write", e);
	c->committed = clock_now();
	return 0;
}

static void rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(db_of(s)))
		sqlite3_exec(db_of(s), "ROLLBACK", NULL, NULL, NULL);
}

const struct backend sqlite = {
	.takes = takes,
	.check_name = check_name,
	.is_there = is_there,
	.without_passwords = without_passwords,
	.open = open_file,
	.close = close_file,
	.is_lost = is_lost,
	.begin = begin,
	.commit = commit,
	.rollback = rollback,
	.create = run,
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
