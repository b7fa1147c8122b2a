/* TL_STRICT=1: products in single precision are computed as such. Algorithms that split their
 * operands in halves of bf16 make no candidates then, and results of theirs are not taken. */
#ifndef TL_SPACE_STRICT_H
#define TL_SPACE_STRICT_H

#include "lib/base/err.h"

/* Refuses another value than 0 and 1: -1. */
int strict_check(struct err *e);
int strict_is(void);
/* For this process, and for those that it starts. */
void strict_set(void);

/* The option of programs that choose kernels. */
#define STRICT_OPTION(name)                                                                        \
	{                                                                                          \
		0, "strict", OPT_FLAG, &(name), NULL,                                              \
			"Compute products in single precision as such: no algorithm that splits "  \
			"their operands in halves of bf16.",                                       \
			NULL                                                                       \
	}

#endif
