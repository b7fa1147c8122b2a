/* True answers that are kept in files, so that the same workload and seed need not be computed once
 * more: as floats of this machine, behind their number and a hash of them.
 */
#ifndef TL_TRIAL_KEPT_H
#define TL_TRIAL_KEPT_H

#include <stddef.h>

/* 1: n floats were read. 0: the file is not there, or is not what kept_save() made of n floats. */
int kept_load(const char *path, float *to, size_t n);
/* Replaces the file whole, or leaves it as it was: that it cannot be kept is no error. */
void kept_save(const char *path, const float *from, size_t n);

#endif
