/* Verification in a trial (trial.h): the runs whose output is compared with the truth.
 *
 * The output is poisoned before each, and so is the workspace; operands lie in fences.
 *
 * Verify, time, verify. The output is filled with invalid values, the candidate runs on random
 * data, and its output must agree with a double-precision reference: the relative L2 norm, and the
 * largest difference over the largest value, are at most 1e-5 for f32 by default. The candidate is
 * verified again after the timing, on other data: a kernel that keeps its first answer and returns
 * it again would be the fastest of all. Weights are scaled by 1/sqrt(K), because otherwise relu6
 * would make most outputs equal. Reference results are kept beside the objects, under the
 * reference's code and the data (lib/trial/kept.h), because the naive nest takes as long as many
 * races. It sums eight neighbouring outputs side by side, as additions to one sum wait for each
 * other. The other data take the place of the first by remapping their pages; a copy had a fault,
 * and a message to the other cores, for each page.
 */
#ifndef TL_TRIAL_VERIFY_H
#define TL_TRIAL_VERIFY_H

#include "lib/trial/compare.h"
#include "lib/trial/timed.h"

/* Populates what the trial writes to, and arms its fences. */
void verify_ready(const struct trial *t);
/* Loads the kernel, runs it once and compares the output. 0, or -1 with the outcome decided. */
int verify(struct timed *x, struct outcome *o);
/* Verifies again after the timing, on new data. Otherwise a kernel that only keeps its first answer
 * would be the fastest of all. This may also find a race between threads. */
void verify_again(struct timed *x, struct outcome *o);
/* Replaces the data with the fresh data. Where operands are in this machine's memory, it does so
 * once. */
void verify_freshen(const struct trial *t);

/* The trial's output, against the true one. */
struct comparison verify_output(const struct trial *t);
/* Are both errors allowed? */
int verify_allows(const struct trial *t, const struct comparison *c);

#endif
