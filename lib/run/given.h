/* Arrays that are given for inputs change the graph before it is lowered.
 *
 * - An array takes the place of a default, which is the value that the file has for an input (ONNX
 *   IR, "Graphs": an initializer with the name of an input).
 * - Some inputs become constants, because shapes depend on their elements, or what is computed: the
 *   axes of a reduction, the sizes of a Resize, the condition of an If, the turns of a Loop, and
 * the inputs that these are computed from.
 * - Open dimensions of an input get the sizes of its array.
 */
#ifndef TL_RUN_GIVEN_H
#define TL_RUN_GIVEN_H

#include "lib/extract/graph/infer.h"
#include "lib/run/arrays.h"

/* Returns a bit for each input that decides the shape of what the node makes, or how it goes about
 * it. */
unsigned given_matters(const struct graph_node *n);
/* Makes constants of the inputs of at most one dimension that shapes depend on and that have an
 * array of their name. -1: an array has another shape than the input. The graph is linked, and no
 * shape was inferred. */
int given_fix(struct graph *g, const struct arrays *all, struct err *e);
/* Puts arrays in the place of defaults. random: the weights of the file are replaced by random
 * ones, so that none can be given. */
int given_replace(struct graph *g, const struct arrays *all, int random, struct err *e);
/* Returns o, and adds the shape of each array whose input has open dimensions, unless o names that
 * input. It adds none if o has sizes by --batch or --dim. The caller frees the list `shape`, and
 * the graph owns the names that were added. */
struct infer_options given_shapes(const struct graph *g, const struct arrays *all,
				  const struct infer_options *o);
/* A whole number in a float; what is too large becomes the largest. */
int64_t given_whole(float f);
/* Finds the array for one of the model's `count` inputs or outputs by its name. A single array is
 * also taken for a single input or output, unless another value of the graph has the array's name.
 * NULL: there is none. */
const struct array *given_for(const struct graph *g, const struct arrays *all, const char *name,
			      int count);

#endif
