/* Element types, layouts and post-ops: the closed lists that a workload is written with. */
#ifndef TL_SPACE_TYPES_H
#define TL_SPACE_TYPES_H

#include <stdint.h>

/* Types of elements, by benchdnn's names. */
enum dtype {
	DTYPE_F32,
	DTYPE_F16,
	DTYPE_BF16,
	DTYPE_TF32, /* elements in single precision, products of their first 11 bits */
	DTYPE_S32,
	DTYPE_S8,
	DTYPE_U8,
	DTYPE_S4,
	DTYPE_U4,
	DTYPES
};

/* The element types of a workload: of the activations that it reads, of the weights (matmul: the
 * right side), and of what it makes. They are written as benchdnn's --dt has them: one name where
 * all are equal, else "u8:s8:f32". */
struct dtypes {
	enum dtype src, wei, dst;
};
enum { DTYPES_TEXT = 16 };

/* Layout of the activations in memory, outermost dimension first. Weights have no layout in a
 * workload: they are constant and packed off the clock (oihw is their logical order, k x n for
 * matmul). */
enum layout {
	LAYOUT_NHWC,
	LAYOUT_NCHW,
	LAYOUT_AB,    /* row-major matrices */
	LAYOUT_NDHWC, /* with a depth */
	LAYOUT_NCDHW,
	LAYOUTS
};

/* Fused element-wise operations on the output, in the order of a workload's list. */
enum post {
	POST_BIAS,	 /* + bias[output channel or column] */
	POST_ADD,	 /* + a tensor of the output's shape and layout */
	POST_MUL,	 /* x another such tensor */
	POST_RELU,	 /* max(x, 0) */
	POST_RELU6,	 /* min(max(x, 0), 6) */
	POST_CLIP,	 /* min(max(x, a), b) */
	POST_LEAKY_RELU, /* x if x > 0, else a * x */
	POST_HARDSWISH,	 /* x * min(max(x / 6 + 1/2, 0), 1) */
	POST_SIGMOID,	 /* 1 / (1 + exp(-x)) */
	POST_TANH,
	POST_SILU,	/* x * sigmoid(x) */
	POST_GELU,	/* x * (1 + erf(x / sqrt(2))) / 2 */
	POST_GELU_TANH, /* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2 */
	POST_SCALE,	/* x scale[output channel or column], of sums of whole numbers */
	POST_SHIFT,	/* + shift[output channel or column], where scales and zero points are; of
			   a result of whole numbers, the nearest one + shift */
	POST_PAD,	/* nothing happens to the output: what lies outside of the source's image is
			   pad[channel of the source], not 0 */
	POST_GROUPS,	/* nothing happens to the output: weights of few bits stand for reals, and a
			   values of k of a column share a scale: (weight - zero point) * scale */
	POST_ZEROS,	/* the same: each of these groups has its own zero point, not the middle */
	POSTS
};

/* One of them with its numbers, which are finite single-precision values; 0 where it has none. */
struct post_op {
	enum post kind;
	double a, b;
};
enum { POST_TEXT = 48 };

const char *dtype_name(enum dtype d);
const char *layout_name(enum layout l);
const char *post_name(enum post p);
/* The value of a name of n bytes, or -1. */
int dtype_find(const char *s, unsigned long n);
int layout_find(const char *s, unsigned long n);
int dtype_bits(enum dtype d); /* of an element */
int dtype_is_int(enum dtype d);
int64_t dtype_most(enum dtype d); /* of whole numbers: how far from 0 they go */
/* The number that stands for 0 where nothing says another one: the middle of those without a
 * sign. */
int64_t dtype_middle(enum dtype d);

void dtypes_print(const struct dtypes *d, char text[DTYPES_TEXT]);
/* From n bytes of text. NULL, or what is wrong with the text: words that end the sentence "the
 * element type TEXT ...". */
const char *dtypes_parse(struct dtypes *d, const char *s, unsigned long n);
/* NULL, or why nothing computes with these types, likewise. */
const char *dtypes_check(const struct dtypes *d);
int dtypes_equal(const struct dtypes *a, const struct dtypes *b);
/* Are they all of single precision? */
int dtypes_are_f32(const struct dtypes *d);
/* Are they one type, of reals? */
int dtypes_are_one_real(const struct dtypes *d);
/* Are source and weights of one type of reals, and is the result f32? */
int dtypes_widen(const struct dtypes *d);
/* Are source and weights whole numbers of 8 bits, and the result f32 or s32? */
int dtypes_are_whole(const struct dtypes *d);
/* Are source and weights such numbers, those of the weights with a sign, and is the result of 8
 * bits, s32 or f32? Products are defined for all these and for one type of reals. */
int dtypes_are_bytes(const struct dtypes *d);
/* The relative error, L2 or largest over largest, that a result of this type may have, where
 * `single` is what one of single precision may have. */
double dtype_error(enum dtype d, double single);

/* A post-op as records have it: "relu", "clip(-1,1)"; numbers in their shortest form. */
void post_print(const struct post_op *p, char text[POST_TEXT]);
/* From n bytes of text. What is relu or relu6 by other words becomes that. NULL, or what is wrong
 * with the text: words that end the sentence "the post-op TEXT ...". */
const char *post_parse(struct post_op *p, const char *s, unsigned long n);
/* The length of the first post-op in a list with commas, which stand in parentheses, too. */
unsigned long post_span(const char *list);

#endif
