/* Verification in a trial (trial.h): the run whose output is compared with the truth.
 *
 * The output is poisoned before it, and so is the workspace; operands lie in fences.
 */
#ifndef TL_TRIAL_VERIFY_H
#define TL_TRIAL_VERIFY_H

#include "lib/trial/compare.h"
#include "lib/trial/timed.h"

/* Populates what the trial writes to, and arms its fences. */
void verify_ready(const struct trial *t);
/* Loads the kernel and does the run that is compared. 0, or -1 with the outcome decided. */
int verify(struct timed *x, struct outcome *o);
/* Once more behind the timing: what is kept from call to call, or a race between threads, may have
 * shown only now. */
void verify_again(struct timed *x, struct outcome *o);

/* The trial's output, against the truth. */
struct comparison verify_output(const struct trial *t);

#endif
