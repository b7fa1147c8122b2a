/* What the arrays that are given for inputs change before the model is lowered.
 *
 * - An input that the file has a value for: that is a default (ONNX IR, "Graphs": an initializer
 * with the name of an input), and the array takes its place.
 * - Inputs whose elements shapes depend on: the axes of a reduction, the sizes of a Resize, and
 * what they are computed from. They become constants.
 * - Inputs with open dimensions: these are as large as the array's.
 */
#ifndef TL_RUN_GIVEN_H
#define TL_RUN_GIVEN_H

#include "lib/extract/arrays.h"
#include "lib/extract/infer.h"

/* Makes a constant of each such input of at most one dimension that has an array of its name. -1:
 * an array has another shape than the input. The graph is linked, and no shape was inferred. */
int given_fix(struct graph *g, const struct arrays *all, struct err *e);
/* Puts arrays in the place of defaults. random: the weights of the file are replaced by random
 * ones, so that none can be given. */
int given_replace(struct graph *g, const struct arrays *all, int random, struct err *e);
/* o with the shapes of the arrays for inputs with open dimensions that it says nothing of, or as it
 * is if it has sizes by --batch or --dim. The caller frees the list shape; its names are the
 * graph's.
 */
struct infer_options given_shapes(const struct graph *g, const struct arrays *all,
				  const struct infer_options *o);
/* The array for value v of the model's `count` inputs or outputs: that of its name; or the only
 * one, if there is one such value and no other has its name. */
const struct array *given_for(const struct graph *g, const struct arrays *all, const char *name,
			      int count);

#endif
