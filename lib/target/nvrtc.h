/* NVRTC, the run-time compiler of CUDA C++ (NVIDIA, "NVRTC", docs.nvidia.com/cuda/nvrtc): source
 * text to a cubin, the machine code of one architecture, without a GPU. Its library is opened when
 * it is first needed; what is called of it is declared here, and has been the same since CUDA 11.1.
 */
#ifndef TL_TARGET_NVRTC_H
#define TL_TARGET_NVRTC_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* "12.4" to out. -1 with errno ENOENT: there is none. */
int nvrtc_version(struct buf *out, struct err *e);
/* Compiles for "sm_90" and the like: the cubin's bytes to out. log gets what the compiler says,
 * also of each kernel's registers and spills ("8 bytes spill stores"). -1: it refuses the source,
 * or the architecture, or is not there; then e is filled. */
int nvrtc_compile(const char *arch, const char *source, struct buf *out, struct buf *log,
		  struct err *e);

#endif
