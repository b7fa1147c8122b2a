/* Inside of lib/store: brings envs of an older version up to date (lib/space/envid.h).
 *
 * Such an env gets today's id, and envs that then have equal ids become one row. The records of
 * their results are rewritten, so that a dump agrees with the tables. If two results now have the
 * same key, the later is kept, as usual (store.h). Indexes and tallies are updated.
 *
 * The table envs_before maps old ids to today's, for records that have an env's id but no "env"
 * object. Such a record may come before any record with the object. Its row is then renewed when
 * that record comes, so the contents do not depend on the order.
 */
#ifndef TL_STORE_RENEW_H
#define TL_STORE_RENEW_H

#include "lib/base/err.h"
#include "lib/io/json.h"

struct store;

/* Renews all envs of a database of the version before. All these functions need a transaction. */
int renew_envs(struct store *s, struct err *e);
/* Reads what the database knows about this id into s->envids. was may be NULL. */
int renew_look_up(struct store *s, const struct json *was, struct err *e);
/* Stores what s->envids has learned about this id, and renews the env if the database has it. */
int renew_learned(struct store *s, const struct json *was, struct err *e);

#endif
