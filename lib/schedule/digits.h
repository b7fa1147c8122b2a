/* Activations as whole numbers, for products with weights that are some: sums of such products have
 * an instruction (EXPR_DOT), which multiplies four values at a time.
 *
 * A group of activations has one step, its largest value divided by 127. A value is a sum of digits
 * of 8 bits, of which each is worth a 254th of the one before. Three of them are as exact as single
 * precision is where values are as large as the group's largest: 127 * 254^2 is nearly 2^23. (Two,
 * which are 16 bits, make an error of 1.5e-5 of evenly spread values.) Dettmers et al.,
 * "LLM.int8()", NeurIPS 2022, have one digit, and what is lost there is why some columns are left
 * in 16 bits. A row with an infinite value or NaN makes sums that are NaN.
 */
#ifndef TL_SCHEDULE_DIGITS_H
#define TL_SCHEDULE_DIGITS_H

#include "lib/nest/nest.h"

enum {
	DIGITS = 3,
	DIGITS_LANES =
		16 /* values of k that are written together, of which a group has a multiple */
};

/* The left side, of so many rows and values of k. */
struct digits {
	int64_t rows, k, group;
	int lanes;     /* of the vectors that make them: DIGITS_LANES or half of these */
	double middle; /* what stands for 0 among weights; 0: each group has a number of its own */
	int values;    /* team's buffer of s8: DIGITS_LANES values of each digit after the other */
	int terms;     /* team's buffer: of a row and group, the step, and minus the sum of its
			* values, times the middle where there is one */
};

/* Adds the phase that makes digits of the elements of src. */
void digits_make(struct nest *n, struct digits *d, int src);
/* Digit `digit` of value k of a row, k = DIGITS_LANES * units + rest. */
struct affine digits_at(const struct digits *d, struct affine row, struct affine units, int digit,
			struct affine rest);
/* Where a row's term for the group is; the next one is the second term. */
struct affine digits_term(const struct digits *d, struct affine row, struct affine group);
/* Returns the worth of a digit of this number, in units of the first. */
double digits_worth(int digit);

#endif
