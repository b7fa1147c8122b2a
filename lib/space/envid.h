/* The ids of an env. hw_id is a hash over the hardware (the CPU's features, its caches, the
 * instruction set in use, the number of threads). env_id is a hash over the same, the compiler and
 * the library. The speed of a machine is in neither, because it wanders.
 *
 * The probe is made once for each hardware and kept. If other programs disturbed a fifth or more
 * of its windows (they took a quarter longer than the best), a later run repeats the probe, and
 * the less disturbed of both is kept. So a probe that was taken on a busy machine is corrected
 * without help. Records contain the probe's figures, but ids do not depend on them. Ids once
 * depended on the class of these figures, and a machine whose speed had left its class got another
 * env. The speed of one virtual machine wandered through eight classes, and each time its
 * incumbents and its history were lost. Now the way of measuring keeps times of different hours
 * apart, not the way of filing them.
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

/* 1: the ids that the fields of the "env" object make; 0: it lacks one of them (env may be NULL).
 */
int envid_of(const struct json_doc *d, const struct json *env, struct id *hw_id, struct id *id);

#endif
