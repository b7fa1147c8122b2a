/* Types of elements in memory. Expressions compute in single or double precision: a load from a
 * buffer of other elements converts them, and a store rounds to the nearest, ties to even. A whole
 * number that is too large or too small becomes the largest or smallest of its type; what is no
 * number becomes the smallest. Registers are of single or double precision, but for sums of whole
 * numbers (mma.h), which loads and stores convert likewise, and for groups. Whole numbers of 16
 * bits stand in copies and packings alone: no tensor has them.
 *
 * A group has as many elements side by side as fill 32 bits. Products of groups are summed by one
 * instruction (EXPR_DOT). Its value is the whole number that these bits are: only loads, stores to
 * registers and to memory of their members, broadcasts, spreads and products know groups, and sums
 * and differences those of s16. A group of s16 is loaded from elements of 16 bits, or from those of
 * 8 bits, which become wider.
 *
 * Expressions stay in single precision: a load widens, and a store rounds. The host keeps all
 * operands as floats, and runners convert them.
 */
#ifndef TL_NEST_ELEM_H
#define TL_NEST_ELEM_H

#include <stdint.h>

#include "lib/space/types.h"

enum elem {
	ELEM_F32,
	ELEM_F64,
	ELEM_BF16,
	ELEM_F16,
	ELEM_S32,
	ELEM_S8,
	ELEM_U8,
	ELEM_BF16X2,
	ELEM_S8X4,
	ELEM_U8X4,
	ELEM_S16X2,
	ELEM_S16,
};

/* Of a workload's tensor of this type; ELEM_F32 for types that nothing computes with. */
enum elem elem_of(enum dtype d);
int elem_size(enum elem e);	/* bytes */
int elem_is_float(enum elem e); /* of C's own: in single or double precision */
int elem_is_whole(enum elem e); /* whole numbers of 8, 16 or 32 bits */
void elem_range(enum elem e, double *from, double *to); /* of whole numbers: least and largest */
int elem_group(enum elem e); /* elements of a group of this type; 1: it is none */
/* May a group of this type be loaded from elements of that one? */
int elem_makes_group(enum elem e, enum elem member);
/* The type in which products of such groups are summed. */
enum elem elem_sum(enum elem group);
/* A group of these elements in memory, as its bits. */
uint32_t elem_read_group(enum elem group, enum elem member, const void *from);
/* Returns the bits of a group that has this element as member m, and else zeros. */
uint32_t elem_group_of(enum elem group, int m, double value);
/* The sum of c and the products of two groups: each in single precision, or of 32 bits, of which
 * those that do not fit are lost. The types are a's and b's. */
double elem_dot(const enum elem of[2], double a, double b, double c);
/* Returns the sums of the members of two groups of s16, or their differences: the lower 16 bits of
 * each. */
double elem_add_pairs(double a, double b, int is_difference);
/* A whole number, or both numbers of a pair of s16, times a whole factor; they wrap. */
double elem_times(enum elem e, double a, double factor);
/* The lower 32 bits of a whole number, with their sign. */
double elem_wrap(double x);
/* Element i of an array, and the bytes of a value. */
double elem_read(enum elem e, const void *array, int64_t i);
void elem_write(enum elem e, void *array, int64_t i, double x);
/* Arrays of n elements, from and to single precision. */
void elem_from_floats(enum elem e, const float *from, void *to, int64_t n);
void elem_to_floats(enum elem e, const void *from, float *to, int64_t n);
/* The value of the type that is nearest to x. */
double elem_round(enum elem e, double x);

#endif
