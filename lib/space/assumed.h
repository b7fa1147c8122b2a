/* What is assumed of a machine where nothing was measured of it: figures of a Xeon of 2023, near
 * enough elsewhere to rank by. The draft and the features always take these, so that the same
 * candidates have the same ranks whether the machine was probed or not. What is measured
 * (lib/target/probe.h) is told in the records. */
#ifndef TL_SPACE_ASSUMED_H
#define TL_SPACE_ASSUMED_H

#include "lib/space/limits.h"

struct assumed {
	double l2, l3, memory; /* bytes a cycle a core */
	double fork_s;	       /* a parallel region's start and end */
	double hz;
};

extern const struct assumed assumed;

/* The machine's clock, or the assumed one where it is unknown. */
double assumed_hz(const struct limits *m);

#endif
