/* The env: what a latency depends on beside the program. Two results compare only within one env.
 *
 * hw_id, the hardware, is over the CPU's features, caches and instruction set in use, the number of
 * threads, and the class of what the probe found (lib/target/probe.h, lib/host/state.h); not
 * over the model's name, which says little on virtual machines, nor over the host. id is over the
 * same and the compiler and the library. So results of the same hw_id and another id are stale, and
 * those of another hw_id foreign.
 *
 * The probe is made once for a hardware and kept in probe/<hardware>.json in the folder of the
 * build cache. It takes a second and the device's lock, so that nothing is timed beside it. With
 * TL_PROBE=0 nothing is probed, and the class is no part of the ids.
 */
#ifndef TL_HOST_ENV_H
#define TL_HOST_ENV_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/host/state.h"
#include "lib/space/limits.h"

struct env {
	struct limits limits;
	struct id id, hw_id;
	struct buf json; /* the "env" object, braces included */
	/* What these are made of: */
	struct buf cpu, features, cc, libs;
	struct buf file;      /* of the states */
	struct states states; /* none with TL_PROBE=0 */
};

/* What a beat (lib/target/probe.h) takes here when nobody disturbs it, as far as is known; 0: it is
 * not. */
double env_beat(const struct env *v);

/* For a program that holds the device's lock (lock_device("cpu")). libs: "onednn 2.6.3", as the
 * worker tells it. */
int env_make(struct env *v, const char *libs, struct err *e);
/* For a program that does not: asks a worker for the libraries. If a probe has to be made it waits
 * until the device is free, or another program has made it. 1 if this machine cannot say, because
 * it lacks the worker, its library or the compiler: e holds what. What may go better the next time
 * is a failure, -1. */
int env_here(struct env *v, struct err *e);
/* Under the device's lock, before timing: is the machine still as it was probed? Looks up to three
 * times, longer each time; not at all within a minute of the last time. What then still differs by
 * more than max_drift (0: does not look), memory by five times as much, is said, and the env
 * becomes that of the known state that the machine is in now, or of a new one, for which it is
 * probed anew. Returns 1 if the env has
 * changed, else 0; what there is to say, with the figures, is put into said, or nothing. -1 if the
 * worker fails. */
int env_check(struct env *v, double max_drift, struct buf *said, struct err *e);
void env_free(struct env *v);

#endif
