/* The device's memory that all variants of a workload share: inputs, each once in each form, one
 * output, and one workspace. Variants run one at a time.
 */
#ifndef TL_BASELINE_CUDA_STAGE_H
#define TL_BASELINE_CUDA_STAGE_H

#include "lib/nest/elem.h"
#include "lib/baseline/cuda/problem.h"
#include "lib/baseline/baseline.h"

/* How the products of a workload are computed. */
struct numbers {
	enum dtype middle; /* type of their sums between two calls of a variant (stage_middle()) */
	int is_whole;	   /* products and sums are whole numbers of 32 bits */
	int is_tf32;	   /* products are rounded as TF32 */
	int is_strict;	   /* no product may be rounded more than its elements are */
};

struct device;
struct memory;

enum { STAGE_HELD = 32, STAGE_NUMBERS = 4 };

struct stage {
	struct workload w;
	struct baseline_data data; /* the caller's, while inputs are made */
	struct numbers numbers;
	struct device *device;
	struct {
		struct placed as;
		int is_zero;
		struct memory *memory;
	} held[STAGE_HELD];
	int nheld;
	struct {
		float value;
		struct memory *memory;
	} number[STAGE_NUMBERS];
	int nnumbers;
	struct memory *dst, *middle, *workspace;
	size_t workspace_bytes;
};

/* 1; 0: these libraries compute with no such types. */
int stage_numbers(const struct workload *w, struct numbers *n);
/* The type of a tensor's elements in the device's memory. A bias of whole numbers is in single
 * precision there, as the post-ops compute: it is constant, and so converted off the clock. */
enum dtype stage_type(const struct stage *s, enum tensor_role role);

int stage_open(struct stage *s, const struct workload *w, const struct baseline_data *data,
	       struct err *e);
void stage_close(struct stage *s);

/* The address of an input, copied there; of zeros in its place; of a number of single precision.
 * NULL with e filled. */
void *stage_input(struct stage *s, const struct placed *t, struct err *e);
void *stage_zeros(struct stage *s, const struct placed *t, struct err *e);
void *stage_number(struct stage *s, float number, struct err *e);
/* The address of the output, and of what lies between two calls of a variant. */
void *stage_dst(const struct stage *s);
void *stage_middle(const struct stage *s);

/* A variant needs so much. All that was asked for is there after stage_provide(). */
void stage_want(struct stage *s, size_t workspace);
int stage_provide(struct stage *s, struct err *e);
void *stage_workspace(const struct stage *s);

/* Fills the output with NaN, or with a whole number that no result is; copies it back. */
int stage_poison(struct stage *s, struct err *e);
int stage_read(struct stage *s, const struct placed *dst, float *to, struct err *e);

#endif
