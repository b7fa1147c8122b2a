/* The kernels themselves, for callers who want neither handles nor dispatch; kernels/NAME.c says of
 * each what it computes.
 *
 * Each thread of a team calls a kernel with its number. Where there are several threads, the kernel
 * may call the barrier, in which each waits for the others.
 */
#ifndef TLX_KERNELS_H
#define TLX_KERNELS_H

#include "tlx.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tlx_isa {
	TLX_DEFINITION,
	TLX_SCALAR,
	TLX_AVX2,
	TLX_AVX512,
	TLX_AVX512_VNNI,
	TLX_AVX512_BF16,
	TLX_AVX512_AMX
};
enum { TLX_MAX_SLOTS = 32 };

typedef void tlx_function(const long *params, void *const *buffers, long thread, long threads,
			  void (*barrier)(void));

/* What buffers[i] is. */
enum tlx_slot_kind {
	TLX_SRC,
	TLX_WEIGHTS,
	TLX_BIAS,
	TLX_ADD,
	TLX_MUL,
	TLX_SCALE,
	TLX_SHIFT,
	TLX_PAD,
	TLX_ZEROS,
	TLX_DST,
	TLX_WORKSPACE, /* `size` elements for each thread */
	TLX_TEAM,      /* `size` elements for all threads together */
};
struct tlx_slot {
	enum tlx_slot_kind kind;
	size_t size; /* elements */
	/* Not NULL: the kernel reads the weights or another constant as this function packs them,
	 * size floats, which are then rounded to the type. */
	void (*pack)(const float *from, float *to);
	enum tlx_type type; /* of the elements */
};
static inline size_t tlx_slot_bytes(const struct tlx_slot *slot)
{
	return slot->size * tlx_type_bytes(slot->type);
}

struct tlx_kernel {
	const char *name;
	enum tlx_isa isa; /* what it needs of the CPU */
	tlx_function *function;
	const long *params;
	int nslots;
	const struct tlx_slot *slot;
	int alone;  /* it has no work to share: one thread runs it */
	int phases; /* between which its threads meet in the barrier */
	/* What a call took, in seconds, where the kernel was tuned, in so many threads. 0 threads:
	 * it was not measured. */
	double measured_s;
	int measured_threads;
};

/* An operator's kernels, the widest first. The last one is its definition: it runs on any x86-64.
 */
struct tlx_entry {
	struct tlx_op op;
	const struct tlx_kernel *const *kernel; /* ends with NULL */
};
extern const struct tlx_entry tlx_table[];
extern const size_t tlx_table_size;

/* As tlx_create_with(), by no more than this instruction set. */
struct tlx *tlx_create_for(const struct tlx_op *op, const struct tlx_constants *constants,
			   int threads, enum tlx_isa most);
/* The kernel that a handle runs. */
const struct tlx_kernel *tlx_kernel_of(const struct tlx *handle);
/* Makes ready for teams of so many threads; and runs a kernel in one. Buffers by slot. */
int tlx_team_start(int threads);
void tlx_team_run(const struct tlx_kernel *kernel, void *const *buffers, int threads);

#ifdef __cplusplus
}
#endif
#endif
