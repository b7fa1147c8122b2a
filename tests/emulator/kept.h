/* The stand-in for NVRTC keeps what it has compiled for whoever compiles the same again. NVIDIA's
 * driver does so, too: in the folder $CUDA_CACHE_PATH, unless CUDA_CACHE_DISABLE is 1.
 */
#ifndef TL_TESTS_EMULATOR_KEPT_H
#define TL_TESTS_EMULATOR_KEPT_H

#include "lib/base/buf.h"

/* Whole files. They return 0 or -1. */
int file_put(const char *path, const struct buf *text);
int file_take(const char *path, struct buf *out);

/* Tells where the object that is made of all these bytes is kept. An empty path: nothing is kept.
 */
void kept_path(const struct buf *of, struct buf *path);
/* Keeps an object there. If that fails, the next one compiles again. */
void kept_put(const struct buf *path, const struct buf *object);

#endif
