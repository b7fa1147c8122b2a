/* What a nest must be for the interpreter, the printers and the models to take it, as far as that
 * follows from its text.
 *
 *  - It has no more of anything than nest.h allows, and all its bodies are closed.
 *  - Barriers stand at the top level. A phase has at most one region of parallel loops, at the top
 * level as well; threads that share memory store to it in that region alone, where each has its own
 * part of the work.
 *  - Unrolling makes constants of what must be one: the index of a register, the range of an
 * unrolled loop. What a register gets and gives is whole.
 *
 * Races and what is read before it is written depend on indices: interp_team() (interp.h) finds
 * them.
 */
#ifndef TL_NEST_CHECK_H
#define TL_NEST_CHECK_H

#include "lib/base/err.h"
#include "lib/nest/nest.h"

/* 0, or -1 with the reason. All of it; it takes a walk over the nest. */
int check_nest(const struct nest *n, struct err *e);
/* The first point alone, but for loads and stores of memory (NEST_SITES): this was noted while the
 * nest was built. */
int check_room(const struct nest *n, struct err *e);

#endif
