/* The numbers by which discrete Fourier transforms multiply.
 *
 * Cosines and sines repeat after a turn: they are computed once for each angle, unless the angles
 * are very many.
 */
#ifndef TL_RUN_TRANSFORM_H
#define TL_RUN_TRANSFORM_H

#include <stdint.h>

/* A transform of `from` numbers of `parts` parts (1: they are real) to `to` ones. */
struct transform {
	int64_t from, to, length;
	int64_t parts, parts_to;
	int is_inverse, is_halved; /* an inverse one, of the first half of its numbers */
	double *angle;		   /* cosine and sine of each; NULL: of none */
};

/* Computes the angles of a transform whose other members are set. transform_end() frees them. */
void transform_begin(struct transform *t);
void transform_end(struct transform *t);
/* Returns what number j of part p is multiplied by in number k of part q. */
double transform_factor(const struct transform *t, int64_t j, int64_t p, int64_t k, int64_t q);

#endif
