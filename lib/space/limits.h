/* What a target can do: the numbers that spaces, static checks and the analytic draft are made
 * from. Plain data, filled by lib/target from the machine (or by a test), so that nothing below a
 * target asks the machine. */
#ifndef TL_SPACE_LIMITS_H
#define TL_SPACE_LIMITS_H

#include <stdint.h>

struct limits {
	char isa[16];	   /* "avx512", "avx2", "scalar" */
	int lanes;	   /* floats in the widest vector: 16, 8, 1 */
	int vregs;	   /* vector registers: 32, 16, 16 */
	int fma_per_cycle; /* vector FMAs started a cycle */
	int load_per_cycle;
	int threads;	     /* threads of a timed run */
	int64_t l1d, l2, l3; /* bytes; l1d and l2 a core */
	double hz;	     /* nominal clock; 0 if unknown */
};

#endif
