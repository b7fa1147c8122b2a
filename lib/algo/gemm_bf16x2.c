/* gemm_bf16x2: gemm in single precision, by three products of bf16 in tile registers.
 *
 * Each value is the sum of two of bf16 but for some 2^-17 of it, and the product of both second
 * halves is left out (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence
 * Datatype For Higher-Precision Computations", ARITH 2019). So results differ from those of single
 * precision by about 3e-6 of the largest. The right side is split off the clock, and the left side
 * by a phase of all threads, or, block by block, by the thread that needs it (pack_a).
 */
#include "lib/algo/gemm.h"

static int ranges(const struct workload *w, struct range *r)
{
	r->halves = 1;
	return dtypes_are_f32(&w->dtype) && gemm_ranges(w, r);
}

const struct algo algo_gemm_bf16x2 = {
	.name = "gemm_bf16x2",
	.summary = "Matrix product in single precision by three products of bf16, on tile "
		   "registers.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.halves = 1,
	.pitches = 1,
	.rev = 1,
	.nknobs = GEMM_KNOBS,
	.knob = gemm_knobs,
	.ranges = ranges,
	.build = gemm_build,
};
