/* Operators and workloads.
 *
 * An operator is a file lib/op/NAME.c that defines `const struct op op_NAME`: its dimensions, its
 * notation, its tensors, its flops and the naive nest that defines what it computes. A workload is
 * one operator with exact dimensions, element type, layout and post-ops; its id does not depend on
 * count, source or user fields.
 */
#ifndef TL_OP_OP_H
#define TL_OP_OP_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/io/json.h"
#include "lib/space/types.h"

enum { OP_MAX_DIMS = 24, OP_MAX_POSTS = 6, PROB_MAX = 320 };

struct workload;
struct nest;
struct post_naive;

/* What a tensor of a workload is for; also the order in which kernels get them. */
enum tensor_role {
	TENSOR_SRC,	/* activations: a convolution's source, matmul's left side */
	TENSOR_WEIGHTS, /* a convolution's weights (logical g x oc/g x ic/g x kh x kw), matmul's
			   right side (b x k x n), attention's keys, the factors of a
			   normalization's columns */
	TENSOR_BIAS,	/* oc or n values */
	TENSOR_ADD, /* what is added, of the shape and layout of dst: a kernel finds it in dst, and
		       puts the sum in its place; only the definition (naive) reads it as an operand
		       of its own. Of attention: the mask, b x h x m x n, an operand of its own */
	TENSOR_MUL, /* what multiplies, of the shape and layout of dst; of attention: the values,
		       b x h x n x v */
	TENSOR_SCALE, /* oc or n factors of sums of whole numbers; of groups of weights, one for
			 each group and column, k / group x n */
	TENSOR_SHIFT, /* oc or n values, which are added */
	TENSOR_PAD,   /* ic values: what lies outside of the source's image, as its zero point */
	TENSOR_ZEROS, /* zero points of groups of weights, k / group x n */
	TENSOR_DST,
	TENSOR_ROLES,
	OP_MAX_TENSORS = TENSOR_ROLES /* one of each */
};

struct tensor {
	enum tensor_role role;
	int64_t size; /* elements, dense */
	int is_const; /* weights and bias known ahead: packing them is off the clock */
};

struct op {
	const char *name;
	const char *summary;
	int ndims;
	const char *dim[OP_MAX_DIMS]; /* names, as in the canonical text */
	enum layout layout;	      /* the one that is meant where none is named */
	/* Problem text (the notation of oneDNN's benchdnn) to dimensions and back. */
	int (*parse)(const struct op *op, const char *prob, int64_t *dim, struct err *e);
	void (*print)(const struct op *op, const int64_t *dim, struct buf *out);
	/* Are the dimensions, layout and post-ops a problem at all? Refuses sizes whose tensors
	 * pass 2^40 elements. */
	int (*check)(const struct workload *w, struct err *e);
	/* Makes the dimensions that follow from others, where dim is `from` with those changed that
	 * have a byte in set. NULL: none does. What follows may be no problem. */
	void (*follow)(const struct op *op, const int64_t *from, const char *set, int64_t *dim);
	/* 2 x multiply-adds; of an operator without any, the operations of its definition. Post-ops
	 * are not counted, but by eltwise, which has nothing else. */
	int64_t (*flops)(const struct workload *w);
	int is_product; /* it multiplies and adds */
	int (*tensors)(const struct workload *w, struct tensor t[OP_MAX_TENSORS]); /* how many */
	/* The nest that defines the operator, with double accumulators where wide is set. */
	int (*naive)(const struct workload *w, int wide, struct nest *n, struct err *e);
	/* What the operator is to functions that it shares with others (convolution.h, rows.h). */
	const void *form;
};

struct workload {
	const struct op *op;
	int64_t dim[OP_MAX_DIMS];
	struct dtypes dtype;
	enum layout layout;
	int rhs_const; /* matmul: the right side is constant; other operators: always 1 */
	int npost;
	struct post_op post[OP_MAX_POSTS];
	int64_t flops;
	struct id id;
	char prob[PROB_MAX];
	char dtype_text[DTYPES_TEXT];
};

/* conv2d: oh and ow are given, so that asymmetric padding on the far side follows; dh and dw count
 * from 0 as in benchdnn. */
enum conv2d_dim {
	CONV_MB,
	CONV_G,
	CONV_IC,
	CONV_IH,
	CONV_IW,
	CONV_OC,
	CONV_OH,
	CONV_OW,
	CONV_KH,
	CONV_KW,
	CONV_SH,
	CONV_SW,
	CONV_PH,
	CONV_PW,
	CONV_DH,
	CONV_DW,
};
enum conv3d_dim {
	CONV3D_MB,
	CONV3D_G,
	CONV3D_IC,
	CONV3D_ID,
	CONV3D_IH,
	CONV3D_IW,
	CONV3D_OC,
	CONV3D_OD,
	CONV3D_OH,
	CONV3D_OW,
	CONV3D_KD,
	CONV3D_KH,
	CONV3D_KW,
	CONV3D_SD,
	CONV3D_SH,
	CONV3D_SW,
	CONV3D_PD,
	CONV3D_PH,
	CONV3D_PW,
	CONV3D_DD,
	CONV3D_DH,
	CONV3D_DW,
};
enum matmul_dim { MATMUL_B, MATMUL_M, MATMUL_K, MATMUL_N };
enum pool2d_dim {
	POOL_MB,
	POOL_IC,
	POOL_IH,
	POOL_IW,
	POOL_OH,
	POOL_OW,
	POOL_KH,
	POOL_KW,
	POOL_SH,
	POOL_SW,
	POOL_PH,
	POOL_PW,
	POOL_DH,
	POOL_DW,
};
enum pool3d_dim {
	POOL3D_MB,
	POOL3D_IC,
	POOL3D_ID,
	POOL3D_IH,
	POOL3D_IW,
	POOL3D_OD,
	POOL3D_OH,
	POOL3D_OW,
	POOL3D_KD,
	POOL3D_KH,
	POOL3D_KW,
	POOL3D_SD,
	POOL3D_SH,
	POOL3D_SW,
	POOL3D_PD,
	POOL3D_PH,
	POOL3D_PW,
	POOL3D_DD,
	POOL3D_DH,
	POOL3D_DW,
};
enum rows_dim { ROWS_R, ROWS_C }; /* softmax, layer_norm, rms_norm, eltwise */
/* m queries and n keys for each of h heads in each of b texts; keys of k numbers, values of v.
 * mask: 0 none, 1 a tensor that is added to the scores. */
enum attention_dim {
	ATTENTION_B,
	ATTENTION_H,
	ATTENTION_M,
	ATTENTION_N,
	ATTENTION_K,
	ATTENTION_V,
	ATTENTION_MASK,
};

extern const struct op op_conv2d, op_conv3d, op_matmul;
/* Operators that no algorithm computes on a processor; softmax and the normalizations are computed
 * on GPUs. */
extern const struct op op_attention, op_avgpool2d, op_avgpool3d, op_eltwise, op_layer_norm,
	op_maxpool2d, op_maxpool3d, op_rms_norm, op_softmax;

/* Appends "conv2d|matmul": the names of all. */
void op_names(struct buf *out);
const struct op *op_find(const char *name, size_t n);
extern const struct op *const op_list[]; /* NULL at the end; made from the file list */

/* Bounds of a workload: of a dimension, of the elements of a tensor, and of the operations, which
 * are what a record can say. */
#define OP_MOST_DIM INT32_MAX
#define OP_MOST_ELEMENTS ((int64_t)1 << 40)
#define OP_MOST_FLOPS (((int64_t)1 << 53) - 1)
/* The product of n factors; -1 if it is above the limit, or if one of them is negative. */
int64_t op_product(const int64_t *factor, int n, int64_t limit);
/* Are the first n dimensions of the workload sizes? */
int op_check_dims(const struct workload *w, int n, struct err *e);
/* Is this n"name", which ends the text of a problem? */
int op_is_label(const char *s);

/* Completes a workload whose op, dim, dtype, layout, rhs_const and post are set: checks, prob,
 * dtype_text, flops, id. */
int workload_finish(struct workload *w, struct err *e);
/* From the fields of a workload record, or of the "workload" object inside a candidate or result.
 * "op" and "prob" are needed, the rest has defaults. Recomputes prob, flops and id; flops or an id
 * that disagree are errors, and so are a "count", "round" or "budget" that is no whole number of 0
 * or more; another spelling of the same prob is not. */
int workload_from_json(struct workload *w, const struct json_doc *d, const struct json *obj,
		       struct err *e);
/* From --op, --prob and friends. layout and post may be NULL (the operator's default, none). */
int workload_from_text(struct workload *w, const char *op, const char *prob, const char *layout,
		       const char *post, struct err *e);
/* Gives it other element types, "u8:s8:f32", and finishes it again. */
int workload_set_dtype(struct workload *w, const char *s, size_t n, struct err *e);
/* Writes the fields
 * `"workload_id":..,"op":..,"prob":..,"dtype":..,"layout":..,"post":[..][,"rhs":"computed"],"flops":..`
 * without braces. "rhs" is written for matmul only. */
void workload_fields(const struct workload *w, struct buf *out);
/* The post-ops as text, joined by commas; an empty one if there are none. */
void workload_posts(const struct workload *w, struct buf *out);
/* Values of k of a column whose weights share a scale (POST_GROUPS); 0: weights are as they are. */
int64_t workload_group(const struct workload *w);
int workload_has_post(const struct workload *w, enum post p);
/* Elements of the tensor of this role; 0 if the workload has none. */
int64_t workload_size(const struct workload *w, enum tensor_role role);
/* The tensors that the post-ops read, of an operator with so many channels or columns and so many
 * outputs; how many. */
int workload_post_tensors(const struct workload *w, int64_t channels, int64_t outputs,
			  struct tensor *t);
/* The type of the tensor of this role, and bytes of so many of its elements. A bias has the type of
 * the result, but s32 where the source is of whole numbers. */
enum dtype workload_dtype(const struct workload *w, enum tensor_role role);
int64_t workload_tensor_bytes(const struct workload *w, enum tensor_role role, int64_t elements);
/* The nest that defines it, op->naive(). Its arrays are of single precision, whatever the
 * workload's types are. Products of whole numbers of 8 bits are defined as their sum, which then
 * goes through the post-ops; a result of whole numbers is rounded to the nearest. What is defined
 * for no types such as the workload's is an error. */
int workload_define(const struct workload *w, int wide, struct nest *n, struct err *e);
/* The end of the nest that defines it: declares the same tensors and the output, and sets these and
 * the post-ops in p (lib/tile/post.h). */
void workload_post_naive(const struct workload *w, int64_t channels, int64_t outputs,
			 struct nest *n, struct post_naive *p);
/* Bytes of all tensors, each read or written once: the compulsory traffic. */
int64_t workload_bytes(const struct workload *w);

#endif
