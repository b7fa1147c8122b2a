/* What is assumed of a machine where nothing was measured of it: figures of a Xeon of 2023, near
 * enough elsewhere to rank by. The draft and the features always take these, so that the same
 * candidates have the same ranks whether the machine was probed or not. What is measured
 * (lib/target/probe.h) is told in the records.
 *
 * The third level is the exception, for machines differ most in it: where each group of a few cores
 * has its own (AMD's from Zen 4 on), a core has more than twice as many bytes a cycle from there as
 * over the mesh of a Xeon (docs/EXPERIMENTS.md, "What sites touch together").
 *
 * The memory is the other one, for a thread that reads it while others read the same. A probe's
 * triads with two threads, and the lines that their stores read first, move 5.5 bytes a cycle a
 * core on a Zen 3 and a Granite Rapids, and 7 to 11 on Zen 4 and 5. */
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
/* Bytes a cycle that a core has from the machine's third level, or the assumed ones. */
double assumed_l3(const struct limits *m);
/* Bytes a cycle that one thread has from memory at most: as many as its part of the memory's, and
 * twice as many where the third level is near. */
double assumed_stream(const struct limits *m);

#endif
