/* The probe: measures in about a second what this machine can do.
 *
 * A rate is the best of many windows of half a millisecond, so that other programs may spoil
 * windows but do not shift the figure. Fork-join and barrier are medians. The rate of memory is the
 * median over the undisturbed windows. FLOP/s count a multiply-add as two. Bytes count the arrays
 * of the loop: a triad, a = b + s c, moves three arrays; it is not counted that a store reads its
 * line first. Data that are read from memory were flushed out of all caches before. "disturbed" is
 * the share of the windows of the peak of all threads that took far longer than the best; it shows
 * how much other programs ran. This runs the OpenMP team, so only the worker links this file.
 *
 * A probe takes a second and finds what the hardware can do: peak by vector width, bandwidth by
 * cache level, fork-join, barrier. Each rate is the best of windows of half a millisecond, which
 * are shorter than a scheduler's slice: with three busy loops beside the probe on two cores, the
 * peaks stay within 0.5%. Before each window of the memory's rate, the buffer is flushed out of
 * the caches, because a virtual machine sees a last level of hundreds of MiB, and no buffer is
 * larger than that in the time there is. The rate of the memory is the median of the undisturbed
 * windows, because other machines share the same memory.
 *
 * One lock is enough: a program that must probe holds the device's lock, so that nothing is timed
 * meanwhile, and looks at the file again when it has the lock. A program that waits for the lock
 * keeps looking for the file, because the tl-measure at the end of its own pipe may hold the lock.
 */
#ifndef TL_TARGET_PROBE_H
#define TL_TARGET_PROBE_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/space/limits.h"

enum { PROBE_MAX_CPUS = 256 };

/* Prints the probe as one JSON object. -1: there is no memory for it. */
int probe_run(const struct limits *m, struct buf *out, struct err *e);

/* The CPUs that the threads of the team stand on, by thread; returns their number, at most
 * PROBE_MAX_CPUS. Where the team is bound (OMP_PROC_BIND) they stay. */
int probe_team(int threads, int cpu[PROBE_MAX_CPUS]);
/* How many different cores these CPUs are, by <root>/sys/devices/system/cpu; 0 and a sentence in
 * why where the kernel does not say. root is "" but in tests. */
int probe_cores(const char *root, const int *cpu, int n, struct err *why);

#endif
