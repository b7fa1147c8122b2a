/* Operations on tiles (tmul.h) in the interpreter, for lib/nest alone. */
#ifndef TL_NEST_INTERP_TMUL_H
#define TL_NEST_INTERP_TMUL_H

#include "lib/nest/interp_access.h"

int tmul_run(struct interp *s, const struct node *t);

#endif
