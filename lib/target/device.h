/* Devices with memory of their own, for runners. Each kind of device has a driver. Its library is
 * opened with the first device, and its functions are declared in the driver's file.
 *
 * Where a call of a device fails, errno tells the kind of failure. EFAULT: a kernel has died, and
 * most likely all later calls of the process fail, too. ETIMEDOUT: the driver ended a kernel that
 * took too long. ENOMEM: the device has no memory for this. ENOTSUP: the device has not what the
 * kernel asks for. EIO: anything else.
 */
#ifndef TL_TARGET_DEVICE_H
#define TL_TARGET_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct device;	       /* opened */
struct device_program; /* kernels, loaded */
struct memory;	       /* of the device */

/* What the compiler made of a kernel, and what its launch asks of the device: the most of all
 * phases, and the fewest blocks. */
struct device_use {
	int registers;	   /* of a thread */
	int spilled_bytes; /* of a thread's memory, where registers did not suffice */
	int block_bytes;   /* memory of a block */
	int blocks;	   /* that a processor holds at a time */
};

struct driver {
	/* The first device. NULL with errno ENOENT: there is no library, or no device. Takes tens
	 * to hundreds of milliseconds and may start threads. */
	struct device *(*open)(struct err *e);
	void (*close)(struct device *d);
	/* object: made by the target's compiler; n bytes, and a 0 behind them. */
	struct device_program *(*load)(struct device *d, const char *object, size_t n,
				       struct err *e);
	void (*unload)(struct device_program *p);
	struct memory *(*memory)(struct device *d, size_t bytes, struct err *e);
	void (*free)(struct memory *m);
	/* Copy from or to byte `at` of m, and wait for the end. */
	int (*write)(struct memory *m, size_t at, const void *from, size_t bytes, struct err *e);
	int (*read)(struct memory *m, size_t at, void *to, size_t bytes, struct err *e);
	/* Fills all of m, on the device and without a wait. */
	int (*fill)(struct memory *m, size_t bytes, struct err *e);
	/* Bytes of the largest cache before the device's memory; 0: unknown. */
	size_t (*cache)(const struct device *d);
	/* name and params: as run() has them. -1: the driver does not tell. NULL: it never can. */
	int (*use)(struct device_program *p, const char *name, const long *params,
		   struct device_use *u);
	/* Makes one piece of work of so many calls in a row (run()), which the device then goes
	 * through without this machine. 1; 0: it cannot be done. Calls 0 forget the piece. NULL:
	 * the driver never can. */
	int (*capture)(struct device_program *p, const char *name, const long *params,
		       struct memory *const *buffer, int n, int calls);
	/* Runs the kernels NAME_0, NAME_1, .. with these n buffers, as params say (simt.h), and
	 * waits for the end. Kernels are looked up again if `name` is another pointer; as long as
	 * it is the same, params and buffers are the same, too. More than one call: they run in a
	 * row, one behind the other; in one piece, if so many were captured last; otherwise this
	 * machine starts each. *seconds: from the start of the first kernel to the end of the last,
	 * by the device's own clock, for each call. -1: the device refuses a kernel, or dies of it.
	 */
	int (*run)(struct device_program *p, const char *name, const long *params,
		   struct memory *const *buffer, int n, int calls, double *seconds, struct err *e);
};

/* The process's device, on which its runner runs kernels: opened when it is first asked for, by
 * whomever, and open from then on. NULL with e filled. */
struct device *device_of_process(const struct driver *driver, struct err *e);

/* For NVIDIA's libraries, which run on an opened device: the address of memory there; and the time
 * of what `call` puts on the stream that it gets, by the device's own clock: of so many calls in a
 * row, for each of them. `call` waits for nothing, cuda_time() waits for the end. */
void *cuda_address(const struct memory *m);
/* A thread that did not open the device, and is to use it for the library, calls this first. */
int cuda_use(struct device *d, struct err *e);
/* A row of calls that was captured; all 0 at first. */
struct cuda_row {
	struct cuda_graph *graph; /* NULL: none was, or it cannot be captured */
	int calls;
};
/* As capture() of a driver: what cannot be captured is a `call` that waits for the device, or a
 * driver without graphs. */
int cuda_capture(struct device *d, int (*call)(void *arg, void *stream, struct err *e), void *arg,
		 int calls, struct cuda_row *row);
int cuda_time(struct device *d, int (*call)(void *arg, void *stream, struct err *e), void *arg,
	      int calls, const struct cuda_row *row, double *seconds, struct err *e);
void cuda_row_free(struct cuda_row *row);

/* OpenCL: the first GPU, or the first device of another kind (PoCL's is the CPU). Objects are
 * sources. */
extern const struct driver driver_opencl;
/* How many processors a device of OpenCL has, and bytes of memory for a block; its name; and its
 * driver's version. */
void opencl_sizes(const struct device *d, int *processors, int64_t *block_bytes);
void opencl_describe(const struct device *d, struct buf *out);
void opencl_version(const struct device *d, struct buf *out);

/* CUDA: objects are cubins. */
extern const struct driver driver_cuda;
/* "sm_90 PROCESSORS BLOCK_BYTES L2_BYTES HZ NAME" of the first device, which is not opened. */
int cuda_describe(struct buf *out, struct err *e);
/* Its PCI address, "0000:3b:00.0". */
int cuda_pci(struct buf *out, struct err *e);

#endif
