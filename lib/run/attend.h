/* Attention (Vaswani et al., 2017) as ONNX's operator of that name has it: softmax(scale * Q K^T +
 * mask) V, in C (vectors.h). A row whose keys are all masked makes zeros.
 *
 * Where a head has several rows, sixteen of them are multiplied at a time with the head's keys and
 * values, which stand in panels then. A head that has a value that is not finite is computed row by
 * row: what a row does not see must not reach it.
 */
#ifndef TL_RUN_ATTEND_H
#define TL_RUN_ATTEND_H

#include <stdint.h>

enum {
	ATTEND_Q,
	ATTEND_K,
	ATTEND_V,
	ATTEND_MASK,
	ATTEND_LENGTHS,
	ATTEND_HIDES, /* a mask of keys */
	ATTEND_TO
};

/* How a mask of keys tells which are seen: by a number for each, or by the end of each batch, or by
 * the ends of all batches and then their starts. */
enum attend_hides { ATTEND_BY_KEY, ATTEND_BY_END, ATTEND_BY_RANGE };

/* What the result is, as the attribute qk_matmul_output_mode numbers it; or the output. */
enum attend_result {
	ATTEND_PRODUCT,
	ATTEND_CAPPED,
	ATTEND_BIASED,
	ATTEND_SOFTMAX,
	ATTEND_RESULTS,
	ATTEND_OUTPUT = ATTEND_RESULTS,
};

/* Q: batches x heads x rows x size. K and V: batches x kv_heads x keys x size, or value_size. All
 * are dense. Several heads may share one of K and V. */
struct attend {
	int64_t batches, heads, kv_heads, rows, keys, size, value_size;
	int lanes;			   /* of registers, as struct limits has them */
	double scale, cap;		   /* cap: 0: there is none */
	int is_causal;			   /* row i sees keys up to i + past */
	int64_t past;			   /* keys before those of the first row */
	int64_t left, right;		   /* keys before and behind that a row sees; -1: all */
	int is_truth;			   /* the mask has 1 for what is seen; else it is added */
	int64_t mask_keys, mask_stride[4]; /* keys that it has: others are not seen */
	enum attend_hides hides;
	int64_t hides_stride[3];	 /* by key: of batches, rows and keys */
	float hidden;			 /* is added for a key that the mask of keys hides */
	int64_t head_stride, row_stride; /* of the output, in elements */
	enum attend_result result;
};

/* The part of thread `thread` of `threads` of a struct attend. Mask, lengths (how many keys of each
 * batch there are) and a mask of keys may be NULL. -1: there is no memory. */
int attend_run(const void *with, float *const *buffers, int thread, int threads);
/* -1: the last key of a batch, of which buffers[0] has the numbers, is not the last of all. */
int attend_check(const void *with, float *const *buffers, int thread, int threads);

#endif
