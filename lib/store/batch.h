/* Stores records in batches. A batch is stored whole, or not at all.
 *
 * Where the connection to a server is lost, the batch goes with it: then the server is waited for,
 * for AWAY_S, and the batch is stored again. What was committed just before the loss is known then,
 * and counts once.
 *
 * On a server, writers queue for a lock of the database, so that row numbers grow in the order of
 * commits there, too, and a dump reads what was there when it began. A statement whose answer
 * nobody needs is sent without waiting for it, in a pipeline with the next one: 10,000 results a
 * second in place of 4,600.
 *
 * Writers of a file have no queue. A waiting writer looks every few milliseconds, a writer that
 * has committed leaves a longer gap than that, and a batch lasts half a second. So each turn goes
 * to one of the waiting writers at random. With eight writers that store all they can, the longest
 * wait was six seconds, of the two minutes that a writer waits at most.
 *
 * In a big database, storing costs mainly the pages of the two indexes that each result of a batch
 * touches: candidates and latencies come in no order. Row numbers in place of ids keep a
 * workload's entries together, so that a round of its candidates touches a few dozen pages.
 */
#ifndef TL_STORE_BATCH_H
#define TL_STORE_BATCH_H

#include "lib/store/store.h"

enum { BATCH_AWAY_S = 120 };

struct batch {
	const char *path; /* of the database; it must outlive the batch */
	struct store *db;
	int opens;	    /* workloads get units of work, */
	const char *env_id; /* for machines of this env; NULL: of any */
	int is_open;
	int64_t n;		      /* records in it */
	double began;		      /* clock_now() */
	int64_t fresh, known;	      /* committed */
	int64_t now_fresh, now_known; /* of the open batch */
	double waited;		      /* as store_waited(), over all connections */
	struct buf lines;	      /* of the open batch, one behind the other */
	struct batch_line *line;
	int64_t cap;
	enum store_put last; /* what became of the last record */
	struct json_doc doc;
};

/* A record of a type that databases keep. STORE_FAILED: the batch is lost. */
enum store_put batch_put(struct batch *b, const struct rec *r, const struct json_doc *d,
			 struct err *e);
int batch_commit(struct batch *b, struct err *e);
/* Forgets an open batch, and closes the database. */
void batch_close(struct batch *b);

#endif
