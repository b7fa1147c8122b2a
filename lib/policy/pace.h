/* The rounds of a run that has a limit of time: how many candidates the next round has time for.
 *
 * A candidate takes what one took in this run so far, with everything around it, search, builds and
 * waiting. So a run beside other programs plans smaller rounds.
 *
 * The functions are pure.
 */
#ifndef TL_POLICY_PACE_H
#define TL_POLICY_PACE_H

#include <stddef.h>
#include <stdint.h>

struct pace {
	double limit_s;	    /* INFINITY: none */
	double used_s;	    /* NAN: nothing is known of the time */
	double reserve_s;   /* of the limit, for the finals */
	int64_t candidates; /* in used_s */
};

/* Seconds of a candidate. */
double pace_each(const struct pace *p);
/* The end of the rounds, seconds after their start. */
double pace_end(const struct pace *p);
/* No more candidates than there is time for. */
int64_t pace_budget(const struct pace *p, int64_t budget);
/* A sentence in buf if there is no time for another round, else NULL. */
const char *pace_over(const struct pace *p, char *buf, size_t size);

#endif
