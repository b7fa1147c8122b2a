/* Instruction sets: what is known of each before any machine is asked. Spaces, register tiles,
 * static checks, the draft and the printers read it here and nowhere else, so a new instruction set
 * is a row in isa.c.
 *
 * Sources: Intel, "Optimization Reference Manual"; Fog, "The microarchitecture of Intel, AMD and
 * VIA CPUs". Where CPUs of one instruction set differ, the row is a server's of 2023.
 *
 * bf16: a load widens by a shift, and AVX-512 leaves lanes out by its masks; AVX2 has no masks for
 * elements of 16 bits, so those that are there go in pieces (lib/target/x86_short.c). A store
 * rounds by vcvtneps2bf16, or by adding half of the last place where the processor lacks
 * AVX512_BF16. vdpbf16ps multiplies pairs, and treats numbers below the smallest normal one as
 * zero. Such an instruction is a bit of a machine's limits (`dots`), not another instruction set:
 * avx512_bf16 is of the family avx512, whose name records and envs have. So printers are told of
 * the machine. Partial sums never wait in a result of bf16. A sum of an odd number of values has no
 * pairs: `fma` computes it, but direct pads an odd number of channels below 16 in the copy of its
 * band, where zeros follow those of each pixel. avx512_amx adds tile registers (lib/nest/tmul.h),
 * which are bits of the limits, too. Trees learned these types on machines with such instructions
 * alone, so elsewhere the draft ranks them (model_knows()).
 */
#ifndef TL_SPACE_ISA_H
#define TL_SPACE_ISA_H

#include "lib/space/limits.h"
#include "lib/space/types.h"

/* How an access leaves lanes out. */
enum isa_masks {
	MASKS_NONE,	/* not at all */
	MASKS_VECTOR,	/* by a mask in a vector register */
	MASKS_REGISTER, /* by a mask in a register of its own kind */
};

enum { ISA_FLAGS = 6 };

struct isa {
	const char *name;
	const char *family; /* limits' isa: the row that it adds instructions to, or itself */
	const char *flags[ISA_FLAGS]; /* of the compiler */
	int lanes[DTYPES];	      /* elements of this type in a vector */
	int vregs;		      /* vector registers */
	int folds;		      /* is a broadcast from memory an operand of arithmetic? */
	enum isa_masks masks;
	unsigned dots;	/* types of which it sums products of groups, as limits' dots */
	unsigned tiles; /* types that its tile registers multiply, as limits' tiles */
	int fma_per_cycle, load_per_cycle, store_per_cycle; /* vectors */
	int issue_per_cycle;				    /* operations of any kind */
	int fma_latency;				    /* cycles */
	int window;					    /* operations in flight */
};

/* Widest first; of a family, the one with most instructions first. A row without a name ends it. */
extern const struct isa isa_list[];

/* In how many turns does a machine whose core has this peak (flops, f32) work on the widest
 * vectors? Some have units of half a vector (AMD, "Software Optimization Guide for the AMD Zen4
 * Microarchitecture", 2.11.1). */
int isa_wide_turns(const struct limits *m, double peak_flops);
/* Bytes a cycle that a core has from the third level, of two kinds of machines: ISA_L3_NEAR where
 * it belongs to a few cores (32 bytes a cycle on paper: AMD, "Software Optimization Guide for the
 * AMD Zen4 Microarchitecture", 2.6.2; a probe's triads get 25 and 29 on Zen 4 and 5), else 0, as
 * assumed. By a probe's peak and its rate of the third level, both of all threads. */
enum { ISA_L3_NEAR = 25 };
int isa_l3_rate(const struct limits *m, double peak_flops, double l3_bytes);
/* NULL for an unknown name. */
const struct isa *isa_find(const char *name);
/* The names of all, for sentences. */
#define ISA_NAMES "avx512_amx, avx512_bf16, avx512_vnni, avx512, avx2 and scalar"
/* The narrowest that has so many lanes of single precision: the one that code with such vectors is
 * written for, on whatever machine it runs. Eight lanes are AVX2's, with 16 registers, also where
 * AVX-512VL would give them 32. The widest where none has so many. */
const struct isa *isa_of_lanes(int64_t lanes);
/* All that a machine of this instruction set can do, with small caches, one thread and an unknown
 * clock. The one place where limits begin. -1 for an unknown name. */
int isa_limits(const char *name, struct limits *m);

#endif
