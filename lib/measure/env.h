/* The env: what a latency depends on beside the program. Two results compare only within one env.
 *
 * Its id is over the CPU's features, caches and instruction set in use, the number of threads, the
 * compiler and the library; not over the model's name, which says little on virtual machines, nor
 * over the host.
 */
#ifndef TL_MEASURE_ENV_H
#define TL_MEASURE_ENV_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/space/limits.h"

struct env {
	struct limits limits;
	struct id id;
	struct buf json; /* the "env" object, braces included */
};

/* libs: "onednn 2.6.3", as the worker tells it. */
int env_make(struct env *v, const char *libs, struct err *e);
/* The same for a program that has no worker: asks one with --libs. */
int env_here(struct env *v, struct err *e);
void env_free(struct env *v);

#endif
