/* Inside of lib/store: the connection and its statements, whatever database is behind them. */
#ifndef TL_STORE_DB_H
#define TL_STORE_DB_H

#include "lib/base/map.h"
#include "lib/door/door.h"
#include "lib/store/backend.h"
#include "lib/store/store.h"

enum { DB_STATEMENTS = 64 };

/* Counts by workload, env and status (tally.h). */
struct tallies {
	struct map count;
	struct arena arena;
};

struct store {
	const struct backend *backend;
	void *own;	 /* the backend's connection */
	char *path;	 /* the database's name */
	int64_t version; /* of the tables; a reader may meet an older one */
	int replayed;	 /* what kind of results it holds */
	int in_batch;	 /* between store_begin() and its end */
	int busy_said;	 /* the user was told of a wait */
	double waited;	 /* the longest wait for others so far, in seconds */
	int nstmt;
	struct stmt stmt[DB_STATEMENTS];
	/* Ids to row numbers. A row is never removed, and never gets another number, so what was
	 * committed stays true; store_rollback() forgets all. */
	struct map workloads, envs, runs;
	struct map noted;	/* runs whose env was noted */
	struct tallies pending; /* what tally_flush() will write */
	struct arena scratch;	/* of one store_put() */
	struct buf text;
	struct door door; /* for what is stored, and what is asked for */
	struct json_doc door_doc;
	struct door_refused refused;
};

/* The longest that a writer waits for others. */
enum { DB_BUSY_S = 120 };

/* Others have held the database since then (clock_now()). May this process go on waiting? It tells
 * its user of a long wait. */
int db_may_wait(struct store *s, double since);
/* Tells of a wait that was in vain: "cannot WHAT the database PATH: others held it for 120
 * seconds". Returns -1. */
int db_busy(struct store *s, const char *what, struct err *e);

/* The statement of a literal, prepared once and kept; ready to be bound. NULL on failure. */
struct stmt *db_sql(struct store *s, const char *sql, struct err *e);
/* 1: a row; 0: done, and -1: failed, after which the statement is reset. */
int db_step(struct stmt *q, struct err *e);
/* Runs a statement without rows in a batch. What fails may fail the next statement instead. */
int db_later(struct stmt *q, struct err *e);
void db_reset(struct stmt *q);
/* Runs a statement that may insert a row and then returns its number. 1: it did, *num is that; 0:
 * the row was there; -1. num may be NULL. */
int db_insert(struct stmt *q, int64_t *num, struct err *e);

void db_bind_null(struct stmt *q, int i);
void db_bind_int(struct stmt *q, int i, int64_t v);
void db_bind_num(struct stmt *q, int i, double v);	    /* NAN is null */
void db_bind_text(struct stmt *q, int i, const char *text); /* NULL is null; not copied */
void db_bind_string(struct stmt *q, int i, const char *text, size_t n);
void db_bind_bytes(struct stmt *q, int i, const void *p, size_t n);

int db_is_null(struct stmt *q, int i);
int64_t db_int(struct stmt *q, int i); /* null is 0 */
double db_num(struct stmt *q, int i);  /* null is NAN */
/* A sum of whole numbers, "sum(x * 1.0)": one of integers fails if it is larger than they can be.
 * No more than the largest whole number of a record; null is 0. */
int64_t db_sum(struct stmt *q, int i);
const char *db_text(struct stmt *q, int i, struct arena *a); /* null is NULL */
/* The candidate's id that a column of bytes holds. -1: it holds none, the database is damaged, and
 * the statement was reset. */
int db_id(struct stmt *q, int i, struct id *id, struct err *e);
/* A text that is never null, for the schema says so; *n, unless n is NULL, gets its length. It is
 * there until the statement goes on. NULL if it is null all the same: the database is damaged, and
 * the statement was reset. */
const char *db_given(struct stmt *q, int i, size_t *n, struct err *e);
/* Hands the first column of each row, such a text, to `line`; then the statement is reset. -1: it
 * failed, or `line` did. */
int db_each(struct stmt *q, store_line_fn *line, void *arg, struct err *e);
/* The same as db_given(), copied. */
const char *db_given_copy(struct stmt *q, int i, struct arena *a, struct err *e);
/* A status; STATUS_NONE if it is none: the database is damaged, and the statement was reset. */
enum status db_status(struct stmt *q, int i, struct err *e);
/* The damage that a row shows, "the database PATH is damaged: WHAT". Returns -1. */
int db_damaged(struct store *s, const char *what, struct err *e);

/* The row number of an id that is stored; 0 if it is not. */
int db_workload(struct store *s, const char *id, int64_t *num, struct err *e);
int db_env(struct store *s, const char *id, int64_t *num, struct err *e);
int db_run(struct store *s, const char *id, int64_t *num, struct err *e);

#endif
