/* Inside of lib/store: databases whose envs are of an older version (lib/space/envid.h).
 *
 * Each such env gets its id of today, and envs that are the same then become one row. The records
 * of their results are rewritten, so that a dump says what the tables say. Where two results have
 * one key now, the later is kept, as ever (store.h). Indexes and tallies are right afterwards.
 */
#ifndef TL_STORE_RENEW_H
#define TL_STORE_RENEW_H

#include "lib/base/err.h"

struct store;

/* Wants a transaction, and the schema's tables as they are since version 3. */
int renew_envs(struct store *s, struct err *e);

#endif
