/* direct_bf16x2: direct convolution in single precision, by three products of bf16 in tile
 * registers (gemm_bf16x2.c). A band's input is split in halves as it is copied.
 */
#include "lib/algo/direct.h"

static int ranges(const struct workload *w, struct range *r)
{
	r->halves = 1;
	return dtypes_are_f32(&w->dtype) && direct_ranges(w, r);
}

const struct algo algo_direct_bf16x2 = {
	.name = "direct_bf16x2",
	.summary = "Direct convolution in single precision by three products of bf16, on tile "
		   "registers.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.halves = 1,
	.pitches = 1,
	.rev = 1,
	.nknobs = DIRECT_KNOBS,
	.knob = direct_knobs,
	.ranges = ranges,
	.build = direct_build,
};
