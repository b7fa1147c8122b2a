/* The env: what a latency depends on beside the program. Two results compare only within one env.
 *
 * hw_id, the hardware, is over the CPU's features, caches and instruction set in use, and the
 * number of threads; not over the model's name, which says little on virtual machines, nor over the
 * host, nor over how fast it was found to be (lib/space/envid.h). id is over the same and the
 * compiler and the library. So results of the same hw_id and another id are stale, and those of
 * another hw_id foreign.
 *
 * The probe (lib/target/probe.h) is made once for a hardware and kept in probe/<hardware>.json in
 * the folder of the build cache; its figures are told, and are no part of the ids. It takes a
 * second and the device's lock, so that nothing is timed beside it. A probe that other programs
 * disturbed is made again by a later program that holds the lock, until one was disturbed less; so
 * one that was taken on a busy machine does not stay. With TL_PROBE=0 nothing is probed.
 */
#ifndef TL_HOST_ENV_H
#define TL_HOST_ENV_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/space/limits.h"
#include "lib/target/target.h"

struct env {
	struct limits limits;
	struct id id, hw_id;
	struct buf json; /* the "env" object, braces included */
	/* What these are made of: */
	struct buf cpu, features, cc, libs;
	struct buf probe; /* what the worker printed; empty with TL_PROBE=0 */
};

#define REPROBE_OPTION(flag)                                                                       \
	{                                                                                          \
		0, "reprobe", OPT_FLAG, &(flag), NULL,                                             \
			"First probe anew what the machine can do, also where that is known.",     \
			NULL                                                                       \
	}

/* For a program that holds the device's lock (lock_device(), by the target's name). libs: "onednn
 * 2.6.3", as the worker tells it. reprobe: probe also where that was done. */
int env_make(struct env *v, const struct target *target, const char *libs, int reprobe,
	     struct err *e);
/* For a program that does not: asks a worker for the libraries. If a probe has to be made it waits
 * until the device is free, or another program has made it. 1 if this machine cannot say, because
 * it lacks the worker, its library or the compiler: e holds what. What may go better the next time
 * is a failure, -1. */
int env_here(struct env *v, const struct target *target, struct err *e);
void env_free(struct env *v);

#endif
