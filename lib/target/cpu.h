/* The CPU target, for its own room: the others ask target.h. The machine's instruction sets are
 * those of lib/space/isa.h; the system's compiler makes its kernels. */
#ifndef TL_TARGET_CPU_H
#define TL_TARGET_CPU_H

#include "lib/target/target.h"

extern const struct target target_cpu;

/* Does this CPU have it? The process may then use its instructions. */
int cpu_has_isa(const char *isa);

#endif
