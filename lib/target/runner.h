/* Runners: a runner loads and runs the objects of a target. It may start threads or a driver, so
 * only workers link it: `runner_NAME`, for worker-NAME.
 *
 * If a device has memory of its own, put() copies a kernel's operands there before its calls, and
 * take() copies its output back after them. Calls copy nothing. Where one of these fails, errno
 * tells the kind of failure (device.h). On the processor only operands of other types than single
 * precision are copied.
 */
#ifndef TL_TARGET_RUNNER_H
#define TL_TARGET_RUNNER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/nest/nest.h"
#include "lib/target/device.h"
#include "lib/target/target.h"

/* A loaded kernel. Only the runner uses these fields. */
struct kernel {
	void *handle;
	void (*entry)(void);
	struct kernel_operands *own; /* copies of operands that put() has made */
};

/* A team that shares its machine with other programs takes a kernel in so many parts for each
 * thread, unless its threads meet in between: who is done with its own takes those that another has
 * not begun. */
enum { RUNNER_PARTS = 4 };

/* The operands of a kernel that is run in parts: `own` has the bytes of each buffer that every
 * thread has of its own, one behind the other; 0: it is for all. */
struct runner_parts {
	int nslots;
	int64_t own[NEST_BUFFERS];
};

struct runner {
	const struct target *target;
	/* Has the device memory of its own (put, take), and a driver that starts threads and writes
	 * files? */
	int is_device;
	/* The function of an object. -1: the object is damaged or gone. */
	int (*load)(struct kernel *k, const char *object, struct err *e);
	void (*unload)(struct kernel *k);
	/* What it is called with: run-time symbols and sizes of workspaces, or what a launch takes;
	 * at most NEST_PARAMS of them. */
	void (*params)(const struct nest *n, long *params);
	/* Puts the n operands, floats of so many bytes, into the device's memory, as elements of
	 * these types. Slots as in nest.h. */
	int (*put)(struct kernel *k, void *const *buffers, const size_t *bytes,
		   const enum elem *elem, int n, struct err *e);
	/* Takes operand i back, as floats. -1 with errno ERANGE: something was written behind its
	 * end. */
	int (*take)(struct kernel *k, int i, void *to, size_t bytes, struct err *e);
	/* Where a call finds operand i, which the caller has at `from`, and its bytes. NULL: there,
	 * or in a device. */
	const void *(*at)(const struct kernel *k, int i, const void *from, size_t *bytes);
	/* Runs one call with so many threads, and waits for its end. With 1 thread the caller's
	 * thread runs it, and no team is started. Buffers by slot. -1: the device refuses the call,
	 * or died of it. */
	int (*run)(const struct kernel *k, const long *params, void *const *buffers, int threads,
		   struct err *e);
	/* The same with a team of more than one thread in RUNNER_PARTS parts for each. Behind the
	 * last part it waits for all threads, also for one that has begun none: they are OpenMP's.
	 * NULL: there are no threads that share memory. */
	int (*run_parts)(const struct kernel *k, const long *params, void *const *buffers,
			 const struct runner_parts *parts, int threads, struct err *e);
	/* What a call asks of the device. -1: its driver does not tell. NULL: there is no device.
	 */
	int (*use)(const struct kernel *k, const long *params, struct device_use *u);
	/* Makes one piece of work of so many calls in a row, with the buffers of put(), which the
	 * device then goes through without this machine. 1; 0: it cannot be done. Calls 0 forget
	 * the piece. NULL: no device of the target can. */
	int (*capture)(const struct kernel *k, const long *params, int calls);
	/* Runs so many calls in a row, with the buffers of put(), and waits for the end of the
	 * last: in one piece, if so many were captured last; otherwise this machine starts each.
	 * seconds() then is the time of each. NULL: there is no such way. */
	int (*row)(const struct kernel *k, const long *params, int calls, struct err *e);
	/* A thread's part of a call, in a team of the caller's: all its threads call it, and meet
	 * in barrier() between phases. NULL: the target has no threads that share memory. */
	void (*part)(const struct kernel *k, const long *params, void *const *buffers, int thread,
		     int threads, void (*barrier)(void));
	/* Removes all operands from the device's caches, before the next call. NULL: operands are
	 * in this machine's memory. */
	int (*flush)(struct err *e);
	/* The time of the last call by the device's own clock. NULL: it has no clock; the caller
	 * times the call. */
	double (*seconds)(const struct kernel *k);
	/* Starts the team for the next run with so many threads. NULL: there is no team. */
	void (*team)(int threads);
	/* Puts the calling thread, which is none of the team, where the team has its thread of this
	 * number. NULL: there is no team. */
	void (*place)(int thread);
	/* Measures what the device can do: prints one JSON object (lib/target/probe.h). */
	int (*probe)(const struct limits *m, struct buf *out, struct err *e);
};

/* The CPU's: a kernel is a function of a shared object, the team OpenMP's, the same that oneDNN
 * uses. */
extern const struct runner runner_cpu;
/* The first device of OpenCL or CUDA. The driver is opened with the first kernel. */
extern const struct runner runner_opencl, runner_cuda;

#endif
