/* Inside of lib/store: the connection and its prepared statements. */
#ifndef TL_STORE_DB_H
#define TL_STORE_DB_H

#include <sqlite3.h>

#include "lib/base/map.h"
#include "lib/door/door.h"
#include "lib/store/store.h"

enum { DB_STATEMENTS = 64 };

struct store {
	sqlite3 *db;
	char *path;
	int replayed;	   /* what kind of results it holds */
	double busy_since; /* clock_now() of the first refusal in a row */
	int busy_said;	   /* the user was told of the wait */
	double waited;	   /* the longest such row so far, in seconds */
	double committed;  /* clock_now() of the last commit; 0: none yet */
	int nstmt;
	struct {
		const char *sql; /* a literal: its address is the key */
		sqlite3_stmt *stmt;
	} stmt[DB_STATEMENTS];
	/* Ids to row numbers. A row is never removed, and never gets another number, so what was
	 * committed stays true; store_rollback() forgets all. */
	struct map workloads, envs, runs;
	struct map noted;   /* runs whose env was noted */
	struct map pending; /* of tally.c: what tally_flush() will write */
	struct arena pending_arena;
	struct arena scratch; /* of one store_put() */
	struct buf text;
	struct door door; /* for what is stored, and what is asked for */
	struct json_doc door_doc;
	struct door_refused refused;
};

/* Fills e with what SQLite says went wrong, "cannot WHAT PATH: ...". Returns -1. */
int db_fail(struct store *s, const char *what, struct err *e);
/* The statement of a literal, prepared once and kept; ready to be bound. NULL on failure. */
sqlite3_stmt *db_sql(struct store *s, const char *sql, struct err *e);
/* 1: a row; 0: done, and -1: failed, after which the statement is reset. */
int db_step(struct store *s, sqlite3_stmt *q, struct err *e);
/* Runs a script without results. */
int db_exec(struct store *s, const char *sql, struct err *e);

void db_bind_text(sqlite3_stmt *q, int i, const char *text);  /* NULL is null; not copied */
void db_bind_num(sqlite3_stmt *q, int i, double v);	      /* NAN is null */
double db_num(sqlite3_stmt *q, int i);			      /* null is NAN */
const char *db_text(sqlite3_stmt *q, int i, struct arena *a); /* null is NULL */
/* A text that is never null, for the schema says so; *n, unless n is NULL, gets its length. It is
 * there until the statement goes on. NULL if it is null all the same: the database is damaged, and
 * the statement was reset. */
const char *db_given(struct store *s, sqlite3_stmt *q, int i, size_t *n, struct err *e);
/* Hands the first column of each row, such a text, to `line`; then the statement is reset. -1: it
 * failed, or `line` did. */
int db_each(struct store *s, sqlite3_stmt *q, store_line_fn *line, void *arg, struct err *e);
/* The same as db_given(), copied. */
const char *db_given_copy(struct store *s, sqlite3_stmt *q, int i, struct arena *a, struct err *e);
/* A status; STATUS_NONE if it is none: the database is damaged, and the statement was reset. */
enum status db_status(struct store *s, sqlite3_stmt *q, int i, struct err *e);
/* The damage that a row shows, "the database PATH is damaged: WHAT". Returns -1. */
int db_damaged(struct store *s, const char *what, struct err *e);

/* The row number of an id that is stored; 0 if it is not. */
int db_workload(struct store *s, const char *id, int64_t *num, struct err *e);
int db_env(struct store *s, const char *id, int64_t *num, struct err *e);
int db_run(struct store *s, const char *id, int64_t *num, struct err *e);

#endif
