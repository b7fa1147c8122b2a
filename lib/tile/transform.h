/* The one-dimensional transforms of minimal filtering (toom.h) as code: a row or a column of values
 * is loaded into registers, a vector each, and multiplied by B^T or A^T. Values may lie in any
 * buffer; where those that come out go to is the caller's.
 */
#ifndef TL_TILE_TRANSFORM_H
#define TL_TILE_TRANSFORM_H

#include "lib/nest/nest.h"
#include "lib/tile/toom.h"

struct transform {
	struct nest *n;
	int lanes;
	enum elem elem; /* ELEM_F32; ELEM_S16X2 or ELEM_S32 where all factors are whole */
	int in, sums;	/* registers: the values, and sums and differences of their pairs */
};

/* A place in memory: value i at at + i * step. */
struct line {
	int buffer;
	struct affine at;
	int64_t step;
};

/* Takes value i of what comes out. */
typedef void transform_put(const struct transform *f, int i, const struct expr *x, void *arg);

/* Declares registers for the transforms of both, of these elements. They live where they are used.
 */
void transform_open(struct transform *f, struct nest *n, enum elem elem, int lanes,
		    const struct toom *a, const struct toom *b);
/* The values of a line whose bit is set in `there`. */
void transform_load(const struct transform *f, const struct line *from, unsigned there);
/* B^T times the inputs; those whose bit is not set in `there` are 0, and have not been loaded. */
void transform_input(const struct transform *f, const struct toom *t, unsigned there,
		     transform_put *put, void *arg);
/* A^T times the products: the first `rows` of what comes out. */
void transform_output(const struct transform *f, const struct toom *t, int rows, transform_put *put,
		      void *arg);
/* Stores at value i of a line, a struct line. */
void transform_put_line(const struct transform *f, int i, const struct expr *x, void *line);
/* The first n values, a bit each. */
unsigned transform_all(int n);

#endif
