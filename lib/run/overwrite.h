/* Results in the place of operands. Lowering gives each result memory of its own (lower.h). When
 * all steps are known, it is known as well which of them reads a piece of memory last. If that step
 * computes element by element, its result may take the memory over; if it is a copy, nothing is
 * left to do. This saves memory, and the traffic of one more tensor through the caches.
 *
 * The question is asked in one place, of the whole list of steps: who reads which elements, in
 * which order. check_memory.h holds the answer against the addresses that follow from it.
 */
#ifndef TL_RUN_OVERWRITE_H
#define TL_RUN_OVERWRITE_H

#include "lib/run/plan.h"

/* Sets within and offset of memory that lies in other memory, and is_idle of copies. Call it once,
 * when the plan has all its steps. */
void overwrite_operands(struct plan *p);

#endif
