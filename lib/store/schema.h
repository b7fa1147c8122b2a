/* Inside of lib/store: the tables. */
#ifndef TL_STORE_SCHEMA_H
#define TL_STORE_SCHEMA_H

/* schema_steps[N] makes version N + 1 of version N, in SQLite's words (backend.h). Version 0 is an
 * empty database. */
enum { SCHEMA_VERSION = 3 };
extern const char *const schema_steps[SCHEMA_VERSION];

#endif
