/* Algorithms: ways to compute an operator, each a file lib/algo/NAME.c that defines `const struct
 * algo algo_NAME`.
 *
 * An algorithm answers "not applicable" as an ordinary answer, so that callers ask every algorithm
 * about every workload and none knows an operator by name. Its revision is part of each candidate's
 * id: raise it when the same knobs begin to mean another program.
 */
#ifndef TL_ALGO_ALGO_H
#define TL_ALGO_ALGO_H

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/op/op.h"
#include "lib/schedule/range.h"
#include "lib/space/knob.h"
#include "lib/space/limits.h"
#include "lib/target/target.h"

struct nest;

struct algo {
	const char *name;
	const char *summary; /* one sentence, for the manual */
	unsigned needs;	     /* of a target: target_can */
	unsigned types;	     /* of sources that it takes beside f32: bits of enum dtype */
	int widens;	     /* of such reals it also makes results in f32 */
	int narrows; /* of whole numbers of 8 bits, by weights with a sign, it also makes such */
	int dequantizes; /* it takes weights of groups (workload_group()), and no others */
	/* Does it compute channels in different ways, so that channels of equal weights differ by
	 * rounding? Only a choice that was measured takes such an algorithm
	 * (lib/answer/zero_shot.h). */
	int uneven;
	/* Does it compute products in single precision by halves of bf16 (lib/nest/tmul.h)? Its
	 * results differ from others' by some 3e-6 of the largest. */
	int halves;
	/* May rows of its result lie apart (lib/nest/nest.h, pitch)? */
	int pitches;
	int rev;
	int nknobs;
	const struct knob *knob;
	range_list *ranges; /* goes through the knobs: whether it applies, and what they may be */
	/* Builds the nest; knobs must be valid. Memory comes from the nest's arena. */
	int (*build)(const struct workload *w, const int64_t *knob, struct nest *n, struct err *e);
};

extern const struct algo *const algo_list[]; /* NULL at the end; made from the file list */
/* Appends "depthwise|direct|...": the names of all. */
void algo_names(struct buf *out);
/* Appends the fields "algo" and "knobs". */
void algo_put(const struct algo *a, const int64_t *knob, struct buf *out);
const struct algo *algo_find(const char *name, size_t n);
/* "; did you mean gemm?" for a name that no algorithm has, or "" (lib/base/nearest.h). */
const char *algo_hint(const char *name, size_t n);
/* The space for a workload on a machine: 1 and s filled, or 0, not applicable. */
int algo_space(const struct algo *a, const struct workload *w, const struct limits *m,
	       struct knob_space *s);
/* Do these knobs make a program for this workload, whatever the machine? 1, or 0 with the reason in
 * *why. */
int algo_valid(const struct algo *a, const struct workload *w, const int64_t *knob,
	       const char **why);
/* Not where it computes by halves and single precision is asked for as such (strict.h). */
int algo_is_allowed(const struct algo *a);
/* Can the target do what the algorithm needs? */
int algo_suits(const struct algo *a, const struct target *t);

#endif
