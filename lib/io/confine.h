/* Limits the system calls of this process, and of all that it starts, for ever (a seccomp filter).
 * Nothing happens if the system has no filters, or on another architecture: the filters are a
 * second protection, not the only one. */
#ifndef TL_IO_CONFINE_H
#define TL_IO_CONFINE_H

/* For a process that runs a kernel: computing, threads, reading files, and signals to itself. All
 * else is refused: processes, programs, sockets, writing, leaving its group or its limits. */
void confine_kernel(void);
/* Besides: no more threads than there are now, and they stay on their cores. For all of its
 * threads. */
void confine_team(void);

#endif
