/* Elements of tensors as files have them: little-endian, without gaps. */
#ifndef TL_EXTRACT_GRAPH_ELEMENT_H
#define TL_EXTRACT_GRAPH_ELEMENT_H

#include "lib/extract/graph/graph.h"

/* Element i of a tensor of type elem, which must have a size (value_elems_size()) of at most 8
 * bytes: its .i or, of a type of floats, its .f. */
union scalar element_at(int elem, const void *from, int64_t i);
/* Makes a computed number an element of that type: integers wrap around, floats are rounded, and an
 * unknown number stays unknown. */
union scalar element_fit(int elem, union scalar v);
/* Such an element as a number. */
double element_number(int elem, union scalar v);
/* Is it a whole number that a single-precision float does not hold? All up to 2^24 are held.
 * The largest one of i32 or of i64 means "no limit", and counts as held by this type. */
int element_is_cut(int elem, union scalar v);
/* The same elements as single-precision floats. */
void element_floats(int elem, const void *from, int64_t n, float *to);

#endif
