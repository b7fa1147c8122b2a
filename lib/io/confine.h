/* What a process may still ask of the system, by a seccomp filter; for itself and all that it
 * starts, for good. Where the system has no filters (or for another architecture) nothing happens:
 * the filters are a second fence, not the only one. */
#ifndef TL_IO_CONFINE_H
#define TL_IO_CONFINE_H

/* For a process that runs a kernel: computing, threads, reading files, and signals to itself. All
 * else is refused: processes, programs, sockets, writing, leaving its group or its limits. */
void confine_kernel(void);
/* Besides: no more threads than there are now, and they stay on their cores. For all of its
 * threads. */
void confine_team(void);

#endif
