/* cuDNN 7.6 to 8: every algorithm for a convolution, with bias, residual and relu fused or as steps
 * behind it. Version 9 has engines.h instead. Nothing here times: the caller does, as cuDNN's own
 * search (cudnnFindConvolutionForwardAlgorithm) would, and so finds what that would find.
 */
#ifndef TL_REF_CUDA_LEGACY_H
#define TL_REF_CUDA_LEGACY_H

#include "lib/ref/cuda/finisher.h"

struct legacy;

/* Begins with cuDNN; NULL with e filled. s must stay until legacy_close(). */
struct legacy *legacy_open(struct stage *s, struct err *e);
void legacy_close(struct legacy *l);
/* Adds all variants for a convolution, which must stay. -1: the device has no memory. What the
 * library refuses is left out, and a convolution whose ends are not padded alike. */
int legacy_offer(struct legacy *l, const struct problem *p, struct variants *to, struct err *e);
/* NULL where l is. */
struct finisher *legacy_finisher(struct legacy *l);
/* "cudnn 8.9.7", or an empty text if no such version is there. */
const char *legacy_version(void);

#endif
