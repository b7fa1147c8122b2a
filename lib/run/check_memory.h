/* Does a plan read what was written for it? Pieces of memory share places (layout.h), and results
 * lie where operands were (overwrite.h). Two checks hold that against the steps themselves, and
 * know nothing of how it was decided:
 *
 * - check_addresses() follows the steps, and remembers of each address whose element it holds. It
 *   refuses a plan in which a step reads an element that was overwritten or never written, or
 *   writes an element that the same step reads later.
 * - check_values() runs the plan where each piece of memory has a place of its own, and then twice
 *   as it is, with NaN in all memory that nobody needs. Each step must give the same bits.
 */
#ifndef TL_RUN_CHECK_MEMORY_H
#define TL_RUN_CHECK_MEMORY_H

#include "lib/run/plan.h"

/* Checks a prepared plan; a sentence names the step. */
int check_addresses(const struct plan *p, struct err *e);
/* Checks a prepared plan whose inputs, `ninputs` pieces of memory, are set. They are as before
 * afterwards. Not of a plan by the library, whose code is bound to addresses. */
int check_values(struct plan *p, const int *input, int ninputs, struct err *e);

#endif
