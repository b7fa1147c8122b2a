/* How far behind the best a candidate is refused by the cheap stages of a filter, and how many
 * places of those that are built the draft fills. */
#ifndef TL_POLICY_REFUSE_H
#define TL_POLICY_REFUSE_H

#include <stdint.h>

/* Does the first of the model's bag put it so far behind the best so far (of values: 0.5 is 1.41
 * times the time) that the others are not asked? */
int refuse_by_first(double value, double best);

/* The draft's share of places. A model is on trial as long as the database knows too little to tell
 * whether it holds on this machine. */
double refuse_hedge_share(int on_trial);
/* A share of k places; a share above 1 is all of them. */
int64_t refuse_hedge(int64_t k, double share);

#endif
