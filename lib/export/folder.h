/* A folder that is never incomplete: its files are written into a temporary folder beside it, which
 * is renamed at the end, and removed where the process ends before.
 *
 * tl-export makes a folder of kernels that tl-query knows. The target prints a kernel's source.
 * Its packings are printed as C functions from the same plain data that packing_run() uses
 * (lib/export/packing.h), and its run-time symbols are an array of constants. The code that all
 * exports share is C in share/export/. Its names begin with tlx, and tl-export replaces tlx by the
 * prefix, so two exports can live in one program. The workload's definition is also printed as C.
 * It is the kernel for a CPU that has none of the instruction sets, and the export's own test
 * compares kernels with it. Handles own packed weights and scratch memory, so a call allocates
 * nothing. The library chooses the kernel when a handle is made. Teams are OpenMP's or a pool of
 * POSIX threads, which takes a kernel in parts as tl-run does; a caller that finds the pool busy
 * computes alone. tl-export makes the folder beside its place and renames it at the end. The
 * folder depends only on the input.
 */
#ifndef TL_EXPORT_FOLDER_H
#define TL_EXPORT_FOLDER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct folder;

/* path must be no file, and no folder that has files. */
struct folder *folder_begin(const char *path, struct err *e);
int folder_make(struct folder *f, const char *name, struct err *e); /* a folder inside */
int folder_write(struct folder *f, const char *name, const struct buf *text, struct err *e);
/* Writes "checksums", the output of cksum over all files, and renames the temporary folder: the
 * folder is there now. */
int folder_commit(struct folder *f, struct err *e);
/* Without a commit before it, all that was written is removed. */
void folder_end(struct folder *f);

#endif
