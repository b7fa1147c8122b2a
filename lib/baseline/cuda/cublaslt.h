/* cuBLASLt for products: every algorithm that its heuristic answers with, its epilogues, and what
 * they cannot do left to another library. The library is opened when it is first needed.
 */
#ifndef TL_BASELINE_CUDA_CUBLASLT_H
#define TL_BASELINE_CUDA_CUBLASLT_H

#include "lib/baseline/cuda/finisher.h"

struct cublaslt;

/* Begins with cuBLASLt; NULL with e filled. s must stay until cublaslt_close(). */
struct cublaslt *cublaslt_open(struct stage *s, struct err *e);
void cublaslt_close(struct cublaslt *c);
/* Adds all variants for a product. What no epilogue does is left to `rest`, which may be NULL. -1:
 * the device has no memory. What cuBLASLt refuses is left out. */
int cublaslt_offer(struct cublaslt *c, const struct problem *p, struct finisher *rest,
		   struct variants *to, struct err *e);
/* "cublaslt 12.9.1", or an empty text if the library is not there. */
const char *cublaslt_version(void);

#endif
