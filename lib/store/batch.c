#include "lib/store/batch.h"

#include <poll.h>
#include <stdlib.h>

#include "lib/host/lock.h"
#include "lib/io/clock.h"
#include "lib/io/record.h"
#include "lib/store/units.h"

/* A record of the open batch. */
struct batch_line {
	size_t at, n;
	enum rec_type type;
};

static void keep(struct batch *b, const struct rec *r)
{
	if (b->n == b->cap) {
		b->cap = b->cap * 2 + 64;
		b->line = xrealloc(b->line, (size_t)b->cap * sizeof *b->line);
	}
	b->line[b->n++] = (struct batch_line){b->lines.n, r->n, r->type};
	buf_add(&b->lines, r->s, r->n);
}

static int begin(struct batch *b, struct err *e)
{
	b->now_fresh = b->now_known = 0;
	if (store_begin(b->db, e))
		return -1;
	b->is_open = 1;
	b->began = clock_now();
	return 0;
}

static enum store_put put(struct batch *b, const struct rec *r, const struct json_doc *d,
			  struct err *e)
{
	enum store_put stored = store_put(b->db, r, d, e), opened = STORE_KNOWN;

	if ((stored == STORE_NEW || stored == STORE_KNOWN) && b->opens && r->type == REC_WORKLOAD)
		opened = units_open(b->db, d, b->env_id, e);
	if (opened != STORE_KNOWN)
		stored = opened;
	b->now_fresh += stored == STORE_NEW;
	b->now_known += stored == STORE_KNOWN;
	return b->last = stored;
}

/* ---- a server that goes away ---- */

static int put_again(struct batch *b, struct err *e)
{
	if (begin(b, e))
		return -1;
	for (int64_t i = 0; i < b->n; i++) {
		const struct batch_line *l = &b->line[i];
		const struct rec r = {.s = b->lines.s + l->at, .n = l->n, .type = l->type};

		if (json_parse(&b->doc, r.s, r.n, e) || put(b, &r, &b->doc, e) == STORE_FAILED)
			return -1;
	}
	return 0;
}

static void disconnect(struct batch *b)
{
	const double waited = b->db ? store_waited(b->db) : 0;

	b->waited = waited > b->waited ? waited : b->waited;
	store_close(b->db);
	b->db = NULL;
	b->is_open = 0;
}

/* The last statement failed because the connection is gone. Opens another one, and stores the batch
 * there. -1: the server stays away, and e says how the last try failed. */
static int reconnect(struct batch *b, struct err *e)
{
	enum { LOOK_MS = 500 };
	const double since = clock_now();

	lock_say(e->msg);
	for (int i = 0; !rec_was_told() && clock_now() - since < BATCH_AWAY_S; i++) {
		struct err why = ERR_INIT;

		if (b->db)
			disconnect(b);
		if (i)
			poll(NULL, 0, LOOK_MS);
		b->db = store_open(b->path, STORE_WRITE, &why);
		if (b->db && put_again(b, &why) == 0) {
			*e = why;
			return 0;
		}
		*e = why;
		if (b->db && !store_is_lost(b->db))
			return -1;
	}
	return -1;
}

/* ---- batches ---- */

enum store_put batch_put(struct batch *b, const struct rec *r, const struct json_doc *d,
			 struct err *e)
{
	if (!b->is_open && begin(b, e) && (!store_is_lost(b->db) || reconnect(b, e)))
		return STORE_FAILED;
	keep(b, r);
	if (put(b, r, d, e) == STORE_FAILED && (!store_is_lost(b->db) || reconnect(b, e)))
		return STORE_FAILED;
	if (b->last == STORE_BAD)
		b->lines.n = b->line[--b->n].at;
	return b->last;
}

int batch_commit(struct batch *b, struct err *e)
{
	while (b->is_open && store_commit(b->db, e))
		if (!store_is_lost(b->db) || reconnect(b, e))
			return -1;
	b->fresh += b->now_fresh;
	b->known += b->now_known;
	b->now_fresh = b->now_known = 0;
	b->is_open = 0;
	b->n = 0;
	buf_clear(&b->lines);
	return 0;
}

void batch_close(struct batch *b)
{
	if (b->db && b->is_open)
		store_rollback(b->db);
	disconnect(b);
	buf_free(&b->lines);
	free(b->line);
	json_free(&b->doc);
}
