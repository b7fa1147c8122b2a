/* Finds the model to use: the one that the caller names, else $TL_MODEL, else, if `pretrained` is
 * set, the one that came with the programs for the target (share/tl/models/TARGET.model), if there
 * is one. "none" stands for no model, and "pretrained" for the one that came with the programs.
 *
 * tl-tune begins with the model that comes with the programs. It searches by the model and ranks
 * by it, because that ends 2% ahead of the draft at the same cost (EXPERIMENTS.md). The portfolio
 * is among the first parents of the search, and is not measured first: eight candidates of the
 * search are as good as its sixteen. Simulations use no model, because a recording seldom has the
 * candidates of such a search.
 */
#ifndef TL_MODEL_DEFAULT_H
#define TL_MODEL_DEFAULT_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/target/target.h"

/* The name that counts: "none", "pretrained" or a path. */
const char *model_name(const char *named, int pretrained);
/* 1 with the path in out; 0: there is none; -1. */
int model_default(const char *named, int pretrained, const struct target *t, struct buf *out,
		  struct err *e);

#endif
