#include "lib/space/isa.h"

#include <stdio.h>
#include <string.h>

/* What all of AVX-512 share. */
#define AVX512                                                                                     \
	.family = "avx512", .flags = {"-mavx512f",  "-mavx512vl", "-mavx512dq",                    \
				      "-mavx512bw", "-mfma",	  "-mprefer-vector-width=512"},    \
	.lanes = {[DTYPE_F32] = 16}, .vregs = 32, .folds = 1, .masks = MASKS_REGISTER,             \
	.fma_per_cycle = 2, .load_per_cycle = 2, .store_per_cycle = 1, .issue_per_cycle = 5,       \
	.fma_latency = 4, .window = 400

const struct isa isa_list[] = {
	/* All that have AMX have AMX-BF16, AMX-INT8 and AVX512_BF16, and all that have AVX512_BF16
	 * have AVX512_VNNI. */
	{.name = "avx512_amx",
	 AVX512,
	 .dots = 1U << DTYPE_BF16 | 1U << DTYPE_U8,
	 .tiles = 1U << DTYPE_BF16 | 1U << DTYPE_U8 | 1U << DTYPE_S8},
	{.name = "avx512_bf16", AVX512, .dots = 1U << DTYPE_BF16 | 1U << DTYPE_U8},
	{.name = "avx512_vnni", AVX512, .dots = 1U << DTYPE_U8},
	{.name = "avx512", AVX512},
	{
		.name = "avx2",
		.family = "avx2",
		.flags = {"-mavx2", "-mfma"},
		.lanes = {[DTYPE_F32] = 8},
		.vregs = 16,
		.masks = MASKS_VECTOR,
		.fma_per_cycle = 2,
		.load_per_cycle = 2,
		.store_per_cycle = 1,
		.issue_per_cycle = 5,
		.fma_latency = 4,
		.window = 400,
	},
	{
		.name = "scalar",
		.family = "scalar",
		.lanes = {[DTYPE_F32] = 1},
		.vregs = 16,
		.fma_per_cycle = 2,
		.load_per_cycle = 2,
		.store_per_cycle = 1,
		.issue_per_cycle = 5,
		.fma_latency = 4,
		.window = 400,
	},
	{.name = NULL},
};

const struct isa *isa_find(const char *name)
{
	for (const struct isa *i = isa_list; i->name; i++)
		if (!strcmp(i->name, name))
			return i;
	return NULL;
}

int isa_wide_turns(const struct limits *m, double peak_flops)
{
	enum { HALVES = 16 };		      /* lanes: fewer have whole units everywhere */
	static const double one_each = 4.3e9; /* a second; no clock was that high with two */

	return m->lanes >= HALVES && peak_flops > 0 && peak_flops < one_each * 2 * m->lanes ? 2 : 1;
}

int isa_l3_rate(const struct limits *m, double peak_flops, double l3_bytes)
{
	static const double between = 18; /* the two kinds */
	const double turns = m->wide_turns > 1 ? m->wide_turns : 1;
	const double cycles = peak_flops * turns / (2.0 * m->lanes * m->fma_per_cycle);

	return cycles > 0 && l3_bytes > between * cycles ? ISA_L3_NEAR : 0;
}

const struct isa *isa_of_lanes(int64_t lanes)
{
	const struct isa *narrowest = isa_list;

	for (const struct isa *i = isa_list; i->name && i->lanes[DTYPE_F32] >= lanes; i++)
		narrowest = i;
	return narrowest;
}

int isa_limits(const char *name, struct limits *m)
{
	const struct isa *i = isa_find(name);

	if (!i)
		return -1;
	*m = (struct limits){
		.lanes = i->lanes[DTYPE_F32],
		.vregs = i->vregs,
		.folds = i->folds,
		.dots = i->dots,
		.tiles = i->tiles,
		.fma_per_cycle = i->fma_per_cycle,
		.load_per_cycle = i->load_per_cycle,
		.store_per_cycle = i->store_per_cycle,
		.issue_per_cycle = i->issue_per_cycle,
		.fma_latency = i->fma_latency,
		.window = i->window,
		.threads = 1,
		.l1d = 32 << 10,
		.l2 = 1 << 20,
		.l3 = 8 << 20,
	};
	snprintf(m->isa, sizeof m->isa, "%s", i->family);
	return 0;
}
