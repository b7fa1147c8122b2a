/* Finds the model to use: the one that the caller names, else $TL_MODEL, else, if `pretrained` is
 * set, the one that came with the programs (share/tl/models/cpu.model). "none" stands for no model,
 * and "pretrained" for the one that came with the programs. */
#ifndef TL_MODEL_DEFAULT_H
#define TL_MODEL_DEFAULT_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* The name that counts: "none", "pretrained" or a path. */
const char *model_name(const char *named, int pretrained);
/* 1 with the path in out; 0: there is none; -1. */
int model_default(const char *named, int pretrained, struct buf *out, struct err *e);

#endif
