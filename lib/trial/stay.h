/* A cell that stays (cell.h): a child that serves one request after the other.
 *
 * To open a device's driver takes 0.4 s (H100), and most trials take less. So those of a device are
 * served by one child, until one of them ends in anything but CELL_DONE, or the caller ends it. The
 * child has the caller's memory as it was when the child was started; a request brings the rest. So
 * a request may hold pointers to what is constant alone.
 *
 * GPU kernels are measured like all others. A worker of the target's own (libexec/worker-cuda,
 * libexec/worker-opencl) serves the same protocol (lib/trial/serve.h). Trials run in a process of
 * their own, a cell, which opens the driver. To open it takes 0.4 s on an H100, and a race 0.05 s.
 * So races share a cell as long as they end well; a second race, a final and the library have one
 * of their own. A kernel that hangs, faults or corrupts its context takes its cell along, and
 * nothing else. A kernel that dies does not take its process along, so what the driver says of it
 * (errno of lib/target/device.h) becomes the status that the death of a process would have: crash,
 * timeout, oom. Such a cell is limited only in time, because a driver starts threads and writes
 * files. A runner copies operands into the device's memory before a kernel's calls and copies back
 * what the kernel wrote after them (put, take), with canaries behind each operand and, where
 * CUDA's driver can map memory, nothing behind those (lib/target/cuda_guarded.h). The calls
 * themselves move no data. To start a kernel takes longer than a short kernel takes. So duellists
 * are called in rows of the same length (timed_choose_row()), where CUDA's driver starts a row as
 * one graph (lib/target/cuda_graph.c), and a sample is the mean of a row. A library that waits for
 * the device in its calls cannot be captured in a graph. Then no row of its duel is a graph,
 * because the gaps between calls would else be counted against it alone; the field row_by tells.
 * When variants of the library are looked at, those that cannot be captured are ranked apart, and
 * only duels compare them with the others. Reference results come from the definition, compiled
 * for this machine's processor. NVML is asked meanwhile for the GPU's clock, temperature and
 * reasons of throttling, and before and behind a run for its energy (lib/host/nvml.h, found by the
 * PCI address that CUDA tells). OpenCL has no library to compare with, so results have no
 * baseline.
 */
#ifndef TL_TRIAL_STAY_H
#define TL_TRIAL_STAY_H

#include <sys/types.h>

#include "lib/trial/cell.h"

enum { STAY_REQUESTS = 64 }; /* then the memory that the driver has not given back goes, too */

struct stay {
	pid_t pid; /* 0: there is no child */
	int fd;	   /* a byte each way: a request is there, its answer is there */
	int served;
	struct cell_shared *shared;
	size_t bytes, answer_bytes;
	struct cell_usage before;
};

/* The child calls serve() for each request, with arg as it was when the child was started. */
struct stay_serve {
	void (*serve)(void *arg, const void *request, void *answer);
	void *arg;
	size_t request_bytes, answer_bytes;
};

/* Does what cell_run() does. It starts a child if there is none. The sizes are the same for all
 * requests of a child. */
enum cell_end stay_ask(struct stay *s, const struct cell *c, const struct stay_serve *how,
		       const void *request, void *answer, char why[CELL_WHY]);
/* Ends the child, if there is one. */
void stay_end(struct stay *s);

#endif
