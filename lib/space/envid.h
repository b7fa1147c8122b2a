/* The ids of an env. hw_id is a hash over the hardware (the CPU's features, its caches, the
 * instruction set in use, the number of threads). env_id is a hash over the same, the compiler and
 * the library.
 *
 * Older versions had a class of the machine's speed in both ids, and wrote it into the env's
 * "probe". The speed of a machine wanders, so one machine had many envs. Programs that use the envs
 * of records therefore bring them up to date first: an env with such a class gets today's ids and
 * loses the class, and the rest stays as it was written. An env without a class, or without a field
 * that the ids need, keeps its id.
 */
#ifndef TL_SPACE_ENVID_H
#define TL_SPACE_ENVID_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/io/json.h"

struct envid {
	const char *features, *isa, *cc, *libs;
	int64_t l1d, l2, l3, threads;
};

void envid_make(const struct envid *v, struct id *hw_id, struct id *env_id);

/* 1: the id that the fields of the "env" object make, of today's version; 0: it is of an older one,
 * or lacks a field (env may be NULL). */
int envid_of(const struct json_doc *d, const struct json *env, struct id *id);

/* Is the "env" object, a value in d, of an older version? 1: id is that of today, and out the
 * object as it is to be. */
int envid_renew(const struct json_doc *d, const struct json *env, struct id *id, struct buf *out);
/* The record with this id and this env object; NULL: with the one that it has. */
void envid_rewrite(const struct json_doc *d, const char *id, const char *env, struct buf *out);

/* What is known of ids of before: which each is today. Zeroed: nothing. */
struct envids {
	struct map today; /* texts, in the arena */
	struct arena arena;
};

/* Is the record's env of an older version? 1: out is the record of today. A record without the
 * object is taken for what one before it with the same id was: recorded spaces tell an env once. */
int envids_renew(struct envids *k, const struct json_doc *d, struct buf *out);
/* The id of today; NULL: nothing is known of this one. */
const char *envids_today(const struct envids *k, const struct json *was);
void envids_learn(struct envids *k, const struct json *was, const char *today);
void envids_free(struct envids *k);

#endif
