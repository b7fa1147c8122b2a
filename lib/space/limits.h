/* What a target can do: the numbers that spaces, static checks and the analytic draft are made
 * from. Plain data, so that nothing below a target asks the machine: isa_limits() (isa.h) fills it
 * for an instruction set, a target (lib/target/target.h) then puts in what the machine says. */
#ifndef TL_SPACE_LIMITS_H
#define TL_SPACE_LIMITS_H

#include <stdint.h>

struct target;

struct limits {
	const struct target *target; /* the target that has these limits; NULL: any */
	char isa[16];		     /* "avx512", "avx2", "scalar" */
	int lanes;		     /* floats in the widest vector: 16, 8, 1 */
	int vregs;		     /* vector registers: 32, 16, 16 */
	int folds;		     /* is a broadcast from memory an operand of arithmetic? */
	int fma_per_cycle;	     /* vector FMAs started a cycle */
	int wide_turns;		     /* cycles that units need for the widest vectors; 0: one */
	int load_per_cycle, store_per_cycle;
	int issue_per_cycle; /* operations of any kind */
	int fma_latency;     /* cycles */
	int window;	     /* operations in flight */
	unsigned dots;	/* types of sources of which an instruction sums products of groups, as many
			   as fill 32 bits: bits of enum dtype. Those of u8 meet weights of s8 */
	unsigned tiles; /* types of sources that its tile registers multiply (lib/nest/tmul.h): the
			   same bits. All meet weights of the same type, or of s8 */
	unsigned mma;	/* what its tensor cores multiply: bits of enum mma_kind */
	int threads;	/* threads of a timed run */
	int64_t l1d, l2, l3; /* bytes; l1d and l2 a core */
	int l3_rate;	     /* bytes a cycle that a core has from the third level; 0: assumed */
	double hz;	     /* nominal clock; 0 if unknown */
};

#endif
