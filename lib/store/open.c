#include "lib/store/store.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/host/lock.h"
#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/io/record.h"
#include "lib/store/db.h"
#include "lib/store/pages.h"
#include "lib/store/tally.h"

enum {
	APPLICATION_ID = 0x544c6462, /* "TLdb" */
	REPLAYED_ID = 0x544c7270,    /* "TLrp": holds replayed results */
	BUSY_S = 120,
	SAID_S = 2, /* a program that waits longer tells its user */
	CACHE_KIB = 128 * 1024,
};
static const double GAP_S = 0.006; /* longer than any wait of on_busy() */

/* The tables of this version. A version that changes them has the next number, and reads this one.
 *
 * Results are narrow, and the texts of their records stand apart, so that counting and sorting
 * read little. Ids are numbers here: within a workload's results both indexes then grow in one
 * place, which keeps inserting fast when there are many. */
enum { VERSION = 1 };
static const char schema[] =
	"CREATE TABLE workloads("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	op TEXT NOT NULL,"
	"	prob TEXT NOT NULL,"
	"	dtype TEXT NOT NULL,"
	"	layout TEXT NOT NULL,"
	"	post TEXT NOT NULL," /* bias,relu */
	"	flops INTEGER NOT NULL,"
	"	record TEXT NOT NULL," /* its fields as JSON, without braces, count and source */
	"	candidates INTEGER NOT NULL DEFAULT 0" /* see tally.h */
	") STRICT;"
	"CREATE INDEX workloads_op ON workloads(op);"
	"CREATE TABLE sources("
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	source TEXT NOT NULL,"
	"	PRIMARY KEY(workload, source)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE envs("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	env TEXT" /* JSON */
	") STRICT;"
	"CREATE TABLE runs("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	env INTEGER REFERENCES envs"
	") STRICT;"
	/* since: when the candidate became the best known of its workload, or was confirmed as
	 * that. ratio: of a race, the incumbent's time over the candidate's; of a final, the
	 * baseline's. */
	"CREATE TABLE results("
	"	num INTEGER PRIMARY KEY,"
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	candidate BLOB NOT NULL," /* the id's 16 bytes */
	"	env INTEGER NOT NULL REFERENCES envs,"
	"	run INTEGER NOT NULL REFERENCES runs,"
	"	final INTEGER NOT NULL," /* stage: 1 final, 0 race */
	"	status TEXT NOT NULL,"
	"	latency_s REAL,"
	"	baseline_s REAL,"
	"	core_s REAL,"
	"	at TEXT NOT NULL,"
	"	since TEXT,"
	"	ratio REAL"
	") STRICT;"
	"CREATE UNIQUE INDEX results_key ON results(workload, candidate, env, run, final);"
	"CREATE INDEX results_best ON results(workload, env, since DESC, final DESC, latency_s,"
	"	candidate) WHERE status = 'ok';"
	"CREATE TABLE records("
	"	num INTEGER PRIMARY KEY REFERENCES results,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE TABLE tallies(" /* see tally.h */
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	env INTEGER NOT NULL REFERENCES envs,"
	"	status TEXT NOT NULL,"
	"	results INTEGER NOT NULL,"
	"	candidates INTEGER NOT NULL,"
	"	core_us INTEGER NOT NULL,"
	"	PRIMARY KEY(workload, env, status)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE ends("
	"	num INTEGER PRIMARY KEY,"
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	run INTEGER NOT NULL REFERENCES runs,"
	"	key BLOB NOT NULL," /* hash of the record in canonical form */
	"	drawn INTEGER, kept INTEGER, refused INTEGER, measured INTEGER,"
	"	preempted INTEGER, failed INTEGER, built INTEGER,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE UNIQUE INDEX ends_key ON ends(workload, run, key);"
	/* To sum a workload's ends without reading their records, and to find the last. */
	"CREATE INDEX ends_counts ON ends(workload, run, drawn, kept, refused, measured, preempted,"
	"	failed, built);"
	"CREATE INDEX ends_last ON ends(workload);"
	/* What runs cost. A run is known here by its id's text, and so is the one that it is a part
	 * of, which need not be known at all. */
	"CREATE TABLE costs("
	"	num INTEGER PRIMARY KEY,"
	"	run TEXT NOT NULL UNIQUE,"
	"	part_of TEXT,"
	"	at TEXT NOT NULL,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX costs_part_of ON costs(part_of) WHERE part_of NOT NULL;";

/* Where */

static int make_folder(const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	buf_str(&b, path);
	for (char *p = b.s + 1; !rc && (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(b.s, 0777) && errno != EEXIST)
			rc = err_sys(e, "cannot make the folder %s", b.s);
		*p = '/';
	}
	buf_free(&b);
	return rc;
}

int store_default_path(const char *given, enum store_mode mode, struct buf *out, struct err *e)
{
	const char *db = getenv("TL_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (!given && db && *db)
		given = db;
	if (given) {
		buf_str(out, given);
		return 0;
	}
	if (data && *data == '/') /* a relative one is to be ignored, says the specification */
		buf_str(out, data);
	else if (home && *home)
		buf_fmt(out, "%s/.local/share", home);
	else
		return err_set(e, "there is no place for the database: neither -d, TL_DB, "
				  "XDG_DATA_HOME nor HOME is given");
	buf_str(out, "/tl/tl.db");
	return mode == STORE_WRITE ? make_folder(out->s, e) : 0;
}

/* SQLite takes some names for something else than a file's. */
static int check_name(const char *path, struct err *e)
{
	if (!*path)
		return err_status(e, EXIT_USAGE, "the name of the database is empty");
	if (!strncmp(path, "file:", 5) || *path == ':')
		return err_status(e, EXIT_USAGE,
				  "\"%s\" is no file's name for a database; ./%s would be one",
				  path, path);
	return 0;
}

int store_is_there(const char *path, struct err *e)
{
	if (check_name(path, e))
		return -1;
	if (!access(path, F_OK))
		return 1;
	return errno == ENOENT || errno == ENOTDIR
		       ? 0
		       : err_sys(e, "cannot look for the database %s", path);
}

int store_find(const char *given, struct buf *path, struct err *e)
{
	struct buf folder = BUF_INIT;
	const char *slash;
	int rc;

	if (store_default_path(given, STORE_READ, path, e))
		return -1;
	rc = store_is_there(path->s, e);
	if (rc || !given)
		return rc;
	slash = strrchr(path->s, '/');
	buf_fmt(&folder, "%.*s", slash ? (int)(slash - path->s + 1) : 1, slash ? path->s : ".");
	if (access(folder.s, F_OK))
		rc = err_sys(e, "cannot look for the database %s", path->s);
	buf_free(&folder);
	return rc;
}

/* Statements */

int db_fail(struct store *s, const char *what, struct err *e)
{
	int rc = sqlite3_errcode(s->db) & 0xff, system = sqlite3_system_errno(s->db);

	/* A failed commit keeps it to itself, and a failed read may be told as damage. */
	if (s->db && ((rc == SQLITE_IOERR && !system) || rc == SQLITE_CORRUPT))
		sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);

	if (rc == SQLITE_NOMEM)
		die_no_memory();
	if (s->db && sqlite3_extended_errcode(s->db) == SQLITE_IOERR_DATA)
		return db_damaged(s, "a page is not as it was written", e);
	if (rc == SQLITE_BUSY && rec_stopped())
		return err_set(e, "%s", ""); /* the signal says it */
	if (rc == SQLITE_BUSY)
		return err_status(e, EXIT_BUSY,
				  "cannot %s the database %s: others held it for %d seconds", what,
				  s->path, BUSY_S);
	if (system && (rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN || rc == SQLITE_CORRUPT))
		return err_set(e, "cannot %s the database %s: %s (%s)", what, s->path,
			       sqlite3_errmsg(s->db), strerror(system));
	return err_set(e, "cannot %s the database %s: %s", what, s->path, sqlite3_errmsg(s->db));
}

sqlite3_stmt *db_sql(struct store *s, const char *sql, struct err *e)
{
	sqlite3_stmt *q;

	for (int i = 0; i < s->nstmt; i++)
		if (s->stmt[i].sql == sql)
			return s->stmt[i].stmt;
	assert(s->nstmt < DB_STATEMENTS);
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q, NULL)) {
		db_fail(s, "use", e);
		return NULL;
	}
	s->stmt[s->nstmt].sql = sql;
	s->stmt[s->nstmt++].stmt = q;
	return q;
}

int db_step(struct store *s, sqlite3_stmt *q, struct err *e)
{
	int rc = sqlite3_step(q);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		db_fail(s, sqlite3_stmt_readonly(q) ? "read" : "write", e);
	sqlite3_reset(q);
	return rc == SQLITE_DONE ? 0 : -1;
}

int db_exec(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? db_fail(s, "use", e) : 0;
}

void db_bind_text(sqlite3_stmt *q, int i, const char *text)
{
	sqlite3_bind_text(q, i, text, -1, SQLITE_STATIC);
}

void db_bind_num(sqlite3_stmt *q, int i, double v)
{
	sqlite3_bind_double(q, i, v); /* stores NaN as NULL */
}

double db_num(sqlite3_stmt *q, int i)
{
	return sqlite3_column_type(q, i) == SQLITE_NULL ? NAN : sqlite3_column_double(q, i);
}

const char *db_text(sqlite3_stmt *q, int i, struct arena *a)
{
	const char *text = (const char *)sqlite3_column_text(q, i);

	return text ? arena_strndup(a, text, (size_t)sqlite3_column_bytes(q, i)) : NULL;
}

int db_damaged(struct store *s, const char *what, struct err *e)
{
	return err_set(e, "the database %s is damaged: %s", s->path, what);
}

const char *db_given(struct store *s, sqlite3_stmt *q, int i, size_t *n, struct err *e)
{
	const char *text = (const char *)sqlite3_column_text(q, i);

	if (!text) {
		if (sqlite3_errcode(s->db) == SQLITE_NOMEM)
			die_no_memory();
		err_set(e, "the database %s is damaged: a row lacks its \"%s\"", s->path,
			sqlite3_column_name(q, i));
		sqlite3_reset(q);
		return NULL;
	}
	if (n)
		*n = (size_t)sqlite3_column_bytes(q, i);
	return text;
}

enum status db_status(struct store *s, sqlite3_stmt *q, int i, struct err *e)
{
	const char *name = db_given(s, q, i, NULL, e);
	enum status status = name ? status_find(name) : STATUS_NONE;

	if (name && !status) {
		err_set(e, "the database %s is damaged: \"%s\" is no status", s->path, name);
		sqlite3_reset(q);
	}
	return status;
}

int db_each(struct store *s, sqlite3_stmt *q, store_line_fn *line, void *arg, struct err *e)
{
	int rc;

	while ((rc = db_step(s, q, e)) > 0) {
		size_t n;
		const char *text = db_given(s, q, 0, &n, e);

		if (!text || line(arg, text, n, e)) {
			rc = -1;
			break;
		}
	}
	sqlite3_reset(q);
	return rc;
}

const char *db_given_copy(struct store *s, sqlite3_stmt *q, int i, struct arena *a, struct err *e)
{
	size_t n;
	const char *text = db_given(s, q, i, &n, e);

	return text ? arena_strndup(a, text, n) : NULL;
}

static int find_num(struct store *s, struct map *known, const char *sql, const char *id,
		    int64_t *num, struct err *e)
{
	sqlite3_stmt *q;
	int rc;

	*num = (intptr_t)map_get(known, id, strlen(id));
	if (*num)
		return 0;
	if (!(q = db_sql(s, sql, e)))
		return -1;
	db_bind_text(q, 1, id);
	rc = db_step(s, q, e);
	if (rc == 1) {
		*num = sqlite3_column_int64(q, 0);
		*map_put(known, id, strlen(id), NULL) = (void *)(intptr_t)*num;
		sqlite3_reset(q);
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

/* Opening */

/* Tells the user once that the program waits. */
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

/* Others hold the file: wait a few milliseconds, not the same for everyone, as long as it is no
 * longer than BUSY_S in all. SQLite's own waits grow to 100 ms, in which a writer that works in
 * batches, one after the other, would leave no gap long enough to be found. */
static int on_busy(void *arg, int times)
{
	struct store *s = arg;
	unsigned mix = ((unsigned)getpid() * 2654435761u + (unsigned)times * 40503u) >> 13;
	struct timespec t = {0, 500000 + (long)(mix % 4096) * 1000};

	double now = clock_now();

	if (!times)
		s->busy_since = now;
	s->waited = fmax(s->waited, now - s->busy_since);
	if (now - s->busy_since > BUSY_S || rec_stopped())
		return 0;
	if (now - s->busy_since > SAID_S)
		say_busy(s);
	nanosleep(&t, NULL);
	return 1;
}

static int pragma_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL))
		return db_fail(s, "open", e);
	if (sqlite3_step(q) != SQLITE_ROW) {
		db_fail(s, "open", e);
		sqlite3_finalize(q);
		return -1;
	}
	*v = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return 0;
}

/* Is this a database of ours, and of which version? 0: it is empty. Wants a transaction, or another
 * process may make the database between two looks. */
static int read_version(struct store *s, int64_t *version, struct err *e)
{
	int64_t application, tables;

	if (pragma_int(s, "PRAGMA application_id", &application, e) ||
	    pragma_int(s, "PRAGMA user_version", version, e) ||
	    pragma_int(s, "SELECT count(*) FROM sqlite_schema", &tables, e))
		return -1;
	s->replayed = application == REPLAYED_ID;
	if (application != APPLICATION_ID && !s->replayed && (application || *version || tables))
		return err_set(e, "%s is a database of another program", s->path);
	if (*version > VERSION)
		return err_set(e, "%s was made by a newer version (schema %lld; this one knows %d)",
			       s->path, (long long)*version, VERSION);
	return 0;
}

/* Makes the tables, where the file is empty. */
static int set_pragma(struct store *s, const char *name, int v, struct err *e)
{
	char sql[64];

	snprintf(sql, sizeof sql, "PRAGMA %s = %d", name, v);
	return db_exec(s, sql, e);
}

static int make_tables(struct store *s, struct err *e)
{
	int64_t version;

	if (db_exec(s, "BEGIN", e) || read_version(s, &version, e) || store_commit(s, e))
		return -1;
	if (version == VERSION)
		return 0;
	if (sqlite3_db_readonly(s->db, "main") == 1)
		return err_set(e, "the database %s is empty, and cannot be written", s->path);
	/* Another process may do it meanwhile: what counts is the version under the lock. */
	if (store_begin(s, e) || read_version(s, &version, e))
		return -1;
	if (version == VERSION)
		return store_commit(s, e);
	if (db_exec(s, schema, e) || set_pragma(s, "application_id", APPLICATION_ID, e) ||
	    set_pragma(s, "user_version", VERSION, e))
		return -1;
	return store_commit(s, e);
}

/* journal_mode: never WAL, which SQLite before 3.51.3 can corrupt when writers and checkpoints
 * meet. Of the rollback journals TRUNCATE is the one whose end of commit is synced by
 * synchronous=FULL, so that what was passed on survives a power cut. */
static int configure(struct store *s, enum store_mode mode, struct err *e)
{
	static const char journal[] = "PRAGMA journal_mode = TRUNCATE";
	sqlite3_stmt *q;
	int rc;

	sqlite3_busy_handler(s->db, on_busy, s);
	sqlite3_extended_result_codes(s->db, 1);
	if (sqlite3_prepare_v2(s->db, journal, -1, &q, NULL))
		return db_fail(s, "open", e);
	rc = sqlite3_step(q) == SQLITE_ROW &&
	     !strcmp((const char *)sqlite3_column_text(q, 0), "truncate");
	sqlite3_finalize(q);
	if (!rc)
		return sqlite3_errcode(s->db)
			       ? db_fail(s, "open", e)
			       : err_set(e, "%s cannot be given a rollback journal", s->path);
	if (db_exec(s, "PRAGMA synchronous = FULL", e) ||
	    set_pragma(s, "cache_size", -CACHE_KIB, e) || make_tables(s, e))
		return -1;
	/* A batch that outgrew the cache would lock readers out before its commit. */
	return db_exec(
		s, mode == STORE_READ ? "PRAGMA query_only = ON" : "PRAGMA cache_spill = OFF", e);
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
			"who may "
			"write it, %s and their folder can open it next",
			s->path, journal.s);
	buf_free(&journal);
	buf_free(&folder);
}

struct store *store_open(const char *path, enum store_mode mode, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	const char *vfs;

	s->path = xstrdup(path);
	if (check_name(path, e) || file_check("the database", path, e)) {
		store_close(s);
		return NULL;
	}
	/* Reading may have to roll back what a killed writer left, so it opens for writing, too;
	 * SQLite opens a file without write permission for reading only. */
	if (mode == STORE_WRITE)
		flags |= SQLITE_OPEN_CREATE;
	else if (access(path, R_OK)) {
		err_sys(e, "cannot read the database %s", path);
		store_close(s);
		return NULL;
	}
	/* NULL would mean SQLite's own layer, whose pages count as damaged. It fails only where
	 * SQLite finds no memory to begin. */
	vfs = pages_vfs();
	if (!vfs)
		die_no_memory();
	if (sqlite3_open_v2(path, &s->db, flags, vfs)) {
		db_fail(s, "open", e);
		store_close(s);
		return NULL;
	}
	pages_reserve(s->db);
	/* What cannot be opened for writing, SQLite opens for reading. */
	if (mode == STORE_WRITE && sqlite3_db_readonly(s->db, "main") == 1) {
		errno = 0;
		if (access(path, W_OK))
			err_sys(e, "cannot write the database %s", path);
		else
			err_set(e, "cannot open the database %s for writing", path);
		store_close(s);
		return NULL;
	}
	if (configure(s, mode, e)) {
		explain_journal(s, e);
		store_close(s);
		return NULL;
	}
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->nstmt; i++)
		sqlite3_finalize(s->stmt[i].stmt);
	sqlite3_close(s->db); /* rolls back what is open */
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

int store_make_replayed(struct store *s, struct err *e)
{
	int64_t measured = 0;

	if (store_begin(s, e) ||
	    pragma_int(s, "SELECT EXISTS(SELECT 1 FROM results) OR EXISTS(SELECT 1 FROM ends)",
		       &measured, e))
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
	if (set_pragma(s, "application_id", REPLAYED_ID, e) == 0 && store_commit(s, e) == 0) {
		s->replayed = 1;
		return 0;
	}
fail:
	store_rollback(s);
	return -1;
}

/* Batches */

/* A process that waits for the database tries every few milliseconds (on_busy). It would never find
 * the lock free if another writer began again right after each commit, so this leaves a gap. After
 * opening, another process may have settled which kind of results the database holds. */
int store_begin(struct store *s, struct err *e)
{
	double left = s->committed + GAP_S - clock_now();
	int64_t application, version;

	if (left > 0)
		nanosleep(&(struct timespec){0, (long)(left * 1e9)}, NULL);
	if (db_exec(s, "BEGIN IMMEDIATE", e) ||
	    pragma_int(s, "PRAGMA application_id", &application, e))
		return -1;
	s->replayed = application == REPLAYED_ID;
	/* A newer version may have changed the schema since we opened the database: it keeps what
	 * we would not. */
	return read_version(s, &version, e);
}

double store_waited(const struct store *s)
{
	return s->waited;
}

int store_commit(struct store *s, struct err *e)
{
	if (tally_flush(s, e))
		return -1;
	if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL))
		return db_fail(s, "write", e);
	s->committed = clock_now();
	return 0;
}

void store_rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	tally_forget(s);
	map_free(&s->workloads);
	map_free(&s->envs);
	map_free(&s->runs);
	map_free(&s->noted);
}
