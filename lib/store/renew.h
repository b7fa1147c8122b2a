/* Inside of lib/store: envs of an older version (lib/space/envid.h).
 *
 * Such an env has its id of today in here, and envs that are the same then are one row. The records
 * of their results are rewritten, so that a dump says what the tables say. Where two results have
 * one key now, the later is kept, as ever (store.h). Indexes and tallies are right afterwards.
 *
 * The table envs_before keeps which old id is which today, for records that name an env and do not
 * tell it. Where such came before anything told what their env was, their row is renewed when
 * something does; so what is stored does not depend on the order.
 */
#ifndef TL_STORE_RENEW_H
#define TL_STORE_RENEW_H

#include "lib/base/err.h"
#include "lib/io/json.h"

struct store;

/* All of a database of the version before. Each wants a transaction. */
int renew_envs(struct store *s, struct err *e);
/* Reads what the database knows of this id into s->envids. was may be NULL. */
int renew_look_up(struct store *s, const struct json *was, struct err *e);
/* s->envids has learned of this id: notes it, and renews the env if it is there. */
int renew_learned(struct store *s, const struct json *was, struct err *e);

#endif
