/* Rotary position embedding (Su et al., "RoFormer", 2021) in plain C: pairs of elements of a head
 * turn by angles that depend on the position of their row.
 */
#ifndef TL_RUN_ROTARY_H
#define TL_RUN_ROTARY_H

#include <stdint.h>

enum { ROTARY_FROM, ROTARY_COS, ROTARY_SIN, ROTARY_AT, ROTARY_TO };

/* Elements: batch x heads x rows x size, or with the heads behind the rows. Cosines and sines: a
 * row of `half` of them for each position, or for each row of each batch. */
struct rotary {
	int64_t batch, heads, rows, size;
	int64_t half; /* pairs that turn; other elements stay */
	int are_heads_first;
	int is_interleaved; /* a pair stands side by side, else `half` apart */
	/* ROTARY_AT: batch x rows positions, or the first one of all batches. NULL: rows are at
	 * `first` and behind it, or, with own_angles, all have cosines and sines of their own. */
	int is_first_told, own_angles;
	int64_t first, positions;
};

/* The part of thread `thread` of `threads` of a struct rotary. -1: a position has no angles. */
int rotary_run(const void *with, float *const *buffers, int thread, int threads);

#endif
