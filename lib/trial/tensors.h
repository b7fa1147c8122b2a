/* The data of a session's tensors: random, and the same for the candidates and the library. */
#ifndef TL_TRIAL_TENSORS_H
#define TL_TRIAL_TENSORS_H

#include "lib/op/op.h"
#include "lib/target/runner.h"
#include "lib/trial/fence.h"

/* Opens the fences of a workload's tensors, by role, and fills and freezes all but the output.
 * fresh: other data for the input, the residual and the factor. The data are the same with any
 * number of threads; runner as in crew.h. */
void tensors_open(const struct workload *w, uint64_t seed, const struct runner *runner, int threads,
		  struct fence tensor[TENSOR_ROLES], struct fence fresh[TENSOR_ROLES]);

#endif
