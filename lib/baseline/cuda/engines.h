/* cuDNN's engines for a graph: those that its heuristics propose, with the knobs that they propose,
 * the likeliest best first; then every engine by its number, with its default knobs. Engines that
 * compute less exactly than the workload's numbers ask are left out.
 */
#ifndef TL_BASELINE_CUDA_ENGINES_H
#define TL_BASELINE_CUDA_ENGINES_H

#include "lib/baseline/cuda/graph.h"

/* Descriptors of an engine with its knobs. Both must stay as long as a plan that is made of them.
 */
struct engine {
	void *config, *engine; /* engine NULL: the configuration holds its own */
};

/* What is done with an engine; name: "engine 12 2=1,7=4". It may take the descriptors, and leaves
 * NULL in their place; others are gone afterwards. 1 to see no more engines. */
typedef int engines_visit(void *arg, struct engine *engine, const char *name);

void engines_each(const struct graph *g, engines_visit *visit, void *arg);

#endif
