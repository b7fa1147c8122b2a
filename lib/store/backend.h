/* Inside of lib/store: a kind of database is a table of functions. All else in this room is the
 * same for each kind: the tables, the statements, and what they mean.
 *
 * Statements are written in the SQL that all kinds understand. Where they have different words for
 * the same, the statement has SQLite's, and the other kind translates it (postgresql.c lists them).
 * Parameters are ? or ?N. Texts compare by their bytes.
 *
 * Functions return 0, or -1 after filling e, unless they say otherwise.
 *
 * A database lies behind a few verbs (lib/store/store.h), and nothing outside that room knows its
 * kind. A kind is a table of some twenty functions (backend.h): a connection, batches, statements,
 * parameters, columns. sqlite.c is one, for the programs of a machine, and postgresql.c the other,
 * for many machines. The tables and the statements are the same for both, in the SQL that both
 * understand; where their words differ, PostgreSQL's backend translates SQLite's (it lists them).
 * What a statement cannot say in both is done in C: tallies are counted anew by the code that
 * counts them. What is stored does not depend on the order in which it came, and storing a record
 * twice changes nothing. So a merge is a dump that is piped into a store. Records are kept whole
 * and dumped byte for byte. The best result is the first in an index, so there is no second copy
 * that could disagree with the records. Counts are such a copy, because counting millions of
 * records again takes seconds. They are kept for each workload, env and status, gathered in memory
 * and written once for each batch (lib/store/tally.h; triggers cost half as much again as
 * storing). tl-store --check counts anew.
 */
#ifndef TL_STORE_BACKEND_H
#define TL_STORE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "lib/store/store.h"

/* A prepared statement. */
struct stmt {
	struct store *store;
	const char *sql; /* a literal: its address is the key of db_sql() */
	void *own;	 /* the backend's */
};

/* A value is bound to a parameter, or stands in a column. */
enum value_type { VALUE_NULL, VALUE_INTEGER, VALUE_NUMBER, VALUE_TEXT, VALUE_BYTES };
struct value {
	enum value_type type;
	int64_t integer;
	double number;
	const void *p; /* of a text or of bytes; a column's is there until the statement goes on */
	size_t n;
};

/* A database says this of itself. */
struct about {
	int64_t version; /* of the tables; 0: there are none yet */
	int replayed;	 /* it is for replayed results */
	int foreign;	 /* it belongs to another program */
};

struct backend {
	/* Is this the name of a database of this kind? */
	int (*takes)(const char *name);
	/* May a database have this name? */
	int (*check_name)(const char *name, struct err *e);
	/* Is there one? 1; 0: not yet; -1. */
	int (*is_there)(const char *name, struct err *e);
	/* The name without passwords, allocated; NULL: it has none. */
	char *(*without_passwords)(const char *name);
	/* Connects, calls open_tables(), and allows writing or forbids it. close() can be called
	 * after a failure, too. */
	int (*open)(struct store *s, enum store_mode mode, struct err *e);
	void (*close)(struct store *s);
	int (*is_lost)(const struct store *s); /* store_is_lost() */

	/* A batch. begin() waits for other writers, as long as db_may_wait() allows it. */
	int (*begin)(struct store *s, struct err *e);
	int (*commit)(struct store *s, struct err *e);
	void (*rollback)(struct store *s);

	/* Makes tables; set_about() follows. */
	int (*create)(struct store *s, const char *tables, struct err *e);
	int (*about)(struct store *s, struct about *a, struct err *e);
	int (*set_about)(struct store *s, const struct about *a, struct err *e);
	int (*is_readonly)(struct store *s);
	/* Looks at what the database's own means can find, and adds a line to the report for each
	 * damage. */
	int (*inspect)(struct store *s, struct buf *report, struct err *e);

	int (*prepare)(struct stmt *q, struct err *e);
	void (*finish)(struct stmt *q);
	/* Parameters and columns: the first parameter is 1, the first column is 0. A text, and
	 * bytes, must live as long as the statement uses them. */
	void (*bind)(struct stmt *q, int i, const struct value *v);
	/* 1: a row; 0: done, and -1: failed, after which the statement is reset. */
	int (*step)(struct stmt *q, struct err *e);
	/* Runs a statement without rows in a batch. What fails may fail the next statement instead.
	 */
	int (*later)(struct stmt *q, struct err *e);
	void (*reset)(struct stmt *q);
	/* The value as a `type`; VALUE_NULL where it is null. */
	struct value (*column)(struct stmt *q, int i, enum value_type type);
	const char *(*column_name)(struct stmt *q, int i);
};

extern const struct backend sqlite, postgresql;

/* The kind of a database by its name. */
const struct backend *backend_of(const char *name);

/* open() calls this function of open.c. It makes the tables where there are none, or brings those
 * of an older version up to date, and refuses those of a newer version or of another program. */
int open_tables(struct store *s, enum store_mode mode, struct err *e);

#endif
