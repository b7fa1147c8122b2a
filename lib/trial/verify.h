/* Verification in a trial (trial.h): the runs whose output is compared with the truth.
 *
 * The output is poisoned before each, and so is the workspace; operands lie in fences.
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
