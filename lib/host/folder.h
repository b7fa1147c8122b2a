/* The folder for files that the programs can make again: compiled kernels, the probe, true answers.
 *
 * $TL_CACHE, else ${XDG_CACHE_HOME:-~/.cache}/tl. What is in it is run and believed, so it must be
 * a folder that only this user can change (lib/io/trust.h).
 */
#ifndef TL_HOST_FOLDER_H
#define TL_HOST_FOLDER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Puts the path of a folder of the cache ("objects") into out, without links, and makes the folder
 * if it does not exist. -1: it cannot be made, or others could change what is in it. */
int folder_cache(const char *what, struct buf *out, struct err *e);

#endif
