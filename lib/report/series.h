/* What the drawings of a tuning report are made of, whatever draws them. */
#ifndef TL_REPORT_SERIES_H
#define TL_REPORT_SERIES_H

#include "lib/report/figures.h"

/* Has a line both times, of the best candidate? */
int series_has_times(const struct report_line *l);
/* How many lines have. */
int64_t series_count(const struct figures *f);

/* An operator by the baseline and by the tuned kernel, in count x seconds. */
struct operator_times {
	const struct report_line *line;
	double before_s, after_s;
};
enum { SERIES_OPERATORS = 24, SERIES_NAME = 64 };
/* The operators that take the baseline longest, those first, at most SERIES_OPERATORS of them; o
 * has room for series_count(). Returns how many. */
int64_t series_operators(const struct figures *f, struct operator_times *o);
/* "3 x ic64ih56oc64": the count, if it is above 1, and the problem, as far as it fits. */
void series_name(const struct report_line *l, char name[SERIES_NAME]);

/* Core-seconds that were spent on a purpose, or saved. */
struct share {
	const char *name;
	int saved;
	double core_s;
};
enum { SERIES_SHARES = COSTS + 2 };
int series_shares(const struct figures *f, struct share s[SERIES_SHARES]);

#endif
