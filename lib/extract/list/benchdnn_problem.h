/* A problem of benchdnn with the options that hold for it. */
#ifndef TL_EXTRACT_LIST_BENCHDNN_PROBLEM_H
#define TL_EXTRACT_LIST_BENCHDNN_PROBLEM_H

#include "lib/extract/list/benchdnn_options.h"
#include "lib/extract/list/listing.h"

/* Takes or leaves the operators of a problem of n bytes, which n"name*3" may end. -1: it makes no
 * sense. */
int benchdnn_problem(struct listing *l, const struct benchdnn_options *o, int driver, const char *s,
		     size_t n, struct err *e);

#endif
