/* Operators of neural networks with exact shapes, by kernels that Tensor Lathe tuned.
 *
 * An operator is named as its records name it: the operator ("conv2d", "matmul"), the problem in
 * the notation of oneDNN's benchdnn, the layout of the activations, the post-ops, and the types of
 * the elements. All tensors are dense, at any address (multiples of 64 bytes are faster):
 * activations in the layout, weights as output channels x input channels of a group x kernel rows x
 * kernel columns (conv2d) or k x n, row by row (matmul), the bias one value an output channel or
 * column.
 *
 * Elements are single precision (float), bf16 (the upper half of a float, in 16 bits: uint16_t), or
 * whole numbers of 8 or 32 bits (int8_t, uint8_t, int32_t). An operator says which its source, its
 * weights and its result are; a right side that is computed is as the weights, and what is added or
 * multiplied is as the result. The constant operands of a handle are always given in single
 * precision, also where they are whole numbers. tlx_from_floats() and tlx_to_floats() convert.
 *
 * Operators in 8 bits sum products of whole numbers, and begin with the bias, which is a whole
 * number, too. Their post-ops: "scale" multiplies with a factor of the output channel or column,
 * which is the scale of the source by that of the weights over that of the result; "shift" adds the
 * zero point of the result, a value of each channel, to the rounded result; "pad" gives the value
 * of each input channel outside of the image: the zero point of the source. The zero point of the
 * source itself is part of the bias: bias - zero point * (sum of the weights of the channel). A
 * bias beyond 2^24 is rounded, as it is given in single precision, and with the sum it must stay
 * below 2^31. Operators with "groups(a)" multiply by weights of few bits: the real weight is
 * (weight - zero point) * scale, with a scale, and with "zeros" a zero point, of each a rows of a
 * column, k / a x n; without "zeros" the zero point is 8 (u4) or 128 (u8).
 *
 * A handle is an operator with its weights, packed once as the kernel for this CPU wants them. The
 * CPU is asked when a handle is made; the environment variable
 * TLX_ISA=avx512_bf16|avx512_vnni|avx512|avx2|scalar|definition makes it take a kernel for less
 * than the CPU has (avx512: one without the instructions for bf16 and for 8 bits).
 */
#ifndef TLX_H
#define TLX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weights alone are of 4 bits (0 to 15, as floats), packed weights alone of 16. */
enum tlx_type { TLX_F32, TLX_BF16, TLX_S32, TLX_S16, TLX_S8, TLX_U8, TLX_U4 };

/* What the library holds. */
struct tlx_op {
	const char *op, *prob, *layout, *post; /* post: "bias,relu"; "" if there are none */
	/* Elements of each tensor; 0: the operator has none. */
	size_t src, weights, bias, add, mul, dst;
	int rhs_computed; /* matmul: the right side is an operand of each call, not of the handle */
	const char *dtype; /* "f32", "bf16", or "u8:s8:f32": source, weights, result */
	enum tlx_type src_type, weights_type, dst_type; /* the same as numbers */
	size_t scale, shift, pad, zeros;		/* elements, likewise */
};
size_t tlx_count(void);
const struct tlx_op *tlx_at(size_t i);
/* layout and post may be NULL: the first operator with this problem, in f32 if there is one. NULL:
 * there is none. */
const struct tlx_op *tlx_find(const char *op, const char *prob, const char *layout,
			      const char *post);
/* The same in these types. */
const struct tlx_op *tlx_find_typed(const char *op, const char *prob, const char *layout,
				    const char *post, const char *dtype);
size_t tlx_type_bytes(enum tlx_type type); /* of an element */
/* Rounds to the nearest of the type, ties to even; whole numbers end where the type does, and what
 * is no number becomes the smallest of them. */
void tlx_from_floats(enum tlx_type type, const float *from, void *to, size_t n);
void tlx_to_floats(enum tlx_type type, const void *from, float *to, size_t n);
void tlx_to_bf16(const float *from, uint16_t *to, size_t n);
void tlx_from_bf16(const uint16_t *from, float *to, size_t n);

/* Makes a handle for calls in `threads` threads, 1 or more. The weights and the bias (NULL where
 * the operator has none) are copied. NULL: no memory (errno is ENOMEM), an operand is missing, or
 * there are more than 64 threads and more than 4 for each CPU (EINVAL). */
struct tlx *tlx_create(const struct tlx_op *op, const float *weights, const float *bias,
		       int threads);
/* The same for operators that have more constant operands; NULL for those that it lacks. */
struct tlx_constants {
	const float *weights, *bias;
	const float *scale;	  /* in 8 bits, or of groups of weights */
	const float *shift, *pad; /* in 8 bits */
	const float *zeros;	  /* of groups of weights */
};
struct tlx *tlx_create_with(const struct tlx_op *op, const struct tlx_constants *constants,
			    int threads);
void tlx_destroy(struct tlx *handle);
/* "avx512: winograd vl=16 nv=2 ..": the kernel that a handle runs. */
const char *tlx_kernel_name(const struct tlx *handle);

/* Operands of a call, in the operator's types. Where the post-ops have "add", dst holds the tensor
 * that is added, and gets the sum. */
struct tlx_data {
	const void *src;
	void *dst;
	const void *mul; /* where the post-ops have "mul" */
	const void *rhs; /* where the right side is computed */
};
/* One call: 0, or -1 if an operand is missing. It allocates nothing. It uses the handle's scratch
 * memory, so calls on one handle come one after the other; different handles may run at the same
 * time. */
int tlx_run(struct tlx *handle, const void *src, void *dst);
int tlx_run_data(struct tlx *handle, const struct tlx_data *data);
/* The same with the caller's scratch memory, of so many bytes, at a multiple of 64: calls on one
 * handle may then run at the same time. */
size_t tlx_scratch_bytes(const struct tlx *handle);
int tlx_run_in(const struct tlx *handle, const struct tlx_data *data, void *scratch);

#ifdef __cplusplus
}
#endif
#endif
