/* Static checks: refuse a nest for a machine without building it.
 *
 * A nest that fails the checks would not run there (its vectors are wider than the machine's),
 * would spill registers in its innermost loop, or needs far too much scratch memory.
 */
#ifndef TL_DRAFT_STATIC_H
#define TL_DRAFT_STATIC_H

#include "lib/base/err.h"
#include "lib/nest/nest.h"
#include "lib/space/limits.h"

/* 0, or -1 with the reason. Sets registers to the vector registers that live at once, or to 0 for a
 * nest of blocks and one that is refused for something else. A register that is written and read
 * within one step of an unrolled loop counts once, not once a step. */
int static_check(const struct nest *n, const struct limits *m, int64_t *registers, struct err *why);

#endif
