/* Sums of products over any letters, in plain C: what an Einsum or a product is that is no
 * workload. */
#ifndef TL_RUN_CONTRACT_H
#define TL_RUN_CONTRACT_H

#include <stdint.h>

enum { CONTRACT_SIDES = 4, CONTRACT_LETTERS = 16 };

/* The letters of the result come first, in the order of its dimensions; it is dense. Then those
 * that are summed. stride: of a side, in elements; 0: it does not have the letter. */
struct contract {
	int sides, letters, kept; /* kept: letters of the result */
	int64_t size[CONTRACT_LETTERS], stride[CONTRACT_SIDES][CONTRACT_LETTERS];
};

/* The part of thread `thread` of `threads` of a struct contract. Buffers: the sides, the result. 0.
 */
int contract_run(const void *with, float *const *buffers, int thread, int threads);

#endif
