/* The ids of an env. hw_id is a hash over the hardware (the CPU's features, its caches, the
 * instruction set in use, the number of threads). env_id is a hash over the same, the compiler and
 * the library. The speed of a machine is in neither, because it wanders.
 */
#ifndef TL_SPACE_ENVID_H
#define TL_SPACE_ENVID_H

#include "lib/base/hash.h"
#include "lib/io/json.h"

struct envid {
	const char *features, *isa, *cc, *libs;
	int64_t l1d, l2, l3, threads;
};

void envid_make(const struct envid *v, struct id *hw_id, struct id *env_id);

/* 1: the id that the fields of the "env" object make; 0: it lacks one of them (env may be NULL). */
int envid_of(const struct json_doc *d, const struct json *env, struct id *id);

#endif
