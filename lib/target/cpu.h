/* The CPU target: what this CPU can do, and how the system's compiler makes a kernel for it. */
#ifndef TL_TARGET_CPU_H
#define TL_TARGET_CPU_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/nest/nest.h"
#include "lib/space/limits.h"

enum { CPU_CC_ARGS = 32 };

/* The machine's limits, or a lower instruction set's by TL_ISA=avx512|avx2|scalar (asking for more
 * than the CPU has is an error). Caches as the kernel tells them, or as TL_LIMITS does:
 * l1d=BYTES,l2=BYTES,l3=BYTES, or some of these. Threads: OMP_NUM_THREADS, else the CPUs this
 * process may run on. */
int cpu_limits(struct limits *m, struct err *e);
/* The command that makes shared object `object` from C file `source` for an instruction set. Points
 * into static text and the strings given; ends with NULL. The compiler is $TL_CC, else cc. */
void cpu_cc_argv(const char *isa, const char *source, const char *object, char *argv[CPU_CC_ARGS]);
/* The same, joined, for hashing: everything but the file names. */
void cpu_cc_text(const char *isa, struct buf *out);
/* A nest as source text for that command, behind c_prelude(): as assembly (x86.h), and NULL is
 * returned; or, where that cannot be, as GNU C (c.h), and why. */
const char *cpu_print(const struct nest *n, struct buf *out);
/* "gcc 12.2.0" of the compiler above; asks it once. errno tells why not: ENOENT, or ENOEXEC if it
 * is no compiler. */
int cpu_cc_version(struct buf *out, struct err *e);
/* Model name ("unknown" where the kernel does not tell) and the features that matter,
 * comma-separated, from the CPU. */
int cpu_model(struct buf *out, struct err *e);
void cpu_features(struct buf *out);
int cpu_has_isa(const char *isa); /* does this CPU have it? */

#endif
