/* Limits of a tuning run, as --until has them: core-seconds<14400,rounds<8. */
#ifndef TL_POLICY_UNTIL_H
#define TL_POLICY_UNTIL_H

#include "lib/base/err.h"

enum until_what { UNTIL_CORE_SECONDS, UNTIL_SECONDS, UNTIL_ROUNDS, UNTIL_CANDIDATES, UNTIL_LIMITS };

extern const char *const until_name[UNTIL_LIMITS]; /* "core-seconds" */

struct until {
	double most[UNTIL_LIMITS]; /* INFINITY: none */
};

/* text may be NULL: no limits. Of two limits of one kind the smaller counts. -1 with EXIT_USAGE:
 * the text makes no sense. */
int until_parse(struct until *l, const char *text, struct err *e);
/* The sentence of the first limit that is reached, in buf; NULL if none is. */
const char *until_reached(const struct until *l, const double used[UNTIL_LIMITS], char *buf,
			  size_t size);

#endif
