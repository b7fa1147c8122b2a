/* The env: all that a latency depends on, except the program. Results can be compared only within
 * one env.
 *
 * hw_id is a hash over the hardware: the CPU's features, caches and instruction set in use, and the
 * number of threads. It does not depend on the CPU model's name, which says little on virtual
 * machines, nor on the host, nor on the measured speed (lib/space/envid.h). id is a hash over the
 * same, the compiler and the library. Results of the same hw_id and another id are called stale,
 * and those of another hw_id foreign.
 *
 * The probe (lib/target/probe.h) is made once for a hardware and kept in probe/<hardware>.json in
 * the folder of the build cache; its figures are recorded, and are no part of the ids. It takes a
 * second and the device's lock, so that no timing runs beside it. If other programs disturbed a
 * probe, a later program that holds the lock probes again, and the less disturbed probe is kept. So
 * a probe from a busy machine does not stay. With TL_PROBE=0 nothing is probed.
 *
 * Envs are never mixed. A virtual CPU's model name says little, so the env's id is computed from
 * features, caches, threads, compiler and library. Another compiler or library makes results
 * stale, other hardware makes them foreign, and tl-query says which. Results of another env are a
 * place to start from, not an answer.
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
	/* The parts that json and the ids are made of: */
	struct buf cpu, features, cc, libs;
	struct buf probe;     /* what the worker printed; empty: nothing was probed, */
	const char *unprobed; /* and this is why */
};

#define REPROBE_OPTION(flag)                                                                       \
	{                                                                                          \
		0, "reprobe", OPT_FLAG, &(flag), NULL,                                             \
			"First probe anew what the machine can do, also where that is known.",     \
			NULL                                                                       \
	}

/* For a program that holds the device's lock (lock_take(), by the target's name). libs: "onednn
 * 2.6.3", as the worker says it. reprobe: probe even if there is a probe. */
int env_make(struct env *v, const struct target *target, const char *libs, int reprobe,
	     struct err *e);
/* For a program that does not hold the lock: asks a worker for the libraries. If a probe is needed,
 * it makes one, unless another run has the device: it never waits for that. Returns 1 if this
 * machine has no env, because it lacks the worker, its library or the compiler; e says which.
 * Returns -1 for failures that may not come again. */
int env_here(struct env *v, const struct target *target, struct err *e);
void env_free(struct env *v);

#endif
