/* How far an output is from the true answer.
 *
 * An output is poisoned before the run that is verified: what still has those bits was not written.
 */
#ifndef TL_TRIAL_COMPARE_H
#define TL_TRIAL_COMPARE_H

#include <stdint.h>

struct comparison {
	double l2, max;		    /* relative L2 error; largest error over largest value */
	int64_t unwritten, strange; /* values still poisoned; other NaN, and infinite ones */
};

void compare_poison(float *out, int64_t n);
/* Of n finite true values. Where any output is not finite both errors are infinite or NaN. */
struct comparison compare(const float *out, const float *truth, int64_t n);

#endif
