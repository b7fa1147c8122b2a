/* What a process may not ask of the kernel any more, by a seccomp filter; for itself and all that
 * it starts, for good. Where the kernel has no filters (or for another architecture) nothing
 * happens: the filters are a second fence, not the only one. */
#ifndef TL_IO_CONFINE_H
#define TL_IO_CONFINE_H

/* For a process that runs a kernel: no process but threads, no program, no socket, no change of a
 * file or of a group, no signal to others, no way back out of its limits. */
void confine_kernel(void);

#endif
