/* Runners: what runs the objects of a target. A runner may start threads or a driver, so workers
 * alone link it: `runner_NAME`, for worker-NAME. */
#ifndef TL_TARGET_RUNNER_H
#define TL_TARGET_RUNNER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/nest/nest.h"
#include "lib/target/target.h"

/* A loaded kernel. Both are the runner's own business. */
struct kernel {
	void *handle;
	void (*entry)(void);
};

struct runner {
	const struct target *target;
	/* The function of an object. -1: the object is damaged or gone. */
	int (*load)(struct kernel *k, const char *object, struct err *e);
	void (*unload)(struct kernel *k);
	/* What it is called with: run-time symbols and sizes of workspaces, n->nparams of them. */
	void (*params)(const struct nest *n, long *params);
	/* One call by so many threads, until it has ended; 1: by the caller, who starts no team.
	 * Buffers by slot, as nest.h numbers them. */
	void (*run)(const struct kernel *k, const long *params, void *const *buffers, int threads);
	/* Starts the team, which the next run with as many threads finds there. */
	void (*team)(int threads);
	/* What the device can do, measured: one JSON object (lib/target/probe.h). */
	int (*probe)(const struct limits *m, struct buf *out, struct err *e);
};

/* The CPU's: a kernel is a function of a shared object, the team OpenMP's, the same that oneDNN
 * uses. */
extern const struct runner runner_cpu;

#endif
