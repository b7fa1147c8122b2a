/* Baselines: what a library has for a workload, which candidates are compared with. A library is an
 * object of functions (struct library), a file each: onednn.c for the processor, cuda.c for devices
 * of CUDA.
 *
 * The library is offered as variants: each of its algorithms, in the workload's own layout and in
 * the layout that the library prefers, with fused post-ops. The caller times all variants and takes
 * the best; nothing here times. Weights and bias are constant. They are reordered when the variant
 * is made, outside of the timing. Activations of a variant in the preferred layout are reordered
 * outside of the timing, too, so that each variant is as fast as the library can be.
 *
 * The baseline is the best that the library has: every algorithm that it offers (direct,
 * winograd), in the workload's layout and in the library's own preferred layout, with fused
 * post-ops. An implementation must be as exact as a candidate, or is rejected: a race between
 * programs of different exactness means nothing. Of the three that are fastest in a first timing,
 * the first duels with the others. One that fails there is rejected, too; if it was ahead so far,
 * the others duel anew without it. The database keeps the winner with the system's name, so that
 * later rounds need not repeat this. Somebody who cannot change the layout of a whole model gets
 * another baseline if the winner's layout is not the workload's: the library's best in the
 * workload's own layout is called in the same turns of the final, and has a ratio of its own.
 */
#ifndef TL_BASELINE_BASELINE_H
#define TL_BASELINE_BASELINE_H

#include "lib/base/err.h"
#include "lib/op/op.h"

/* Tensors of one problem by role, dense float arrays (NULL if the workload has none): src, add and
 * dst in the workload's layout, weights in logical order (g, oc/g, ic/g, kh, kw; or b, k, n), bias
 * scale and shift oc or n values, pad ic values; of groups of weights scale and zeros k / group x n
 * values. */
struct baseline_data {
	const float *src, *weights, *bias, *add, *mul, *scale, *shift, *pad, *zeros;
};

struct baseline;

/* A variant, to be found again in another process, by its baseline_name() and baseline_layout(). */
struct baseline_choice {
	const char *name, *layout;
};

/* A library. The functions below call these; what they promise stands there. */
struct library {
	/* Makes every variant the library has for the workload; or, if n > 0, only the n that are
	 * named, in the order in which the library offers them. data->src and data->mul must stay
	 * until baseline_close(): variants that read them as they are do so in place
	 * (data->weights, too, where they are no constant). Returns NULL with e filled if the
	 * library fails; a library without any implementation gives an object with no variants. */
	struct baseline *(*open)(const struct workload *w, const struct baseline_data *data,
				 const struct baseline_choice *only, int n, struct err *e);
	int (*variants)(const struct baseline *b);
	const char *(*name)(const struct baseline *b, int variant);
	const char *(*layout)(const struct baseline *b, int variant);
	int (*run)(struct baseline *b, int variant, struct err *e);
	/* NULL: it never can. */
	int (*capture)(struct baseline *b, int variant, int calls);
	/* NULL: there is no such way. */
	int (*row)(struct baseline *b, int variant, int calls, struct err *e);
	/* NULL: there is no such clock. */
	double (*seconds)(const struct baseline *b);
	int (*write_to)(struct baseline *b, int variant, float *dst, struct err *e);
	int (*output)(struct baseline *b, int variant, float *dst, struct err *e);
	int (*memory)(const struct baseline *b, int variant, int i, const void **data,
		      size_t *bytes);
	int (*is_weights)(const struct baseline *b, int variant, int i);
	void (*close)(struct baseline *b);
	/* The library's name and version, "onednn 2.6.3"; "none" if it is not there. */
	const char *(*version)(void);
};

/* oneDNN, for the processor. It uses the OpenMP team of the calling process; the number of threads
 * is OpenMP's. */
extern const struct library library_onednn;
/* cuDNN and cuBLASLt, for the first device of CUDA, which it opens. It sets NVIDIA_TF32_OVERRIDE
 * for workloads in single precision, so a process opens it for workloads of one element type. */
extern const struct library library_cuda;

/* Each library's own struct begins with this one. */
struct baseline {
	const struct library *of;
};

int baseline_variants(const struct baseline *b);
/* "onednn 2.6.3 direct jit:avx512_core" */
const char *baseline_name(const struct baseline *b, int variant);
/* "nhwc", "nchw", "ab", or "preferred" */
const char *baseline_layout(const struct baseline *b, int variant);
/* Runs one variant to completion: the timed call. */
int baseline_run(struct baseline *b, int variant, struct err *e);
/* Makes one piece of work of a row of so many calls of a variant, which the device then goes
 * through without this machine. 1; 0: it cannot be done. Calls 0 forget the piece. */
int baseline_capture(struct baseline *b, int variant, int calls);
/* Can variants run in rows? Runs so many calls of one in a row: in one piece, if so many were
 * captured last; otherwise this machine starts each. baseline_seconds() then tells the time of
 * each. */
int baseline_has_rows(const struct baseline *b);
int baseline_row(struct baseline *b, int variant, int calls, struct err *e);
/* The time of the last run by the device's own clock. 1; 0: it has none, and the caller times. */
int baseline_seconds(const struct baseline *b, double *seconds);
/* The variant writes its output to dst from now on, in the workload's layout; what is added is
 * there before each run, as a kernel finds it. 1; 0: the variant has another layout, or does not
 * add so. baseline_output() makes no sense then. */
int baseline_write_to(struct baseline *b, int variant, float *dst, struct err *e);
/* The variant's last output as a dense array in the workload's layout. A variant "sum" adds into
 * its output, which grows from run to run (the time is the same): it is run once more, from the
 * start.
 */
int baseline_output(struct baseline *b, int variant, float *dst, struct err *e);
/* The i-th memory that a run of the variant touches, its scratchpad included; each begins at a
 * page. 1, or 0 if there are not so many, or they are not the processor's. */
int baseline_memory(const struct baseline *b, int variant, int i, const void **data, size_t *bytes);
/* Is that memory one of constant weights or bias? */
int baseline_is_weights(const struct baseline *b, int variant, int i);
void baseline_close(struct baseline *b);

#endif
