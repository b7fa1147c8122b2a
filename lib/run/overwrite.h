/* Results in the place of operands. Lowering gives each result memory of its own (lower.h). When
 * all steps are known, it is known as well which of them reads a piece of memory last. If that step
 * computes element by element, its result may take the memory over; if it is a copy, nothing is
 * left to do. This saves memory, and the traffic of one more tensor through the caches.
 *
 * The question is asked in one place, of the whole list of steps: who reads which elements, in
 * which order. check_memory.h holds the answer against the addresses that follow from it.
 *
 * Overwriting (overwrite.h). Lowering gives each result memory of its own. When all steps are
 * known, one pass decides which results take the place of an operand: the step computes element by
 * element, it is the last one that reads the operand, and whatever it reads of that memory lies as
 * the result does. What is added to a product is a copy, which is idle where both places become
 * one. tl-run --check-memory (check_memory.h) knows nothing of the pass. It follows the addresses
 * of all steps, and runs the plan with each piece of memory apart, and then as it is with NaN in
 * what nobody needs; each step must give the same bits.
 */
#ifndef TL_RUN_OVERWRITE_H
#define TL_RUN_OVERWRITE_H

#include "lib/run/plan.h"

/* Sets within and offset of memory that lies in other memory, and is_idle of copies. Call it once,
 * when the plan has all its steps. */
void overwrite_operands(struct plan *p);

#endif
