/* These functions read numbers that people write: in options, in limits, in conditions. They are
 * decimal, with a point and an exponent if need be: no sign, no blank before them, no 0x, inf or
 * nan, and none that is too large for its type. C's functions take all of these.
 */
#ifndef TL_BASE_NUMBER_H
#define TL_BASE_NUMBER_H

#include <stdint.h>

/* Reads the number that s begins with. *end gets what stands behind it; if end is NULL, nothing
 * may. -1: there is no such number, and *out and *end stay as they are. */
int number_real(const char *s, const char **end, double *out);
/* The same of a whole number, which has digits alone. */
int number_whole(const char *s, const char **end, int64_t *out);

#endif
