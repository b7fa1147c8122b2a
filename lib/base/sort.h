/* Sorting of plain numbers. */
#ifndef TL_BASE_SORT_H
#define TL_BASE_SORT_H

#include <stddef.h>

/* Puts x into rising order, in place. None may be NAN. */
void sort_numbers(double *x, size_t n);

#endif
