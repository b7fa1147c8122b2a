/* What the stand-in for NVRTC has compiled, kept for whoever compiles the same again: as NVIDIA's
 * driver does, in the folder $CUDA_CACHE_PATH, unless CUDA_CACHE_DISABLE is 1.
 */
#ifndef TL_TESTS_EMULATOR_KEPT_H
#define TL_TESTS_EMULATOR_KEPT_H

#include "lib/base/buf.h"

/* Whole files. They return 0 or -1. */
int file_put(const char *path, const struct buf *text);
int file_take(const char *path, struct buf *out);

/* Where the object is kept that is made of all these bytes; an empty path: nothing is kept. */
void kept_path(const struct buf *of, struct buf *path);
/* Keeps an object there. If that fails, the next one compiles again. */
void kept_put(const struct buf *path, const struct buf *object);

#endif
